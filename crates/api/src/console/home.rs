//! The first page, and the search: from an id, a name or a registration number to the thing itself.

use super::frame::{Page, buyer, link, maybe, table};
use super::visit::{Visit, if_found};
use super::{Answer, HOME};
use crate::failure::Failure;
use crate::operations::operator::get_operation::GetOperation;
use crate::wire::event::EventList;
use crate::wire::operator_buyer::OperatorBuyer;
use crate::wire::party::Partner;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OperationId, PartnerId, Store};
use maud::{Markup, html};

pub(super) fn home<S: Store>(visit: &Visit<'_, S>) -> Page {
    let body = html! {
        p { "Look for one of these in the box above:" }
        ul {
            li { "the id of a partner, an application, an offer, a buyer or an API key" }
            @if visit.may::<GetOperation>() {
                li { "the " code { "operationId" } " that a partner quotes, to see what became of its call" }
            }
            li { "a partner’s name, or a part of it" }
            li { "a buyer’s registration number" }
        }
    };
    Page::new("Search", body)
}

pub(super) async fn search<S: Store>(visit: &Visit<'_, S>, text: &str) -> Result<Answer, Failure> {
    if text.is_empty() {
        return Ok(Answer::see(HOME));
    }
    if OperationId::parse(text).is_some() {
        return Ok(Answer::see(format!("{HOME}/operations/{text}")));
    }
    let found = if PartnerId::parse(text).is_some() { thing(visit, text).await? } else { None };
    match found {
        Some(path) => Ok(Answer::see(format!("{HOME}/{path}"))),
        None => named(visit, text).await,
    }
}

/// The address of the thing that has this id.
async fn thing<S: Store>(visit: &Visit<'_, S>, id: &str) -> Result<Option<String>, Failure> {
    if let Some(found) = if_found(visit.get_partner(&[], PartnerId::parse(id)).await)? {
        return Ok(Some(format!("partners/{}", found.id)));
    }
    if let Some(found) = if_found(visit.get_application(&[], ApplicationId::parse(id)).await)? {
        return Ok(Some(format!("applications/{}", found.id)));
    }
    // An offer is known by its application too: its first event names that.
    let EventList { items, .. } = visit.list_events(&[("offerId", id), ("limit", "1")]).await?;
    if let Some(found) = items.first().and_then(|event| event.application_id.zip(event.offer_id)) {
        return Ok(Some(format!("applications/{}/offers/{}", found.0, found.1)));
    }
    if let Some(found) = if_found(visit.get_buyer(&[], BuyerId::parse(id)).await)? {
        return Ok(Some(format!("buyers/{}", found.id)));
    }
    let found = if_found(visit.get_key(&[], KeyId::parse(id)).await)?;
    Ok(found.map(|found| format!("partners/{}#key-{}", found.partner_id, found.key.key_id)))
}

/// What has this name or number.
async fn named<S: Store>(visit: &Visit<'_, S>, text: &str) -> Result<Answer, Failure> {
    let partners = visit.list_partners(&[("name", text)]).await?;
    let buyers = visit.list_buyers(&[("registrationNumber", text)]).await?;
    let whole = partners.next.is_none() && buyers.next.is_none();
    match (&partners.items[..], &buyers.items[..]) {
        ([one], []) if whole => return Ok(Answer::see(format!("{HOME}/partners/{}", one.id))),
        ([], [one]) if whole => return Ok(Answer::see(format!("{HOME}/buyers/{}", one.id))),
        _ => {}
    }
    let partner =
        |found: &Partner| vec![link(format_args!("partners/{}", found.id), &found.name), html! { (found.id) }];
    let company = |found: &OperatorBuyer| vec![buyer(found.id), maybe(&found.name), maybe(&found.registration_number)];
    let body = html! {
        p { "“" (text) "” was looked for in the names of partners and in the registration numbers of buyers." }
        (table("Partners", &["Name", "Id"], partners.items.iter().map(partner)))
        @if partners.next.is_some() { (go_on("partners", "name", text)) }
        (table("Buyers", &["Id", "Name", "Registration number"], buyers.items.iter().map(company)))
        @if buyers.next.is_some() { (go_on("buyers", "registrationNumber", text)) }
    };
    Ok(Page::new("What was found", body).into())
}

/// There is more than was looked at.
fn go_on(list: &str, filter: &str, text: &str) -> Markup {
    html! {
        form method="get" action={ (HOME) "/" (list) } {
            (super::frame::hidden(filter, text))
            button type="submit" { "Look on in all " (list) }
        }
    }
}
