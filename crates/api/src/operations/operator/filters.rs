//! What lists are narrowed by. Filters are judged after the key, and everything that is wrong with them and with the
//! window is told at once.

use super::parameters::{REGISTRATION_NUMBER, STATUS, WAIT, wait};
use super::request::OperatorRequest;
use crate::failure::Failure;
use crate::operations::query::Parameters;
use crate::operations::{Id, Operation, Parameter};
use crate::operator_failure::OperatorFailure;
use crate::wire::fields::one_of;
use crate::wire::time::Time;
use lendpay_domain::event::Subject;
use lendpay_domain::offer::Status;
use lendpay_domain::page::Window;
use lendpay_domain::query::EventTypes;
use lendpay_domain::text::Name;
use lendpay_domain::{OperationId, Timestamp};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;

fn uuid() -> Value {
    json!({ "type": "string", "format": "uuid" })
}

fn date_time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

/// A text as partners have it.
fn text() -> Value {
    json!({ "type": "string", "maxLength": 256, "minLength": 1 })
}

pub(super) const NAME: Parameter = Parameter {
    name: "name",
    description: "Only partners whose name contains this, in upper or lower case.",
    schema: text,
};

pub(super) const OAUTH_CLIENT_ID: Parameter = Parameter {
    name: "oauthClientId",
    description: "Only the partner that the authorization server knows by this client id.",
    schema: text,
};

pub(super) const PARTNER_ID: Parameter =
    Parameter { name: "partnerId", description: "Only what belongs to this partner.", schema: uuid };

pub(super) const APPLICATION_ID: Parameter =
    Parameter { name: "applicationId", description: "Only events about this application or its offers.", schema: uuid };

pub(super) const OFFER_ID: Parameter =
    Parameter { name: "offerId", description: "Only events about this offer.", schema: uuid };

pub(super) const BUYER_ID: Parameter =
    Parameter { name: "buyerId", description: "Only events about this buyer.", schema: uuid };

pub(super) const EXPIRES_BEFORE: Parameter = Parameter {
    name: "expiresBefore",
    description: "Only offers whose `expiryAt` is before this moment, those that have expired among them. Write a `+` in it \
                  as `%2B`, or use `Z`.",
    schema: date_time,
};

pub(super) const TYPE: Parameter = Parameter {
    name: "type",
    description: "Only events of this type, or of these types with commas between them.",
    schema: || json!({ "type": "array", "items": { "$ref": "#/components/schemas/EventType" }, "minItems": 1 }),
};

pub(super) const OPERATION_ID: Parameter = Parameter {
    name: "operationId",
    description: "Only events that this request caused: its X-Request-Id. A caller may give several requests the same one.",
    schema: || json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{32}$" }),
};

pub(super) const FROM: Parameter = Parameter {
    name: "from",
    description: "Only events whose `occurredAt` is this moment or a later one. Write a `+` in it as `%2B`, or use `Z`.",
    schema: date_time,
};

pub(super) const UNTIL: Parameter = Parameter {
    name: "until",
    description: "Only events whose `occurredAt` is before this moment.",
    schema: date_time,
};

const BAD_OPERATION: &str = "must be 32 hexadecimal digits";

/// The failure of what should be the id of an operation.
pub(super) fn bad_operation(name: &str) -> Failure {
    OperatorFailure::BadFields(vec![format!("{name}: {BAD_OPERATION}")]).into()
}

/// Reads the filters of a request.
pub(super) struct Filters<'a>(Parameters<'a>);

impl<'a> Filters<'a> {
    pub fn of<O: Operation>(request: &'a OperatorRequest) -> Self {
        Self(request.query.of::<O>())
    }

    pub fn id<T: Id>(&mut self, filter: &Parameter) -> Option<T> {
        self.0.get(filter, |text| T::parse(text).ok_or("must be a UUID of 36 characters"))
    }

    pub fn text(&mut self, filter: &Parameter) -> Option<String> {
        self.0.get(filter, |text| Name::from_input(text).map(|name| name.as_str().to_owned()))
    }

    pub fn registration_number(&mut self) -> Option<String> {
        self.0.get(&REGISTRATION_NUMBER, |text| Ok::<_, Infallible>(text.to_owned()))
    }

    pub fn moment(&mut self, filter: &Parameter) -> Option<Timestamp> {
        self.0.get(filter, Time::parse).map(|time| time.0)
    }

    pub fn status(&mut self) -> Option<Status> {
        self.0.get(&STATUS, |text| one_of(Some(text), Status::ALL, Status::name))
    }

    pub fn operation(&mut self) -> Option<OperationId> {
        self.0.get(&OPERATION_ID, |text| OperationId::parse(text).ok_or(BAD_OPERATION))
    }

    /// For how long to wait for an event.
    pub fn wait(&mut self) -> Duration {
        self.0.get(&WAIT, wait).unwrap_or_default()
    }

    /// The wanted types; all of them without a filter.
    pub fn types(&mut self) -> EventTypes {
        let types = self.0.get(&TYPE, |text| {
            let wanted: Vec<_> = text.split(',').collect();
            let all_are_known = wanted.iter().all(|name| Subject::TYPES.contains(name));
            let problem =
                || format!("must be one of {}, or several with commas between them", Subject::TYPES.join(", "));
            all_are_known.then(|| EventTypes::those(|name| wanted.contains(&name))).ok_or_else(problem)
        });
        types.unwrap_or(EventTypes::ALL)
    }

    /// The window, if it and all filters are good; `cursor` reads its beginning.
    pub fn window<C>(self, cursor: impl Fn(&str) -> Option<C>) -> Result<Window<C>, Failure> {
        self.0.window(cursor)
    }
}
