//! Endpoints of webhooks, and which process serves which: a row is held for a while, by the clock of the database.

use super::PostgresStore;
use super::read::{end, is_full, next, part};
use super::rows;
use super::statements as sql;
use lendpay_domain::page::Page;
use lendpay_domain::store::{Answer, Webhooks};
use lendpay_domain::webhook::{Endpoint, FindEndpoints, HELD, Webhook};
use lendpay_domain::{EndpointId, HolderId};
use tokio_postgres::Row;
use uuid::Uuid;

/// The most endpoints that a page looks at.
const LOOKED_AT: i64 = 1_000;

impl Webhooks for PostgresStore {
    async fn find_endpoints(&self, query: FindEndpoints) -> Answer<Page<Endpoint, EndpointId>> {
        let Some(from) = next(query.window.after.map(EndpointId::uuid)) else { return Ok(end()) };
        let found = self.read_as(sql::LIST_WEBHOOKS, &[&from, &LOOKED_AT], rows::endpoint).await?;
        let cut = is_full(&found, LOOKED_AT);
        let wanted = |endpoint: Endpoint| (endpoint.id, Some(endpoint).filter(|endpoint| query.wants(endpoint)));
        let found = found.into_iter().map(wanted);
        Ok(part(found, query.window.limit, cut))
    }

    async fn find_webhook(&self, id: EndpointId) -> Answer<Option<Webhook>> {
        let found = self.read_one(sql::FIND_WEBHOOK, &[&id.uuid()], rows::webhook).await?;
        Ok(found.and_then(|row| row.value.there()))
    }

    async fn hold(&self, holder: HolderId, endpoints: Vec<EndpointId>) -> Answer<Vec<EndpointId>> {
        let ids: Vec<_> = endpoints.iter().map(|id| id.uuid()).collect();
        self.read_as(sql::HOLD_WEBHOOKS, &[&holder.uuid(), &ids, &HELD.as_secs_f64()], id).await
    }

    async fn release(&self, holder: HolderId) -> Answer<()> {
        self.read_as(sql::RELEASE_WEBHOOKS, &[&holder.uuid()], id).await.map(drop)
    }
}

fn id(row: &Row) -> rows::Read<EndpointId> {
    row.try_get::<_, Uuid>(0).map(EndpointId::new).map_err(|_| rows::Damaged)
}
