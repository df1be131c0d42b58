//! From commands to staged changes. The domain decides; what is staged here is seen by the commands that follow in the same
//! group, and by nobody else until it is durable.

use super::entry::{Cause, Entry};
use super::fault::{Broken, Fault, readable, refuse, unwritable};
use super::frame::GroupLog;
use super::trees::{Kind, StateKey, Trees};
use super::work::{Decided, KeyUse, Move, Moved, Offered, Offering, Register, Registered, Revoke, Work};
use crate::codec::{self, CodecError};
use crate::records::{
    ApplicationRecord, BuyerRecord, KeyRow, OfferHead, OfferState, PartnerRecord, Place, Time, status_code,
};
use lendpay_domain::decimal::Rate;
use lendpay_domain::event::Actor;
use lendpay_domain::life_cycle::{Change, Verdict};
use lendpay_domain::offer::{Details, FundingType, Offer, OfferType, Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::store::{
    AddKey, AddKeyOutcome, Answer, PutApplication, PutApplicationOutcome, PutPartner, PutPartnerOutcome,
    RevokeKeyOutcome,
};
use lendpay_domain::{ApplicationId, OfferId, PartnerId, StoreError, Timestamp};
use rust_decimal::Decimal;
use serde::Serialize;
use sled::IVec;
use std::collections::HashMap;
use std::sync::Arc;

/// A group that is being decided.
pub(super) struct Stage {
    trees: Arc<Trees>,
    /// States that the group has changed.
    pub(super) states: HashMap<StateKey, IVec>,
    pub(super) log: GroupLog,
    /// An offer whose status, type and expiry are filled in for each decision, which depends on nothing else.
    skeleton: Offer,
    scratch: Vec<u8>,
}

impl Stage {
    /// Begins with this log, which has no group yet.
    pub(super) fn new(trees: Arc<Trees>, log: GroupLog) -> Option<Self> {
        Some(Self { trees, states: HashMap::new(), log, skeleton: skeleton()?, scratch: Vec::new() })
    }

    /// Decides one command. An error is the database's, and the end of the store.
    pub(super) fn decide(&mut self, work: Work) -> Result<Decided, Broken> {
        Ok(match work {
            Work::Move(command, reply) => Decided::Move(reply, self.answer(Self::move_offer, command)?),
            Work::Register(command, reply) => Decided::Register(reply, self.answer(Self::register, command)?),
            Work::Offer(command, reply) => Decided::Offer(reply, self.answer(Self::offer, command)?),
            Work::Partner(command, reply) => Decided::Partner(reply, self.answer(Self::put_partner, command)?),
            Work::Key(command, reply) => Decided::Key(reply, self.answer(Self::add_key, command)?),
            Work::Revoke(command, reply) => Decided::Revoke(reply, self.answer(Self::revoke, command)?),
            Work::Application(command, reply) => {
                Decided::Application(reply, self.answer(Self::put_application, command)?)
            }
            Work::Use(command, reply) => Decided::Use(reply, self.answer(Self::note_use, command)?),
            Work::Check((), reply) => Decided::Check(reply, Ok(())),
        })
    }

    fn answer<C, T>(
        &mut self,
        decide: impl FnOnce(&mut Self, C) -> Result<T, Fault>,
        command: C,
    ) -> Result<Answer<T>, Broken> {
        match decide(self, command) {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(Fault::Command(error)) => {
                self.log.abandon_command();
                Ok(Err(error))
            }
            Err(Fault::Broken(error)) => Err(error),
        }
    }

    fn move_offer(&mut self, command: Move) -> Result<Moved, Fault> {
        let key = StateKey::offer(command.application, command.offer);
        let Some(value) = self.get(&key)? else { return Ok(Moved::NotFound) };
        let mut state: OfferState = readable(&key, codec::unseal(&value))?;
        if command.partner.is_some_and(|partner| partner.to_bytes() != state.head.partner) {
            return Ok(Moved::NotFound);
        }
        let decision = readable(&key, self.fill(&state.head))?.decide(command.action, command.stamp.at);
        let ids = (command.application, command.offer);
        let mut event = command.stamp.event;
        if let Some(change) = decision.lapse {
            let cause = Cause::new(&command.stamp, event, change.at, Actor::Clock);
            self.log_move(&key, &mut state.head, cause, change, ids)?;
            event = event.sibling();
        }
        let illegal = match decision.verdict {
            Verdict::Moves(change) => {
                let cause = Cause::new(&command.stamp, event, change.at, command.stamp.actor);
                self.log_move(&key, &mut state.head, cause, change, ids)?;
                None
            }
            Verdict::Stands => return Ok(Moved::Done(state)),
            Verdict::Illegal(illegal) if decision.lapse.is_none() => return Ok(Moved::Illegal(illegal)),
            Verdict::Illegal(illegal) => Some(illegal),
        };
        self.log.end_command();
        self.stage(key, &state)?;
        Ok(illegal.map_or(Moved::Done(state), Moved::Illegal))
    }

    fn register(&mut self, command: Register) -> Result<Registered, Fault> {
        let key = StateKey::buyer(command.id);
        if let Some(place) = self.get(&key)? {
            let place: Place = readable(&key, codec::unseal(&place))?;
            let value = self.value(&key, place)?;
            let record: BuyerRecord<'_> = readable(&key, codec::unseal(&value))?;
            let same_partner = record.partner == command.partner.to_bytes();
            return match (record.fingerprint, command.fingerprint) {
                (Some(old), Some(new)) if same_partner && old == new.to_bytes() => Ok(Registered::Replayed(place)),
                (Some(_), Some(_)) if same_partner => Ok(Registered::KeyReused),
                // Ids of creations that cannot be repeated are random: this is a broken generator, not a retry.
                _ => Err(refuse(&key, "the id of a new buyer is taken")),
            };
        }
        let cause = Cause::new(&command.stamp, command.stamp.event, command.stamp.at, command.stamp.actor);
        let (buyer, value) = (command.id.to_bytes(), codec::Bytes(&command.value));
        self.note(&key, &Entry::BuyerCreated { cause, buyer, value })?;
        let place = self.placed()?;
        self.stage(key, &place)?;
        Ok(Registered::Created)
    }

    fn offer(&mut self, command: Offering) -> Result<Offered, Fault> {
        let Offering { application, offer, mut head, tail, stamp } = command;
        let application_key = StateKey::application(application);
        let Some(value) = self.get(&application_key)? else { return Ok(Offered::NoApplication) };
        head.partner = readable(&application_key, codec::unseal::<ApplicationRecord>(&value))?.partner;

        let key = StateKey::offer(application, offer);
        let Some(old) = self.get(&key)? else {
            let value = seal_offer(&key, &head, &tail)?;
            let cause = Cause::new(&stamp, stamp.event, stamp.at, stamp.actor);
            let (application, offer) = (application.to_bytes(), offer.to_bytes());
            self.note(&key, &Entry::OfferCreated { cause, application, offer, value: codec::Bytes(&value) })?;
            let terms = self.placed()?;
            self.stage(key, &OfferState { head, terms })?;
            return Ok(Offered::Created(head));
        };
        let mut old: OfferState = readable(&key, codec::unseal(&old))?;
        if let Some(change) = readable(&key, self.fill(&old.head))?.lapse(stamp.at) {
            let cause = Cause::new(&stamp, stamp.event, change.at, Actor::Clock);
            self.log_move(&key, &mut old.head, cause, change, (application, offer))?;
            self.log.end_command();
            self.stage(key, &old)?;
        }
        let status = readable(&key, old.head.status())?;
        if status != Status::Offered {
            return Ok(Offered::Fixed(status));
        }
        head.status_changed_at = old.head.status_changed_at;
        let value = seal_offer(&key, &head, &tail)?;
        self.note(&key, &Entry::put(&key, &value))?;
        let terms = self.placed()?;
        self.stage(key, &OfferState { head, terms })?;
        Ok(Offered::Replaced(head))
    }

    fn put_partner(&mut self, command: PutPartner) -> Result<PutPartnerOutcome, Fault> {
        let PutPartner { id, name, oauth_client_id, at } = command;
        let key = StateKey::partner(id);
        if let Some(client) = &oauth_client_id
            && self.client_taken(client, &key)?
        {
            return Ok(PutPartnerOutcome::ClientTaken);
        }
        let old = self.get(&key)?;
        let created_at = match &old {
            Some(value) => {
                let record: PartnerRecord<'_> = readable(&key, codec::unseal(value))?;
                readable(&key, record.partner(id))?.created_at
            }
            None => at,
        };
        let partner = Partner { id, name, oauth_client_id, created_at };
        self.put_record(key, &PartnerRecord::from(&partner), old.as_ref())?;
        Ok(if old.is_some() { PutPartnerOutcome::Updated(partner) } else { PutPartnerOutcome::Created(partner) })
    }

    fn add_key(&mut self, AddKey { key: record }: AddKey) -> Result<AddKeyOutcome, Fault> {
        if self.get(&StateKey::partner(record.partner))?.is_none() {
            return Ok(AddKeyOutcome::NoPartner);
        }
        let key = StateKey::key(record.hash);
        if let Some(value) = self.get(&key)? {
            // A repetition changes nothing; above all it does not bring a revoked key back.
            let row: KeyRow<'_> = readable(&key, codec::unseal(&value))?;
            let same = row.id == record.id.to_bytes() && row.partner == record.partner.to_bytes();
            return if same { Ok(AddKeyOutcome::Added) } else { Err(refuse(&key, "the hash of a new key is taken")) };
        }
        self.put_record(key, &KeyRow::from(&record), None)?;
        Ok(AddKeyOutcome::Added)
    }

    fn revoke(&mut self, command: Revoke) -> Result<RevokeKeyOutcome, Fault> {
        let key = StateKey::key(command.hash);
        let Some(value) = self.get(&key)? else { return Ok(RevokeKeyOutcome::NotFound) };
        let mut row: KeyRow<'_> = readable(&key, codec::unseal(&value))?;
        if row.revoked_at.is_none() {
            row.revoked_at = Some(Time::from(command.at));
            self.put_record(key, &row, None)?;
        }
        Ok(RevokeKeyOutcome::Revoked)
    }

    fn put_application(&mut self, command: PutApplication) -> Result<PutApplicationOutcome, Fault> {
        if self.get(&StateKey::partner(command.partner))?.is_none() {
            return Ok(PutApplicationOutcome::NoPartner);
        }
        let key = StateKey::application(command.id);
        let partner = command.partner.to_bytes();
        if let Some(value) = self.get(&key)? {
            let record: ApplicationRecord = readable(&key, codec::unseal(&value))?;
            let same = record.partner == partner;
            return Ok(if same { PutApplicationOutcome::Unchanged } else { PutApplicationOutcome::OwnedByAnother });
        }
        self.put_record(key, &ApplicationRecord { partner }, None)?;
        Ok(PutApplicationOutcome::Created)
    }

    /// Stages a note without an entry: it is no change that anybody follows, and may be lost.
    fn note_use(&mut self, command: KeyUse) -> Result<(), Fault> {
        self.stage(StateKey::key_use(command.hash), &Time::from(command.at))
    }

    /// Whether a partner other than `own` has the client id. There are few partners, and they change rarely.
    fn client_taken(&self, client: &str, own: &StateKey) -> Result<bool, Fault> {
        let has = |key: &StateKey, value: &[u8]| -> Result<bool, Fault> {
            let record: PartnerRecord<'_> = readable(key, codec::unseal(value))?;
            Ok(key != own && record.oauth_client_id == Some(client))
        };
        for (key, value) in &self.states {
            if key.kind == Kind::Partners && has(key, value)? {
                return Ok(true);
            }
        }
        for item in self.trees.tree(Kind::Partners) {
            let (key, value) = item?;
            let Some(key) = StateKey::read(Kind::Partners, &key) else { continue };
            if !self.states.contains_key(&key) && has(&key, &value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The state as this group has left it.
    fn get(&self, key: &StateKey) -> sled::Result<Option<IVec>> {
        match self.states.get(key) {
            Some(value) => Ok(Some(value.clone())),
            None => self.trees.get(key),
        }
    }

    fn fill(&mut self, head: &OfferHead) -> Result<&Offer, CodecError> {
        self.skeleton.status = head.status()?;
        self.skeleton.terms.offer_type = head.offer_type()?;
        self.skeleton.terms.expiry_at = head.expiry_at()?;
        Ok(&self.skeleton)
    }

    fn log_move(
        &mut self,
        key: &StateKey,
        head: &mut OfferHead,
        cause: Cause,
        change: Change,
        (application, offer): (ApplicationId, OfferId),
    ) -> Result<(), Fault> {
        head.status = status_code(change.status);
        head.status_changed_at = change.at.into();
        let (application, offer) = (application.to_bytes(), offer.to_bytes());
        let (partner, status) = (head.partner, head.status);
        self.note(key, &Entry::OfferMoved { cause, application, offer, partner, status })
    }

    /// Sets a record that is no event, and whose state is its value, unless it is the `old` one.
    fn put_record(&mut self, key: StateKey, record: &impl Serialize, old: Option<&IVec>) -> Result<(), Fault> {
        codec::seal(record, &mut self.scratch).map_err(|error| unwritable(&key, error))?;
        let value = IVec::from(self.scratch.as_slice());
        if old == Some(&value) {
            return Ok(());
        }
        self.note(&key, &Entry::put(&key, &value))?;
        self.log.end_command();
        self.states.insert(key, value);
        Ok(())
    }

    /// A value of the log, or of this group.
    fn value(&self, key: &StateKey, place: Place) -> Result<Vec<u8>, Fault> {
        match self.log.value(place) {
            Some(value) => Ok(value.to_vec()),
            None => self.trees.log.value(place).map_err(|error| Fault::unread(key, error)),
        }
    }

    /// Adds an entry to the command that is being decided.
    fn note(&mut self, key: &StateKey, entry: &Entry<'_>) -> Result<(), Fault> {
        Ok(self.log.push(entry).map_err(|error| unwritable(key, error))?)
    }

    /// Ends the command; says where its value is.
    fn placed(&mut self) -> Result<Place, Fault> {
        // Every command that asks has noted an entry with a value.
        self.log.end_command().ok_or(Fault::Command(StoreError::Unavailable))
    }

    /// Sets the state that the log's last command has led to.
    fn stage(&mut self, key: StateKey, state: &impl Serialize) -> Result<(), Fault> {
        codec::seal(state, &mut self.scratch).map_err(|error| unwritable(&key, error))?;
        self.states.insert(key, IVec::from(self.scratch.as_slice()));
        Ok(())
    }
}

fn seal_offer(key: &StateKey, head: &OfferHead, tail: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut value = Vec::with_capacity(tail.len() + 64);
    head.seal(tail, &mut value).map_err(|error| unwritable(key, error))?;
    Ok(value)
}

fn skeleton() -> Option<Offer> {
    let terms = Terms {
        details: Details::parse("").ok()?,
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Indicative,
        annual_percentage_rate: Rate::new(Decimal::ZERO).ok()?,
        interest_rate: None,
        expiry_at: None,
        redirect_url: None,
        amount: None,
        duration: None,
    };
    Some(Offer {
        id: OfferId::from_bytes([0; 16]),
        application: ApplicationId::from_bytes([0; 16]),
        partner: PartnerId::from_bytes([0; 16]),
        terms,
        status: Status::Offered,
        status_changed_at: Timestamp::UNIX_EPOCH,
    })
}
