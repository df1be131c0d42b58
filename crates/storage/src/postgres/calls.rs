//! Calls that changed nothing: a table that every process adds to and looks into.

use super::PostgresStore;
use super::error::DbError;
use super::health::Health;
use super::pool::Pool;
use super::rows::{self, sealed};
use super::session::Session;
use super::statements as sql;
use crate::calls::Keep;
use crate::records::CallRecord;
use lendpay_domain::calls::{Call, FOUND, Keeping, Owner, found};
use lendpay_domain::store::{Answer, Calls};
use lendpay_domain::{OperationId, PartnerId, Timestamp};
use std::sync::Arc;
use tokio::runtime::Handle;
use uuid::Uuid;

/// After how much of the space has been added by a process it looks for what is too much.
const PARTS: u64 = 128;

/// Adds calls to the table.
pub(super) struct Table {
    runtime: Handle,
    pool: Pool,
    health: Arc<Health>,
    keeping: Keeping,
    /// How many bytes were added since it was last looked for what is too much.
    added: u64,
}

impl Table {
    /// Of the runtime that this runs in.
    pub(super) fn new(pool: Pool, health: Arc<Health>, keeping: Keeping) -> Self {
        Self { runtime: Handle::current(), pool, health, keeping, added: keeping.bytes / PARTS }
    }

    async fn add(&mut self, calls: &[Call]) -> Result<(), DbError> {
        let bodies: Vec<_> = calls.iter().map(|call| sealed(&CallRecord::from(call))).collect::<Result<_, _>>()?;
        let operations: Vec<_> = calls.iter().map(|call| Uuid::from_bytes(call.operation.to_bytes())).collect();
        let times: Vec<_> = calls.iter().map(|call| call.at).collect();
        let owners: Vec<_> = calls.iter().map(|call| call.owner().to_string()).collect();
        let session = Session::get(&self.pool).await?;
        session.run(sql::INSERT_CALLS, &[&operations, &times, &owners, &bodies]).await?;
        if let Some(now) = times.iter().max() {
            session.run(sql::DELETE_OLD_CALLS, &[&self.keeping.since(*now)]).await?;
        }
        self.added += bodies.iter().map(|body| body.len() as u64).sum::<u64>();
        let part = self.keeping.bytes / PARTS;
        if self.added >= part {
            // With what may be added until the next look nobody has more than its share.
            let most =
                |owner: Owner| i64::try_from(owner.share(self.keeping.bytes).saturating_sub(part)).unwrap_or(i64::MAX);
            let [all, unknown] = [Owner::Operator, Owner::Nobody].map(most);
            let partner = most(Owner::Partner(PartnerId::from_bytes([0; 16])));
            session.run(sql::DELETE_OWNERS_CALLS, &[&all, &unknown, &partner]).await?;
            session.run(sql::DELETE_MANY_CALLS, &[&all]).await?;
            self.added = 0;
        }
        session.give_back();
        Ok(())
    }
}

impl Keep for Table {
    fn keep(&mut self, calls: Vec<Call>) -> Result<(), String> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.add(&calls)).map_err(|error| {
            self.health.note(&error);
            error.reason().to_owned()
        })
    }
}

impl Calls for PostgresStore {
    fn note_call(&self, call: Call) {
        self.calls.note(call);
    }

    async fn calls_of(&self, operation: OperationId, now: Timestamp) -> Answer<Vec<Call>> {
        self.calls.hand_on().await;
        let limit = i64::try_from(FOUND).expect("small");
        let operation = Uuid::from_bytes(operation.to_bytes());
        let rows = self.read(sql::CALLS_OF, &[&operation, &self.keeping.since(now), &limit]).await?;
        // What is damaged is passed over, as on the embedded store.
        Ok(found(rows.iter().filter_map(|row| rows::call(row).ok()).collect()))
    }
}
