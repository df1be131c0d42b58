//! Help for those who type commands: examples, suggestions, completions.

use crate::process::{BINARY, command, run};
use std::path::Path;

/// What a shell would offer for the last word of a line, by the script for bash.
fn completed(script: &Path, line: &[&str]) -> Vec<String> {
    let words = line.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let (last, before) = (line[line.len() - 1], line[line.len() - 2]);
    let ask = format!(
        "source '{}'; COMP_WORDS=({words}); COMP_CWORD={}; _lendpay lendpay '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\"",
        script.display(),
        line.len() - 1
    );
    let output = command("bash").args(["--norc", "-c", &ask]).output().expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_commands_flags_and_values() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("lendpay.bash");
    std::fs::write(&script, run(&["completions", "bash"]).stdout).expect("a file");
    assert_eq!(completed(&script, &["lendpay", "part"]), ["partner"]);
    assert_eq!(completed(&script, &["lendpay", "key", "ro"]), ["rotate"]);
    assert_eq!(completed(&script, &["lendpay", "offer", "list", "--exp"]), ["--expires-before"]);
    assert_eq!(
        completed(&script, &["lendpay", "offer", "list", "--status", "Cust"]),
        ["CustomerAccepted", "CustomerDeclined"]
    );
    for (shell, begin) in [("zsh", "#compdef lendpay"), ("fish", "# Print an optspec")] {
        let made = run(&["completions", shell]);
        assert!(made.status.success() && made.stdout.starts_with(begin), "{shell}: {}", made.stdout);
        assert!(made.stdout.contains("rotate") && made.stdout.contains("CustomerAccepted"), "{shell}");
    }
    assert_eq!(run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn a_wrong_word_is_answered_with_the_right_one() {
    for (arguments, right) in [
        (&["parnter", "list"][..], "'partner'"),
        (&["offer", "declin"], "'decline'"),
        (&["offer", "list", "--staus", "Offered"], "'--status'"),
        (&["offer", "list", "--status", "offered"], "'Offered'"),
        (&["events", "--type", "offer.acepted"], "'offer.accepted'"),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(
            refused.stderr.contains("similar") && refused.stderr.contains(right),
            "{arguments:?}: {}",
            refused.stderr
        );
    }
}

#[test]
fn help_ends_with_examples() {
    for arguments in [&["--help"][..], &["partner", "--help"], &["offer", "list", "--help"], &["serve", "--help"]] {
        let help = command(BINARY).args(arguments).output().expect("the binary runs");
        let help = String::from_utf8(help.stdout).expect("UTF-8");
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{arguments:?}: {help}"));
        assert!(examples.lines().all(|line| line.starts_with("  lendpay ")), "{arguments:?}: {examples}");
    }
    let wrong = run(&["offer", "lst", "--help"]);
    assert!(!wrong.stderr.contains("Examples"), "a mistake is told briefly: {}", wrong.stderr);
}
