//! The page that lists what a sandbox has and what it can be asked for. It is made from the tables.

use super::contents::{
    APPLICATION, BUYER, BUYER_OF_KEY, IDEMPOTENCY_KEY, KEYS, OFFERS, OTHER_APPLICATION, OTHER_OFFER, PARTNER,
};
use super::provocations::{HEADER, PROVOCATIONS};
use super::ways::{ORDINARY, Ordinary, WAYS, Way};
use crate::pages::site::{self, escape, table};
use crate::side::Side;
use std::fmt::Display;

/// The address of the page.
pub(super) const PAGE: &str = "/sandbox";
/// Of the clock.
pub(super) const CLOCK: &str = "/sandbox/clock";
/// Of the reset.
pub(super) const RESET: &str = "/sandbox/reset";

const HEAD: &str = "<h1>What is in the sandbox</h1>
<p>A whole service for trying out a client: never for real customers. Everybody knows its keys, and whoever reaches it
can read it, change it, move its clock and reset it. Every answer of it has the header <code>X-Sandbox: true</code>.
The operations are those of <a href=\"/reference\">the document</a>; nothing of this page is in it.</p>
";

/// The page.
pub(crate) fn html() -> String {
    let keys = KEYS.map(|key| [code(key.key), escape(key.about)]);
    let offers = OFFERS.map(|offer| [code(offer.id), escape(offer.about)]);
    let of_key = format!("The Idempotency-Key that a buyer with the name {BUYER_OF_KEY} alone was created with.");
    let others = [
        (PARTNER, "The partner that the keys belong to."),
        (APPLICATION, "Its application, to which the offers belong."),
        (BUYER, "A buyer of it."),
        (IDEMPOTENCY_KEY, of_key.as_str()),
        (OTHER_APPLICATION, "An application of another partner."),
        (OTHER_OFFER, "The offer of that application."),
    ]
    .map(|(id, about)| [code(id), escape(about)]);
    let provocations = PROVOCATIONS.each_ref().map(|known| [code(known.name), escape(known.about)]);
    let ordinary = ORDINARY.each_ref().map(request);
    let ways = WAYS.each_ref().map(answer);
    let sections = [
        "<h2>What is in it</h2>\n<p>These ids and keys never change.</p>\n".to_owned(),
        table(["Key", "Meaning"], &keys),
        table(["Offer", "Meaning"], &offers),
        table(["Other ids", "Meaning"], &others),
        format!(
            "<h2>Answers on demand</h2>\n<p>A request of an operation may have the header <code>{HEADER}</code> with \
             one of these values. Where the operation is carried out first and refuses, that is the answer.</p>\n"
        ),
        table([HEADER, "What happens"], &provocations),
        "<h2>Every answer of the document</h2>\n<p>These requests succeed, with the first key:</p>\n".to_owned(),
        table(["Operation", "Request", "Body"], &ordinary),
        "<p>Each other answer comes when the request differs from that as follows. <code>errorCode</code> is there \
         under <code>/lending</code> only.</p>\n"
            .to_owned(),
        table(["Status", "errorCode", "Operations", "In what the request differs"], &ways),
        format!(
            "<h2>Clock and reset</h2>\n<p><code>GET {CLOCK}</code> tells the time of the sandbox. \
             <code>POST {CLOCK}?by=30d</code> (a number and s, m, h or d) moves it on, for the expiry of offers and \
             keys and the times of events; never back, and never for time limits and rate limits. The time stays moved \
             when the sandbox is started again. <code>POST {RESET}</code> makes everything as it was in the beginning. \
             <code>lendpay sandbox clock +30d</code> and <code>lendpay sandbox reset</code> do the same.</p>\n"
        ),
    ];
    site::page(Side::Sandbox, PAGE, "What is in the sandbox", &format!("{HEAD}{}", sections.concat()))
}

fn request(ordinary: &Ordinary) -> [String; 3] {
    let call = ordinary.call(&Way { operations: &[], status: 200, code: "", differs: &[] });
    let body = if call.body.is_empty() { String::new() } else { code(call.body) };
    [escape(ordinary.operation), code(format!("{} {}", call.method, call.target)), body]
}

fn answer(way: &Way) -> [String; 4] {
    let operations = if way.operations.is_empty() { "all".to_owned() } else { way.operations.join(", ") };
    let differs: Vec<_> = way.differs.iter().map(code).collect();
    let differs = if differs.is_empty() { "in nothing".to_owned() } else { differs.join(" and ") };
    [way.status.to_string(), escape(way.code), escape(operations), differs]
}

fn code(text: impl Display) -> String {
    format!("<code>{}</code>", escape(text))
}
