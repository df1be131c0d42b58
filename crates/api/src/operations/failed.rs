//! How an operation says in the document which failures it can really give.

use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use crate::side::Shape;
use crate::wire::error::{LendingError, OperatorError, PaymentsError};
use lendpay_domain::offer::Status;
use lendpay_domain::operator::Role;
use poem_openapi::ApiResponse;
use poem_openapi::registry::{
    MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry,
};
use poem_openapi::types::Type;
use serde_json::Value;
use std::marker::PhantomData;

/// A parameter of a query.
pub(crate) struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the document.
    pub description: &'static str,
    /// What it must be, for the document.
    pub schema: fn() -> Value,
}

/// An operation: the shape of its errors and everything that it may answer instead of success.
pub(crate) trait Operation: Send + Sync + 'static {
    /// Its `operationId`.
    const ID: &'static str;
    /// The shape of its errors.
    const SHAPE: Shape = Shape::Operator;
    /// The parameters of its query. The operator's side and the reads of partners refuse others.
    const QUERY: &'static [Parameter] = &[];
    /// The least role that may ask for it; `None` where no operator's key is asked for.
    const ROLE: Option<Role> = None;
    /// One of each failure that it can give, but for that of its role.
    fn failures() -> Vec<Failure>;

    /// One of each failure that it can give. The document's responses and examples are made from them.
    fn all_failures() -> Vec<Failure> {
        let lower = Role::ALL.into_iter().rev().find(|has| Self::ROLE.is_some_and(|needed| *has < needed));
        let role = Self::ROLE.zip(lower).map(|(needed, has)| OperatorFailure::RoleMissing { needed, has }.into());
        Self::failures().into_iter().chain(role).collect()
    }
}

/// A failure of an operation.
pub(crate) struct Failed<O>(Failure, PhantomData<O>);

impl<O> Failed<O> {
    /// The failure by itself.
    pub fn failure(self) -> Failure {
        self.0
    }
}

impl<O, F: Into<Failure>> From<F> for Failed<O> {
    fn from(failure: F) -> Self {
        Self(failure.into(), PhantomData)
    }
}

impl<O: Operation> From<Failed<O>> for poem::Error {
    fn from(failed: Failed<O>) -> Self {
        failed.0.into()
    }
}

impl<O: Operation> ApiResponse for Failed<O> {
    fn meta() -> MetaResponses {
        let mut failures = O::all_failures();
        failures.sort_by_key(Failure::status);
        let schema = || match O::SHAPE {
            Shape::Lending => LendingError::schema_ref(),
            Shape::Payments => PaymentsError::schema_ref(),
            Shape::Operator => OperatorError::schema_ref(),
        };
        let response = |failures: &[Failure]| MetaResponse {
            description: description(O::SHAPE, &failures[0]),
            status: Some(failures[0].status().as_u16()),
            status_range: None,
            content: vec![MetaMediaType { content_type: "application/json", schema: schema() }],
            headers: headers(failures),
        };
        MetaResponses { responses: failures.chunk_by(|a, b| a.status() == b.status()).map(response).collect() }
    }

    fn register(registry: &mut Registry) {
        match O::SHAPE {
            Shape::Lending => LendingError::register(registry),
            Shape::Payments => PaymentsError::register(registry),
            Shape::Operator => OperatorError::register(registry),
        }
    }
}

/// The description of all failures that share a status.
fn description(shape: Shape, failure: &Failure) -> &'static str {
    match failure {
        Failure::BadParameters(_) => return "A parameter is not acceptable; `errors` says what is wrong.",
        Failure::OfferRefused(illegal) if illegal.to == Status::CustomerDeclined => {
            return "The offer can no longer be declined: it was accepted, has expired or is archived.";
        }
        Failure::CursorUnknown => {
            return "`after` is past the end, or of another history: a backup was restored. Read from the beginning.";
        }
        Failure::TooManyReaders(_) if shape == Shape::Operator => {
            return "100 requests wait for events already, or there were too many without an operator's key from one address.";
        }
        Failure::TooManyReaders(_) => {
            return "Too many requests of this partner, or 10 of them wait for events already, or too many without valid \
                    credentials from one address.";
        }
        Failure::Operator(OperatorFailure::BatchTooLarge) => return "The body is larger than 8,388,608 bytes.",
        _ => {}
    }
    match (failure.status().as_u16(), shape) {
        (401, Shape::Operator) => "The operator's key is missing or not one that is known.",
        (403, Shape::Operator) => "The operator's role does not allow this; `message` names the role that does.",
        (404, Shape::Operator) => "Nothing was found with that identifier.",
        (409, Shape::Operator) => "The present state does not allow this; `errorCode` says why.",
        (429, Shape::Operator) => "Too many requests without an operator's key from one address.",
        (400, Shape::Lending) => "The request breaks off or is not well-formed HTTP.",
        (400, _) => "The data is not acceptable; `errors` says what is wrong, field by field.",
        (401, _) => "The API key or the access token is missing or not valid.",
        (403, _) => "The credentials are valid but do not cover this area, or the token has no scope for it.",
        (404, _) => "No resource was found with that identifier.",
        (408, _) => "The request took longer than it may (30 seconds).",
        (409, _) => "The offer can no longer be accepted: it has expired, was declined or is archived.",
        (413, _) => "The body is larger than 65,536 bytes.",
        (415, _) => "The Content-Type is not JSON.",
        (422, _) => "The Idempotency-Key was used with another payload.",
        (429, _) => "Too many requests of this partner, or too many without valid credentials from one address.",
        (503, _) => "The service cannot do this now. Try again after the time in Retry-After.",
        _ => "Something went wrong on our side.",
    }
}

/// The header of failures that share a status; it is required when all of them have it.
fn headers(failures: &[Failure]) -> Vec<MetaHeader> {
    let names: Vec<_> = failures.iter().filter_map(|failure| failure.header()).map(|(name, _)| name).collect();
    let required = names.len() == failures.len();
    names.first().map(|name| header(name.as_str(), required)).into_iter().collect()
}

fn header(name: &str, required: bool) -> MetaHeader {
    let (schema, description) = match name {
        "retry-after" => (MetaSchema::new_with_format("integer", "int32"), "Seconds to wait before trying again."),
        "www-authenticate" => (MetaSchema::new("string"), "How to authenticate."),
        _ => (MetaSchema::new("string"), ""),
    };
    MetaHeader {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        required,
        deprecated: false,
        schema: MetaSchemaRef::Inline(Box::new(schema)),
    }
}
