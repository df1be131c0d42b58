//! Tools that run with Node.js: linters, the document comparison, the browser's driver, TypeScript.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::folder;
use crate::command::{command, run};

const PACKAGE: &str = include_str!("../../tools/package.json");
const LOCK: &str = include_str!("../../tools/package-lock.json");

/// The installed packages, at the versions of xtask/tools/package-lock.json.
pub struct NodeModules(PathBuf);

impl NodeModules {
    /// Finds them, or installs them under target/tools/npm.
    pub fn find_or_install(root: &Path) -> anyhow::Result<Self> {
        let place = folder(root).join("npm");
        let modules = place.join("node_modules");
        // Written last, so that it tells a finished installation of these very versions.
        let stamp = place.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == LOCK) {
            return Ok(Self(modules));
        }
        println!("Installing the Node.js tools under target/tools/npm.");
        fs::create_dir_all(&place).context("cannot create target/tools/npm")?;
        fs::write(place.join("package.json"), PACKAGE).context("cannot write target/tools/npm/package.json")?;
        fs::write(place.join("package-lock.json"), LOCK).context("cannot write target/tools/npm/package-lock.json")?;
        // Install scripts fetch browsers and build things; none of these tools needs one.
        run(&mut command(&place, "npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))?;
        fs::write(&stamp, LOCK).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(Self(modules))
    }

    /// A program that one of the packages brings.
    pub fn program(&self, name: &str) -> PathBuf {
        self.0.join(".bin").join(name)
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
    fn the_lock_names_no_address() {
        assert_eq!(LOCK.matches("\"resolved\"").count(), 0);
    }
}
