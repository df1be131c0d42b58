//! `lendpay key rotate`.

use super::Access;
use super::http::Client;
use super::ids::{self, id};
use super::key::MADE;
use super::list::pages;
use super::screen::{Format, Screen};
use super::times::moment;
use crate::settings::span;
use clap::Args;
use lendpay_domain::KeyId;
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
    /// Wait this long, such as 90s, 30m, 12h or 7d, then revoke the old key. The command runs until then: stopped before, it
    /// revokes nothing. Without it the old key is left for `lendpay key revoke`.
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

/// The service keeps no date for a revocation, so that the command itself waits: an expiry is fixed when a key is made.
pub fn rotate(command: &Rotate) -> Result<(), String> {
    let (client, old) = (Client::new(&command.access)?, id(&command.key, KeyId::parse)?);
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
    let Some(after) = command.after else {
        eprintln!("The old key goes on working. When the partner uses the new one: {by_hand}");
        return Ok(());
    };
    eprintln!("The old key goes on working until this command revokes it. If the command is stopped before: {by_hand}");
    std::thread::sleep(after);
    client
        .delete(&format!("{path}/{old}"))
        .map_err(|error| format!("{}; try again: {by_hand}", String::from(error)))?;
    eprintln!("The key {old} is revoked.");
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
