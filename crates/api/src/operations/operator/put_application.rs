//! `PutApplication`: gives an application to a partner.

use super::*;
use crate::wire::json::Json;
use crate::wire::party::{Application, NewApplication};
use lendpay_domain::ApplicationId;
use lendpay_domain::command::{PutApplication, PutApplicationOutcome};
use poem_openapi::param::Path;
use poem_openapi::{ApiResponse, OpenApi};

pub(crate) struct PutApplicationApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Put {
    /// The application was there and had this owner.
    #[oai(status = 200)]
    Unchanged(Json<Application>),
    /// A new application.
    #[oai(status = 201)]
    Created(Json<Application>),
}

impl Operation for PutApplication {
    const ID: &'static str = "PutApplication";
    const SHAPE: Shape = Shape::Operator;

    fn failures() -> Vec<Failure> {
        let more = [not_there(Thing::Partner), OperatorFailure::ApplicationOwned.into()];
        write_failures("partnerId: must be a UUID of 36 characters", more)
    }
}

#[OpenApi]
impl<S: Commands> PutApplicationApi<S> {
    /// Create an application
    ///
    /// You choose the identifier. Repeating the call is safe; an application never changes its owner.
    #[oai(
        path = "/operator/applications/:applicationId",
        method = "put",
        operation_id = "PutApplication",
        tag = "Tag::Partners"
    )]
    async fn put_application(
        &self,
        context: Context,
        credentials: OperatorCredentials,
        /// The identifier of the application.
        #[oai(name = "applicationId")]
        application_id: Path<IdText>,
        body: Body<NewApplication>,
    ) -> Result<Put, Failed<PutApplication>> {
        let store = self.0.admit(&credentials)?;
        let id = new_id(ApplicationId::parse(&application_id.0.0), "applicationId")?;
        let partner = body.read()?;
        let answer = Json(Application::new(id, partner));
        match store.run(PutApplication { id, partner, stamp: stamp(&context) }).await? {
            PutApplicationOutcome::Created => Ok(Put::Created(answer)),
            PutApplicationOutcome::Unchanged => Ok(Put::Unchanged(answer)),
            PutApplicationOutcome::OwnedByAnother => Err(Failure::from(OperatorFailure::ApplicationOwned).into()),
            PutApplicationOutcome::NoPartner => Err(not_there(Thing::Partner).into()),
        }
    }
}
