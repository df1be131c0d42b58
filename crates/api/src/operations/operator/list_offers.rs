//! `ListOffers`: an application's offers.

use super::parameters::{bad_window, window};
use super::*;
use crate::wire::json::Json;
use crate::wire::operator_offer::OfferList;
use lendpay_domain::{ApplicationId, OfferId};
use poem_openapi::param::{Path, Query};
use poem_openapi::{ApiResponse, OpenApi};

pub(crate) struct ListOffersApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListOffers;

#[derive(ApiResponse)]
enum Listed {
    /// A page of the offers.
    #[oai(status = 200)]
    Offers(Json<OfferList>),
}

impl Operation for ListOffers {
    const ID: &'static str = "ListOffers";
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        failures([not_there(Thing::Application), bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListOffersApi<S> {
    /// List an application's offers
    ///
    /// As they are now: one whose `expiryAt` has passed shows as Expired.
    #[oai(
        path = "/operator/applications/:applicationId/offers",
        method = "get",
        operation_id = "ListOffers",
        tag = "Tag::Offers"
    )]
    async fn list_offers(
        &self,
        context: Context,
        credentials: OperatorCredentials,
        /// The identifier of the application.
        #[oai(name = "applicationId")]
        application_id: Path<IdText>,
        /// `next` of the page before.
        after: Query<Option<After>>,
        /// The most items that are wanted.
        limit: Query<Option<Limit>>,
    ) -> Result<Listed, Failed<ListOffers>> {
        let store = self.0.admit(&credentials)?;
        let application = ApplicationId::parse(&application_id.0.0).ok_or_else(|| not_there(Thing::Application))?;
        let window = window(after.0.as_ref(), limit.0.as_ref(), OfferId::parse)?;
        let page = store.offers_of(application, window, context.at).await?;
        let page = page.ok_or_else(|| not_there(Thing::Application))?;
        let items = page.items.into_iter().map(Into::into).collect();
        Ok(Listed::Offers(Json(OfferList { items, next: page.next.map(|id| id.to_string()) })))
    }
}
