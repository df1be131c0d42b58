//! The store's answers held against the domain's rule, in every state that an offer's row can be in.

use crate::Postgres;
use crate::conformance::samples::*;
use lendpay_cluster::Cluster;
use lendpay_domain::command::MoveOutcome;
use lendpay_domain::life_cycle::{Action, Verdict};
use lendpay_domain::offer::{OfferType, Status, Terms};
use lendpay_domain::store::{Commands as _, Queries as _};

/// When the terms of the samples expire.
const EXPIRY: i64 = 1_000;

/// Rows are put into each state by hand, not by commands that might share a mistake.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_status_and_action_before_at_and_after_expiry() {
    let url = Cluster::shared().database();
    let database = url.rsplit('/').next().expect("a name");
    let store = Postgres::at(&url).await.store;
    with_partner(&*store, 1).await;
    let (mut cases, mut sql) = (Vec::new(), String::new());
    for &status in Status::ALL {
        for action in Action::ALL {
            for &offer_type in OfferType::ALL {
                for now in [EXPIRY - 1, EXPIRY, EXPIRY + 1] {
                    let n = cases.len() as u64;
                    let mut row = with_offer(&*store, 1, n, Terms { offer_type, ..terms() }).await;
                    row.status = status;
                    sql.push_str(&format!("UPDATE offers SET status = '{status}' WHERE offer_id = '{}';", offer(n)));
                    cases.push((n, row, action, now));
                }
            }
        }
    }
    assert_eq!(cases.len(), 6 * 4 * 2 * 3);
    Cluster::shared().sql(database, &sql);
    let before = all_events(&*store).await.len();
    let mut changes = 0;
    for (n, row, action, now) in cases {
        let ruling = row.standing().decide(action, at(now));
        let case = format!("{} {action:?} {} at {now}", row.status, row.terms.offer_type);
        let mut wanted = row.clone();
        let moved = match ruling.verdict {
            Verdict::Moves(transition) => Some(transition),
            Verdict::Stands | Verdict::Illegal(_) => None,
        };
        for transition in ruling.expired.into_iter().chain(moved) {
            (wanted.status, wanted.status_changed_at) = (transition.status, transition.at);
            changes += 1;
        }
        let is = match ruling.verdict {
            Verdict::Moves(_) => MoveOutcome::Done(wanted.clone()),
            Verdict::Stands => MoveOutcome::Unchanged(wanted.clone()),
            Verdict::Illegal(illegal) => MoveOutcome::Illegal(illegal),
        };
        let command = if action == Action::Accept { accept(1, n, now) } else { go(n, action, now) };
        assert_eq!(store.run(command).await, Ok(is), "{case}");
        // What is stored, not what a reader would make of it.
        let stored = store.find_offer(application(1), offer(n), at(0)).await.expect("works").expect("there");
        assert_eq!(stored, wanted, "{case}");
    }
    assert_eq!(all_events(&*store).await.len(), before + changes);
}
