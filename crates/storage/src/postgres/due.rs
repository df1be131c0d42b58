//! Expiries that are due. A row of `offers_due` is deleted once its offer was looked at.

use super::PostgresStore;
use super::error::DbError;
use super::rows::{self, micros};
use super::session::{Parameters, Session, columns};
use super::statements as sql;
use futures_util::future::join_all;
use lendpay_domain::Timestamp;
use lendpay_domain::command::{ExpireOffer, Stamp};
use lendpay_domain::query::{DueCursor, OfferCursor};
use lendpay_domain::store::{Answer, Commands as _, StoreError};
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// How long an offer that another session holds may delay the others. Its row stays.
const PATIENCE: Duration = Duration::from_secs(1);

impl PostgresStore {
    /// Looks at offers that are due. Their rows are held meanwhile, so that other processes take others.
    pub(super) async fn expire_due(
        &self,
        after: Option<DueCursor>,
        now: Timestamp,
        most: usize,
        stamp: impl Fn() -> Stamp,
    ) -> Answer<Option<DueCursor>> {
        let noted = |error: DbError| self.groups.health.noted(&error);
        let session = Session::get(&self.groups.pool).await.map_err(noted)?;
        let taken = take(&session, after, now, most).await.map_err(noted)?;
        let outcomes = join_all(taken.iter().map(|due| {
            let OfferCursor { application, offer } = due.offer;
            timeout(PATIENCE, self.run(ExpireOffer { application, offer, stamp: Stamp { at: now, ..stamp() } }))
        }));
        let (mut done, mut failed) = (Vec::new(), None);
        for (due, outcome) in taken.iter().zip(outcomes.await) {
            match outcome {
                // Nothing can be done about a row that cannot be read: whoever asks for the offer is told.
                Ok(Ok(_) | Err(StoreError::Corrupt)) => done.push(due),
                Ok(Err(error)) => failed = Some(error),
                Err(_elapsed) => {}
            }
        }
        let ids = columns!(done, |it| it.expiry_at, it.offer.application.uuid(), it.offer.offer.uuid());
        session.run_for(sql::DELETE_DUE, done.len(), ids).await.map_err(noted)?;
        session.commit().await.map_err(noted)?;
        match failed {
            Some(error) => Err(error),
            None => Ok(taken.last().copied().filter(|_| taken.len() == most)),
        }
    }
}

/// Begins a transaction, and takes rows that are due and that nobody else has taken.
async fn take(
    session: &Session,
    after: Option<DueCursor>,
    now: Timestamp,
    most: usize,
) -> Result<Vec<DueCursor>, DbError> {
    let at = after.map(|after| after.expiry_at);
    let (application, offer) =
        after.map_or((Uuid::nil(), Uuid::nil()), |after| (after.offer.application.uuid(), after.offer.offer.uuid()));
    let (now, most) = (micros(now), i64::try_from(most).unwrap_or(i64::MAX));
    let parameters: Parameters<'_> = &[&at, &application, &offer, &now, &most];
    let ((), found) = tokio::try_join!(biased; session.begin(), session.rows(sql::TAKE_DUE, parameters))?;
    Ok(found.iter().map(rows::due).collect::<rows::Read<_>>()?)
}
