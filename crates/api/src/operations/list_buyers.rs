//! `ListBuyers`: a partner's buyers, all or those with a registration number (contract 2.13).

use super::parameters::{AFTER, LIMIT, REGISTRATION_NUMBER};
use super::query::Query;
use super::reads::failures;
use super::{Area, Failed, Operation, Parameter, Reads};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::buyer::BuyerList;
use crate::wire::json::Json;
use lendpay_domain::query::{self, BuyerCursor, FindBuyers};
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use std::convert::Infallible;
use std::sync::Arc;

pub(crate) struct ListBuyersApi<S>(pub Arc<Reads<S>>);

pub(crate) struct ListBuyers;

#[derive(ApiResponse)]
enum Listed {
    /// A page of the buyers.
    #[oai(status = 200)]
    Buyers(Json<BuyerList>),
}

impl Operation for ListBuyers {
    const ID: &'static str = "ListBuyers";
    const SHAPE: Shape = Shape::Payments;
    const QUERY: &'static [Parameter] = &[REGISTRATION_NUMBER, AFTER, LIMIT];

    fn failures() -> Vec<Failure> {
        failures::<Self>(Scope::ReadBuyers, [])
    }
}

#[OpenApi]
impl<S: Commands + Queries> ListBuyersApi<S> {
    /// List buyers
    ///
    /// Yours, in the order of their identifiers. Looking for a registration number, a page may be short, or empty, and yet
    /// have a `next`: go on until `next` is null.
    #[oai(path = "/payments/buyers", method = "get", operation_id = "ListBuyers", tag = "Area::Payments")]
    async fn list_buyers(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::ReadBuyers")] _token: OAuth2,
        query: Query,
    ) -> Result<Listed, Failed<ListBuyers>> {
        let (store, caller, _turn) = self.0.admit(&credentials, Scope::ReadBuyers, &context).await?;
        let mut parameters = query.of::<ListBuyers>();
        let registration_number = parameters.get(&REGISTRATION_NUMBER, |text| Ok::<_, Infallible>(text.to_owned()));
        let window = parameters.window(BuyerCursor::parse)?;
        let scope = query::Scope::Partner(caller.partner);
        let page = store.find_buyers(FindBuyers { scope, registration_number, window }).await?;
        Ok(Listed::Buyers(Json(page.into())))
    }
}
