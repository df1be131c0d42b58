//! `ListEvents`: what happened to a partner's offers and buyers, in order (contract 2.10, 2.13).
//!
//! Paths under `/lending` answer with an `errorCode`, all others without (contract 2.6): so do errors of this one, the 409
//! included, which has one cause.

use super::parameters::{AFTER_SEQUENCE, LIMIT, WAIT, wait};
use super::query::Query;
use super::reads::failures;
use super::{Area, Failed, Operation, Parameter, Reads};
use crate::caller::Credentials;
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::json::Json;
use crate::wire::partner_event::{EventList, type_named, types_seen};
use lendpay_domain::cursor::Cursor;
use lendpay_domain::query::{self, EventFilter, EventTypes, FindEvents};
use lendpay_domain::store::{Commands, Queries};
use poem_openapi::{ApiResponse, OpenApi};
use serde_json::json;
use std::sync::Arc;

pub(crate) struct ListEventsApi<S>(pub Arc<Reads<S>>);

pub(crate) struct ListEvents;

const TYPE: Parameter = Parameter {
    name: "type",
    description: "Only events of this type.",
    schema: || json!({ "$ref": "#/components/schemas/EventType" }),
};

#[derive(ApiResponse)]
enum Listed {
    /// The events that come next.
    #[oai(status = 200)]
    Events(Json<EventList>),
}

impl Operation for ListEvents {
    const ID: &'static str = "ListEvents";
    const SHAPE: Shape = Shape::Payments;
    const QUERY: &'static [Parameter] = &[TYPE, AFTER_SEQUENCE, LIMIT, WAIT];

    fn failures() -> Vec<Failure> {
        failures::<Self>(Scope::ReadEvents, [Failure::CursorUnknown, Failure::TooManyReaders(1)])
    }
}

#[OpenApi]
impl<S: Commands + Queries> ListEventsApi<S> {
    /// Read what happened
    ///
    /// Events of your offers and buyers, in the order of their sequence. A key with the area lending sees those of offers,
    /// with payments those of buyers, with both all; a token with the scope sees all. Whoever passes the last one that it saw
    /// as `after` gets every event exactly once and in order. After the operator has restored a backup, an `after` from
    /// before gets 409: read from the beginning then, and skip events whose `id` was seen before. A page may be short, or
    /// empty, and yet have a `next`: go on until `next` is null.
    ///
    /// With `wait` the request waits until there is an event, for 25 s at most. It is answered within a moment of the event, so
    /// there is no reason to ask more often: pass the last event as `after`, and wait again. Up to 10 requests of a partner may
    /// wait; each counts once for the limit of requests.
    #[oai(path = "/events", method = "get", operation_id = "ListEvents", tag = "Area::Events")]
    async fn list_events(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::ReadEvents")] _token: OAuth2,
        query: Query,
    ) -> Result<Listed, Failed<ListEvents>> {
        let (store, caller, mut turn) = self.0.admit(&credentials, Scope::ReadEvents, &context).await?;
        let mut parameters = query.of::<ListEvents>();
        let wanted = parameters.get(&TYPE, type_named).unwrap_or(EventTypes::ALL);
        let until = context.wait_until(parameters.get(&WAIT, wait).unwrap_or_default());
        let window = parameters.window(Cursor::parse)?;
        let cursor = window.after.unwrap_or_default();
        let scope = query::Scope::Partner(caller.partner);
        let filter = EventFilter { scope, types: types_seen(caller.areas).and(wanted), ..EventFilter::default() };
        loop {
            let page = store.find_events(FindEvents { after: cursor.sequence, limit: window.limit, filter }).await?;
            if !cursor.is_known(&page) {
                return Err(Failure::CursorUnknown.into());
            }
            if !self.0.feed.is_to_wait(&page, until) {
                return Ok(Listed::Events(Json(page.into())));
            }
            // Others of the partner's requests are worked on meanwhile.
            drop(turn);
            self.0.feed.wait(&self.0.store, &context, filter, &page, until).await?;
            self.0.gate.check_again(store, &credentials, &context).await?;
            turn = self.0.gate.turns.take(caller.partner, context.crowd()).await?;
        }
    }
}
