//! `PutOffer`: creates an offer, or replaces its terms while it is Offered.

use super::*;
use crate::wire::operator_offer::{NewOffer, OperatorOffer};
use lendpay_domain::command::{PutOffer, PutOfferOutcome};
use lendpay_domain::offer::Status;

pub(crate) struct PutOfferApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Put {
    /// The offer has these terms now.
    #[oai(status = 200)]
    Replaced(Json<OperatorOffer>),
    /// A new offer, Offered.
    #[oai(status = 201)]
    Created(Json<OperatorOffer>),
}

impl Operation for PutOffer {
    const ID: &'static str = "PutOffer";
    const ROLE: Option<Role> = Some(Role::Lending);

    fn failures() -> Vec<Failure> {
        let more = [not_found(Resource::Application), OperatorFailure::TermsFixed(Status::CustomerAccepted).into()];
        write_failures("annualPercentageRate: must be a fraction below 10: 0.09 is nine percent", more)
    }
}

#[OpenApi]
impl<S: Commands> PutOfferApi<S> {
    /// Create an offer or replace its terms
    ///
    /// You choose the identifier. The terms can be replaced while the offer is Offered. Repeating the call is safe: equal
    /// terms change nothing, and are no event.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId",
        method = "put",
        operation_id = "PutOffer",
        tag = "Tag::Offers"
    )]
    async fn put_offer(
        &self,
        request: OperatorRequest,
        path: OfferPath,
        body: Body<NewOffer>,
    ) -> Result<Put, Failed<PutOffer>> {
        let store = self.0.admit::<PutOffer>(&request)?;
        let application = path.0.ok_or_else(|| not_found(Resource::Application))?;
        let offer = new_id(path.1, "offerId")?;
        let command =
            PutOffer { application, offer, terms: body.read(request.context.at).await?, stamp: request.stamp() };
        match store.run(command).await? {
            PutOfferOutcome::Created(offer) => Ok(Put::Created(Json(offer.into()))),
            PutOfferOutcome::Replaced(offer) | PutOfferOutcome::Unchanged(offer) => {
                Ok(Put::Replaced(Json(offer.seen_at(request.context.at).into())))
            }
            PutOfferOutcome::Fixed { status, .. } => Err(Failure::from(OperatorFailure::TermsFixed(status)).into()),
            PutOfferOutcome::NoApplication => Err(not_found(Resource::Application).into()),
        }
    }
}
