//! Sequences. Changes are written without one, so that no writer waits for another; whoever reads them numbers first
//! what is committed by then. Only those who number wait for each other, and a sequence is never given twice: a reader
//! that passes the last one it saw misses none.

use super::PostgresStore;
use super::error::DbError;
use super::rows;
use super::session::{Session, persist};
use super::statements as sql;
use lendpay_domain::store::{Answer, StoreError};
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until};

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

/// What numbering came to.
pub(super) struct Numbered {
    /// The last sequence that was given, at least.
    last: i64,
    /// Whether changes may have been committed before that have no sequence yet.
    pub(super) more: bool,
}

/// How often is looked for changes while somebody waits for them.
const LOOK: Duration = Duration::from_millis(20);

/// What all who wait for changes share: whoever has the lock looks, and tells the others.
#[derive(Default)]
pub(super) struct Looks {
    /// The last sequence that was seen.
    last: watch::Sender<u64>,
    /// When somebody looked last.
    looked: Mutex<Option<Instant>>,
}

impl Looks {
    /// Waits for a change after a sequence. Without anybody who waits nobody looks.
    pub(super) async fn wait(&self, store: &PostgresStore, after: u64) -> Answer<()> {
        let mut last = self.last.subscribe();
        loop {
            let mut looked = tokio::select! {
                biased;
                _ = last.wait_for(|last| *last > after) => return Ok(()),
                looked = self.looked.lock() => looked,
            };
            if let Some(before) = *looked {
                sleep_until(before + LOOK).await;
            }
            *looked = Some(Instant::now());
            let numbered = store.number(1).await?;
            self.last.send_replace(u64::try_from(numbered.last).unwrap_or_default());
        }
    }
}

impl PostgresStore {
    /// Numbers what is committed by now, but no more than about `enough`.
    pub(super) async fn number(&self, enough: usize) -> Answer<Numbered> {
        let found = self.read_one(sql::CHANGES_WAIT, &[], rows::waiting).await?;
        let (mut more, mut last) = found.ok_or(StoreError::Corrupt)?;
        let once = || async {
            let session = Session::get(&self.groups.pool).await?;
            session.begin().await?;
            let last = self::last(&session).await?;
            let numbered = number(&session, last).await?;
            session.run(sql::SET_COUNTER, &[&(last + numbered)]).await?;
            session.commit().await?;
            Ok((numbered, last + numbered))
        };
        let mut numbered = 0;
        while more && numbered < enough {
            match persist(&self.groups.health, self.groups.patience, once).await {
                Ok((some, given)) => {
                    numbered += usize::try_from(some).expect("a count");
                    // Less than was asked for: whatever was waiting has its sequence. Writers go on, and there is no
                    // end to wait for.
                    (more, last) = (some == AT_ONCE, given);
                }
                // Numbering can be repeated: what was done is not done twice.
                Err(StoreError::OutcomeUnknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Numbered { last, more })
    }
}
