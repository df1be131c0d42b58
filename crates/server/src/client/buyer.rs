//! `lendpay buyer`.

use super::Access;
use super::http::Client;
use super::ids::{id, some_partner};
use super::list::{ListOptions, list};
use super::screen::{Columns, Format, Screen, column, detail};
use clap::{Args, Subcommand};
use lendpay_domain::BuyerId;

const COLUMNS: Columns = &[
    column("BUYER", "id"),
    column("PARTNER", "partnerId"),
    column("NAME", "name"),
    column("REGISTRATION", "registrationNumber"),
    column("COUNTRY", "countryCode"),
    detail("TYPE", "type"),
    detail("CURRENCY", "bankAccount.currencyCode"),
    detail("ACCOUNT NAME", "bankAccount.accountName"),
    detail("SORT CODE", "bankAccount.sortCode"),
    detail("ACCOUNT NUMBER", "bankAccount.accountNumber"),
    detail("BIC", "bankAccount.bic"),
    detail("ACCOUNT TYPE", "bankAccount.accountType"),
    detail("IBAN", "bankAccount.iban"),
    column("CREATED", "createdAt"),
];

#[derive(Debug, Subcommand)]
pub enum BuyerCommand {
    /// List buyers. The table has no bank details; --json and --csv have them in full.
    List(List),
    /// Show a buyer with its bank details in full.
    Show(Show),
}

#[derive(Debug, Args)]
pub struct List {
    /// Only those that this partner registered: its name or id.
    #[arg(long, value_name = "PARTNER")]
    partner: Option<String>,
    /// Only those with exactly this registration number.
    #[arg(long, value_name = "NUMBER")]
    registration_number: Option<String>,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The buyer's id.
    #[arg(value_name = "BUYER")]
    buyer: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &BuyerCommand) -> Result<(), String> {
    match command {
        BuyerCommand::List(buyers) => {
            let client = Client::new(&buyers.options.access)?;
            let filters = [
                ("partnerId", some_partner(&client, buyers.partner.as_deref())?),
                ("registrationNumber", buyers.registration_number.clone()),
            ];
            list(&client, "/operator/buyers", &filters, &buyers.options, COLUMNS)
        }
        BuyerCommand::Show(show) => {
            let buyer = id(&show.buyer, BuyerId::parse)?;
            let buyer = Client::new(&show.access)?.get(&format!("/operator/buyers/{buyer}"))?;
            Screen::new(Format::json_or(show.json, Format::Record), COLUMNS).show(&[buyer])
        }
    }
}
