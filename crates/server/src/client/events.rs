//! `lendpay events`.

use super::http::{CallError, Client};
use super::screen::{Columns, Screen};
use crate::operator_settings::Access;
use clap::Args;
use serde_json::Value;
use std::time::Duration;

const COLUMNS: Columns = &[
    ("SEQUENCE", "sequence"),
    ("TYPE", "type"),
    ("OCCURRED", "occurredAt"),
    ("PARTNER", "partnerId"),
    ("OFFER", "offerId"),
    ("BUYER", "buyerId"),
    ("ACTOR", "actor"),
];

/// How long to wait for more.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct EventsCommand {
    /// Only events after this sequence.
    #[arg(long, value_name = "SEQUENCE", default_value_t = 0)]
    after: u64,
    /// Go on with those that come, until Ctrl-C.
    #[arg(long)]
    follow: bool,
    /// Print JSON, one event a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &EventsCommand) -> Result<(), String> {
    let client = Client::new(&command.access)?;
    let mut screen = Screen::new(command.json, COLUMNS);
    let (mut after, mut answered) = (command.after, false);
    loop {
        let page = match client.get(&format!("/operator/events?limit=500&after={after}")) {
            // The service may be starting again; who follows goes on where it was.
            Err(CallError::Unreachable(_)) if command.follow && answered => {
                std::thread::sleep(PAUSE);
                continue;
            }
            other => other?,
        };
        answered = true;
        let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !items.is_empty() || !command.follow {
            screen.show(items)?;
        }
        if let Some(last) = items.last().and_then(|event| event["sequence"].as_u64()) {
            after = last;
        }
        if page["next"] == Value::Null {
            if !command.follow {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }
}
