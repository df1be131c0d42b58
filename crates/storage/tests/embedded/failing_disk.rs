//! A disk that refuses to write, for real: a child process whose files may not grow past a limit.

use crate::child::{command, directory, numbers, say};
use crate::conformance::samples::*;
use crate::seen::records;
use crate::{empty, open};
use lendpay_domain::StoreError;
use lendpay_domain::buyer::Description;
use lendpay_domain::change::Change;
use lendpay_domain::query::Scope;
use lendpay_domain::store::{Commands as _, Queries as _};
use std::sync::Arc;

/// The child: writes until the disk refuses, and says what was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test below, in a process of its own"]
async fn child() {
    let store = Arc::new(open(&directory()));
    with_partner(&*store, 1).await;
    let failure = tokio::spawn(store.failure());
    let writers: Vec<_> = (0..16)
        .map(|writer: u64| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in (writer..).step_by(16) {
                    let long = Description { name: Some("x".repeat(20_000)), ..description() };
                    match store.run(creation(1, n, None, long, 3)).await {
                        Ok(_) => say(&format!("acknowledged {n}")),
                        Err(error) => return error,
                    }
                }
                unreachable!("the numbers do not end");
            })
        })
        .collect();
    let mut errors = Vec::new();
    for writer in writers {
        errors.push(writer.await.expect("no writer panics"));
    }
    assert!(errors.iter().all(|error| matches!(error, StoreError::OutcomeUnknown | StoreError::Unavailable)));
    assert!(errors.contains(&StoreError::OutcomeUnknown), "those of the group that failed");
    let reason = failure.await.expect("the failure is published");
    assert_eq!(store.failure_reason(), Some(reason.clone()));
    assert_eq!(store.run(accept(1, 1, 5)).await, Err(StoreError::Unavailable));
    assert_eq!(store.find_buyer(Scope::All, buyer_id(0)).await, Err(StoreError::Unavailable));
    assert_eq!(store.close().await, Err(StoreError::Unavailable));
    say(&format!("failed {reason}"));
    // Dropping the last handle returns.
}

#[tokio::test]
async fn a_disk_that_refuses_ends_the_store_and_loses_nothing() {
    let directory = empty();
    drop(open(directory.path()));
    // The signal is ignored so that the write fails instead; the limit is 512 or 1024 times 40,000 bytes.
    let output = command("failing_disk::child", directory.path(), r#"trap "" XFSZ; ulimit -f 40000"#).output();
    let output = output.expect("sh runs");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("failed a write to or read from the disk failed"), "{said}");
    let said: Vec<String> = said.lines().map(str::to_owned).collect();
    let acknowledged = numbers(&said, "acknowledged ");
    assert!(acknowledged.len() > 100, "{said:?}");
    assert!(!directory.path().join("mark").exists(), "what a failed write has left is not trusted");
    let store = open(directory.path());
    assert!(store.open_report().rebuilt);
    for n in acknowledged {
        assert!(store.find_buyer(Scope::All, buyer_id(n)).await.expect("works").is_some(), "{n}");
    }
    // The log and the index agree.
    // The first two are the partner and its application.
    for record in records(&store).await.expect("works").into_iter().skip(2) {
        let Change::BuyerCreated { buyer, .. } = record.change else { panic!("only buyers were created") };
        assert!(store.find_buyer(Scope::All, buyer).await.expect("works").is_some());
    }
}
