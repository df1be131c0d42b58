//! Keys that come and go while they are in use.

use super::Shared;
use super::connection::Connection;
use crate::fill;
use crate::server::{OPERATOR_KEY, Server};
use anyhow::{Context as _, ensure};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many there are at a time.
const COUNT: usize = 8;

/// How long one of them lasts.
const PERIOD: Duration = Duration::from_millis(500);

/// A key.
pub struct Key {
    id: String,
    text: String,
    /// Its revocation was asked for: it may be refused from now on.
    leaving: AtomicBool,
    /// Its revocation was acknowledged: it must be refused from now on.
    gone: AtomicBool,
}

impl Key {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn may_be_refused(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    pub fn must_be_refused(&self) -> bool {
        self.gone.load(Ordering::SeqCst)
    }
}

/// All of them.
pub struct Keys {
    present: Mutex<Vec<Arc<Key>>>,
    last_gone: Mutex<Option<Arc<Key>>>,
    revoked: AtomicU64,
}

impl Keys {
    pub fn new(server: &Server) -> anyhow::Result<Self> {
        let first = fill::partner(server)?;
        let mut connection = Connection::new(server.operator);
        let mut keys = vec![key(first.id, first.text)];
        while keys.len() < COUNT {
            keys.push(create(&mut connection)?);
        }
        Ok(Self { present: Mutex::new(keys), last_gone: Mutex::default(), revoked: AtomicU64::new(0) })
    }

    /// One that works, unless it leaves just now.
    pub fn any(&self) -> Arc<Key> {
        let keys = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&keys[rand::random_range(0..keys.len())])
    }

    /// One that was revoked.
    pub fn last_gone(&self) -> Option<Arc<Key>> {
        self.last_gone.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn revoked(&self) -> u64 {
        self.revoked.load(Ordering::Relaxed)
    }

    /// Replaces one after the other.
    pub fn rotate(&self, shared: &Shared) -> anyhow::Result<()> {
        let mut connection = Connection::new(shared.operator);
        for n in (0..COUNT).cycle() {
            if shared.over() {
                break;
            }
            std::thread::sleep(PERIOD);
            let fresh = create(&mut connection)?;
            let old = std::mem::replace(&mut self.present.lock().unwrap_or_else(PoisonError::into_inner)[n], fresh);
            old.leaving.store(true, Ordering::SeqCst);
            let path = format!("/operator/partners/{}/keys/{}", fill::PARTNER, old.id);
            let answer = connection.call("DELETE", &path, &[("X-Operator-Key", OPERATOR_KEY)], b"")?;
            ensure!(answer.status == 204, "a key was not revoked: {} {}", answer.status, answer.body);
            old.gone.store(true, Ordering::SeqCst);
            *self.last_gone.lock().unwrap_or_else(PoisonError::into_inner) = Some(old);
            self.revoked.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn key(id: String, text: String) -> Arc<Key> {
    Arc::new(Key { id, text, leaving: AtomicBool::new(false), gone: AtomicBool::new(false) })
}

fn create(connection: &mut Connection) -> anyhow::Result<Arc<Key>> {
    let path = format!("/operator/partners/{}/keys", fill::PARTNER);
    let body = br#"{"name":"Soak","areas":["lending","payments"]}"#;
    let answer = connection.post(&path, &[("X-Operator-Key", OPERATOR_KEY)], body)?;
    ensure!(answer.status == 201, "no key: {} {}", answer.status, answer.body);
    let field =
        |name: &str| answer.body[name].as_str().map(str::to_owned).with_context(|| format!("a key without {name}"));
    Ok(key(field("keyId")?, field("key")?))
}
