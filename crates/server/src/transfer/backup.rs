//! `lendpay backup`: copies what the log of the running service has got since the last run.

use super::file::unbounded;
use crate::client::http::{CallError, Client};
use crate::printable;
use crate::settings::Backup;
use lendpay_domain::Timestamp;
use lendpay_storage::EmbeddedBackup;
use serde_json::json;
use std::io::Read as _;
use std::process::ExitCode;
use std::str::FromStr;
use ureq::Body;
use ureq::http::Response;

/// A position at which no log is.
const BEYOND: u64 = 1 << 52;

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;

/// Makes a backup, or makes it longer. Ends with code 2 if the service keeps everything in a database.
pub fn backup(settings: &Backup) -> Result<ExitCode, String> {
    let client = Client::new(&settings.access)?;
    // Before anything is made.
    match log_from(&client, BEYOND) {
        Err(CallError::Refused { code, text }) if code == "NoLog" => {
            eprintln!("lendpay: {}", printable::line(&text));
            return Ok(ExitCode::from(2));
        }
        answer => drop(answer?),
    }
    let mut backup = EmbeddedBackup::open(&settings.to).map_err(|error| error.to_string())?;
    let before = backup.durable();
    let answer = log_from(&client, backup.from())?;
    let (end, as_of): (u64, Timestamp) = (header(&answer, "log-end")?, header(&answer, "log-as-of")?);
    let mut body = unbounded("bytes").wrap_read(answer.into_body().into_reader());
    let mut piece = vec![0; PIECE];
    let broken = loop {
        match body.read(&mut piece) {
            Ok(0) => break None,
            Ok(length) => backup.add(&piece[..length]).map_err(|error| error.to_string())?,
            Err(error) => break Some(error),
        }
    };
    if let Err(problem) = backup.finish(end) {
        return Err(broken.map_or_else(|| problem.to_string(), |error| format!("{problem} ({error})")));
    }
    let to = settings.to.display();
    client.put("/operator/log/backup", &json!({ "asOf": as_of.to_rfc3339() })).map_err(|error| {
        let error = String::from(error);
        format!(
            "the backup in {to} is complete, but the service could not be told, and its metrics do not show it: {error}"
        )
    })?;
    let copied = end - before;
    eprintln!("{copied} bytes copied. The backup in {to} has everything that was acknowledged before {as_of}.");
    Ok(ExitCode::SUCCESS)
}

/// The log from a byte on.
fn log_from(client: &Client, from: u64) -> Result<Response<Body>, CallError> {
    client.stream(&format!("/operator/log?from={from}"))
}

/// A header of an answer.
fn header<T: FromStr>(answer: &Response<Body>, name: &str) -> Result<T, String> {
    let value = answer.headers().get(name).and_then(|value| value.to_str().ok()?.parse().ok());
    value.ok_or_else(|| format!("the service's answer has no good header {name}; is --operator-url right?"))
}
