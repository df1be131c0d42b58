//! `PutOffer`: makes an offer, or replaces its terms while it is Offered.

use super::*;
use crate::wire::json::Json;
use crate::wire::operator_offer::{NewOffer, OperatorOffer};
use lendpay_domain::command::{PutOffer, PutOfferOutcome};
use lendpay_domain::offer::Status;
use lendpay_domain::{ApplicationId, OfferId};
use poem_openapi::param::Path;
use poem_openapi::{ApiResponse, OpenApi};

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
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        let more = [not_there(Thing::Application), OperatorFailure::TermsFixed(Status::CustomerAccepted).into()];
        write_failures("annualPercentageRate: must be between 0 and 1000", more)
    }
}

#[OpenApi]
impl<S: Commands> PutOfferApi<S> {
    /// Create an offer or replace its terms
    ///
    /// You choose the identifier. The terms can be replaced while the offer is Offered. Repeating the call is safe.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId",
        method = "put",
        operation_id = "PutOffer",
        tag = "Tag::Offers"
    )]
    async fn put_offer(
        &self,
        context: Context,
        credentials: OperatorCredentials,
        /// The identifier of the application.
        #[oai(name = "applicationId")]
        application_id: Path<IdText>,
        /// The identifier of the offer.
        #[oai(name = "offerId")]
        offer_id: Path<IdText>,
        body: Body<NewOffer>,
    ) -> Result<Put, Failed<PutOffer>> {
        let store = self.0.admit(&credentials)?;
        let application = ApplicationId::parse(&application_id.0.0).ok_or_else(|| not_there(Thing::Application))?;
        let offer = new_id(OfferId::parse(&offer_id.0.0), "offerId")?;
        let command = PutOffer { application, offer, terms: body.read()?, stamp: stamp(&context) };
        match store.run(command).await? {
            PutOfferOutcome::Created(offer) => Ok(Put::Created(Json(offer.into()))),
            PutOfferOutcome::Replaced(offer) => Ok(Put::Replaced(Json(offer.seen_at(context.at).into()))),
            PutOfferOutcome::Fixed(status) => Err(Failure::from(OperatorFailure::TermsFixed(status)).into()),
            PutOfferOutcome::NoApplication => Err(not_there(Thing::Application).into()),
        }
    }
}
