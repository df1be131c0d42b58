//! `AcceptOffer`: a partner accepts a loan offer on behalf of its customer (contract 1.2, 2.1).

use super::move_offer::{Asked, Moves, failures};
use super::{Area, Failed, Ignored, OfferPath, Operation};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::json::Json;
use crate::wire::offer::Offer;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Status;
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use std::sync::Arc;

pub(crate) struct AcceptOfferApi<S>(pub Arc<Moves<S>>);

pub(crate) struct AcceptOffer;

#[derive(ApiResponse)]
enum Accepted {
    /// The offer, accepted now or already.
    #[oai(status = 200)]
    Offer(Json<Offer>),
}

impl Operation for AcceptOffer {
    const ID: &'static str = "AcceptOffer";
    const SHAPE: Shape = Shape::Lending;

    fn failures() -> Vec<Failure> {
        failures(
            Scope::AcceptOffers,
            Status::CustomerAccepted,
            [Status::Expired, Status::CustomerDeclined, Status::Archived],
        )
    }
}

#[OpenApi]
impl<S: Commands + Queries> AcceptOfferApi<S> {
    /// Accept an offer
    ///
    /// Accepts a loan offer that belongs to an application and returns the offer. Repeating the call is safe: an offer
    /// that is accepted already is returned as it stands. The body is ignored.
    #[oai(
        path = "/lending/applications/:applicationId/offers/:offerId/accept",
        method = "post",
        operation_id = "AcceptOffer",
        tag = "Area::Lending"
    )]
    async fn accept_offer(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::AcceptOffers")] _token: OAuth2,
        path: OfferPath,
        body: Ignored,
    ) -> Result<Accepted, Failed<AcceptOffer>> {
        let asked = Asked { context, credentials, path, body };
        Ok(Accepted::Offer(self.0.run(asked, Scope::AcceptOffers, Action::Accept).await?))
    }
}
