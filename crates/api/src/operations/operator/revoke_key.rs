//! `RevokeKey`: a key is refused from the next request on.

use super::*;
use lendpay_domain::command::{RevokeKey, RevokeKeyOutcome};
use lendpay_domain::{KeyId, PartnerId};

pub(crate) struct RevokeKeyApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Revoked {
    /// The key is revoked, now or already.
    #[oai(status = 204)]
    Now,
}

impl Operation for RevokeKey {
    const ID: &'static str = "RevokeKey";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Key), Failure::Store(StoreError::OutcomeUnknown)])
    }
}

#[OpenApi]
impl<S: Commands> RevokeKeyApi<S> {
    /// Revoke a key
    ///
    /// It is refused from the next request on, for good. Repeating the call is safe.
    #[oai(
        path = "/operator/partners/:partnerId/keys/:keyId",
        method = "delete",
        operation_id = "RevokeKey",
        tag = "Tag::Partners"
    )]
    async fn revoke_key(
        &self,
        request: OperatorRequest,
        path: PathIds<PartnerId, KeyId>,
    ) -> Result<Revoked, Failed<RevokeKey>> {
        let store = self.0.admit::<RevokeKey>(&request)?;
        let (partner, key) = path.both().ok_or_else(|| not_found(Resource::Key))?;
        match store.run(RevokeKey { partner, key, stamp: request.stamp() }).await? {
            RevokeKeyOutcome::Revoked => Ok(Revoked::Now),
            RevokeKeyOutcome::NotFound => Err(not_found(Resource::Key).into()),
        }
    }
}
