//! Offers: the operator creates them and replaces their terms; operator and partner move them (contract 2.1).

use super::{Command, DecideError, Decided, Decision, OfferRef, Reads, Stamp, Values, plain_outcome};
use crate::change::{Change, OfferKey};
use crate::life_cycle::{Action, IllegalMove, Standing, Transition, Verdict};
use crate::offer::{Offer, Status, Terms};
use crate::store::Answer;
use crate::text::Reason;
use crate::view::{View, ViewError};
use crate::{ApplicationId, OfferId, PartnerId, Timestamp};
use std::collections::BTreeMap;

/// Moves an offer to another status: an accept or a decline of a partner, or an action of the operator.
#[derive(Clone, Debug)]
pub struct MoveOffer {
    /// The partner that asks: the offer must be its own. `None` for the operator, who may move any.
    pub partner: Option<PartnerId>,
    /// The application that the offer belongs to.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
    /// What to do.
    pub action: Action,
    /// Why, for operators to read: the event keeps it.
    pub reason: Option<Reason>,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveOutcome<O = Offer> {
    /// The offer as it is now.
    Done(O),
    /// The offer as it stands: an accept of an offer that is accepted already changes nothing, nor does a partner's
    /// decline of one that is declined.
    Unchanged(O),
    /// The life cycle does not allow it.
    Illegal(IllegalMove),
    /// There is no such offer, or not of this partner.
    NotFound,
}

impl Command for MoveOffer {
    type Outcome = MoveOutcome;
    type Decided<T: Send + 'static, B: Send + 'static> = MoveOutcome<OfferRef<T>>;

    fn partner(&self) -> Option<PartnerId> {
        self.partner
    }

    fn reads(&self, reads: &mut Reads) {
        let Self { application, offer, .. } = *self;
        match self.partner {
            Some(partner) => reads.offers.push(OfferKey { partner, application, offer }),
            None => reads.owned_offers.push((application, offer)),
        }
    }

    fn decide<V: View>(&self, view: &V) -> Decided<MoveOutcome<OfferRef<V::Terms>>> {
        let stored = view.offer(self.application, self.offer)?;
        let stored = stored.filter(|stored| self.partner.is_none_or(|partner| partner == stored.partner));
        let Some(mut stored) = stored else { return Ok(Decision::unchanged(MoveOutcome::NotFound)) };
        let (application, id) = (self.application, self.offer);
        let key = OfferKey { partner: stored.partner, application, offer: id };
        let standing = &mut stored.standing;
        let ruling = standing.decide(self.action, self.stamp.at);
        let (mut changes, mut stamp) = (Vec::new(), self.stamp);
        if let Some(expired) = ruling.expired {
            standing.apply(expired);
            changes.push(stamp.expiry(expired.at, moved(key, expired, None)));
            stamp = stamp.second();
        }
        let verdict =
            match ruling.verdict {
                // Contract 2.13: a partner whose reply was lost may repeat. The operator is told (2.9).
                Verdict::Illegal(IllegalMove {
                    from: Status::CustomerDeclined, to: Status::CustomerDeclined, ..
                }) if self.partner.is_some() => Verdict::Stands,
                verdict => verdict,
            };
        let outcome = match verdict {
            Verdict::Moves(transition) => {
                standing.apply(transition);
                // The event is of the same time.
                stamp.at = transition.at;
                changes.push(stamp.record(moved(key, transition, self.reason.clone())));
                MoveOutcome::Done(OfferRef { application, id, stored })
            }
            Verdict::Stands => MoveOutcome::Unchanged(OfferRef { application, id, stored }),
            Verdict::Illegal(illegal) => MoveOutcome::Illegal(illegal),
        };
        Ok(Decision { outcome, changes })
    }

    fn outcome<T: Send + 'static, B: Send + 'static>(
        self,
        decided: MoveOutcome<OfferRef<T>>,
        values: &impl Values<T, B>,
    ) -> Answer<MoveOutcome> {
        Ok(match decided {
            MoveOutcome::Done(offer) => MoveOutcome::Done(values.offer(offer)?),
            MoveOutcome::Unchanged(offer) => MoveOutcome::Unchanged(values.offer(offer)?),
            MoveOutcome::Illegal(illegal) => MoveOutcome::Illegal(illegal),
            MoveOutcome::NotFound => MoveOutcome::NotFound,
        })
    }
}

/// Records the expiries of offers whose time has come. Time causes them: no caller gives this command. An offer that
/// cannot be read does not stop the others: whoever asks for it is told.
#[derive(Clone, Debug)]
pub struct ExpireOffers {
    /// The offers, each with when it is looked at and the event's ids. The event has the time of the expiry, and the
    /// clock as its actor.
    pub offers: BTreeMap<(ApplicationId, OfferId), Stamp>,
}

impl ExpireOffers {
    /// How many offers a command is for, as a rule. Their changes are written together, and commands of others that are
    /// decided with it wait for some 2 ms more.
    pub const TOGETHER: usize = 256;

    /// Looks at offers at a moment.
    pub fn at(
        now: Timestamp,
        offers: impl Iterator<Item = (ApplicationId, OfferId)>,
        stamp: impl Fn() -> Stamp,
    ) -> Self {
        Self { offers: offers.map(|offer| (offer, Stamp { at: now, ..stamp() })).collect() }
    }
}

impl Command for ExpireOffers {
    // How many expiries are recorded now.
    plain_outcome!(usize);

    fn reads(&self, reads: &mut Reads) {
        reads.owned_offers.extend(self.offers.keys());
    }

    fn decide<V: View>(&self, view: &V) -> Decided<usize> {
        let mut changes = Vec::with_capacity(self.offers.len());
        for (&(application, offer), stamp) in &self.offers {
            let stored = match view.offer(application, offer) {
                Err(ViewError::Corrupt) => continue,
                found => found?,
            };
            let due = stored.and_then(|stored| Some((stored.partner, stored.standing.expiry(stamp.at)?)));
            changes.extend(due.map(|(partner, expired)| {
                stamp.expiry(expired.at, moved(OfferKey { partner, application, offer }, expired, None))
            }));
        }
        Ok(Decision { outcome: changes.len(), changes })
    }
}

const fn moved(offer: OfferKey, Transition { status, at }: Transition, reason: Option<Reason>) -> Change {
    Change::OfferMoved { offer, status, at, reason }
}

/// The operator creates an offer or replaces its terms. Equal terms change nothing.
#[derive(Clone, Debug)]
pub struct PutOffer {
    /// The application that the offer answers.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
    /// What is offered.
    pub terms: Terms,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome of a put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOfferOutcome<O = Offer> {
    /// A new offer, Offered.
    Created(O),
    /// The offer has new terms.
    Replaced(O),
    /// The offer had these terms.
    Unchanged(O),
    /// The offer is no longer Offered; its terms are fixed.
    Fixed {
        /// The status that it has.
        status: Status,
        /// Whether it has these terms.
        equal: bool,
    },
    /// There is no such application.
    NoApplication,
}

impl Command for PutOffer {
    type Outcome = PutOfferOutcome;
    type Decided<T: Send + 'static, B: Send + 'static> = PutOfferOutcome<(PartnerId, Standing)>;

    fn reads(&self, reads: &mut Reads) {
        reads.applications.push(self.application);
        reads.owned_offers.push((self.application, self.offer));
    }

    fn terms(&self) -> Option<(ApplicationId, OfferId)> {
        Some((self.application, self.offer))
    }

    fn decide<V: View>(&self, view: &V) -> Decided<PutOfferOutcome<(PartnerId, Standing)>> {
        let Some(partner) = view.application(self.application)? else {
            return Ok(Decision::unchanged(PutOfferOutcome::NoApplication));
        };
        let offer = OfferKey { partner, application: self.application, offer: self.offer };
        let (stamp, terms) = (&self.stamp, self.terms.clone());
        let Some(stored) = view.offer(self.application, self.offer)? else {
            let standing = Standing::offered(&terms, stamp.at);
            let created = stamp.record(Change::OfferCreated { offer, terms, at: stamp.at });
            return Ok(Decision::with(PutOfferOutcome::Created((partner, standing)), created));
        };
        let before = view.terms(&stored.terms).ok_or(DecideError::Unread)?;
        let (standing, equal) = (stored.standing, *before == terms);
        if let Some(expired) = standing.expiry(stamp.at) {
            let found = stamp.expiry(expired.at, moved(offer, expired, None));
            return Ok(Decision::with(PutOfferOutcome::Fixed { status: expired.status, equal }, found));
        }
        if standing.status != Status::Offered {
            return Ok(Decision::unchanged(PutOfferOutcome::Fixed { status: standing.status, equal }));
        }
        if equal {
            return Ok(Decision::unchanged(PutOfferOutcome::Unchanged((partner, standing))));
        }
        let (standing, before) = (standing.with_terms(&terms), Some(Box::new(before.clone())));
        let replaced = stamp.record(Change::TermsReplaced { offer, terms, before });
        Ok(Decision::with(PutOfferOutcome::Replaced((partner, standing)), replaced))
    }

    fn outcome<T: Send + 'static, B: Send + 'static>(
        self,
        decided: PutOfferOutcome<(PartnerId, Standing)>,
        _: &impl Values<T, B>,
    ) -> Answer<PutOfferOutcome> {
        let Self { application, offer: id, terms, .. } = self;
        let offer = |(partner, standing): (PartnerId, Standing)| {
            let Standing { status, status_changed_at, .. } = standing;
            Offer { id, application, partner, terms, status, status_changed_at }
        };
        Ok(match decided {
            PutOfferOutcome::Created(stored) => PutOfferOutcome::Created(offer(stored)),
            PutOfferOutcome::Replaced(stored) => PutOfferOutcome::Replaced(offer(stored)),
            PutOfferOutcome::Unchanged(stored) => PutOfferOutcome::Unchanged(offer(stored)),
            PutOfferOutcome::Fixed { status, equal } => PutOfferOutcome::Fixed { status, equal },
            PutOfferOutcome::NoApplication => PutOfferOutcome::NoApplication,
        })
    }
}
