//! The life cycle of an offer (contract 2.1): one table, one function that applies it.

use crate::Timestamp;
use crate::offer::{Offer, OfferType, Status, Terms};
use std::fmt;

impl Status {
    /// The statuses that may follow this one: the table of contract 2.1.
    pub const fn successors(self) -> &'static [Self] {
        match self {
            Self::Offered => &[Self::CustomerAccepted, Self::CustomerDeclined, Self::Expired, Self::Archived],
            Self::CustomerAccepted => &[Self::Advanced, Self::Archived],
            Self::Advanced | Self::CustomerDeclined | Self::Expired => &[Self::Archived],
            Self::Archived => &[],
        }
    }
}

/// What a caller may do with an offer. Expiry is no action: time causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The customer accepts the offer.
    Accept,
    /// The customer declines it.
    Decline,
    /// The money is paid out.
    Advance,
    /// The offer is closed for good.
    Archive,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Accept, Self::Decline, Self::Advance, Self::Archive];

    /// The status that the action leads to.
    pub const fn target(self) -> Status {
        match self {
            Self::Accept => Status::CustomerAccepted,
            Self::Decline => Status::CustomerDeclined,
            Self::Advance => Status::Advanced,
            Self::Archive => Status::Archived,
        }
    }
}

/// A new status, and from when it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The new status.
    pub status: Status,
    /// From this moment on.
    pub at: Timestamp,
}

/// A move that the table does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalMove {
    /// The status that the offer has.
    pub from: Status,
    /// The status that was asked for.
    pub to: Status,
    /// Whether it failed because an indicative offer cannot be advanced.
    pub indicative: bool,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.indicative { "An indicative offer" } else { "An offer" };
        write!(f, "{kind} that is {} cannot become {}.", self.from, self.to)
    }
}

impl std::error::Error for IllegalMove {}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The status changes.
    Moves(Transition),
    /// An accept of an offer that is accepted already: it succeeds and changes nothing.
    Stands,
    /// The table does not allow it.
    Illegal(IllegalMove),
}

/// The decision about an action: first the expiry, then the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The offer has expired; that is stored even if the action is refused.
    pub expired: Option<Transition>,
    /// What the action does.
    pub verdict: Verdict,
}

/// What the life cycle needs to know of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The status.
    pub status: Status,
    /// When the status last changed.
    pub status_changed_at: Timestamp,
    /// How firm the offer is.
    pub offer_type: OfferType,
    /// From this moment on it can no longer be accepted.
    pub expiry_at: Option<Timestamp>,
}

impl Standing {
    /// The standing of an offer that is created with these terms.
    pub const fn offered(terms: &Terms, at: Timestamp) -> Self {
        Self {
            status: Status::Offered,
            status_changed_at: at,
            offer_type: terms.offer_type,
            expiry_at: terms.expiry_at,
        }
    }

    /// The standing once the terms are replaced: status and time stay.
    #[must_use]
    pub const fn with_terms(self, terms: &Terms) -> Self {
        Self { offer_type: terms.offer_type, expiry_at: terms.expiry_at, ..self }
    }

    /// The time of what happens to the offer at the moment `now`. The clock of the machine can go back; the time of an
    /// offer does not: it is never before the last change of the status.
    fn time(&self, now: Timestamp) -> Timestamp {
        now.max(self.status_changed_at)
    }

    /// The transition to Expired, if the offer is Offered and its time has come (`expiryAt <= now`).
    pub fn expiry(&self, now: Timestamp) -> Option<Transition> {
        let expiry = self.expiry_at?;
        (self.status == Status::Offered && expiry <= self.time(now))
            .then_some(Transition { status: Status::Expired, at: expiry })
    }

    /// Whether the offer may reach a status from the one that it has: the table, and an indicative offer cannot be
    /// advanced.
    pub fn may_become(&self, status: Status) -> bool {
        let indicative = status == Status::Advanced && self.offer_type == OfferType::Indicative;
        self.status.successors().contains(&status) && !indicative
    }

    /// Decides an action at the moment `now`.
    pub fn decide(&self, action: Action, now: Timestamp) -> Ruling {
        let expired = self.expiry(now);
        let (from, to) = (expired.map_or(self.status, |transition| transition.status), action.target());
        let repeated = action == Action::Accept && matches!(from, Status::CustomerAccepted | Status::Advanced);
        let verdict = if repeated {
            Verdict::Stands
        } else if (Self { status: from, ..*self }).may_become(to) {
            Verdict::Moves(Transition { status: to, at: self.time(now) })
        } else {
            Verdict::Illegal(IllegalMove { from, to, indicative: from.successors().contains(&to) })
        };
        Ruling { expired, verdict }
    }

    /// Applies a transition.
    pub const fn apply(&mut self, transition: Transition) {
        self.status = transition.status;
        self.status_changed_at = transition.at;
    }

    /// The standing as a reader sees it at the moment `now`: Expired once its time has come, stored or not.
    #[must_use]
    pub fn seen_at(mut self, now: Timestamp) -> Self {
        if let Some(transition) = self.expiry(now) {
            self.apply(transition);
        }
        self
    }
}

impl Offer {
    /// What the life cycle needs to know of the offer.
    pub const fn standing(&self) -> Standing {
        let standing = Standing::offered(&self.terms, self.status_changed_at);
        Standing { status: self.status, ..standing }
    }

    /// The offer as a reader sees it at the moment `now`.
    #[must_use]
    pub fn seen_at(self, now: Timestamp) -> Self {
        let Standing { status, status_changed_at, .. } = self.standing().seen_at(now);
        Self { status, status_changed_at, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPIRY: i64 = 1_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).expect("in range")
    }

    fn standing(status: Status, offer_type: OfferType, expiry_at: Option<i64>) -> Standing {
        Standing { status, status_changed_at: at(1), offer_type, expiry_at: expiry_at.map(at) }
    }

    /// Contract 2.1 written out by hand: the status after `action`, where `status` includes an expiry.
    fn expected(status: Status, action: Action, offer_type: OfferType) -> Option<Status> {
        match (status, action) {
            (Status::Offered, Action::Accept) => Some(Status::CustomerAccepted),
            (Status::Offered, Action::Decline) => Some(Status::CustomerDeclined),
            (Status::CustomerAccepted, Action::Advance) if offer_type == OfferType::Underwritten => {
                Some(Status::Advanced)
            }
            (Status::Archived, Action::Archive) => None,
            (_, Action::Archive) => Some(Status::Archived),
            (_, Action::Accept | Action::Decline | Action::Advance) => None,
        }
    }

    #[test]
    fn every_status_and_action_before_at_and_after_expiry() {
        let mut cases = 0;
        for &status in Status::ALL {
            for action in Action::ALL {
                for &offer_type in OfferType::ALL {
                    for (expiry, now) in
                        [(None, EXPIRY), (Some(EXPIRY), EXPIRY - 1), (Some(EXPIRY), EXPIRY), (Some(EXPIRY), EXPIRY + 1)]
                    {
                        cases += 1;
                        let lapsed = status == Status::Offered && expiry.is_some() && now >= EXPIRY;
                        let from = if lapsed { Status::Expired } else { status };
                        let decision = standing(status, offer_type, expiry).decide(action, at(now));

                        let lapse = lapsed.then_some(Transition { status: Status::Expired, at: at(EXPIRY) });
                        assert_eq!(decision.expired, lapse);
                        let accepted = matches!(from, Status::CustomerAccepted | Status::Advanced);
                        let case = format!("{from} {action:?} {offer_type}");
                        match (expected(from, action, offer_type), decision.verdict) {
                            (Some(to), Verdict::Moves(change)) => {
                                assert_eq!(change, Transition { status: to, at: at(now) }, "{case}");
                            }
                            (None, Verdict::Stands) => {
                                assert!(action == Action::Accept && accepted, "{case}")
                            }
                            (None, Verdict::Illegal(illegal)) => {
                                assert!(!(action == Action::Accept && accepted), "{case}");
                                assert_eq!((illegal.from, illegal.to), (from, action.target()), "{case}");
                            }
                            (wanted, got) => panic!("{case}: {got:?} instead of {wanted:?}"),
                        }
                    }
                }
            }
        }
        assert_eq!(cases, 6 * 4 * 2 * 4);
    }

    /// Created at 500, and asked at moments before that: the clock has gone back.
    #[test]
    fn time_does_not_go_back() {
        for (expiry, now, expired, moved_at) in [
            (None, 499, false, 500),
            (None, 500, false, 500),
            (None, 501, false, 501),
            (Some(501), 499, false, 500),
            (Some(501), 501, true, 501),
            // The expiry had passed when the offer was created.
            (Some(500), 499, true, 500),
            (Some(400), 300, true, 500),
            (Some(400), 600, true, 600),
        ] {
            let mut offered = standing(Status::Offered, OfferType::Underwritten, expiry);
            offered.status_changed_at = at(500);
            let case = format!("expiry {expiry:?}, now {now}");
            let lapse = expiry.filter(|_| expired).map(|expiry| Transition { status: Status::Expired, at: at(expiry) });
            assert_eq!(offered.expiry(at(now)), lapse, "{case}");
            assert_eq!(offered.seen_at(at(now)).status == Status::Expired, expired, "{case}");
            let Ruling { expired: found, verdict } = offered.decide(Action::Archive, at(now));
            let archived = Verdict::Moves(Transition { status: Status::Archived, at: at(moved_at) });
            assert_eq!((found, verdict), (lapse, archived), "{case}");
            let accepted = matches!(offered.decide(Action::Accept, at(now)).verdict, Verdict::Moves(_));
            assert_eq!(accepted, !expired, "{case}");
        }
    }

    #[test]
    fn a_reader_sees_expiry_that_nobody_stored_yet() {
        let lapsed = standing(Status::Offered, OfferType::Underwritten, Some(EXPIRY)).seen_at(at(EXPIRY));
        assert_eq!((lapsed.status, lapsed.status_changed_at), (Status::Expired, at(EXPIRY)));
        for &status in &Status::ALL[1..] {
            let unchanged = standing(status, OfferType::Underwritten, Some(EXPIRY));
            assert_eq!(unchanged.seen_at(at(EXPIRY + 1)), unchanged);
        }
    }

    #[test]
    fn an_illegal_move_names_from_and_to() {
        let text = |status, action, offer_type| match standing(status, offer_type, None).decide(action, at(5)).verdict {
            Verdict::Illegal(illegal) => illegal.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            text(Status::Archived, Action::Decline, OfferType::Underwritten),
            "An offer that is Archived cannot become CustomerDeclined."
        );
        assert_eq!(
            text(Status::CustomerAccepted, Action::Advance, OfferType::Indicative),
            "An indicative offer that is CustomerAccepted cannot become Advanced."
        );
    }

    #[test]
    fn every_life_ends_archived() {
        for &status in Status::ALL {
            assert!(status == Status::Archived || status.successors().contains(&Status::Archived), "{status}");
            assert!(!status.successors().contains(&status) && !status.successors().contains(&Status::Offered));
        }
    }
}
