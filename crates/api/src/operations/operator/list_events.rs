//! `ListEvents`: what happened, in order (contract 2.10).

use super::parameters::{AFTER_SEQUENCE, LIMIT, bad_window};
use super::*;
use crate::wire::event::EventList;

pub(crate) struct ListEventsApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListEvents;

#[derive(ApiResponse)]
enum Listed {
    /// The events that come next.
    #[oai(status = 200)]
    Events(Json<EventList>),
}

impl Operation for ListEvents {
    const ID: &'static str = "ListEvents";
    const QUERY: &'static [Parameter] = &[AFTER_SEQUENCE, LIMIT];

    fn failures() -> Vec<Failure> {
        failures([bad_window()])
    }
}

#[OpenApi]
impl<S: Queries> ListEventsApi<S> {
    /// Read what happened
    ///
    /// Events in the order of their sequence. Whoever passes the last sequence that it saw as `after` gets every event
    /// exactly once and in order.
    #[oai(path = "/operator/events", method = "get", operation_id = "ListEvents", tag = "Tag::Data")]
    async fn list_events(&self, request: OperatorRequest) -> Result<Listed, Failed<ListEvents>> {
        let store = self.0.admit::<ListEvents>(&request)?;
        let window = request.window(|text| text.parse().ok())?;
        let events = store.events(window.after.unwrap_or(0), window.limit).await?;
        let next = events.last().filter(|_| events.len() == window.limit).map(|event| event.sequence.to_string());
        let items = events.into_iter().map(Into::into).collect();
        Ok(Listed::Events(Json(EventList { items, next })))
    }
}
