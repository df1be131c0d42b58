//! Calls that changed nothing. They are kept for a while, so that support finds what became of them by the operation id
//! that a caller quotes. A call that changed something is found by its events.

use crate::event::Actor;
use crate::{ApplicationId, BuyerId, OfferId, OperationId, PartnerId, Timestamp};
use std::fmt;
use std::time::Duration;

/// The most calls of one operation that are found: the last ones. A caller may give many calls one operation id.
pub const FOUND: usize = 200;

/// A call that was refused, failed, or repeated one that had been done. Holds no value that was sent, but for ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its operation id: the caller's trace id, which may name other calls too.
    pub operation: OperationId,
    /// When it arrived.
    pub at: Timestamp,
    /// What was to be done, as the protocol names it.
    pub method: String,
    /// The address that was called, with names in place of its ids; `None` if there is no such address.
    pub route: Option<String>,
    /// The application that the address names.
    pub application: Option<ApplicationId>,
    /// The offer that the address names.
    pub offer: Option<OfferId>,
    /// The buyer that the address names, or that was there already.
    pub buyer: Option<BuyerId>,
    /// The partner that called.
    pub partner: Option<PartnerId>,
    /// Who called; `None` if it was not authenticated.
    pub actor: Option<Actor>,
    /// The status of the answer.
    pub status: u16,
    /// The stable name of the failure; `None` if the call repeated one that had been done.
    pub error_code: Option<String>,
    /// What was wrong, without the values: at most [`Self::ERRORS`] messages.
    pub errors: Vec<String>,
    /// How long the answer took.
    pub duration: Duration,
}

impl Call {
    /// The most messages that are kept of a call.
    pub const ERRORS: usize = 32;

    /// In whose share of the space it is kept.
    pub const fn owner(&self) -> Owner {
        match (&self.actor, self.partner) {
            (None, _) => Owner::Nobody,
            (Some(_), Some(partner)) => Owner::Partner(partner),
            (Some(_), None) => Owner::Operator,
        }
    }
}

/// Whose calls have a share of the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Whoever was not authenticated.
    Nobody,
    /// A partner.
    Partner(PartnerId),
    /// The operator.
    Operator,
}

impl Owner {
    /// The most that the owner may have of a whole. Nobody can crowd out another's calls by many of its own.
    pub const fn share(self, whole: u64) -> u64 {
        match self {
            Self::Nobody => whole / 10,
            Self::Partner(_) => whole / 4,
            Self::Operator => whole,
        }
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "nobody" => Some(Self::Nobody),
            "operator" => Some(Self::Operator),
            _ => PartnerId::parse(text).map(Self::Partner),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("nobody"),
            Self::Partner(id) => id.fmt(f),
            Self::Operator => f.write_str("operator"),
        }
    }
}

/// For how long, and in how much space, calls are kept. The oldest go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// For how long.
    pub time: Duration,
    /// How many bytes of records.
    pub bytes: u64,
}

impl Keeping {
    /// 7 days and 64 MiB.
    pub const DEFAULT: Self = Self { time: Duration::from_hours(7 * 24), bytes: 64 << 20 };

    /// Calls from this moment on are kept at the moment `now`.
    pub fn since(&self, now: Timestamp) -> Timestamp {
        let since = chrono::Duration::from_std(self.time).ok().and_then(|time| now.checked_sub_signed(time));
        since.map_or(Timestamp::UNIX_EPOCH, |since| since.max(Timestamp::UNIX_EPOCH))
    }
}

impl Default for Keeping {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The last [`FOUND`] of the calls of an operation that were found, in the order of their times.
pub fn found(mut calls: Vec<Call>) -> Vec<Call> {
    calls.sort_by_key(|call| call.at);
    calls.split_off(calls.len().saturating_sub(FOUND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::samples::{at, call, key_id, partner};

    #[test]
    fn who_called_is_the_owner_and_its_share_is_bounded() {
        let of = |partner, actor| Call { partner, actor, ..call(1, 0) }.owner();
        let (p, key) = (Some(partner(1)), Some(Actor::Key(key_id(1))));
        assert_eq!(of(None, None), Owner::Nobody);
        assert_eq!(of(p, key), Owner::Partner(partner(1)));
        assert_eq!(of(None, Some(Actor::Operator)), Owner::Operator);
        let owners = [Owner::Nobody, Owner::Partner(partner(1)), Owner::Operator];
        assert_eq!(owners.map(|owner| owner.share(1_000)), [100, 250, 1_000]);
        for owner in owners {
            assert_eq!(Owner::parse(&owner.to_string()), Some(owner));
        }
        assert_eq!(Owner::parse("somebody"), None);
    }

    #[test]
    fn however_long_calls_are_kept_none_is_from_before_1970() {
        let keeping = |seconds| Keeping { time: Duration::from_secs(seconds), ..Keeping::DEFAULT };
        assert_eq!(keeping(60).since(at(60)), at(0));
        assert_eq!(keeping(u64::MAX).since(at(60)), Timestamp::UNIX_EPOCH);
        assert_eq!(keeping(u64::from(u32::MAX) * 86_400).since(at(60)), Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn the_last_calls_are_found_in_their_order() {
        let calls: Vec<_> = (0..=FOUND).rev().map(|n| call(1, i64::try_from(n).expect("small"))).collect();
        let found = found(calls);
        assert_eq!((found.len(), found[0].at, found[FOUND - 1].at), (FOUND, at(1), at(200)));
    }
}
