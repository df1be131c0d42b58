//! `ListBuyers`: buyers, all or those with a registration number.

use super::parameters::{bad_window, window};
use super::*;
use crate::wire::json::Json;
use crate::wire::operator_buyer::BuyerList;
use lendpay_domain::BuyerId;
use lendpay_domain::store::FindBuyers;
use poem_openapi::param::Query;
use poem_openapi::{ApiResponse, OpenApi};

pub(crate) struct ListBuyersApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Listed {
    /// A page of the buyers.
    #[oai(status = 200)]
    Buyers(Json<BuyerList>),
}

impl Operation for FindBuyers {
    const ID: &'static str = "ListBuyers";
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        failures([bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListBuyersApi<S> {
    /// List buyers
    ///
    /// With their bank details in full. Looking for a registration number, a page may be short, or empty, and yet have a
    /// `next`: go on until `next` is null.
    #[oai(path = "/operator/buyers", method = "get", operation_id = "ListBuyers", tag = "Tag::Buyers")]
    async fn list_buyers(
        &self,
        credentials: OperatorCredentials,
        /// `next` of the page before.
        after: Query<Option<After>>,
        /// The most items that are wanted.
        limit: Query<Option<Limit>>,
        /// Only buyers with exactly this registration number.
        #[oai(name = "registrationNumber")]
        registration_number: Query<Option<String>>,
    ) -> Result<Listed, Failed<FindBuyers>> {
        let store = self.0.admit(&credentials)?;
        let window = window(after.0.as_ref(), limit.0.as_ref(), BuyerId::parse)?;
        let page = store.find_buyers(FindBuyers { registration_number: registration_number.0, window }).await?;
        let items = page.items.into_iter().map(Into::into).collect();
        Ok(Listed::Buyers(Json(BuyerList { items, next: page.next.map(|id| id.to_string()) })))
    }
}
