//! Buyers, with their bank details masked; in full when asked for, which is an event.

use super::frame::{Page, buyer as to_buyer, facts, filters, hidden, link, maybe, more, partner, table, time};
use super::visit::Visit;
use super::{Answer, HOME, Pairs};
use crate::failure::Failure;
use crate::operations::id;
use crate::wire::operator_buyer::{FullAccount, OperatorBuyer};
use lendpay_domain::{PartnerId, Store};
use maud::{Markup, html};
use poem::Request;

pub(super) async fn buyers<S: Store>(visit: &Visit<'_, S>, query: &Pairs) -> Result<Answer, Failure> {
    const FILTERS: [(&str, &str, &str); 2] =
        [("registrationNumber", "Registration number", "text"), ("partnerId", "Partner’s id", "text")];
    let found = visit.list_buyers(&query.some(&["registrationNumber", "partnerId", "after"])).await?;
    let row = |buyer: &OperatorBuyer| {
        let (number, country) = (maybe(&buyer.registration_number), maybe(&buyer.country_code));
        vec![to_buyer(buyer.id), maybe(&buyer.name), number, country, partner(buyer.partner_id), time(buyer.created_at)]
    };
    let heads = ["Id", "Name", "Registration number", "Country", "Partner", "Registered"];
    let body = html! {
        (filters("buyers", None, &FILTERS, query))
        (table("Buyers found", &heads, found.items.iter().map(row)))
        (more(&found.next, &format!("{HOME}/buyers"), &query.some(&FILTERS.map(|(name, ..)| name))))
    };
    Ok(Page::new("Buyers", body).into())
}

/// A buyer; `in_full` when that was asked for.
pub(super) async fn buyer<S: Store>(visit: &Visit<'_, S>, request: &Request, in_full: bool) -> Result<Answer, Failure> {
    let id = id(request, "buyerId");
    let buyer = if in_full { visit.read_buyer(&[], id).await? } else { visit.get_buyer(&[], id).await? };
    let owner = visit.get_partner(&[], Some(PartnerId::new(buyer.partner_id))).await?;
    let account = buyer.bank_account.map(|account| if in_full { account } else { account.masked() });
    let body = html! {
        (facts(&[
            ("Id", html! { (buyer.id) }),
            ("Name", maybe(&buyer.name)),
            ("Registration number", maybe(&buyer.registration_number)),
            ("Country", maybe(&buyer.country_code)),
            ("Partner", html! { (owner.name) " " (partner(owner.id)) }),
            ("Registered", time(buyer.created_at)),
            ("What happened", link(format_args!("events?buyerId={}", buyer.id), "Events of this buyer")),
        ]))
        h2 { "Bank account" }
        @if let Some(account) = account {
            (details(&account))
            @if in_full {
                p { "That you have read this is an event: " code { "buyer.read_in_full" } "." }
            } @else {
                form method="post" action={ (HOME) "/buyers/" (buyer.id) } {
                    (hidden("token", &visit.token()))
                    button type="submit" { "Show the details in full" }
                    " That you have read them is kept."
                }
            }
        } @else {
            p.none { "None." }
        }
    };
    Ok(Page::new("Buyer", body).into())
}

fn details(account: &FullAccount) -> Markup {
    let FullAccount { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = account;
    facts(&[
        ("Account name", maybe(account_name)),
        ("IBAN", maybe(iban)),
        ("Account number", maybe(account_number)),
        ("Sort code", maybe(sort_code)),
        ("BIC", maybe(bic)),
        ("Currency", maybe(currency_code)),
        ("Account type", maybe(account_type)),
    ])
}
