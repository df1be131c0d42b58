//! Several processes, and which of them serves an endpoint.

use super::{Backend as _, Postgres, open};
use crate::conformance::samples::*;
use lendpay_domain::store::{Commands as _, Webhooks as _};
use lendpay_domain::webhook::HELD;
use lendpay_domain::{EndpointId, HolderId};
use std::time::{Duration, Instant};

const ONE: HolderId = HolderId::from_bytes([1; 16]);
const OTHER: HolderId = HolderId::from_bytes([2; 16]);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_at_a_time_serves_an_endpoint_and_another_does_soon_after_its_end() {
    let backend = Postgres::fresh().await;
    let (one, other) = (backend.store(), open(&backend.address).await);
    with_partner(&**one, 1).await;
    for n in [1, 2] {
        one.run(add_endpoint(endpoint(1, n))).await.expect("works");
    }
    let hold = async |store: &lendpay_storage::PostgresStore, holder, endpoints: &[u64]| -> Vec<EndpointId> {
        let mut held = store.hold(holder, endpoints.iter().copied().map(endpoint_id).collect()).await.expect("works");
        held.sort_unstable();
        held
    };
    assert_eq!(hold(one, ONE, &[1, 9]).await, [endpoint_id(1)], "one that is not there is held by nobody");
    assert_eq!(hold(&other, OTHER, &[1, 2]).await, [endpoint_id(2)]);
    assert_eq!(hold(one, ONE, &[1, 2]).await, [endpoint_id(1)]);
    // What is done to an endpoint does not change who serves it.
    one.run(change_endpoint(1, lendpay_domain::command::EndpointChange::Pause)).await.expect("works");
    assert_eq!(hold(&other, OTHER, &[1]).await, []);
    one.release(ONE).await.expect("works");
    assert_eq!(hold(&other, OTHER, &[1]).await, [endpoint_id(1)], "at once");
    // A process that ends without a word.
    let begin = Instant::now();
    while hold(one, ONE, &[2]).await.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(30), "nobody serves it any more");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(begin.elapsed() < HELD + Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(hold(&other, OTHER, &[2]).await, []);
}
