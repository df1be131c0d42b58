//! `lendpay application`.

use super::Access;
use super::http::Client;
use super::ids::{self, id, id_or_new, some_partner};
use super::list::{ListOptions, list};
use super::screen::{Columns, Format, Screen, column};
use clap::{Args, Subcommand};
use lendpay_domain::ApplicationId;
use serde_json::json;

const COLUMNS: Columns = &[column("APPLICATION", "id"), column("PARTNER", "partnerId")];

#[derive(Debug, Subcommand)]
pub enum ApplicationCommand {
    /// Add an application of a partner. It never changes its owner.
    Add(Add),
    /// List applications.
    List(List),
    /// Show whose an application is.
    Show(Show),
}

#[derive(Debug, Args)]
pub struct Add {
    /// The owner's name or id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// The application's id; without one it gets a new id.
    #[arg(long, value_name = "UUID")]
    id: Option<String>,
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
pub struct Show {
    /// The application's id.
    #[arg(value_name = "APPLICATION")]
    application: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &ApplicationCommand) -> Result<(), String> {
    match command {
        ApplicationCommand::Add(add) => {
            let client = Client::new(&add.access)?;
            let id = id_or_new(add.id.as_deref(), ApplicationId::parse, ApplicationId::new)?;
            let body = json!({ "partnerId": ids::partner(&client, &add.partner)?.to_string() });
            let application = client.put(&format!("/operator/applications/{id}"), &body)?;
            Screen::new(Format::json_or(add.json, Format::Table), COLUMNS).show(&[application])
        }
        ApplicationCommand::List(applications) => {
            let client = Client::new(&applications.options.access)?;
            let filters = [("partnerId", some_partner(&client, applications.partner.as_deref())?)];
            list(&client, "/operator/applications", &filters, &applications.options, COLUMNS)
        }
        ApplicationCommand::Show(show) => {
            let application = id(&show.application, ApplicationId::parse)?;
            let application = Client::new(&show.access)?.get(&format!("/operator/applications/{application}"))?;
            Screen::new(Format::json_or(show.json, Format::Record), COLUMNS).show(&[application])
        }
    }
}
