//! Keys that change, and an issuer that cannot be reached.

use crate::fake_issuer::FakeIssuer;
use crate::party::{BUYERS, Service};
use crate::process::{client, post};
use crate::signer::{Signer, claims};
use std::time::{Duration, Instant};

#[test]
fn a_new_key_works_after_one_fetch_and_an_old_token_ends_with_its_key() {
    let (old, new) = (Signer::es256("old"), Signer::es256("new"));
    let issuer = FakeIssuer::start(vec![old.public()]);
    let mut service = Service::with_issuer(&["northwind"], &issuer.url, &[]);
    service.wait_for_keys();
    let claims = claims(&issuer.url);
    let seen = old.token(&claims);
    assert!(service.accepts(&seen) && service.accepts(&seen));

    issuer.publish(vec![new.public()]);
    // On a busy machine this one may give up waiting before the keys are there.
    service.post_with(BUYERS, &new.token(&claims));
    service.wait_for_keys();
    assert!(service.accepts(&new.token(&claims)));
    assert_eq!(issuer.fetches(), 2);
    assert!(!service.accepts(&seen));
}

#[test]
fn an_attacker_with_random_key_ids_causes_three_fetches() {
    let (good, bad) = (Signer::es256("good"), Signer::es256("bad"));
    let issuer = FakeIssuer::start(vec![good.public()]);
    let mut service = Service::with_issuer(&["northwind"], &issuer.url, &[]);
    service.wait_for_keys();
    let claims = claims(&issuer.url);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (address, bad, claims) = (&service.server.address, &bad, &claims);
            scope.spawn(move || {
                let client = client();
                for n in 0..20 {
                    let mut header = bad.header();
                    header.kid = Some(format!("{writer} {n}"));
                    let bearer = format!("Bearer {}", bad.token_with(&header, claims));
                    let reply = post(&client, address, BUYERS, &[("authorization", &bearer)], "{}");
                    assert_eq!(reply.expect("an answer").status, 401);
                }
            });
        }
    });
    // The one at the start, and three in each minute that a busy machine took.
    let most = 4 + 3 * (start.elapsed().as_secs() / 60);
    assert!((2..=most).contains(&issuer.fetches()), "{}", issuer.fetches());
    assert!(service.accepts(&good.token(&claims)));
}

#[test]
fn nobody_waits_long_for_an_issuer_that_never_answers() {
    let (good, new) = (Signer::es256("good"), Signer::es256("new"));
    let issuer = FakeIssuer::start(vec![good.public()]);
    let mut service = Service::with_issuer(&["northwind"], &issuer.url, &[]);
    service.wait_for_keys();
    issuer.fall_silent();
    let claims = claims(&issuer.url);
    // What is waited for is two seconds; the rest is for a busy machine. The issuer itself never answers.
    let patient = ureq::Agent::config_builder().http_status_as_error(false);
    let patient: ureq::Agent = patient.timeout_global(Some(Duration::from_secs(20))).build().into();
    let bearer = format!("Bearer {}", new.token(&claims));
    for _ in 0..3 {
        let reply = post(&patient, &service.server.address, BUYERS, &[("authorization", &bearer)], "{}");
        assert_eq!(reply.expect("an answer in time").status, 401);
    }
    assert!(service.accepts(&good.token(&claims)), "keys that are known are used on");
}

#[test]
fn a_service_starts_and_takes_keys_while_its_issuer_cannot_be_reached() {
    // A port that nobody listens on.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let issuer = format!("http://{}", taken.local_addr().expect("an address"));
    drop(taken);
    let mut service = Service::with_issuer(&["northwind"], &issuer, &[]);
    let warning = service.server.process.wait_for("the issuer's keys cannot be fetched; those that are known stay");
    assert!(warning["reason"].as_str().is_some_and(|reason| reason.contains(&issuer)), "{warning}");
    let token = Signer::es256("any").token(&claims(&issuer));
    assert!(!service.accepts(&token));
    let reply = post(&client(), &service.server.address, BUYERS, &[("x-service-apikey", &service.key)], "{}");
    assert_eq!(reply.expect("an answer").status, 201);
}
