//! `RotateWebhookSecret`: gives an endpoint a new secret. The one before stays valid for a day.

use super::*;
use crate::random;
use crate::webhook_secrets::WebhookSecret;
use crate::wire::endpoint::RotatedSecret;
use crate::wire::time::Time;
use lendpay_domain::command::{ChangeEndpoint, ChangeEndpointOutcome, EndpointChange};

pub(crate) struct RotateWebhookApi<S>(pub Arc<Operator<S>>);

pub(crate) struct Rotate;

#[derive(ApiResponse)]
enum Rotated {
    /// The new secret, which is never shown again.
    #[oai(status = 201)]
    Secret(Json<RotatedSecret>),
}

impl Operation for Rotate {
    const ID: &'static str = "RotateWebhookSecret";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        endpoint_failures([Failure::Store(StoreError::OutcomeUnknown)])
    }
}

#[OpenApi]
impl<S: Commands> RotateWebhookApi<S> {
    /// Rotate a secret
    ///
    /// For 24 hours deliveries have two signatures, by the new secret and by the one before, so that whoever receives has
    /// time to take the new one. Not safe to repeat: each call makes another secret, and only the last two are used.
    #[oai(
        path = "/operator/webhooks/:endpointId/secret",
        method = "post",
        operation_id = "RotateWebhookSecret",
        tag = "Tag::Webhooks"
    )]
    async fn rotate_webhook_secret(
        &self,
        request: OperatorRequest,
        path: PathId<EndpointId>,
    ) -> Result<Rotated, Failed<Rotate>> {
        let store = self.0.admit::<Rotate>(&request)?;
        let (settings, id) = (self.0.webhooks()?, named(&path)?);
        let secret = WebhookSecret::from_random(random::key_bits());
        let to = EndpointChange::Rotate(settings.keys.seal(id, &secret, random::nonce()));
        let ChangeEndpointOutcome::Changed(webhook) =
            store.run(ChangeEndpoint { id, to, stamp: request.stamp() }).await?
        else {
            return Err(not_found(Resource::Webhook).into());
        };
        settings.deliveries.changed(id);
        let former_secret_until = webhook.endpoint.secrets.former.map(|(_, end)| Time(end));
        Ok(Rotated::Secret(Json(RotatedSecret { secret: secret.reveal(), former_secret_until })))
    }
}
