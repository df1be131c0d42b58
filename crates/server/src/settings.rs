//! The command line and the environment: every flag has a variable, and nothing is read anywhere else.

mod values;

pub use values::{Rate, socket_address};

use crate::client::{EventsCommand, KeyCommand, OfferCommand, PartnerCommand};
use crate::listener::Tls;
use crate::oauth::OAuthSettings;
use crate::operator_settings::Operator;
use crate::outgoing::Trust;
use crate::secret_file;
use crate::telemetry::Collector;
use crate::transfer::{Export, HistoryCommand, Import, Verify};
use clap::{Args, Parser, Subcommand, ValueEnum};
use lendpay_domain::buyer_checks::BuyerChecks;
use lendpay_storage::PostgresAddress;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::filter::Targets;
use values::{log_levels, seconds, seconds_or_none, share};

/// Lendpay: the lending-and-payments service that a lender runs for its partners.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Settings {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service until SIGTERM or Ctrl-C.
    Serve(Box<Serve>),
    /// Try the service: a throw-away store with a partner, a key and a few offers.
    Demo(Box<Demo>),
    /// Write everything to a file: from a stopped store, or from the running service.
    Export(Export),
    /// Read an export into a stopped store.
    Import(Import),
    /// Check a stopped embedded store: the whole log, and its index. Ends with code 1 if something is damaged.
    Verify(Verify),
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
    /// Offers, at the running service.
    #[command(subcommand)]
    Offer(OfferCommand),
    /// What happened, at the running service.
    Events(EventsCommand),
}

/// What `serve` needs.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where partners connect.
    #[arg(long, env = "LENDPAY_LISTEN", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = socket_address)]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub kept: KeptIn,

    /// Rebuild the index of an embedded store from its log, whatever state it is in; for one start.
    #[arg(long, env = "LENDPAY_REBUILD_INDEX", value_parser = clap::builder::BoolishValueParser::new())]
    pub rebuild_index: bool,

    #[command(flatten)]
    pub tls: TlsFiles,

    #[command(flatten)]
    pub operator: Operator,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub oauth: OAuthSettings,
}

/// TLS for both listeners.
#[derive(Debug, Args)]
pub struct TlsFiles {
    /// The certificate, with those between it and the root, in PEM: with it and its key both listeners speak TLS. Both files
    /// are read again when they change.
    #[arg(long, env = "LENDPAY_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The certificate's private key, in PEM.
    #[arg(long, env = "LENDPAY_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files, if there are any.
    pub fn open(&self) -> Result<Option<Arc<Tls>>, String> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let opened = secret_file::open(key).and_then(|_| Tls::open(certificate, key));
        opened.map(Some).map_err(|error| format!("--tls-cert, --tls-key: {error}"))
    }
}

/// A store that is there, or is made.
#[derive(Debug, Args)]
pub struct KeptIn {
    /// Where everything is kept: sled:DIRECTORY, on ext4 or xfs, or a PostgreSQL database, postgres://USER@HOST,HOST…/DATABASE.
    #[arg(
        long,
        env = "LENDPAY_STORE",
        value_name = "STORE",
        default_value = "sled:./lendpay-data",
        hide_env_values = true
    )]
    pub store: StorePlace,
}

/// What `migrate` needs.
#[derive(Debug, Args)]
pub struct Migrate {
    /// The database: postgres://USER@HOST,HOST…/DATABASE.
    #[arg(long, env = "LENDPAY_STORE", value_name = "STORE", hide_env_values = true)]
    pub store: StorePlace,
}

/// What `demo` needs.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where to listen; another free port is taken when this one is in use.
    #[arg(long, env = "LENDPAY_LISTEN", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = socket_address)]
    pub listen: SocketAddr,

    /// Keep the data in this directory instead of throwing it away at the end.
    #[arg(long, env = "LENDPAY_DATA", value_name = "DIRECTORY", conflicts_with = "store")]
    pub data: Option<PathBuf>,

    /// Keep the data in this store, such as a PostgreSQL database, whose tables are made if there are none.
    #[arg(long, env = "LENDPAY_STORE", value_name = "STORE", hide_env_values = true)]
    pub store: Option<StorePlace>,

    #[command(flatten)]
    pub common: Common,
}

/// What every way to run the service shares.
#[derive(Debug, Args)]
pub struct Common {
    /// How much is asked of a buyer: every check of the document, or the bare contract (types, and type 0).
    #[arg(long, env = "LENDPAY_BUYER_CHECKS", value_name = "CHECKS", default_value = "full")]
    pub buyer_checks: Checks,

    /// How many requests a partner may make, and in how many seconds, such as 2000/300s; or off. Unless it is off, an
    /// address may fail to authenticate 1000 times in 300 s.
    #[arg(long, env = "LENDPAY_RATE_LIMIT", value_name = "LIMIT", default_value_t)]
    pub rate_limit: Rate,

    /// How long a request may take, from its first byte to the answer, in seconds.
    #[arg(long, env = "LENDPAY_REQUEST_TIMEOUT", value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub request_timeout: Duration,

    /// How long a connection may do nothing, or its client take nothing of an answer, in seconds.
    #[arg(long, env = "LENDPAY_IDLE_TIMEOUT", value_name = "SECONDS", default_value = "75", value_parser = seconds)]
    pub idle_timeout: Duration,

    /// How many connections partners may have open; one address, such as a proxy's, half of them. Who comes next gets 503.
    #[arg(long, env = "LENDPAY_CONNECTIONS", value_name = "NUMBER", default_value = "16384", value_parser = clap::value_parser!(u32).range(2..=1_048_576))]
    pub connections: u32,

    /// How long the service goes on after it was asked to stop, not ready any more, so that a load balancer notices before
    /// connections are refused, in seconds. A second signal ends the wait.
    #[arg(long, env = "LENDPAY_STOP_DELAY", value_name = "SECONDS", default_value = "0", value_parser = seconds_or_none)]
    pub stop_delay: Duration,

    /// How much memory the store's cache may take, in MiB. The process takes two to four times that, and 60 bytes for each offer.
    #[arg(long, env = "LENDPAY_CACHE", value_name = "MIB", default_value = "256", value_parser = clap::value_parser!(u32).range(8..=1_048_576))]
    pub cache: u32,

    /// How many connections to a PostgreSQL store there may be.
    #[arg(long, env = "LENDPAY_STORE_CONNECTIONS", value_name = "NUMBER", default_value = "16", value_parser = clap::value_parser!(u16).range(4..=1_024))]
    pub store_connections: u16,

    /// How log lines look: text for people, json for machines; auto is text on a terminal and json elsewhere.
    #[arg(long, env = "LENDPAY_LOG_FORMAT", value_name = "FORMAT", default_value = "auto")]
    pub log_format: LogFormat,

    /// The OpenTelemetry collector that gets a span for each request, over OTLP/HTTP, such as http://localhost:4318; without
    /// it nothing is collected. A request is left out when its caller's `traceparent` says that the trace is not kept.
    #[arg(long, env = "LENDPAY_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<Collector>,

    #[command(flatten)]
    pub trust: Trust,

    /// Of the requests that come without a `traceparent`, how many are collected: from 0 (none) to 1 (all).
    #[arg(long, env = "LENDPAY_TRACE_SHARE", value_name = "SHARE", default_value = "1", value_parser = share)]
    pub trace_share: f64,

    /// What is logged: a level (off, error, warn, info, debug, trace), and levels of targets, such as
    /// `warn,lendpay::request=info`.
    #[arg(long, env = "LENDPAY_LOG", value_name = "LEVEL", default_value = "info", value_parser = log_levels)]
    pub log: Targets,
}

/// `--buyer-checks`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Checks {
    Full,
    Contract,
}

impl From<Checks> for BuyerChecks {
    fn from(checks: Checks) -> Self {
        match checks {
            Checks::Full => Self::Full,
            Checks::Contract => Self::Contract,
        }
    }
}

/// `--log-format`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LogFormat {
    Auto,
    Text,
    Json,
}

/// `--store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePlace {
    Sled(PathBuf),
    Postgres(PostgresAddress),
}

impl FromStr for StorePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("sled", path)) if !path.is_empty() => Ok(Self::Sled(path.into())),
            Some(("postgres" | "postgresql", _)) => text.parse().map(Self::Postgres),
            _ => {
                Err("write sled: and a directory, for example sled:./lendpay-data, or postgres: and a database"
                    .to_owned())
            }
        }
    }
}

/// The arguments of a command and of all below it.
fn all_arguments(command: &clap::Command) -> Vec<&clap::Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(all_arguments)).collect()
}

/// Refuses variables that look like settings and are none: a misspelt one would otherwise be ignored in silence.
pub fn no_unknown_variables() -> Result<(), String> {
    let command = <Settings as clap::CommandFactory>::command();
    let known: Vec<_> = all_arguments(&command)
        .into_iter()
        .filter_map(|argument| argument.get_env().map(std::ffi::OsStr::to_owned))
        .collect();
    let unknown = std::env::vars_os()
        .map(|(name, _)| name)
        .find(|name| name.to_string_lossy().starts_with("LENDPAY_") && !known.contains(name));
    match unknown {
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
        <Settings as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_store_is_a_kind_and_a_place() {
        assert_eq!("sled:./data".parse(), Ok(StorePlace::Sled("./data".into())));
        assert_eq!("sled:/a:b".parse(), Ok(StorePlace::Sled("/a:b".into())));
        let database = "postgres://lendpay:secret@one,two:5433/loans".parse::<StorePlace>().expect("a database");
        assert_eq!(database.to_string(), "postgres://one:5432,two:5433/loans");
        for text in ["", "sled", "sled:", "./data", "mysql://x", "postgres://"] {
            assert!(text.parse::<StorePlace>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_flag_has_a_variable() {
        // These say what one call is to do; a variable for them would make other calls do it too.
        const OF_ONE_CALL: [&str; 10] =
            ["after", "area", "expires", "follow", "id", "json", "merge", "oauth-client-id", "running", "version"];
        let command = <Settings as clap::CommandFactory>::command();
        for argument in all_arguments(&command) {
            let of_one_call = argument.get_long().is_none_or(|flag| OF_ONE_CALL.contains(&flag));
            if of_one_call {
                assert_eq!(argument.get_env(), None, "{}", argument.get_id());
                continue;
            }
            let variable = argument.get_env().map(|name| name.to_string_lossy().into_owned());
            let flag = argument.get_long().unwrap_or_default();
            assert_eq!(variable, Some(format!("LENDPAY_{}", flag.to_uppercase().replace('-', "_"))), "--{flag}");
        }
    }
}
