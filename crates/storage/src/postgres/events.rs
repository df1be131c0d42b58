//! Events. They are written without a number, so that no writer waits for another; whoever reads them numbers first what is
//! committed by then. Only those who number wait for each other, and a number that was given is never given again: a reader that
//! passes the last one it saw misses none.

use super::PostgresStore;
use super::alone::Command;
use super::pool::Session;
use super::rows;
use super::statements as sql;
use super::trouble::Trouble;
use lendpay_domain::StoreError;
use lendpay_domain::event::Event;
use lendpay_domain::store::Answer;

/// How many events are numbered at once: some ten milliseconds.
const AT_ONCE: i64 = 5_000;

/// Numbers some events; returns how many.
struct Number;

impl Command for Number {
    type Outcome = usize;

    async fn carry_out(&self, session: &Session) -> Result<usize, Trouble> {
        let last = last(session).await?;
        let numbered = session.run(sql::NUMBER_EVENTS, &[&last, &AT_ONCE]).await?;
        let last = last + i64::try_from(numbered).unwrap_or(0);
        session.run(sql::SET_COUNTER, &[&last]).await?;
        Ok(numbered)
    }
}

/// The last number that was given. Nobody else numbers until the transaction ends.
pub(super) async fn last(session: &Session) -> Result<i64, Trouble> {
    let row = session.row(sql::LOCK_COUNTER, &[]).await?.ok_or(Trouble::Damaged)?;
    Ok(row.try_get(0)?)
}

impl PostgresStore {
    /// Numbers what is committed by now, but no more than about `enough`.
    pub(super) async fn number(&self, enough: usize) -> Answer<()> {
        let waiting = self.read(sql::EVENTS_WAIT, &[]).await?;
        if !waiting.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Ok(());
        }
        let mut numbered = 0;
        while numbered < enough {
            match self.alone(Number).await {
                // Whatever was waiting has its number; writers go on, and there is no end to wait for.
                Ok(more) if more < AT_ONCE as usize => break,
                Ok(more) => numbered += more,
                // Numbering can be repeated: what was done is not done twice.
                Err(StoreError::OutcomeUnknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) async fn events_after(&self, after: u64, limit: usize) -> Answer<Vec<Event>> {
        let Ok(after) = i64::try_from(after) else { return Ok(Vec::new()) };
        self.number(limit).await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read_as(sql::LIST_EVENTS, &[&after, &limit], rows::event).await
    }
}
