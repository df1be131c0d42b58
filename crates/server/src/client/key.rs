//! `lendpay key`.

use super::http::Client;
use super::screen::{Columns, Screen, list};
use crate::settings::Access;
use clap::{Args, Subcommand, ValueEnum};
use lendpay_domain::{KeyId, PartnerId};
use serde_json::{Value, json};
use uuid::Uuid;

const MADE: Columns =
    &[("KEY ID", "keyId"), ("NAME", "name"), ("AREAS", "areas"), ("EXPIRES", "expiresAt"), ("KEY", "key")];

const LISTED: Columns = &[
    ("KEY ID", "keyId"),
    ("NAME", "name"),
    ("AREAS", "areas"),
    ("CREATED", "createdAt"),
    ("EXPIRES", "expiresAt"),
    ("REVOKED", "revokedAt"),
    ("LAST USED", "lastUsedAt"),
];

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key for a partner. This is the only time that it is shown.
    Create(Create),
    /// List a partner's keys, without the keys themselves.
    List(List),
    /// Revoke a key: it is refused from the next request on.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub struct Create {
    /// The partner's id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// What to call the key.
    name: String,
    /// What the key may be used for; without this, everything.
    #[arg(long, value_name = "AREA")]
    area: Vec<Area>,
    /// From when on it is refused: an RFC 3339 date-time.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Area {
    Lending,
    Payments,
}

impl Area {
    const fn name(self) -> &'static str {
        match self {
            Self::Lending => "lending",
            Self::Payments => "payments",
        }
    }
}

#[derive(Debug, Args)]
pub struct List {
    /// The partner's id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// Print JSON, one key a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct Revoke {
    /// The partner's id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// The key's id, as `lendpay key list` shows it.
    #[arg(value_name = "KEY-ID")]
    key: String,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &KeyCommand) -> Result<(), String> {
    match command {
        KeyCommand::Create(create) => {
            let all = [Area::Lending, Area::Payments];
            let areas = if create.area.is_empty() { &all[..] } else { &create.area };
            let areas: Vec<_> = areas.iter().map(|area| Value::from(area.name())).collect();
            let body = json!({ "name": create.name, "areas": areas, "expiresAt": create.expires });
            let partner = id(&create.partner, PartnerId::parse)?;
            let key = Client::new(&create.access)?.post(&format!("/operator/partners/{partner}/keys"), &body)?;
            Screen::new(create.json, MADE).show(&[key])
        }
        KeyCommand::List(keys) => {
            let (client, partner) = (Client::new(&keys.access)?, id(&keys.partner, PartnerId::parse)?);
            let read = |query: &str| Ok(client.get(&format!("/operator/partners/{partner}/keys{query}"))?);
            list(&mut Screen::new(keys.json, LISTED), read)
        }
        KeyCommand::Revoke(revoke) => {
            let (partner, key) = (id(&revoke.partner, PartnerId::parse)?, id(&revoke.key, KeyId::parse)?);
            Client::new(&revoke.access)?.delete(&format!("/operator/partners/{partner}/keys/{key}"))?;
            eprintln!("The key {key} is revoked.");
            Ok(())
        }
    }
}

/// Reads an id, so that nothing else gets into an address.
pub fn id<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, String> {
    parse(text).ok_or_else(|| format!("{text} is no id; ids are UUIDs of 36 characters"))
}

/// Reads an id, or makes one.
pub fn id_or_new<T>(
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    new: impl Fn(Uuid) -> T,
) -> Result<T, String> {
    text.map_or_else(|| Ok(new(lendpay_api::uuid())), |text| id(text, parse))
}
