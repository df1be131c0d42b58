//! Identifiers, one type for each kind, so that they cannot be mixed up.

use std::fmt;
use uuid::Uuid;

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// Reads the 36-character form of RFC 9562, upper or lower case. Other spellings of a UUID (braces, a URN,
            /// 32 digits) are not ids here: one resource has one address.
            pub fn parse(text: &str) -> Option<Self> {
                if text.len() != 36 {
                    return None;
                }
                Uuid::try_parse(text).ok().map(Self)
            }

            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// The 16 bytes of the id, in network order.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.into_bytes()
            }

            /// The inverse of [`Self::to_bytes`].
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )+};
}

uuid_ids! {
    /// A partner: a platform whose customers borrow and buy.
    PartnerId,
    /// A loan application of a partner's customer.
    ApplicationId,
    /// An offer, unique within its application.
    OfferId,
    /// A buyer.
    BuyerId,
    /// An API key: its public name, not its secret.
    KeyId,
    /// An event.
    EventId,
    /// An endpoint that webhooks are sent to.
    EndpointId,
    /// A process that serves endpoints, from its start to its end.
    HolderId,
    /// A history: in one history, a sequence never means another change. An import begins a new one.
    HistoryId,
}

impl EventId {
    /// The id of a second event that the same command causes (an offer that is found expired and is then archived): the
    /// same random bits, the last one flipped.
    pub const fn sibling(self) -> Self {
        let mut bytes = self.to_bytes();
        bytes[15] ^= 1;
        Self::from_bytes(bytes)
    }
}

/// Identifies one request, from the error body that a partner quotes to the event that it caused: 32 hex digits, the
/// trace id of W3C Trace Context when the caller sent one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperationId([u8; 16]);

impl OperationId {
    /// Wraps 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Reads 32 hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| hex)?;
        Some(Self(number.to_be_bytes()))
    }

    /// The 16 bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The same digits as those of the number, written faster.
        Uuid::from_bytes(self.0).simple().fmt(f)
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperationId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_36_character_form_is_an_id() {
        let text = "3e7b118e-bb4c-4e4b-981d-a62526cbbdce";
        let id = OfferId::parse(text).expect("the hyphenated form is an id");
        assert_eq!(id.to_string(), text);
        assert_eq!(OfferId::parse(&text.to_uppercase()), Some(id));
        for other in [
            "",
            "3e7b118ebb4c4e4b981da62526cbbdce",
            "{3e7b118e-bb4c-4e4b-981d-a62526cbbdce}",
            "urn:uuid:3e7b118e-bb4c-4e4b-981d-a62526cbbdce",
            "3e7b118e-bb4c-4e4b-981d-a62526cbbdcg",
            "3e7b118e-bb4c-4e4b-981d-a62526cbbdc",
            " 3e7b118e-bb4c-4e4b-981d-a62526cbbdc",
        ] {
            assert_eq!(OfferId::parse(other), None, "{other:?}");
        }
    }

    #[test]
    fn an_operation_id_is_32_hex_digits() {
        let id = OperationId::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]);
        assert_eq!(id.to_string(), "000102030405060708090a0b0c0d0eff");
        assert_eq!(OperationId::parse("000102030405060708090a0b0c0d0eff"), Some(id));
        for text in ["", "+00102030405060708090a0b0c0d0eff", "000102030405060708090a0b0c0d0ef"] {
            assert_eq!(OperationId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_sibling_differs_and_leads_back() {
        let id = EventId::from_bytes([7; 16]);
        assert_ne!(id.sibling(), id);
        assert_eq!(id.sibling().sibling(), id);
    }
}
