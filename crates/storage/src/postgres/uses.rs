//! When keys were last used: the first use in each minute is written, by a task of its own.

use super::pool::Session;
use super::statements as sql;
use super::trouble::Trouble;
use crate::uses::Minutes;
use deadpool_postgres::Pool;
use lendpay_domain::Timestamp;
use lendpay_domain::key::KeyHash;
use tokio::sync::{mpsc, oneshot};

/// How many notes may wait. More are lost; the next minute brings others.
const MOST: usize = 1_024;

pub(super) struct Uses {
    minutes: Minutes,
    notes: mpsc::Sender<Note>,
}

enum Note {
    Use(KeyHash, Timestamp),
    /// Tells who waits that all notes before it are written, or lost.
    Settled(oneshot::Sender<()>),
}

impl Uses {
    /// Starts the task; it ends with what it returns.
    pub(super) fn start(pool: &Pool) -> Self {
        let (notes, mut waiting) = mpsc::channel(MOST);
        let pool = pool.clone();
        tokio::spawn(async move {
            while let Some(note) = waiting.recv().await {
                match note {
                    Note::Use(key, at) => {
                        // It is for people, and may be lost.
                        if let Err(trouble) = write(&pool, key, at).await {
                            tracing::debug!(reason = trouble.reason(), "the use of a key could not be noted");
                        }
                    }
                    // Whoever waited may have gone.
                    Note::Settled(reply) => drop(reply.send(())),
                }
            }
        });
        Self { minutes: Minutes::default(), notes }
    }

    pub(super) fn note(&self, key: KeyHash, at: Timestamp) {
        if let Some(minute) = self.minutes.new_minute(key, at) {
            let _ = self.notes.try_send(Note::Use(key, minute));
        }
    }

    /// Waits until what was noted by now is written, or lost.
    pub(super) async fn settled(&self) {
        let (reply, settled) = oneshot::channel();
        if self.notes.send(Note::Settled(reply)).await.is_ok() {
            // Without an answer the task has ended, and its notes are lost.
            let _ = settled.await;
        }
    }
}

async fn write(pool: &Pool, key: KeyHash, at: Timestamp) -> Result<(), Trouble> {
    let session = Session::get(pool).await?;
    session.run(sql::USE_KEY, &[&key.to_bytes().as_slice(), &at]).await?;
    session.give_back();
    Ok(())
}
