//! The operations on endpoints of webhooks (contract 2.15).

pub(crate) mod add;
pub(crate) mod change;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod rotate;
pub(crate) mod test;

use super::*;
use lendpay_domain::EndpointId;
use lendpay_domain::query::EventTypes;
use lendpay_domain::webhook::{BadUrl, EndpointUrl, Owner};

/// The endpoint that a path names.
fn named(path: &PathId<EndpointId>) -> Result<EndpointId, Failure> {
    path.0.ok_or_else(|| not_found(Resource::Webhook))
}

/// What every operation on an endpoint can give.
fn endpoint_failures(more: impl IntoIterator<Item = Failure>) -> Vec<Failure> {
    let common = [not_found(Resource::Webhook), OperatorFailure::WebhooksOff.into()];
    failures(common.into_iter().chain(more))
}

fn bad_url(problem: BadUrl) -> Failure {
    OperatorFailure::BadFields(vec![format!("url: {problem}")]).into()
}

/// Checks what a setting and the owner say about an address and types.
fn allowed(
    settings: &WebhookSettings,
    owner: Owner,
    url: EndpointUrl,
    types: Option<EventTypes>,
) -> Result<EndpointUrl, Failure> {
    if types.is_some_and(|types| types.and(owner.types()) != types) {
        let names: Vec<_> = owner.types().names().collect();
        let problem = format!("types: each must be one of {}, for a partner", names.join(", "));
        return Err(OperatorFailure::BadFields(vec![problem]).into());
    }
    url.allowed(settings.plain_http).map_err(bad_url)
}

/// The last sequence that the store has given.
async fn last(store: &impl Queries) -> Answer<u64> {
    const END: u64 = i64::MAX.unsigned_abs();
    Ok(first_events(store, FindEvents::all(END, 1)).await?.last)
}

/// A sequence after which to deliver, which is not past the end.
async fn after(store: &impl Queries, wanted: Option<u64>) -> Result<u64, Failure> {
    let last = last(store).await?;
    match wanted {
        Some(after) if after > last => Err(OperatorFailure::CursorUnknown.into()),
        after => Ok(after.unwrap_or(last)),
    }
}
