//! `ListBuyers`: buyers, all, or those of a partner or with a registration number.

use super::filters::{Filters, PARTNER_ID};
use super::parameters::{AFTER, LIMIT, REGISTRATION_NUMBER, bad_window};
use super::*;
use crate::wire::operator_buyer::BuyerList;
use lendpay_domain::query::{BuyerCursor, FindBuyers, Scope};

pub(crate) struct ListBuyersApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// A page of the buyers.
    #[oai(status = 200)]
    Buyers(Json<BuyerList>),
}

impl Operation for FindBuyers {
    const ID: &'static str = "ListBuyers";
    const QUERY: &'static [Parameter] = &[AFTER, LIMIT, REGISTRATION_NUMBER, PARTNER_ID];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListBuyersApi<S> {
    /// List buyers
    ///
    /// With their bank details in full. With a filter a page may be short, or empty, and yet have a `next`: go on until
    /// `next` is null.
    #[oai(path = "/operator/buyers", method = "get", operation_id = "ListBuyers", tag = "Tag::Buyers")]
    pub async fn list_buyers(&self, request: OperatorRequest) -> Result<Listed, Failed<FindBuyers>> {
        let store = self.0.admit::<FindBuyers>(&request)?;
        let mut filters = Filters::of::<FindBuyers>(&request);
        let registration_number = filters.registration_number();
        let scope = filters.id(&PARTNER_ID).map_or(Scope::All, Scope::Partner);
        let window = filters.window(BuyerCursor::parse)?;
        let page = store.find_buyers(FindBuyers { scope, registration_number, window }).await?;
        Ok(Listed::Buyers(Json(page.into())))
    }
}
