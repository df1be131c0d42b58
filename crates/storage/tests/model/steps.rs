//! What the model test does: commands with few ids, so that they meet, and what goes on around them.

use crate::conformance::samples::*;
use lendpay_domain::buyer::Description;
use lendpay_domain::command::{
    AddKey, AddKeyOutcome, CreateBuyer, CreateBuyerOutcome, MoveOffer, MoveOutcome, PutApplication,
    PutApplicationOutcome, PutOffer, PutOfferOutcome, PutPartner, PutPartnerOutcome, RevokeKey, RevokeKeyOutcome,
    Stamp, UseKey,
};
use lendpay_domain::event::Actor;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{OfferType, Terms};
use lendpay_domain::page::Window;
use lendpay_domain::store::Answer;
use lendpay_domain::{EventId, OperationId, Store};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Partners, applications, keys, offers and buyers have ids below this.
pub const IDS: u64 = 3;

/// A command.
#[derive(Clone, Debug)]
pub enum Asked {
    Partner(PutPartner),
    Key(AddKey),
    Revocation(RevokeKey),
    Application(PutApplication),
    Offer(PutOffer),
    Move(MoveOffer),
    Buyer(CreateBuyer),
    /// Noted without an answer.
    Use(UseKey),
}

/// What became of it.
#[derive(Debug, PartialEq)]
pub enum Told {
    Partner(Answer<PutPartnerOutcome>),
    Key(Answer<AddKeyOutcome>),
    Revocation(Answer<RevokeKeyOutcome>),
    Application(Answer<PutApplicationOutcome>),
    Offer(Answer<PutOfferOutcome>),
    Move(Answer<MoveOutcome>),
    Buyer(Answer<CreateBuyerOutcome>),
    Use,
    NoCaller,
}

impl Asked {
    /// Gives the command ids of its own.
    pub fn number(&mut self, n: u64) {
        let stamp = match self {
            Self::Partner(PutPartner { stamp, .. })
            | Self::Key(AddKey { stamp, .. })
            | Self::Revocation(RevokeKey { stamp, .. })
            | Self::Application(PutApplication { stamp, .. })
            | Self::Offer(PutOffer { stamp, .. })
            | Self::Move(MoveOffer { stamp, .. })
            | Self::Buyer(CreateBuyer { stamp, .. }) => stamp,
            Self::Use(_) => return,
        };
        stamp.event = EventId::from_bytes(bytes(2 * n));
        stamp.operation = OperationId::from_bytes(bytes(2 * n));
    }

    /// Gives the command to a store.
    pub async fn run(&self, store: &impl Store) -> Told {
        match self.clone() {
            Self::Partner(command) => Told::Partner(store.run(command).await),
            Self::Key(command) => Told::Key(store.run(command).await),
            Self::Revocation(command) => Told::Revocation(store.run(command).await),
            Self::Application(command) => Told::Application(store.run(command).await),
            Self::Offer(command) => Told::Offer(store.run(command).await),
            Self::Move(command) => Told::Move(store.run(command).await),
            Self::Buyer(command) => {
                // Callers are authenticated: their partner is there.
                let keys = store.keys_of(command.partner, Window { after: None, limit: 1 }).await.expect("works");
                if keys.is_none() {
                    return Told::NoCaller;
                }
                Told::Buyer(store.run(command).await)
            }
            Self::Use(UseKey { key, at }) => {
                // Only keys that are there are used, and a store may keep in mind which use it has noted already.
                if store.find_key(key).await.is_ok_and(|found| found.is_some()) {
                    store.note_use(key, at);
                }
                Told::Use
            }
        }
    }
}

/// What may be wrong with the records of an import.
#[derive(Clone, Debug)]
pub enum Mistake {
    None,
    Missing(Index),
    Twice(Index),
    Swapped(Index, Index),
}

/// A step.
#[derive(Clone, Debug)]
pub enum Step {
    Run(Asked),
    /// Lists of commands that run at the same time, and never about the same thing.
    Together(Vec<Vec<Asked>>),
    /// Imports what a store holds that was given these commands.
    Import {
        commands: Vec<Asked>,
        mistake: Mistake,
        merge: bool,
    },
    Reopen,
    Crash,
}

fn stamps() -> impl Strategy<Value = Stamp> {
    // Time does not only go forwards: processes have clocks of their own.
    (0..40_i64, any::<bool>()).prop_map(|(seconds, by_operator)| {
        let stamp = numbered(0, seconds);
        if by_operator { Stamp { actor: Actor::Operator, ..stamp } } else { stamp }
    })
}

fn terms_of_offers() -> impl Strategy<Value = Terms> {
    (select(OfferType::ALL), option::of(0..40_i64), any::<bool>()).prop_map(|(offer_type, expiry, bare)| {
        let terms = if bare { bare_terms() } else { terms() };
        Terms { offer_type, expiry_at: expiry.map(at), ..terms }
    })
}

/// Commands about what the given numbers name: an own partner, application, key and so on, or those of everyone.
fn commands(ids: std::ops::Range<u64>, clients: Vec<Option<String>>) -> impl Strategy<Value = Asked> {
    let id = move || ids.clone();
    let key = (id(), id(), id(), stamps()).prop_map(|(p, n, hash, stamp)| {
        let hash = KeyHash::of(&hash.to_string());
        Asked::Key(AddKey { key: KeyRecord { hash, ..key(p, n) }, stamp })
    });
    let buyer = (id(), id(), option::of(0..2_u8), 0..2_u8, stamps()).prop_map(|(p, fresh, key, payload, stamp)| {
        let described = Description { registration_number: Some(payload.to_string()), ..description() };
        let key = key.map(|key| key.to_string());
        Asked::Buyer(CreateBuyer { stamp, ..creation(p, fresh, key.as_deref(), described, 0) })
    });
    let moves = (option::of(id()), id(), id(), select(&Action::ALL[..]), stamps());
    prop_oneof![
        2 => (id(), 0..2_u8, select(clients), stamps()).prop_map(|(p, text, client, stamp)| {
            Asked::Partner(PutPartner { stamp, ..put_partner(p, ["a", "b"][usize::from(text)], client.as_deref(), 0) })
        }),
        2 => key,
        1 => (id(), id(), stamps()).prop_map(|(p, n, stamp)| Asked::Revocation(RevokeKey { stamp, ..revoke(p, n, 0) })),
        2 => (id(), id(), stamps())
            .prop_map(|(a, p, stamp)| Asked::Application(PutApplication { stamp, ..put_application(a, p) })),
        4 => (id(), id(), terms_of_offers(), stamps())
            .prop_map(|(a, n, terms, stamp)| Asked::Offer(PutOffer { stamp, ..put_offer(a, n, terms, 0) })),
        5 => moves.prop_map(|(partner, a, n, action, stamp)| {
            let (partner, application, offer) = (partner.map(crate::conformance::samples::partner), application(a), offer(n));
            Asked::Move(MoveOffer { partner, application, offer, action, stamp })
        }),
        3 => buyer,
        1 => (id(), 0..3_i64).prop_map(|(hash, hour)| {
            Asked::Use(UseKey { key: KeyHash::of(&hash.to_string()), at: at(hour * 3_600) })
        }),
    ]
}

/// Commands that meet each other.
fn meeting() -> impl Strategy<Value = Asked> {
    commands(0..IDS, vec![None, Some("one".into()), Some("two".into())])
}

/// Commands about things that no other number has: two partners with different numbers never meet.
fn apart(n: u64) -> impl Strategy<Value = Asked> {
    commands(100 + n..101 + n, vec![None, Some(format!("own {n}"))])
}

fn imports() -> impl Strategy<Value = Step> {
    let mistake = prop_oneof![
        3 => Just(Mistake::None),
        1 => any::<Index>().prop_map(Mistake::Missing),
        1 => any::<Index>().prop_map(Mistake::Twice),
        1 => any::<[Index; 2]>().prop_map(|[a, b]| Mistake::Swapped(a, b)),
    ];
    (vec(meeting(), 0..20), mistake, prop_oneof![3 => Just(true), 1 => Just(false)])
        .prop_map(|(commands, mistake, merge)| Step::Import { commands, mistake, merge })
}

/// A history of a store.
pub fn histories() -> impl Strategy<Value = Vec<Step>> {
    let together = (vec(apart(0), 0..8), vec(apart(1), 0..8), vec(apart(2), 0..8));
    let step = prop_oneof![
        30 => meeting().prop_map(Step::Run),
        2 => together.prop_map(|(a, b, c)| Step::Together(vec![a, b, c])),
        2 => imports(),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ];
    // Most histories begin with an import, so that there is something to do.
    (option::weighted(0.7, imports()), vec(step, 1..40))
        .prop_map(|(first, rest)| first.into_iter().chain(rest).collect())
}
