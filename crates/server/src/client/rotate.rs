//! `lendpay key rotate`, and the end of a key that somebody still uses.

use super::Access;
use super::http::Client;
use super::ids::{self, id};
use super::key::MADE;
use super::list::pages;
use super::screen::{Format, Screen};
use super::times::moment;
use crate::settings::span;
use crate::system_clock::SystemClock;
use chrono::{DateTime, SecondsFormat, TimeDelta};
use clap::Args;
use lendpay_api::Clock as _;
use lendpay_domain::{KeyId, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Rotate {
    /// The partner's name or id.
    #[arg(value_name = "PARTNER")]
    partner: String,
    /// The id of the key that is to be replaced, as `lendpay key list` shows it.
    #[arg(value_name = "KEY-ID")]
    key: String,
    /// How long the old key goes on working, such as 90s, 30m, 12h or 7d: the service refuses it from then on. Without
    /// this the old key is left for `lendpay key revoke`.
    #[arg(long, value_name = "TIME", value_parser = span)]
    after: Option<Duration>,
    /// From when on the new key is refused: a date, or an RFC 3339 date-time.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    expires: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

pub fn rotate(command: &Rotate) -> Result<(), String> {
    let (client, old) = (Client::new(&command.access)?, id(&command.key, KeyId::parse)?);
    let end = command.after.map(end_after).transpose()?;
    let partner = ids::partner(&client, &command.partner)?;
    let path = format!("/operator/partners/{partner}/keys");
    let found = find(&client, &path, old)?.ok_or_else(|| format!("the partner has no key {old}"))?;
    if let Some(at) = found["revokedAt"].as_str() {
        return Err(format!("the key {old} was revoked at {at}; make another with `lendpay key create`"));
    }
    let (name, areas, access) = (&found["name"], &found["areas"], &found["access"]);
    let body = json!({ "name": name, "areas": areas, "access": access, "expiresAt": command.expires });
    let key = client.post(&path, &body)?;
    Screen::new(Format::json_or(command.json, Format::Table), MADE).show(&[key])?;
    let by_hand = format!("lendpay key revoke {partner} {old}");
    let Some(end) = end else {
        eprintln!("The old key goes on working. When the partner uses the new one: {by_hand}");
        return Ok(());
    };
    if let Some(expiry) = found["expiresAt"].as_str()
        && DateTime::parse_from_rfc3339(expiry).is_ok_and(|expiry| expiry <= end)
    {
        eprintln!("The old key expires at {expiry} as it is.");
        return Ok(());
    }
    expire(&client, &path, old, end).map_err(|error| format!("{error}; the new key works; for the old one: {by_hand}"))
}

/// The moment that comes after a time.
pub fn end_after(time: Duration) -> Result<Timestamp, String> {
    let end = TimeDelta::from_std(time).ok().and_then(|time| SystemClock.now().checked_add_signed(time));
    end.ok_or_else(|| "the time is too long".to_owned())
}

/// Lets a key work until a moment, which the service keeps.
pub fn expire(client: &Client, keys: &str, key: KeyId, end: Timestamp) -> Result<(), String> {
    let end = end.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    client.put(&format!("{keys}/{key}/expiry"), &json!({ "expiresAt": end }))?;
    eprintln!("The key {key} works until {end}.");
    Ok(())
}

fn find(client: &Client, keys: &str, id: KeyId) -> Result<Option<Value>, String> {
    let (id, mut found) = (id.to_string(), None);
    pages(client, keys, &[], None, u64::MAX, |some| {
        found = found.take().or_else(|| some.iter().find(|key| key["keyId"] == *id).cloned());
        Ok(())
    })?;
    Ok(found)
}
