//! Endpoints of webhooks. They are in memory; the process that has the store open serves them all.

use super::EmbeddedStore;
use lendpay_domain::page::Page;
use lendpay_domain::store::{Answer, Webhooks};
use lendpay_domain::view::View as _;
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Webhook};
use lendpay_domain::{EndpointId, HolderId};

impl Webhooks for EmbeddedStore {
    async fn find_endpoints(&self, query: FindEndpoints) -> Answer<Page<Endpoint, EndpointId>> {
        self.endpoints(query)
    }

    async fn find_webhook(&self, id: EndpointId) -> Answer<Option<Webhook>> {
        Ok(self.read(|base| base.webhook(id))?.and_then(Webhook::there))
    }

    async fn hold(&self, _: HolderId, endpoints: Vec<EndpointId>) -> Answer<Vec<EndpointId>> {
        self.health.working()?;
        Ok(endpoints)
    }

    async fn release(&self, _: HolderId) -> Answer<()> {
        Ok(())
    }
}
