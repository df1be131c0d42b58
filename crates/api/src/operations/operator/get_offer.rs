//! `GetOffer`: one offer.

use super::*;
use crate::wire::operator_offer::OperatorOffer;

pub(crate) struct GetOfferApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetOffer;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The offer.
    #[oai(status = 200)]
    Offer(Json<OperatorOffer>),
}

impl Operation for GetOffer {
    const ID: &'static str = "GetOffer";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Offer)])
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
    pub async fn get_offer(&self, request: OperatorRequest, path: OfferPath) -> Result<Found, Failed<GetOffer>> {
        let store = self.0.admit::<GetOffer>(&request)?;
        let (application, offer) = path.both().ok_or_else(|| not_found(Resource::Offer))?;
        let found = store.find_offer(application, offer, request.context.at).await?;
        Ok(Found::Offer(Json(found.ok_or_else(|| not_found(Resource::Offer))?.into())))
    }
}
