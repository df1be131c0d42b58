//! Packages that a lender can publish: made from generated clients and what xtask/sdk/CLIENT/package adds to them,
//! installed into clean projects, and run there against the service.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use super::{CLIENTS, copy, java, python, results, typescript};
use crate::service::Demo;
use crate::webhook_guide;

/// A package in a language.
struct Package {
    /// The client that it holds.
    client: &'static str,
    /// Makes it in a folder that has what is added to the client, and returns its file.
    make: fn(&Shell, &Path, &str) -> anyhow::Result<PathBuf>,
    /// Installs the file into clean projects in a folder, and runs a program there.
    test: fn(&Shell, &Path, &Path, &Trial<'_>) -> anyhow::Result<()>,
}

static PACKAGES: [Package; 3] = [
    Package { client: "python", make: python::make_package, test: python::test_package },
    Package { client: "typescript-fetch", make: typescript::make_package, test: typescript::test_package },
    Package { client: "java", make: java::make_package, test: java::test_package },
];

/// Where the packages are put.
pub const FOLDER: &str = "target/sdk/packages";

/// What the program in a clean project tries its package against.
pub struct Trial<'a> {
    demo: &'a Demo,
    version: &'a str,
}

impl Trial<'_> {
    /// For the environment of the program in a project, whose buyers have a registration number of their own.
    pub fn to_try(
        &self,
        shell: &Shell,
        project: &Path,
        registration: &str,
    ) -> anyhow::Result<Vec<(&'static str, String)>> {
        let webhooks = project.join("webhooks.json");
        shell.write_file(&webhooks, webhook_guide::cases()?.to_string())?;
        let mut all = self.demo.to_try()?;
        all.extend([
            ("LENDPAY_REGISTRATION", registration.to_owned()),
            ("LENDPAY_VERSION", self.version.to_owned()),
            ("LENDPAY_WEBHOOKS", webhooks.display().to_string()),
            ("LENDPAY_WEBHOOK_SECRET", webhook_guide::SECRETS[0].to_owned()),
        ]);
        Ok(all)
    }
}

/// Generates the clients of the packages, and makes these.
pub fn make(shell: &Shell) -> anyhow::Result<()> {
    let held = CLIENTS.iter().filter(|client| PACKAGES.iter().any(|package| package.client == client.name));
    for client in held {
        client.generate(shell)?;
    }
    empty_folder(shell)?;
    let version = &version(shell)?;
    PACKAGES.iter().try_for_each(|package| package.make(shell, version).map(drop))
}

/// Makes the packages of clients that were generated, and tries all at the same time: they wait before they repeat.
pub fn test(shell: &Shell, demo: &Demo) -> anyhow::Result<()> {
    println!("\n--- packages ---");
    empty_folder(shell)?;
    let version = &version(shell)?;
    thread::scope(|scope| {
        let try_one = |package: &'static Package| {
            let shell = shell.clone();
            scope.spawn(move || {
                let file = package.make(&shell, version)?;
                let project = shell.current_dir().join("target/sdk/projects").join(package.client);
                shell.remove_path(&project)?;
                (package.test)(&shell, &file, &shell.create_dir(project)?, &Trial { demo, version })
            })
        };
        let trials: Vec<_> = PACKAGES.iter().map(|package| (package.client, try_one(package))).collect();
        trials.into_iter().try_for_each(|(client, trial)| {
            let tried = trial.join().expect("a trial returns its failures");
            tried.with_context(|| format!("the package of {client}"))
        })
    })
}

/// So that no package of an earlier version is left in it.
fn empty_folder(shell: &Shell) -> anyhow::Result<()> {
    shell.remove_path(FOLDER)?;
    shell.create_dir(FOLDER)?;
    Ok(())
}

impl Package {
    /// Makes it of the client in target/sdk/CLIENT.
    fn make(&self, shell: &Shell, version: &str) -> anyhow::Result<PathBuf> {
        let Self { client, make, .. } = self;
        let folder = shell.current_dir().join("target/sdk/package-parts").join(client);
        shell.remove_path(&folder)?;
        copy(shell, &format!("{client}/package"), &folder)?;
        let licence = env!("CARGO_PKG_LICENSE");
        for file in cmd!(shell, "find {folder} -type f").read()?.lines() {
            let text = shell.read_file(file)?;
            shell.write_file(file, text.replace("@VERSION@", version).replace("@LICENCE@", licence))?;
        }
        cmd!(shell, "cp LICENSE-APACHE LICENSE-MIT {folder}").run()?;
        let file = make(shell, &folder, version)?;
        println!("The package of {client} is {}.", file.display());
        Ok(file)
    }
}

/// The version of the document, which is that of each package.
pub fn version(shell: &Shell) -> anyhow::Result<String> {
    Ok(results::document(shell)?["info"]["version"].as_str().context("the document has no version")?.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    const GUIDE: &str = include_str!("../../../openapi/guides/retries.md");

    /// What repeats, the README of the package, and the program that holds what the README shows.
    const PACKAGES: [(&str, &str, &str); 3] = [
        (
            include_str!("../../sdk/python/package/lendpay_partner/partner.py"),
            include_str!("../../sdk/python/package/README.md"),
            include_str!("../../sdk/python/project/main.py"),
        ),
        (
            include_str!("../../sdk/typescript-fetch/package/src/partner.ts"),
            include_str!("../../sdk/typescript-fetch/package/README.md"),
            include_str!("../../sdk/typescript-fetch/project/main.ts"),
        ),
        (
            include_str!("../../sdk/java/package/com/lendpay/partner/RepeatingHttpClient.java"),
            include_str!("../../sdk/java/package/README.md"),
            include_str!("../../sdk/java/project/Main.java"),
        ),
    ];

    #[test]
    fn the_packages_repeat_what_the_guide_says() {
        let table = GUIDE.split("## When to repeat").nth(1).and_then(|text| text.split("\n## ").next());
        let rows = table.unwrap_or_default().lines().map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        let repeated =
            rows.filter(|row| row.get(2) == Some(&"yes")).flat_map(|row| row[1].split(", ").collect::<Vec<_>>());
        let statuses: BTreeSet<_> = repeated.filter(|word| word.parse::<u16>().is_ok()).collect();
        let list = statuses.into_iter().collect::<Vec<_>>().join(", ");
        assert_eq!(list, "408, 429, 500, 503");
        for (code, readme, _) in PACKAGES {
            assert!(code.contains(&format!("({list})")) || code.contains(&format!("[{list}]")), "{code}");
            let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("the answer was 408, 429, 500 or 503"), "{readme}");
        }
    }

    /// The programs are compiled and run, so what the READMEs show works.
    #[test]
    fn the_lines_in_the_readmes_are_lines_of_the_programs() {
        for (_, readme, program) in PACKAGES {
            let block = readme.split("```").nth(1).unwrap_or_default();
            let imports = |line: &&str| line.starts_with("from ") || line.starts_with("import ");
            let shown: Vec<_> = block
                .lines()
                .skip(1)
                .filter(|line| !imports(line))
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect();
            assert!(shown.len() >= 3, "{readme}");
            for line in shown {
                assert!(program.lines().any(|other| other.trim() == line), "{line}");
            }
        }
    }
}
