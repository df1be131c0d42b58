//! What is in a new sandbox. These ids and keys never change between versions, so that they can be written into a
//! client's tests.

use lendpay_domain::key::{Access, Area};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::OfferType;

/// Whose keys, applications, offers and buyers these are.
pub const PARTNER: &str = "5a4db0c5-0000-4000-8000-000000000001";

/// Another partner.
pub const OTHER_PARTNER: &str = "5a4db0c5-0000-4000-8000-000000000002";

/// The application that all offers belong to.
pub const APPLICATION: &str = "5a4db0c5-0000-4000-8000-000000000100";

/// An application of the other partner, and its offer.
pub const OTHER_APPLICATION: &str = "5a4db0c5-0000-4000-8000-000000000101";
/// The offer of the other partner.
pub const OTHER_OFFER: &str = "5a4db0c5-0000-4000-8000-000000000299";

/// A buyer that was created without an `Idempotency-Key`.
pub const BUYER: &str = "5a4db0c5-0000-4000-8000-000000000301";

/// The `Idempotency-Key` that another buyer was created with.
pub const IDEMPOTENCY_KEY: &str = "sandbox-used";

/// The name of the buyer that was created with [`IDEMPOTENCY_KEY`]; the request said nothing else.
pub const BUYER_OF_KEY: &str = "Southwind Bicycles Ltd";

/// A key of a sandbox.
#[derive(Clone, Copy, Debug)]
pub struct SandboxKey {
    /// What is presented.
    pub key: &'static str,
    /// Its public id.
    pub id: &'static str,
    /// What it is good for.
    pub about: &'static str,
    /// What it may be used for.
    pub areas: &'static [Area],
    /// What it may do there.
    pub access: Access,
    /// When it expires, in seconds from the beginning.
    pub expires_in: Option<i64>,
}

/// The key that may do everything.
pub const KEY: &str = "lendpay_sandbox_key";
pub(super) const KEY_WITHOUT_AREAS: &str = "lendpay_sandbox_key_without_areas";
pub(super) const EXPIRED_KEY: &str = "lendpay_sandbox_expired_key";

const DAY: i64 = 24 * 60 * 60;

const FULL: SandboxKey = SandboxKey {
    key: KEY,
    id: "5a4db0c5-0000-4000-8000-000000000011",
    about: "May do everything.",
    areas: &Area::ALL,
    access: Access::Full,
    expires_in: None,
};

/// The keys.
pub const KEYS: [SandboxKey; 5] = [
    FULL,
    SandboxKey {
        key: "lendpay_sandbox_read_key",
        id: "5a4db0c5-0000-4000-8000-000000000012",
        about: "May only read.",
        access: Access::Read,
        ..FULL
    },
    SandboxKey {
        key: KEY_WITHOUT_AREAS,
        id: "5a4db0c5-0000-4000-8000-000000000013",
        about: "Is valid, and may do nothing.",
        areas: &[],
        ..FULL
    },
    SandboxKey {
        key: EXPIRED_KEY,
        id: "5a4db0c5-0000-4000-8000-000000000014",
        about: "Has expired.",
        expires_in: Some(-DAY),
        ..FULL
    },
    SandboxKey {
        key: "lendpay_sandbox_key_for_30_days",
        id: "5a4db0c5-0000-4000-8000-000000000015",
        about: "May do everything, and expires after 30 days: move the clock.",
        expires_in: Some(30 * DAY),
        ..FULL
    },
];

/// An offer of a sandbox.
#[derive(Clone, Copy, Debug)]
pub struct SandboxOffer {
    /// Its id, in [`APPLICATION`].
    pub id: &'static str,
    /// Its status and what it is good for.
    pub about: &'static str,
    /// How firm it is. An indicative one has no amount and no duration.
    pub offer_type: OfferType,
    /// When it expires, in seconds from the beginning.
    pub expires_in: i64,
    /// What was done to it before the beginning. An accept that comes too late records that the offer has expired.
    pub moves: &'static [Action],
}

pub(super) const OFFERED: &str = "5a4db0c5-0000-4000-8000-000000000201";
pub(super) const DECLINED: &str = "5a4db0c5-0000-4000-8000-000000000204";
pub(super) const ACCEPTED: &str = "5a4db0c5-0000-4000-8000-000000000205";
pub(super) const EXPIRED: &str = "5a4db0c5-0000-4000-8000-000000000206";
pub(super) const ARCHIVED: &str = "5a4db0c5-0000-4000-8000-000000000208";
pub(super) const TO_DECLINE: &str = "5a4db0c5-0000-4000-8000-000000000209";

const PLAIN: SandboxOffer = SandboxOffer {
    id: OFFERED,
    about: "Offered: accept it",
    offer_type: OfferType::Underwritten,
    expires_in: 14 * DAY,
    moves: &[],
};

/// The offers; the first one can be accepted.
pub const OFFERS: [SandboxOffer; 10] = [
    PLAIN,
    SandboxOffer {
        id: "5a4db0c5-0000-4000-8000-000000000202",
        about: "Offered, indicative: amount and duration are null",
        offer_type: OfferType::Indicative,
        ..PLAIN
    },
    SandboxOffer {
        id: "5a4db0c5-0000-4000-8000-000000000203",
        about: "Offered, expires 5 s after the start",
        expires_in: 5,
        ..PLAIN
    },
    SandboxOffer {
        id: DECLINED,
        about: "CustomerDeclined: accepting it is a conflict",
        moves: &[Action::Decline],
        ..PLAIN
    },
    SandboxOffer {
        id: ACCEPTED,
        about: "CustomerAccepted: accepting it again is fine",
        moves: &[Action::Accept],
        ..PLAIN
    },
    SandboxOffer {
        id: EXPIRED,
        about: "Expired: accepting it is a conflict",
        expires_in: -DAY,
        moves: &[Action::Accept],
        ..PLAIN
    },
    SandboxOffer {
        id: "5a4db0c5-0000-4000-8000-000000000207",
        about: "Advanced: accepting it again is fine",
        moves: &[Action::Accept, Action::Advance],
        ..PLAIN
    },
    SandboxOffer { id: ARCHIVED, about: "Archived: accepting it is a conflict", moves: &[Action::Archive], ..PLAIN },
    SandboxOffer { id: TO_DECLINE, about: "Offered: decline it", ..PLAIN },
    SandboxOffer {
        id: "5a4db0c5-0000-4000-8000-000000000210",
        about: "CustomerAccepted, indicative: cannot be Advanced",
        offer_type: OfferType::Indicative,
        moves: &[Action::Accept],
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::OfferId;
    use lendpay_domain::key::ApiKey;

    /// Clients' tests have these written into them.
    #[test]
    fn ids_and_keys_never_change() {
        assert_eq!(
            [PARTNER, APPLICATION, OTHER_APPLICATION, OTHER_OFFER, BUYER].map(|id| &id[33..]),
            ["001", "100", "101", "299", "301"]
        );
        assert_eq!(
            OFFERS.map(|offer| &offer.id[33..]),
            ["201", "202", "203", "204", "205", "206", "207", "208", "209", "210"]
        );
        let ids = [PARTNER, OTHER_PARTNER, APPLICATION, OTHER_APPLICATION, OTHER_OFFER, BUYER];
        for id in ids.into_iter().chain(OFFERS.map(|offer| offer.id)).chain(KEYS.map(|key| key.id)) {
            assert!(id.starts_with("5a4db0c5-0000-4000-8000-000000000"), "{id}");
            assert!(OfferId::parse(id).is_some(), "{id}");
        }
        assert_eq!(
            KEYS.map(|key| key.key.strip_prefix(ApiKey::SANDBOX_PREFIX)),
            ["key", "read_key", "key_without_areas", "expired_key", "key_for_30_days"].map(Some)
        );
    }
}
