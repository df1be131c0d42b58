//! `lendpay health`.

use super::Access;
use super::screen::print;
use crate::{outgoing, printable};
use clap::Args;
use serde_json::Value;
use std::time::Duration;

/// How long the service may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub struct HealthCommand {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

/// Fails unless the service is ready. Needs no key.
pub fn run(command: &HealthCommand) -> Result<(), String> {
    let access = &command.access;
    let url = access.operator_url.to_string();
    let url = url.trim_end_matches('/');
    let unreachable = |error| format!("the service cannot be reached at {url}: {error}");
    let agent = outgoing::agent(access.operator_url.url(), PATIENCE, &access.trust)?;
    let mut response = agent.get(format!("{url}/health/ready")).call().map_err(unreachable)?;
    let text = response.body_mut().read_to_string().map_err(unreachable)?;
    let body = serde_json::from_str::<Value>(&text).ok().filter(|body| body["status"].is_string());
    let body = body.ok_or_else(|| format!("{url} answers, but not as a Lendpay service; is --operator-url right?"))?;
    if command.json {
        print(&format!("{}\n", printable::json(&body)))?;
    }
    if response.status() == 200 {
        return if command.json { Ok(()) } else { print(&format!("The service at {url} is ready.\n")) };
    }
    let reason = body["reason"].as_str().or(body["status"].as_str()).expect("it has a status");
    Err(format!("the service at {url} is not ready: {reason}"))
}
