//! Offers as the operator puts many of them at once, and the checks of a file of offers before it is sent.

use super::fields::{self, Fields, Value as Sent};
use super::operator_offer::NewOffer;
use super::party::FromFields;
use super::wire_type;
use crate::failure::Failure;
use crate::side::Shape;
use crate::wire::error::ErrorBody;
use lendpay_domain::offer::Terms;
use lendpay_domain::{ApplicationId, OfferId, OperationId, PartnerId, Timestamp};
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use uuid::Uuid;

/// The most offers of a batch.
pub const OFFERS_AT_ONCE: usize = 500;

/// The fields of an offer that are numbers.
const NUMBERS: [&str; 3] = ["annualPercentageRate", "interestRate", "amount"];

/// Offers, to be put.
#[derive(Debug, Object)]
#[oai(rename = "PutOffersRequest")]
pub struct NewOffers {
    /// The offers: 1 to 500, none of them twice.
    pub items: Vec<BatchedOffer>,
}

/// One of several offers.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "PutOffersItem")]
pub struct BatchedOffer {
    /// The identifier of the application.
    pub application_id: Uuid,
    /// The identifier of the offer. You choose it.
    pub offer_id: Uuid,
    /// The identifier of the application's owner: the application is created if it is not there. Absent or null: it must
    /// be there.
    #[oai(nullable)]
    pub partner_id: Option<Uuid>,
    #[oai(flatten)]
    pub terms: NewOffer,
}

/// An item of a batch, as far as it could be read.
#[derive(Debug)]
pub struct ReadOffer {
    /// The application, if its id is good.
    pub application: Option<ApplicationId>,
    /// The offer, if its id is good.
    pub offer: Option<OfferId>,
    /// The offer, if all of it is good; else one message for each field.
    pub whole: Result<WholeOffer, Vec<String>>,
}

/// An item of a batch in which everything is good.
#[derive(Debug)]
pub struct WholeOffer {
    /// The application.
    pub application: ApplicationId,
    /// The offer.
    pub offer: OfferId,
    /// The owner of the application, which is created if it is not there.
    pub partner: Option<PartnerId>,
    /// What is offered.
    pub terms: Terms,
}

impl ReadOffer {
    fn of(item: Sent, now: Timestamp) -> Self {
        let Sent::Object(members) = item else {
            return Self { application: None, offer: None, whole: Err(vec!["must be an object".to_owned()]) };
        };
        let mut fields = Fields::within("", members);
        let application = fields.required("applicationId", |value| fields::id(value, ApplicationId::parse));
        let offer = fields.required("offerId", |value| fields::id(value, OfferId::parse));
        let partner = fields.optional("partnerId", |value| fields::id(value, PartnerId::parse));
        let terms = NewOffer::read(&mut fields, now);
        let whole = application.zip(offer).zip(terms);
        let whole = whole.map(|((application, offer), terms)| WholeOffer { application, offer, partner, terms });
        Self { application, offer, whole: fields.finish(whole) }
    }
}

impl FromFields for NewOffers {
    type Value = Vec<ReadOffer>;

    fn read(fields: &mut Fields, now: Timestamp) -> Option<Vec<ReadOffer>> {
        let items = fields.required("items", |value| match value {
            Sent::List(items) if (1..=OFFERS_AT_ONCE).contains(&items.len()) => Ok(items),
            _ => Err("must be an array of 1 to 500 offers"),
        })?;
        Some(items.into_iter().map(|item| ReadOffer::of(item, now)).collect())
    }
}

/// What became of an offer of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BatchResult {
    /// It is new, and Offered.
    Created,
    /// It is Offered, and has new terms.
    Replaced,
    /// It has these terms already, in whatever status.
    Unchanged,
    /// Nothing was done about it.
    Failed,
}

wire_type!(BatchResult, "BatchResult", named: MetaSchema {
    description: Some(
        "What became of the offer: created is new, replaced has new terms, unchanged had these terms already, in whatever \
         status it is, and failed was refused, or could not be put now."
    ),
    enum_items: ["created", "replaced", "unchanged", "failed"].map(Value::from).into(),
    ..MetaSchema::new("string")
});

/// Why an offer of a batch failed, as the operation for one offer would have said it.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct BatchFailure {
    /// The status. After 503 the offer may be sent again.
    pub status: i32,
    /// A short title of the error.
    pub title: String,
    /// What went wrong, for a person to read.
    pub message: String,
    /// A stable name of the error, for a program to read.
    pub error_code: String,
    /// Detail messages; may be empty. A message about a field begins with the field's name and a colon.
    pub errors: Vec<String>,
}

impl From<&Failure> for BatchFailure {
    fn from(failure: &Failure) -> Self {
        // Of the body of an error only what an item shows is taken: the rest is of the whole answer.
        let body = failure.body(Shape::Operator, OperationId::from_bytes([0; 16]), Timestamp::UNIX_EPOCH);
        let ErrorBody { title, message, errors, .. } = body;
        Self {
            status: failure.status().as_u16().into(),
            title: title.to_owned(),
            message: message.to_owned(),
            error_code: failure.code().to_owned(),
            errors,
        }
    }
}

/// What became of one offer of a batch.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct BatchedAnswer {
    /// The identifier of the application; null when the item has none that is a UUID.
    #[oai(nullable)]
    pub application_id: Option<Uuid>,
    /// The identifier of the offer; null when the item has none that is a UUID.
    #[oai(nullable)]
    pub offer_id: Option<Uuid>,
    pub result: BatchResult,
    /// Why it failed; null when it did not.
    #[oai(nullable)]
    pub failure: Option<BatchFailure>,
}

/// What became of the offers of a batch, in their order.
#[derive(Debug, Object, Serialize)]
pub struct BatchAnswer {
    /// One for each offer of the batch, in the same order.
    pub items: Vec<BatchedAnswer>,
}

impl From<Sent> for Value {
    fn from(value: Sent) -> Self {
        match value {
            Sent::Null => Self::Null,
            Sent::Bool(value) => Self::Bool(value),
            Sent::Number(number) => Self::Number(number),
            Sent::Text(text) => Self::String(text),
            Sent::List(items) => items.into_iter().map(Self::from).collect(),
            Sent::Object(members) => members.into_iter().map(|(name, value)| (name, Self::from(value))).collect(),
        }
    }
}

impl From<Value> for Sent {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

/// Reads a line of JSON as an object, as strictly as a body.
///
/// # Errors
/// What is wrong with the line.
pub fn offer_of_line(line: &[u8]) -> Result<Map<String, Value>, String> {
    let fields = Fields::of(line).map_err(|problem| problem.replace("The body", "It").replace("line 1, ", ""))?;
    Ok(fields.into_members().into_iter().map(|(name, value)| (name, value.into())).collect())
}

/// The fields of an offer that is written as texts, as in CSV: what is empty is absent, and a number is read where one
/// belongs.
pub fn offer_of_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let filled = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let value = |name: &str, text: &str| {
        let number = text.trim().parse().ok().and_then(Number::from_f64).filter(|_| NUMBERS.contains(&name));
        number.map_or_else(|| text.into(), Value::Number)
    };
    filled.map(|(name, text)| (name.to_owned(), value(name, text))).collect()
}

/// Checks an offer as the service will, and gives its ids.
///
/// # Errors
/// One message for each field that is wrong.
pub fn check_offer(offer: Map<String, Value>, now: Timestamp) -> Result<(ApplicationId, OfferId), Vec<String>> {
    ReadOffer::of(Value::Object(offer).into(), now).whole.map(|offer| (offer.application, offer.offer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use poem_openapi::registry::{MetaSchemaRef, Registry};
    use poem_openapi::types::Type;
    use serde_json::json;

    const ID: &str = "5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21";

    #[test]
    fn numbers_are_those_of_the_document() {
        let mut registry = Registry::new();
        NewOffer::register(&mut registry);
        let schema = registry.schemas.get("PutOfferRequest").expect("it was registered");
        let is_number =
            |schema: &MetaSchemaRef| matches!(schema, MetaSchemaRef::Inline(schema) if schema.ty == "number");
        let numbers = schema.properties.iter().filter(|(_, schema)| is_number(schema));
        assert!(numbers.map(|(name, _)| *name).eq(NUMBERS));
    }

    #[test]
    fn texts_become_what_the_service_reads() {
        let texts = [
            ("applicationId", ID),
            ("offerId", ID),
            ("partnerId", ""),
            ("details", "0.5"),
            ("fundingType", "TermLoan"),
            ("offerType", "Underwritten"),
            ("annualPercentageRate", " 0.0905"),
            ("interestRate", ""),
            ("amount", "25000.55"),
        ];
        let offer = offer_of_texts(texts);
        let wanted = json!({
            "applicationId": ID, "offerId": ID, "details": "0.5", "fundingType": "TermLoan", "offerType": "Underwritten",
            "annualPercentageRate": 0.0905, "amount": 25_000.55,
        });
        assert_eq!(Value::Object(offer.clone()), wanted);
        assert!(check_offer(offer, Timestamp::UNIX_EPOCH).is_ok());
        for wrong in ["25,000", "NaN", "inf", "1e999", "nine", "£9"] {
            let texts = texts.map(|(name, text)| (name, if name == "amount" { wrong } else { text }));
            let problems = check_offer(offer_of_texts(texts), Timestamp::UNIX_EPOCH).err();
            assert_eq!(problems, Some(vec!["amount: must be a number".to_owned()]), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told_without_quoting_it() {
        for (line, wanted) in [
            ("SECRET", "It is not valid JSON (column 1)."),
            ("[]", "It is not a JSON object."),
            ("{\"amount\":1,\"amount\":2}", "An object has the same member twice (column 23)."),
            ("{\"a", "It ends in the middle of the JSON (column 3)."),
        ] {
            assert_eq!(offer_of_line(line.as_bytes()).expect_err("refused"), wanted);
        }
        let problems = check_offer(Map::new(), Timestamp::UNIX_EPOCH).expect_err("refused");
        assert_eq!(problems[..2], ["applicationId: is required", "offerId: is required"]);
    }
}
