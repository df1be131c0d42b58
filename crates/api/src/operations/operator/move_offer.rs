//! `DeclineOffer`, `AdvanceOffer`, `ArchiveOffer`: the operator's moves in the life of an offer (contract 2.1).

use super::*;
use crate::wire::operator_offer::{NewDecline, OperatorOffer};
use lendpay_domain::command::{MoveOffer, MoveOutcome};
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;
use lendpay_domain::text::Reason;

pub(crate) struct MoveOfferApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
pub(crate) enum Moved {
    /// The offer as it is now.
    #[oai(status = 200)]
    Offer(Json<OperatorOffer>),
}

/// An operation for each move.
macro_rules! moves {
    ($($name:ident = $id:literal for $role:ident: $from:ident to $to:ident, $failures:expr;)+) => {$(
        pub(crate) struct $name;

        impl Operation for $name {
            const ID: &'static str = $id;
            const ROLE: Option<Role> = Some(Role::$role);

            fn failures() -> Vec<Failure> {
                let illegal = IllegalMove { from: Status::$from, to: Status::$to, indicative: false };
                let more = [not_found(Resource::Offer), OperatorFailure::IllegalMove(illegal).into()];
                let failures: fn([Failure; 2]) -> Vec<Failure> = $failures;
                failures(more)
            }
        }
    )+};
}

moves! {
    Decline = "DeclineOffer" for Support: CustomerAccepted to CustomerDeclined,
        |more| write_failures("reason: must have 1 to 256 characters", more);
    Advance = "AdvanceOffer" for Lending: Offered to Advanced, without_body;
    Archive = "ArchiveOffer" for Lending: Archived to Archived, without_body;
}

fn without_body(more: [Failure; 2]) -> Vec<Failure> {
    failures(more.into_iter().chain([Failure::Store(StoreError::OutcomeUnknown)]))
}

#[OpenApi]
impl<S: Commands> MoveOfferApi<S> {
    /// Decline an offer
    ///
    /// The customer turned it down. An offer that is Offered becomes CustomerDeclined. The body may be left out. The event
    /// keeps the reason, for operators only.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId/decline",
        method = "post",
        operation_id = "DeclineOffer",
        tag = "Tag::Offers"
    )]
    async fn decline_offer(
        &self,
        request: OperatorRequest,
        path: OfferPath,
        body: Body<NewDecline>,
    ) -> Result<Moved, Failed<Decline>> {
        self.0.admit::<Decline>(&request)?;
        let reason = body.read(request.context.at).await?;
        Ok(self.go::<Decline>(Action::Decline, &request, path, reason).await?)
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
        Ok(self.go::<Advance>(Action::Advance, &request, path, None).await?)
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
        Ok(self.go::<Archive>(Action::Archive, &request, path, None).await?)
    }
}

impl<S: Commands> MoveOfferApi<S> {
    /// Moves the offer, for who may ask for that.
    pub async fn go<O: Operation>(
        &self,
        action: Action,
        request: &OperatorRequest,
        path: OfferPath,
        reason: Option<Reason>,
    ) -> Result<Moved, Failure> {
        let store = self.0.admit::<O>(request)?;
        let (application, offer) = path.both().ok_or_else(|| not_found(Resource::Offer))?;
        let command = MoveOffer { partner: None, application, offer, action, reason, stamp: request.stamp() };
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
