//! Examples, made from real values by the same conversions that make real answers.

use super::finish::Example;
use crate::wire::buyer::Buyer;
use crate::wire::offer::Offer;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::buyer_checks::{self, BuyerChecks};
use lendpay_domain::decimal::{Amount, DecimalError, Rate};
use lendpay_domain::offer::{self, Details, Duration, FundingType, OfferType, RedirectUrl, Status, Terms, TermsError};
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId, Timestamp, buyer};
use serde_json::{Value, json};
use uuid::uuid;

/// Offers as AcceptOffer answers them.
pub(super) fn offers() -> Vec<Example> {
    let example = |summary: &str, offer: Result<offer::Offer, NotAnExample>| {
        (summary.to_owned(), offer.map(|offer| json!(Offer::from(offer))).unwrap_or(Value::Null))
    };
    vec![example("Underwritten", underwritten()), example("Indicative", indicative())]
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
    let text = |value: &Value, field: &str| value[field].as_str().map(str::to_owned);
    let answer = |(summary, payload): Example| {
        let account = &payload["bankAccount"];
        let description = Description {
            name: text(&payload, "name"),
            registration_number: text(&payload, "registrationNumber"),
            country_code: text(&payload, "countryCode"),
            kind: payload["type"].as_i64().and_then(|kind| i32::try_from(kind).ok()),
            bank_account: Some(BankAccount {
                currency_code: text(account, "currencyCode"),
                account_name: text(account, "accountName"),
                sort_code: text(account, "sortCode"),
                account_number: text(account, "accountNumber"),
                bic: text(account, "bic"),
                account_type: text(account, "accountType"),
                iban: text(account, "iban"),
            }),
        };
        let body = buyer_checks::check(description, BuyerChecks::Full).map(|checked| {
            json!(Buyer::from(buyer::Buyer {
                id: BuyerId::new(uuid!("0195f2a8-6c1e-7d43-9b0a-1f2e3d4c5b6a")),
                partner: PartnerId::from_bytes([0; 16]),
                description: checked.into_description(),
                created_at: moment(1_653_653_744, 50_386_800),
            }))
        });
        (summary, body.unwrap_or(Value::Null))
    };
    new_buyers().into_iter().map(answer).collect()
}

pub(super) struct NotAnExample;

impl From<DecimalError> for NotAnExample {
    fn from(_: DecimalError) -> Self {
        Self
    }
}

impl From<TermsError> for NotAnExample {
    fn from(_: TermsError) -> Self {
        Self
    }
}

fn moment(seconds: i64, nanos: u32) -> Timestamp {
    Timestamp::from_timestamp(seconds, nanos).unwrap_or_default()
}

pub(super) fn underwritten() -> Result<offer::Offer, NotAnExample> {
    Ok(offer::Offer {
        id: OfferId::new(uuid!("8d5f0a52-7c0e-4f7b-9a64-2f3f5b9f1c10")),
        application: ApplicationId::new(uuid!("5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21")),
        partner: PartnerId::from_bytes([0; 16]),
        terms: Terms {
            details: Details::parse("Fixed rate, no early repayment fee")?,
            funding_type: FundingType::TermLoan,
            offer_type: OfferType::Underwritten,
            annual_percentage_rate: Rate::from_f64(0.0905)?,
            interest_rate: Some(Rate::from_f64(0.085)?),
            expiry_at: Some(moment(1_656_332_144, 0)),
            redirect_url: None,
            amount: Some(Amount::from_f64(25_000.55)?),
            duration: Some(Duration::TwoYears),
        },
        status: Status::CustomerAccepted,
        status_changed_at: moment(1_653_653_744, 50_386_800),
    })
}

pub(super) fn indicative() -> Result<offer::Offer, NotAnExample> {
    Ok(offer::Offer {
        id: OfferId::new(uuid!("3e7b118e-bb4c-4e4b-981d-a62526cbbdce")),
        application: ApplicationId::new(uuid!("5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21")),
        partner: PartnerId::from_bytes([0; 16]),
        terms: Terms {
            details: Details::parse("Representative Rate")?,
            funding_type: FundingType::TermLoan,
            offer_type: OfferType::Indicative,
            annual_percentage_rate: Rate::from_f64(0.0905)?,
            interest_rate: Some(Rate::from_f64(0.03)?),
            expiry_at: Some(moment(1_654_258_544, 50_334_200)),
            redirect_url: Some(RedirectUrl::parse(
                "https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce",
            )?),
            amount: None,
            duration: None,
        },
        status: Status::CustomerAccepted,
        status_changed_at: moment(1_653_653_744, 50_386_800),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_value() {
        for (summary, value) in offers().into_iter().chain(buyers()) {
            assert!(value.is_object(), "{summary}");
        }
    }
}
