//! Contract 2.11 on one database: processes count a partner's requests together.

use super::{Service, database};
use crate::process::{Reply, client, post};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many requests as come back within hours.
const LIMIT: usize = 640;

/// A process on a database.
fn limited(store: &str) -> Service {
    Service::start(store, &["--rate-limit", &format!("{LIMIT}/36000s")])
}

fn call(service: &Service, key: &str) -> Reply {
    let headers = [("x-service-apikey", key)];
    post(&client(), &service.address, "/payments/buyers", &headers, "{").expect("an answer")
}

/// What `RateLimit` says is left.
fn left(reply: &Reply) -> usize {
    let header = reply.headers["ratelimit"].to_str().expect("ASCII");
    header.split(';').find_map(|part| part.strip_prefix("r=")?.parse().ok()).expect("a number")
}

#[test]
fn a_limit_holds_over_processes_that_are_called_at_once() {
    let store = database();
    let services = [(); 3].map(|()| limited(&store));
    let key = services[0].partner().text;
    let (left_to_send, statuses) = (AtomicUsize::new(2 * LIMIT), [const { AtomicUsize::new(0) }; 2]);
    std::thread::scope(|scope| {
        for n in 0..24 {
            let (service, key, left_to_send, statuses) = (&services[n % 3], &key, &left_to_send, &statuses);
            scope.spawn(move || {
                while left_to_send.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
                {
                    match call(service, key).status {
                        400 => &statuses[0],
                        429 => &statuses[1],
                        other => panic!("{other}"),
                    }
                    .fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    // What processes have leased is used up in the end, and one request came back at most.
    let [let_in, refused] = statuses.map(AtomicUsize::into_inner);
    assert!((LIMIT..=LIMIT + 1).contains(&let_in), "{let_in} were let in");
    assert_eq!(let_in + refused, 2 * LIMIT);
    for service in &services {
        let reply = call(service, &key);
        let wait: u64 = reply.headers["retry-after"].to_str().expect("ASCII").parse().expect("seconds");
        assert_eq!((reply.status, left(&reply)), (429, 0));
        assert!((1..=57).contains(&wait), "until the next request comes back: {wait}");
    }
}

/// A process that has leased requests and gets no more of them keeps no others from using theirs.
#[test]
fn a_process_keeps_no_more_of_a_limit_for_itself_than_a_part() {
    let store = database();
    let services = [(); 2].map(|()| limited(&store));
    let key = services[0].partner().text;
    assert_eq!(left(&call(&services[0], &key)), LIMIT - 1);
    let mut counts = HashMap::<_, usize>::new();
    for _ in 0..LIMIT {
        *counts.entry(call(&services[1], &key).status).or_default() += 1;
    }
    assert!(counts[&400] >= LIMIT - LIMIT / 64, "{counts:?}");
    assert!(counts[&429] > 0, "{counts:?}");
}

#[test]
fn a_process_that_starts_again_finds_what_was_used() {
    let store = database();
    let first = limited(&store);
    let key = first.partner().text;
    while call(&first, &key).status == 400 {}
    drop(first);
    assert_eq!(call(&limited(&store), &key).status, 429);
}
