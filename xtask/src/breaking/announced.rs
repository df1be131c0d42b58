//! Whether a change is announced: a step of `info.version` that says how much it is, and an entry in the changelog.

use serde_json::Value;

/// The three numbers of a semantic version without labels.
fn version(document: &Value) -> Option<[u64; 3]> {
    let parts: Option<Vec<_>> =
        document["info"]["version"].as_str()?.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// What is wrong with the step of the version from `old` to `new`, which are not equal.
pub fn step(file: &str, old: &Value, new: &Value, breaking: &[String]) -> Option<String> {
    let (Some(before), Some(after)) = (version(old), version(new)) else {
        return Some(format!("{file}: info.version must be three numbers, as in 1.2.3"));
    };
    let [major, minor, patch] = before;
    if after <= before {
        return Some(format!(
            "{file} has changed: raise info.version, which was {major}.{minor}.{patch}, and say in CHANGELOG.md what changed"
        ));
    }
    (!breaking.is_empty() && after[0] == major).then(|| {
        format!(
            "{file} breaks clients: take the change back, or make info.version {}.0.0 and tell partners\n  {}",
            major + 1,
            breaking.join("\n  ")
        )
    })
}

/// The complaint when the changelog has no words on the version of `document`: a section `## file` with a section
/// `### version` in it.
pub fn entry(changelog: &str, file: &str, document: &Value) -> Option<String> {
    let version = document["info"]["version"].as_str().unwrap_or_default();
    let mut lines = changelog.lines().skip_while(|line| *line != format!("## {file}")).skip(1);
    let section: Vec<_> = lines.by_ref().take_while(|line| !line.starts_with("## ")).collect();
    let words = section.into_iter().skip_while(|line| *line != format!("### {version}")).skip(1);
    let said = words.take_while(|line| !line.starts_with("### ")).any(|line| !line.trim().is_empty());
    (!said).then(|| format!("openapi/CHANGELOG.md says nothing under \"## {file}\", \"### {version}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn version(version: &str) -> Value {
        json!({ "info": { "version": version } })
    }

    fn complaint(old: &str, new: &str, breaking: &[&str]) -> Option<String> {
        let breaking: Vec<_> = breaking.iter().map(|&change| change.to_owned()).collect();
        step("partner.json", &version(old), &version(new), &breaking)
    }

    #[test]
    fn any_change_needs_a_step_and_a_breaking_one_a_major_step() {
        for (old, new) in [("1.0.0", "1.0.1"), ("1.0.9", "1.1.0"), ("1.9.9", "2.0.0"), ("1.9.0", "1.10.0")] {
            assert_eq!(complaint(old, new, &[]), None, "{old} {new}");
        }
        assert_eq!(complaint("1.9.9", "2.0.0", &["a field is gone"]), None);
        for (old, new) in [("1.0.0", "1.0.0"), ("1.1.0", "1.0.9"), ("1.0.0", "1.1"), ("1.0.0", "1.1.0-rc")] {
            assert!(complaint(old, new, &[]).is_some(), "{old} {new}");
        }
        let complaint = complaint("1.2.3", "1.3.0", &["a field is gone"]).unwrap();
        assert!(complaint.contains("2.0.0") && complaint.contains("a field is gone"), "{complaint}");
    }

    #[test]
    fn the_changelog_must_have_words_on_the_version_of_that_document() {
        let changelog = "# Changes\n\n## operator.json\n\n### 1.1.0\n\nThat one.\n\n## partner.json\n\n### 1.0.1\n\n### 1.0.0\n\nFirst.\n";
        let entry = |file, number| entry(changelog, file, &version(number));
        assert_eq!(entry("partner.json", "1.0.0"), None);
        assert_eq!(entry("operator.json", "1.1.0"), None);
        for (file, number) in [("partner.json", "1.1.0"), ("partner.json", "1.0.1"), ("other.json", "1.0.0")] {
            assert!(entry(file, number).is_some(), "{file} {number}");
        }
    }
}
