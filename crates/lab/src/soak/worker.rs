//! A client that does everything in turn, well and badly, and looks at every answer.

use super::Shared;
use super::keys::Key;
use crate::fill::{BUYER, BUYERS};
use crate::http::{Answer, Connection};
use crate::ledger::Created;
use anyhow::{bail, ensure};
use serde_json::Value;
use std::sync::atomic::Ordering;
use std::time::Duration;

const NOBODYS: &str = "/lending/applications/00000000-0000-4000-8000-0000000000aa/offers/x/accept";

/// Bodies that are refused.
const BAD_BODIES: [&str; 7] = [
    "{",
    "[]",
    r#"{"name":1}"#,
    r#"{"name":"a","name":"b"}"#,
    r#"{"type":7}"#,
    r#"{"bankAccount":{"iban":"GB00BUKB20201555555555"}}"#,
    "\u{0}",
];

pub struct Worker<'a> {
    shared: &'a Shared,
    connection: Connection,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared) -> Self {
        Self { shared, connection: Connection::new(shared.partner) }
    }

    /// Goes on until the time is over.
    pub fn work(&mut self) -> anyhow::Result<()> {
        while !self.shared.over() {
            let twice = 2 * u64::try_from(self.shared.pause.as_micros()).expect("a pause is short");
            std::thread::sleep(Duration::from_micros(rand::random_range(0..=twice)));
            match rand::random_range(0..100) {
                0..20 => self.accept()?,
                20..45 => self.accept_again()?,
                45..60 => self.create()?,
                60..75 => self.create_again()?,
                75..85 => self.refused(BUYERS, BAD_BODIES[rand::random_range(0..BAD_BODIES.len())].as_bytes(), 400)?,
                85..88 => self.refused(BUYERS, &[b' '; 70_000], 413)?,
                88..91 => self.refused(NOBODYS, b"", 404)?,
                91..94 => self.refused_key()?,
                94..96 => self.garbage()?,
                _ => self.break_off()?,
            }
        }
        Ok(())
    }

    /// Sends a request with a key. None if the key was revoked meanwhile.
    fn post(&mut self, path: &str, more: &[(&str, &str)], body: &[u8]) -> anyhow::Result<Option<Answer>> {
        let key = self.shared.keys.any();
        self.post_with(&key, path, more, body)
    }

    fn post_with(
        &mut self,
        key: &Key,
        path: &str,
        more: &[(&str, &str)],
        body: &[u8],
    ) -> anyhow::Result<Option<Answer>> {
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        key.post(&mut self.connection, path, more, body)
    }

    fn accept(&mut self) -> anyhow::Result<()> {
        let Some(pair) = self.shared.ledger.take_offer() else { return Ok(()) };
        match self.post(&pair.accept_path(), &[], b"{}")? {
            Some(answer) if answer.status == 200 => {
                self.shared.ledger.accepted(pair, answer.text("statusChangedAt")?);
            }
            Some(answer) => bail!("accept: {} {}", answer.status, answer.body),
            None => {}
        }
        Ok(())
    }

    fn accept_again(&mut self) -> anyhow::Result<()> {
        let Some(accepted) = self.shared.ledger.any_accepted() else { return Ok(()) };
        let Some(answer) = self.post(&accepted.pair.accept_path(), &[], b"anything")? else { return Ok(()) };
        ensure!(
            answer.status == 200 && answer.body["statusChangedAt"] == accepted.at.as_str(),
            "accept of {} at {} again: {} {}",
            accepted.pair.offer,
            accepted.at,
            answer.status,
            answer.body
        );
        Ok(())
    }

    fn create(&mut self) -> anyhow::Result<()> {
        let key: Option<String> = rand::random::<bool>().then(|| format!("soak-{:032x}", rand::random::<u128>()));
        let more: Vec<_> = key.iter().map(|key| ("Idempotency-Key", key.as_str())).collect();
        let Some(answer) = self.post(BUYERS, &more, BUYER.as_bytes())? else { return Ok(()) };
        ensure!(answer.status == 201 && !answer.replayed, "create: {} {}", answer.status, answer.body);
        let id = answer.text("id")?;
        self.shared.ledger.created(key, id);
        Ok(())
    }

    fn create_again(&mut self) -> anyhow::Result<()> {
        let Some(created) = self.shared.ledger.any_created() else { return Ok(()) };
        let Created { key: Some(key), id } = created.as_ref() else { return Ok(()) };
        let headers = [("Idempotency-Key", key.as_str())];
        if rand::random_range(0..4) == 0 {
            let answer = self.post(BUYERS, &headers, b"{}")?;
            ensure!(answer.is_none_or(|answer| answer.status == 422), "a key was taken for another payload");
            return Ok(());
        }
        let Some(answer) = self.post(BUYERS, &headers, BUYER.as_bytes())? else { return Ok(()) };
        ensure!(
            answer.status == 201 && answer.replayed && answer.body["id"] == id.as_str(),
            "create of {id} again: {} {}",
            answer.status,
            answer.body
        );
        Ok(())
    }

    /// What must be refused with a status.
    fn refused(&mut self, path: &str, body: &[u8], status: u16) -> anyhow::Result<()> {
        let Some(answer) = self.post(path, &[], body)? else { return Ok(()) };
        ensure!(answer.status == status, "{path} with {} bytes: {} {}", body.len(), answer.status, answer.body);
        Ok(())
    }

    /// A key that was revoked, or that never was one.
    fn refused_key(&mut self) -> anyhow::Result<()> {
        if let Some(key) = self.shared.keys.last_gone()
            && rand::random()
        {
            let answer = self.post_with(&key, BUYERS, &[], b"{}")?;
            ensure!(answer.is_none(), "a revoked key was let in");
            return Ok(());
        }
        let answer = self.connection.post("guessed", BUYERS, &[], b"{}")?;
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        ensure!(matches!(answer.status, 401 | 429), "a wrong key: {} {}", answer.status, answer.body);
        well_formed(BUYERS, &answer)
    }

    /// What is no HTTP.
    fn garbage(&mut self) -> anyhow::Result<()> {
        let answer = self.connection.exchange(b"\x16\x03\x01 what is this?\r\n\r\n")?;
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        ensure!(answer.status == 400, "garbage: {} {}", answer.status, answer.body);
        well_formed("/", &answer)
    }

    /// Resets the connection in a head, in a body, or instead of reading the answer.
    fn break_off(&mut self) -> anyhow::Result<()> {
        let key = self.shared.keys.any();
        let headers = [("X-Service-ApiKey", key.text())];
        let whole = [self.connection.head("POST", BUYERS, &headers, BUYER.len()), BUYER.as_bytes().to_vec()].concat();
        let sent = rand::random_range(1..=whole.len());
        self.shared.faults.fetch_add(1, Ordering::Relaxed);
        self.connection.reset(&whole[..sent])
    }
}

/// Whether an error has the contract's members (2.6).
pub fn well_formed(path: &str, answer: &Answer) -> anyhow::Result<()> {
    let Answer { status, body, .. } = answer;
    let texts = ["title", "message", "date", "operationId"].iter().all(|name| body[name].is_string());
    let lending = body.get("errorCode").is_some_and(Value::is_string);
    ensure!(texts && body["errors"].is_array(), "{path} answers {status} in another shape: {body}");
    ensure!(lending == path.starts_with("/lending"), "{path} answers {status} with another area's shape: {body}");
    Ok(())
}
