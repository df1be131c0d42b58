//! `DeleteWebhook`: deletes an endpoint, with the state of its delivery.

use super::*;
use lendpay_domain::command::{DeleteEndpoint, DeleteEndpointOutcome};

pub(crate) struct DeleteWebhookApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Deleted {
    /// The endpoint is deleted.
    #[oai(status = 204)]
    Now,
}

impl Operation for DeleteEndpoint {
    const ID: &'static str = "DeleteWebhook";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        endpoint_failures([Failure::Store(StoreError::OutcomeUnknown)])
    }
}

#[OpenApi]
impl<S: Commands> DeleteWebhookApi<S> {
    /// Delete a webhook endpoint
    ///
    /// Nothing is sent to it any more; what was set aside is forgotten. The events stay in the list of events.
    #[oai(
        path = "/operator/webhooks/:endpointId",
        method = "delete",
        operation_id = "DeleteWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn delete_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Deleted, Failed<DeleteEndpoint>> {
        let store = self.0.admit::<DeleteEndpoint>(&request)?;
        let (settings, id) = (self.0.webhooks()?, named(&path)?);
        match store.run(DeleteEndpoint { id, stamp: request.stamp() }).await? {
            DeleteEndpointOutcome::Deleted => {
                settings.deliveries.changed(id);
                Ok(Deleted::Now)
            }
            DeleteEndpointOutcome::NotFound => Err(not_found(Resource::Webhook).into()),
        }
    }
}
