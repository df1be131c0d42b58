//! `lendpay offer`.

use super::http::Client;
use super::key::{id, id_or_new};
use super::screen::{Columns, Screen, list};
use crate::settings::Access;
use clap::{Args, Subcommand};
use lendpay_domain::{ApplicationId, OfferId, PartnerId};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read};

const COLUMNS: Columns = &[
    ("APPLICATION", "applicationId"),
    ("OFFER", "id"),
    ("STATUS", "status"),
    ("TYPE", "offerType"),
    ("RATE", "annualPercentageRate"),
    ("AMOUNT", "amount"),
    ("DURATION", "duration"),
    ("EXPIRES", "expiryAt"),
    ("DETAILS", "details"),
];

#[derive(Debug, Subcommand)]
pub enum OfferCommand {
    /// Put offers from a file: JSON objects, one after the other, each with the terms of an offer and `applicationId`. With
    /// `id` the offer of that id is made or gets these terms; with `partnerId` the application is made if it is not there.
    Put(Put),
    /// List an application's offers.
    List(List),
}

#[derive(Debug, Args)]
pub struct Put {
    /// What to read; - is standard input.
    #[arg(value_name = "FILE|-")]
    file: String,
    /// Print JSON, one offer a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct List {
    /// The application's id.
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// Print JSON, one offer a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &OfferCommand) -> Result<(), String> {
    match command {
        OfferCommand::Put(put) => put_all(put),
        OfferCommand::List(offers) => {
            let (client, application) = (Client::new(&offers.access)?, id(&offers.application, ApplicationId::parse)?);
            let read = |query: &str| Ok(client.get(&format!("/operator/applications/{application}/offers{query}"))?);
            list(&mut Screen::new(offers.json, COLUMNS), read)
        }
    }
}

fn put_all(put: &Put) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("{} cannot be read: {error}", put.file);
    let file: Box<dyn Read> = match put.file.as_str() {
        "-" => Box::new(io::stdin()),
        name => Box::new(File::open(name).map_err(unreadable)?),
    };
    let client = Client::new(&put.access)?;
    let mut screen = Screen::new(put.json, COLUMNS);
    let offers = serde_json::Deserializer::from_reader(BufReader::new(file)).into_iter::<Map<String, Value>>();
    for (n, offer) in (1..).zip(offers) {
        let at = |problem: String| format!("offer {n} of {}: {problem}", put.file);
        let offer = offer.map_err(|error| at(format!("is no JSON object ({error})")))?;
        screen.show(&[put_one(&client, offer).map_err(at)?])?;
    }
    Ok(())
}

fn put_one(client: &Client, mut offer: Map<String, Value>) -> Result<Value, String> {
    let mut take = |field: &str| match offer.shift_remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{field}: must be a string")),
    };
    let (application, offer_id, partner) = (take("applicationId")?, take("id")?, take("partnerId")?);
    let application = id(application.as_deref().ok_or("applicationId: is required")?, ApplicationId::parse)?;
    let offer_id = id_or_new(offer_id.as_deref(), OfferId::parse, OfferId::new)?;
    if let Some(partner) = partner {
        let partner = id(&partner, PartnerId::parse)?;
        let body = json!({ "partnerId": partner.to_string() });
        client.put(&format!("/operator/applications/{application}"), &body)?;
    }
    Ok(client.put(&format!("/operator/applications/{application}/offers/{offer_id}"), &Value::Object(offer))?)
}
