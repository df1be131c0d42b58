//! Child processes: shown before they run, with nobody there to answer a question.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// A command that runs in `folder` and reads nothing from the terminal.
pub fn command<A: AsRef<OsStr>>(folder: &Path, program: impl AsRef<OsStr>, arguments: &[A]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    // `cargo run` describes this package to us in these; build scripts that watch them would run again each time. The
    // service's settings, and what is ours of that name, are not meant for what we start.
    let ours = ["CARGO_PKG_", "CARGO_MANIFEST_", "LENDPAY_"];
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| ours.iter().any(|ours| name.starts_with(ours))) {
            command.env_remove(name);
        }
    }
    command
}

/// Prints the command, runs it with its output in plain sight, and fails when it fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let mut child = start(command)?;
    let status = child.wait().with_context(|| format!("cannot wait for `{}`", shown(command)))?;
    verdict(command, status)
}

/// Like [`run`], but shows what the command prints only when it fails.
pub fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    let output = start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?.wait_with_output();
    let output = output.with_context(|| format!("cannot wait for `{}`", shown(command)))?;
    if !output.status.success() {
        print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    }
    verdict(command, output.status)
}

/// Like [`run`], but ends the command, and all that it has started, when it takes longer than `limit`.
pub fn run_within(command: &mut Command, limit: Duration) -> anyhow::Result<()> {
    let mut child = start(command.process_group(0))?;
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().with_context(|| format!("cannot wait for `{}`", shown(command)))? {
            return verdict(command, status);
        }
        thread::sleep(Duration::from_millis(100));
    }
    // The group, since a grandchild that lives on would hold our output open.
    Command::new("sh").arg("-c").arg(format!("kill -KILL -{}", child.id())).status().context("cannot run `sh`")?;
    child.wait().context("cannot wait for an ended command")?;
    bail!("`{}` took longer than {} s", shown(command), limit.as_secs())
}

/// Whether the command can be run and ends well; its output is not shown.
pub fn succeeds(command: &mut Command) -> bool {
    output(command).is_some()
}

/// What the command prints, without the white space around it; none when it cannot be run or fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn start(command: &mut Command) -> anyhow::Result<Child> {
    println!("$ {}", shown(command));
    std::io::stdout().flush().context("cannot write to the output")?;
    command.spawn().with_context(|| format!("cannot start `{}`", shown(command)))
}

fn verdict(command: &Command, status: ExitStatus) -> anyhow::Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// The command as it would be typed, with the variables that it sets.
fn shown(command: &Command) -> String {
    let settings = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let settings = settings.map(|(name, value)| format!("{}={}", name.display(), quoted(value)));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    settings.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,@+".contains(c)) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        command(Path::new("."), "sh", &["-c", script])
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut doc = command(Path::new("."), "cargo", &["doc", "--no-deps"]);
        doc.env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&doc), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
        assert_eq!(shown(&sh("echo it's")), r"sh -c 'echo it'\''s'");
    }

    #[test]
    fn a_failure_names_the_command_and_its_exit() {
        run(&mut sh("exit 0")).unwrap();
        assert_eq!(run(&mut sh("exit 3")).unwrap_err().to_string(), "`sh -c 'exit 3'` failed (exit status: 3)");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_with_its_name() {
        let mut absent = command(Path::new("."), "no-such-program", &["--version"]);
        assert!(run(&mut absent).unwrap_err().to_string().contains("cannot start `no-such-program --version`"));
        assert!(!succeeds(&mut absent));
    }

    #[test]
    fn nothing_waits_for_an_answer() {
        run(&mut sh("! read answer")).unwrap();
    }

    #[test]
    fn a_command_over_its_time_is_ended() {
        let begin = Instant::now();
        let error = run_within(&mut sh("sleep 60; true"), Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().ends_with("took longer than 1 s"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(30));
        run_within(&mut sh("true"), Duration::from_secs(30)).unwrap();
    }
}
