//! `lendpay offer`.

use super::Access;
use super::http::Client;
use super::ids::{id, id_or_new, some_partner};
use super::list::{ListOptions, list};
use super::load::{Load, load};
use super::screen::{Columns, Format, Screen, column, detail};
use super::times::moment;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use lendpay_domain::offer::Status;
use lendpay_domain::{ApplicationId, OfferId, PartnerId};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read};

const COLUMNS: Columns = &[
    column("APPLICATION", "applicationId"),
    column("OFFER", "id"),
    column("STATUS", "status"),
    detail("SINCE", "statusChangedAt"),
    column("TYPE", "offerType"),
    detail("FUNDING", "fundingType"),
    column("RATE", "annualPercentageRate"),
    detail("INTEREST", "interestRate"),
    column("AMOUNT", "amount"),
    column("DURATION", "duration"),
    column("EXPIRES", "expiryAt"),
    detail("ONBOARDING", "redirectUrl"),
    column("DETAILS", "details"),
];

#[derive(Debug, Subcommand)]
pub enum OfferCommand {
    /// Put offers from a file: JSON objects, one after the other, each with the terms of an offer and `applicationId`.
    /// With
    /// `id` the offer of that id is made or gets these terms; with `partnerId` the application is made if it is not there.
    Put(Put),
    /// Load many offers from a file: CSV, whose first line names the fields, or a JSON object a line. All of it is
    /// checked before anything is sent. The fields are those of an offer, with applicationId, and with offerId or a
    /// reference that the id follows from; with partnerId the application is made if it is not there. Loading it again
    /// changes nothing.
    Load(Load),
    /// List offers: all, or those of an application or a partner. Rates are fractions: 0.09 is nine percent.
    List(List),
    /// Show an offer as it is now. Rates are fractions: 0.09 is nine percent.
    Show(One),
    /// Decline an offer: the customer turned it down.
    Decline(Decline),
    /// Advance an offer: the money has been paid out.
    Advance(One),
    /// Archive an offer. That is final.
    Archive(One),
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
    /// Only those of the application with this id.
    #[arg(value_name = "APPLICATION")]
    application: Option<String>,
    /// Only those of this partner's applications: its name or id.
    #[arg(long, value_name = "PARTNER", conflicts_with = "application")]
    partner: Option<String>,
    /// Only those that have this status now.
    #[arg(long, value_name = "STATUS", value_parser = PossibleValuesParser::new(Status::ALL.iter().map(|status| status.name())))]
    status: Option<String>,
    /// Only those that expire before this moment, or have: a date, or an RFC 3339 date-time.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    expires_before: Option<String>,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
pub struct One {
    /// The application's id.
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// The offer's id.
    #[arg(value_name = "OFFER")]
    offer: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct Decline {
    #[command(flatten)]
    one: One,
    /// Why: operators read it in the event.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl One {
    fn path(&self) -> Result<String, String> {
        let (application, offer) = (id(&self.application, ApplicationId::parse)?, id(&self.offer, OfferId::parse)?);
        Ok(format!("/operator/applications/{application}/offers/{offer}"))
    }

    fn print(&self, offer: Value) -> Result<(), String> {
        Screen::new(Format::json_or(self.json, Format::Record), COLUMNS).show(&[offer])
    }

    fn go(&self, action: &str, body: &Value) -> Result<(), String> {
        let path = format!("{}/{action}", self.path()?);
        self.print(Client::new(&self.access)?.post(&path, body)?)
    }
}

pub fn run(command: &OfferCommand) -> Result<(), String> {
    match command {
        OfferCommand::Put(put) => put_all(put),
        OfferCommand::Load(file) => load(file),
        OfferCommand::List(offers) => list_offers(offers),
        OfferCommand::Show(one) => one.print(Client::new(&one.access)?.get(&one.path()?)?),
        OfferCommand::Decline(decline) => decline.one.go("decline", &json!({ "reason": decline.reason })),
        OfferCommand::Advance(one) => one.go("advance", &json!({})),
        OfferCommand::Archive(one) => one.go("archive", &json!({})),
    }
}

fn list_offers(offers: &List) -> Result<(), String> {
    let client = Client::new(&offers.options.access)?;
    let path = match &offers.application {
        Some(application) => format!("/operator/applications/{}/offers", id(application, ApplicationId::parse)?),
        None => "/operator/offers".to_owned(),
    };
    let filters = [
        ("partnerId", some_partner(&client, offers.partner.as_deref())?),
        ("status", offers.status.clone()),
        ("expiresBefore", offers.expires_before.clone()),
    ];
    list(&client, &path, &filters, &offers.options, COLUMNS)
}

fn put_all(put: &Put) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("{} cannot be read: {error}", put.file);
    let file: Box<dyn Read> = match put.file.as_str() {
        "-" => Box::new(io::stdin()),
        name => Box::new(File::open(name).map_err(unreadable)?),
    };
    let client = Client::new(&put.access)?;
    let mut screen = Screen::new(Format::json_or(put.json, Format::Table), COLUMNS);
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
