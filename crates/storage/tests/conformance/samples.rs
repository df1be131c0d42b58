//! Values for the cases. Ids follow from small numbers, so that a failing case names them.

use lendpay_domain::buyer::{BankAccount, Description, NewBuyer};
use lendpay_domain::buyer_checks::{BuyerChecks, check};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Event};
use lendpay_domain::idempotency::IdempotencyKey;
use lendpay_domain::key::{Area, KeyHash, KeyRecord};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Details, Duration, FundingType, Offer, OfferType, RedirectUrl, Terms};
use lendpay_domain::store::{
    AcceptOffer, AcceptOutcome, CreateBuyer, MoveOffer, MoveOutcome, PutApplication, PutOffer, PutOfferOutcome,
    PutPartner, Stamp,
};
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId, Store, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

pub fn bytes(n: u64) -> [u8; 16] {
    (u128::from(n) << 64 | u128::from(n)).to_be_bytes()
}

pub fn partner(n: u64) -> PartnerId {
    PartnerId::from_bytes(bytes(n))
}

pub fn application(n: u64) -> ApplicationId {
    ApplicationId::from_bytes(bytes(n))
}

pub fn offer(n: u64) -> OfferId {
    OfferId::from_bytes(bytes(n))
}

pub fn buyer_id(n: u64) -> BuyerId {
    BuyerId::from_bytes(bytes(n))
}

/// A moment that only nanoseconds can hold.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_700_000_000 + seconds, 50_334_217).expect("in range")
}

/// A stamp of a partner at a moment; ids are fresh.
pub fn stamp(seconds: i64) -> Stamp {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let n = NEXT.fetch_add(2, Ordering::Relaxed);
    Stamp {
        at: at(seconds),
        event: EventId::from_bytes(bytes(n)),
        actor: Actor::Key(KeyId::from_bytes(bytes(9))),
        operation: OperationId::from_bytes(bytes(n)),
    }
}

pub fn operator(seconds: i64) -> Stamp {
    Stamp { actor: Actor::Operator, ..stamp(seconds) }
}

pub fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

/// Terms with every field set.
pub fn terms() -> Terms {
    Terms {
        details: Details::parse("Representative Rate — «ставка» 🏦").expect("short"),
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Underwritten,
        annual_percentage_rate: Rate::from_f64(0.0905).expect("a rate"),
        interest_rate: Some(Rate::from_f64(0.03).expect("a rate")),
        expiry_at: Some(at(1_000)),
        redirect_url: Some(RedirectUrl::parse("https://onboarding.example/loans/%C3%A4?x=1").expect("a URL")),
        amount: Some(Amount::from_f64(25_000.55).expect("an amount")),
        duration: Some(Duration::TwoYears),
    }
}

/// Terms with every field that may be absent absent.
pub fn bare_terms() -> Terms {
    Terms {
        details: Details::parse("").expect("short"),
        offer_type: OfferType::Indicative,
        interest_rate: None,
        expiry_at: None,
        redirect_url: None,
        amount: None,
        duration: None,
        ..terms()
    }
}

pub fn description() -> Description {
    Description {
        name: Some("Ørsted & Söhne 株式会社 🏭".into()),
        registration_number: Some("00123456".into()),
        country_code: Some("GB".into()),
        kind: Some(0),
        bank_account: Some(BankAccount {
            currency_code: Some("GBP".into()),
            account_name: Some("Ørsted".into()),
            sort_code: Some("202015".into()),
            account_number: Some("55555555".into()),
            bic: Some("BUKBGB22".into()),
            account_type: Some("Current".into()),
            iban: Some("GB33BUKB20201555555555".into()),
        }),
    }
}

pub fn checked(description: Description) -> NewBuyer {
    check(description, BuyerChecks::Contract).expect("acceptable")
}

pub fn idempotency(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).expect("visible ASCII")
}

/// A creation by partner `p`.
pub fn creation(p: u64, fresh: u64, key: Option<&str>, description: Description, seconds: i64) -> CreateBuyer {
    let key = key.map(idempotency);
    CreateBuyer::new(partner(p), buyer_id(fresh), key.as_ref(), checked(description), stamp(seconds))
}

pub fn key(p: u64, n: u64) -> KeyRecord {
    KeyRecord {
        id: KeyId::from_bytes(bytes(n)),
        partner: partner(p),
        hash: KeyHash::of(&format!("lendpay_{n}")),
        name: name("ключ 🔑"),
        areas: [Area::Payments].into_iter().collect(),
        created_at: at(0),
        expires_at: Some(at(10)),
        revoked_at: None,
    }
}

pub fn accept(p: u64, n: u64, seconds: i64) -> AcceptOffer {
    AcceptOffer { partner: partner(p), application: application(p), offer: offer(n), stamp: stamp(seconds) }
}

/// A move of an offer of application 1.
pub fn go(n: u64, action: Action, seconds: i64) -> MoveOffer {
    MoveOffer { application: application(1), offer: offer(n), action, stamp: operator(seconds) }
}

/// Partner `p` with the application of the same number.
pub async fn with_partner(store: &impl Store, p: u64) {
    let put = PutPartner { id: partner(p), name: name("a partner"), oauth_client_id: None, at: at(0) };
    store.put_partner(put).await.expect("works");
    store.put_application(PutApplication { id: application(p), partner: partner(p) }).await.expect("works");
}

/// Offer `n` of application `p`.
pub async fn with_offer(store: &impl Store, p: u64, n: u64, terms: Terms) -> Offer {
    let put = PutOffer { application: application(p), offer: offer(n), terms, stamp: operator(1) };
    match store.put_offer(put).await.expect("works") {
        PutOfferOutcome::Created(offer) => offer,
        other => panic!("{other:?}"),
    }
}

pub fn accepted(outcome: AcceptOutcome) -> Offer {
    match outcome {
        AcceptOutcome::Accepted(offer) => offer,
        other => panic!("{other:?}"),
    }
}

pub fn done(outcome: MoveOutcome) -> Offer {
    match outcome {
        MoveOutcome::Done(offer) => offer,
        other => panic!("{other:?}"),
    }
}

/// Every event.
pub async fn all_events(store: &impl Store) -> Vec<Event> {
    store.events(0, usize::MAX).await.expect("works")
}

/// The types of every event after a sequence.
pub async fn types_after(store: &impl Store, after: u64) -> Vec<&'static str> {
    store.events(after, usize::MAX).await.expect("works").iter().map(|event| event.subject.event_type()).collect()
}
