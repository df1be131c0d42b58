//! The shell in which chores run programs: each is shown before it runs, and there is nobody to answer its questions.

use std::path::Path;

use anyhow::Context as _;
use xshell::{Cmd, Shell, cmd};

/// A shell in the workspace, from wherever we were called.
pub fn workspace() -> anyhow::Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?);
    Ok(shell)
}

/// Cargo. `cargo run` describes this package to us in variables; build scripts that watch them would run again each
/// time.
pub fn cargo(shell: &Shell) -> Cmd<'_> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let ours = names.filter(|name| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "LENDPAY_"].iter().any(|ours| name.starts_with(ours))
    });
    ours.fold(cmd!(shell, "cargo"), Cmd::env_remove)
}

/// Whether the command can be run and ends well; its output is not shown.
pub fn succeeds(command: Cmd<'_>) -> bool {
    output(command).is_some()
}

/// What the command prints; none when it cannot be run or fails.
pub fn output(command: Cmd<'_>) -> Option<String> {
    command.quiet().ignore_stderr().read().ok()
}
