//! The examples at the end of every `--help`.

use clap::{Command, CommandFactory, Parser};

/// For each command, what follows `lendpay` and the command's name.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("", &["demo", "serve --help", "partner list"]),
    ("serve", &["--store sled:./lendpay-data --operator-key-file operator.key"]),
    ("sandbox", &["", "--listen 127.0.0.1:9000 --data ./sandbox-data", "clock +30d"]),
    ("sandbox clock", &["+30d", "+90s --sandbox-url http://sandbox.example:8080"]),
    ("sandbox reset", &[""]),
    ("export", &["backup.ndjson --store sled:./lendpay-data", "backup.ndjson --running"]),
    ("backup", &["--to /backups/lendpay", "--to ./backup --operator-url https://ops.example:8081"]),
    ("import", &["backup.ndjson --store sled:./restored-data"]),
    ("verify", &["--store sled:./lendpay-data"]),
    ("history", &["new --store sled:./lendpay-data"]),
    ("history new", &["--store sled:./lendpay-data"]),
    ("migrate", &["--store postgres://lendpay@db1,db2/lendpay"]),
    ("partner", &["add \"Northwind Platform\"", "list", "show \"Northwind Platform\""]),
    (
        "partner add",
        &[
            "\"Northwind Platform\"",
            "\"Northwind Ltd\" --id 6f1d3c52-90a4-4b0e-8f57-2a4b3c9d8e10",
            "\"Southwind Platform\" --oauth-client-id southwind",
        ],
    ),
    ("partner list", &["", "--name northwind", "--oauth-client-id northwind --json", "--csv"]),
    ("partner show", &["\"Northwind Platform\"", "6f1d3c52-90a4-4b0e-8f57-2a4b3c9d8e10 --json"]),
    ("key", &["create \"Northwind Platform\" \"Production 2027\"", "list \"Northwind Platform\""]),
    (
        "key create",
        &[
            "\"Northwind Platform\" \"Production 2027\"",
            "\"Northwind Platform\" \"Payments only\" --area payments --expires 2027-12-31",
            "\"Northwind Platform\" \"Reports\" --read-only",
        ],
    ),
    ("key list", &["\"Northwind Platform\"", "\"Northwind Platform\" --csv"]),
    ("key show", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d", "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d --json"]),
    (
        "key revoke",
        &[
            "\"Northwind Platform\" 01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d",
            "\"Northwind Platform\" 01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d --after 12h",
        ],
    ),
    (
        "key rotate",
        &[
            "\"Northwind Platform\" 01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d",
            "\"Northwind Platform\" 01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d --after 7d",
        ],
    ),
    ("application", &["add \"Northwind Platform\"", "list --partner \"Northwind Platform\""]),
    ("application add", &["\"Northwind Platform\" --id 5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21"]),
    ("application list", &["--partner \"Northwind Platform\"", "--limit 20 --json"]),
    ("application show", &["5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21"]),
    ("offer", &["put offers.json", "load offers.csv", "list --status Offered --expires-before 2026-11-24"]),
    ("offer put", &["offers.json", "- --json"]),
    (
        "offer load",
        &["offers.csv --partner \"Northwind Platform\"", "offers.csv --dry-run", "- --format ndjson --json"],
    ),
    (
        "offer list",
        &[
            "5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21",
            "--partner \"Northwind Platform\" --status CustomerAccepted",
            "--status Offered --expires-before 2026-11-24 --csv",
        ],
    ),
    ("offer show", &["5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21 8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10"]),
    ("offer decline", &["5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21 8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10"]),
    ("offer advance", &["5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21 8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10"]),
    ("offer archive", &["5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21 8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10"]),
    ("buyer", &["list --registration-number 09876543", "show 0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6a"]),
    ("buyer list", &["--partner \"Northwind Platform\"", "--registration-number 09876543 --json"]),
    ("buyer show", &["0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6a"]),
    (
        "events",
        &[
            "--type offer.accepted,offer.declined --from 2026-11-01 --until 2026-12-01",
            "--partner \"Northwind Platform\" --csv",
            "--follow --json",
        ],
    ),
    ("operation", &["4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736 --json"]),
    ("webhook", &["add https://northwind.example/hooks --partner \"Northwind Platform\"", "list"]),
    (
        "webhook add",
        &[
            "https://northwind.example/hooks --partner \"Northwind Platform\"",
            "https://core.lender.example/events --at-once 1 --after 0",
            "https://crm.lender.example/ --type offer.accepted,offer.declined --json",
        ],
    ),
    ("webhook list", &["", "--partner \"Northwind Platform\"", "--csv"]),
    ("webhook show", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71"]),
    ("webhook update", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71 https://northwind.example/hooks/2"]),
    ("webhook pause", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71"]),
    ("webhook resume", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71"]),
    ("webhook rotate", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71"]),
    ("webhook test", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71", "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71 --json"]),
    ("webhook attempts", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71", "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71 --json"]),
    ("webhook redeliver", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71 --after 41"]),
    ("webhook delete", &["01810583-ddf2-7d7e-9d5c-3f0e1b2a4c71"]),
    ("operator", &["new-key anna.k support"]),
    ("operator new-key", &["anna.k support", "core-system lending --json"]),
    ("health", &["", "--operator-url https://ops.example:8081"]),
    ("completions", &["bash > ~/.local/share/bash-completion/completions/lendpay", "fish"]),
];

/// The command line of a program, with its examples.
pub fn command<P: CommandFactory>() -> Command {
    with_examples(P::command(), "")
}

/// Reads the command line; ends the process with a message if it is wrong, or if help is wanted.
pub fn parse<P: Parser>() -> P {
    let read = P::from_arg_matches(&command::<P>().get_matches());
    read.unwrap_or_else(|error| error.format(&mut command::<P>()).exit())
}

/// `name` is what follows `lendpay`.
fn with_examples(command: Command, name: &str) -> Command {
    let command = command.mut_subcommands(|inner| {
        let name = format!("{name} {}", inner.get_name());
        with_examples(inner, name.trim_start())
    });
    match EXAMPLES.iter().find(|(known, _)| *known == name) {
        Some((_, examples)) => command.after_help(format!("Examples:\n{}", lines(name, examples).join("\n"))),
        None => command,
    }
}

fn lines(name: &str, examples: &[&str]) -> Vec<String> {
    let line = |example: &&str| {
        let words = ["  lendpay", name, example];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    examples.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;

    fn names(command: &Command, name: &str) -> Vec<String> {
        let below = command.get_subcommands().flat_map(|inner| names(inner, &format!("{name} {}", inner.get_name())));
        [name.trim_start().to_owned()].into_iter().chain(below).collect()
    }

    /// The words of a line as a shell reads them, up to a redirection.
    fn words(line: &str) -> Vec<String> {
        let line = line.split(" > ").next().expect("a first part");
        let parts = line.split('"').enumerate();
        parts
            .flat_map(|(n, part)| match n % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    #[test]
    fn the_operators_start_page_shows_commands_that_can_be_read() {
        let shown = include_str!("../operations/start.md").lines().filter(|line| line.starts_with("lendpay "));
        for line in shown {
            assert!(command::<CommandLine>().try_get_matches_from(words(line)).is_ok(), "{line}");
        }
    }

    #[test]
    fn every_command_has_examples_and_all_of_them_can_be_read() {
        let mut found = names(&CommandLine::command(), "");
        found.sort();
        let mut wanted: Vec<_> = EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
        wanted.sort();
        assert_eq!(found, wanted);
        for (name, examples) in EXAMPLES {
            for line in lines(name, examples) {
                // Help wraps what is longer.
                assert!(line.len() <= 100, "{line}");
                match command::<CommandLine>().try_get_matches_from(words(&line)) {
                    Err(error) if error.kind() != clap::error::ErrorKind::DisplayHelp => panic!("{line}: {error}"),
                    _ => {}
                }
            }
        }
    }
}
