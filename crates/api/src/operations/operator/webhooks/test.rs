//! `TestWebhook`, `ListWebhookAttempts`: what came of sending.

use super::*;
use crate::random;
use crate::wire::endpoint::{WebhookAttempt, WebhookAttemptList};
use lendpay_domain::webhook::Endpoint;

pub(crate) struct TestWebhookApi<S>(pub Arc<Operator<S>>);

pub(crate) struct TestWebhook;

pub(crate) struct ListAttempts;

#[derive(ApiResponse)]
enum Tested {
    /// What came of it.
    #[oai(status = 200)]
    Attempt(Json<WebhookAttempt>),
}

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// The attempts.
    #[oai(status = 200)]
    Attempts(Json<WebhookAttemptList>),
}

impl Operation for TestWebhook {
    const ID: &'static str = "TestWebhook";
    const ROLE: Option<Role> = Some(Role::Support);

    fn failures() -> Vec<Failure> {
        endpoint_failures([])
    }
}

impl Operation for ListAttempts {
    const ID: &'static str = "ListWebhookAttempts";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        endpoint_failures([])
    }
}

#[OpenApi]
impl<S: Webhooks> TestWebhookApi<S> {
    /// Send a test event
    ///
    /// An event of the type `webhook.test`, signed as all are, is sent at once and once, also to an endpoint that is paused
    /// or disabled. It is in no list of events. The endpoint has as long as for any event, but at most until 5 s before the
    /// request itself must be answered.
    #[oai(
        path = "/operator/webhooks/:endpointId/test",
        method = "post",
        operation_id = "TestWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn test_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Tested, Failed<TestWebhook>> {
        let store = self.0.admit::<TestWebhook>(&request)?;
        let endpoint = self.endpoint(store, &path).await?;
        let within = request.context.longest_wait();
        let attempt =
            self.0.webhooks()?.deliveries.test(endpoint, random::event_id(), request.context.at, within).await;
        Ok(Tested::Attempt(Json(attempt.into())))
    }

    /// List attempts
    ///
    /// The last 100 attempts to send something to the endpoint, the newest first. They are kept in memory: those of the
    /// process that answers, since it was started. Of several processes on one database, one serves an endpoint at a time.
    #[oai(
        path = "/operator/webhooks/:endpointId/attempts",
        method = "get",
        operation_id = "ListWebhookAttempts",
        tag = "Tag::Webhooks"
    )]
    pub async fn list_webhook_attempts(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Listed, Failed<ListAttempts>> {
        let store = self.0.admit::<ListAttempts>(&request)?;
        let endpoint = self.endpoint(store, &path).await?;
        let attempts = self.0.webhooks()?.deliveries.attempts(endpoint.id);
        let items = attempts.into_iter().map(WebhookAttempt::from).collect();
        Ok(Listed::Attempts(Json(WebhookAttemptList { items })))
    }
}

impl<S: Webhooks> TestWebhookApi<S> {
    async fn endpoint(&self, store: &S, path: &PathId<EndpointId>) -> Result<Endpoint, Failure> {
        self.0.webhooks()?;
        let found = store.find_webhook(named(path)?).await?;
        Ok(found.ok_or_else(|| not_found(Resource::Webhook))?.endpoint)
    }
}
