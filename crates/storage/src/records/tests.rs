//! Every record comes back as it was, and damage is always found.

use super::*;
use crate::codec::{self, CodecError};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::KeyHash;
use lendpay_domain::offer::{Offer, Status};
use lendpay_domain::testing::strategies::{descriptions, keys, moments, partners, terms};
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Reads a value as every record there is; only a panic is an error.
fn read_as_everything(value: &[u8]) -> [bool; 5] {
    let (offer, application) = (OfferId::from_bytes([1; 16]), ApplicationId::from_bytes([2; 16]));
    let id = [3; 16];
    [
        offer_of(application, offer, value).is_ok(),
        codec::unseal::<BuyerRecord<'_>>(value).and_then(|r| r.buyer(BuyerId::from_bytes(id))).is_ok(),
        codec::unseal::<PartnerRecord<'_>>(value).and_then(|r| r.partner(PartnerId::from_bytes(id))).is_ok(),
        codec::unseal::<KeyRow<'_>>(value).and_then(|r| r.key(KeyHash::of(""))).is_ok(),
        codec::unseal::<ApplicationRecord>(value).is_ok(),
    ]
}

/// No bit can flip and no end can be missing without being found.
fn damage_is_found(value: &[u8], seed: usize) {
    let mut hurt = value.to_vec();
    let bit = seed % (value.len() * 8);
    hurt[bit / 8] ^= 1 << (bit % 8);
    assert_eq!(codec::open(&hurt), Err(CodecError::Damaged));
    assert_eq!(codec::open(&value[..seed % value.len()]), Err(CodecError::Damaged));
}

proptest! {
    #[test]
    fn offers(
        terms in terms(),
        status in select(Status::ALL),
        at in moments(),
        ids in any::<[[u8; 16]; 3]>(),
        seed in any::<usize>(),
    ) {
        let [id, application, partner] = ids;
        let offer = Offer {
            id: OfferId::from_bytes(id),
            application: ApplicationId::from_bytes(application),
            partner: PartnerId::from_bytes(partner),
            terms,
            status,
            status_changed_at: at,
        };
        let (mut tail, mut value) = (Vec::new(), Vec::new());
        codec::append(&OfferTail::from(&offer.terms), &mut tail).expect("small");
        OfferHead::new(offer.partner, &offer.terms, status, at).seal(&tail, &mut value).expect("small");
        let read = offer_of(offer.application, offer.id, &value);
        // Debug shows the scale of decimals, which equality does not.
        prop_assert_eq!(format!("{:?}", read), format!("{:?}", Ok::<_, CodecError>(offer)));
        damage_is_found(&value, seed);
    }

    #[test]
    fn buyers(
        description in descriptions(),
        at in moments(),
        ids in any::<[[u8; 16]; 2]>(),
        print in option::of(any::<[u8; 32]>()),
        seed in any::<usize>(),
    ) {
        let [id, partner] = ids;
        let record = BuyerRecord::new(PartnerId::from_bytes(partner), at, print.map(Fingerprint::from_bytes), &description);
        let mut value = Vec::new();
        codec::seal(&record, &mut value).expect("small");
        let read: BuyerRecord<'_> = codec::unseal(&value).expect("readable");
        prop_assert!(read == record);
        let buyer = read.buyer(BuyerId::from_bytes(id)).expect("readable");
        prop_assert!(buyer.description == description);
        prop_assert_eq!((buyer.created_at, buyer.id.to_bytes(), buyer.partner.to_bytes()), (at, id, partner));
        damage_is_found(&value, seed);
    }

    #[test]
    fn partners_and_keys(partner in partners(), key in keys(), seed in any::<usize>()) {
        let mut value = Vec::new();
        codec::seal(&PartnerRecord::from(&partner), &mut value).expect("small");
        let read = codec::unseal::<PartnerRecord<'_>>(&value).expect("readable").partner(partner.id);
        prop_assert_eq!(read, Ok(partner));
        damage_is_found(&value, seed);

        codec::seal(&KeyRow::from(&key), &mut value).expect("small");
        prop_assert_eq!(codec::unseal::<KeyRow<'_>>(&value).expect("readable").key(key.hash), Ok(key));
        damage_is_found(&value, seed);
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(read_as_everything(&bytes), [false; 5]);
        // With the right frame around them, the bodies are random.
        let mut value = Vec::new();
        codec::begin(&mut value);
        value.extend_from_slice(&bytes);
        codec::finish(&mut value, codec::MAX_VALUE).expect("small");
        read_as_everything(&value);
    }
}

#[test]
fn a_version_of_the_future_is_not_damage() {
    let mut value = Vec::new();
    codec::seal(&ApplicationRecord { partner: [1; 16] }, &mut value).expect("small");
    assert_eq!(value.len(), 21);
    value.truncate(17);
    value[0] = 2;
    codec::finish(&mut value, codec::MAX_VALUE).expect("small");
    assert_eq!(codec::open(&value), Err(CodecError::Version(2)));
}

#[test]
fn what_is_too_long_is_refused() {
    let mut value = Vec::new();
    let text = "x".repeat(codec::MAX_VALUE);
    assert_eq!(codec::seal(&text.as_str(), &mut value), Err(CodecError::TooLong));
    assert_eq!(codec::seal(&&text[..codec::MAX_VALUE - 8], &mut value), Ok(()));
}
