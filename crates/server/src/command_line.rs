//! The command line as a whole: the commands, and what each of them is given.

use crate::client::{
    ApplicationCommand, BuyerCommand, EventsCommand, HealthCommand, KeyCommand, OfferCommand, OperationCommand,
    OperatorCommand, PartnerCommand, WebhookCommand,
};
use crate::completions::CompletionsCommand;
use crate::settings::{Backup, Export, HistoryCommand, Import, KeptIn, Migrate, Sandbox, Serve};
use clap::{CommandFactory as _, Parser, Subcommand};
use std::ffi::OsString;

/// Lendpay: the lending-and-payments service that a lender runs for its partners.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service until SIGTERM or Ctrl-C.
    Serve(Box<Serve>),
    /// Try the service, or test a client: a sandbox with fixed keys, offers and buyers, in which every answer can be
    /// provoked and the clock be moved.
    #[command(visible_alias = "demo")]
    Sandbox(Box<Sandbox>),
    /// Write everything to a file: from a stopped store, or from the running service.
    Export(Export),
    /// Copy what the running service's embedded store has got since the last backup. Ends with code 2 on PostgreSQL.
    Backup(Backup),
    /// Read an export into a stopped store.
    Import(Import),
    /// Check a stopped embedded store: the whole log, and its index. Ends with code 1 if something is damaged.
    Verify(KeptIn),
    /// The history that the sequences of events belong to, in a stopped store or a database.
    #[command(subcommand)]
    History(HistoryCommand),
    /// Make or renew the tables of a PostgreSQL store.
    Migrate(Migrate),
    /// Partners, at the running service.
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Keys of partners, at the running service.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Applications of partners, at the running service.
    #[command(subcommand)]
    Application(ApplicationCommand),
    /// Offers, at the running service.
    #[command(subcommand)]
    Offer(OfferCommand),
    /// Buyers, at the running service.
    #[command(subcommand)]
    Buyer(BuyerCommand),
    /// What happened, at the running service.
    Events(EventsCommand),
    /// What became of a request, at the running service: why it was refused, or the events that it caused.
    Operation(OperationCommand),
    /// Webhooks, at the running service: endpoints that events are sent to.
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Operators of the service: the people and systems that its operators' file lists.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Whether the running service is ready. Ends with code 1 if it is not.
    Health(HealthCommand),
    /// Print a script that completes commands in a shell.
    Completions(CompletionsCommand),
}

/// The arguments of a command and of all below it.
fn all_arguments(command: &clap::Command) -> Vec<&clap::Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(all_arguments)).collect()
}

/// Refuses variables that look like settings and are none: a misspelt one would otherwise be ignored in silence.
pub fn no_unknown_variables() -> Result<(), String> {
    let command = CommandLine::command();
    let known: Vec<_> = all_arguments(&command).into_iter().filter_map(clap::Arg::get_env).collect();
    let is_unknown =
        |name: &OsString| name.to_string_lossy().starts_with("LENDPAY_") && !known.contains(&name.as_os_str());
    match std::env::vars_os().map(|(name, _)| name).find(is_unknown) {
        None => Ok(()),
        Some(name) => Err(format!(
            "there is no setting {}; unset it, or see `lendpay serve --help` for those there are",
            name.to_string_lossy()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_variable() {
        // These say what one call is to do; a variable for them would make other calls do it too.
        const OF_ONE_CALL: [&str; 30] = [
            "after",
            "application",
            "area",
            "at-once",
            "buyer",
            "csv",
            "dry-run",
            "expires",
            "expires-before",
            "follow",
            "format",
            "from",
            "id",
            "json",
            "limit",
            "merge",
            "name",
            "oauth-client-id",
            "offer",
            "operation",
            "partner",
            "read-only",
            "reason",
            "registration-number",
            "running",
            "status",
            "to",
            "type",
            "until",
            "version",
        ];
        let command = CommandLine::command();
        for argument in all_arguments(&command) {
            let of_one_call = argument.get_long().is_none_or(|flag| OF_ONE_CALL.contains(&flag));
            if of_one_call {
                assert_eq!(argument.get_env(), None, "{}", argument.get_id());
                continue;
            }
            let variable = argument.get_env().map(|name| name.to_string_lossy().into_owned());
            let flag = argument.get_long().expect("one that has none was passed over");
            assert_eq!(variable, Some(format!("LENDPAY_{}", flag.to_uppercase().replace('-', "_"))), "--{flag}");
        }
    }
}
