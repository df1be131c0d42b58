//! Exports: one snapshot of the database, read in the order of the sequences.

use super::PostgresStore;
use super::error::DbError;
use super::rows;
use super::session::Session;
use super::statements as sql;
use lendpay_domain::HistoryId;
use lendpay_domain::change::Record;
use lendpay_domain::store::{Answer, Export, Exports, StoreError};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};

/// How many records are read at once.
const RECORDS: i64 = 1_000;

/// How many exports may be under way. Each keeps a connection, and the database keeps what it sees.
const EXPORTS: usize = 2;

/// How long the next records wait for a reader, in times of what a command may wait; an export that is read more slowly
/// ends.
const SLOWEST: u32 = 6;

/// An export that is under way, by a task of its own: a reader that stalls keeps no connection.
pub struct PostgresExport {
    history: HistoryId,
    parts: mpsc::Receiver<Answer<Vec<Record>>>,
}

pub(super) fn limit() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(EXPORTS))
}

impl Exports for PostgresStore {
    type Export = PostgresExport;

    async fn export(&self) -> Answer<PostgresExport> {
        let permit = Arc::clone(&self.exports).try_acquire_owned().map_err(|_| StoreError::Overloaded)?;
        // Uses that were noted before are in it.
        drop(self.uses_under_way.write().await);
        // What was acknowledged by now has its sequence in the snapshot.
        self.number(usize::MAX).await?;
        let begun = async {
            let session = Session::get(&self.groups.pool).await?;
            session.begin_snapshot().await?;
            let row = session.row(sql::HISTORY).await?;
            Ok((session, HistoryId::new(row.try_get(0)?)))
        };
        let (session, history) = begun.await.map_err(|error: DbError| self.groups.health.noted(&error))?;
        let (sender, parts) = mpsc::channel(1);
        let slowest = self.groups.patience * SLOWEST;
        tokio::spawn(async move {
            let _permit = permit;
            let mut after = i64::MIN;
            loop {
                let part = part(&session, &mut after).await;
                let end = !part.as_ref().is_ok_and(|records| !records.is_empty());
                match sender.send_timeout(part, slowest).await {
                    Ok(()) if !end => {}
                    Ok(()) | Err(mpsc::error::SendTimeoutError::Closed(_)) => return,
                    Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                        return tracing::error!("an export ends: nobody reads on");
                    }
                }
            }
        });
        Ok(PostgresExport { history, parts })
    }
}

impl Export for PostgresExport {
    fn history(&self) -> HistoryId {
        self.history
    }

    async fn next(&mut self) -> Answer<Vec<Record>> {
        // The task has ended without the empty part that is the end.
        self.parts.recv().await.unwrap_or(Err(StoreError::Unavailable))
    }
}

async fn part(session: &Session, after: &mut i64) -> Answer<Vec<Record>> {
    let read = async {
        let mut records = Vec::new();
        for row in session.rows(sql::EXPORT, &[&*after, &RECORDS]).await? {
            let (sequence, record) = rows::record(&row)?;
            *after = sequence;
            records.push(record);
        }
        Ok(records)
    };
    read.await.map_err(|error: DbError| {
        tracing::error!(reason = error.reason(), "an export cannot go on");
        if matches!(error, DbError::Damaged) { StoreError::Corrupt } else { StoreError::Unavailable }
    })
}
