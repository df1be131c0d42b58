//! `ListEvents`: what happened, in order (contract 2.10).

use super::filters::{APPLICATION_ID, BUYER_ID, FROM, Filters, OFFER_ID, OPERATION_ID, PARTNER_ID, TYPE, UNTIL};
use super::parameters::{AFTER_SEQUENCE, LIMIT, WAIT, bad_window};
use super::*;
use crate::wire::event::EventList;
use lendpay_domain::cursor::Cursor;
use lendpay_domain::query::{EventFilter, FindEvents, Scope};

pub(crate) struct ListEventsApi<S>(pub Arc<Operator<S>>);

pub(crate) struct ListEvents;

#[derive(ApiResponse)]
pub(crate) enum Listed {
    /// The events that come next.
    #[oai(status = 200)]
    Events(Json<EventList>),
}

impl Operation for ListEvents {
    const ID: &'static str = "ListEvents";
    const QUERY: &'static [Parameter] =
        &[AFTER_SEQUENCE, LIMIT, WAIT, TYPE, PARTNER_ID, APPLICATION_ID, OFFER_ID, BUYER_ID, OPERATION_ID, FROM, UNTIL];
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([bad_window(), OperatorFailure::CursorUnknown.into(), Failure::TooManyReaders(1)])
    }
}

#[OpenApi]
impl<S: Queries> ListEventsApi<S> {
    /// Read what happened
    ///
    /// Events in the order of their sequence. Whoever passes the last one that it saw as `after` gets every event exactly
    /// once and in order. After an import, or when a backup was restored, an `after` from before gets 409 with
    /// `CursorUnknown`: read from the beginning then, and skip events whose `id` was seen before.
    ///
    /// Filters go together: an event must be all that they say. With a filter a page may be short, or empty, and yet have
    /// a `next`: go on until `next` is null.
    ///
    /// With `wait` the request waits until there is an event, for 25 s at most; up to 100 requests may wait.
    #[oai(path = "/operator/events", method = "get", operation_id = "ListEvents", tag = "Tag::Data")]
    pub async fn list_events(&self, request: OperatorRequest) -> Result<Listed, Failed<ListEvents>> {
        let store = self.0.admit::<ListEvents>(&request)?;
        let mut filters = Filters::of::<ListEvents>(&request);
        let filter = EventFilter {
            scope: filters.id(&PARTNER_ID).map_or(Scope::All, Scope::Partner),
            types: filters.types(),
            application: filters.id(&APPLICATION_ID),
            offer: filters.id(&OFFER_ID),
            buyer: filters.id(&BUYER_ID),
            operation: filters.operation(),
            from: filters.moment(&FROM),
            until: filters.moment(&UNTIL),
        };
        let until = request.context.wait_until(filters.wait());
        let window = filters.window(Cursor::parse)?;
        let cursor = window.after.unwrap_or_default();
        loop {
            let page = store.find_events(FindEvents { after: cursor.sequence, limit: window.limit, filter }).await?;
            if !cursor.is_known(&page) {
                return Err(Failure::from(OperatorFailure::CursorUnknown).into());
            }
            if !self.0.feed.is_to_wait(&page, until) {
                return Ok(Listed::Events(Json(page.into())));
            }
            self.0.feed.wait(&self.0.store, &request.context, filter, &page, until).await?;
            // The key may have been taken back meanwhile.
            self.0.admit::<ListEvents>(&request)?;
        }
    }
}
