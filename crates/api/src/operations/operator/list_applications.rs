//! `ListApplications`: applications, all or those of a partner.

use super::filters::{Filters, PARTNER_ID};
use super::parameters::{AFTER, LIMIT, bad_window};
use super::*;
use crate::wire::party::ApplicationList;
use lendpay_domain::ApplicationId;
use lendpay_domain::query::{FindApplications, Scope};

pub(crate) struct ListApplicationsApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// A page of the applications.
    #[oai(status = 200)]
    Applications(Json<ApplicationList>),
}

impl Operation for FindApplications {
    const ID: &'static str = "ListApplications";
    const QUERY: &'static [Parameter] = &[PARTNER_ID, AFTER, LIMIT];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListApplicationsApi<S> {
    /// List applications
    ///
    /// A partner that does not exist has none. With a filter a page may be short, or empty, and yet have a `next`: go on
    /// until `next` is null.
    #[oai(path = "/operator/applications", method = "get", operation_id = "ListApplications", tag = "Tag::Partners")]
    pub async fn list_applications(&self, request: OperatorRequest) -> Result<Listed, Failed<FindApplications>> {
        let store = self.0.admit::<FindApplications>(&request)?;
        let mut filters = Filters::of::<FindApplications>(&request);
        let scope = filters.id(&PARTNER_ID).map_or(Scope::All, Scope::Partner);
        let window = filters.window(ApplicationId::parse)?;
        let page = store.find_applications(FindApplications { scope, window }).await?;
        Ok(Listed::Applications(Json(page.into())))
    }
}
