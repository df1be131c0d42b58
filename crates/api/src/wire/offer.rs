//! An offer on the wire (contract 1.2).

use super::page::page_of;
use super::time::Time;
use super::wire_type;
use lendpay_domain::offer;
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A loan offer.
#[derive(Debug, Clone, PartialEq, Object, Serialize, Deserialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The identifier of the offer.
    pub id: Uuid,
    pub status: Status,
    /// Free text that describes the offer.
    pub details: String,
    pub funding_type: FundingType,
    pub offer_type: OfferType,
    /// The yearly cost of the loan, fees included, as a fraction: 0.09 is nine percent.
    pub annual_percentage_rate: f64,
    /// The yearly interest as a fraction: 0.085 is eight and a half percent; null while it is not fixed.
    #[oai(nullable)]
    pub interest_rate: Option<f64>,
    /// After this moment, in UTC, the offer is no longer valid; null when it does not expire.
    #[oai(nullable)]
    pub expiry_at: Option<Time>,
    /// The address where the customer enters the onboarding journey; null when there is none.
    #[oai(nullable)]
    pub redirect_url: Option<Address>,
    /// The sum that is lent, in the main unit of its currency: 25000.55 is 25,000 pounds and 55 pence; null while it is
    /// not fixed.
    #[oai(nullable)]
    pub amount: Option<f64>,
    /// How long the loan runs; null while it is not fixed.
    #[oai(nullable)]
    pub duration: Option<Duration>,
    /// When the status last changed, in UTC.
    pub status_changed_at: Time,
}

/// An address as a string. Its own type only for the format in the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Address(pub String);

wire_type!(Address, "Address", schema: MetaSchema::new_with_format("string", "uri"));

/// An enumeration whose names are those of the domain's.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident as $schema:literal, $description:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name(pub offer::$name);

        wire_type!($name, $schema, named: MetaSchema {
            description: Some($description),
            enum_items: offer::$name::ALL.iter().map(|value| value.name().into()).collect(),
            ..MetaSchema::new("string")
        });

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.name())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                named(deserializer, offer::$name::ALL, offer::$name::name).map(Self)
            }
        }
    };
}

/// Reads one of `all` by its name.
fn named<'de, T: Copy, D: serde::Deserializer<'de>>(
    deserializer: D,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    all.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        serde::de::Error::custom(format!("must be one of {}", names.join(", ")))
    })
}

wire_enum! {
    /// The status of an offer.
    Status as "OfferStatus",
    "The status of the offer: Offered waits for the customer; Expired ran out of time; CustomerAccepted and \
     CustomerDeclined are the customer's answer; Advanced is paid out; Archived is final."
}

wire_enum! {
    /// What is financed.
    FundingType as "FundingType",
    "What is financed: TermLoan is a loan over a fixed time."
}

wire_enum! {
    /// How firm an offer is.
    OfferType as "OfferType",
    "How firm the offer is: Indicative may still change in onboarding, Underwritten is final."
}

wire_enum! {
    /// How long a loan runs.
    Duration as "OfferDuration",
    "How long the loan runs: HalfYear is six months, Year twelve."
}

impl From<offer::Offer> for Offer {
    fn from(offer: offer::Offer) -> Self {
        let terms = offer.terms;
        Self {
            id: offer.id.uuid(),
            status: Status(offer.status),
            details: terms.details.as_str().to_owned(),
            funding_type: FundingType(terms.funding_type),
            offer_type: OfferType(terms.offer_type),
            annual_percentage_rate: terms.annual_percentage_rate.to_f64(),
            interest_rate: terms.interest_rate.map(|rate| rate.to_f64()),
            expiry_at: terms.expiry_at.map(Time),
            redirect_url: terms.redirect_url.map(|url| Address(url.as_str().to_owned())),
            amount: terms.amount.map(|amount| amount.to_f64()),
            duration: terms.duration.map(Duration),
            status_changed_at: Time(offer.status_changed_at),
        }
    }
}

page_of! {
    Offer,
    /// A page of an application's offers, in the order of their identifiers. With a filter a page may be short, or empty,
    /// and yet have a `next`.
    OfferList
}

#[cfg(test)]
mod tests {
    use super::*;
    use poem_openapi::types::ToJSON;

    /// Contract 1.2, its times written as 2.12 says.
    const SAMPLE: &str = r#"{"expiryAt":"2022-06-03T12:15:44.050334200Z","status":"Offered",
        "details":"Representative Rate","fundingType":"TermLoan","offerType":"Indicative",
        "annualPercentageRate":0.0905,"interestRate":0.03,
        "redirectUrl":"https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce",
        "id":"3e7b118e-bb4c-4e4b-981d-a62526cbbdce","amount":null,"duration":null,
        "statusChangedAt":"2022-05-27T12:15:44.050386800Z"}"#;

    #[test]
    fn the_contracts_sample_is_read_and_written_unchanged() {
        let sample: serde_json::Value = serde_json::from_str(SAMPLE).expect("JSON");
        let offer: Offer = serde_json::from_str(SAMPLE).expect("an offer");
        assert_eq!(serde_json::to_value(&offer).expect("JSON"), sample);
    }

    #[test]
    fn what_serde_writes_is_what_the_document_describes() {
        let offer: Offer = serde_json::from_str(SAMPLE).expect("an offer");
        assert_eq!(serde_json::to_value(&offer).ok(), offer.to_json());
    }
}
