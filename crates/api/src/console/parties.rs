//! Partners with their keys and applications, and applications with their offers.

use super::frame::{
    Page, application as to_application, distance, facts, filters, link, maybe, more, offer, partner as to_partner,
    table, time,
};
use super::visit::{Visit, if_found};
use super::{Answer, HOME, Pairs};
use crate::failure::Failure;
use crate::operations::id;
use crate::operator_failure::OperatorFailure;
use crate::wire::operator_offer::OperatorOffer;
use crate::wire::party::{Key, Partner};
use lendpay_domain::{EndpointId, PartnerId, Store, Timestamp};
use maud::{Markup, html};
use poem::Request;

pub(super) async fn partners<S: Store>(visit: &Visit<'_, S>, query: &Pairs) -> Result<Answer, Failure> {
    let found = visit.list_partners(&query.some(&["name", "after"])).await?;
    let row = |partner: &Partner| {
        let name = link(format_args!("partners/{}", partner.id), &partner.name);
        vec![name, html! { (partner.id) }, maybe(&partner.oauth_client_id), time(partner.created_at)]
    };
    let body = html! {
        (filters("partners", None, &[("name", "Name contains", "text")], query))
        (table("Partners found", &["Name", "Id", "OAuth client id", "Created"], found.items.iter().map(row)))
        (more(&found.next, &format!("{HOME}/partners"), &query.some(&["name"])))
    };
    Ok(Page::new("Partners", body).into())
}

pub(super) async fn partner<S: Store>(
    visit: &Visit<'_, S>,
    request: &Request,
    query: &Pairs,
) -> Result<Answer, Failure> {
    let id: Option<PartnerId> = id(request, "partnerId");
    let partner = visit.get_partner(&[], id).await?;
    let keys = visit.list_keys(&[("limit", "500")], id).await?;
    let of_partner = partner.id.to_string();
    let window = [&[("partnerId", of_partner.as_str()), ("limit", "50")][..], &query.some(&["after"])].concat();
    let applications = visit.list_applications(&window).await?;
    let endpoints = endpoints(visit, &of_partner).await?;
    let keys = keys.items.iter().map(|key| key_row(key, visit.now()));
    let rows = applications.items.iter().map(|found| vec![to_application(found.id)]);
    let body = html! {
        (facts(&[
            ("Id", html! { (partner.id) }),
            ("OAuth client id", maybe(&partner.oauth_client_id)),
            ("Created", distance(Some(partner.created_at), visit.now())),
            ("What happened", link(format_args!("events?partnerId={of_partner}"), "Events of this partner")),
            ("Companies", link(format_args!("buyers?partnerId={of_partner}"), "Buyers of this partner")),
        ]))
        (table("Keys", &["Name", "Id", "Areas", "Access", "Made", "Last used", "Expires", "Revoked"], keys))
        (table("Webhooks", &["Address", "State", "Waits since", "Set aside", "Took one", "Failed"], endpoints.into_iter()))
        (table("Applications", &["Id"], rows))
        (more(&applications.next, &format!("{HOME}/partners/{of_partner}"), &[]))
    };
    Ok(Page::new(partner.name, body).into())
}

/// A partner's endpoints, and what fails there; none where webhooks are off.
async fn endpoints<S: Store>(visit: &Visit<'_, S>, partner: &str) -> Result<Vec<Vec<Markup>>, Failure> {
    let mut rows = Vec::new();
    let listed = match visit.list_webhooks(&[("partnerId", partner), ("limit", "20")]).await {
        Err(Failure::Operator(OperatorFailure::WebhooksOff)) => return Ok(rows),
        listed => listed?.items,
    };
    for id in listed.iter().map(|listed| EndpointId::new(listed.endpoint_id)) {
        let Some(found) = if_found(visit.get_webhook(&[], Some(id)).await)? else { continue };
        let attempts = visit.list_webhook_attempts(&[], Some(id)).await?.items;
        let failed = attempts.iter().find(|attempt| !attempt.delivered);
        rows.push(vec![
            html! { (found.webhook.url) },
            html! { (found.webhook.state.0) @if let Some(why) = &found.webhook.reason { ", " (why) } },
            distance(found.waiting_since, visit.now()),
            html! { (found.set_aside) },
            distance(found.last_success_at, visit.now()),
            html! { @if let Some(failed) = failed { (time(failed.at)) ": " (maybe(&failed.problem)) } },
        ]);
    }
    Ok(rows)
}

fn key_row(key: &Key, now: Timestamp) -> Vec<Markup> {
    let areas: Vec<_> = key.areas.iter().map(|area| area.0.name()).collect();
    vec![
        html! { span id={ "key-" (key.key_id) } { (key.name) } },
        html! { (key.key_id) },
        html! { (areas.join(", ")) },
        html! { (key.access.0.name()) },
        distance(Some(key.created_at), now),
        distance(key.last_used_at, now),
        distance(key.expires_at, now),
        distance(key.revoked_at, now),
    ]
}

pub(super) async fn application<S: Store>(
    visit: &Visit<'_, S>,
    request: &Request,
    query: &Pairs,
) -> Result<Answer, Failure> {
    let id = id(request, "applicationId");
    let application = visit.get_application(&[], id).await?;
    let owner = visit.get_partner(&[], Some(PartnerId::new(application.partner_id))).await?;
    let offers = visit.list_offers(&query.some(&["after"]), id).await?;
    let rows = offers.items.iter().map(|offer| offer_row(offer, visit.now()));
    let body = html! {
        (facts(&[
            ("Id", html! { (application.id) }),
            ("Partner", html! { (owner.name) " " (to_partner(owner.id)) }),
            ("What happened", link(format_args!("events?applicationId={}", application.id), "Its events")),
        ]))
        (table("Offers", &["Id", "Status", "Since", "Type", "Rate a year", "Amount", "Duration", "Expires"], rows))
        (more(&offers.next, &format!("{HOME}/applications/{}", application.id), &[]))
    };
    Ok(Page::new("Application", body).into())
}

fn offer_row(found: &OperatorOffer, now: Timestamp) -> Vec<Markup> {
    let terms = &found.offer;
    vec![
        offer(found.application_id, terms.id),
        html! { (terms.status.0) },
        distance(Some(terms.status_changed_at), now),
        html! { (terms.offer_type.0) },
        rate(terms.annual_percentage_rate),
        maybe(&terms.amount.map(|amount| amount.to_string())),
        maybe(&terms.duration.map(|duration| duration.0.name())),
        distance(terms.expiry_at, now),
    ]
}

/// A fraction as operators write it, and in percent.
pub(super) fn rate(fraction: f64) -> Markup {
    // As many digits as a fraction of that size can mean.
    let percent = format!("{:.6}", fraction * 100.0);
    html! { (percent.trim_end_matches('0').trim_end_matches('.')) " %" }
}
