//! `lendpay partner`.

use super::Access;
use super::http::Client;
use super::ids::{self, id_or_new};
use super::key;
use super::list::{ListOptions, list, pages};
use super::screen::{Columns, Format, Screen, column};
use clap::{Args, Subcommand};
use lendpay_domain::PartnerId;
use serde_json::{Value, json};

const COLUMNS: Columns = &[
    column("PARTNER", "id"),
    column("NAME", "name"),
    column("OAUTH CLIENT", "oauthClientId"),
    column("CREATED", "createdAt"),
];

#[derive(Debug, Subcommand)]
pub enum PartnerCommand {
    /// Add a partner, or rename one whose id is given.
    Add(Add),
    /// List partners.
    List(List),
    /// Show a partner and its keys.
    Show(Show),
}

#[derive(Debug, Args)]
pub struct Add {
    /// What to call it.
    name: String,
    /// The partner's id; without one a new partner gets a new id.
    #[arg(long, value_name = "UUID")]
    id: Option<String>,
    /// The client id that the authorization server knows it by.
    #[arg(long, value_name = "ID")]
    oauth_client_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct List {
    /// Only those whose name contains this, in upper or lower case.
    #[arg(long, value_name = "PART")]
    name: Option<String>,
    /// Only the one that the authorization server knows by this client id.
    #[arg(long, value_name = "ID")]
    oauth_client_id: Option<String>,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The partner's name or id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// Print JSON: the partner, with `keys`.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &PartnerCommand) -> Result<(), String> {
    match command {
        PartnerCommand::Add(add) => {
            let id = id_or_new(add.id.as_deref(), PartnerId::parse, PartnerId::new)?;
            let body = json!({ "name": add.name, "oauthClientId": add.oauth_client_id });
            let partner = Client::new(&add.access)?.put(&format!("/operator/partners/{id}"), &body)?;
            Screen::new(Format::json_or(add.json, Format::Table), COLUMNS).show(&[partner])
        }
        PartnerCommand::List(partners) => {
            let filters = [("name", partners.name.clone()), ("oauthClientId", partners.oauth_client_id.clone())];
            let client = Client::new(&partners.options.access)?;
            list(&client, "/operator/partners", &filters, &partners.options, COLUMNS)
        }
        PartnerCommand::Show(show) => {
            let client = Client::new(&show.access)?;
            let path = format!("/operator/partners/{}", ids::partner(&client, &show.partner)?);
            let mut partner = client.get(&path)?;
            let mut keys = Vec::new();
            pages(&client, &format!("{path}/keys"), &[], None, u64::MAX, |some| {
                keys.extend_from_slice(some);
                Ok(())
            })?;
            if show.json {
                partner["keys"] = Value::Array(keys);
                return Screen::new(Format::Json, COLUMNS).show(&[partner]);
            }
            Screen::new(Format::Record, COLUMNS).show(&[partner])?;
            let mut screen = Screen::new(Format::Table, key::COLUMNS);
            screen.show(&keys)?;
            screen.finish()
        }
    }
}
