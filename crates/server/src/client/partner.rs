//! `lendpay partner`.

use super::http::Client;
use super::screen::{Columns, Screen};
use crate::settings::Access;
use clap::{Args, Subcommand};
use lendpay_domain::PartnerId;
use serde_json::json;

const COLUMNS: Columns =
    &[("PARTNER", "id"), ("NAME", "name"), ("OAUTH CLIENT", "oauthClientId"), ("CREATED", "createdAt")];

#[derive(Debug, Subcommand)]
pub enum PartnerCommand {
    /// Add a partner, or rename one whose id is given.
    Add(Add),
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

pub fn run(command: &PartnerCommand) -> Result<(), String> {
    let PartnerCommand::Add(add) = command;
    let id = super::key::id_or_new(add.id.as_deref(), PartnerId::parse, PartnerId::new)?;
    let body = json!({ "name": add.name, "oauthClientId": add.oauth_client_id });
    let partner = Client::new(&add.access)?.put(&format!("/operator/partners/{id}"), &body)?;
    Screen::new(add.json, COLUMNS).show(&[partner])
}
