//! Values to begin with. Tests change what they are about.

use lendpay_domain::Timestamp;
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::offer::{Details, Duration, FundingType, OfferType, Terms};
use serde_json::{Value, json};

/// A British IBAN, and the rest of the same account.
pub const IBAN: &str = "GB33BUKB20201555555555";
/// The account number in [`IBAN`].
pub const ACCOUNT_NUMBER: &str = "55555555";

/// A time as RFC 3339 writes it.
pub fn at(text: &str) -> Timestamp {
    chrono::DateTime::parse_from_rfc3339(text).expect("RFC 3339").to_utc()
}

/// When every test begins.
pub fn start() -> Timestamp {
    at("2026-03-01T12:00:00.123456Z")
}

/// A rate.
pub fn rate(value: f64) -> Rate {
    Rate::from_f64(value).expect("a rate")
}

/// An amount.
pub fn amount(value: f64) -> Amount {
    Amount::from_f64(value).expect("an amount")
}

/// The terms of an offer that does not expire, every other field set but the address.
pub fn terms() -> Terms {
    Terms {
        details: Details::parse("Fixed rate over two years").expect("short"),
        funding_type: FundingType::TermLoan,
        offer_type: OfferType::Underwritten,
        annual_percentage_rate: rate(0.0905),
        interest_rate: Some(rate(0.085)),
        expiry_at: None,
        redirect_url: None,
        amount: Some(amount(25_000.55)),
        duration: Some(Duration::TwoYears),
    }
}

/// Terms that hold until a moment.
pub fn terms_until(expiry: Timestamp) -> Terms {
    Terms { expiry_at: Some(expiry), ..terms() }
}

/// A buyer that is acceptable, every field set.
pub fn buyer() -> Value {
    json!({
        "name": "Northwind Bicycles Ltd",
        "registrationNumber": "09876543",
        "countryCode": "GB",
        "type": 0,
        "bankAccount": {
            "currencyCode": "GBP",
            "accountName": "Northwind Bicycles Ltd",
            "sortCode": "20-20-15",
            "accountNumber": ACCOUNT_NUMBER,
            "bic": "BUKBGB22",
            "accountType": "Current",
            "iban": IBAN,
        },
    })
}
