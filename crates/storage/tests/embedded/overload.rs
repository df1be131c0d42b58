//! Too much to do.

use crate::conformance::samples::*;
use crate::{empty, open};
use lendpay_domain::StoreError;
use lendpay_domain::command::CreateBuyerOutcome;
use lendpay_domain::query::Scope;
use lendpay_domain::store::{Commands as _, Queries as _};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[tokio::test]
async fn what_has_waited_too_long_is_refused_and_not_done() {
    let directory = empty();
    let mut impatient = EmbeddedOptions::default();
    impatient.patience = Duration::ZERO;
    let store = EmbeddedStore::open(directory.path(), impatient).expect("opens");
    assert_eq!(store.run(creation(1, 1, None, description(), 3)).await, Err(StoreError::Overloaded));
    assert_eq!(store.find_buyer(Scope::All, buyer_id(1)).await, Ok(None));
    assert_eq!(all_events(&store).await, []);
    assert_eq!(store.failure_reason(), None, "the next one may come in time");
}

#[tokio::test]
async fn more_than_the_queue_holds_is_refused_and_the_rest_is_done() {
    let directory = empty();
    let mut options = EmbeddedOptions::default();
    options.queue = 8;
    let store = EmbeddedStore::open(directory.path(), options).expect("opens");
    with_partner(&store, 1).await;
    let (mut waiting, mut done) = (Vec::new(), 0);
    let mut context = Context::from_waker(Waker::noop());
    // Handing over takes a microsecond and a group takes a sync: the queue fills up.
    for n in 0.. {
        let mut future = Box::pin(store.run(creation(1, n, None, description(), 3)));
        match future.as_mut().poll(&mut context) {
            Poll::Pending => waiting.push(future),
            // This thread was away for that long.
            Poll::Ready(Ok(CreateBuyerOutcome::Created(_))) => done += 1,
            Poll::Ready(answer) => {
                assert_eq!(answer, Err(StoreError::Overloaded));
                break;
            }
        }
    }
    done += waiting.len();
    for future in waiting {
        assert!(matches!(future.await, Ok(CreateBuyerOutcome::Created(_))));
    }
    assert_eq!(types_after(&store, 0).await.len(), done);
}

#[tokio::test]
async fn what_is_too_long_is_refused_and_nothing_is_done() {
    let directory = empty();
    let store = open(directory.path());
    with_partner(&store, 1).await;
    let mut long = description();
    long.name = Some("x".repeat(lendpay_domain::import::TEXT_LIMIT + 2_000));
    assert_eq!(store.run(creation(1, 1, None, long, 3)).await, Err(StoreError::Unavailable));
    assert_eq!(store.find_buyer(Scope::All, buyer_id(1)).await, Ok(None));
    assert!(types_after(&store, 0).await.is_empty());
    assert_eq!(store.failure_reason(), None);
}

/// sled moves long pages to files of their own, which it never syncs.
#[tokio::test]
async fn long_values_go_into_no_file_of_their_own() {
    let directory = empty();
    let store = open(directory.path());
    with_partner(&store, 1).await;
    crate::seen::together(60, async |n| {
        let mut long = description();
        long.name = Some("x".repeat(65_000));
        let answer = store.run(creation(1, n, None, long, 3)).await;
        assert!(matches!(answer, Ok(CreateBuyerOutcome::Created(_))));
    })
    .await;
    let blobs = std::fs::read_dir(directory.path().join("index").join("blobs")).expect("there").count();
    assert_eq!(blobs, 0);
}
