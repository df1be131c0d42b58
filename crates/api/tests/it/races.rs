//! Contract 2.1, Must hold 4: many at once want something of one offer.

use crate::context::samples::{start, terms, terms_until};
use crate::context::{Answer, Client, Context, Placed};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Status;
use lendpay_domain::command::MoveOutcome;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

const CALLERS: usize = 64;

/// Accepts when everybody is ready.
fn accept(barrier: &Arc<Barrier>, client: Client, placed: Placed) -> JoinHandle<Answer> {
    let barrier = Arc::clone(barrier);
    tokio::spawn(async move {
        barrier.wait().await;
        client.accept(placed).await
    })
}

/// Moves when everybody is ready.
fn act(barrier: &Arc<Barrier>, context: &Context, placed: Placed, action: Action) -> JoinHandle<MoveOutcome> {
    let (barrier, context) = (Arc::clone(barrier), context.clone());
    tokio::spawn(async move {
        barrier.wait().await;
        context.try_move(placed, action).await
    })
}

async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.expect("the task does not panic"));
    }
    results
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_concurrent_accepts_one_is_the_transition_and_all_see_it() {
    let context = Context::new().await;
    let (placed, barrier) = (context.offer(terms()).await, Arc::new(Barrier::new(CALLERS)));
    let answers = all((0..CALLERS).map(|_| accept(&barrier, context.partner_a(), placed)).collect()).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.bytes), (200, &answers[0].bytes));
    }
    assert_eq!(context.event_types().await, ["offer.created", "offer.accepted"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_concurrent_accepts_of_an_expired_offer_none_succeeds_and_one_event_tells() {
    let context = Context::new().await;
    let (placed, barrier) = (context.offer(terms_until(start())).await, Arc::new(Barrier::new(CALLERS)));
    for answer in all((0..CALLERS).map(|_| accept(&barrier, context.partner_a(), placed)).collect()).await {
        answer.is_error(409, Some("OfferExpired"));
    }
    assert_eq!(context.event_types().await, ["offer.created", "offer.expired"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_concurrent_accepts_and_declines_one_wins_and_every_loser_is_told_the_truth() {
    let context = Context::new().await;
    // A round goes to whoever comes first; a few rounds see both.
    for _ in 0..8 {
        let (placed, barrier) = (context.offer(terms()).await, Arc::new(Barrier::new(CALLERS)));
        let (mut accepts, mut declines) = (Vec::new(), Vec::new());
        for _ in 0..CALLERS / 2 {
            declines.push(act(&barrier, &context, placed, Action::Decline));
            accepts.push(accept(&barrier, context.partner_a(), placed));
        }
        let (accepts, declines) = (all(accepts).await, all(declines).await);
        let done = declines.iter().filter(|outcome| matches!(outcome, MoveOutcome::Done(_))).count();
        match context.seen(placed).await.status {
            Status::CustomerAccepted => {
                assert!(accepts.iter().all(|answer| answer.status == 200));
                assert_eq!(done, 0);
            }
            Status::CustomerDeclined => {
                accepts.iter().for_each(|answer| answer.is_error(409, Some("OfferDeclined")));
                assert_eq!(done, 1);
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(context.events().await.len(), 8 * 2, "one creation and one transition in each round");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_concurrent_accepts_and_archives_the_last_word_is_archived() {
    let context = Context::new().await;
    let (placed, barrier) = (context.offer(terms()).await, Arc::new(Barrier::new(CALLERS)));
    let (mut accepts, mut archives) = (Vec::new(), Vec::new());
    for _ in 0..CALLERS / 2 {
        accepts.push(accept(&barrier, context.partner_a(), placed));
        archives.push(act(&barrier, &context, placed, Action::Archive));
    }
    let (accepts, archives) = (all(accepts).await, all(archives).await);
    assert_eq!(archives.iter().filter(|outcome| matches!(outcome, MoveOutcome::Done(_))).count(), 1);
    let accepted = accepts.iter().filter(|answer| answer.status == 200).count();
    accepts.iter().filter(|answer| answer.status != 200).for_each(|a| a.is_error(409, Some("OfferArchived")));
    // Accepted first and archived then, or archived at once.
    let told = context.event_types().await;
    match accepted {
        0 => assert_eq!(told, ["offer.created", "offer.archived"]),
        _ => assert_eq!(told, ["offer.created", "offer.accepted", "offer.archived"]),
    }
    assert_eq!(context.seen(placed).await.status, Status::Archived);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_accepts_of_different_offers_all_succeed() {
    let context = Context::new().await;
    let barrier = Arc::new(Barrier::new(CALLERS));
    let mut tasks = Vec::new();
    for _ in 0..CALLERS {
        tasks.push(accept(&barrier, context.partner_a(), context.offer(terms()).await));
    }
    context.pass(Duration::from_secs(1));
    assert!(all(tasks).await.iter().all(|answer| answer.status == 200));
    assert_eq!(context.events().await.len(), 2 * CALLERS);
}
