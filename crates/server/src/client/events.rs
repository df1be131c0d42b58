//! `lendpay events`.

use super::http::{CallError, Client};
use super::screen::{Columns, Screen};
use crate::settings::Access;
use clap::Args;
use lendpay_domain::HistoryId;
use lendpay_domain::cursor::Cursor;
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
    /// Only events after this one: its sequence, or the history, a colon and its sequence.
    #[arg(long, value_name = "[HISTORY:]SEQUENCE", default_value = "0", value_parser = cursor)]
    after: Cursor,
    /// Go on with those that come, until Ctrl-C.
    #[arg(long)]
    follow: bool,
    /// Print JSON, one event a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

fn cursor(text: &str) -> Result<Cursor, &'static str> {
    Cursor::parse(text).ok_or("must be a sequence, or a history, a colon and a sequence")
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
        let items = page["items"].as_array().ok_or("the service answered no list")?;
        if !items.is_empty() || !command.follow {
            screen.show(items)?;
        }
        // Once a history is known, another one ends this: it would repeat or miss events.
        after.history = page["history"].as_str().and_then(HistoryId::parse);
        if let Some(last) = items.last().and_then(|event| event["sequence"].as_u64()) {
            after.sequence = last;
        }
        if page["next"] == Value::Null {
            if !command.follow {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }
}
