//! The log: every change, in order, with everything needed to make it again.
//!
//! A value holds the entries of several commands; its key is the sequence of its first entry, big-endian, and the entries
//! after it count on by one. An event (contract 2.10) is not kept: it is what an entry says, so event and effect are one
//! record and cannot part. Entries without a public meaning take a sequence too; readers of events skip them.
//!
//! A group writes its log before its states. `part` says how many values of the same group come before this one, so that
//! opening knows how far back the last group began (see [`super::redo`]).

use super::trees::{Kind, StateKey};
use crate::codec::{self, Bytes, CodecError};
use crate::records::{ActorCode, BuyerRecord, OfferHead, Time, status_of};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::offer::Status;
use lendpay_domain::store::Stamp;
use lendpay_domain::{ApplicationId, BuyerId, EventId, OfferId, OperationId, PartnerId, Timestamp};
use serde::{Deserialize, Serialize};

/// Where a value is cut, on the border of two commands. Long enough to make inserts few, short enough to keep the leaves
/// of the log, which are written again as a whole, small.
const CUT: usize = 10_000;

/// How an event came about.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cause {
    event: [u8; 16],
    at: Time,
    actor: ActorCode,
    operation: [u8; 16],
}

impl Cause {
    pub(super) fn new(stamp: &Stamp, event: EventId, at: Timestamp, actor: Actor) -> Self {
        let operation = stamp.operation.to_bytes();
        Self { event: event.to_bytes(), at: at.into(), actor: actor.into(), operation }
    }

    /// The cause of an event that has happened.
    pub(super) fn of(event: &Event) -> Self {
        Self {
            event: event.id.to_bytes(),
            at: event.occurred_at.into(),
            actor: event.actor.into(),
            operation: event.operation.to_bytes(),
        }
    }

    pub(super) const fn at(&self) -> Time {
        self.at
    }
}

/// One change. The order of the variants and fields is the format. No `Debug`: values hold bank details.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Entry<'a> {
    /// An offer reached a status.
    OfferMoved { cause: Cause, application: [u8; 16], offer: [u8; 16], partner: [u8; 16], status: u8 },
    /// An offer was created; `value` is its state.
    OfferCreated {
        cause: Cause,
        application: [u8; 16],
        offer: [u8; 16],
        #[serde(borrow)]
        value: Bytes<'a>,
    },
    /// A buyer was created; `value` is its state.
    BuyerCreated {
        cause: Cause,
        buyer: [u8; 16],
        #[serde(borrow)]
        value: Bytes<'a>,
    },
    /// A state was set that nobody follows: a partner, a key, an application, the terms of an offer.
    Put {
        kind: u8,
        #[serde(borrow)]
        key: Bytes<'a>,
        #[serde(borrow)]
        value: Bytes<'a>,
    },
}

impl<'a> Entry<'a> {
    pub(super) fn put(key: &'a StateKey, value: &'a [u8]) -> Self {
        Self::Put { kind: key.kind as u8, key: Bytes(key.bytes()), value: Bytes(value) }
    }

    /// The event that the entry is, if it is one.
    pub(super) fn event(&self, sequence: u64) -> Result<Option<Event>, CodecError> {
        let (cause, partner, subject) = match *self {
            Self::OfferMoved { cause, application, offer, partner, status } => {
                (cause, partner, offer_subject(application, offer, status_of(status)?))
            }
            Self::OfferCreated { cause, application, offer, value } => {
                let (head, _) = OfferHead::of(value.0)?;
                (cause, head.partner, offer_subject(application, offer, Status::Offered))
            }
            Self::BuyerCreated { cause, buyer, value } => {
                let record: BuyerRecord<'_> = codec::unseal(value.0)?;
                (cause, record.partner, Subject::Buyer(BuyerId::from_bytes(buyer)))
            }
            Self::Put { .. } => return Ok(None),
        };
        Ok(Some(Event {
            sequence,
            id: EventId::from_bytes(cause.event),
            occurred_at: cause.at.try_into()?,
            partner: PartnerId::from_bytes(partner),
            subject,
            actor: cause.actor.into(),
            operation: OperationId::from_bytes(cause.operation),
        }))
    }

    /// The place of its type among the types of events, if it is one.
    fn event_type(&self) -> Option<usize> {
        let status = match *self {
            Self::OfferMoved { status, .. } => status_of(status).ok()?,
            Self::OfferCreated { .. } => Status::Offered,
            Self::BuyerCreated { .. } => return Some(Subject::Buyer(BuyerId::from_bytes([0; 16])).type_index()),
            Self::Put { .. } => return None,
        };
        Some(offer_subject([0; 16], [0; 16], status).type_index())
    }

    /// The state that the entry sets.
    pub(super) fn key(&self) -> Result<StateKey, CodecError> {
        match *self {
            Self::OfferMoved { application, offer, .. } | Self::OfferCreated { application, offer, .. } => {
                Ok(StateKey::offer(ApplicationId::from_bytes(application), OfferId::from_bytes(offer)))
            }
            Self::BuyerCreated { buyer, .. } => Ok(StateKey::buyer(BuyerId::from_bytes(buyer))),
            Self::Put { kind, key, .. } => {
                Kind::of(kind).and_then(|kind| StateKey::read(kind, key.0)).ok_or(CodecError::Damaged)
            }
        }
    }
}

fn offer_subject(application: [u8; 16], offer: [u8; 16], status: Status) -> Subject {
    let (application, offer) = (ApplicationId::from_bytes(application), OfferId::from_bytes(offer));
    Subject::Offer { application, offer, status }
}

/// What a value begins with.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    part: u32,
    count: u32,
}

/// Collects the entries of a group into values.
pub(super) struct GroupLog {
    /// The sequence of the next entry.
    next: u64,
    /// Finished values with their keys.
    values: Vec<(u64, Vec<u8>)>,
    /// The entries of the value that is being filled.
    body: Vec<u8>,
    count: u32,
    /// The entries of the command that is being decided.
    command: Vec<u8>,
    command_count: u32,
    /// Events of the group and of the command, by type.
    events: [u64; 7],
    command_events: [u64; 7],
}

impl GroupLog {
    pub(super) fn new(next: u64) -> Self {
        Self {
            next,
            values: Vec::new(),
            body: Vec::new(),
            count: 0,
            command: Vec::new(),
            command_count: 0,
            events: [0; 7],
            command_events: [0; 7],
        }
    }

    /// The sequence of the next entry, between two groups.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Adds an entry of the current command. After an error the command has none.
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> Result<(), CodecError> {
        let added = codec::append(entry, &mut self.command);
        let fits = self.command.len() <= codec::MAX_LOG_VALUE - 32;
        if added.is_err() || !fits {
            self.abandon_command();
            return Err(CodecError::TooLong);
        }
        self.command_count += 1;
        if let Some(kind) = entry.event_type() {
            self.command_events[kind] += 1;
        }
        Ok(())
    }

    /// Forgets the entries of the current command.
    pub(super) fn abandon_command(&mut self) {
        self.command.clear();
        self.command_count = 0;
        self.command_events = [0; 7];
    }

    /// Ends the current command: its entries stay together.
    pub(super) fn end_command(&mut self) -> Result<(), CodecError> {
        if self.command_count == 0 {
            return Ok(());
        }
        if self.count > 0 && self.body.len() + self.command.len() > CUT {
            self.cut()?;
        }
        self.body.append(&mut self.command);
        self.count += self.command_count;
        self.command_count = 0;
        for (total, more) in self.events.iter_mut().zip(std::mem::take(&mut self.command_events)) {
            *total += more;
        }
        Ok(())
    }

    /// Ends the group and gives its values; the next group goes on from here.
    pub(super) fn end_group(&mut self) -> Result<&[(u64, Vec<u8>)], CodecError> {
        if self.count > 0 {
            self.cut()?;
        }
        Ok(&self.values)
    }

    /// Forgets the values of the last group, once they are durable, and gives the number of its events by type.
    pub(super) fn clear(&mut self) -> [u64; 7] {
        self.values.clear();
        std::mem::take(&mut self.events)
    }

    /// The sequence that the next command begins with, also in the middle of a group.
    pub(super) fn following(&self) -> u64 {
        self.next + u64::from(self.count)
    }

    /// Leaves out the sequences up to `sequence`, between two commands.
    pub(super) fn skip_to(&mut self, sequence: u64) -> Result<(), CodecError> {
        if self.count > 0 {
            self.cut()?;
        }
        self.next = sequence.max(self.next);
        Ok(())
    }

    fn cut(&mut self) -> Result<(), CodecError> {
        let part = u32::try_from(self.values.len()).map_err(|_| CodecError::TooLong)?;
        let mut value = Vec::with_capacity(self.body.len() + 16);
        codec::begin(&mut value);
        codec::append(&Head { part, count: self.count }, &mut value)?;
        value.append(&mut self.body);
        codec::finish(&mut value, codec::MAX_LOG_VALUE)?;
        self.values.push((self.next, value));
        self.next += u64::from(self.count);
        self.count = 0;
        Ok(())
    }
}

/// Reads a value of the log.
pub(super) struct LogReader<'a> {
    /// How many values of its group come before it.
    pub(super) part: u32,
    sequence: u64,
    left: u32,
    body: &'a [u8],
}

impl<'a> LogReader<'a> {
    pub(super) fn new(key: &[u8], value: &'a [u8]) -> Result<Self, CodecError> {
        let sequence = u64::from_be_bytes(key.try_into().map_err(|_| CodecError::Damaged)?);
        let (Head { part, count }, body) = codec::take(codec::open(value)?)?;
        if count == 0 || sequence.checked_add(u64::from(count)).is_none() {
            return Err(CodecError::Damaged);
        }
        Ok(Self { part, sequence, left: count, body })
    }

    /// The sequence that follows the last entry.
    pub(super) fn end(&self) -> u64 {
        self.sequence + u64::from(self.left)
    }

    /// The next entry and its sequence.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Entry<'a>)>, CodecError> {
        if self.left == 0 {
            return if self.body.is_empty() { Ok(None) } else { Err(CodecError::Damaged) };
        }
        let (entry, rest) = codec::take(self.body)?;
        let sequence = self.sequence;
        self.body = rest;
        self.left -= 1;
        self.sequence += 1;
        Ok(Some((sequence, entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::key::KeyHash;
    use proptest::prelude::*;

    fn key() -> StateKey {
        StateKey::key(KeyHash::of("x"))
    }

    #[test]
    fn values_are_cut_between_commands() {
        let mut log = GroupLog::new(5);
        let long = [1; 4_000];
        // Each command has two entries of 4,000 bytes: one command to a value.
        for _ in 0..3 {
            log.push(&Entry::put(&key(), &long)).expect("fits");
            log.push(&Entry::put(&key(), &long)).expect("fits");
            log.end_command().expect("fits");
        }
        let values = log.end_group().expect("fits").to_vec();
        assert_eq!(values.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), [5, 7, 9]);
        for (part, (sequence, value)) in (0..).zip(&values) {
            let mut reader = LogReader::new(&sequence.to_be_bytes(), value).expect("readable");
            assert_eq!(reader.part, part);
            assert_eq!(reader.end(), sequence + 2);
            for n in 0..2 {
                let (read, entry) = reader.next().expect("readable").expect("there");
                assert!(read == sequence + n && entry == Entry::put(&key(), &long));
            }
            assert!(matches!(reader.next(), Ok(None)));
        }
    }

    #[test]
    fn an_abandoned_command_leaves_nothing() {
        let mut log = GroupLog::new(1);
        log.push(&Entry::put(&key(), b"a")).expect("fits");
        log.abandon_command();
        log.push(&Entry::put(&key(), b"b")).expect("fits");
        log.push(&Entry::put(&key(), &[0; codec::MAX_LOG_VALUE])).expect_err("too long");
        log.end_command().expect("nothing");
        assert_eq!(log.end_group().map(<[_]>::len), Ok(0));
    }

    proptest! {
        #[test]
        fn random_logs_never_panic(key in any::<u64>(), body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut value = Vec::new();
            codec::begin(&mut value);
            value.extend_from_slice(&body);
            codec::finish(&mut value, codec::MAX_LOG_VALUE).expect("fits");
            if let Ok(mut reader) = LogReader::new(&key.to_be_bytes(), &value) {
                while let Ok(Some((sequence, entry))) = reader.next() {
                    drop((entry.event(sequence), entry.key().map(|key| key.shown())));
                }
            }
        }
    }
}
