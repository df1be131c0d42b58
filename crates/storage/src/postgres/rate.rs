//! Leases of requests: what all processes together let a partner do (contract 2.11). By the clock of the database.

use super::PostgresStore;
use super::rows::Damaged;
use super::statements as sql;
use lendpay_domain::PartnerId;
use lendpay_domain::rate::{Lease, Leases, Leasing, RateLimit};
use lendpay_domain::store::StoreError;
use std::time::Duration;
use tokio_postgres::Row;
use uuid::Uuid;

impl Leases for PostgresStore {
    fn lease(&self, partner: PartnerId, limit: RateLimit, want: u32) -> Leasing<'_> {
        Box::pin(async move {
            let partner = Uuid::from_bytes(partner.to_bytes());
            let [want, requests] = [want, limit.requests.get()].map(i64::from);
            let period = limit.period().as_secs_f64();
            let lease = self.read_one(sql::LEASE_REQUESTS, &[&partner, &want, &period, &requests], lease).await?;
            lease.ok_or(StoreError::Corrupt)
        })
    }
}

fn lease(row: &Row) -> Result<Lease, Damaged> {
    let granted = row.try_get::<_, i64>(0).ok().and_then(|granted| u32::try_from(granted).ok()).ok_or(Damaged)?;
    let full_in = row.try_get::<_, f64>(1).map_err(|_| Damaged)?;
    Ok(Lease { granted, full_in: Duration::try_from_secs_f64(full_in.max(0.0)).map_err(|_| Damaged)? })
}
