//! Settings of the operator's side: for the service that has one, and for the commands that call it.

use super::outgoing::{Address, Trust};
use super::values::socket_address;
use crate::operators::OperatorsFile;
use crate::secret_file;
use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use lendpay_api::{Hosts, OperatorKey, OperatorList, Operators};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

/// A text that is never shown.
#[derive(Clone)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// The operator's key, given itself or in a file.
#[derive(Debug, Args)]
pub struct KeySource {
    /// The operator's key: at least 32 characters. It opens the operator's side; without one there is none.
    #[arg(
        long,
        env = "LENDPAY_OPERATOR_KEY",
        value_name = "KEY",
        hide_env_values = true,
        conflicts_with = "operator_key_file"
    )]
    operator_key: Option<Secret>,

    /// A file that holds the operator's key, in place of --operator-key. One that other users of the machine can read
    /// is refused.
    #[arg(long, env = "LENDPAY_OPERATOR_KEY_FILE", value_name = "FILE")]
    operator_key_file: Option<PathBuf>,
}

impl KeySource {
    /// The key's text, if there is one.
    pub fn text(&self) -> Result<Option<String>, String> {
        let path = match (&self.operator_key, &self.operator_key_file) {
            (Some(Secret(key)), _) => return Ok(Some(key.clone())),
            (None, Some(path)) => path,
            (None, None) => return Ok(None),
        };
        let text = std::io::read_to_string(secret_file::open(path)?);
        let text = text.map_err(|error| format!("the operator key cannot be read from {}: {error}", path.display()))?;
        Ok(Some(text.trim().to_owned()))
    }
}

/// The operator's side of the service.
#[derive(Debug, Args)]
pub struct Operator {
    /// Where operators connect, if there is a key. Keep it on loopback, or give it TLS. Default:
    /// 127.0.0.1:8081.
    #[arg(long, env = "LENDPAY_OPERATOR_LISTEN", value_name = "ADDRESS:PORT", value_parser = socket_address)]
    operator_listen: Option<SocketAddr>,

    /// Names besides those of this machine by which the operator's side may be called, separated by commas; requests
    /// that name another host get 421.
    #[arg(long, env = "LENDPAY_OPERATOR_HOSTS", value_name = "NAME,…", value_delimiter = ',', value_parser = host)]
    operator_hosts: Vec<String>,

    #[command(flatten)]
    key: KeySource,

    /// A file that lists operators: for each key a line with name, role (read, support, lending or admin) and SHA-256,
    /// as
    /// `lendpay operator new-key` prints it. It is read again when it changes. One that other users of the machine can
    /// read is refused. The key above is beside it, and may do everything.
    #[arg(long, env = "LENDPAY_OPERATORS_FILE", value_name = "FILE")]
    operators_file: Option<PathBuf>,

    /// Whether the operator's side has the console, /operator/console: pages for people, who sign in with their key.
    #[arg(
        long,
        env = "LENDPAY_CONSOLE",
        value_name = "on|off",
        default_value = "on",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new()
    )]
    console: bool,
}

fn host(text: &str) -> Result<String, String> {
    let host = url::Host::parse(text).map_err(|_| "write names such as ops.example, without a port".to_owned())?;
    Ok(host.to_string())
}

/// The operator's side, when there is to be one.
pub struct OperatorSide {
    pub listen: SocketAddr,
    /// By which names it may be called.
    pub hosts: Hosts,
    pub operators: Arc<Operators>,
    /// The file that lists some of them.
    pub file: Option<OperatorsFile>,
    /// Whether it has the console.
    pub console: bool,
}

impl Operator {
    /// None without a key and a file.
    pub fn side(&self) -> Result<Option<OperatorSide>, String> {
        let key = self.key.text()?.map(|text| OperatorKey::parse(&text)).transpose();
        let key = key.map_err(|error| format!("{error}; make one with `openssl rand -hex 32`"))?;
        let (operators, file) = match (&self.operators_file, key) {
            (Some(path), key) => {
                let file = OperatorsFile::open(path, key)?;
                (file.operators(), Some(file))
            }
            (None, Some(key)) => (Arc::new(Operators::new(Some(key), OperatorList::default())), None),
            (None, None) => {
                return match self.operator_listen {
                    None => Ok(None),
                    Some(_) => Err("--operator-listen is set, but there is no operator's side without a key; set \
                                    --operator-key, --operator-key-file or --operators-file"
                        .to_owned()),
                };
            }
        };
        let listen = self.operator_listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 8081)));
        let hosts = Hosts { listed: self.operator_hosts.clone() };
        Ok(Some(OperatorSide { listen, hosts, operators, file, console: self.console }))
    }
}

/// How commands reach the running service.
#[derive(Debug, Args)]
pub struct Access {
    /// The operator's side of the running service: https, or http on this machine.
    #[arg(long, env = "LENDPAY_OPERATOR_URL", value_name = "URL", default_value = "http://127.0.0.1:8081")]
    pub operator_url: Address,

    #[command(flatten)]
    pub key: KeySource,

    #[command(flatten)]
    pub trust: Trust,
}
