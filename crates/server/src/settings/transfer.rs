//! What the commands on stopped stores and databases need.

use super::operator::Access;
use super::store::{KeptIn, StorePlace};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What `export` needs.
#[derive(Debug, Args)]
pub struct Export {
    /// Where to write to; - is standard output.
    #[arg(value_name = "FILE|-")]
    pub file: String,

    /// Export from the running service, through its operator's side, in place of a store. An embedded store must be
    /// stopped.
    #[arg(long)]
    pub running: bool,

    #[command(flatten)]
    pub kept: KeptIn,

    #[command(flatten)]
    pub access: Access,
}

/// What `backup` needs.
#[derive(Debug, Args)]
pub struct Backup {
    /// The directory of the backup. The first run makes it; later runs add what is new.
    #[arg(long, value_name = "DIRECTORY")]
    pub to: PathBuf,

    #[command(flatten)]
    pub access: Access,
}

/// What `import` needs.
#[derive(Debug, Args)]
pub struct Import {
    /// What to read; - is standard input.
    #[arg(value_name = "FILE|-")]
    pub file: String,

    /// Add to a store that is not empty what it has not got. Nothing that is there is changed.
    #[arg(long)]
    pub merge: bool,

    #[command(flatten)]
    pub kept: KeptIn,
}

/// Commands on the history of a store.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// Begin a new history: after a backup of a store was restored, and before the service starts on it. Readers of
    /// events learn then that they have to read them again from the beginning.
    New(KeptIn),
}

/// What `migrate` needs.
#[derive(Debug, Args)]
pub struct Migrate {
    /// The database: postgres://USER@HOST,HOST…/DATABASE.
    #[arg(long, env = "LENDPAY_STORE", value_name = "STORE", hide_env_values = true)]
    pub store: StorePlace,
}
