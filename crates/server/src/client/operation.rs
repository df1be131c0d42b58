//! `lendpay operation`.

use super::events::COLUMNS;
use super::http::Client;
use super::list::{ListOptions, pages};
use super::screen::Screen;
use clap::Args;
use lendpay_domain::OperationId;

#[derive(Debug, Args)]
pub struct OperationCommand {
    /// The `operationId` of an error, the `X-Request-Id` of an answer, or the trace id of a request.
    #[arg(value_name = "ID", value_parser = operation)]
    operation: OperationId,
    #[command(flatten)]
    options: ListOptions,
}

/// Reads the id of an operation.
pub fn operation(text: &str) -> Result<OperationId, &'static str> {
    OperationId::parse(text).ok_or("must be 32 hexadecimal digits")
}

pub fn run(command: &OperationCommand) -> Result<(), String> {
    let OperationCommand { operation, options } = command;
    let filters = [("operationId", Some(operation.to_string()))];
    let mut screen = Screen::new(options.format(), COLUMNS);
    let mut count = 0;
    let limit = options.limit.unwrap_or(u64::MAX);
    pages(&Client::new(&options.access)?, "/operator/events", &filters, None, limit, |events| {
        count += events.len();
        screen.show(events)
    })?;
    screen.finish()?;
    // What this knows, and what it does not: the same for people and scripts, off standard output.
    if count == 0 {
        eprintln!(
            "No event has the operation id {operation}: the request changed nothing, or never came. What was refused is only \
             in the service's log, in lines with \"operation\":\"{operation}\"."
        );
    } else {
        eprintln!(
            "Requests with this operation id that were refused changed nothing; they are only in the service's log."
        );
    }
    Ok(())
}
