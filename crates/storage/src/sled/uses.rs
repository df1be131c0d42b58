//! When keys were last used: the first use of a minute is handed to the committer, which keeps it beside whatever else it
//! writes.

use super::queue::Queue;
use super::work::{KeyUse, Work};
use crate::uses::Minutes;
use lendpay_domain::Timestamp;
use lendpay_domain::key::KeyHash;
use tokio::sync::oneshot;

#[derive(Default)]
pub(super) struct Uses(Minutes);

impl Uses {
    /// Notes a use. A full queue loses the note; the next minute brings another.
    pub(super) fn note(&self, key: KeyHash, at: Timestamp, queue: &Queue) {
        if let Some(at) = self.0.new_minute(key, at) {
            let (reply, _nobody_waits) = oneshot::channel();
            let _ = queue.send(Work::Use(KeyUse { hash: key, at }, reply));
        }
    }
}
