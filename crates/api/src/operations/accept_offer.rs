//! `AcceptOffer`: a partner accepts a loan offer on behalf of its customer (contract 1.2, 2.1).

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

pub(crate) struct AcceptOfferApi<S> {
    pub store: Arc<S>,
    pub gate: Gate,
}

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
        let refused =
            |from| Failure::OfferRefused(IllegalMove { from, to: Status::CustomerAccepted, indicative: false });
        vec![
            Failure::BadRequest,
            Failure::NoCredentials,
            Failure::InvalidApiKey,
            Failure::InvalidToken,
            Failure::InsufficientScope(Scope::AcceptOffers),
            Failure::ReadOnlyKey,
            Failure::MissingScope(Scope::AcceptOffers),
            Failure::RateLimited(1),
            Failure::OfferNotFound,
            Failure::Timeout,
            refused(Status::Expired),
            refused(Status::CustomerDeclined),
            refused(Status::Archived),
            Failure::TooLarge,
            Failure::Internal,
            Failure::Store(StoreError::Unavailable),
            Failure::Store(StoreError::OutcomeUnknown),
        ]
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
        let caller = self.gate.admit(&*self.store, &credentials, Scope::AcceptOffers, &context).await?;
        body.read().await?;
        let _turn = self.gate.turns.take(caller.partner).await?;
        let (application, offer) = path.both().ok_or(Failure::OfferNotFound)?;
        let (partner, stamp) = (Some(caller.partner), context.stamp(caller.actor));
        let command = MoveOffer { partner, application, offer, action: Action::Accept, stamp };
        match self.store.run(command).await? {
            MoveOutcome::Done(offer) => Ok(Accepted::Offer(Json(offer.into()))),
            MoveOutcome::Illegal(illegal) => Err(Failure::OfferRefused(illegal).into()),
            MoveOutcome::NotFound => Err(Failure::OfferNotFound.into()),
        }
    }
}
