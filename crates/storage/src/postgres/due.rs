//! Expiries that are due. A row of `offers_due` is deleted once its offer was looked at.

use super::PostgresStore;
use super::error::DbError;
use super::rows::{self, Due, micros};
use super::session::{Parameters, Session, columns};
use super::statements as sql;
use super::view::{Loading, Rows};
use crate::job::job;
use lendpay_domain::command::{ExpireOffers, Reads, Stamp};
use lendpay_domain::query::DueCursor;
use lendpay_domain::store::Answer;
use lendpay_domain::{ApplicationId, OfferId, Timestamp};
use uuid::Uuid;

/// How many offers a transaction is for, at most: more than in the embedded store, since a transaction has round trips
/// and a sync of its own, and no other command is decided with it.
const TOGETHER: usize = 2 * ExpireOffers::TOGETHER;

impl PostgresStore {
    /// Looks at offers that are due.
    pub(super) async fn expire_due(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp,
    ) -> Answer<Option<DueCursor>> {
        // In one transaction.
        let mut most = most.min(TOGETHER);
        loop {
            match self.expire_together(after, now, most, &stamp).await {
                // The offers go one by one, until the one that cannot be read is passed.
                Err(DbError::Damaged) if most > 1 => most = 1,
                done => return done.map_err(|error| self.groups.health.noted(&error)),
            }
        }
    }

    /// Takes rows and decides about their offers in one transaction. Other processes take others meanwhile. Rows whose
    /// offers another session holds stay.
    async fn expire_together(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp,
    ) -> Result<Option<DueCursor>, DbError> {
        let groups = &*self.groups;
        let session = Session::get(&groups.pool).await?;
        let mut due = take(&session, after, now, most).await?;
        let next = due.last().map(|last| last.cursor).filter(|_| due.len() == most);
        let (mut work, _nobody_waits) = job(ExpireOffers::at(now, due.iter().map(offer_of), stamp), None);
        let mut reads = Reads::default();
        work.reads(&mut reads);
        let mut changes = Vec::new();
        match Rows::load(&session, &groups.order, reads, Loading::Free).await {
            Ok(rows) => {
                due.retain(|due| !rows.held.contains(&offer_of(due)));
                changes = groups.decide(&session, rows, [&mut work].into_iter()).await?;
            }
            // Nothing can be done about it: whoever asks for the offer is told.
            Err(error @ DbError::Damaged) if most == 1 => groups.health.note(&error),
            Err(DbError::Damaged) => {
                // Whoever tries again finds the rows free.
                session.commit().await?;
                return Err(DbError::Damaged);
            }
            Err(error) => return Err(error),
        }
        if due.is_empty() {
            return Ok(next);
        }
        session.change(sql::DELETE_DUE, due.len(), columns!(due, |it| &*it.place)).await?;
        groups.commit(session, &changes).await?;
        groups.health.works();
        groups.health.counters.decided(1);
        Ok(next)
    }
}

const fn offer_of(due: &Due) -> (ApplicationId, OfferId) {
    (due.cursor.offer.application, due.cursor.offer.offer)
}

/// Begins a transaction, and takes rows that are due and that nobody else has taken.
async fn take(session: &Session, after: Option<DueCursor>, now: Timestamp, most: usize) -> Result<Vec<Due>, DbError> {
    let at = after.map(|after| after.expiry_at);
    let (application, offer) =
        after.map_or((Uuid::nil(), Uuid::nil()), |after| (after.offer.application.uuid(), after.offer.offer.uuid()));
    let (now, most) = (micros(now), i64::try_from(most).unwrap_or(i64::MAX));
    let parameters: Parameters<'_> = &[&at, &application, &offer, &now, &most];
    let ((), found) = tokio::try_join!(biased; session.begin(), session.rows(sql::TAKE_DUE, parameters))?;
    Ok(found.iter().map(rows::due).collect::<rows::Read<_>>()?)
}
