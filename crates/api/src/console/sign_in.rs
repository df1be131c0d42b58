//! Signing in with an operator's key. A wrong one counts for its address as on every operation.

use super::frame::{Page, hidden};
use super::session::{Wallet, token};
use super::visit::read_form;
use super::{Answer, HOME, SIGN_IN, stale_form};
use crate::context::Context;
use crate::failure::Failure;
use crate::operations::operator::Operator;
use crate::operator_failure::OperatorFailure;
use crate::operator_key::PresentedKey;
use maud::html;
use poem::Request;
use poem::http::Method;

pub(super) async fn answer<S>(
    operator: &Operator<S>,
    request: &Request,
    wallet: &Wallet,
    context: &Context,
) -> Result<Answer, Failure> {
    if request.method() != Method::POST {
        return Ok(page(wallet, None).into());
    }
    let form = read_form(context).await?;
    if !wallet.has_made(form.get("token")) {
        return Err(stale_form());
    }
    let key = form.get("key");
    operator.identify(&PresentedKey::typed(key), context)?;
    // The cookie from before has no part in the session.
    Ok(Answer::session(HOME, wallet.session(key, context.at)))
}

/// The form, and why it was refused.
pub(super) fn page(wallet: &Wallet, failure: Option<&Failure>) -> Page {
    let (cookie, set) = wallet.visitor();
    let problem = failure.map(|failure| match failure {
        Failure::Operator(OperatorFailure::InvalidKey) => "No operator has this key.".to_owned(),
        Failure::Operator(OperatorFailure::BadFields(problems)) => problems.join(" "),
        other => format!("{other}. Try again later."),
    });
    let body = html! {
        @if let Some(problem) = &problem { p.problem role="alert" { (problem) } }
        form.stacked method="post" action=(SIGN_IN) {
            (hidden("token", &token(&cookie)))
            label for="key" { "Your key" }
            input #key name="key" type="password" required autocomplete="current-password";
            button type="submit" { "Sign in" }
        }
        p {
            "Your key is the one that you have as an operator. A session ends when you sign out, after 8 hours, or when \
             the key is no longer listed."
        }
    };
    Page { cookie: Some(set), ..Page::new("Sign in", body) }
}
