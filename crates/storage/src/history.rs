//! Ids of histories (see `lendpay_domain::HistoryId`).

use lendpay_domain::HistoryId;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The id of a history that begins now.
pub(crate) fn new_history() -> HistoryId {
    let bytes = [random().to_be_bytes(), random().to_be_bytes()].concat();
    let bytes = bytes.try_into().expect("two times eight bytes");
    HistoryId::new(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// Differs from run to run. Nothing secret depends on it: the keys that the standard library draws for its maps are
/// enough.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
