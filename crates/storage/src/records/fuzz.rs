//! Values that are damaged although their checksum is right, as another program could write them: refused, never a panic.

use super::*;
use crate::codec;
use lendpay_domain::key::KeyHash;
use lendpay_domain::testing::fuzz::{config, mutated, seeds};
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId};
use proptest::prelude::*;

const WORDS: &[&[u8]] =
    &[b"\0", b"\x01", b"\x80", b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"GB"];

/// Bodies like those of records: ids, then times, codes and texts with their lengths before them.
fn bodies() -> Vec<Vec<u8>> {
    let id = "0123456789abcdef";
    seeds(&[
        "",
        id,
        &format!("{id}\x04Name\0"),
        &format!("{id}{id}\x04Name\x03\x02\x01\0\0"),
        &format!("{id}\x02\x01\0\x01\x04Name\x01\x080123\x01\x02GB\x01\0\0"),
        &format!("{id}\0\x01\x02\x03\0\x02\x10Details\x010.0905"),
    ])
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn values(body in mutated(bodies(), WORDS), bare in any::<bool>()) {
        let mut value = Vec::new();
        codec::begin(&mut value);
        value.extend_from_slice(&body);
        codec::finish(&mut value, codec::MAX_VALUE).expect("short");
        if bare {
            value = body;
        }
        let id = [1; 16];
        let hash = KeyHash::of("key");
        let _ = codec::unseal::<BuyerRecord<'_>>(&value).and_then(|record| record.buyer(BuyerId::from_bytes(id)));
        let _ = codec::unseal::<PartnerRecord<'_>>(&value).and_then(|record| record.partner(PartnerId::from_bytes(id)));
        let _ = codec::unseal::<KeyRow<'_>>(&value).and_then(|record| record.key(hash));
        let _ = codec::unseal::<ApplicationRecord>(&value).map(|record| record.partner);
        let _ = offer_of(ApplicationId::from_bytes(id), OfferId::from_bytes(id), &value);
        if let Ok((head, _)) = OfferHead::of(&value) {
            let _ = (head.status(), head.offer_type(), head.expiry_at());
        }
    }
}
