//! Commands of every kind by chance, with few ids, so that they meet.

use super::declared::Declared;
use super::samples::*;
use crate::buyer::{Buyer, Description};
use crate::change::Record;
use crate::command::{
    AddEndpoint, AddEndpointOutcome, AddKey, AddKeyOutcome, ChangeEndpoint, ChangeEndpointOutcome, Command,
    CreateBuyer, CreateBuyerOutcome, DecideError, DeleteEndpoint, DeleteEndpointOutcome, EndpointChange, ExpireKey,
    ExpireKeyOutcome, ExpireOffers, MoveOffer, MoveOutcome, NoteDeliveries, PutApplication, PutApplicationOutcome,
    PutOffer, PutOfferOutcome, PutPartner, PutPartnerOutcome, ReadBuyer, RevokeKey, RevokeKeyOutcome, Stamp, UseKey,
};
use crate::event::Actor;
use crate::key::{KeyHash, KeyRecord};
use crate::life_cycle::Action;
use crate::offer::{OfferType, Terms};
use crate::store::{Answer, Store};
use crate::text::Reason;
use crate::view::View;
use crate::webhook::{Disabled, Endpoint, EndpointUrl, InFlight, Noted, Owner};
use crate::{EndpointId, EventId, OperationId};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::Range;

/// Partners, applications, keys, offers and buyers have ids below this.
pub const IDS: u64 = 3;

/// A command.
#[derive(Clone, Debug)]
pub enum Asked {
    /// By which a partner is put.
    Partner(PutPartner),
    /// By which a key is added.
    Key(AddKey),
    /// By which a key is revoked.
    Revocation(RevokeKey),
    /// By which a key gets an earlier expiry.
    Expiry(ExpireKey),
    /// By which an application is put.
    Application(PutApplication),
    /// By which an offer is put.
    Offer(PutOffer),
    /// By which an offer is moved.
    Move(MoveOffer),
    /// By which the expiries of offers are recorded.
    Lapse(ExpireOffers),
    /// By which a buyer is created.
    Buyer(CreateBuyer),
    /// By which a buyer is read in full.
    Read(ReadBuyer),
    /// By which an endpoint of webhooks is added.
    Endpoint(AddEndpoint),
    /// By which one is changed.
    EndpointChange(ChangeEndpoint),
    /// By which one is deleted.
    EndpointDeletion(DeleteEndpoint),
    /// By which progress is noted.
    Deliveries(NoteDeliveries),
    /// Noted without an answer.
    Use(UseKey),
}

/// What became of it.
#[derive(Debug, PartialEq)]
pub enum Told {
    /// When a partner is put.
    Partner(Answer<PutPartnerOutcome>),
    /// When a key is added.
    Key(Answer<AddKeyOutcome>),
    /// When a key is revoked.
    Revocation(Answer<RevokeKeyOutcome>),
    /// When a key gets an earlier expiry.
    Expiry(Answer<ExpireKeyOutcome>),
    /// When an application is put.
    Application(Answer<PutApplicationOutcome>),
    /// When an offer is put.
    Offer(Answer<PutOfferOutcome>),
    /// When an offer is moved.
    Move(Answer<MoveOutcome>),
    /// When the expiries of offers are recorded: of how many.
    Lapse(Answer<usize>),
    /// When a buyer is created.
    Buyer(Answer<CreateBuyerOutcome>),
    /// When a buyer is read in full.
    Read(Answer<Option<Buyer>>),
    /// When an endpoint is added.
    Endpoint(Answer<AddEndpointOutcome>),
    /// When an endpoint is changed.
    EndpointChange(Answer<ChangeEndpointOutcome>),
    /// When an endpoint is deleted.
    EndpointDeletion(Answer<DeleteEndpointOutcome>),
    /// When progress is noted.
    Deliveries(Answer<Vec<EndpointId>>),
    /// Nothing.
    Use,
}

impl Asked {
    /// Gives the command ids of its own.
    pub fn number(&mut self, n: u64) {
        let stamp = match self {
            Self::Partner(PutPartner { stamp, .. })
            | Self::Key(AddKey { stamp, .. })
            | Self::Revocation(RevokeKey { stamp, .. })
            | Self::Expiry(ExpireKey { stamp, .. })
            | Self::Application(PutApplication { stamp, .. })
            | Self::Offer(PutOffer { stamp, .. })
            | Self::Move(MoveOffer { stamp, .. })
            | Self::Buyer(CreateBuyer { stamp, .. })
            | Self::Read(ReadBuyer { stamp, .. })
            | Self::Endpoint(AddEndpoint { stamp, .. })
            | Self::EndpointChange(ChangeEndpoint { stamp, .. })
            | Self::EndpointDeletion(DeleteEndpoint { stamp, .. }) => stamp,
            Self::Lapse(ExpireOffers { offers }) => {
                for (stamp, of_command) in offers.values_mut().zip(0..) {
                    let mut id = bytes(2 * n);
                    id[0] = of_command;
                    stamp.event = EventId::from_bytes(id);
                }
                return;
            }
            Self::Deliveries(_) | Self::Use(_) => return,
        };
        stamp.event = EventId::from_bytes(bytes(2 * n));
        stamp.operation = OperationId::from_bytes(bytes(2 * n));
    }

    /// The changes that the command is decided to bring. Panics if it looks at what it does not read.
    ///
    /// # Errors
    /// If nothing is decided.
    pub fn changes<V: View>(&self, view: &V) -> Result<Vec<Record>, DecideError> {
        fn changes<C: Command, V: View>(command: &C, view: &V) -> Result<Vec<Record>, DecideError> {
            command.decide(&Declared::of(command, view)).map(|decision| decision.changes)
        }
        match self {
            Self::Partner(command) => changes(command, view),
            Self::Key(command) => changes(command, view),
            Self::Revocation(command) => changes(command, view),
            Self::Expiry(command) => changes(command, view),
            Self::Application(command) => changes(command, view),
            Self::Offer(command) => changes(command, view),
            Self::Move(command) => changes(command, view),
            Self::Lapse(command) => changes(command, view),
            Self::Buyer(command) => changes(command, view),
            Self::Read(command) => changes(command, view),
            Self::Endpoint(command) => changes(command, view),
            Self::EndpointChange(command) => changes(command, view),
            Self::EndpointDeletion(command) => changes(command, view),
            Self::Deliveries(command) => changes(command, view),
            Self::Use(command) => changes(command, view),
        }
    }

    /// Gives the command to a store.
    pub async fn run(&self, store: &impl Store) -> Told {
        match self.clone() {
            Self::Partner(command) => Told::Partner(store.run(command).await),
            Self::Key(command) => Told::Key(store.run(command).await),
            Self::Revocation(command) => Told::Revocation(store.run(command).await),
            Self::Expiry(command) => Told::Expiry(store.run(command).await),
            Self::Application(command) => Told::Application(store.run(command).await),
            Self::Offer(command) => Told::Offer(store.run(command).await),
            Self::Move(command) => Told::Move(store.run(command).await),
            Self::Lapse(command) => Told::Lapse(store.run(command).await),
            Self::Buyer(command) => Told::Buyer(store.run(command).await),
            Self::Read(command) => Told::Read(store.run(command).await),
            Self::Endpoint(command) => Told::Endpoint(store.run(command).await),
            Self::EndpointChange(command) => Told::EndpointChange(store.run(command).await),
            Self::EndpointDeletion(command) => Told::EndpointDeletion(store.run(command).await),
            Self::Deliveries(command) => Told::Deliveries(store.run(command).await),
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

fn stamps() -> impl Strategy<Value = Stamp> {
    // Time does not only go forwards: processes have clocks of their own.
    let actors = vec![numbered(0, 0).actor, Actor::Operator, named_operator()];
    (0..40_i64, select(actors)).prop_map(|(seconds, actor)| Stamp { actor, ..numbered(0, seconds) })
}

fn terms_of_offers() -> impl Strategy<Value = Terms> {
    (select(OfferType::ALL), option::of(0..40_i64), any::<bool>()).prop_map(|(offer_type, expiry, bare)| {
        let terms = if bare { bare_terms() } else { terms() };
        Terms { offer_type, expiry_at: expiry.map(at), ..terms }
    })
}

/// What is done to an endpoint.
fn endpoint_changes() -> impl Strategy<Value = EndpointChange> {
    let url = |n: u8| EndpointUrl::parse(&format!("https://a.example/{n}")).expect("an address");
    prop_oneof![
        (0..2_u8).prop_map(move |n| {
            EndpointChange::Update { url: url(n), types: None, in_flight: InFlight::new(n + 1).expect("in range") }
        }),
        Just(EndpointChange::Pause),
        (0..9_u64).prop_map(|last| EndpointChange::Resume { last }),
        (0..9_u64).prop_map(|n| EndpointChange::Rotate(sealed(n))),
        select(vec![Disabled::Gone, Disabled::Failing]).prop_map(EndpointChange::Disable),
        (0..9_u64).prop_map(|after| EndpointChange::Redeliver { after }),
    ]
}

/// Progress of an endpoint.
fn progress(id: u64) -> impl Strategy<Value = Noted> {
    (0..3_u32, 0..9_u64, vec(0..9_u64, 0..3), vec(0..9_u64, 0..3)).prop_map(move |(generation, cursor, put, done)| {
        let aside = put.into_iter().map(|n| if n % 2 == 0 { aside(n) } else { waits(n) }).collect();
        Noted { generation, aside, done, ..Noted::beginning(endpoint_id(id), cursor) }
    })
}

/// Commands about what the given numbers name: an own partner, application, key and so on, or those of everyone.
fn commands(ids: Range<u64>, clients: Vec<Option<String>>) -> impl Strategy<Value = Asked> {
    let id = move || ids.clone();
    let key = (id(), id(), id(), stamps()).prop_map(|(p, n, hash, stamp)| {
        let hash = KeyHash::of(&hash.to_string());
        Asked::Key(AddKey { key: KeyRecord { hash, ..key(p, n) }, stamp })
    });
    let buyer = (id(), id(), option::of(0..2_u8), 0..2_u8, stamps()).prop_map(|(p, fresh, key, payload, stamp)| {
        let described = Description { registration_number: Some(payload.to_string()), ..description() };
        let key = key.map(|key| key.to_string());
        // A broken generator makes an id twice, for one partner or for two.
        Asked::Buyer(CreateBuyer { stamp, ..creation(p, fresh, key.as_deref(), described, 0) })
    });
    let endpoint = (id(), option::of(id()), 0..9_u64, stamps()).prop_map(|(n, owner, after, stamp)| {
        let owner = owner.map_or(Owner::Lender, |p| Owner::Partner(super::samples::partner(p)));
        // Each has an id of its own, or is the same again.
        Asked::Endpoint(AddEndpoint { endpoint: Endpoint { owner, ..endpoint(0, n) }, after, stamp })
    });
    let endpoint_change = (id(), endpoint_changes(), stamps())
        .prop_map(|(n, to, stamp)| Asked::EndpointChange(ChangeEndpoint { id: endpoint_id(n), to, stamp }));
    let moves = (option::of(id()), id(), id(), select(&Action::ALL[..]), any::<bool>(), stamps());
    prop_oneof![
        2 => (id(), 0..2_u8, select(clients), stamps()).prop_map(|(p, text, client, stamp)| {
            Asked::Partner(PutPartner { stamp, ..put_partner(p, ["a", "b"][usize::from(text)], client.as_deref(), 0) })
        }),
        2 => key,
        1 => (id(), id(), stamps()).prop_map(|(p, n, stamp)| Asked::Revocation(RevokeKey { stamp, ..revoke(p, n, 0) })),
        1 => (id(), id(), 0..20_i64, stamps())
            .prop_map(|(p, n, end, stamp)| Asked::Expiry(ExpireKey { stamp, ..expire(p, n, end, 0) })),
        2 => (id(), id(), stamps())
            .prop_map(|(a, p, stamp)| Asked::Application(PutApplication { stamp, ..put_application(a, p) })),
        4 => (id(), id(), terms_of_offers(), stamps())
            .prop_map(|(a, n, terms, stamp)| Asked::Offer(PutOffer { stamp, ..put_offer(a, n, terms, 0) })),
        5 => moves.prop_map(|(partner, a, n, action, told, stamp)| {
            let (partner, application, offer) = (partner.map(super::samples::partner), application(a), offer(n));
            let reason = told.then(|| Reason::from_input("as the customer asked").expect("a reason"));
            Asked::Move(MoveOffer { partner, application, offer, action, reason, stamp })
        }),
        1 => vec((id(), id(), stamps()), 0..4).prop_map(|looked_at| {
            let offers = looked_at.into_iter().map(|(a, n, stamp)| ((application(a), offer(n)), stamp)).collect();
            Asked::Lapse(ExpireOffers { offers })
        }),
        3 => buyer,
        1 => (id(), id(), stamps()).prop_map(|(p, n, stamp)| {
            Asked::Read(ReadBuyer { partner: partner(p), id: buyer_id(n), stamp })
        }),
        2 => endpoint,
        3 => endpoint_change,
        1 => (id(), stamps())
            .prop_map(|(n, stamp)| Asked::EndpointDeletion(DeleteEndpoint { id: endpoint_id(n), stamp })),
        2 => vec(id().prop_flat_map(progress), 1..3).prop_map(|all| Asked::Deliveries(NoteDeliveries(all))),
        1 => (id(), 0..3_i64).prop_map(|(hash, hour)| {
            Asked::Use(UseKey { key: KeyHash::of(&hash.to_string()), at: at(hour * 3_600) })
        }),
    ]
}

/// Commands that meet each other.
pub fn meeting() -> impl Strategy<Value = Asked> {
    commands(0..IDS, vec![None, Some("one".into()), Some("two".into())])
}

/// Commands about things that no other number has: two partners with different numbers never meet.
pub fn apart(n: u64) -> impl Strategy<Value = Asked> {
    commands(100 + n..101 + n, vec![None, Some(format!("own {n}"))])
}
