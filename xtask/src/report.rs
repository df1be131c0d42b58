//! The table at the end of a test run.

use std::time::Duration;

/// How a step ended that did not fail.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held.
    Passed,
    /// It could not be looked at, for this reason; nobody may take it for passed.
    NotChecked(String),
}

/// A step that ran.
pub struct Entry {
    /// The step's name.
    pub name: &'static str,
    /// How it ended; an error is the failure.
    pub result: anyhow::Result<Outcome>,
    /// How long it took.
    pub took: Duration,
    /// The last lines that it printed.
    pub tail: Vec<u8>,
}

/// The table of all steps.
pub fn summary(ran: &[Entry]) -> String {
    let mut text = String::from("Summary\n");
    let mut add = |line: &str| text.extend([line, "\n"]);
    for entry in ran {
        let (word, reason) = match &entry.result {
            Ok(Outcome::Passed) => ("passed", String::new()),
            Ok(Outcome::NotChecked(reason)) => ("NOT CHECKED", reason.clone()),
            Err(_) => ("FAILED", String::new()),
        };
        let shown = format!("  {:<14}{word:<13}{:>11}  {reason}", entry.name, minutes(entry.took));
        add(shown.trim_end());
    }
    add(&format!("  {:<27}{:>11}", "total", minutes(ran.iter().map(|entry| entry.took).sum())));
    let count = |of: fn(&Entry) -> bool| ran.iter().filter(|entry| of(entry)).count();
    let failed = count(|entry| entry.result.is_err());
    let unchecked = count(|entry| matches!(entry.result, Ok(Outcome::NotChecked(_))));
    if failed > 0 {
        add(&format!("Steps that failed: {failed}"));
    }
    if unchecked > 0 {
        add(&format!("Steps that could not be checked: {unchecked}"));
    }
    if failed + unchecked == 0 {
        add("All passed.");
    }
    text
}

fn minutes(time: Duration) -> String {
    let tenths = time.as_millis().div_ceil(100);
    match (tenths / 600, tenths % 600) {
        (0, rest) => format!("{}.{} s", rest / 10, rest % 10),
        (minutes, rest) => format!("{minutes} min {:>2} s", rest / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &'static str, result: anyhow::Result<Outcome>, milliseconds: u64) -> Entry {
        Entry { name, result, took: Duration::from_millis(milliseconds), tail: Vec::new() }
    }

    #[test]
    fn a_run_that_passed_says_so_with_the_time_of_each_step() {
        let ran = [entry("formatting", Ok(Outcome::Passed), 1_200), entry("tests", Ok(Outcome::Passed), 195_000)];
        let expected = "Summary
  formatting    passed             1.2 s
  tests         passed        3 min 15 s
  total                       3 min 16 s
All passed.
";
        assert_eq!(summary(&ran), expected);
    }

    #[test]
    fn every_failure_is_in_the_table_and_counted() {
        let failed = || Err(anyhow::anyhow!("no"));
        let ran =
            [entry("formatting", failed(), 0), entry("lints", Ok(Outcome::Passed), 0), entry("tests", failed(), 9)];
        let summary = summary(&ran);
        for line in
            ["  formatting    FAILED", "  lints         passed", "  tests         FAILED", "Steps that failed: 2"]
        {
            assert!(summary.contains(line), "{summary}");
        }
        assert!(!summary.contains("All passed"), "{summary}");
    }

    #[test]
    fn what_was_not_checked_never_looks_passed() {
        let ran = [entry("advisories", Ok(Outcome::NotChecked("no database".to_owned())), 0)];
        let summary = summary(&ran);
        assert!(summary.contains("NOT CHECKED") && summary.contains("no database"), "{summary}");
        assert!(summary.ends_with("could not be checked: 1\n"), "{summary}");
        assert!(!summary.contains("All passed"), "{summary}");
    }
}
