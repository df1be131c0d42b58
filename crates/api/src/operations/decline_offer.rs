//! `DeclineOffer`: a partner says that its customer does not want a loan offer (contract 2.1, 2.13).

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

pub(crate) struct DeclineOfferApi<S>(pub Arc<Moves<S>>);

pub(crate) struct DeclineOffer;

#[derive(ApiResponse)]
enum Declined {
    /// The offer, declined now or already.
    #[oai(status = 200)]
    Offer(Json<Offer>),
}

impl Operation for DeclineOffer {
    const ID: &'static str = "DeclineOffer";
    const SHAPE: Shape = Shape::Lending;

    fn failures() -> Vec<Failure> {
        failures(
            Scope::DeclineOffers,
            Status::CustomerDeclined,
            [Status::CustomerAccepted, Status::Expired, Status::Archived],
        )
    }
}

#[OpenApi]
impl<S: Commands + Queries> DeclineOfferApi<S> {
    /// Decline an offer
    ///
    /// Says that the customer does not want a loan offer, and returns the offer. Repeating the call is safe: an offer that
    /// is declined already is returned as it stands. The body is ignored.
    #[oai(
        path = "/lending/applications/:applicationId/offers/:offerId/decline",
        method = "post",
        operation_id = "DeclineOffer",
        tag = "Area::Lending"
    )]
    async fn decline_offer(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::DeclineOffers")] _token: OAuth2,
        path: OfferPath,
        body: Ignored,
    ) -> Result<Declined, Failed<DeclineOffer>> {
        let asked = Asked { context, credentials, path, body };
        Ok(Declined::Offer(self.0.run(asked, Scope::DeclineOffers, Action::Decline).await?))
    }
}
