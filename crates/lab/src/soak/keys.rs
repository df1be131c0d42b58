//! Keys that come and go while they are in use.

use super::Shared;
use super::worker::well_formed;
use crate::fill::{self, PARTNER};
use crate::http::{Answer, Connection, Operator};
use crate::ledger::locked;
use crate::server::Server;
use anyhow::ensure;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How many there are at a time.
const COUNT: usize = 8;

/// How long one of them lasts.
const PERIOD: Duration = Duration::from_millis(500);

/// A key.
pub struct Key {
    key: fill::Key,
    /// Its revocation was asked for: it may be refused from now on.
    leaving: AtomicBool,
    /// Its revocation was acknowledged: it must be refused from now on.
    gone: AtomicBool,
}

impl Key {
    fn new(key: fill::Key) -> Arc<Self> {
        Arc::new(Self { key, leaving: AtomicBool::new(false), gone: AtomicBool::new(false) })
    }

    pub fn text(&self) -> &str {
        &self.key.text
    }

    /// Posts with it. None if it was refused, as it may be once its revocation was asked for: with 401, or with 429
    /// while the client's address has sent too many wrong keys.
    pub fn post(
        &self,
        connection: &mut Connection,
        path: &str,
        more: &[(&str, &str)],
        body: &[u8],
    ) -> anyhow::Result<Option<Answer>> {
        let must_be_refused = self.gone.load(Ordering::SeqCst);
        let answer = connection.post(self.text(), path, more, body)?;
        let refused = matches!(answer.status, 401 | 429);
        ensure!(refused || !must_be_refused, "a revoked key was let in");
        ensure!(
            !refused || self.leaving.load(Ordering::SeqCst),
            "a key was refused: {} {}",
            answer.status,
            answer.body
        );
        if answer.status >= 300 {
            well_formed(path, &answer)?;
        }
        Ok((!refused).then_some(answer))
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
        let mut operator = Operator::new(server.operator);
        let mut keys = vec![Key::new(fill::partner(server, fill::PARTNER)?)];
        while keys.len() < COUNT {
            keys.push(Key::new(fill::Key::create(&mut operator, fill::PARTNER)?));
        }
        Ok(Self { present: Mutex::new(keys), last_gone: Mutex::default(), revoked: AtomicU64::new(0) })
    }

    /// One that works, unless it leaves just now.
    pub fn any(&self) -> Arc<Key> {
        let keys = locked(&self.present);
        Arc::clone(&keys[rand::random_range(0..keys.len())])
    }

    /// One that was revoked.
    pub fn last_gone(&self) -> Option<Arc<Key>> {
        locked(&self.last_gone).clone()
    }

    pub fn revoked(&self) -> u64 {
        self.revoked.load(Ordering::Relaxed)
    }

    /// Replaces one after the other.
    pub fn rotate(&self, shared: &Shared) -> anyhow::Result<()> {
        let mut operator = Operator::new(shared.operator);
        for n in (0..COUNT).cycle() {
            if shared.over() {
                break;
            }
            std::thread::sleep(PERIOD);
            let fresh = Key::new(fill::Key::create(&mut operator, fill::PARTNER)?);
            let old = std::mem::replace(&mut locked(&self.present)[n], fresh);
            old.leaving.store(true, Ordering::SeqCst);
            let path = format!("/operator/partners/{PARTNER}/keys/{}", old.key.id);
            operator.call("DELETE", &path, "", &[204])?;
            old.gone.store(true, Ordering::SeqCst);
            *locked(&self.last_gone) = Some(old);
            self.revoked.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}
