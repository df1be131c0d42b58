//! `ListOffers`: the offers of a partner's application (contract 2.13).

use super::parameters::{AFTER, LIMIT, STATUS};
use super::query::Query;
use super::reads::failures;
use super::{Area, Failed, Operation, Parameter, PathId, Reads};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::fields::one_of;
use crate::wire::json::Json;
use crate::wire::offer::OfferList;
use lendpay_domain::ApplicationId;
use lendpay_domain::offer::Status;
use lendpay_domain::query::{FindOffers, OfferCursor, OffersOf};
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use std::sync::Arc;

pub(crate) struct ListOffersApi<S>(pub Arc<Reads<S>>);

pub(crate) struct ListOffers;

#[derive(ApiResponse)]
enum Listed {
    /// A page of the offers.
    #[oai(status = 200)]
    Offers(Json<OfferList>),
}

impl Operation for ListOffers {
    const ID: &'static str = "ListOffers";
    const SHAPE: Shape = Shape::Lending;
    const QUERY: &'static [Parameter] = &[STATUS, AFTER, LIMIT];

    fn failures() -> Vec<Failure> {
        failures::<Self>(Scope::ReadOffers, [Failure::OfferNotFound])
    }
}

#[OpenApi]
impl<S: Commands + Queries> ListOffersApi<S> {
    /// List an application's offers
    ///
    /// In the order of their identifiers, as they are now: one whose `expiryAt` has passed shows as Expired. With a filter
    /// a page may be short, or empty, and yet have a `next`: go on until `next` is null.
    #[oai(
        path = "/lending/applications/:applicationId/offers",
        method = "get",
        operation_id = "ListOffers",
        tag = "Area::Lending"
    )]
    async fn list_offers(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::ReadOffers")] _token: OAuth2,
        path: PathId<ApplicationId>,
        query: Query,
    ) -> Result<Listed, Failed<ListOffers>> {
        let (store, caller, _turn) = self.0.admit(&credentials, Scope::ReadOffers, &context).await?;
        let application = path.0.ok_or(Failure::OfferNotFound)?;
        let found = store.find_application(application).await?;
        found.filter(|found| found.partner == caller.partner).ok_or(Failure::OfferNotFound)?;
        let mut parameters = query.of::<ListOffers>();
        let status = parameters.get(&STATUS, |text| one_of(Some(text), Status::ALL, Status::name));
        // A cursor of another application's list is none of this one's.
        let cursor = |text: &str| OfferCursor::parse(text).filter(|cursor| cursor.application == application);
        let window = parameters.window(cursor)?;
        let of = OffersOf::Application(application);
        let page = store.find_offers(FindOffers { of, status, expires_before: None, now: context.at, window }).await?;
        Ok(Listed::Offers(Json(page.into())))
    }
}
