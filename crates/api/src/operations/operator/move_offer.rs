//! `DeclineOffer`, `AdvanceOffer`, `ArchiveOffer`: the operator's moves in the life of an offer (contract 2.1).

use super::*;
use crate::wire::operator_offer::OperatorOffer;
use lendpay_domain::command::{MoveOffer, MoveOutcome};
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;

pub(crate) struct MoveOfferApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Moved {
    /// The offer as it is now.
    #[oai(status = 200)]
    Offer(Json<OperatorOffer>),
}

/// An operation for each move.
macro_rules! moves {
    ($($name:ident = $id:literal for $role:ident: $from:ident to $to:ident;)+) => {$(
        pub(crate) struct $name;

        impl Operation for $name {
            const ID: &'static str = $id;
            const ROLE: Option<Role> = Some(Role::$role);

            fn failures() -> Vec<Failure> {
                let illegal = IllegalMove { from: Status::$from, to: Status::$to, indicative: false };
                failures([
                    not_found(Resource::Offer),
                    OperatorFailure::IllegalMove(illegal).into(),
                    Failure::Store(StoreError::OutcomeUnknown),
                ])
            }
        }
    )+};
}

moves! {
    Decline = "DeclineOffer" for Support: CustomerAccepted to CustomerDeclined;
    Advance = "AdvanceOffer" for Lending: Offered to Advanced;
    Archive = "ArchiveOffer" for Lending: Archived to Archived;
}

#[OpenApi]
impl<S: Commands> MoveOfferApi<S> {
    /// Decline an offer
    ///
    /// The customer turned it down. An offer that is Offered becomes CustomerDeclined.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId/decline",
        method = "post",
        operation_id = "DeclineOffer",
        tag = "Tag::Offers"
    )]
    async fn decline_offer(&self, request: OperatorRequest, path: OfferPath) -> Result<Moved, Failed<Decline>> {
        Ok(self.go::<Decline>(Action::Decline, &request, path).await?)
    }

    /// Advance an offer
    ///
    /// The money has been paid out. An offer that is CustomerAccepted becomes Advanced, unless it is Indicative.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId/advance",
        method = "post",
        operation_id = "AdvanceOffer",
        tag = "Tag::Offers"
    )]
    async fn advance_offer(&self, request: OperatorRequest, path: OfferPath) -> Result<Moved, Failed<Advance>> {
        Ok(self.go::<Advance>(Action::Advance, &request, path).await?)
    }

    /// Archive an offer
    ///
    /// Archived is final. Any offer but an archived one becomes Archived.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId/archive",
        method = "post",
        operation_id = "ArchiveOffer",
        tag = "Tag::Offers"
    )]
    async fn archive_offer(&self, request: OperatorRequest, path: OfferPath) -> Result<Moved, Failed<Archive>> {
        Ok(self.go::<Archive>(Action::Archive, &request, path).await?)
    }
}

impl<S: Commands> MoveOfferApi<S> {
    async fn go<O: Operation>(
        &self,
        action: Action,
        request: &OperatorRequest,
        path: OfferPath,
    ) -> Result<Moved, Failure> {
        let store = self.0.admit::<O>(request)?;
        let (application, offer) = path.both().ok_or_else(|| not_found(Resource::Offer))?;
        let command = MoveOffer { partner: None, application, offer, action, stamp: request.stamp() };
        match store.run(command).await? {
            MoveOutcome::Done(offer) => Ok(Moved::Offer(Json(offer.into()))),
            MoveOutcome::Unchanged(offer) => {
                request.context.set_unchanged();
                Ok(Moved::Offer(Json(offer.into())))
            }
            MoveOutcome::Illegal(illegal) => Err(OperatorFailure::IllegalMove(illegal).into()),
            MoveOutcome::NotFound => Err(not_found(Resource::Offer)),
        }
    }
}
