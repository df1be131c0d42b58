//! `lendpay key`.

use super::Access;
use super::http::Client;
use super::ids::{self, id};
use super::list::{ListOptions, list};
use super::rotate::{Rotate, end_after, expire, rotate};
use super::screen::{Columns, Format, Screen, column};
use super::times::moment;
use crate::settings::span;
use clap::{Args, Subcommand, ValueEnum};
use lendpay_domain::KeyId;
use serde_json::{Value, json};
use std::time::Duration;

pub const MADE: Columns = &[
    column("KEY ID", "keyId"),
    column("NAME", "name"),
    column("AREAS", "areas"),
    column("ACCESS", "access"),
    column("EXPIRES", "expiresAt"),
    column("KEY", "key"),
];

pub const COLUMNS: Columns = &[
    column("KEY ID", "keyId"),
    column("NAME", "name"),
    column("AREAS", "areas"),
    column("ACCESS", "access"),
    column("CREATED", "createdAt"),
    column("EXPIRES", "expiresAt"),
    column("REVOKED", "revokedAt"),
    column("LAST USED", "lastUsedAt"),
];

/// A key with its partner.
const OWNED: Columns = &[
    column("KEY ID", "keyId"),
    column("PARTNER", "partnerId"),
    column("NAME", "name"),
    column("AREAS", "areas"),
    column("ACCESS", "access"),
    column("CREATED", "createdAt"),
    column("EXPIRES", "expiresAt"),
    column("REVOKED", "revokedAt"),
    column("LAST USED", "lastUsedAt"),
];

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key for a partner. This is the only time that it is shown.
    Create(Create),
    /// List a partner's keys, without the keys themselves.
    List(List),
    /// Show a key and whose it is, without the key itself.
    Show(Show),
    /// Revoke a key: it is refused from the next request on, or after a time.
    Revoke(Revoke),
    /// Replace a key: make another with the same name and areas. The old one goes on working until it is revoked, or
    /// for a time.
    Rotate(Rotate),
}

#[derive(Debug, Args)]
pub struct Create {
    /// The partner's name or id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// What to call the key.
    name: String,
    /// What the key may be used for; without this, everything.
    #[arg(long, value_name = "AREA")]
    area: Vec<Area>,
    /// The key may only read.
    #[arg(long)]
    read_only: bool,
    /// From when on it is refused: a date, or an RFC 3339 date-time.
    #[arg(long, value_name = "TIME", value_parser = moment)]
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
    /// The partner's name or id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The key's id, as events and logs name it.
    #[arg(value_name = "KEY-ID")]
    key: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Args)]
pub struct Revoke {
    /// The partner's name or id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// The key's id, as `lendpay key list` shows it.
    #[arg(value_name = "KEY-ID")]
    key: String,
    /// Let it go on working for this long, such as 90s, 30m, 12h or 7d: it expires then. An expiry can be brought
    /// forward, and not put off.
    #[arg(long, value_name = "TIME", value_parser = span)]
    after: Option<Duration>,
    #[command(flatten)]
    access: Access,
}

pub fn run(command: &KeyCommand) -> Result<(), String> {
    match command {
        KeyCommand::Create(create) => {
            let all = [Area::Lending, Area::Payments];
            let areas = if create.area.is_empty() { &all[..] } else { &create.area };
            let areas: Vec<_> = areas.iter().map(|area| Value::from(area.name())).collect();
            let access = if create.read_only { "read" } else { "full" };
            let body = json!({ "name": create.name, "areas": areas, "access": access, "expiresAt": create.expires });
            let client = Client::new(&create.access)?;
            let partner = ids::partner(&client, &create.partner)?;
            let key = client.post(&format!("/operator/partners/{partner}/keys"), &body)?;
            Screen::new(Format::json_or(create.json, Format::Table), MADE).show(&[key])
        }
        KeyCommand::List(keys) => {
            let client = Client::new(&keys.options.access)?;
            let path = format!("/operator/partners/{}/keys", ids::partner(&client, &keys.partner)?);
            list(&client, &path, &[], &keys.options, COLUMNS)
        }
        KeyCommand::Show(show) => {
            let key = id(&show.key, KeyId::parse)?;
            let key = Client::new(&show.access)?.get(&format!("/operator/keys/{key}"))?;
            Screen::new(Format::json_or(show.json, Format::Record), OWNED).show(&[key])
        }
        KeyCommand::Revoke(revoke) => {
            let (client, key) = (Client::new(&revoke.access)?, id(&revoke.key, KeyId::parse)?);
            let keys = format!("/operator/partners/{}/keys", ids::partner(&client, &revoke.partner)?);
            if let Some(time) = revoke.after {
                return expire(&client, &keys, key, end_after(time)?);
            }
            client.delete(&format!("{keys}/{key}"))?;
            eprintln!("The key {key} is revoked.");
            Ok(())
        }
        KeyCommand::Rotate(command) => rotate(command),
    }
}
