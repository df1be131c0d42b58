//! Commands that are grouped, their answers, and how the domain decides them.

use super::stage::{BuyerKey, OfferKey, Stage, event};
use super::trouble::Trouble;
use lendpay_domain::event::{Actor, Subject};
use lendpay_domain::life_cycle::{Action, Change, Verdict};
use lendpay_domain::offer::{Offer, Status, Terms};
use lendpay_domain::store::{Answer, CreateBuyer, CreateBuyerOutcome, MoveOutcome, PutOfferOutcome, Stamp};
use lendpay_domain::{ApplicationId, OfferId, PartnerId, StoreError};
use tokio::sync::oneshot;

/// An accept, or a move of the operator; the partner is the application's.
#[derive(Clone)]
pub(super) struct Move {
    pub(super) key: OfferKey,
    pub(super) action: Action,
    pub(super) stamp: Stamp,
}

/// New terms; the partner is the application's.
#[derive(Clone)]
pub(super) struct Put {
    pub(super) key: OfferKey,
    pub(super) terms: Terms,
    pub(super) stamp: Stamp,
}

/// A command, where its answer goes, and what was decided the last time that it was tried.
pub(super) struct Job<C, T> {
    command: C,
    reply: oneshot::Sender<Answer<T>>,
    decided: Option<T>,
}

impl<C, T> Job<C, T> {
    pub(super) const fn new(command: C, reply: oneshot::Sender<Answer<T>>) -> Self {
        Self { command, reply, decided: None }
    }

    fn decide(&mut self, decide: impl FnOnce(&C) -> Result<T, Trouble>) -> Result<(), Trouble> {
        self.decided = Some(decide(&self.command)?);
        Ok(())
    }

    /// Callers that have gone away are no concern of the store.
    fn answer(self, failure: Option<StoreError>) {
        let answer = failure.map_or_else(|| self.decided.ok_or(StoreError::Unavailable), Err);
        drop(self.reply.send(answer));
    }
}

/// Whatever is grouped.
pub(super) enum Work {
    Move(Box<Job<Move, MoveOutcome>>),
    Create(Box<Job<CreateBuyer, CreateBuyerOutcome>>),
    Put(Box<Job<Put, PutOfferOutcome>>),
}

impl Work {
    pub(super) const fn offer(&self) -> Option<OfferKey> {
        match self {
            Self::Move(job) => Some(job.command.key),
            Self::Put(job) => Some(job.command.key),
            Self::Create(_) => None,
        }
    }

    /// The buyer that may be there already. One whose creation cannot be repeated has a fresh id: only after a first try that
    /// failed is it looked for.
    pub(super) const fn buyer(&self, first_try: bool) -> Option<BuyerKey> {
        match self {
            Self::Create(job) if !first_try || job.command.fingerprint.is_some() => {
                Some((job.command.partner, job.command.id))
            }
            Self::Create(_) | Self::Move(_) | Self::Put(_) => None,
        }
    }

    /// Decides against what the commands before it in the group have left.
    pub(super) fn decide(&mut self, stage: &mut Stage<'_>) -> Result<(), Trouble> {
        match self {
            Self::Move(job) => job.decide(|command| Ok(move_offer(stage, command))),
            Self::Create(job) => job.decide(|command| create_buyer(stage, command)),
            Self::Put(job) => job.decide(|command| Ok(put_offer(stage, command))),
        }
    }

    /// Tells the caller what was decided, or that it failed.
    pub(super) fn tell(self, failure: Option<StoreError>) {
        match self {
            Self::Move(job) => job.answer(failure),
            Self::Create(job) => job.answer(failure),
            Self::Put(job) => job.answer(failure),
        }
    }
}

fn subject((_, application, offer): OfferKey, status: Status) -> Subject {
    Subject::Offer { application, offer, status }
}

/// Takes a change on, with its event.
fn change(stage: &mut Stage<'_>, key: &OfferKey, change: Change, stamp: &Stamp, actor: Actor) {
    let event = event(stamp, change.at, actor, key.0, subject(*key, change.status));
    stage.move_offer(key, change, event);
}

fn move_offer(stage: &mut Stage<'_>, Move { key, action, stamp }: &Move) -> MoveOutcome {
    let Some(offer) = stage.offer(key) else { return MoveOutcome::NotFound };
    let decision = offer.decide(*action, stamp.at);
    let mut stamp = *stamp;
    if let Some(lapse) = decision.lapse {
        change(stage, key, lapse, &stamp, Actor::Clock);
        stamp.event = stamp.event.sibling();
    }
    match decision.verdict {
        Verdict::Moves(to) => change(stage, key, to, &stamp, stamp.actor),
        Verdict::Stands => {}
        Verdict::Illegal(illegal) => return MoveOutcome::Illegal(illegal),
    }
    stage.offer(key).cloned().map_or(MoveOutcome::NotFound, MoveOutcome::Done)
}

fn put_offer(stage: &mut Stage<'_>, Put { key, terms, stamp }: &Put) -> PutOfferOutcome {
    let Some(offer) = stage.offer(key) else {
        let offer = new_offer(*key, terms.clone(), stamp);
        let event = event(stamp, stamp.at, stamp.actor, key.0, subject(*key, Status::Offered));
        stage.create_offer(event, offer.clone());
        return PutOfferOutcome::Created(offer);
    };
    if let Some(lapse) = offer.lapse(stamp.at) {
        change(stage, key, lapse, stamp, Actor::Clock);
        return PutOfferOutcome::Fixed(lapse.status);
    }
    if offer.status != Status::Offered {
        return PutOfferOutcome::Fixed(offer.status);
    }
    let replaced = Offer { terms: terms.clone(), ..offer.clone() };
    stage.replace_terms(key, terms.clone());
    PutOfferOutcome::Replaced(replaced)
}

fn new_offer((partner, application, id): (PartnerId, ApplicationId, OfferId), terms: Terms, stamp: &Stamp) -> Offer {
    Offer { id, application, partner, terms, status: Status::Offered, status_changed_at: stamp.at }
}

fn create_buyer(stage: &mut Stage<'_>, command: &CreateBuyer) -> Result<CreateBuyerOutcome, Trouble> {
    let key = (command.partner, command.id);
    if let Some(there) = stage.buyer(&key) {
        return match (there.fingerprint, command.fingerprint) {
            (Some(old), Some(new)) if old == new => Ok(CreateBuyerOutcome::Replayed(there.buyer.clone())),
            (Some(_), Some(_)) => Ok(CreateBuyerOutcome::KeyReused),
            // Ids of creations that cannot be repeated are random: this is a broken generator, not a retry.
            _ => Err(Trouble::Refused("the id of a new buyer is taken".to_owned())),
        };
    }
    let stamp = &command.stamp;
    let event = event(stamp, stamp.at, stamp.actor, command.partner, Subject::Buyer(command.id));
    stage.create_buyer(event, command.buyer.clone().into_description(), command.fingerprint, command.id);
    let created = stage.buyer(&key).map(|staged| CreateBuyerOutcome::Created(staged.buyer.clone()));
    created.ok_or(Trouble::Damaged)
}
