//! `CreateKey`: makes an API key for a partner. Its answer is the only one that shows the key.

use super::*;
use crate::random;
use crate::wire::party::{MadeKey, NewKey};
use lendpay_domain::PartnerId;
use lendpay_domain::command::{AddKey, AddKeyOutcome};
use lendpay_domain::key::{ApiKey, KeyRecord};

pub(crate) struct CreateKeyApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Created {
    /// The key. It works from now on, and is never shown again.
    #[oai(status = 201)]
    Key(Json<MadeKey>),
}

impl Operation for AddKey {
    const ID: &'static str = "CreateKey";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        write_failures("areas: must be an array of at least one area", [not_found(Resource::Partner)])
    }
}

#[OpenApi]
impl<S: Commands> CreateKeyApi<S> {
    /// Create a key
    ///
    /// A partner may have several keys at once, so that they can be replaced without a gap. Not safe to repeat: each
    /// call makes another key.
    #[oai(
        path = "/operator/partners/:partnerId/keys",
        method = "post",
        operation_id = "CreateKey",
        tag = "Tag::Partners"
    )]
    async fn create_key(
        &self,
        request: OperatorRequest,
        path: PathId<PartnerId>,
        body: Body<NewKey>,
    ) -> Result<Created, Failed<AddKey>> {
        let store = self.0.admit::<AddKey>(&request)?;
        let partner = path.0.ok_or_else(|| not_found(Resource::Partner))?;
        let (name, areas, access, expires_at) = body.read(request.context.at).await?;
        let (secret, id) = (ApiKey::from_random(random::key_bits()), random::key_id(request.context.at));
        let (hash, created_at) = (secret.hash(), request.context.at);
        let key = KeyRecord { id, partner, hash, name, areas, access, created_at, expires_at, revoked_at: None };
        let answer = MadeKey::new(&secret, &key);
        match store.run(AddKey { key, stamp: request.stamp() }).await? {
            AddKeyOutcome::Added => Ok(Created::Key(Json(answer))),
            AddKeyOutcome::NoPartner => Err(not_found(Resource::Partner).into()),
        }
    }
}
