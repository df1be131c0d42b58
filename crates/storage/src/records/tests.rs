//! Every record comes back as it was, and damage is always found.

use super::*;
use crate::codec;
use lendpay_domain::testing::fuzz::{config, mutated};
use lendpay_domain::testing::imports::base;
use lendpay_domain::testing::samples::{description, record};
use lendpay_domain::testing::strategies::records;
use proptest::collection::vec;
use proptest::prelude::*;

fn sealed(record: &lendpay_domain::change::Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = codec::seal(&Entry::from(record), &mut bytes).expect("short");
    assert_eq!(length, bytes.len());
    bytes
}

proptest! {
    #[test]
    fn a_record_comes_back_as_it_was(record in records(), seed in any::<usize>(), follows in vec(any::<u8>(), 0..9)) {
        let mut bytes = sealed(&record);
        let read = codec::unseal::<Entry<'_>>(&bytes).and_then(|entry| entry.record(record.sequence.unwrap_or(7)));
        let wanted = lendpay_domain::change::Record { sequence: Some(record.sequence.unwrap_or(7)), ..record };
        // Debug shows the scale of decimals, which equality does not.
        prop_assert_eq!(format!("{:?}", read), format!("{:?}", Ok::<_, CodecError>(wanted.clone())));
        prop_assert!(read == Ok(wanted));
        // No end can be missing.
        prop_assert!(codec::unseal::<Entry<'_>>(&bytes[..seed % bytes.len()]).is_err());
        // What follows belongs to the next.
        bytes.extend(&follows);
        let rest = codec::take::<Entry<'_>>(&bytes).map(|(_, rest)| rest.to_vec());
        prop_assert_eq!(rest, Ok(follows.clone()));
        prop_assert_eq!(codec::unseal::<Entry<'_>>(&bytes).is_ok(), follows.is_empty());
        // No bit can flip.
        bytes.truncate(bytes.len() - follows.len());
        let bit = seed % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(codec::unseal::<Entry<'_>>(&bytes).is_err());
    }
}

const WORDS: &[&[u8]] =
    &[b"\0", b"\x01", b"\x80", b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"GB"];

/// The records of an import without their checksums.
fn bodies() -> Vec<Vec<u8>> {
    let sealed = (1..).zip(base()).map(|(n, change)| sealed(&record(n, change)));
    sealed.map(|bytes| bytes[..bytes.len() - 4].to_vec()).collect()
}

proptest! {
    #![proptest_config(config())]

    /// Bytes that another program could have written: their checksum is right.
    #[test]
    fn fuzz_no_bytes_make_reading_panic(mut bytes in mutated(bodies(), WORDS), with_checksum in any::<bool>()) {
        if with_checksum {
            // Of the part that is read as a record, whatever follows.
            if let Ok((_, rest)) = postcard::take_from_bytes::<Entry<'_>>(&bytes) {
                bytes.truncate(bytes.len() - rest.len());
            }
            bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        }
        let _ = codec::unseal::<Entry<'_>>(&bytes).and_then(|entry| entry.record(1));
    }
}

#[test]
fn a_record_that_is_too_long_is_refused_and_leaves_the_buffer() {
    let long = lendpay_domain::buyer::Description { name: Some("x".repeat(codec::LONGEST)), ..description() };
    let mut buffer = vec![1, 2, 3];
    assert_eq!(codec::seal(&DescriptionRecord::from(&long), &mut buffer), Err(CodecError::TooLong));
    assert_eq!(buffer, [1, 2, 3]);
}
