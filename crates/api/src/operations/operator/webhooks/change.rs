//! `UpdateWebhook`, `PauseWebhook`, `ResumeWebhook`, `RedeliverWebhook`: what operators do to an endpoint.

use super::*;
use crate::wire::endpoint::{ChangedWebhook, Redelivery, Values, Webhook};
use lendpay_domain::command::{ChangeEndpoint, ChangeEndpointOutcome, EndpointChange};

pub(crate) struct ChangeWebhookApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Changed {
    /// The endpoint as it is now.
    #[oai(status = 200)]
    Endpoint(Json<Webhook>),
}

/// Operations, and what they can give.
macro_rules! changes {
    ($($name:ident = $id:literal for $role:ident: $failures:expr;)+) => {$(
        pub(crate) struct $name;

        impl Operation for $name {
            const ID: &'static str = $id;
            const ROLE: Option<Role> = Some(Role::$role);

            fn failures() -> Vec<Failure> {
                $failures
            }
        }
    )+};
}

changes! {
    Update = "UpdateWebhook" for Admin: write_failures(
        "url: must begin with https://",
        [not_found(Resource::Webhook), OperatorFailure::WebhooksOff.into()],
    );
    Pause = "PauseWebhook" for Support: endpoint_failures([Failure::Store(StoreError::OutcomeUnknown)]);
    Resume = "ResumeWebhook" for Support: endpoint_failures([
        OperatorFailure::NoWebhookSecret.into(),
        Failure::Store(StoreError::OutcomeUnknown),
    ]);
    Redeliver = "RedeliverWebhook" for Support: write_failures(
        "after: must be a whole number from 0 to 9007199254740991",
        [
            not_found(Resource::Webhook),
            OperatorFailure::WebhooksOff.into(),
            OperatorFailure::CursorUnknown.into(),
        ],
    );
}

#[OpenApi]
impl<S: Commands + Queries + Webhooks> ChangeWebhookApi<S> {
    /// Change a webhook endpoint
    ///
    /// Its address, types and limit are replaced. Deliveries go on where they are. Its owner never changes.
    #[oai(
        path = "/operator/webhooks/:endpointId",
        method = "put",
        operation_id = "UpdateWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn update_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
        body: Body<ChangedWebhook>,
    ) -> Result<Changed, Failed<Update>> {
        let store = self.0.admit::<Update>(&request)?;
        let (settings, id) = (self.0.webhooks()?, named(&path)?);
        let Values { url, types, in_flight } = body.read(request.context.at).await?;
        let webhook = store.find_webhook(id).await?.ok_or_else(|| not_found(Resource::Webhook))?;
        let url = allowed(settings, webhook.endpoint.owner, url, types)?;
        Ok(self.change(&request, id, EndpointChange::Update { url, types, in_flight }).await?)
    }

    /// Pause a webhook endpoint
    ///
    /// Nothing is sent to it until it is resumed, and nothing is lost. Repeating the call is safe.
    #[oai(
        path = "/operator/webhooks/:endpointId/pause",
        method = "post",
        operation_id = "PauseWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn pause_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Changed, Failed<Pause>> {
        self.0.admit::<Pause>(&request)?;
        Ok(self.change(&request, named(&path)?, EndpointChange::Pause).await?)
    }

    /// Resume a webhook endpoint
    ///
    /// One that was paused or disabled gets what has happened since, and at once what was set aside. Repeating the call is
    /// safe.
    #[oai(
        path = "/operator/webhooks/:endpointId/resume",
        method = "post",
        operation_id = "ResumeWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn resume_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Changed, Failed<Resume>> {
        let store = self.0.admit::<Resume>(&request)?;
        let (_, id) = (self.0.webhooks()?, named(&path)?);
        let last = last(store).await?;
        Ok(self.change(&request, id, EndpointChange::Resume { last }).await?)
    }

    /// Deliver events again
    ///
    /// The endpoint gets all events after a sequence that it wants, in their order, also those that it has taken. Each has
    /// the same `webhook-id` as before.
    #[oai(
        path = "/operator/webhooks/:endpointId/redeliver",
        method = "post",
        operation_id = "RedeliverWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn redeliver_webhook(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
        body: Body<Redelivery>,
    ) -> Result<Changed, Failed<Redeliver>> {
        let store = self.0.admit::<Redeliver>(&request)?;
        let (_, id) = (self.0.webhooks()?, named(&path)?);
        let wanted = body.read(request.context.at).await?;
        let after = after(store, Some(wanted)).await?;
        Ok(self.change(&request, id, EndpointChange::Redeliver { after }).await?)
    }
}

impl<S: Commands> ChangeWebhookApi<S> {
    async fn change(&self, request: &OperatorRequest, id: EndpointId, to: EndpointChange) -> Result<Changed, Failure> {
        let settings = self.0.webhooks()?;
        match self.0.store.run(ChangeEndpoint { id, to, stamp: request.stamp() }).await? {
            ChangeEndpointOutcome::Changed(webhook) => {
                settings.deliveries.changed(id);
                Ok(Changed::Endpoint(Json(webhook.endpoint.into())))
            }
            ChangeEndpointOutcome::NotFound => Err(not_found(Resource::Webhook)),
            ChangeEndpointOutcome::NoSecret => Err(OperatorFailure::NoWebhookSecret.into()),
        }
    }
}
