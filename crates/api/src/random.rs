//! Ids and secrets: the one place that draws random bits.
//!
//! The generator is rand's thread-local ChaCha, seeded and reseeded by the operating system: no system call for a
//! request.

use lendpay_domain::{BuyerId, EndpointId, EventId, KeyId, OperationId, Timestamp};
use uuid::Uuid;

/// 256 bits for an API key, or for a secret of webhooks.
pub fn key_bits() -> [u8; 32] {
    rand::random()
}

/// What is used once with a key for encryption.
pub(crate) fn nonce() -> [u8; 12] {
    rand::random()
}

/// A UUID of version 4.
pub fn uuid() -> Uuid {
    uuid::Builder::from_random_bytes(rand::random()).into_uuid()
}

/// An id for an event.
pub fn event_id() -> EventId {
    EventId::new(uuid())
}

/// An id for a request that brought none.
pub(crate) fn operation_id() -> OperationId {
    OperationId::from_bytes(rand::random())
}

/// An id for a span, which must not be all zeros (W3C Trace Context, section 3.2.2.4).
pub fn span_id() -> [u8; 8] {
    rand::random::<std::num::NonZeroU64>().get().to_be_bytes()
}

/// From 0 to 1, by which retries are spread.
pub fn jitter() -> f64 {
    rand::random()
}

/// An id for a key that is made at `at`: a UUID of version 7, so that keys sort by age.
pub(crate) fn key_id(at: Timestamp) -> KeyId {
    KeyId::new(uuid_v7(at))
}

/// An id for an endpoint that is added at `at`: a UUID of version 7, so that endpoints sort by age.
pub(crate) fn endpoint_id(at: Timestamp) -> EndpointId {
    EndpointId::new(uuid_v7(at))
}

/// An id for a buyer that is created at `at`: a UUID of version 7, so that buyers sort by age.
pub(crate) fn buyer_id(at: Timestamp) -> BuyerId {
    BuyerId::new(uuid_v7(at))
}

fn uuid_v7(at: Timestamp) -> Uuid {
    let millis = u64::try_from(at.timestamp_millis()).expect("clocks are past 1970");
    uuid::Builder::from_unix_timestamp_millis(millis, &rand::random()).into_uuid()
}
