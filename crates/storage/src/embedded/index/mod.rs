//! The index over the log: what is where, and what decisions need. It holds nothing that the log does not hold, so it
//! can be deleted and rebuilt.

pub(crate) mod sled;

use super::log::Place;
use super::problem::Problem;
use crate::codec::{self, CodecError};
use crate::records::{Time, offer_type_code, offer_type_of, status_code, status_of, times};
use lendpay_domain::buyer::Description;
use lendpay_domain::life_cycle::Standing;
use lendpay_domain::view::StoredOffer;
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId};
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// A table of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Table {
    /// Application and offer → a sealed [`OfferValue`].
    Offers,
    /// Partner and buyer → a sealed [`BuyerValue`].
    Buyers,
    /// Partner → a sealed partner.
    Partners,
    /// Hash → a sealed key.
    Keys,
    /// Application → its sealed owner.
    Applications,
    /// Partner and application → a sealed nothing.
    ApplicationsOf,
    /// Hash of a key → the sealed time of its last use.
    Uses,
    /// Endpoint of webhooks → it and its progress, sealed.
    Webhooks,
    /// Sequence (big-endian) → where its frame begins, for some of the frames.
    Frames,
    /// Sequence and place of the beginning of a block of the log (both big-endian) → its sealed filter: see
    /// [`super::filters`].
    Filters,
    /// Span of time and place (both big-endian) → sealed ids of offers that expire then: see [`super::due`].
    Due,
    /// Span of time and block of the log (both big-endian) → sealed places of terms: see [`super::expired`].
    Expired,
    /// `reached` → how far the index has come: see [`super::base`].
    Notes,
}

impl Table {
    /// Every table, in the order of the variants, with its name.
    pub(crate) const ALL: [(Self, &str); 13] = [
        (Self::Offers, "offers"),
        (Self::Buyers, "buyers"),
        (Self::Partners, "partners"),
        (Self::Keys, "keys"),
        (Self::Applications, "applications"),
        (Self::ApplicationsOf, "applications_of"),
        (Self::Uses, "uses"),
        (Self::Webhooks, "webhooks"),
        (Self::Frames, "frames"),
        (Self::Filters, "filters"),
        (Self::Due, "due"),
        (Self::Expired, "expired"),
        (Self::Notes, "notes"),
    ];

    pub(crate) const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// A key as a log line shows it. The hash of an API key is never shown.
    pub(crate) fn shown(self, key: &[u8]) -> String {
        if matches!(self, Self::Keys | Self::Uses) {
            return "(hidden)".to_owned();
        }
        key.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A key and its value.
pub(crate) type Item<V> = Result<(V, V), Problem>;

/// Items in order.
pub(crate) type Items<V> = Box<dyn DoubleEndedIterator<Item = Item<V>> + Send>;

/// An ordered map for each table. What is written can be read at once. After a crash of the process any prefix of what
/// was written since the last flush is there; after a crash of the machine nothing may be relied on.
pub(crate) trait Index: Send + Sync + 'static {
    /// The bytes of a key or a value.
    type Bytes: AsRef<[u8]> + Send;

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Self::Bytes>, Problem>;
    fn insert(&self, table: Table, key: &[u8], value: &[u8]) -> Result<(), Problem>;
    fn remove(&self, table: Table, key: &[u8]) -> Result<(), Problem>;
    /// The items of a range in order.
    fn range(&self, table: Table, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Items<Self::Bytes>;
    /// The items of a table in order.
    fn all(&self, table: Table) -> Items<Self::Bytes> {
        self.range(table, Bound::Unbounded, Bound::Unbounded)
    }
    /// Hands everything to the operating system.
    fn flush(&self) -> Result<(), Problem>;
    /// Flushes, and makes everything durable.
    fn sync(&self) -> Result<(), Problem>;
}

/// Opens and deletes indexes.
pub(crate) trait IndexOpener {
    type Index: Index;

    /// Whether there is an index.
    fn exists(&self) -> bool;
    /// Opens the index, which is created if it is absent.
    fn open(&self) -> Result<Self::Index, Problem>;
    /// Deletes the index.
    fn delete(&self) -> Result<(), Problem>;
}

/// A key of two ids. What has the same first id lies side by side.
pub(crate) fn pair(first: [u8; 16], second: [u8; 16]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&first);
    bytes[16..].copy_from_slice(&second);
    bytes
}

/// The key of a buyer.
pub(crate) fn buyer_key(partner: PartnerId, buyer: BuyerId) -> [u8; 32] {
    pair(partner.to_bytes(), buyer.to_bytes())
}

/// The key of an offer.
pub(crate) fn offer_key(application: ApplicationId, offer: OfferId) -> [u8; 32] {
    pair(application.to_bytes(), offer.to_bytes())
}

/// What the index holds of a buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuyerValue {
    /// Where its creation is in the log.
    pub place: Place,
    /// The checksum of its registration number: a list by number reads only buyers that can have it.
    number: Option<u32>,
}

impl BuyerValue {
    pub(crate) fn of(place: Place, description: &Description) -> Self {
        Self { place, number: description.registration_number.as_deref().map(checksum) }
    }

    /// Whether the buyer can have a registration number.
    pub(crate) fn may_have(&self, number: &str) -> bool {
        self.number == Some(checksum(number))
    }
}

fn checksum(text: &str) -> u32 {
    crc32c::crc32c(text.as_bytes())
}

/// What the index holds of an offer: all that decisions need, and where the terms are.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OfferValue {
    partner: [u8; 16],
    status: u8,
    status_changed_at: Time,
    offer_type: u8,
    expiry_at: Option<Time>,
    terms: Place,
}

impl From<&StoredOffer<Place>> for OfferValue {
    fn from(offer: &StoredOffer<Place>) -> Self {
        let Standing { status, status_changed_at, offer_type, expiry_at } = offer.standing;
        Self {
            partner: offer.partner.to_bytes(),
            status: status_code(status),
            status_changed_at: status_changed_at.into(),
            offer_type: offer_type_code(offer_type),
            expiry_at: expiry_at.map(Time::from),
            terms: offer.terms,
        }
    }
}

impl TryFrom<OfferValue> for StoredOffer<Place> {
    type Error = CodecError;

    fn try_from(value: OfferValue) -> Result<Self, CodecError> {
        let standing = Standing {
            status: status_of(value.status)?,
            status_changed_at: value.status_changed_at.try_into()?,
            offer_type: offer_type_of(value.offer_type)?,
            expiry_at: times(value.expiry_at)?,
        };
        Ok(Self { partner: PartnerId::from_bytes(value.partner), standing, terms: value.terms })
    }
}

/// Reads a value of the index.
pub(crate) fn unsealed<'a, T: Deserialize<'a>>(value: &'a impl AsRef<[u8]>) -> Result<T, CodecError> {
    codec::unseal(value.as_ref())
}
