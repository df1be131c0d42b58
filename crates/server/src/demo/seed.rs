//! What the demo has in its store, put there by the same commands that an operator gives.

use crate::system_clock::SystemClock;
use lendpay_api::{Clock as _, event_id, key_bits, uuid};
use lendpay_domain::command::{AddKey, MoveOffer, PutApplication, PutOffer, PutPartner, Stamp};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Access, ApiKey, Area, KeyRecord};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Terms};
use lendpay_domain::store::Commands;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, KeyId, OfferId, OperationId, PartnerId};
use std::error::Error;
use std::time::Duration as StdDuration;

/// What there is to try.
pub struct Seeded {
    /// The key's secret.
    pub key: String,
    /// The application that all offers belong to.
    pub application: ApplicationId,
    /// The offers with a word on each; the first one can be accepted.
    pub offers: Vec<(OfferId, &'static str)>,
}

/// Puts a partner, a key, an application and an offer of each interesting kind into `store`.
pub async fn fill(store: &impl Commands) -> Result<Seeded, Box<dyn Error>> {
    let now = SystemClock.now();
    let operation = OperationId::from_bytes(uuid().into_bytes());
    let stamp = || Stamp { at: now, event: event_id(), actor: Actor::Operator, operation };
    let (partner, application) = (PartnerId::new(uuid()), ApplicationId::new(uuid()));
    let name = Name::parse("Demo partner")?;
    store.run(PutPartner { id: partner, name, oauth_client_id: None, stamp: stamp() }).await?;
    let key = ApiKey::from_random(key_bits());
    let record = KeyRecord {
        id: KeyId::new(uuid()),
        partner,
        hash: key.hash(),
        name: Name::parse("Demo key")?,
        areas: Area::ALL.into_iter().collect(),
        access: Access::Full,
        created_at: now,
        expires_at: None,
        revoked_at: None,
    };
    store.run(AddKey { key: record, stamp: stamp() }).await?;
    store.run(PutApplication { id: application, partner, stamp: stamp() }).await?;

    let full = Terms {
        details: Details::parse("Fixed rate over two years")?,
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Underwritten,
        annual_percentage_rate: Rate::from_f64(0.0905)?,
        interest_rate: Some(Rate::from_f64(0.085)?),
        expiry_at: Some(now + StdDuration::from_secs(14 * 24 * 60 * 60)),
        redirect_url: None,
        amount: Some(Amount::from_f64(25_000.55)?),
        duration: Some(Duration::TwoYears),
    };
    let indicative = Terms {
        details: Details::parse("Representative rate")?,
        offer_type: OfferType::Indicative,
        redirect_url: Some(RedirectUrl::parse("https://onboarding.example/loans")?),
        amount: None,
        duration: None,
        ..full.clone()
    };
    let soon = Terms { expiry_at: Some(now + StdDuration::from_secs(120)), ..full.clone() };
    let mut offers = Vec::new();
    for (terms, what) in [
        (full.clone(), "offered"),
        (indicative, "offered, indicative: amount and duration are null"),
        (soon, "offered, expires in two minutes"),
        (full.clone(), "declined: accepting it is a conflict"),
        (full, "accepted: accepting it again is fine"),
    ] {
        let offer = OfferId::new(uuid());
        store.run(PutOffer { application, offer, terms, stamp: stamp() }).await?;
        offers.push((offer, what));
    }
    for (offer, action) in [(offers[3].0, Action::Decline), (offers[4].0, Action::Accept)] {
        store.run(MoveOffer { partner: Some(partner), application, offer, action, stamp: stamp() }).await?;
    }
    Ok(Seeded { key: key.reveal().to_owned(), application, offers })
}
