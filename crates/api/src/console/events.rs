//! Events with filters, what operators do among them (the audit), and what became of an operation.

use super::frame::{Page, application, buyer, filters, link, maybe, more, offer, partner, table, time};
use super::visit::Visit;
use super::{Answer, HOME, Pairs};
use crate::failure::Failure;
use crate::operations::id;
use crate::wire::event::Event;
use crate::wire::operation::Call;
use crate::wire::partner_event;
use lendpay_domain::Store;
use lendpay_domain::event::Subject;
use maud::{Markup, html};
use poem::Request;
use serde_json::Value;
use uuid::Uuid;

/// Filters, as the operation names them, what they are called, and their kind. Days begin at midnight UTC.
const FILTERS: [(&str, &str, &str); 7] = [
    ("partnerId", "Partner’s id", "text"),
    ("applicationId", "Application’s id", "text"),
    ("offerId", "Offer’s id", "text"),
    ("buyerId", "Buyer’s id", "text"),
    ("operationId", "Operation id", "text"),
    ("from", "From (day, UTC)", "date"),
    ("until", "Before (day, UTC)", "date"),
];

pub(super) async fn events<S: Store>(visit: &Visit<'_, S>, query: &Pairs) -> Result<Answer, Failure> {
    let names = FILTERS.map(|(name, ..)| name);
    let days = ["from", "until"].map(|name| (name, format!("{}T00:00:00Z", query.get(name))));
    let mut window = query.some(&[&["type", "after"], &names[..5]].concat());
    window.extend(days.iter().filter(|(name, _)| !query.get(name).is_empty()).map(|(name, day)| (*name, day.as_str())));
    let found = visit.list_events(&window).await?;
    let wanted = query.some(&[&["type"], &names[..]].concat());
    let audit = partner_event::hidden_types().join(",");
    let kind = query.get("type");
    let types = html! {
        div {
            label for="type" { "Type" }
            select id="type" name="type" {
                option value="" { "All types" }
                option value=(audit) selected[kind == audit] { "Audit: what only operators see" }
                @for known in Subject::TYPES {
                    option value=(known) selected[kind == known] { (known) }
                }
            }
        }
    };
    let body = html! {
        (filters("events", Some(types), &FILTERS, query))
        (table_of("Events found", &found.items))
        (more(&found.next, &format!("{HOME}/events"), &wanted))
    };
    Ok(Page::new("Events", body).into())
}

/// Events as a table.
pub(super) fn table_of(name: &str, events: &[Event]) -> Markup {
    let heads = ["Number", "When", "Type", "About", "By", "Operation", "What else"];
    table(name, &heads, events.iter().map(row))
}

fn row(event: &Event) -> Vec<Markup> {
    vec![
        html! { (event.sequence) },
        time(event.occurred_at),
        html! { (event.kind.0) },
        html! {
            @match event.partner_id {
                Some(of) => {
                    "partner " (partner(of))
                    @if let Some(key) = event.key_id {
                        br; "key " (link(format_args!("partners/{of}#key-{key}"), key.to_string()))
                    }
                },
                None => { "the lender" },
            }
            (about(event.application_id, event.offer_id, event.buyer_id))
            @if let Some(endpoint) = event.endpoint_id { br; "endpoint " (endpoint) }
        },
        html! { (event.actor) },
        link(format_args!("operations/{}", event.operation_id), &event.operation_id),
        html! {
            @for replaced in &event.replaced {
                div { (replaced.field) ": " (shown(&replaced.before.0)) " → " (shown(&replaced.after.0)) }
            }
            @if let Some(reason) = &event.reason { "Reason: " (reason) }
        },
    ]
}

fn about(of: Option<Uuid>, id: Option<Uuid>, company: Option<Uuid>) -> Markup {
    html! {
        @match (of, id) {
            (Some(of), Some(id)) => { br; "offer " (offer(of, id)) },
            (Some(of), None) => { br; "application " (application(of)) },
            (None, _) => {},
        }
        @if let Some(id) = company { br; "buyer " (buyer(id)) }
    }
}

fn shown(value: &Value) -> Markup {
    match value {
        Value::Null => maybe(&None::<&str>),
        Value::String(text) => html! { (text) },
        other => html! { (other) },
    }
}

pub(super) async fn operation<S: Store>(visit: &Visit<'_, S>, request: &Request) -> Result<Answer, Failure> {
    let found = visit.get_operation(&[], id(request, "operationId")).await?;
    let heads = ["When", "What was asked", "Answer", "Why", "About", "By", "Took"];
    let body = html! {
        p { "Operation " code { (found.operation_id) } }
        @if found.calls.is_empty() && found.events.items.is_empty() {
            p {
                "Nothing is known of it. It changed nothing and was not refused, as a read does that succeeds, or it was \
                 too long ago, or the id is wrong."
            }
        }
        (table("Calls that changed nothing", &heads, found.calls.iter().map(call)))
        (table_of("What it changed", &found.events.items))
        (more(&found.events.next, &format!("{HOME}/events"), &[("operationId", &found.operation_id)]))
    };
    Ok(Page::new("What became of it", body).into())
}

fn call(call: &Call) -> Vec<Markup> {
    vec![
        time(call.received_at),
        html! { (call.method) " " (maybe(&call.route)) },
        html! { (call.status) " " (call.error_code.as_deref().unwrap_or("succeeded, as before")) },
        html! { @for error in &call.errors { div { (error) } } },
        html! {
            @if let Some(id) = call.partner_id { "partner " (partner(id)) }
            (about(call.application_id, call.offer_id, call.buyer_id))
        },
        maybe(&call.actor),
        html! { (format!("{:.1} ms", call.duration_ms)) },
    ]
}
