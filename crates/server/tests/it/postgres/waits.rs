//! Expiries and waiting readers, with two processes on one database.

use super::{Service, database};
use serde_json::{Value, json};
use std::collections::HashSet;

#[test]
fn expiries_are_recorded_once_and_readers_of_both_processes_learn_of_them() {
    let store = database();
    let (one, other) = (Service::start(&store, &[]), Service::start(&store, &[]));
    one.partner();
    let offers = one.offers(200);
    // They have expired when they are written.
    let terms = json!({
        "details": "A test", "fundingType": "TermLoan", "offerType": "Underwritten", "annualPercentageRate": 0.09,
        "expiryAt": "2020-01-01T00:00:00Z",
    });
    let expired = |service: &Service| {
        let (mut found, mut after) = (Vec::new(), 0);
        while found.len() < offers.len() {
            let path = format!("/operator/events?type=offer.expired&wait=25&after={after}");
            let (status, page) = service.operate("GET", &path, None);
            assert_eq!(status, 200, "{page}");
            found.extend(page["items"].as_array().expect("a list").iter().cloned());
            after = found.last().map_or(after, |event: &Value| event["sequence"].as_u64().expect("a number"));
        }
        found
    };
    let [first, second] = std::thread::scope(|scope| {
        let readers = [&one, &other].map(|service| scope.spawn(|| expired(service)));
        for (n, offer) in offers.iter().enumerate() {
            (if n % 2 == 0 { &one } else { &other }).must("PUT", &offer.operator_path(), &terms);
        }
        readers.map(|reader| reader.join().expect("no panic"))
    });
    assert_eq!(first, second);
    let ids: HashSet<_> = first.iter().map(|event| event["offerId"].as_str().expect("an id")).collect();
    assert_eq!((first.len(), ids.len()), (offers.len(), offers.len()), "each of them once");
    let clock = |event: &Value| event["actor"] == "clock" && event["occurredAt"] == "2020-01-01T00:00:00Z";
    assert!(first.iter().all(clock), "{first:#?}");
}
