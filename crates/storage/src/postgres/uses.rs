//! When keys were last used: the first use in each minute is written, by a task of its own.

use super::pool::Session;
use super::statements as sql;
use super::trouble::Trouble;
use crate::uses::Minutes;
use deadpool_postgres::Pool;
use lendpay_domain::Timestamp;
use lendpay_domain::key::KeyHash;
use tokio::sync::mpsc;

/// How many notes may wait. More are lost; the next minute brings others.
const MOST: usize = 1_024;

pub(super) struct Uses {
    minutes: Minutes,
    notes: mpsc::Sender<(KeyHash, Timestamp)>,
}

impl Uses {
    /// Starts the task; it ends with what it returns.
    pub(super) fn start(pool: &Pool) -> Self {
        let (notes, mut waiting) = mpsc::channel(MOST);
        let pool = pool.clone();
        tokio::spawn(async move {
            while let Some((key, at)) = waiting.recv().await {
                // It is for people, and may be lost.
                if let Err(trouble) = write(&pool, key, at).await {
                    tracing::debug!(reason = trouble.reason(), "the use of a key could not be noted");
                }
            }
        });
        Self { minutes: Minutes::default(), notes }
    }

    pub(super) fn note(&self, key: KeyHash, at: Timestamp) {
        if let Some(minute) = self.minutes.new_minute(key, at) {
            let _ = self.notes.try_send((key, minute));
        }
    }
}

async fn write(pool: &Pool, key: KeyHash, at: Timestamp) -> Result<(), Trouble> {
    let session = Session::get(pool).await?;
    session.run(sql::USE_KEY, &[&key.to_bytes().as_slice(), &at]).await?;
    session.give_back();
    Ok(())
}
