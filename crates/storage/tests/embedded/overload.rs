//! Too much to do.

use crate::conformance::samples::*;
use lendpay_domain::{Store, StoreError};
use lendpay_storage::{SledOptions, SledStore};
use std::time::Duration;
use tempfile::TempDir;

#[tokio::test]
async fn what_has_waited_too_long_is_refused_and_not_done() {
    let directory = TempDir::new().expect("a temporary directory");
    let impatient = {
        let mut options = SledOptions::default();
        options.patience = Duration::ZERO;
        options
    };
    let store = SledStore::open(directory.path(), impatient).expect("opens");
    assert_eq!(store.create_buyer(creation(1, 1, None, description(), 3)).await, Err(StoreError::Overloaded));
    assert_eq!(store.find_buyer(buyer_id(1)).await, Ok(None));
    assert!(all_events(&store).await.is_empty());
    assert_eq!(store.failure_reason(), None, "the next one may come in time");
}
