//! `ListOffers`: an application's offers.

use super::filters::{EXPIRES_BEFORE, Filters};
use super::parameters::{AFTER, LIMIT, STATUS, bad_window};
use super::*;
use crate::wire::operator_offer::OfferList;
use lendpay_domain::ApplicationId;
use lendpay_domain::query::{FindOffers, OfferCursor, OffersOf};

pub(crate) struct ListOffersApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListOffers;

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// A page of the offers.
    #[oai(status = 200)]
    Offers(Json<OfferList>),
}

impl Operation for ListOffers {
    const ID: &'static str = "ListOffers";
    const QUERY: &'static [Parameter] = &[STATUS, EXPIRES_BEFORE, AFTER, LIMIT];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Application), bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListOffersApi<S> {
    /// List an application's offers
    ///
    /// As they are now: one whose `expiryAt` has passed shows as Expired. With a filter a page may be short, or empty, and
    /// yet have a `next`: go on until `next` is null.
    #[oai(
        path = "/operator/applications/:applicationId/offers",
        method = "get",
        operation_id = "ListOffers",
        tag = "Tag::Offers"
    )]
    pub async fn list_offers(
        &self,
        request: OperatorRequest,
        path: PathId<ApplicationId>,
    ) -> Result<Listed, Failed<ListOffers>> {
        let store = self.0.admit::<ListOffers>(&request)?;
        let application = path.0.ok_or_else(|| not_found(Resource::Application))?;
        let mut filters = Filters::of::<ListOffers>(&request);
        let (status, expires_before) = (filters.status(), filters.moment(&EXPIRES_BEFORE));
        let window = filters.window(OfferCursor::parse)?;
        if store.find_application(application).await?.is_none() {
            return Err(not_found(Resource::Application).into());
        }
        let of = OffersOf::Application(application);
        let query = FindOffers { of, status, expires_before, now: request.context.at, window };
        let page = store.find_offers(query).await?;
        Ok(Listed::Offers(Json(page.into())))
    }
}
