//! `ListApplications`: a partner's applications (contract 2.13).

use super::parameters::{AFTER, LIMIT};
use super::query::Query;
use super::reads::failures;
use super::{Area, Failed, Operation, Parameter, Reads};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::application::ApplicationList;
use crate::wire::json::Json;
use lendpay_domain::ApplicationId;
use lendpay_domain::query::{self, FindApplications};
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use std::sync::Arc;

pub(crate) struct ListApplicationsApi<S>(pub Arc<Reads<S>>);

pub(crate) struct ListApplications;

#[derive(ApiResponse)]
enum Listed {
    /// A page of the applications.
    #[oai(status = 200)]
    Applications(Json<ApplicationList>),
}

impl Operation for ListApplications {
    const ID: &'static str = "ListApplications";
    const SHAPE: Shape = Shape::Lending;
    const QUERY: &'static [Parameter] = &[AFTER, LIMIT];

    fn failures() -> Vec<Failure> {
        failures::<Self>(Scope::ReadOffers, [])
    }
}

#[OpenApi]
impl<S: Commands + Queries> ListApplicationsApi<S> {
    /// List applications
    ///
    /// Yours, in the order of their identifiers.
    #[oai(path = "/lending/applications", method = "get", operation_id = "ListApplications", tag = "Area::Lending")]
    async fn list_applications(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::ReadOffers")] _token: OAuth2,
        query: Query,
    ) -> Result<Listed, Failed<ListApplications>> {
        let (store, caller, _turn) = self.0.admit(&credentials, Scope::ReadOffers, &context).await?;
        let window = query.of::<ListApplications>().window(ApplicationId::parse)?;
        let scope = query::Scope::Partner(caller.partner);
        let page = store.find_applications(FindApplications { scope, window }).await?;
        Ok(Listed::Applications(Json(page.into())))
    }
}
