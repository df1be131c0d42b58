//! Who may call the operator's side, and what each may do (contract 2.14).

use crate::hex;
use crate::operator_failure::OperatorFailure;
use crate::operator_key::{OperatorKey, PresentedKey, same};
use crate::random;
use lendpay_domain::event::Actor;
use lendpay_domain::key::KeyHash;
use lendpay_domain::operator::{BadOperatorName, OperatorName, Role};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Everybody who may call: who has the single key, an admin without a name, and the operators of a list, which can be
/// replaced at any time.
#[derive(Debug)]
pub struct Operators {
    key: Option<OperatorKey>,
    list: RwLock<Arc<OperatorList>>,
}

/// Who calls, and what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownOperator {
    pub actor: Actor,
    pub role: Role,
}

impl Operators {
    /// Without a key, only the operators of the list may call.
    pub fn new(key: Option<OperatorKey>, list: OperatorList) -> Self {
        Self { key, list: RwLock::new(Arc::new(list)) }
    }

    /// Replaces the list: a key that is not in it is refused from the next request on.
    pub fn replace(&self, list: OperatorList) {
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
    }

    /// The hashes of every key.
    pub(crate) fn hashes(&self) -> Vec<KeyHash> {
        let list = Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner));
        list.0.iter().map(|listed| listed.hash).chain(self.key.as_ref().map(OperatorKey::hash)).collect()
    }

    /// Whose key is presented.
    pub(crate) fn find(&self, presented: &PresentedKey) -> Result<KnownOperator, OperatorFailure> {
        let presented = presented.hash()?;
        let list = Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner));
        let mut found = None;
        // All of them are compared, whichever it is.
        for listed in &list.0 {
            if same(listed.hash, presented) {
                found = Some(KnownOperator { actor: Actor::NamedOperator(listed.name), role: listed.role });
            }
        }
        if self.key.as_ref().is_some_and(|key| key.is(presented)) {
            found = Some(KnownOperator { actor: Actor::Operator, role: Role::Admin });
        }
        found.ok_or(OperatorFailure::InvalidKey)
    }
}

/// The operators of a file: for each key a line with the operator's name, its role and the key's SHA-256 in hex, with
/// blanks between them. Empty lines, and those that begin with `#`, say nothing. A name may have several keys, so that
/// one can be replaced without a gap.
#[derive(Clone, Debug, Default)]
pub struct OperatorList(Vec<Listed>);

#[derive(Clone, Copy, Debug)]
struct Listed {
    name: OperatorName,
    role: Role,
    hash: KeyHash,
}

/// A line of an operators' file that is not as [`OperatorList`] says. Its text never quotes the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOperatorList {
    line: usize,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Words,
    Name,
    Role,
    Hash,
    Twice,
}

impl fmt::Display for BadOperatorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match self.problem {
            Problem::Words => {
                f.write_str("a line has a name, a role and the SHA-256 of a key, with blanks between them")
            }
            Problem::Name => BadOperatorName.fmt(f),
            Problem::Role => write!(f, "the role must be one of {}", Role::ALL.map(Role::name).join(", ")),
            Problem::Hash => f.write_str("the SHA-256 of a key has 64 hexadecimal digits"),
            Problem::Twice => f.write_str("a line above it has the same key"),
        }
    }
}

impl std::error::Error for BadOperatorList {}

impl OperatorList {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The first line that is not as it should be.
    pub fn parse(text: &str) -> Result<Self, BadOperatorList> {
        let mut all: Vec<Listed> = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split_whitespace().collect();
            if words.first().is_none_or(|first| first.starts_with('#')) {
                continue;
            }
            let bad = |problem| BadOperatorList { line: n + 1, problem };
            let [name, role, hash] = words[..] else { return Err(bad(Problem::Words)) };
            let name = OperatorName::parse(name).map_err(|BadOperatorName| bad(Problem::Name))?;
            let role = Role::parse(role).ok_or(bad(Problem::Role))?;
            let hash = KeyHash::from_bytes(hex::read(hash).ok_or(bad(Problem::Hash))?);
            if all.iter().any(|before| before.hash == hash) {
                return Err(bad(Problem::Twice));
            }
            all.push(Listed { name, role, hash });
        }
        Ok(Self(all))
    }

    /// How many keys it has.
    pub const fn keys(&self) -> usize {
        self.0.len()
    }
}

/// A key for an operator, to be shown once, and the line that lists it. No `Debug`: it holds the key.
pub struct NewOperatorKey {
    /// The key.
    pub key: String,
    /// The line for the operators' file.
    pub line: String,
}

impl NewOperatorKey {
    /// Makes a key of 256 random bits.
    pub fn make(name: OperatorName, role: Role) -> Self {
        let key = format!("lendpay_operator_{}", hex::write(&random::key_bits()));
        let line = format!("{name} {role} {}", hex::write(&KeyHash::of(&key).to_bytes()));
        Self { key, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use poem::http::HeaderMap;

    const SINGLE: &str = "0123456789abcdef0123456789abcdef";

    fn name(text: &str) -> OperatorName {
        OperatorName::parse(text).expect("a name")
    }

    fn presented(key: &str) -> PresentedKey {
        let mut headers = HeaderMap::new();
        headers.insert("x-operator-key", key.parse().expect("a header value"));
        PresentedKey::of(&headers)
    }

    #[test]
    fn each_key_is_its_operators_and_a_removed_one_is_nobodys() {
        let made = Role::ALL.map(|role| NewOperatorKey::make(name(role.name()), role));
        let second = NewOperatorKey::make(name("read"), Role::Read);
        let file = |lines: &[&str]| OperatorList::parse(&lines.join("\n")).expect("good lines");
        let lines: Vec<_> = made.iter().chain([&second]).map(|made| made.line.as_str()).collect();
        let key = OperatorKey::parse(SINGLE).expect("long enough");
        let operators = Operators::new(Some(key), file(&lines));
        for (role, made) in Role::ALL.into_iter().zip(&made) {
            let operator = KnownOperator { actor: Actor::NamedOperator(name(role.name())), role };
            assert_eq!(operators.find(&presented(&made.key)), Ok(operator));
        }
        // Two keys of one name, and the single key beside them.
        let reader = KnownOperator { actor: Actor::NamedOperator(name("read")), role: Role::Read };
        assert_eq!(operators.find(&presented(&second.key)), Ok(reader));
        let admin = KnownOperator { actor: Actor::Operator, role: Role::Admin };
        assert_eq!(operators.find(&presented(SINGLE)), Ok(admin));
        for wrong in ["", "read", &second.key[1..], &second.line, second.line.split(' ').next_back().expect("a hash")] {
            assert_eq!(operators.find(&presented(wrong)), Err(OperatorFailure::InvalidKey), "{wrong}");
        }
        operators.replace(file(&lines[1..]));
        assert_eq!(operators.find(&presented(&made[0].key)), Err(OperatorFailure::InvalidKey));
        assert_eq!(operators.find(&presented(&second.key)), Ok(reader));
        operators.replace(OperatorList::default());
        assert_eq!(operators.find(&presented(&second.key)), Err(OperatorFailure::InvalidKey));
        assert_eq!(operators.find(&presented(SINGLE)), Ok(admin));
        let none = Operators::new(None, OperatorList::default());
        assert_eq!(none.find(&presented(SINGLE)), Err(OperatorFailure::InvalidKey));
    }

    #[test]
    fn a_new_key_is_random_and_its_line_does_not_hold_it() {
        let [one, two] = [1, 2].map(|_| NewOperatorKey::make(name("anna"), Role::Support));
        assert!(one.key != two.key && one.line != two.line);
        assert!(one.key.starts_with("lendpay_operator_") && one.key.len() == 17 + 64);
        assert!(one.line.starts_with("anna support ") && !one.line.contains(&one.key[17..]));
        assert!(OperatorKey::parse(&one.key).is_ok(), "it could be the single key too");
    }

    #[test]
    fn a_line_that_is_wrong_is_told_with_its_number_and_not_quoted() {
        let hash = "ab".repeat(32);
        let other = "CD".repeat(32);
        for good in [
            String::new(),
            "\n \n# a comment\n  # another\n".to_owned(),
            format!("anna read {hash}"),
            format!("\tanna   read\t{hash} \r\nanna read {other}\n"),
            format!("anna read {hash}\nanna admin {other}"),
        ] {
            OperatorList::parse(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        for (text, problem) in [
            ("anna".to_owned(), "line 1: a line has"),
            (format!("anna read {hash} more"), "line 1: a line has"),
            (format!("\n-anna read {hash}"), "line 2: an operator's name"),
            (format!("anna Read {hash}"), "line 1: the role must be one of read, support, lending, admin"),
            (format!("anna read {}", &hash[1..]), "line 1: the SHA-256"),
            (format!("anna read {}g", &hash[1..]), "line 1: the SHA-256"),
            (format!("anna read {hash}\nbert admin {}", hash.to_uppercase()), "line 2: a line above it"),
        ] {
            let told = OperatorList::parse(&text).expect_err("refused").to_string();
            assert!(told.starts_with(problem) && !told.contains("abab") && !told.contains("anna"), "{told}");
        }
    }
}
