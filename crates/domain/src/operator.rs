//! Operators: the people and systems that call the operator's side, and what each may do (contract 2.14).

use std::fmt;

/// The name of an operator: 1 to 32 ASCII letters, digits, `.`, `_` and `-`, of which the first is a letter or a digit.
/// It is in events and logs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperatorName {
    bytes: [u8; Self::LONGEST],
    length: u8,
}

/// The text is no [`OperatorName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOperatorName;

impl fmt::Display for BadOperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = OperatorName::LONGEST;
        write!(
            f,
            "an operator's name has 1 to {longest} letters, digits, '.', '_' and '-', and begins with a letter or digit"
        )
    }
}

impl std::error::Error for BadOperatorName {}

impl OperatorName {
    /// The most characters that a name may have.
    pub const LONGEST: usize = 32;

    /// Reads a name.
    ///
    /// # Errors
    /// If it is too long, empty, or has another character.
    pub fn parse(text: &str) -> Result<Self, BadOperatorName> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !first || text.len() > Self::LONGEST || !text.bytes().all(known) {
            return Err(BadOperatorName);
        }
        let mut bytes = [0; Self::LONGEST];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { bytes, length: u8::try_from(text.len()).expect("not greater than LONGEST") })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).expect("it is ASCII")
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperatorName({self})")
    }
}

/// What an operator may do. Each role may do what those before it may do, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Read everything but the export, bank details included.
    Read,
    /// Support partners: look up what became of a request, and decline an offer.
    Support,
    /// Feed the service from the lender's core system: applications, offers and their transitions.
    Lending,
    /// Everything: partners, their keys and the export too.
    Admin,
}

impl Role {
    /// Every role, the least first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Support, Self::Lending, Self::Admin];

    /// The name that operators write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Support => "support",
            Self::Lending => "lending",
            Self::Admin => "admin",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_ascii() {
        let longest = "x".repeat(OperatorName::LONGEST);
        for text in ["a", "7", "anna.k", "core-system_2", "Anna", longest.as_str()] {
            let name = OperatorName::parse(text).expect("a name");
            assert_eq!((name.as_str(), name.to_string()), (text, text.to_owned()));
        }
        let long = "x".repeat(OperatorName::LONGEST + 1);
        for text in ["", " ", "a b", " a", "a\n", "-a", ".a", "_a", "#a", "a:b", "a@b", "ä", "a\0", long.as_str()] {
            assert_eq!(OperatorName::parse(text), Err(BadOperatorName), "{text:?}");
        }
        assert_ne!(OperatorName::parse("a"), OperatorName::parse("aa"));
    }

    #[test]
    fn roles_are_read_by_their_names_and_grow() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
        }
        assert!(Role::ALL.is_sorted_by(|a, b| a < b));
        for bad in ["", "Admin", "reader", "admin "] {
            assert_eq!(Role::parse(bad), None);
        }
    }
}
