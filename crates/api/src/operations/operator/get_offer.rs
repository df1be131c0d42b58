//! `GetOffer`: one offer.

use super::*;
use crate::wire::json::Json;
use crate::wire::operator_offer::OperatorOffer;
use lendpay_domain::{ApplicationId, OfferId};
use poem_openapi::param::Path;
use poem_openapi::{ApiResponse, OpenApi};

pub(crate) struct GetOfferApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetOffer;

#[derive(ApiResponse)]
enum Found {
    /// The offer.
    #[oai(status = 200)]
    Offer(Json<OperatorOffer>),
}

impl Operation for GetOffer {
    const ID: &'static str = "GetOffer";
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        failures([not_there(Thing::Offer)])
    }
}

#[OpenApi]
impl<S: Queries> GetOfferApi<S> {
    /// Read an offer
    ///
    /// As it is now: one whose `expiryAt` has passed shows as Expired.
    #[oai(
        path = "/operator/applications/:applicationId/offers/:offerId",
        method = "get",
        operation_id = "GetOffer",
        tag = "Tag::Offers"
    )]
    async fn get_offer(
        &self,
        context: Context,
        credentials: OperatorCredentials,
        /// The identifier of the application.
        #[oai(name = "applicationId")]
        application_id: Path<IdText>,
        /// The identifier of the offer.
        #[oai(name = "offerId")]
        offer_id: Path<IdText>,
    ) -> Result<Found, Failed<GetOffer>> {
        let store = self.0.admit(&credentials)?;
        let ids = ApplicationId::parse(&application_id.0.0).zip(OfferId::parse(&offer_id.0.0));
        let (application, offer) = ids.ok_or_else(|| not_there(Thing::Offer))?;
        let found = store.find_offer(application, offer, context.at).await?;
        Ok(Found::Offer(Json(found.ok_or_else(|| not_there(Thing::Offer))?.into())))
    }
}
