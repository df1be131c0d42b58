//! `lendpay completions`.

use crate::client;
use clap::{Args, Command};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub struct CompletionsCommand {
    /// The shell that is to complete commands.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Completes commands of this command line.
pub fn run(command: &CompletionsCommand, mut line: Command) -> Result<(), String> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut line, "lendpay", &mut script);
    client::print(&String::from_utf8(script).expect("commands and their help are UTF-8"))
}
