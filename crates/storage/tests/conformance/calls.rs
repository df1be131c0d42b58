//! Calls that changed nothing: found by their operation, for a while, in a bounded space that nobody fills alone.

use super::Backend;
use super::samples::*;
use lendpay_domain::PartnerId;
use lendpay_domain::calls::{Call, FOUND, Keeping, Owner};
use lendpay_domain::store::Calls;
use std::time::Duration;

/// A backend whose store can be told how to keep calls.
pub trait KeepsCalls: Backend {
    /// Makes an empty store that keeps calls like this.
    fn keeping(keeping: Keeping) -> impl Future<Output = Self> + Send;
}

async fn found<B: Backend>(backend: &B, n: u64, seconds: i64) -> Vec<Call> {
    backend.store().calls_of(call(n, 0).operation, at(seconds)).await.expect("works")
}

/// A call of which as little as possible is known.
fn bare(n: u64, seconds: i64) -> Call {
    let (application, offer, buyer) = (None, None, None);
    let (partner, actor, route, error_code, errors) = (None, None, None, None, Vec::new());
    let method = "-".to_owned();
    Call { method, route, application, offer, buyer, partner, actor, error_code, errors, ..call(n, seconds) }
}

pub async fn a_call_comes_back_exactly<B: KeepsCalls>() {
    let backend = B::fresh().await;
    assert_eq!(found(&backend, 1, 0).await, []);
    for call in [call(1, 0), bare(2, 1)] {
        backend.store().note_call(call);
    }
    assert_eq!(found(&backend, 1, 2).await, [call(1, 0)]);
    assert_eq!(found(&backend, 2, 2).await, [bare(2, 1)]);
    assert_eq!(found(&backend, 3, 2).await, []);
}

pub async fn the_last_calls_of_an_operation_are_found_in_their_order<B: KeepsCalls>() {
    let backend = B::fresh().await;
    let end = i64::try_from(FOUND).expect("small") + 5;
    for seconds in (0..end).rev() {
        backend.store().note_call(call(1, seconds));
        backend.store().note_call(call(2, seconds));
    }
    let wanted: Vec<_> = (5..end).map(|seconds| call(1, seconds)).collect();
    assert_eq!(found(&backend, 1, end).await, wanted);
}

pub async fn what_is_too_old_is_not_found<B: KeepsCalls>() {
    let backend = B::keeping(Keeping { time: Duration::from_secs(60), ..Keeping::DEFAULT }).await;
    for seconds in [0, 50] {
        backend.store().note_call(call(1, seconds));
    }
    assert_eq!(found(&backend, 1, 60).await, [call(1, 0), call(1, 50)]);
    assert_eq!(found(&backend, 1, 61).await, [call(1, 50)]);
    assert_eq!(found(&backend, 1, 111).await, []);
    backend.store().note_call(call(1, 300));
    assert_eq!(found(&backend, 1, 300).await, [call(1, 300)]);
    assert_eq!(found(&backend, 1, 60).await, [call(1, 300)], "those before are gone, and not only hidden");
}

pub async fn what_is_kept_is_there_after_a_crash_and_a_restart<B: KeepsCalls>() {
    let backend = B::fresh().await;
    backend.store().note_call(call(1, 0));
    assert_eq!(found(&backend, 1, 9).await, [call(1, 0)]);
    let backend = backend.crash().await;
    backend.store().note_call(call(1, 1));
    let backend = backend.reopen().await;
    backend.store().note_call(call(1, 2));
    assert_eq!(found(&backend, 1, 9).await, [call(1, 0), call(1, 1), call(1, 2)]);
}

/// The bytes that calls may take together in the next test, and those of a message in each of them.
const SPACE: u64 = 1 << 16;
const MESSAGE: usize = 500;

fn long(n: u64, partner: Option<PartnerId>, seconds: i64) -> Call {
    let actor = partner.and(call(n, 0).actor);
    Call { partner, actor, errors: vec!["x".repeat(MESSAGE)], ..call(n, seconds) }
}

/// Notes many calls of somebody under one operation; how many of them are found, the last one among them.
async fn fill<B: Backend>(backend: &B, n: u64, partner: Option<PartnerId>) -> usize {
    let mut seconds = 1_000 * i64::try_from(n).expect("small");
    for _ in 0..4 {
        for _ in 0..50 {
            seconds += 1;
            backend.store().note_call(long(n, partner, seconds));
        }
        assert_eq!(found(backend, n, seconds).await.last(), Some(&long(n, partner, seconds)));
    }
    found(backend, n, seconds).await.len()
}

pub async fn nobody_has_more_than_its_share_of_the_space<B: KeepsCalls>() {
    let backend = B::keeping(Keeping { bytes: SPACE, ..Keeping::DEFAULT }).await;
    let most = |owner: Owner| usize::try_from(owner.share(SPACE)).expect("small") / MESSAGE;
    backend.store().note_call(call(99, 0));
    let unknown = fill(&backend, 1, None).await;
    assert!((3..=most(Owner::Nobody)).contains(&unknown), "{unknown}");
    assert_eq!(found(&backend, 99, 9).await, [call(99, 0)], "it is in another's share");
    let (one, two) = (partner(2), partner(3));
    let first = fill(&backend, 2, Some(one)).await;
    assert!((10..=most(Owner::Partner(one))).contains(&first), "{first}");
    assert_eq!(found(&backend, 1, 999).await.len(), unknown);
    fill(&backend, 3, Some(two)).await;
    assert_eq!((found(&backend, 1, 999).await.len(), found(&backend, 2, 999).await.len()), (unknown, first));
    // All together have no more than the space; the oldest have gone.
    for p in 4..10 {
        fill(&backend, p, Some(partner(p))).await;
    }
    let mut all = 0;
    for n in 1..10 {
        all += found(&backend, n, 999).await.len();
    }
    assert!((50..=most(Owner::Operator)).contains(&all), "{all}");
    assert_eq!(found(&backend, 99, 9).await, []);
}
