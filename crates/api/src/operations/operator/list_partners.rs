//! `ListPartners`: partners, all or those with a name or a client id.

use super::filters::{Filters, NAME, OAUTH_CLIENT_ID};
use super::parameters::{AFTER, LIMIT, bad_window};
use super::*;
use crate::wire::party::PartnerList;
use lendpay_domain::PartnerId;
use lendpay_domain::query::FindPartners;

pub(crate) struct ListPartnersApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// A page of the partners.
    #[oai(status = 200)]
    Partners(Json<PartnerList>),
}

impl Operation for FindPartners {
    const ID: &'static str = "ListPartners";
    const QUERY: &'static [Parameter] = &[NAME, OAUTH_CLIENT_ID, AFTER, LIMIT];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListPartnersApi<S> {
    /// List partners
    ///
    /// With a filter a page may be short, or empty, and yet have a `next`: go on until `next` is null.
    #[oai(path = "/operator/partners", method = "get", operation_id = "ListPartners", tag = "Tag::Partners")]
    pub async fn list_partners(&self, request: OperatorRequest) -> Result<Listed, Failed<FindPartners>> {
        let store = self.0.admit::<FindPartners>(&request)?;
        let mut filters = Filters::of::<FindPartners>(&request);
        let (name, oauth_client_id) = (filters.text(&NAME), filters.text(&OAUTH_CLIENT_ID));
        let window = filters.window(PartnerId::parse)?;
        let page = store.find_partners(FindPartners { name, oauth_client_id, window }).await?;
        Ok(Listed::Partners(Json(page.into())))
    }
}
