//! The service with endpoints, on either store.

use crate::http::Operator;
use crate::lab::Lab;
use crate::server::Server;
use crate::stores::Stores;
use anyhow::Context as _;
use lendpay_receiver::{Behaviour, Receiver};
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

/// A store, and how the service is started on it.
pub struct Place {
    lab: Lab,
    store: String,
    more: Vec<String>,
}

impl Place {
    /// An empty store. Endpoints are receivers on this machine; what they do not take is sent again each second.
    pub fn new(lab: &Lab, stores: &Stores, receiver: &Receiver) -> anyhow::Result<Self> {
        let store = stores.empty(lab, "data")?;
        let more = ["--ca", &text(receiver.authority()), "--secrets-key-file", &text(key_file(lab)?)]
            .into_iter()
            .chain(["--webhook-allow", "127.0.0.0/8", "--webhook-timeout", "2", "--webhook-retries", "1s/7d"])
            .chain(["--log", "info,lendpay::request=off"])
            .map(str::to_owned)
            .collect();
        Ok(Self { lab: lab.clone(), store, more })
    }

    /// Starts the service.
    pub fn serve(&self) -> anyhow::Result<Server> {
        self.lab.serve(&self.store, &self.more.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

fn text(path: PathBuf) -> String {
    path.display().to_string()
}

/// A file with a key for secrets, which nobody else can read.
fn key_file(lab: &Lab) -> anyhow::Result<PathBuf> {
    let path = lab.path("secrets.key");
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all("ab".repeat(32).as_bytes())?;
    Ok(path)
}

/// Adds an endpoint of a partner or of the lender, which a receiver expects from now on; returns its id.
pub fn endpoint(
    operator: SocketAddr,
    receiver: &Receiver,
    name: &str,
    partner: Option<&str>,
    behaviour: Behaviour,
) -> anyhow::Result<String> {
    let new = json!({ "url": receiver.url(name), "partnerId": partner }).to_string();
    let made = Operator::new(operator).call("POST", "/operator/webhooks", &new, &[201])?;
    receiver.expect(name, &[made["secret"].as_str().context("an endpoint without a secret")?], behaviour);
    made["endpointId"].as_str().map(str::to_owned).context("an endpoint without an id")
}
