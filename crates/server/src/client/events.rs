//! `lendpay events`.

use super::http::{CallError, Client};
use super::ids::{id, some_partner};
use super::list::{Filters, ListOptions, address, items, pages};
use super::operation::operation;
use super::screen::{Columns, Screen, column, detail};
use super::times::moment;
use clap::Args;
use clap::builder::PossibleValuesParser;
use lendpay_domain::cursor::Cursor;
use lendpay_domain::event::Subject;
use lendpay_domain::{ApplicationId, BuyerId, HistoryId, OfferId, OperationId};
use std::time::{Duration, Instant};

pub const COLUMNS: Columns = &[
    column("SEQUENCE", "sequence"),
    detail("EVENT", "id"),
    column("TYPE", "type"),
    column("OCCURRED", "occurredAt"),
    column("PARTNER", "partnerId"),
    detail("APPLICATION", "applicationId"),
    column("OFFER", "offerId"),
    column("BUYER", "buyerId"),
    detail("KEY", "keyId"),
    column("ACTOR", "actor"),
    detail("OPERATION", "operationId"),
    detail("REPLACED", "replaced"),
    detail("REASON", "reason"),
];

/// How many seconds the service waits for more, at the most (contract 2.13).
const WAIT: &str = "25";

/// How long to wait for a service that does not.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub struct EventsCommand {
    /// Only events after this one: its sequence, or the history, a colon and its sequence.
    #[arg(long, value_name = "[HISTORY:]SEQUENCE", default_value = "0", value_parser = cursor)]
    after: Cursor,
    /// Only events of this type; may be repeated, or name several with commas between them.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = PossibleValuesParser::new(Subject::TYPES))]
    types: Vec<String>,
    /// Only events that concern this partner: its name or id.
    #[arg(long, value_name = "PARTNER")]
    partner: Option<String>,
    /// Only events about offers of the application with this id.
    #[arg(long, value_name = "UUID")]
    application: Option<String>,
    /// Only events about the offer with this id.
    #[arg(long, value_name = "UUID")]
    offer: Option<String>,
    /// Only events about the buyer with this id.
    #[arg(long, value_name = "UUID")]
    buyer: Option<String>,
    /// Only events that the request with this operationId caused.
    #[arg(long, value_name = "ID", value_parser = operation)]
    operation: Option<OperationId>,
    /// Only events that happened at this moment or later: a date, or an RFC 3339 date-time.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<String>,
    /// Only events that happened before this moment.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<String>,
    /// Go on with those that come, until Ctrl-C.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    options: ListOptions,
}

fn cursor(text: &str) -> Result<Cursor, &'static str> {
    Cursor::parse(text).ok_or("must be a sequence, or a history, a colon and a sequence")
}

fn some_id<T: ToString>(text: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> Result<Option<String>, String> {
    text.map(|text| id(text, parse).map(|id| id.to_string())).transpose()
}

pub fn run(command: &EventsCommand) -> Result<(), String> {
    let client = Client::new(&command.options.access)?;
    let filters = [
        ("type", (!command.types.is_empty()).then(|| command.types.join(","))),
        ("partnerId", some_partner(&client, command.partner.as_deref())?),
        ("applicationId", some_id(command.application.as_deref(), ApplicationId::parse)?),
        ("offerId", some_id(command.offer.as_deref(), OfferId::parse)?),
        ("buyerId", some_id(command.buyer.as_deref(), BuyerId::parse)?),
        ("operationId", command.operation.map(|operation| operation.to_string())),
        ("from", command.from.clone()),
        ("until", command.until.clone()),
    ];
    let mut screen = Screen::new(command.options.format(), COLUMNS);
    let limit = command.options.limit.unwrap_or(u64::MAX);
    if command.follow {
        return follow(&client, &filters, command.after, limit, &mut screen);
    }
    let after = Some(command.after.to_string());
    pages(&client, "/operator/events", &filters, after, limit, |events| screen.show(events))?;
    screen.finish()
}

fn follow(
    client: &Client,
    filters: Filters<'_>,
    mut after: Cursor,
    mut left: u64,
    screen: &mut Screen,
) -> Result<(), String> {
    let filters = &[filters, &[("wait", Some(WAIT.to_owned()))]].concat();
    let mut answered = false;
    while left > 0 {
        let asked = Instant::now();
        let page = match client.get(&address("/operator/events", filters, Some(&after.to_string()), left)) {
            // The service may be starting again; who follows goes on where it was.
            Err(CallError::Unreachable(_)) if answered => {
                std::thread::sleep(PAUSE);
                continue;
            }
            other => other?,
        };
        answered = true;
        let events = items(&page)?;
        screen.show(events)?;
        left = left.saturating_sub(events.len().try_into().expect("a page has few items"));
        if let Some(next) = page["next"].as_str() {
            after = Cursor::parse(next).ok_or("the service answered no cursor")?;
            continue;
        }
        // Once a history is known, another one ends this: it would repeat or miss events.
        after.history = page["history"].as_str().and_then(HistoryId::parse);
        if let Some(last) = events.last().and_then(|event| event["sequence"].as_u64()) {
            after.sequence = last;
        }
        if events.is_empty() && asked.elapsed() < PAUSE {
            // It is about to stop.
            std::thread::sleep(PAUSE);
        }
    }
    Ok(())
}
