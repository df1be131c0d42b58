//! Examples, made from real values by the same conversions that make real answers.

use super::finish::Example;
use crate::wire::application::ApplicationList;
use crate::wire::buyer::{Buyer, description};
use crate::wire::fields::Fields;
use crate::wire::offer::{Offer, OfferList};
use crate::wire::partner_event::EventList;
use lendpay_domain::buyer_checks::{self, BuyerChecks};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{self, Actor, EventPage, Subject};
use lendpay_domain::offer::{self, Details, Duration, FundingType, OfferType, RedirectUrl, Status, Terms};
use lendpay_domain::page::Page;
use lendpay_domain::query::{self, OfferCursor};
use lendpay_domain::{
    ApplicationId, BuyerId, EventId, HistoryId, KeyId, OfferId, OperationId, PartnerId, Timestamp, buyer,
};
use serde::Serialize;
use serde_json::json;
use uuid::{Uuid, uuid};

pub(super) const APPLICATION: Uuid = uuid!("5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21");
pub(super) const OFFER: Uuid = uuid!("8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10");

/// Offers in a status.
fn offers_that_are(status: Status) -> Vec<Example> {
    let moved = |(summary, offer): (&str, offer::Offer)| {
        (summary.to_owned(), json!(Offer::from(offer::Offer { status, ..offer })))
    };
    offered().into_iter().map(moved).collect()
}

/// Offers as AcceptOffer answers them.
pub(super) fn offers() -> Vec<Example> {
    offers_that_are(Status::CustomerAccepted)
}

/// Offers as DeclineOffer answers them.
pub(super) fn declined() -> Vec<Example> {
    offers_that_are(Status::CustomerDeclined)
}

/// Offers as GetOffer answers them.
pub(super) fn read_offers() -> Vec<Example> {
    offers_that_are(Status::Offered)
}

fn last_page(list: impl Serialize) -> Vec<Example> {
    vec![("The last page".to_owned(), json!(list))]
}

/// Offers as ListOffers answers them.
pub(super) fn offer_list() -> Vec<Example> {
    let items = offered().into_iter().map(|(_, offer)| offer).collect();
    last_page(OfferList::from(Page { items, next: None::<OfferCursor> }))
}

/// Applications as ListApplications answers them.
pub(super) fn application_list() -> Vec<Example> {
    let application =
        query::Application { id: ApplicationId::new(APPLICATION), partner: PartnerId::from_bytes([0; 16]) };
    last_page(ApplicationList::from(Page { items: vec![application], next: None::<ApplicationId> }))
}

/// Buyers as ListBuyers answers them.
pub(super) fn buyer_list() -> Vec<Example> {
    let items: Vec<_> = buyers().into_iter().map(|(_, buyer)| buyer).take(1).collect();
    last_page(json!({ "items": items, "next": null }))
}

/// Events as ListEvents answers them.
pub(super) fn event_list() -> Vec<Example> {
    let offer = OfferId::new(OFFER);
    let (application, status) = (ApplicationId::new(APPLICATION), Status::CustomerAccepted);
    let event = event::Event {
        sequence: 41,
        id: EventId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e")),
        occurred_at: moment(1_653_653_744, 50_386_800),
        partner: Some(PartnerId::from_bytes([0; 16])),
        subject: Subject::Offer { application, offer, status },
        actor: Actor::Key(KeyId::new(uuid!("01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6d"))),
        operation: OperationId::from_bytes(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()),
        replaced: None,
        reason: None,
    };
    let history = HistoryId::new(uuid!("9b2fd8e4-6a0c-4c53-8f0e-3c1d5a7b9e42"));
    last_page(EventList::from(EventPage { history, last: 41, seen: 41, events: vec![event], next: None }))
}

/// Payloads for CreateBuyer.
pub(super) fn new_buyers() -> Vec<Example> {
    let company = json!({
        "name": "Northwind Bicycles Ltd",
        "registrationNumber": "09876543",
        "countryCode": "GB",
        "type": 0,
        "bankAccount": {
            "currencyCode": "GBP",
            "accountName": "Northwind Bicycles Ltd",
            "sortCode": "20-20-15",
            "accountNumber": "55555555",
            "bic": "BUKBGB22",
            "accountType": "Current",
            "iban": "GB33 BUKB 2020 1555 5555 55",
        },
    });
    let foreign = json!({
        "name": "Fahrrad Nord GmbH",
        "countryCode": "DE",
        "bankAccount": { "currencyCode": "EUR", "iban": "DE89 3704 0044 0532 0130 00" },
    });
    vec![("British company".to_owned(), company), ("Company with an IBAN only".to_owned(), foreign)]
}

/// Buyers as CreateBuyer answers them: what it makes of the payloads above.
pub(super) fn buyers() -> Vec<Example> {
    let answer = |(summary, payload): Example| {
        let mut fields = Fields::of(payload.to_string().as_bytes()).expect("the example is an object");
        let description = description(&mut fields);
        let checked = buyer_checks::check(description, BuyerChecks::Full).expect("the example is good");
        let buyer = buyer::Buyer {
            id: BuyerId::new(uuid!("0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6a")),
            partner: PartnerId::from_bytes([0; 16]),
            description: checked.into_description(),
            created_at: moment(1_653_653_744, 50_386_800),
        };
        (summary, json!(Buyer::from(buyer)))
    };
    new_buyers().into_iter().map(answer).collect()
}

/// A moment by seconds since 1970 and nanoseconds.
pub(super) fn moment(seconds: i64, nanos: u32) -> Timestamp {
    Timestamp::from_timestamp(seconds, nanos).expect("the moment is in range")
}

/// An offer of each type, Offered.
pub(super) fn offered() -> [(&'static str, offer::Offer); 2] {
    const GOOD: &str = "the example is good";
    let rate = |rate| Rate::from_input(rate).expect(GOOD);
    let details = |text| Details::from_input(text).expect(GOOD);
    let url = "https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce";
    let offer = |id, terms| offer::Offer {
        id: OfferId::new(id),
        application: ApplicationId::new(APPLICATION),
        partner: PartnerId::from_bytes([0; 16]),
        terms,
        status: Status::Offered,
        status_changed_at: moment(1_653_653_744, 50_386_800),
    };
    let underwritten = Terms {
        details: details("Fixed rate, no early repayment fee"),
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Underwritten,
        annual_percentage_rate: rate(0.0905),
        interest_rate: Some(rate(0.085)),
        expiry_at: Some(moment(1_656_332_144, 0)),
        redirect_url: None,
        amount: Some(Amount::from_f64(25_000.55).expect(GOOD)),
        duration: Some(Duration::TwoYears),
    };
    let indicative = Terms {
        details: details("Representative Rate"),
        offer_type: OfferType::Indicative,
        interest_rate: Some(rate(0.03)),
        expiry_at: Some(moment(1_654_258_544, 50_334_200)),
        redirect_url: Some(RedirectUrl::parse(url).expect(GOOD)),
        amount: None,
        duration: None,
        ..underwritten.clone()
    };
    [
        ("Underwritten", offer(OFFER, underwritten)),
        ("Indicative", offer(uuid!("3e7b118e-bb4c-4e4b-981d-a62526cbbdce"), indicative)),
    ]
}
