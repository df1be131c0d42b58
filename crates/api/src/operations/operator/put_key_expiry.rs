//! `PutKeyExpiry`: a key expires earlier than it would.

use super::*;
use crate::wire::party::NewExpiry;
use lendpay_domain::command::{ExpireKey, ExpireKeyOutcome};
use lendpay_domain::{KeyId, PartnerId};

pub(crate) struct PutKeyExpiryApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Put {
    /// The key expires at that moment.
    #[oai(status = 204)]
    Set,
}

impl Operation for ExpireKey {
    const ID: &'static str = "PutKeyExpiry";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        let more = [not_found(Resource::Key), OperatorFailure::KeyEndsEarlier.into()];
        write_failures("expiresAt: must be in the future", more)
    }
}

#[OpenApi]
impl<S: Commands> PutKeyExpiryApi<S> {
    /// Let a key expire
    ///
    /// Until then it goes on working, so that a partner has time to take another. An expiry can be brought forward, and
    /// not put off: a key is never valid for longer than was said once. Repeating the call is safe.
    #[oai(
        path = "/operator/partners/:partnerId/keys/:keyId/expiry",
        method = "put",
        operation_id = "PutKeyExpiry",
        tag = "Tag::Partners"
    )]
    async fn put_key_expiry(
        &self,
        request: OperatorRequest,
        path: PathIds<PartnerId, KeyId>,
        body: Body<NewExpiry>,
    ) -> Result<Put, Failed<ExpireKey>> {
        let store = self.0.admit::<ExpireKey>(&request)?;
        let (partner, key) = path.both().ok_or_else(|| not_found(Resource::Key))?;
        let at = body.read(request.context.at).await?;
        match store.run(ExpireKey { partner, key, at, stamp: request.stamp() }).await? {
            ExpireKeyOutcome::Expires => Ok(Put::Set),
            ExpireKeyOutcome::EndsEarlier => Err(Failure::from(OperatorFailure::KeyEndsEarlier).into()),
            ExpireKeyOutcome::NotFound => Err(not_found(Resource::Key).into()),
        }
    }
}
