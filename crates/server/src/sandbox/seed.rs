//! Fills a new sandbox, by the same commands that an operator and a partner give.

use lendpay_api::sandbox::{
    APPLICATION, BUYER, BUYER_OF_KEY, IDEMPOTENCY_KEY, KEYS, OFFERS, OTHER_APPLICATION, OTHER_OFFER, OTHER_PARTNER,
    PARTNER, SandboxOffer,
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
use lendpay_domain::store::Commands;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use std::error::Error;
use std::time::Duration as StdDuration;

/// How long before the beginning everything was made: some of it has expired since.
const BEFORE: StdDuration = StdDuration::from_secs(2 * 24 * 60 * 60);

/// Puts everything that a sandbox has into an empty store. The beginning is `now`.
pub async fn fill(store: &impl Commands, now: Timestamp) -> Result<(), Box<dyn Error + Send + Sync>> {
    let operation = OperationId::from_bytes(uuid().into_bytes());
    let at = now - BEFORE;
    let stamp = |at| Stamp { at, event: event_id(), actor: Actor::Operator, operation };
    let [partner, other] = [PARTNER, OTHER_PARTNER].map(|id| PartnerId::parse(id).expect("a UUID"));
    let [application, of_other] = [APPLICATION, OTHER_APPLICATION].map(|id| ApplicationId::parse(id).expect("a UUID"));
    for (id, name, application) in [(partner, "Sandbox", application), (other, "Other partner", of_other)] {
        let name = Name::parse(name)?;
        store.run(PutPartner { id, name, oauth_client_id: None, stamp: stamp(at) }).await?;
        store.run(PutApplication { id: application, partner: id, stamp: stamp(at) }).await?;
    }
    for key in KEYS {
        let record = KeyRecord {
            id: KeyId::parse(key.id).expect("a UUID"),
            partner,
            hash: KeyHash::of(key.key),
            name: Name::parse(key.about)?,
            areas: key.areas.iter().copied().collect(),
            access: key.access,
            created_at: at,
            expires_at: key.expires_in.map(|seconds| later(now, seconds)),
            revoked_at: None,
        };
        store.run(AddKey { key: record, stamp: stamp(at) }).await?;
    }
    for wanted in &OFFERS {
        let offer = OfferId::parse(wanted.id).expect("a UUID");
        store.run(PutOffer { application, offer, terms: terms(wanted, now)?, stamp: stamp(at) }).await?;
        for &action in wanted.moves {
            let stamp = stamp(now);
            store.run(MoveOffer { partner: Some(partner), application, offer, action, stamp }).await?;
        }
    }
    let offer = OfferId::parse(OTHER_OFFER).expect("a UUID");
    let terms = terms(&OFFERS[0], now)?;
    store.run(PutOffer { application: of_other, offer, terms, stamp: stamp(at) }).await?;

    let id = BuyerId::parse(BUYER).expect("a UUID");
    store.run(CreateBuyer::new(partner, id, None, buyer("Eastwind Bicycles Ltd"), stamp(at))).await?;
    let key = IdempotencyKey::parse(IDEMPOTENCY_KEY).expect("visible ASCII");
    store.run(CreateBuyer::new(partner, id, Some(&key), buyer(BUYER_OF_KEY), stamp(at))).await?;
    Ok(())
}

fn later(now: Timestamp, seconds: i64) -> Timestamp {
    let span = StdDuration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { now - span } else { now + span }
}

fn terms(wanted: &SandboxOffer, now: Timestamp) -> Result<Terms, Box<dyn Error + Send + Sync>> {
    let full = Terms {
        details: Details::parse("Fixed rate over two years")?,
        funding_type: FundingType::TermLoan,
        offer_type: wanted.offer_type,
        annual_percentage_rate: Rate::from_f64(0.0905)?,
        interest_rate: Some(Rate::from_f64(0.085)?),
        expiry_at: Some(later(now, wanted.expires_in)),
        redirect_url: None,
        amount: Some(Amount::from_f64(25_000.55)?),
        duration: Some(Duration::TwoYears),
    };
    Ok(match wanted.offer_type {
        OfferType::Underwritten => full,
        OfferType::Indicative => Terms {
            details: Details::parse("Representative rate")?,
            redirect_url: Some(RedirectUrl::parse("https://onboarding.example/loans")?),
            amount: None,
            duration: None,
            ..full
        },
    })
}

fn buyer(name: &str) -> NewBuyer {
    let description = Description { name: Some(name.to_owned()), ..Description::default() };
    buyer_checks::check(description, BuyerChecks::Full).expect("a name alone is acceptable")
}
