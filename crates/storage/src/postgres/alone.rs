//! What is not grouped: tried again when it did not work, and a transaction that nobody's leaving ends in the middle.

use super::PostgresStore;
use super::health::Health;
use super::pool::{Backoff, Session};
use super::trouble::Trouble;
use lendpay_domain::StoreError;
use lendpay_domain::store::Answer;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A command within a transaction.
pub(super) trait Command: Send + Sync + 'static {
    type Outcome: Send + 'static;

    fn carry_out(&self, session: &Session) -> impl Future<Output = Result<Self::Outcome, Trouble>> + Send;
}

impl PostgresStore {
    /// Runs a transaction, again if somebody was in the way, in a task of its own: a caller that goes away does not end it in
    /// the middle.
    pub(super) async fn alone<C: Command>(&self, command: C) -> Answer<C::Outcome> {
        let (pool, health, patience) = (self.pool.clone(), Arc::clone(&self.health), self.patience);
        let task = tokio::spawn(async move {
            let once = || async {
                let session = Session::get(&pool).await?;
                session.begin().await?;
                let outcome = command.carry_out(&session).await?;
                session.commit().await?;
                Ok(outcome)
            };
            persist(&health, patience, once).await
        });
        // It does not panic; if it did, nobody would know what it has done.
        task.await.unwrap_or(Err(StoreError::OutcomeUnknown))
    }
}

/// Tries until it works, cannot work, or has not worked for so long.
pub(super) async fn persist<T, F>(health: &Health, patience: Duration, mut attempt: impl FnMut() -> F) -> Answer<T>
where
    F: Future<Output = Result<T, Trouble>>,
{
    let (since, mut backoff) = (Instant::now(), Backoff::new());
    loop {
        match attempt().await {
            Ok(outcome) => {
                health.works();
                return Ok(outcome);
            }
            Err(trouble) => {
                health.note(&trouble);
                if !trouble.passes() || since.elapsed() > patience {
                    return Err(trouble.answer());
                }
            }
        }
        backoff.wait().await;
    }
}
