//! Exports: one snapshot of the database, read in the order of the events.

use super::PostgresStore;
use super::pool::{Parameters, Session};
use super::rows::{self, EVENT, OFFER};
use super::statements as sql;
use super::trouble::Trouble;
use lendpay_domain::event::{Event, Subject};
use lendpay_domain::key::KeyInUse;
use lendpay_domain::offer::Status;
use lendpay_domain::record::{Export, Record};
use lendpay_domain::store::Answer;
use lendpay_domain::{ApplicationId, PartnerId, StoreError};
use tokio_postgres::Row;
use uuid::Uuid;

/// How many rows are read at once.
const ROWS: i64 = 1_000;

/// An export that is under way. It keeps a connection, and the database keeps what it sees.
pub struct PostgresExport {
    session: Session,
    place: Place,
    /// When keys were used: the last records.
    uses: Vec<Record>,
}

/// What comes next, and after which row.
enum Place {
    Partners(Option<Uuid>),
    Keys(Option<(Uuid, Uuid)>),
    Applications(Option<Uuid>),
    Events(i64),
    Uses,
}

impl PostgresStore {
    pub(super) async fn begin_export(&self) -> Answer<PostgresExport> {
        self.uses.settled().await;
        // What was acknowledged by now has its number in the snapshot.
        self.number(usize::MAX).await?;
        let begun = async {
            let session = Session::get(&self.pool).await?;
            session.begin_snapshot().await?;
            Ok(session)
        };
        let session = begun.await.map_err(|trouble: Trouble| {
            self.health.note(&trouble);
            trouble.answer()
        })?;
        Ok(PostgresExport { session, place: Place::Partners(None), uses: Vec::new() })
    }
}

impl Export for PostgresExport {
    async fn next(&mut self) -> Answer<Vec<Record>> {
        loop {
            let (records, end) = self.part().await.map_err(|trouble| {
                tracing::error!(reason = trouble.reason(), "an export cannot go on");
                match trouble {
                    Trouble::Damaged => StoreError::Corrupt,
                    _ => StoreError::Unavailable,
                }
            })?;
            if !records.is_empty() || end {
                return Ok(records);
            }
        }
    }
}

impl PostgresExport {
    /// The next records, and whether that is the end of it.
    async fn part(&mut self) -> Result<(Vec<Record>, bool), Trouble> {
        match self.place {
            Place::Partners(after) => {
                let rows = self.rows(sql::EXPORT_PARTNERS, &[&after, &ROWS]).await?;
                let mut records = Vec::new();
                self.place = Place::Keys(None);
                for row in &rows {
                    let id: Uuid = row.try_get(0)?;
                    self.place = Place::Partners(Some(id));
                    let partner = rows::partner(PartnerId::new(id), row, 1)?;
                    records.push(Record::Partner { sequence: None, partner });
                }
                Ok((records, false))
            }
            Place::Keys(after) => {
                let (partner, key) = after.unzip();
                let rows = self.rows(sql::EXPORT_KEYS, &[&partner, &key, &ROWS]).await?;
                let mut records = Vec::new();
                self.place = Place::Applications(None);
                for row in &rows {
                    let KeyInUse { key, last_used_at } = rows::key(row)?;
                    self.place = Place::Keys(Some((key.partner.uuid(), key.id.uuid())));
                    self.uses.extend(last_used_at.map(|at| Record::KeyUsed { key: key.hash, at }));
                    records.push(Record::Key { sequence: None, key });
                }
                Ok((records, false))
            }
            Place::Applications(after) => {
                let rows = self.rows(sql::EXPORT_APPLICATIONS, &[&after, &ROWS]).await?;
                let mut records = Vec::new();
                self.place = Place::Events(0);
                for row in &rows {
                    let id: Uuid = row.try_get(0)?;
                    self.place = Place::Applications(Some(id));
                    let (id, partner) = (ApplicationId::new(id), PartnerId::new(row.try_get(1)?));
                    records.push(Record::Application { sequence: None, id, partner });
                }
                Ok((records, false))
            }
            Place::Events(after) => {
                let rows = self.rows(sql::EXPORT_EVENTS, &[&after, &ROWS]).await?;
                let mut records = Vec::new();
                self.place = Place::Uses;
                for row in &rows {
                    let event = rows::event(row)?;
                    self.place = Place::Events(i64::try_from(event.sequence).map_err(|_| Trouble::Damaged)?);
                    records.push(record(event, row)?);
                }
                Ok((records, false))
            }
            Place::Uses => Ok((std::mem::take(&mut self.uses), true)),
        }
    }

    async fn rows(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Trouble> {
        self.session.rows(sql, parameters).await
    }
}

fn record(event: Event, row: &Row) -> Result<Record, Trouble> {
    Ok(match event.subject {
        Subject::Offer { status: Status::Offered, .. } => {
            let (offer, _) = rows::offer(row, EVENT)?;
            Record::OfferCreated { event, terms: offer.terms }
        }
        Subject::Offer { .. } => Record::OfferMoved { event },
        Subject::Buyer(_) => {
            let (buyer, fingerprint) = rows::buyer(row, EVENT + OFFER)?;
            Record::BuyerCreated { event, description: buyer.description, fingerprint }
        }
    })
}
