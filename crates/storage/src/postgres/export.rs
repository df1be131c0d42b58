//! Exports: one snapshot of the database, read in the order of the sequences.

use super::PostgresStore;
use super::error::DbError;
use super::rows;
use super::session::Session;
use super::statements as sql;
use lendpay_domain::change::Record;
use lendpay_domain::store::{Answer, Export, Exports, StoreError};

/// How many records are read at once.
const RECORDS: i64 = 1_000;

/// An export that is under way. It keeps a connection, and the database keeps what it sees.
pub struct PostgresExport {
    session: Session,
    /// The sequence of the last record.
    after: i64,
}

impl Exports for PostgresStore {
    type Export = PostgresExport;

    async fn export(&self) -> Answer<PostgresExport> {
        // Uses that were noted before are in it.
        drop(self.uses_under_way.write().await);
        // What was acknowledged by now has its sequence in the snapshot.
        self.number(usize::MAX).await?;
        let begun = async {
            let session = Session::get(&self.groups.pool).await?;
            session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
            Ok(session)
        };
        let session = begun.await.map_err(|error: DbError| self.groups.health.noted(&error))?;
        Ok(PostgresExport { session, after: i64::MIN })
    }
}

impl Export for PostgresExport {
    async fn next(&mut self) -> Answer<Vec<Record>> {
        self.part().await.map_err(|error| {
            tracing::error!(reason = error.reason(), "an export cannot go on");
            match error {
                DbError::Damaged => StoreError::Corrupt,
                _ => StoreError::Unavailable,
            }
        })
    }
}

impl PostgresExport {
    async fn part(&mut self) -> Result<Vec<Record>, DbError> {
        let mut records = Vec::new();
        for row in self.session.rows(sql::EXPORT, &[&self.after, &RECORDS]).await? {
            let (sequence, record) = rows::record(&row)?;
            self.after = sequence;
            records.push(record);
        }
        Ok(records)
    }
}
