//! `ListKeys`: a partner's keys, without the keys themselves.

use super::parameters::{bad_window, window};
use super::*;
use crate::wire::json::Json;
use crate::wire::party::KeyList;
use lendpay_domain::{KeyId, PartnerId};
use poem_openapi::param::{Path, Query};
use poem_openapi::{ApiResponse, OpenApi};

pub(crate) struct ListKeysApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListKeys;

#[derive(ApiResponse)]
enum Listed {
    /// A page of the keys.
    #[oai(status = 200)]
    Keys(Json<KeyList>),
}

impl Operation for ListKeys {
    const ID: &'static str = "ListKeys";
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        failures([not_there(Thing::Partner), bad_window()])
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
    async fn list_keys(
        &self,
        credentials: OperatorCredentials,
        /// The identifier of the partner.
        #[oai(name = "partnerId")]
        partner_id: Path<IdText>,
        /// `next` of the page before.
        after: Query<Option<After>>,
        /// The most items that are wanted.
        limit: Query<Option<Limit>>,
    ) -> Result<Listed, Failed<ListKeys>> {
        let store = self.0.admit(&credentials)?;
        let partner = PartnerId::parse(&partner_id.0.0).ok_or_else(|| not_there(Thing::Partner))?;
        let window = window(after.0.as_ref(), limit.0.as_ref(), KeyId::parse)?;
        let page = store.keys_of(partner, window).await?.ok_or_else(|| not_there(Thing::Partner))?;
        let items = page.items.into_iter().map(Into::into).collect();
        Ok(Listed::Keys(Json(KeyList { items, next: page.next.map(|id| id.to_string()) })))
    }
}
