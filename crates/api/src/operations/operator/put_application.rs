//! `PutApplication`: creates an application of a partner.

use super::*;
use crate::wire::party::{Application, NewApplication};
use lendpay_domain::ApplicationId;
use lendpay_domain::command::{PutApplication, PutApplicationOutcome};

pub(crate) struct PutApplicationApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Put {
    /// The application exists already, with this owner.
    #[oai(status = 200)]
    Unchanged(Json<Application>),
    /// A new application.
    #[oai(status = 201)]
    Created(Json<Application>),
}

impl Operation for PutApplication {
    const ID: &'static str = "PutApplication";
    const ROLE: Option<Role> = Some(Role::Lending);

    fn failures() -> Vec<Failure> {
        let more = [not_found(Resource::Partner), OperatorFailure::ApplicationOwned.into()];
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
        request: OperatorRequest,
        path: PathId<ApplicationId>,
        body: Body<NewApplication>,
    ) -> Result<Put, Failed<PutApplication>> {
        let store = self.0.admit::<PutApplication>(&request)?;
        let id = new_id(path.0, "applicationId")?;
        let partner = body.read(request.context.at).await?;
        let answer = Json(Application::new(id, partner));
        match store.run(PutApplication { id, partner, stamp: request.stamp() }).await? {
            PutApplicationOutcome::Created => Ok(Put::Created(answer)),
            PutApplicationOutcome::Unchanged => {
                request.context.set_unchanged();
                Ok(Put::Unchanged(answer))
            }
            PutApplicationOutcome::OwnedByAnother => Err(Failure::from(OperatorFailure::ApplicationOwned).into()),
            PutApplicationOutcome::NoPartner => Err(not_found(Resource::Partner).into()),
        }
    }
}
