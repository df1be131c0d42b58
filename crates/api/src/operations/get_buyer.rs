//! `GetBuyer`: one buyer of a partner, which `Location` of a creation names (contract 2.3, 2.13).

use super::query::Query;
use super::reads::failures;
use super::tagged::{IfNoneMatch, tagged};
use super::{Area, Failed, Operation, PathId, Reads};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::buyer::Buyer;
use crate::wire::json::Rendered;
use lendpay_domain::store::{Commands, Queries};
use lendpay_domain::{BuyerId, query};
use poem_openapi::{ApiResponse, OpenApi};
use std::sync::Arc;

pub(crate) struct GetBuyerApi<S>(pub Arc<Reads<S>>);

pub(crate) struct GetBuyer;

#[derive(ApiResponse)]
enum Found {
    /// The buyer.
    #[oai(status = 200)]
    Buyer(
        Rendered<Buyer>,
        /// Names this content. Send it as If-None-Match when you ask again.
        #[oai(header = "ETag")]
        String,
    ),
    /// The buyer is as it was when you got the tag in If-None-Match.
    #[oai(status = 304)]
    Unchanged(
        /// The tag that you have.
        #[oai(header = "ETag")]
        String,
    ),
}

impl Operation for GetBuyer {
    const ID: &'static str = "GetBuyer";
    const SHAPE: Shape = Shape::Payments;

    fn failures() -> Vec<Failure> {
        failures::<Self>(Scope::ReadBuyers, [Failure::BuyerNotFound])
    }
}

#[OpenApi]
impl<S: Commands + Queries> GetBuyerApi<S> {
    /// Read a buyer
    ///
    /// As CreateBuyer answered it: account number and IBAN are masked but for their last four characters.
    #[oai(path = "/payments/buyers/:buyerId", method = "get", operation_id = "GetBuyer", tag = "Area::Payments")]
    async fn get_buyer(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::ReadBuyers")] _token: OAuth2,
        /// The tags of what you have: 304 if one of them is the buyer's.
        #[oai(name = "If-None-Match")]
        known: IfNoneMatch,
        path: PathId<BuyerId>,
        query: Query,
    ) -> Result<Found, Failed<GetBuyer>> {
        let (store, caller, _turn) = self.0.admit(&credentials, Scope::ReadBuyers, &context).await?;
        let id = path.0.ok_or(Failure::BuyerNotFound)?;
        let found = store.find_buyer(query::Scope::Partner(caller.partner), id).await?.ok_or(Failure::BuyerNotFound)?;
        query.of::<GetBuyer>().good()?;
        let (body, tag) = tagged(&Buyer::from(found));
        Ok(if known.has(&tag) { Found::Unchanged(tag) } else { Found::Buyer(body, tag) })
    }
}
