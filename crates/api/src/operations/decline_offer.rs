//! `DeclineOffer`: a partner says that its customer does not want a loan offer (contract 2.1, 2.13).

use super::{Area, Failed, Ignored, OfferPath, Operation};
use crate::caller::{Credentials, Gate};
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::json::Json;
use crate::wire::offer::Offer;
use lendpay_domain::StoreError;
use lendpay_domain::command::{MoveOffer, MoveOutcome};
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use std::sync::Arc;

pub(crate) struct DeclineOfferApi<S> {
    pub store: Arc<S>,
    pub gate: Gate,
}

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
        let refused =
            |from| Failure::OfferRefused(IllegalMove { from, to: Status::CustomerDeclined, indicative: false });
        vec![
            Failure::BadRequest,
            Failure::NoCredentials,
            Failure::InvalidApiKey,
            Failure::InvalidToken,
            Failure::InsufficientScope(Scope::DeclineOffers),
            Failure::ReadOnlyKey,
            Failure::MissingScope(Scope::DeclineOffers),
            Failure::RateLimited(1),
            Failure::OfferNotFound,
            Failure::Timeout,
            refused(Status::CustomerAccepted),
            refused(Status::Expired),
            refused(Status::Archived),
            Failure::TooLarge,
            Failure::Internal,
            Failure::Store(StoreError::Unavailable),
            Failure::Store(StoreError::OutcomeUnknown),
        ]
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
        let caller = self.gate.admit(&*self.store, &credentials, Scope::DeclineOffers, &context).await?;
        body.read().await?;
        let _turn = self.gate.turns.take(caller.partner).await?;
        let (application, offer) = path.both().ok_or(Failure::OfferNotFound)?;
        let (partner, stamp) = (Some(caller.partner), context.stamp(caller.actor));
        let command = MoveOffer { partner, application, offer, action: Action::Decline, stamp };
        match self.store.run(command).await? {
            MoveOutcome::Done(offer) => Ok(Declined::Offer(Json(offer.into()))),
            MoveOutcome::Illegal(illegal) => Err(Failure::OfferRefused(illegal).into()),
            MoveOutcome::NotFound => Err(Failure::OfferNotFound.into()),
        }
    }
}
