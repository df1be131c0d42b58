//! Records expiries when they are due, so that their events come in time (contract 2.1). Nothing else depends on it:
//! who reads or accepts an offer whose time has come finds it Expired in any case.

use lendpay_api::{Clock, event_id, uuid};
use lendpay_domain::OperationId;
use lendpay_domain::Store;
use lendpay_domain::command::Stamp;
use lendpay_domain::event::Actor;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often is looked whether anything is due. An expiry is recorded within a second.
const LOOK: Duration = Duration::from_millis(250);

/// How long is waited after the store has failed to do it.
const PAUSE: Duration = Duration::from_secs(1);

/// How many offers are looked at between two rests.
const MOST: usize = 8_192;

/// How many times as long as that took is rested, while more offers are due, so that requests go on meanwhile.
const REST: u32 = 6;

/// Records expiries until it is dropped.
pub async fn keep<S: Store>(store: Arc<S>, clock: Arc<dyn Clock>) -> Infallible {
    let mut after = None;
    loop {
        let (begin, now) = (Instant::now(), clock.now());
        let operation = OperationId::from_bytes(uuid().into_bytes());
        let stamp = || Stamp { at: now, event: event_id(), actor: Actor::Clock, operation };
        let rest = match store.expire(after, now, MOST, stamp).await {
            Ok(next) => {
                after = next;
                after.map_or(LOOK, |_| begin.elapsed() * REST)
            }
            Err(error) => {
                tracing::debug!(%error, "expiries are not recorded now; trying again");
                after = None;
                PAUSE
            }
        };
        sleep(rest).await;
    }
}
