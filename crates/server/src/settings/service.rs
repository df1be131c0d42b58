//! What it takes to run the service.

use super::oauth::OAuthSettings;
use super::operator::Operator;
use super::outgoing::{Trust, collector};
use super::sandbox::web_address;
use super::store::KeptIn;
use super::values::{Rate, kept, log_levels, rate, seconds, share, socket_address};
use super::webhooks::Webhooks;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use lendpay_domain::buyer_checks::BuyerChecks;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tracing_subscriber::filter::Targets;
use url::Url;

/// What `serve` needs.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where partners connect.
    #[arg(long, env = "LENDPAY_LISTEN", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = socket_address)]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub kept: KeptIn,

    /// Rebuild the index of an embedded store from its log, whatever state it is in; for one start.
    #[arg(long, env = "LENDPAY_REBUILD_INDEX", value_parser = BoolishValueParser::new())]
    pub rebuild_index: bool,

    /// The certificate, with those between it and the root, in PEM: with it and its key both listeners speak TLS. Both
    /// files are read again when they change.
    #[arg(long, env = "LENDPAY_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The certificate's private key, in PEM.
    #[arg(long, env = "LENDPAY_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    #[command(flatten)]
    pub operator: Operator,

    #[command(flatten)]
    pub webhooks: Webhooks,

    #[command(flatten)]
    pub common: Common,

    #[command(flatten)]
    pub oauth: OAuthSettings,
}

/// What every way to run the service shares.
#[derive(Debug, Args)]
pub struct Common {
    /// Where partners reach the service, such as `https://api.example`: its document and the code in it name this
    /// address. Without it the document is for the host that serves it.
    #[arg(long, env = "LENDPAY_PUBLIC_URL", value_name = "URL", value_parser = web_address)]
    pub public_url: Option<Url>,

    /// How much is asked of a buyer: every check of the document, or the bare contract (types, and type 0).
    #[arg(long, env = "LENDPAY_BUYER_CHECKS", value_name = "CHECKS", default_value = "full", value_parser = PossibleValuesParser::new(["full", "contract"])
        .map(|checks| if checks == "full" { BuyerChecks::Full } else { BuyerChecks::Contract }))]
    pub buyer_checks: BuyerChecks,

    /// How many requests a partner may make, and in how many seconds, such as 2000/300s; or off. Unless it is off, an
    /// address may fail to authenticate 1000 times in 300 s.
    #[arg(long, env = "LENDPAY_RATE_LIMIT", value_name = "LIMIT", default_value = "2000/300s", value_parser = rate)]
    pub rate_limit: Rate,

    /// How long a request may take, from its first byte to the answer, in seconds.
    #[arg(long, env = "LENDPAY_REQUEST_TIMEOUT", value_name = "SECONDS", default_value = "30", value_parser = seconds(1))]
    pub request_timeout: Duration,

    /// How long a connection may do nothing, or its client take nothing of an answer, in seconds.
    #[arg(long, env = "LENDPAY_IDLE_TIMEOUT", value_name = "SECONDS", default_value = "75", value_parser = seconds(1))]
    pub idle_timeout: Duration,

    /// How many connections partners may have open; one address, such as a proxy's, half of them. Who comes next gets 503.
    #[arg(long, env = "LENDPAY_CONNECTIONS", value_name = "NUMBER", default_value = "16384", value_parser = clap::value_parser!(u32).range(2..=1_048_576))]
    pub connections: u32,

    /// How long the service goes on after it was asked to stop, not ready any more, so that a load balancer notices
    /// before connections are refused, in seconds. A second signal ends the wait.
    #[arg(long, env = "LENDPAY_STOP_DELAY", value_name = "SECONDS", default_value = "0", value_parser = seconds(0))]
    pub stop_delay: Duration,

    /// How much memory the store's cache may take, in MiB. The process takes two to four times that, and 60 bytes for
    /// each offer.
    #[arg(long, env = "LENDPAY_CACHE", value_name = "MIB", default_value = "256", value_parser = clap::value_parser!(u32).range(8..=1_048_576))]
    pub cache: u32,

    /// How many connections to a PostgreSQL store there may be.
    #[arg(long, env = "LENDPAY_STORE_CONNECTIONS", value_name = "NUMBER", default_value = "16", value_parser = clap::value_parser!(u16).range(4..=1_024))]
    pub store_connections: u16,

    /// How long calls that were refused or changed nothing are kept for `lendpay operation`, such as 12h or 7d. All of
    /// them take 64 MiB at the most: those of a partner a quarter, those without a valid key a tenth.
    #[arg(long, env = "LENDPAY_OPERATIONS_KEPT", value_name = "TIME", default_value = "7d", value_parser = kept)]
    pub operations_kept: Duration,

    /// How log lines look: text for people, json for machines; auto is text on a terminal and json elsewhere.
    #[arg(long, env = "LENDPAY_LOG_FORMAT", value_name = "FORMAT", default_value = "auto")]
    pub log_format: LogFormat,

    /// The OpenTelemetry collector that gets a span for each request, over OTLP/HTTP, such as http://localhost:4318;
    /// without it nothing is collected. A request is left out when its caller's `traceparent` says that the trace is
    /// not kept.
    #[arg(long, env = "LENDPAY_OTLP_ENDPOINT", value_name = "URL", value_parser = collector)]
    pub otlp_endpoint: Option<Url>,

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

/// `--log-format`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LogFormat {
    Auto,
    Text,
    Json,
}
