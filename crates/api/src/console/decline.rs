//! Declining an offer: asked for with a reason, then asked once more.

use super::frame::{Page, facts, hidden, link};
use super::offers::{address, can_decline, path};
use super::visit::Visit;
use super::{Answer, HOME, Pairs};
use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use crate::wire::operator_offer::OperatorOffer;
use lendpay_domain::Store;
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::text::{Reason, TextError};
use maud::{Markup, html};
use poem::Request;

pub(super) async fn answer<S: Store>(
    visit: &Visit<'_, S>,
    request: &Request,
    form: Option<Pairs>,
) -> Result<Answer, Failure> {
    let offer = visit.get_offer(path(request)).await?;
    let Some(form) = form else {
        let from = offer.offer.status.0;
        if !can_decline(from) {
            let illegal = IllegalMove { from, to: Action::Decline.target(), indicative: false };
            return Err(OperatorFailure::IllegalMove(illegal).into());
        }
        return Ok(Page::new("Decline an offer", first(visit, &offer, "", None)).into());
    };
    let text = form.get("reason");
    match Reason::from_input(text) {
        Err(problem) => Ok(Page::new("Decline an offer", first(visit, &offer, text, Some(problem))).into()),
        Ok(reason) if form.get("sure") == "yes" => {
            visit.decline(path(request), reason).await?;
            Ok(Answer::see(format!("{HOME}/{}", address(&offer))))
        }
        Ok(reason) => Ok(Page::new("Really decline it?", second(visit, &offer, &reason)).into()),
    }
}

/// The form with the reason.
fn first<S: Store>(visit: &Visit<'_, S>, offer: &OperatorOffer, reason: &str, problem: Option<TextError>) -> Markup {
    let above = html! { @if let Some(problem) = problem { p.problem role="alert" { "The reason " (problem) "." } } };
    let fields = html! {
        label for="reason" { "Why did the customer turn it down? Operators read this in the event; partners do not." }
        input #reason name="reason" required maxlength="256" value=(reason);
        button type="submit" { "Decline …" }
    };
    form(visit, offer, &above, &fields)
}

/// The second question.
fn second<S: Store>(visit: &Visit<'_, S>, offer: &OperatorOffer, reason: &Reason) -> Markup {
    let above = html! {
        (facts(&[("Reason", html! { (reason.as_str()) })]))
        p { "An offer that is declined can no longer be accepted. This cannot be undone." }
    };
    let fields = html! {
        (hidden("reason", reason.as_str()))
        (hidden("sure", "yes"))
        button.danger type="submit" { "Yes, decline it" }
    };
    form(visit, offer, &above, &fields)
}

fn form<S: Store>(visit: &Visit<'_, S>, offer: &OperatorOffer, above: &Markup, fields: &Markup) -> Markup {
    html! {
        (facts(&[("Offer", html! { (offer.offer.id) }), ("Details", html! { (offer.offer.details) })]))
        (above)
        form.stacked method="post" action={ (HOME) "/" (address(offer)) "/decline" } {
            (hidden("token", &visit.token()))
            (fields)
        }
        p { (link(address(offer), "Back, without declining it")) }
    }
}
