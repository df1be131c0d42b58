//! Random values of every kind. Stores and formats must give them back unchanged.

use crate::buyer::{BankAccount, Description};
use crate::change::{Cause, Change, OfferKey, Record};
use crate::decimal::{Amount, Rate};
use crate::event::{Actor, Subject};
use crate::idempotency::Fingerprint;
use crate::key::{Access, Area, KeyHash, KeyRecord};
use crate::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Status, Terms};
use crate::operator::OperatorName;
use crate::partner::Partner;
use crate::query::EventTypes;
use crate::text::{Name, Reason};
use crate::webhook::{
    Aside, Endpoint, EndpointUrl, Failed, InFlight, Lane, Noted, Owner, Problem, Sealed, Secrets, State, Step,
};
use crate::{ApplicationId, BuyerId, EndpointId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rust_decimal::Decimal;

/// Moments from the year 0 to 9999, to the nanosecond.
pub fn moments() -> impl Strategy<Value = Timestamp> {
    (-62_167_219_200_i64..253_402_300_800, 0..1_000_000_000_u32)
        .prop_map(|(seconds, nanoseconds)| Timestamp::from_timestamp(seconds, nanoseconds).expect("in range"))
}

/// Decimals from zero to `most`, of every scale up to 18.
fn decimals(most: i64) -> impl Strategy<Value = Decimal> {
    (0..=most, 0..=18_u32).prop_map(|(mantissa, scale)| Decimal::new(mantissa, scale))
}

/// Texts of any characters.
pub fn texts() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..40).prop_map(String::from_iter)
}

/// Names.
pub fn names() -> impl Strategy<Value = Name> {
    texts().prop_filter_map("a name", |text| Name::parse(&text).ok())
}

/// Who may cause a change.
pub fn actors() -> impl Strategy<Value = Actor> {
    let key = any::<[u8; 16]>().prop_map(|id| Actor::Key(KeyId::from_bytes(id)));
    let named = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,31}";
    let named = named.prop_map(|name| Actor::NamedOperator(OperatorName::parse(&name).expect("a name")));
    prop_oneof![key, Just(Actor::OAuthClient), Just(Actor::Operator), named, Just(Actor::Clock)]
}

prop_compose! {
    /// Terms of offers.
    pub fn terms()(
        details in texts(),
        offer_type in select(OfferType::ALL),
        rate in decimals(1_000),
        interest in option::of(decimals(1_000)),
        expiry_at in option::of(moments()),
        path in option::of("[a-zA-Z0-9/?=&%-]{0,40}"),
        amount in option::of(decimals(1_000_000_000_000_000)),
        duration in option::of(select(Duration::ALL)),
    ) -> Terms {
        Terms {
            details: Details::parse(&details).expect("short"),
            funding_type: FundingType::TermLoan,
            offer_type,
            annual_percentage_rate: Rate::new(rate).expect("in range"),
            interest_rate: interest.map(|rate| Rate::new(rate).expect("in range")),
            expiry_at,
            redirect_url: path.map(|path| RedirectUrl::parse(&format!("https://a.example/{path}")).expect("a URL")),
            amount: amount.map(|amount| Amount::new(amount).expect("in range")),
            duration,
        }
    }
}

prop_compose! {
    /// Descriptions of buyers, checked or not.
    pub fn descriptions()(
        texts in vec(option::of(texts()), 10),
        kind in option::of(any::<i32>()),
        has_account in any::<bool>(),
    ) -> Description {
        let mut texts = texts.into_iter();
        let mut next = || texts.next().flatten();
        let (name, registration_number, country_code) = (next(), next(), next());
        let account = BankAccount {
            currency_code: next(),
            account_name: next(),
            sort_code: next(),
            account_number: next(),
            bic: next(),
            account_type: next(),
            iban: next(),
        };
        Description { name, registration_number, country_code, kind, bank_account: has_account.then_some(account) }
    }
}

prop_compose! {
    /// Partners.
    pub fn partners()(
        id in any::<[u8; 16]>(),
        name in names(),
        oauth_client_id in option::of(texts()),
        created_at in moments(),
    ) -> Partner {
        Partner { id: PartnerId::from_bytes(id), name, oauth_client_id, created_at }
    }
}

prop_compose! {
    /// Keys, valid or not.
    pub fn keys()(
        ids in any::<[[u8; 16]; 2]>(),
        hash in any::<[u8; 32]>(),
        name in names(),
        areas in vec(select(&Area::ALL[..]), 0..3),
        access in select(&Access::ALL[..]),
        created_at in moments(),
        ends in (option::of(moments()), option::of(moments())),
    ) -> KeyRecord {
        KeyRecord {
            id: KeyId::from_bytes(ids[0]),
            partner: PartnerId::from_bytes(ids[1]),
            hash: KeyHash::from_bytes(hash),
            name,
            areas: areas.into_iter().collect(),
            access,
            created_at,
            expires_at: ends.0,
            revoked_at: ends.1,
        }
    }
}

fn owners() -> impl Strategy<Value = Owner> {
    let partners = any::<[u8; 16]>().prop_map(|id| Owner::Partner(PartnerId::from_bytes(id)));
    prop_oneof![Just(Owner::Lender), partners]
}

prop_compose! {
    /// Endpoints of webhooks, with secrets or without.
    pub fn endpoints()(
        id in any::<[u8; 16]>(),
        owner in owners(),
        path in "[a-zA-Z0-9/?=&%-]{0,40}",
        types in option::of(select(&Subject::TYPES[..])),
        in_flight in 1..=InFlight::MOST.get(),
        set in select(&State::ALL[..]),
        created_at in moments(),
        secrets in vec(vec(any::<u8>(), 0..Sealed::LONGEST), 2),
        former in option::of(moments()),
    ) -> Endpoint {
        let [current, older] = [0, 1].map(|n| Sealed::new(secrets[n].clone()).expect("short"));
        Endpoint {
            id: EndpointId::from_bytes(id),
            owner,
            url: EndpointUrl::parse(&format!("https://a.example/{path}")).expect("an address"),
            types: types.and_then(EventTypes::named),
            in_flight: InFlight::new(in_flight).expect("in range"),
            set,
            created_at,
            secrets: Secrets { current: Some(current), former: former.map(|end| (older, end)) },
        }
    }
}

fn problems() -> impl Strategy<Value = Problem> {
    prop_oneof![select(&Problem::OTHERS[..]), (100..600_u16).prop_map(Problem::Status)]
}

prop_compose! {
    fn asides()(
        sequence in 1..1_000_000_000_u64,
        ids in any::<[[u8; 16]; 2]>(),
        kind in 0..4,
        attempts in option::of(1..100_u32),
        moments in (moments(), moments()),
        problem in problems(),
    ) -> Aside {
        let lane = match kind {
            0 => Lane::Offer(ApplicationId::from_bytes(ids[0]), OfferId::from_bytes(ids[1])),
            1 => Lane::Buyer(BuyerId::from_bytes(ids[0])),
            2 => Lane::Partner(PartnerId::from_bytes(ids[0])),
            _ => Lane::Endpoint(EndpointId::from_bytes(ids[0])),
        };
        let failed = attempts.map(|attempts| Failed { attempts, first_at: moments.0, next_at: moments.1, problem });
        Aside { sequence, lane, failed }
    }
}

prop_compose! {
    fn noted()(
        id in any::<[u8; 16]>(),
        generation in 0..9_u32,
        cursor in 0..1_000_000_000_u64,
        last_success_at in option::of(moments()),
        aside in vec(asides(), 0..5),
        done in vec(1..1_000_000_000_u64, 0..5),
    ) -> Noted {
        Noted { endpoint: EndpointId::from_bytes(id), generation, cursor, last_success_at, aside, done }
    }
}

/// Changes of every kind.
pub fn changes() -> impl Strategy<Value = Change> {
    let ids = any::<[[u8; 16]; 3]>();
    let offers = ids.prop_map(|[a, b, c]| OfferKey {
        partner: PartnerId::from_bytes(a),
        application: ApplicationId::from_bytes(b),
        offer: OfferId::from_bytes(c),
    });
    let hashes = any::<[u8; 32]>();
    prop_oneof![
        partners().prop_map(Change::PartnerPut),
        keys().prop_map(Change::KeyAdded),
        (ids, moments()).prop_map(|([a, b, _], at)| {
            Change::KeyRevoked { partner: PartnerId::from_bytes(a), key: KeyId::from_bytes(b), at }
        }),
        (ids, moments()).prop_map(|([a, b, _], at)| {
            Change::KeyExpirySet { partner: PartnerId::from_bytes(a), key: KeyId::from_bytes(b), at }
        }),
        (hashes, moments()).prop_map(|(key, at)| Change::KeyUsed { key: KeyHash::from_bytes(key), at }),
        ids.prop_map(|[a, b, _]| {
            Change::ApplicationPut { application: ApplicationId::from_bytes(a), partner: PartnerId::from_bytes(b) }
        }),
        (offers.clone(), terms(), moments()).prop_map(|(offer, terms, at)| Change::OfferCreated { offer, terms, at }),
        (offers.clone(), terms(), option::of(terms().prop_map(Box::new)))
            .prop_map(|(offer, terms, before)| Change::TermsReplaced { offer, terms, before }),
        (offers, select(Status::ALL), moments(), option::of(names())).prop_map(|(offer, status, at, reason)| {
            let reason = reason.map(|text| Reason::parse(text.as_str()).expect("a name is a reason too"));
            Change::OfferMoved { offer, status, at, reason }
        }),
        ids.prop_map(|[a, b, _]| {
            Change::BuyerRead { partner: PartnerId::from_bytes(a), buyer: BuyerId::from_bytes(b) }
        }),
        (ids, descriptions(), option::of(hashes), moments()).prop_map(|([a, b, _], description, print, at)| {
            let (partner, buyer) = (PartnerId::from_bytes(a), BuyerId::from_bytes(b));
            let (description, fingerprint) = (description.into(), print.map(Fingerprint::from_bytes));
            Change::BuyerCreated { partner, buyer, description, fingerprint, at }
        }),
        (endpoints(), select(&Step::ALL[..]))
            .prop_map(|(endpoint, step)| Change::EndpointPut { endpoint: endpoint.into(), step }),
        vec(noted(), 0..4).prop_map(Change::DeliveriesNoted),
    ]
}

prop_compose! {
    /// Records of every kind, each by itself: a change has the cause and the sequence that its kind asks for.
    pub fn records()(
        change in changes(),
        sequence in option::of(1..1_000_000_000_u64),
        ids in any::<[[u8; 16]; 2]>(),
        moment in moments(),
        actor in actors(),
        has_cause in any::<bool>(),
    ) -> Record {
        let (event, operation) = (EventId::from_bytes(ids[0]), OperationId::from_bytes(ids[1]));
        let cause = Cause { event, at: change.at().unwrap_or(moment), actor, operation };
        let has_cause = change.always_has_cause() || (has_cause && !change.never_has_cause());
        let is_event = has_cause && !matches!(change, Change::TermsReplaced { .. });
        let sequence = sequence.or(is_event.then_some(1));
        Record { sequence, cause: has_cause.then_some(cause), change }
    }
}
