//! Sequences. Changes are written without one, so that no writer waits for another; whoever reads them numbers first what is
//! committed by then. Only those who number wait for each other, and a sequence is never given twice: a reader that passes the
//! last one it saw misses none.

use super::PostgresStore;
use super::error::DbError;
use super::session::{Session, persist};
use super::statements as sql;
use lendpay_domain::store::{Answer, StoreError};

/// How many changes are numbered at once: some ten milliseconds.
pub(super) const AT_ONCE: i64 = 5_000;

/// The last sequence that was given. Nobody else numbers until the transaction ends.
pub(super) async fn last(session: &Session) -> Result<i64, DbError> {
    Ok(session.row(sql::LOCK_COUNTER).await?.try_get(0)?)
}

/// Numbers some changes after `last`; returns how many.
pub(super) async fn number(session: &Session, last: i64) -> Result<i64, DbError> {
    let numbered = session.run(sql::NUMBER_CHANGES, &[&last, &AT_ONCE]).await?;
    Ok(i64::try_from(numbered).expect("no more than were asked for"))
}

impl PostgresStore {
    /// Numbers what is committed by now, but no more than about `enough`.
    pub(super) async fn number(&self, enough: usize) -> Answer<()> {
        let waiting = self.read(sql::CHANGES_WAIT, &[]).await?;
        if !waiting.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Ok(());
        }
        let once = || async {
            let session = Session::get(&self.groups.pool).await?;
            session.begin().await?;
            let last = last(&session).await?;
            let numbered = number(&session, last).await?;
            session.run(sql::SET_COUNTER, &[&(last + numbered)]).await?;
            session.commit().await?;
            Ok(numbered)
        };
        let mut numbered = 0;
        while numbered < enough {
            match persist(&self.groups.health, self.groups.patience, once).await {
                // Whatever was waiting has its sequence; writers go on, and there is no end to wait for.
                Ok(more) if more < AT_ONCE => break,
                Ok(more) => numbered += usize::try_from(more).expect("a count"),
                // Numbering can be repeated: what was done is not done twice.
                Err(StoreError::OutcomeUnknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
