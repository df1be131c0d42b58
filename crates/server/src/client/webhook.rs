//! `lendpay webhook`.

use super::Access;
use super::http::{CallError, Client};
use super::ids::{id, partner, some_partner};
use super::list::{ListOptions, list};
use super::screen::{Columns, Format, Screen, column, detail};
use clap::{Args, Subcommand};
use lendpay_domain::EndpointId;
use serde_json::{Value, json};

const COLUMNS: Columns = &[
    column("ENDPOINT", "endpointId"),
    column("PARTNER", "partnerId"),
    column("URL", "url"),
    column("TYPES", "types"),
    column("STATE", "state"),
    column("REASON", "reason"),
    detail("IN FLIGHT", "inFlight"),
    column("CREATED", "createdAt"),
    detail("FORMER SECRET UNTIL", "formerSecretUntil"),
];

const MADE: Columns = &[
    column("ENDPOINT", "endpointId"),
    column("PARTNER", "partnerId"),
    column("URL", "url"),
    column("SECRET", "secret"),
];

const ROTATED: Columns = &[column("SECRET", "secret"), column("FORMER SECRET UNTIL", "formerSecretUntil")];

const SHOWN: Columns = &[
    column("ENDPOINT", "endpointId"),
    column("PARTNER", "partnerId"),
    column("URL", "url"),
    column("TYPES", "types"),
    column("IN FLIGHT", "inFlight"),
    column("STATE", "state"),
    column("REASON", "reason"),
    column("CREATED", "createdAt"),
    column("FORMER SECRET UNTIL", "formerSecretUntil"),
    column("CURSOR", "cursor"),
    column("WAITING", "waitingSequence"),
    column("WAITING SINCE", "waitingSince"),
    column("LAG SECONDS", "lagSeconds"),
    column("SET ASIDE", "setAside"),
    column("LAST SUCCESS", "lastSuccessAt"),
];

const ATTEMPTS: Columns = &[
    column("AT", "at"),
    column("TYPE", "type"),
    column("SEQUENCE", "sequence"),
    column("ATTEMPT", "number"),
    column("DELIVERED", "delivered"),
    column("STATUS", "status"),
    column("PROBLEM", "problem"),
    column("MILLISECONDS", "durationMs"),
    column("NEXT", "nextAt"),
    column("EVENT", "eventId"),
];

#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Add an endpoint that events are sent to. This is the only time that its secret is shown.
    Add(Add),
    /// List endpoints.
    List(List),
    /// Show an endpoint, and how far its delivery has come.
    Show(One),
    /// Change where events are sent to, which, and how many at once. What is not given gets its default.
    Update(Update),
    /// Send nothing until the endpoint is resumed. Nothing is lost.
    Pause(One),
    /// Send events again, to an endpoint that was paused or disabled.
    Resume(One),
    /// Replace an endpoint's secret. The one before stays valid for 24 hours.
    Rotate(One),
    /// Send a test event at once. Ends with code 1 if the endpoint does not take it.
    Test(One),
    /// List the last attempts to send something to an endpoint.
    Attempts(One),
    /// Send all events after a sequence again.
    Redeliver(Redeliver),
    /// Delete an endpoint.
    Delete(Delete),
}

/// What is sent to an endpoint.
#[derive(Debug, Args)]
struct Values {
    /// Where events are sent to: https, without user name and password.
    url: String,
    /// Only events of these types, separated by commas; without this, all that the owner may get.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    r#type: Vec<String>,
    /// How many events may be under way at once; with 1, all are sent one after the other.
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u8).range(1..=16))]
    at_once: u8,
}

impl Values {
    fn body(&self) -> Value {
        let types = (!self.r#type.is_empty()).then_some(&self.r#type);
        json!({ "url": self.url, "types": types, "inFlight": self.at_once })
    }
}

#[derive(Debug, Args)]
pub struct Add {
    #[command(flatten)]
    values: Values,
    /// The name or id of the partner whose events it gets; without this it is the lender's, and gets everybody's.
    #[arg(long, value_name = "PARTNER")]
    partner: Option<String>,
    /// Begin after this sequence, 0 for all events there are; without it, with those from now on.
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct List {
    /// Only those of this partner: its name or id.
    #[arg(long, value_name = "PARTNER")]
    partner: Option<String>,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
pub struct Update {
    /// The endpoint's id, as `lendpay webhook list` shows it.
    #[arg(value_name = "ENDPOINT-ID")]
    endpoint: String,
    #[command(flatten)]
    values: Values,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct One {
    /// The endpoint's id, as `lendpay webhook list` shows it.
    #[arg(value_name = "ENDPOINT-ID")]
    endpoint: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct Redeliver {
    /// The endpoint's id, as `lendpay webhook list` shows it.
    #[arg(value_name = "ENDPOINT-ID")]
    endpoint: String,
    /// The sequence after which events are sent; 0 for all.
    #[arg(long, value_name = "SEQUENCE")]
    after: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct Delete {
    /// The endpoint's id, as `lendpay webhook list` shows it.
    #[arg(value_name = "ENDPOINT-ID")]
    endpoint: String,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &WebhookCommand) -> Result<(), String> {
    match command {
        WebhookCommand::Add(add) => {
            let client = Client::new(&add.access)?;
            let mut body = add.values.body();
            body["after"] = add.after.into();
            if let Some(owner) = &add.partner {
                body["partnerId"] = partner(&client, owner)?.to_string().into();
            }
            show(&client.post("/operator/webhooks", &body)?, add.json, MADE)
        }
        WebhookCommand::List(endpoints) => {
            let client = Client::new(&endpoints.options.access)?;
            let filters = [("partnerId", some_partner(&client, endpoints.partner.as_deref())?)];
            list(&client, "/operator/webhooks", &filters, &endpoints.options, COLUMNS)
        }
        WebhookCommand::Show(one) => one.show(SHOWN, |client, path| client.get(path)),
        WebhookCommand::Update(update) => {
            let path = path(&update.endpoint)?;
            let endpoint = Client::new(&update.access)?.put(&path, &update.values.body())?;
            show(&endpoint, update.json, COLUMNS)
        }
        WebhookCommand::Pause(one) => {
            one.show(COLUMNS, |client, path| client.post(&format!("{path}/pause"), &json!({})))
        }
        WebhookCommand::Resume(one) => {
            one.show(COLUMNS, |client, path| client.post(&format!("{path}/resume"), &json!({})))
        }
        WebhookCommand::Rotate(one) => {
            one.show(ROTATED, |client, path| client.post(&format!("{path}/secret"), &json!({})))
        }
        WebhookCommand::Test(one) => {
            let attempt = Client::new(&one.access)?.post(&format!("{}/test", path(&one.endpoint)?), &json!({}))?;
            show(&attempt, one.json, ATTEMPTS)?;
            if attempt["delivered"] == true {
                Ok(())
            } else {
                Err("the endpoint did not take the test event".to_owned())
            }
        }
        WebhookCommand::Attempts(one) => {
            let attempts = Client::new(&one.access)?.get(&format!("{}/attempts", path(&one.endpoint)?))?;
            let mut screen = Screen::new(Format::json_or(one.json, Format::Table), ATTEMPTS);
            screen.show(super::list::items(&attempts)?)?;
            screen.finish()
        }
        WebhookCommand::Redeliver(command) => {
            let path = format!("{}/redeliver", path(&command.endpoint)?);
            let endpoint = Client::new(&command.access)?.post(&path, &json!({ "after": command.after }))?;
            show(&endpoint, command.json, COLUMNS)
        }
        WebhookCommand::Delete(delete) => {
            Client::new(&delete.access)?.delete(&path(&delete.endpoint)?)?;
            eprintln!("The endpoint {} is deleted.", delete.endpoint);
            Ok(())
        }
    }
}

impl One {
    /// Prints what a call answers.
    fn show(&self, columns: Columns, call: impl Fn(&Client, &str) -> Result<Value, CallError>) -> Result<(), String> {
        let answer = call(&Client::new(&self.access)?, &path(&self.endpoint)?)?;
        show(&answer, self.json, columns)
    }
}

fn path(endpoint: &str) -> Result<String, String> {
    Ok(format!("/operator/webhooks/{}", id(endpoint, EndpointId::parse)?))
}

fn show(item: &Value, json: bool, columns: Columns) -> Result<(), String> {
    Screen::new(Format::json_or(json, Format::Record), columns).show(std::slice::from_ref(item))
}
