//! Contract 2.2: nobody learns what exists.

use crate::context::samples::{start, terms};
use crate::context::{Context, Placed, path};
use lendpay_domain::offer::Status;
use lendpay_domain::{ApplicationId, OfferId};

#[tokio::test]
async fn what_is_not_the_callers_is_the_same_404_as_what_does_not_exist() {
    let context = Context::new().await;
    let mine = context.offer(terms()).await;
    let theirs = context.offer_of_b(terms()).await;
    let other_application = context.a().new_application(context.store(), start()).await;
    let (application, offer) = (mine.application.to_string(), mine.offer.to_string());
    let paths = [
        ("another partner's offer", theirs.path()),
        ("another partner's application with an offer of one's own", path(theirs.application, &offer)),
        ("one's own application with another partner's offer", path(&application, theirs.offer)),
        ("an unknown offer", path(&application, OfferId::new(lendpay_api::uuid()))),
        ("an unknown application", path(ApplicationId::new(lendpay_api::uuid()), &offer)),
        ("another application of one's own", path(other_application, &offer)),
        ("the ids the wrong way round", path(&offer, &application)),
        ("no UUID", path(&application, "not-a-uuid")),
        ("an application that is no UUID", path("1", &offer)),
        ("a UUID too short", path(&application, &offer[1..])),
        ("a UUID without hyphens", path(&application, offer.replace('-', ""))),
        ("a UUID in braces", path(&application, format!("%7B{offer}%7D"))),
        ("an application in braces", path(format!("%7B{application}%7D"), &offer)),
        ("a URN", path(&application, format!("urn:uuid:{offer}"))),
        ("the nil UUID", path(&application, "00000000-0000-0000-0000-000000000000")),
        ("bytes that are no UTF-8", path(&application, "%FF")),
        ("an application of such bytes", path("%ff%FE", &offer)),
        ("a zero byte", path(&application, "%00")),
        ("a slash", path(&application, "a%2Fb")),
        ("a good id and a space", path(&application, format!("{offer}%20"))),
        ("not percent encoded to the end", path(&application, "%F")),
        ("nothing", path(&application, "")),
        ("very long", path(&application, "a".repeat(4_000))),
    ];
    let mut bodies = Vec::new();
    for (what, path) in &paths {
        let answer = context.partner_a().post(path).send().await;
        assert_eq!(answer.status, 404, "{what}");
        answer.is_error(404, Some("OfferNotFound"));
        bodies.push((what, answer.timeless()));
    }
    for (what, body) in &bodies {
        assert_eq!(body, &bodies[0].1, "{what}");
    }
    assert_eq!(context.event_types().await, ["offer.created", "offer.created"]);
}

#[tokio::test]
async fn another_partners_offer_is_untouched_by_an_accept() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    context.partner_b().accept(placed).await.is_error(404, Some("OfferNotFound"));
    assert_eq!(context.seen(placed).await.status, Status::Offered);
    assert_eq!(context.partner_a().accept(placed).await.status, 200);
}

#[tokio::test]
async fn another_partners_accepted_offer_is_the_same_404() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let before = context.partner_b().accept(placed).await;
    assert_eq!(context.partner_a().accept(placed).await.status, 200);
    let after = context.partner_b().accept(placed).await;
    after.is_error(404, Some("OfferNotFound"));
    assert_eq!(after.timeless(), before.timeless());
}

#[tokio::test]
async fn the_same_offer_id_in_two_applications_is_two_offers() {
    let context = Context::new().await;
    let mine = context.offer(terms()).await;
    let theirs = context.put_offer(Placed { application: context.b().application, ..mine }, terms()).await;
    assert_eq!(context.partner_b().accept(theirs).await.status, 200);
    assert_eq!(context.seen(mine).await.status, Status::Offered);
    assert_eq!(context.partner_a().accept(mine).await.status, 200);
}
