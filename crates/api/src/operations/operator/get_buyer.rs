//! `GetBuyer`: one buyer.

use super::*;
use crate::wire::operator_buyer::OperatorBuyer;
use lendpay_domain::BuyerId;
use lendpay_domain::query::Scope;

pub(crate) struct GetBuyerApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetBuyer;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The buyer.
    #[oai(status = 200)]
    Buyer(Json<OperatorBuyer>),
}

impl Operation for GetBuyer {
    const ID: &'static str = "GetBuyer";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Buyer)])
    }
}

#[OpenApi]
impl<S: Queries> GetBuyerApi<S> {
    /// Read a buyer
    ///
    /// With its bank details in full.
    #[oai(path = "/operator/buyers/:buyerId", method = "get", operation_id = "GetBuyer", tag = "Tag::Buyers")]
    pub async fn get_buyer(&self, request: OperatorRequest, path: PathId<BuyerId>) -> Result<Found, Failed<GetBuyer>> {
        let store = self.0.admit::<GetBuyer>(&request)?;
        let id = path.0.ok_or_else(|| not_found(Resource::Buyer))?;
        Ok(Found::Buyer(Json(
            store.find_buyer(Scope::All, id).await?.ok_or_else(|| not_found(Resource::Buyer))?.into(),
        )))
    }
}
