//! A disk that refuses to write, for real: a child process whose files may not grow past a limit.

use crate::conformance::samples::*;
use crate::open;
use lendpay_domain::{Store, StoreError};
use lendpay_storage::{SledOptions, SledStore};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

const DIRECTORY: &str = "LENDPAY_TEST_DIRECTORY";

/// The child: writes until the disk refuses, and says what was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test below, in a process of its own"]
async fn child() {
    #[expect(clippy::disallowed_methods, reason = "how the parent tells its child where to write")]
    let directory = std::env::var(DIRECTORY).expect("run by the test below");
    let store = Arc::new(SledStore::open(Path::new(&directory), SledOptions::default()).expect("opens"));
    let failure = tokio::spawn(store.failure());
    let writers: Vec<_> = (0..16)
        .map(|writer: u64| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for n in (writer..).step_by(16) {
                    match store.create_buyer(creation(1, n, None, description(), 3)).await {
                        Ok(_) => drop(writeln!(std::io::stdout(), "acknowledged {n}")),
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
    assert_eq!(store.accept_offer(accept(1, 1, 5)).await, Err(StoreError::Unavailable));
    assert_eq!(store.find_buyer(buyer_id(0)).await, Err(StoreError::Unavailable));
    assert_eq!(store.close().await, Err(StoreError::Unavailable));
    drop(writeln!(std::io::stdout(), "failed {reason}"));
    // Dropping the last handle returns.
}

#[tokio::test]
async fn a_disk_that_refuses_ends_the_store_and_loses_nothing() {
    let directory = TempDir::new().expect("a temporary directory");
    drop(open(&directory));
    // The signal is ignored so that the write fails instead; the limit is 512 or 1024 times 50,000 bytes.
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 50000; exec "$0" "$@""#])
        .arg(std::env::current_exe().expect("a test has a path"))
        .args(["--exact", "failing_disk::child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory.path())
        .output()
        .expect("sh runs");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("failed a write to or read from the disk failed"), "{said}");
    let acknowledged: Vec<u64> =
        said.lines().filter_map(|line| line.split_once("acknowledged ")?.1.parse().ok()).collect();
    assert!(acknowledged.len() > 100, "{said}");
    let store = open(&directory);
    for n in acknowledged {
        assert!(store.find_buyer(buyer_id(n)).await.expect("works").is_some(), "{n}");
    }
    // Whole groups only: every buyer with its event, every event with its buyer.
    for event in all_events(&store).await {
        if let lendpay_domain::event::Subject::Buyer(id) = event.subject {
            assert!(store.find_buyer(id).await.expect("works").is_some());
        }
    }
}
