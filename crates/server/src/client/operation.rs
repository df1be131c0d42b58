//! `lendpay operation`.

use super::events;
use super::http::Client;
use super::list::{items, pages};
use super::screen::{Columns, Format, Screen, column, print};
use crate::printable;
use crate::settings::Access;
use clap::Args;
use lendpay_domain::OperationId;
use serde_json::Value;

/// Of calls that changed nothing.
const COLUMNS: Columns = &[
    column("RECEIVED", "receivedAt"),
    column("METHOD", "method"),
    column("ROUTE", "route"),
    column("STATUS", "status"),
    column("ERROR", "errorCode"),
    column("DETAILS", "errors"),
    column("PARTNER", "partnerId"),
    column("ACTOR", "actor"),
    column("APPLICATION", "applicationId"),
    column("OFFER", "offerId"),
    column("BUYER", "buyerId"),
    column("MILLISECONDS", "durationMs"),
];

#[derive(Debug, Args)]
pub struct OperationCommand {
    /// The `operationId` of an error, the `X-Request-Id` of an answer, or the trace id of a request.
    #[arg(value_name = "ID", value_parser = operation)]
    operation: OperationId,
    /// Print JSON: the calls that changed nothing, and the events of the others.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

/// Reads the id of an operation.
pub fn operation(text: &str) -> Result<OperationId, &'static str> {
    OperationId::parse(text).ok_or("must be 32 hexadecimal digits")
}

pub fn run(command: &OperationCommand) -> Result<(), String> {
    let (client, id) = (Client::new(&command.access)?, command.operation);
    let mut found = client.get(&format!("/operator/operations/{id}"))?;
    let calls = found["calls"].as_array().cloned().ok_or("the service answered no calls")?;
    let mut events = items(&found["events"])?.to_vec();
    if let Some(next) = found["events"]["next"].as_str().map(str::to_owned) {
        let filters = [("operationId", Some(id.to_string()))];
        pages(&client, "/operator/events", &filters, Some(next), u64::MAX, |more| {
            events.extend_from_slice(more);
            Ok(())
        })?;
    }
    let (no_calls, no_events) = (calls.is_empty(), events.is_empty());
    if command.json {
        found["events"]["items"] = Value::Array(events);
        found["events"]["next"] = Value::Null;
        print(&format!("{}\n", printable::json(&found)))?;
    } else {
        Screen::new(Format::Record, COLUMNS).show(&calls)?;
        Screen::new(Format::Table, events::COLUMNS).show(&events)?;
    }
    if no_calls && no_events {
        // The same for people and scripts, off standard output.
        eprintln!(
            "Nothing is kept of the operation id {id}: the request only read, or never came, or it changed nothing and \
             came longer ago than --operations-kept. The service's log has it in lines with \"operation\":\"{id}\"."
        );
    }
    Ok(())
}
