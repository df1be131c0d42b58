//! `GetBuyer`: one buyer.

use super::*;
use crate::wire::json::Json;
use crate::wire::operator_buyer::OperatorBuyer;
use lendpay_domain::BuyerId;
use poem_openapi::param::Path;
use poem_openapi::{ApiResponse, OpenApi};

pub(crate) struct GetBuyerApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetBuyer;

#[derive(ApiResponse)]
enum Found {
    /// The buyer.
    #[oai(status = 200)]
    Buyer(Json<OperatorBuyer>),
}

impl Operation for GetBuyer {
    const ID: &'static str = "GetBuyer";
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        failures([not_there(Thing::Buyer)])
    }
}

#[OpenApi]
impl<S: Queries> GetBuyerApi<S> {
    /// Read a buyer
    ///
    /// With its bank details in full.
    #[oai(path = "/operator/buyers/:buyerId", method = "get", operation_id = "GetBuyer", tag = "Tag::Buyers")]
    async fn get_buyer(
        &self,
        credentials: OperatorCredentials,
        /// The identifier of the buyer.
        #[oai(name = "buyerId")]
        buyer_id: Path<IdText>,
    ) -> Result<Found, Failed<GetBuyer>> {
        let store = self.0.admit(&credentials)?;
        let id = BuyerId::parse(&buyer_id.0.0).ok_or_else(|| not_there(Thing::Buyer))?;
        Ok(Found::Buyer(Json(store.find_buyer(id).await?.ok_or_else(|| not_there(Thing::Buyer))?.into())))
    }
}
