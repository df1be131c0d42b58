//! `GetOperation`: what became of the calls with one operation id.

use super::filters::bad_operation;
use super::*;
use crate::wire::operation;
use lendpay_domain::OperationId;
use lendpay_domain::query::EventFilter;

pub(crate) struct GetOperationApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetOperation;

/// How many of the events are in the answer.
const EVENTS: usize = 500;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The calls and the events, if there are any. That an operation id is unknown is no error: it may be of a call that
    /// was made too long ago.
    #[oai(status = 200)]
    Operation(Json<operation::Operation>),
}

impl Operation for GetOperation {
    const ID: &'static str = "GetOperation";
    const ROLE: Option<Role> = Some(Role::Support);

    fn failures() -> Vec<Failure> {
        failures([bad_operation("operationId")])
    }
}

#[OpenApi]
impl<S: Queries + Calls> GetOperationApi<S> {
    /// Look up what became of a call
    ///
    /// By the `operationId` of an error, the `X-Request-Id` of an answer, or the trace id that the caller sent. A caller may
    /// give several calls the same one. `calls` are those that changed nothing: they were refused, failed, or repeated one
    /// that had been done. They are kept for seven days unless the service is set otherwise, and for less time when there
    /// are too many of them; a read that succeeded is not kept. `events` are the changes of the calls that changed
    /// something.
    #[oai(path = "/operator/operations/:operationId", method = "get", operation_id = "GetOperation", tag = "Tag::Data")]
    pub async fn get_operation(
        &self,
        request: OperatorRequest,
        path: PathId<OperationId>,
    ) -> Result<Found, Failed<GetOperation>> {
        let store = self.0.admit::<GetOperation>(&request)?;
        let id = path.0.ok_or_else(|| bad_operation("operationId"))?;
        let filter = EventFilter { operation: Some(id), ..EventFilter::default() };
        let events = first_events(store, FindEvents { after: 0, limit: EVENTS, filter }).await?;
        let calls = store.calls_of(id, request.context.at).await?;
        Ok(Found::Operation(Json(operation::Operation::new(id, calls, events))))
    }
}
