//! Values whose ids follow from small numbers, so that a failing test names them.

use crate::buyer::{BankAccount, Description, NewBuyer};
use crate::buyer_checks::{BuyerChecks, check};
use crate::calls::Call;
use crate::change::{Cause, Change, OfferKey, Record};
use crate::command::{
    AddEndpoint, AddKey, ChangeEndpoint, CreateBuyer, EndpointChange, ExpireKey, MoveOffer, PutApplication, PutOffer,
    PutPartner, RevokeKey, Stamp,
};
use crate::decimal::{Amount, Rate};
use crate::event::Actor;
use crate::idempotency::IdempotencyKey;
use crate::key::{Access, Area, KeyHash, KeyRecord};
use crate::life_cycle::Action;
use crate::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Terms};
use crate::operator::OperatorName;
use crate::partner::Partner;
use crate::text::Name;
use crate::webhook::{Aside, Endpoint, EndpointUrl, Failed, InFlight, Lane, Owner, Problem, Sealed, Secrets, State};
use crate::{ApplicationId, BuyerId, EndpointId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

/// The 16 bytes of id number `n`.
pub fn bytes(n: u64) -> [u8; 16] {
    (u128::from(n) << 64 | u128::from(n)).to_be_bytes()
}

/// Partner number `n`.
pub fn partner(n: u64) -> PartnerId {
    PartnerId::from_bytes(bytes(n))
}

/// Application number `n`.
pub fn application(n: u64) -> ApplicationId {
    ApplicationId::from_bytes(bytes(n))
}

/// Offer number `n`.
pub fn offer(n: u64) -> OfferId {
    OfferId::from_bytes(bytes(n))
}

/// Offer `n` of partner `p`, whose application has the same number.
pub fn offer_key(p: u64, n: u64) -> OfferKey {
    OfferKey { partner: partner(p), application: application(p), offer: offer(n) }
}

/// Buyer number `n`.
pub fn buyer_id(n: u64) -> BuyerId {
    BuyerId::from_bytes(bytes(n))
}

/// Key number `n`.
pub fn key_id(n: u64) -> KeyId {
    KeyId::from_bytes(bytes(n))
}

/// Endpoint number `n`.
pub fn endpoint_id(n: u64) -> EndpointId {
    EndpointId::from_bytes(bytes(n))
}

/// A moment that only nanoseconds can hold.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_700_000_000 + seconds, 50_334_217).expect("in range")
}

/// A stamp of a partner at a moment; its ids are fresh in this process.
pub fn stamp(seconds: i64) -> Stamp {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    numbered(NEXT.fetch_add(1, Ordering::Relaxed), seconds)
}

/// Stamp number `n` of a partner at a moment.
pub fn numbered(n: u64, seconds: i64) -> Stamp {
    Stamp {
        at: at(seconds),
        // The sibling of an event has the next number.
        event: EventId::from_bytes(bytes(2 * n)),
        actor: Actor::Key(key_id(9)),
        operation: OperationId::from_bytes(bytes(2 * n)),
    }
}

/// A stamp of the operator at a moment; its ids are fresh in this process.
pub fn operator(seconds: i64) -> Stamp {
    Stamp { actor: Actor::Operator, ..stamp(seconds) }
}

/// An operator that has a name.
pub fn named_operator() -> Actor {
    Actor::NamedOperator(OperatorName::parse("anna.k").expect("a name"))
}

/// A name.
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

/// A description with every field set.
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

/// A description that has passed the checks of the contract.
pub fn checked(description: Description) -> NewBuyer {
    check(description, BuyerChecks::Contract).expect("acceptable")
}

/// Key `n` of partner `p`, for payments, that expires.
pub fn key(p: u64, n: u64) -> KeyRecord {
    KeyRecord {
        id: key_id(n),
        partner: partner(p),
        hash: KeyHash::of(&format!("lendpay_{n}")),
        name: name("ключ 🔑"),
        areas: [Area::Payments].into_iter().collect(),
        access: Access::Full,
        created_at: at(0),
        expires_at: Some(at(10)),
        revoked_at: None,
    }
}

/// Puts partner `p`.
pub fn put_partner(p: u64, text: &str, client: Option<&str>, seconds: i64) -> PutPartner {
    let oauth_client_id = client.map(str::to_owned);
    PutPartner { id: partner(p), name: name(text), oauth_client_id, stamp: operator(seconds) }
}

/// Gives application `n` to partner `p`.
pub fn put_application(n: u64, p: u64) -> PutApplication {
    PutApplication { id: application(n), partner: partner(p), stamp: operator(0) }
}

/// Puts offer `n` of application `a`.
pub fn put_offer(a: u64, n: u64, terms: Terms, seconds: i64) -> PutOffer {
    PutOffer { application: application(a), offer: offer(n), terms, stamp: operator(seconds) }
}

/// Adds a key.
pub fn add_key(key: KeyRecord) -> AddKey {
    AddKey { key, stamp: operator(0) }
}

/// Revokes key `n` of partner `p`.
pub fn revoke(p: u64, n: u64, seconds: i64) -> RevokeKey {
    RevokeKey { partner: partner(p), key: key_id(n), stamp: operator(seconds) }
}

/// Lets key `n` of partner `p` expire at a moment.
pub fn expire(p: u64, n: u64, end: i64, seconds: i64) -> ExpireKey {
    ExpireKey { partner: partner(p), key: key_id(n), at: at(end), stamp: operator(seconds) }
}

/// A creation by partner `p`; with an idempotency key, or of buyer number `fresh`.
pub fn creation(p: u64, fresh: u64, key: Option<&str>, description: Description, seconds: i64) -> CreateBuyer {
    let key = key.map(|text| IdempotencyKey::parse(text).expect("visible ASCII"));
    CreateBuyer::new(partner(p), buyer_id(fresh), key.as_ref(), checked(description), stamp(seconds))
}

/// An accept of offer `n` by partner `p`, whose application has the same number.
pub fn accept(p: u64, n: u64, seconds: i64) -> MoveOffer {
    let (partner, action) = (Some(partner(p)), Action::Accept);
    MoveOffer { partner, application: application(p), offer: offer(n), action, reason: None, stamp: stamp(seconds) }
}

/// A move of offer `n` of application 1 by the operator.
pub fn go(n: u64, action: Action, seconds: i64) -> MoveOffer {
    let (application, stamp) = (application(1), operator(seconds));
    MoveOffer { partner: None, application, offer: offer(n), action, reason: None, stamp }
}

/// Record number `n` of an export, with a cause that fits.
pub fn record(n: u64, change: Change) -> Record {
    let Stamp { at, event, actor, operation } = numbered(n, 0);
    let at = change.at().unwrap_or(at);
    let cause = (!change.never_has_cause()).then_some(Cause { event, at, actor, operation });
    Record { sequence: Some(n), cause, change }
}

/// The change that puts partner `p`.
pub fn partner_put(p: u64, client: Option<&str>) -> Change {
    let oauth_client_id = client.map(str::to_owned);
    Change::PartnerPut(Partner { id: partner(p), name: name("a partner"), oauth_client_id, created_at: at(0) })
}

/// The change that gives partner `p` the application of the same number.
pub fn application_put(p: u64) -> Change {
    Change::ApplicationPut { application: application(p), partner: partner(p) }
}

/// Endpoint `n` of partner `p`, active, with a secret.
pub fn endpoint(p: u64, n: u64) -> Endpoint {
    Endpoint {
        id: endpoint_id(n),
        owner: Owner::Partner(partner(p)),
        url: EndpointUrl::parse(&format!("https://partner-{p}.example/hooks/{n}")).expect("an address"),
        types: None,
        in_flight: InFlight::MOST,
        set: State::Active,
        created_at: at(0),
        secrets: Secrets { current: Some(sealed(n)), former: None },
    }
}

/// Adds an endpoint, which gets the events after sequence 3.
pub fn add_endpoint(endpoint: Endpoint) -> AddEndpoint {
    AddEndpoint { endpoint, after: 3, stamp: operator(0) }
}

/// Changes endpoint `n`.
pub fn change_endpoint(n: u64, to: EndpointChange) -> ChangeEndpoint {
    ChangeEndpoint { id: endpoint_id(n), to, stamp: operator(9) }
}

/// An encrypted secret with number `n`.
pub fn sealed(n: u64) -> Sealed {
    Sealed::new(bytes(n).into()).expect("short")
}

/// That event `n`, of buyer `n`, is set aside after three failures.
pub fn aside(n: u64) -> Aside {
    let (first_at, next_at) = (at(0), at(155));
    let failed = Some(Failed { attempts: 3, first_at, next_at, problem: Problem::Status(503) });
    Aside { sequence: n, lane: Lane::Buyer(buyer_id(n)), failed }
}

/// That event `n` waits for an earlier one of offer 1.
pub fn waits(n: u64) -> Aside {
    Aside { sequence: n, lane: Lane::Offer(application(1), offer(1)), failed: None }
}

/// A refused call of partner 1 with operation id number `n` at a moment, with every field set.
pub fn call(n: u64, seconds: i64) -> Call {
    Call {
        operation: OperationId::from_bytes(bytes(n)),
        at: at(seconds),
        method: "POST".to_owned(),
        route: Some("/lending/applications/{applicationId}/offers/{offerId}/accept".to_owned()),
        application: Some(application(1)),
        offer: Some(offer(n)),
        buyer: Some(buyer_id(n)),
        partner: Some(partner(1)),
        actor: Some(Actor::Key(key_id(1))),
        status: 409,
        error_code: Some("OfferExpired".to_owned()),
        errors: vec!["amount: must be positive".to_owned(), "«ставка»: is missing".to_owned()],
        duration: std::time::Duration::from_micros(1_234),
    }
}
