//! `GetWebhook`: an endpoint, and how far its delivery has come.

use super::*;
use crate::wire::endpoint::WebhookProgress;
use lendpay_domain::webhook::Webhook;

pub(crate) struct GetWebhookApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetWebhook;

/// How many events a read may give: one that is to give fewer may have to be repeated more often.
const FEW: usize = 100;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The endpoint.
    #[oai(status = 200)]
    Endpoint(Json<WebhookProgress>),
}

impl Operation for GetWebhook {
    const ID: &'static str = "GetWebhook";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        endpoint_failures([])
    }
}

#[OpenApi]
impl<S: Queries + Webhooks> GetWebhookApi<S> {
    /// Read a webhook endpoint
    ///
    /// With its cursor, what waits for it, and how much is set aside.
    #[oai(path = "/operator/webhooks/:endpointId", method = "get", operation_id = "GetWebhook", tag = "Tag::Webhooks")]
    pub async fn get_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Found, Failed<GetWebhook>> {
        let store = self.0.admit::<GetWebhook>(&request)?;
        self.0.webhooks()?;
        let found = store.find_webhook(named(&path)?).await?;
        let Webhook { endpoint, progress } = found.ok_or_else(|| not_found(Resource::Webhook))?;
        let waiting = match &progress {
            Some(progress) => {
                let query = FindEvents { after: progress.cursor, limit: FEW, filter: endpoint.filter() };
                first_events(store, query).await?.events.into_iter().next()
            }
            None => None,
        };
        let found = WebhookProgress::new(endpoint, progress.as_ref(), waiting.as_ref(), request.context.at);
        Ok(Found::Endpoint(Json(found)))
    }
}
