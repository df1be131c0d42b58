//! The service's single operator key (contract 2.9): who has it may do everything. And what requests present.

use crate::operator_failure::OperatorFailure;
use lendpay_domain::key::KeyHash;
use poem::http::HeaderMap;
use std::collections::BTreeSet;
use std::fmt;

const HEADER: &str = "x-operator-key";

/// The key, as its digest.
#[derive(Clone)]
pub struct OperatorKey(KeyHash);

/// The key is shorter than [`OperatorKey::SHORTEST`], has fewer than [`OperatorKey::VARIETY`] different characters, or
/// holds what a header cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOperatorKey;

impl fmt::Display for BadOperatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (length, variety) = (OperatorKey::SHORTEST, OperatorKey::VARIETY);
        write!(
            f,
            "the operator key must have at least {length} visible ASCII characters, at least {variety} of them different"
        )
    }
}

impl std::error::Error for BadOperatorKey {}

impl OperatorKey {
    /// The fewest characters that a key may have.
    pub const SHORTEST: usize = 32;

    /// The fewest different characters that a key may have: a word that is repeated has fewer, random digits have more.
    pub const VARIETY: usize = 10;

    /// Checks length and characters.
    ///
    /// # Errors
    /// See [`BadOperatorKey`].
    pub fn parse(text: &str) -> Result<Self, BadOperatorKey> {
        let different = text.bytes().collect::<BTreeSet<_>>().len();
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        let good = visible && text.len() >= Self::SHORTEST && different >= Self::VARIETY;
        if good { Ok(Self(KeyHash::of(text))) } else { Err(BadOperatorKey) }
    }

    pub(crate) const fn hash(&self) -> KeyHash {
        self.0
    }

    /// Whether this is the hash of the key.
    pub(crate) fn is(&self, presented: KeyHash) -> bool {
        same(self.0, presented)
    }
}

/// Compares hashes to the last byte whatever they hold: the time tells nothing of a key.
pub(crate) fn same(a: KeyHash, b: KeyHash) -> bool {
    let difference = a.to_bytes().iter().zip(b.to_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(difference) == 0
}

impl fmt::Debug for OperatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorKey(…)")
    }
}

/// What a request presents: nothing, one readable header, which is kept as its hash, or something else.
pub(crate) struct PresentedKey(Option<Option<KeyHash>>);

impl PresentedKey {
    /// Reads the header.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(HEADER).iter();
        let first = values.next();
        Self(first.map(|value| value.to_str().ok().filter(|_| values.next().is_none()).map(KeyHash::of)))
    }

    /// What a person has typed.
    pub fn typed(text: &str) -> Self {
        Self(Some(Some(KeyHash::of(text))))
    }

    /// The hash of the one readable header.
    pub fn hash(&self) -> Result<KeyHash, OperatorFailure> {
        self.0.ok_or(OperatorFailure::NoKey)?.ok_or(OperatorFailure::InvalidKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_key_has_32_visible_characters_or_more_10_of_them_different() {
        assert!(OperatorKey::parse(GOOD).is_ok());
        let blank = format!("{GOOD} ");
        let repeated = "012345678".repeat(9);
        for text in ["", &GOOD[1..], &blank, "ä123456789abcdef0123456789abcdef", &repeated] {
            assert!(OperatorKey::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_key_itself_is_let_through_and_debug_hides_it() {
        let key = OperatorKey::parse(GOOD).expect("long enough");
        let admit = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, value.parse().expect("a header value"));
            }
            PresentedKey::of(&headers).hash().map(|presented| key.is(presented))
        };
        assert_eq!(admit(&[GOOD]), Ok(true));
        assert_eq!(admit(&[]), Err(OperatorFailure::NoKey));
        for unreadable in [&[GOOD, GOOD][..], &["é"]] {
            assert_eq!(admit(unreadable), Err(OperatorFailure::InvalidKey), "{unreadable:?}");
        }
        for wrong in ["", &GOOD[1..], "0123456789ABCDEF0123456789ABCDEF"] {
            assert_eq!(admit(&[wrong]), Ok(false), "{wrong:?}");
        }
        assert_eq!(format!("{key:?}"), "OperatorKey(…)");
    }
}
