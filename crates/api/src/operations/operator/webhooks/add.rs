//! `AddWebhook`: adds an endpoint. Its answer, and those of rotations, are the only ones that show a secret.

use super::*;
use crate::random;
use crate::webhook_secrets::WebhookSecret;
use crate::wire::endpoint::{MadeWebhook, NewWebhook, Values};
use lendpay_domain::command::{AddEndpoint, AddEndpointOutcome};
use lendpay_domain::webhook::{Endpoint, Secrets, State};

pub(crate) struct AddWebhookApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Added {
    /// The endpoint, with its secret, which is never shown again.
    #[oai(status = 201)]
    Endpoint(Json<MadeWebhook>),
}

impl Operation for AddEndpoint {
    const ID: &'static str = "AddWebhook";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        let more =
            [not_found(Resource::Partner), OperatorFailure::WebhooksOff.into(), OperatorFailure::CursorUnknown.into()];
        write_failures("url: must begin with https://", more)
    }
}

#[OpenApi]
impl<S: Commands + Queries> AddWebhookApi<S> {
    /// Add a webhook endpoint
    ///
    /// Events are sent to it as the Standard Webhooks specification says, at least once each. Give the secret to whoever
    /// receives them. Not safe to repeat: each call adds another endpoint.
    #[oai(path = "/operator/webhooks", method = "post", operation_id = "AddWebhook", tag = "Tag::Webhooks")]
    async fn add_webhook(
        &self,
        request: OperatorRequest,
        body: Body<NewWebhook>,
    ) -> Result<Added, Failed<AddEndpoint>> {
        let store = self.0.admit::<AddEndpoint>(&request)?;
        let settings = self.0.webhooks()?;
        let (owner, Values { url, types, in_flight }, wanted) = body.read(request.context.at).await?;
        let url = allowed(settings, owner, url, types)?;
        let after = after(store, wanted).await?;
        let (id, created_at) = (random::endpoint_id(request.context.at), request.context.at);
        let secret = WebhookSecret::from_random(random::key_bits());
        let current = Some(settings.keys.seal(id, &secret, random::nonce()));
        let (set, secrets) = (State::Active, Secrets { current, former: None });
        let endpoint = Endpoint { id, owner, url, types, in_flight, set, created_at, secrets };
        let answer = MadeWebhook { webhook: endpoint.clone().into(), secret: secret.reveal() };
        match store.run(AddEndpoint { endpoint, after, stamp: request.stamp() }).await? {
            AddEndpointOutcome::Added => {
                settings.deliveries.changed(id);
                Ok(Added::Endpoint(Json(answer)))
            }
            AddEndpointOutcome::NoPartner => Err(not_found(Resource::Partner).into()),
        }
    }
}
