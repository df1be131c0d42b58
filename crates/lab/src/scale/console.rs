//! What the pages of the operator's console take in a large store.

use super::listed::{self, FEW};
use crate::bench::report::median;
use crate::fill::Pair;
use crate::http::Connection;
use crate::server::{OPERATOR_KEY, Server};
use anyhow::{Context as _, ensure};
use std::time::Instant;

/// How often a page is read.
const ROUNDS: usize = 21;

/// What a page may take, in milliseconds.
const LIMIT: f64 = 100.0;

const HOME: &str = "/operator/console";

/// Signs in and reads every kind of page; fails if one takes too long.
pub fn pages(server: &Server, pair: &Pair, sequence: usize) -> anyhow::Result<()> {
    let mut browser = Connection::new(server.operator);
    let sign_in = format!("{HOME}/sign-in");
    let form = browser.call("GET", &sign_in, &[], b"")?;
    let page = form.body.as_str().context("no page")?;
    let token = page.split_once("name=\"token\" value=\"").and_then(|(_, rest)| rest.split_once('"'));
    let sent = format!("token={}&key={OPERATOR_KEY}", token.context("no token")?.0);
    let visitor = form.cookie.context("no cookie")?;
    let session = browser.call("POST", &sign_in, &[("Cookie", &visitor)], sent.as_bytes())?;
    ensure!(session.status == 303, "signing in was answered with {}", session.status);
    let session = session.cookie.context("no session")?;

    let Pair { application, offer, .. } = pair;
    let mut slowest = 0.0_f64;
    for (name, path) in [
        ("search", String::new()),
        ("search for an offer", format!("/search?q={offer}")),
        ("search for nothing", "/search?q=00000000-0000-4000-8000-00000000ffff".to_owned()),
        ("search for a number", "/search?q=00000007".to_owned()),
        ("partners", "/partners".to_owned()),
        ("partner with few", format!("/partners/{FEW}")),
        ("application", format!("/applications/{application}")),
        ("offer", format!("/applications/{application}/offers/{offer}")),
        ("decline", format!("/applications/{application}/offers/{offer}/decline")),
        ("buyers", "/buyers".to_owned()),
        ("buyers of a partner", format!("/buyers?partnerId={FEW}")),
        ("buyer", format!("/buyers/{offer}")),
        ("operation", format!("/operations/{}", listed::operation(sequence))),
        ("operation, unknown", format!("/operations/{}", "f".repeat(32))),
        ("events", "/events".to_owned()),
        ("events of a day", "/events?from=2026-01-02&until=2026-01-03".to_owned()),
        ("events of a type that none has", "/events?type=offer.declined".to_owned()),
        ("events of a partner", format!("/events?partnerId={FEW}")),
        ("events of an application", format!("/events?applicationId={application}")),
        ("events of an offer", format!("/events?offerId={offer}")),
    ] {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            let answer = browser.call("GET", &format!("{HOME}{path}"), &[("Cookie", &session)], b"")?;
            times.push(begin.elapsed().as_secs_f64() * 1_000.0);
            let found = answer.status == 200 || path.starts_with("/search") && answer.status == 303;
            ensure!(found, "{path}: {}", answer.status);
        }
        let time = median(&mut times);
        slowest = slowest.max(time);
        println!("  console, {name}: {time:.1} ms");
    }
    ensure!(slowest < LIMIT, "a page of the console took {slowest:.0} ms");
    Ok(())
}
