//! `GetApplication`: one application.

use super::*;
use crate::wire::party::Application;
use lendpay_domain::ApplicationId;

pub(crate) struct GetApplicationApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetApplication;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The application.
    #[oai(status = 200)]
    Application(Json<Application>),
}

impl Operation for GetApplication {
    const ID: &'static str = "GetApplication";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Application)])
    }
}

#[OpenApi]
impl<S: Queries> GetApplicationApi<S> {
    /// Read an application
    ///
    /// Says which partner owns it. Its offers are listed by `ListOffers`.
    #[oai(
        path = "/operator/applications/:applicationId",
        method = "get",
        operation_id = "GetApplication",
        tag = "Tag::Partners"
    )]
    pub async fn get_application(
        &self,
        request: OperatorRequest,
        path: PathId<ApplicationId>,
    ) -> Result<Found, Failed<GetApplication>> {
        let store = self.0.admit::<GetApplication>(&request)?;
        let id = path.0.ok_or_else(|| not_found(Resource::Application))?;
        let found = store.find_application(id).await?.ok_or_else(|| not_found(Resource::Application))?;
        Ok(Found::Application(Json(found.into())))
    }
}
