//! An offer: its terms, where it stands and since when, and what happened to it.

use super::frame::{Page, application, distance, facts, link, maybe, more, partner};
use super::parties::rate;
use super::visit::Visit;
use super::{Answer, HOME, events};
use crate::failure::Failure;
use crate::operations::operator::move_offer::Decline;
use crate::operations::{OfferPath, PathIds, id};
use crate::pages::life_cycle::{self, Mark};
use crate::wire::operator_offer::OperatorOffer;
use lendpay_domain::event::Subject;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Status;
use lendpay_domain::{ApplicationId, OfferId, PartnerId, Store};
use maud::{PreEscaped, html};
use poem::Request;

/// The offer that an address names.
pub(super) fn path(request: &Request) -> OfferPath {
    PathIds(id(request, "applicationId"), id(request, "offerId"))
}

/// The address of an offer, below the first page.
pub(super) fn address(offer: &OperatorOffer) -> String {
    format!("applications/{}/offers/{}", offer.application_id, offer.offer.id)
}

pub(super) async fn offer<S: Store>(visit: &Visit<'_, S>, request: &Request) -> Result<Answer, Failure> {
    let found = visit.get_offer(path(request)).await?;
    let (of, offer) = (found.application_id, &found.offer);
    let owner = visit.get_application(&[], Some(ApplicationId::new(of))).await?.partner_id;
    let owner = visit.get_partner(&[], Some(PartnerId::new(owner))).await?;
    let (application_id, id) = (of.to_string(), offer.id.to_string());
    let query = [("offerId", id.as_str()), ("applicationId", application_id.as_str())];
    let happened = visit.list_events(&query).await?;
    let status = offer.status.0;
    let mark = |reached: Status| {
        let (application, offer_id) = (ApplicationId::new(of), OfferId::new(offer.id));
        let kind = Subject::Offer { application, offer: offer_id, status: reached }.event_type();
        let event = happened.items.iter().find(|event| event.kind.0 == kind).map(|event| event.occurred_at);
        let (class, at) = if reached == status { ("now", offer.status_changed_at) } else { ("reached", event?) };
        Some(Mark { class, since: at.0.format("%Y-%m-%d %H:%M").to_string() })
    };
    let body = html! {
        p.status { strong { (status) } " since " (distance(Some(offer.status_changed_at), visit.now())) }
        (PreEscaped(life_cycle::drawing(mark)))
        @if visit.may::<Decline>() && can_decline(status) {
            p { a.button href={ (HOME) "/" (address(&found)) "/decline" } { "Decline this offer …" } }
        }
        h2 { "Terms" }
        (facts(&[
            ("Offer", html! { (offer.id) }),
            ("Application", application(of)),
            ("Partner", html! { (owner.name) " " (partner(owner.id)) }),
            ("Details", html! { (offer.details) }),
            ("Type", html! { (offer.offer_type.0) ", " (offer.funding_type.0) }),
            ("Rate a year, fees included", rate(offer.annual_percentage_rate)),
            ("Interest a year", offer.interest_rate.map_or_else(|| maybe(&None::<&str>), rate)),
            ("Amount", maybe(&offer.amount.map(|amount| amount.to_string()))),
            ("Duration", maybe(&offer.duration.map(|duration| duration.0.name()))),
            ("Expires", distance(offer.expiry_at, visit.now())),
            // As a text: an address that a partner's customer is sent to is nothing to follow from here.
            ("Onboarding", maybe(&offer.redirect_url.as_ref().map(|url| url.0.as_str()))),
        ]))
        (events::table_of("Events", &happened.items))
        (more(&happened.next, &format!("{HOME}/events"), &query))
        p { (link(format_args!("events?offerId={id}"), "These events with filters")) }
    };
    Ok(Page::new("Offer", body).into())
}

/// Whether an offer of this status may be declined.
pub(super) fn can_decline(status: Status) -> bool {
    status.successors().contains(&Action::Decline.target())
}
