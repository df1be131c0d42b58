//! Tools that run with Node.js: linters, the document comparison, the browser's driver, TypeScript, judges of pages.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Cmd, Shell, cmd};

use super::folder;

const PACKAGE: &str = include_str!("../../tools/package.json");
const LOCK: &str = include_str!("../../tools/package-lock.json");

/// What only the walk through the pages needs.
const PAGES_PACKAGE: &str = include_str!("../../tools/pages/package.json");
const PAGES_LOCK: &str = include_str!("../../tools/pages/package-lock.json");

/// The installed packages, at the versions of a package-lock.json.
pub struct NodeModules(PathBuf);

impl NodeModules {
    /// Finds those of xtask/tools, or installs them under target/tools/npm.
    pub fn find_or_install(shell: &Shell) -> anyhow::Result<Self> {
        Self::of(shell, "npm", PACKAGE, LOCK)
    }

    /// Finds those of xtask/tools/pages, or installs them under target/tools/pages.
    pub fn for_pages(shell: &Shell) -> anyhow::Result<Self> {
        Self::of(shell, "pages", PAGES_PACKAGE, PAGES_LOCK)
    }

    fn of(shell: &Shell, name: &str, package: &str, lock: &str) -> anyhow::Result<Self> {
        let place = folder(shell).join(name);
        let modules = place.join("node_modules");
        // Written last, so that it tells a finished installation of these very versions.
        let stamp = place.join("installed");
        if shell.read_file(&stamp).is_ok_and(|installed| installed == lock) {
            return Ok(Self(modules));
        }
        println!("Installing the Node.js tools under target/tools/{name}.");
        shell.write_file(place.join("package.json"), package)?;
        shell.write_file(place.join("package-lock.json"), lock)?;
        let _there = shell.push_dir(&place);
        // Install scripts fetch browsers and build things; none of these tools needs one.
        cmd!(shell, "npm ci --ignore-scripts --no-audit --no-fund").run()?;
        shell.write_file(&stamp, lock)?;
        Ok(Self(modules))
    }

    /// A program that one of the packages brings.
    pub fn program(&self, name: &str) -> PathBuf {
        self.0.join(".bin").join(name)
    }

    /// Redocly, which would ask a registry for a newer version of itself.
    pub fn redocly<'a>(&self, shell: &'a Shell) -> Cmd<'a> {
        let redocly = self.program("redocly");
        let silent = ["REDOCLY_SUPPRESS_UPDATE_NOTICE", "REDOCLY_SUPPRESS_NOTIFICATIONS"];
        cmd!(shell, "{redocly}").envs(silent.map(|name| (name, "true")))
    }

    /// Puts them where both the compiler and Node.js look for packages of what is in `folder`.
    pub fn link_into(&self, folder: &Path) -> anyhow::Result<()> {
        let link = folder.join("node_modules");
        if !link.exists() {
            symlink(&self.0, &link).with_context(|| format!("cannot link {}", link.display()))?;
        }
        Ok(())
    }

    /// The folder of the packages.
    pub fn folder(&self) -> &Path {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locks_name_no_address() {
        assert_eq!([LOCK, PAGES_LOCK].map(|lock| lock.matches("\"resolved\"").count()), [0, 0]);
    }
}
