//! How each answer of the document is provoked: for each operation the request that succeeds, and for each answer in
//! what the request for it differs. The page and the test that reads the document are made from these tables: an answer
//! that is new in the document fails the test until there is a way to it.

use super::contents::{
    ACCEPTED, APPLICATION, ARCHIVED, BUYER, DECLINED, EXPIRED, EXPIRED_KEY, IDEMPOTENCY_KEY, KEY, KEY_WITHOUT_AREAS,
    OFFERED, OTHER_APPLICATION, TO_DECLINE,
};
use super::provocations::HEADER;
use std::fmt;

/// The request of an operation that succeeds.
#[derive(Debug)]
pub struct Ordinary {
    /// The `operationId`.
    pub operation: &'static str,
    /// The method.
    pub method: &'static str,
    /// The path, as the document writes it.
    pub path: &'static str,
    /// The ids in the path.
    pub ids: &'static [(&'static str, &'static str)],
    /// The body.
    pub body: &'static str,
}

const OF_APPLICATION: &[(&str, &str)] = &[("applicationId", APPLICATION)];
const OF_OFFER: &[(&str, &str)] = &[("applicationId", APPLICATION), ("offerId", OFFERED)];

/// The request of each operation that succeeds.
pub static ORDINARY: [Ordinary; 9] = [
    Ordinary {
        operation: "AcceptOffer",
        method: "POST",
        path: "/lending/applications/{applicationId}/offers/{offerId}/accept",
        ids: OF_OFFER,
        body: "",
    },
    Ordinary {
        operation: "DeclineOffer",
        method: "POST",
        path: "/lending/applications/{applicationId}/offers/{offerId}/decline",
        ids: &[("applicationId", APPLICATION), ("offerId", TO_DECLINE)],
        body: "",
    },
    Ordinary {
        operation: "CreateBuyer",
        method: "POST",
        path: "/payments/buyers",
        ids: &[],
        body: r#"{"name":"Northwind Bicycles Ltd"}"#,
    },
    read("ListApplications", "/lending/applications", &[]),
    read("ListOffers", "/lending/applications/{applicationId}/offers", OF_APPLICATION),
    read("GetOffer", "/lending/applications/{applicationId}/offers/{offerId}", OF_OFFER),
    read("ListBuyers", "/payments/buyers", &[]),
    read("GetBuyer", "/payments/buyers/{buyerId}", &[("buyerId", BUYER)]),
    read("ListEvents", "/events", &[]),
];

const fn read(operation: &'static str, path: &'static str, ids: &'static [(&'static str, &'static str)]) -> Ordinary {
    Ordinary { operation, method: "GET", path, ids, body: "" }
}

/// In what a request differs from the ordinary one.
#[derive(Clone, Copy, Debug)]
pub enum Differs {
    /// It presents this key.
    Key(&'static str),
    /// It presents this access token and no key.
    Token(&'static str),
    /// It has this header.
    Header(&'static str, &'static str),
    /// It has this id in the path.
    Id(&'static str, &'static str),
    /// It has this query.
    Query(&'static str),
    /// It has this body.
    Body(&'static str),
}

impl fmt::Display for Differs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "X-Service-ApiKey: {key}"),
            Self::Token(token) => write!(f, "Authorization: Bearer {token} in place of X-Service-ApiKey"),
            Self::Header(name, value) => write!(f, "{name}: {value}"),
            Self::Id(name, value) => write!(f, "{name} {value}"),
            Self::Query(query) => write!(f, "?{query}"),
            Self::Body(body) => write!(f, "body {body}"),
        }
    }
}

/// A way to an answer.
#[derive(Debug)]
pub struct Way {
    /// The operations that answer so; all if none is named.
    pub operations: &'static [&'static str],
    /// The status of the answer.
    pub status: u16,
    /// Its `errorCode`, where there is one; "" for success.
    pub code: &'static str,
    /// In what the request differs from the ordinary one.
    pub differs: &'static [Differs],
}

const MOVES: &[&str] = &["AcceptOffer", "DeclineOffer"];
const ACCEPT: &[&str] = &["AcceptOffer"];
const CREATE: &[&str] = &["CreateBuyer"];
const SINGLE_READS: &[&str] = &["GetOffer", "GetBuyer"];
const READS: &[&str] = &["ListApplications", "ListOffers", "GetOffer", "ListBuyers", "GetBuyer", "ListEvents"];
const OF_OFFERS: &[&str] = &["AcceptOffer", "DeclineOffer", "ListOffers", "GetOffer"];

/// A way to each answer of the document.
pub static WAYS: [Way; 24] = [
    to(MOVES, 200, "", &[]),
    to(READS, 200, "", &[]),
    to(CREATE, 201, "", &[]),
    to(SINGLE_READS, 304, "", &[Differs::Header("If-None-Match", "*")]),
    to(MOVES, 400, "BadRequest", &[Differs::Header(HEADER, "bad-request")]),
    to(CREATE, 400, "BadRequest", &[Differs::Body(r#"{"countryCode":"XX"}"#)]),
    to(READS, 400, "BadRequest", &[Differs::Query("limit=0")]),
    to(&[], 401, "InvalidApiKey", &[Differs::Key(EXPIRED_KEY)]),
    to(&[], 401, "InvalidToken", &[Differs::Token("any")]),
    to(&[], 403, "InsufficientScope", &[Differs::Key(KEY_WITHOUT_AREAS)]),
    to(OF_OFFERS, 404, "OfferNotFound", &[Differs::Id("applicationId", OTHER_APPLICATION)]),
    to(&["GetBuyer"], 404, "NotFound", &[Differs::Id("buyerId", "5a4db0c5-0000-4000-8000-000000000399")]),
    to(&[], 408, "Timeout", &[Differs::Header(HEADER, "timeout")]),
    to(MOVES, 409, "OfferExpired", &[Differs::Id("offerId", EXPIRED)]),
    to(ACCEPT, 409, "OfferDeclined", &[Differs::Id("offerId", DECLINED)]),
    to(&["DeclineOffer"], 409, "OfferAccepted", &[Differs::Id("offerId", ACCEPTED)]),
    to(MOVES, 409, "OfferArchived", &[Differs::Id("offerId", ARCHIVED)]),
    to(&["ListEvents"], 409, "CursorUnknown", &[Differs::Query("after=1000000000")]),
    to(&[], 413, "RequestTooLarge", &[Differs::Header(HEADER, "request-too-large")]),
    to(CREATE, 415, "UnsupportedMediaType", &[Differs::Header("Content-Type", "text/plain")]),
    to(CREATE, 422, "BadRequest", &[Differs::Header("Idempotency-Key", IDEMPOTENCY_KEY)]),
    to(&[], 429, "RateLimited", &[Differs::Header(HEADER, "rate-limited")]),
    to(&[], 500, "InternalError", &[Differs::Header(HEADER, "internal-error")]),
    to(&[], 503, "Unavailable", &[Differs::Header(HEADER, "unavailable")]),
];

const fn to(operations: &'static [&'static str], status: u16, code: &'static str, differs: &'static [Differs]) -> Way {
    Way { operations, status, code, differs }
}

/// The way to an answer of an operation, and the request that it changes. `code` is the `errorCode`, where the document
/// has one.
pub fn way(operation: &str, status: u16, code: Option<&str>) -> Option<(&'static Ordinary, &'static Way)> {
    let leads = |way: &&Way| {
        (way.operations.is_empty() || way.operations.contains(&operation))
            && way.status == status
            && code.is_none_or(|code| way.code == code)
    };
    ORDINARY.iter().find(|ordinary| ordinary.operation == operation).zip(WAYS.iter().find(leads))
}

/// A request, ready to be sent.
#[derive(Debug)]
pub struct Call {
    /// The method.
    pub method: &'static str,
    /// Path and query.
    pub target: String,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: &'static str,
}

impl Ordinary {
    /// The request that differs from this one as the way says.
    pub fn call(&self, way: &Way) -> Call {
        let mut target = self.path.to_owned();
        let (mut key, mut headers, mut body, mut query) = (Some(KEY), Vec::new(), self.body, String::new());
        for differs in way.differs {
            match *differs {
                Differs::Key(other) => key = Some(other),
                Differs::Token(token) => {
                    key = None;
                    headers.push(("Authorization", format!("Bearer {token}")));
                }
                Differs::Header(name, value) => headers.push((name, value.to_owned())),
                Differs::Id(name, id) => target = target.replace(&format!("{{{name}}}"), id),
                Differs::Query(text) => query = format!("?{text}"),
                Differs::Body(other) => body = other,
            }
        }
        for (name, id) in self.ids {
            target = target.replace(&format!("{{{name}}}"), id);
        }
        headers.extend(key.map(|key| ("X-Service-ApiKey", key.to_owned())));
        Call { method: self.method, target: target + &query, headers, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{KEYS, PROVOCATIONS};

    #[test]
    fn ways_name_what_there_is() {
        for way in &WAYS {
            for operation in way.operations {
                assert!(ORDINARY.iter().any(|ordinary| ordinary.operation == *operation), "{operation}");
            }
            for differs in way.differs {
                match differs {
                    Differs::Key(key) => assert!(KEYS.iter().any(|known| known.key == *key), "{key}"),
                    Differs::Header(HEADER, name) => {
                        assert!(PROVOCATIONS.iter().any(|known| known.name == *name), "{name}");
                    }
                    _ => {}
                }
            }
        }
    }
}
