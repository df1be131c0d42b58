//! `ListKeys`: a partner's keys, without the keys themselves.

use super::parameters::{AFTER, LIMIT, bad_window};
use super::*;
use crate::wire::party::KeyList;
use lendpay_domain::{KeyId, PartnerId};

pub(crate) struct ListKeysApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListKeys;

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// A page of the keys.
    #[oai(status = 200)]
    Keys(Json<KeyList>),
}

impl Operation for ListKeys {
    const ID: &'static str = "ListKeys";
    const QUERY: &'static [Parameter] = &[AFTER, LIMIT];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Partner), bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListKeysApi<S> {
    /// List a partner's keys
    ///
    /// Valid or not, with the time of the last use. A key itself is never shown.
    #[oai(
        path = "/operator/partners/:partnerId/keys",
        method = "get",
        operation_id = "ListKeys",
        tag = "Tag::Partners"
    )]
    pub async fn list_keys(
        &self,
        request: OperatorRequest,
        path: PathId<PartnerId>,
    ) -> Result<Listed, Failed<ListKeys>> {
        let store = self.0.admit::<ListKeys>(&request)?;
        let partner = path.0.ok_or_else(|| not_found(Resource::Partner))?;
        let window = request.query.of::<ListKeys>().window(KeyId::parse)?;
        let page = store.keys_of(partner, window).await?.ok_or_else(|| not_found(Resource::Partner))?;
        Ok(Listed::Keys(Json(page.into())))
    }
}
