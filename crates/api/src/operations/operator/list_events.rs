//! `ListEvents`: what happened, in order (contract 2.10).

use super::parameters::{AFTER_SEQUENCE, LIMIT, bad_window};
use super::*;
use crate::wire::event::EventList;
use lendpay_domain::cursor::Cursor;
use lendpay_domain::event::EventPage;
use lendpay_domain::query::FindEvents;

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
        failures([bad_window(), OperatorFailure::CursorUnknown.into()])
    }
}

#[OpenApi]
impl<S: Queries> ListEventsApi<S> {
    /// Read what happened
    ///
    /// Events in the order of their sequence. Whoever passes the last one that it saw as `after` gets every event exactly
    /// once and in order. After an import, or when a backup was restored, an `after` from before gets 409 with
    /// `CursorUnknown`: read from the beginning then, and skip events whose `id` was seen before.
    #[oai(path = "/operator/events", method = "get", operation_id = "ListEvents", tag = "Tag::Data")]
    async fn list_events(&self, request: OperatorRequest) -> Result<Listed, Failed<ListEvents>> {
        let store = self.0.admit::<ListEvents>(&request)?;
        let window = request.window(Cursor::parse)?;
        let cursor = window.after.unwrap_or_default();
        let page = store.find_events(FindEvents::all(cursor.sequence, window.limit)).await?;
        if !cursor.is_known(&page) {
            return Err(Failure::from(OperatorFailure::CursorUnknown).into());
        }
        let EventPage { history, events, next, .. } = page;
        let next = next.map(|sequence| Cursor { history: Some(history), sequence }.to_string());
        let items = events.into_iter().map(Into::into).collect();
        Ok(Listed::Events(Json(EventList { history: history.uuid(), items, next })))
    }
}
