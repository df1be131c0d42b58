//! `ListAllOffers`: offers across applications, all or those of a partner.

use super::filters::{EXPIRES_BEFORE, Filters, PARTNER_ID};
use super::parameters::{AFTER, LIMIT, STATUS, bad_window};
use super::*;
use crate::wire::operator_offer::OfferList;
use lendpay_domain::query::{FindOffers, OfferCursor, OffersOf};

pub(crate) struct ListAllOffersApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListAllOffers;

#[derive(ApiResponse)]
enum Listed {
    /// A page of the offers.
    #[oai(status = 200)]
    Offers(Json<OfferList>),
}

impl Operation for ListAllOffers {
    const ID: &'static str = "ListAllOffers";
    const QUERY: &'static [Parameter] = &[PARTNER_ID, STATUS, EXPIRES_BEFORE, AFTER, LIMIT];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListAllOffersApi<S> {
    /// List offers of all applications
    ///
    /// As they are now: one whose `expiryAt` has passed shows as Expired. A partner that does not exist has none. With a
    /// filter a page may be short, or empty, and yet have a `next`: go on until `next` is null.
    #[oai(path = "/operator/offers", method = "get", operation_id = "ListAllOffers", tag = "Tag::Offers")]
    async fn list_all_offers(&self, request: OperatorRequest) -> Result<Listed, Failed<ListAllOffers>> {
        let store = self.0.admit::<ListAllOffers>(&request)?;
        let mut filters = Filters::of::<ListAllOffers>(&request);
        let of = filters.id(&PARTNER_ID).map_or(OffersOf::All, OffersOf::Partner);
        let (status, expires_before) = (filters.status(), filters.moment(&EXPIRES_BEFORE));
        let window = filters.window(OfferCursor::parse)?;
        let query = FindOffers { of, status, expires_before, now: request.context.at, window };
        Ok(Listed::Offers(Json(store.find_offers(query).await?.into())))
    }
}
