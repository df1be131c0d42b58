//! Programs from the npm registry, in the versions of `npm/package-lock.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A command for a script of the folder `npm/`, whose dependencies are installed below the target directory first.
pub fn node(script: &str) -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(install);
    let mut node = Command::new("node");
    node.arg(folder.join(script)).stdin(Stdio::null());
    node
}

fn install() -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oauth/npm");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oauth-npm");
    let installed = folder.join("installed.json");
    let lock = fs::read(from.join("package-lock.json")).expect("a lock file");
    fs::create_dir_all(&folder).expect("a folder");
    for entry in fs::read_dir(&from).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_file() {
            fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    // Written last, so that it tells a finished folder of these very versions.
    if fs::read(&installed).is_ok_and(|of| of == lock) {
        return folder;
    }
    let ci = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let output = Command::new("npm").args(ci).current_dir(&folder).stdin(Stdio::null()).output().expect("npm runs");
    assert!(output.status.success(), "npm ci: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(&installed, lock).expect("a file");
    folder
}
