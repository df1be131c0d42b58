//! Fills a new sandbox, by the same commands that an operator and a partner give.

use futures_util::future::try_join_all;
use lendpay_api::sandbox::{
    APPLICATION, BUYER, BUYER_OF_KEY, IDEMPOTENCY_KEY, KEYS, OFFERS, OTHER_APPLICATION, OTHER_OFFER, OTHER_PARTNER,
    PARTNER, SandboxKey, SandboxOffer,
};
use lendpay_api::{event_id, uuid};
use lendpay_domain::buyer::{Description, NewBuyer};
use lendpay_domain::buyer_checks::{self, BuyerChecks};
use lendpay_domain::command::{AddKey, CreateBuyer, MoveOffer, PutApplication, PutOffer, PutPartner, Stamp};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::Actor;
use lendpay_domain::idempotency::IdempotencyKey;
use lendpay_domain::key::{KeyHash, KeyRecord};
use lendpay_domain::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Terms};
use lendpay_domain::store::{Answer, Commands};
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use std::time::Duration as StdDuration;

/// How long before the beginning everything was made: some of it has expired since.
const BEFORE: StdDuration = StdDuration::from_secs(2 * 24 * 60 * 60);

/// Puts everything that a sandbox has into an empty store. The beginning is `now`.
pub async fn fill(store: &impl Commands, now: Timestamp) -> Answer<()> {
    let operation = OperationId::from_bytes(uuid().into_bytes());
    let at = now - BEFORE;
    let stamp = |at| Stamp { at, event: event_id(), actor: Actor::Operator, operation };
    let [partner, other] = [PARTNER, OTHER_PARTNER].map(|id| PartnerId::parse(id).expect("a UUID"));
    let [application, of_other] = [APPLICATION, OTHER_APPLICATION].map(|id| ApplicationId::parse(id).expect("a UUID"));
    let owners = [(partner, "Sandbox", application), (other, "Other partner", of_other)];
    // Those of a kind at once, so that they share a sync of the disk.
    let put = |(id, name, _)| {
        let name = Name::parse(name).expect("a name");
        store.run(PutPartner { id, name, oauth_client_id: None, stamp: stamp(at) })
    };
    try_join_all(owners.map(put)).await?;
    let put = |(partner, _, id)| store.run(PutApplication { id, partner, stamp: stamp(at) });
    try_join_all(owners.map(put)).await?;
    let add = |key: SandboxKey| {
        let key = KeyRecord {
            id: KeyId::parse(key.id).expect("a UUID"),
            partner,
            hash: KeyHash::of(key.key),
            name: Name::parse(key.about).expect("a name"),
            areas: key.areas.iter().copied().collect(),
            access: key.access,
            created_at: at,
            expires_at: key.expires_in.map(|seconds| later(now, seconds)),
            revoked_at: None,
        };
        store.run(AddKey { key, stamp: stamp(at) })
    };
    try_join_all(KEYS.map(add)).await?;
    let offer = |wanted: &SandboxOffer| OfferId::parse(wanted.id).expect("a UUID");
    let put = |(application, offer, wanted): (_, _, &SandboxOffer)| {
        store.run(PutOffer { application, offer, terms: terms(wanted, now), stamp: stamp(at) })
    };
    let offer_of_other = (of_other, OfferId::parse(OTHER_OFFER).expect("a UUID"), &OFFERS[0]);
    let offers = OFFERS.iter().map(|wanted| (application, offer(wanted), wanted));
    try_join_all(offers.chain([offer_of_other]).map(put)).await?;
    for round in 0.. {
        let moves = OFFERS.iter().filter_map(|wanted| Some((offer(wanted), *wanted.moves.get(round)?)));
        let moved = try_join_all(moves.map(|(offer, action)| {
            store.run(MoveOffer { partner: Some(partner), application, offer, action, reason: None, stamp: stamp(now) })
        }));
        if moved.await?.is_empty() {
            break;
        }
    }
    let id = BuyerId::parse(BUYER).expect("a UUID");
    let key = IdempotencyKey::parse(IDEMPOTENCY_KEY).expect("visible ASCII");
    let create = |(key, name)| store.run(CreateBuyer::new(partner, id, key, buyer(name), stamp(at)));
    try_join_all([(None, "Eastwind Bicycles Ltd"), (Some(&key), BUYER_OF_KEY)].map(create)).await?;
    Ok(())
}

fn later(now: Timestamp, seconds: i64) -> Timestamp {
    let span = StdDuration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { now - span } else { now + span }
}

fn terms(wanted: &SandboxOffer, now: Timestamp) -> Terms {
    let full = Terms {
        details: Details::parse("Fixed rate over two years").expect("short"),
        funding_type: FundingType::TermLoan,
        offer_type: wanted.offer_type,
        annual_percentage_rate: Rate::from_f64(0.0905).expect("a rate"),
        interest_rate: Some(Rate::from_f64(0.085).expect("a rate")),
        expiry_at: Some(later(now, wanted.expires_in)),
        redirect_url: None,
        amount: Some(Amount::from_f64(25_000.55).expect("an amount")),
        duration: Some(Duration::TwoYears),
    };
    match wanted.offer_type {
        OfferType::Underwritten => full,
        OfferType::Indicative => Terms {
            details: Details::parse("Representative rate").expect("short"),
            redirect_url: Some(RedirectUrl::parse("https://onboarding.example/loans").expect("a web address")),
            amount: None,
            duration: None,
            ..full
        },
    }
}

fn buyer(name: &str) -> NewBuyer {
    let description = Description { name: Some(name.to_owned()), ..Description::default() };
    buyer_checks::check(description, BuyerChecks::Full).expect("a name alone is acceptable")
}
