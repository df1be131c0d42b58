//! What it takes to run a sandbox, and to reach one that runs.

use super::outgoing::Trust;
use super::service::Common;
use super::values::socket_address;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;
use url::Url;

/// What `sandbox` needs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Sandbox {
    #[command(subcommand)]
    pub command: Option<SandboxCommand>,

    /// Where to listen; another free port is taken when this one is in use.
    #[arg(long, env = "LENDPAY_LISTEN", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = socket_address)]
    pub listen: SocketAddr,

    /// Keep the data in this directory instead of throwing it away at the end: a new or empty one, or one of a sandbox.
    #[arg(long, env = "LENDPAY_DATA", value_name = "DIRECTORY")]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    pub common: Common,
}

/// Commands on a sandbox that runs.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Move the clock of a running sandbox on, for the expiry of offers and keys and the times of events.
    Clock {
        /// By how much: a number and s, m, h or d, such as +30d.
        #[arg(value_name = "+SPAN")]
        by: String,
        #[command(flatten)]
        reach: Reach,
    },
    /// Make everything in a running sandbox as it was in the beginning, the clock too.
    Reset(Reach),
}

/// How a running sandbox is reached.
#[derive(Debug, Args)]
pub struct Reach {
    /// The running sandbox.
    #[arg(long, env = "LENDPAY_SANDBOX_URL", value_name = "URL", default_value = "http://127.0.0.1:8080", value_parser = web_address)]
    pub sandbox_url: Url,

    #[command(flatten)]
    pub trust: Trust,
}

/// Reads an address of the web. Nothing secret is sent there, so it need not be encrypted.
pub fn web_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| "write an address such as http://127.0.0.1:8080".to_owned())
}
