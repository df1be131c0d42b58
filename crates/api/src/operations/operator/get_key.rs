//! `GetKey`: one key, whosever it is.

use super::*;
use crate::wire::party::OwnedKey;
use lendpay_domain::KeyId;

pub(crate) struct GetKeyApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetKey;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The key.
    #[oai(status = 200)]
    Key(Json<OwnedKey>),
}

impl Operation for GetKey {
    const ID: &'static str = "GetKey";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Key)])
    }
}

#[OpenApi]
impl<S: Queries> GetKeyApi<S> {
    /// Read a key
    ///
    /// Says which partner has it, as logs and events name keys by their identifiers. A key itself is never shown.
    #[oai(path = "/operator/keys/:keyId", method = "get", operation_id = "GetKey", tag = "Tag::Partners")]
    pub async fn get_key(&self, request: OperatorRequest, path: PathId<KeyId>) -> Result<Found, Failed<GetKey>> {
        let store = self.0.admit::<GetKey>(&request)?;
        let id = path.0.ok_or_else(|| not_found(Resource::Key))?;
        let found = store.key_with_id(id).await?.ok_or_else(|| not_found(Resource::Key))?;
        Ok(Found::Key(Json(found.into())))
    }
}
