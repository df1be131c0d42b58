//! `GetOffer`: one offer of a partner (contract 2.13).

use super::query::Query;
use super::reads::failures;
use super::tagged::{IfNoneMatch, tagged};
use super::{Area, Failed, OfferPath, Operation, Reads};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::json::Rendered;
use crate::wire::offer::Offer;
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use std::sync::Arc;

pub(crate) struct GetOfferApi<S>(pub Arc<Reads<S>>);

pub(crate) struct GetOffer;

#[derive(ApiResponse)]
enum Found {
    /// The offer.
    #[oai(status = 200)]
    Offer(
        Rendered<Offer>,
        /// Changes when the offer does. Send it as If-None-Match when you ask again.
        #[oai(header = "ETag")]
        String,
    ),
    /// The offer is as it was when you got the tag in If-None-Match.
    #[oai(status = 304)]
    Unchanged(
        /// The tag that you have.
        #[oai(header = "ETag")]
        String,
    ),
}

impl Operation for GetOffer {
    const ID: &'static str = "GetOffer";
    const SHAPE: Shape = Shape::Lending;

    fn failures() -> Vec<Failure> {
        failures::<Self>(Scope::ReadOffers, [Failure::OfferNotFound])
    }
}

#[OpenApi]
impl<S: Commands + Queries> GetOfferApi<S> {
    /// Read an offer
    ///
    /// As it is now: one whose `expiryAt` has passed shows as Expired.
    #[oai(
        path = "/lending/applications/:applicationId/offers/:offerId",
        method = "get",
        operation_id = "GetOffer",
        tag = "Area::Lending"
    )]
    async fn get_offer(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::ReadOffers")] _token: OAuth2,
        /// The tags of what you have: 304 if one of them is the offer's.
        #[oai(name = "If-None-Match")]
        known: IfNoneMatch,
        path: OfferPath,
        query: Query,
    ) -> Result<Found, Failed<GetOffer>> {
        let (store, caller, _turn) = self.0.admit(&credentials, Scope::ReadOffers, &context).await?;
        let (application, offer) = path.both().ok_or(Failure::OfferNotFound)?;
        let found = store.find_offer(application, offer, context.at).await?;
        let found = found.filter(|found| found.partner == caller.partner).ok_or(Failure::OfferNotFound)?;
        query.of::<GetOffer>().good()?;
        let (body, tag) = tagged(&Offer::from(found));
        Ok(if known.has(&tag) { Found::Unchanged(tag) } else { Found::Offer(body, tag) })
    }
}
