//! Every failure, and the table that gives its status, code and text (contract 1.4, 2.6).

use crate::operator_failure::OperatorFailure;
use crate::side::Shape;
use crate::tokens::scheme::Scope;
use crate::wire::error::ErrorBody;
use crate::wire::time::Time;
use lendpay_domain::key::Area;
use lendpay_domain::life_cycle::IllegalMove;
use lendpay_domain::offer::Status;
use lendpay_domain::{OperationId, StoreError, Timestamp};
use poem::error::ResponseError;
use poem::http::{HeaderName, HeaderValue, StatusCode, header};
use std::fmt;

/// Why a request is not answered with what it asked for. Operations return it; it knows nothing of HTTP's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Neither form of authentication is there.
    NoCredentials,
    /// The API key is unknown, expired, revoked or not a single readable header.
    InvalidApiKey,
    /// The bearer token is not accepted.
    InvalidToken,
    /// The key covers no area of the operation.
    InsufficientScope(Scope),
    /// The key may only read.
    ReadOnlyKey,
    /// The token has not the scope of the operation.
    MissingScope(Scope),
    /// The caller has no such offer.
    OfferNotFound,
    /// The caller has no such buyer.
    BuyerNotFound,
    /// The offer's status does not allow an accept or a decline.
    OfferRefused(IllegalMove),
    /// The cursor is past the end of the events, or of another history.
    CursorUnknown,
    /// Parameters of the query are not acceptable; one message for each problem, beginning with the parameter's name.
    BadParameters(Vec<String>),
    /// The partner, or an address that fails to authenticate, has made too many requests. Seconds to wait.
    RateLimited(u64),
    /// As many of the partner's requests, or of the operator's side, as may wait for events wait already. Seconds until
    /// another may.
    TooManyReaders(u64),
    /// Nothing has this address.
    NotFound,
    /// The address knows other methods: those in the text, separated by commas.
    MethodNotAllowed(String),
    /// The body is too long.
    TooLarge,
    /// The request's head has too many fields, or is too long.
    HeadTooLarge,
    /// The request does not say once, in valid form, which host it is for.
    BadHost,
    /// The request took too long.
    Timeout,
    /// The body could not be read to its end, or the request is not HTTP.
    BadRequest,
    /// The body is not the JSON that the operation takes. The text says why, without quoting it.
    BadBody(String),
    /// The body's Content-Type is not JSON.
    UnsupportedMediaType,
    /// The buyer is not acceptable; one message for each problem, beginning with the field's path.
    BadBuyer(Vec<String>),
    /// The `Idempotency-Key` is not 1–255 visible ASCII characters.
    BadIdempotencyKey,
    /// The `Idempotency-Key` was used with another payload.
    IdempotencyKeyReused,
    /// What only the operator's side knows.
    Operator(OperatorFailure),
    /// The store could not do it.
    Store(StoreError),
    /// A bug.
    Internal,
}

/// A failure as callers see it.
pub(crate) struct Presentation {
    pub status: StatusCode,
    pub code: &'static str,
    pub title: &'static str,
    pub message: &'static str,
}

impl Failure {
    /// The table of failures.
    fn presentation(&self) -> Presentation {
        let (status, code, title, message) = match self {
            Self::NoCredentials => (
                StatusCode::UNAUTHORIZED,
                "InvalidApiKey",
                "Authentication required",
                "Send your API key in the header X-Service-ApiKey or, where the operator has set up OAuth 2.0, an access token \
                 in the header Authorization: Bearer.",
            ),
            Self::InvalidApiKey => (
                StatusCode::UNAUTHORIZED,
                "InvalidApiKey",
                "Invalid API key",
                "The API key in X-Service-ApiKey is not valid. It may be mistyped, expired or revoked.",
            ),
            Self::InvalidToken => (
                StatusCode::UNAUTHORIZED,
                "InvalidToken",
                "Invalid access token",
                "The access token in Authorization is not valid. It may be expired, altered or meant for another service, or \
                 the operator has not set up OAuth 2.0 or your client. An API key in X-Service-ApiKey serves as well.",
            ),
            Self::InsufficientScope(_) => (
                StatusCode::FORBIDDEN,
                "InsufficientScope",
                "Not allowed",
                "Your credentials are valid but do not cover this part of the API.",
            ),
            Self::ReadOnlyKey => {
                (StatusCode::FORBIDDEN, "InsufficientScope", "Not allowed", "Your API key is valid but may only read.")
            }
            Self::MissingScope(_) => (
                StatusCode::FORBIDDEN,
                "InsufficientScope",
                "Scope missing",
                "Your access token is valid but has no scope for this operation.",
            ),
            Self::OfferNotFound => (
                StatusCode::NOT_FOUND,
                "OfferNotFound",
                "Offer not found",
                "You have no offer with this identifier in an application with this identifier.",
            ),
            Self::BuyerNotFound => {
                (StatusCode::NOT_FOUND, "NotFound", "Buyer not found", "You have no buyer with this identifier.")
            }
            Self::CursorUnknown => return OperatorFailure::CursorUnknown.presentation(),
            Self::BadParameters(_) => (
                StatusCode::BAD_REQUEST,
                "BadRequest",
                "Invalid parameters",
                "The parameters of the query are not acceptable.",
            ),
            Self::OfferRefused(illegal) => {
                let (code, title, message) = match illegal.from {
                    Status::CustomerDeclined => {
                        ("OfferDeclined", "Offer declined", "The customer has declined this offer.")
                    }
                    Status::Archived => ("OfferArchived", "Offer archived", "This offer has been archived."),
                    Status::Expired => ("OfferExpired", "Offer expired", "This offer is no longer valid."),
                    Status::CustomerAccepted | Status::Advanced => {
                        ("OfferAccepted", "Offer accepted", "The customer has accepted this offer.")
                    }
                    // The life cycle lets it move.
                    Status::Offered => return Self::Internal.presentation(),
                };
                (StatusCode::CONFLICT, code, title, message)
            }
            Self::RateLimited(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "RateLimited",
                "Too many requests",
                "You have made too many requests. Wait for the time in Retry-After; the header RateLimit says what you have left.",
            ),
            Self::TooManyReaders(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "RateLimited",
                "Too many requests wait",
                "As many of your requests as may wait for events do so already. Wait for the time in Retry-After, or ask \
                 without `wait`.",
            ),
            Self::NotFound => (
                StatusCode::NOT_FOUND,
                "NotFound",
                "Not found",
                "There is nothing at this address. The document at /openapi.json lists what there is.",
            ),
            Self::MethodNotAllowed(_) => (
                StatusCode::METHOD_NOT_ALLOWED,
                "MethodNotAllowed",
                "Method not allowed",
                "This address does not support this method; the header Allow lists those that it does.",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestTooLarge",
                "Request too large",
                "The request is larger than is allowed: a body may have 65,536 bytes.",
            ),
            Self::HeadTooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "RequestTooLarge",
                "Request head too large",
                "The request's head is larger than is allowed: it may have 100 header fields and 32,768 bytes.",
            ),
            Self::BadHost => (
                StatusCode::BAD_REQUEST,
                "BadRequest",
                "Invalid Host",
                "The request must have one header Host, which names the host and the port as in its URL.",
            ),
            Self::Timeout => (
                StatusCode::REQUEST_TIMEOUT,
                "Timeout",
                "Request timed out",
                "The request took too long. It is safe to repeat: an accept always, a creation with the same Idempotency-Key.",
            ),
            Self::BadRequest => {
                (StatusCode::BAD_REQUEST, "BadRequest", "Bad request", "The request is not complete, well-formed HTTP.")
            }
            Self::BadBody(_) => (
                StatusCode::BAD_REQUEST,
                "BadRequest",
                "Invalid body",
                "The body must be one JSON object as the document describes it.",
            ),
            Self::UnsupportedMediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "UnsupportedMediaType",
                "Unsupported media type",
                "Send the body as application/json, or leave Content-Type out.",
            ),
            Self::BadBuyer(_) => {
                (StatusCode::BAD_REQUEST, "BadRequest", "Invalid buyer", "The data of the buyer is not acceptable.")
            }
            Self::BadIdempotencyKey => (
                StatusCode::BAD_REQUEST,
                "BadRequest",
                "Invalid Idempotency-Key",
                "The header Idempotency-Key must be sent once and have 1 to 255 visible ASCII characters.",
            ),
            Self::IdempotencyKeyReused => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "BadRequest",
                "Idempotency-Key already used",
                "This Idempotency-Key was used for another payload. Use a new key for a new buyer.",
            ),
            Self::Operator(failure) => return failure.presentation(),
            Self::Store(StoreError::OutcomeUnknown) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Unavailable",
                "Outcome unknown",
                "The service failed while it worked on this request; it may or may not have taken effect. Repeat it, \
                 with the same Idempotency-Key if it had one.",
            ),
            Self::Store(StoreError::Overloaded | StoreError::Unavailable) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Unavailable",
                "Service unavailable",
                "The service cannot do this now, and has not done it. Try again shortly.",
            ),
            Self::Store(StoreError::Corrupt) | Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                "Internal error",
                "Something went wrong on our side. Quote the operationId when you contact support.",
            ),
        };
        Presentation { status, code, title, message }
    }

    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        self.presentation().status
    }

    /// Whether it is about who calls.
    pub(crate) const fn is_unauthenticated(&self) -> bool {
        matches!(self, Self::NoCredentials | Self::InvalidApiKey | Self::InvalidToken)
    }

    /// The stable name of the failure, which lending and operator errors carry as `errorCode`.
    pub fn code(&self) -> &'static str {
        self.presentation().code
    }

    /// The messages for `errors`. They say what is wrong and never show a value that was sent.
    pub(crate) fn details(&self) -> Vec<String> {
        match self {
            Self::BadBuyer(problems) | Self::BadParameters(problems) => problems.clone(),
            Self::BadBody(problem) => vec![problem.clone()],
            Self::OfferRefused(illegal) => vec![illegal.to_string()],
            Self::Operator(failure) => failure.details(),
            Self::InsufficientScope(scope) => {
                let areas: Vec<_> = scope.areas().iter().map(Area::name).collect();
                vec![format!("The key's areas do not include {}.", areas.join(" or "))]
            }
            Self::MissingScope(scope) => vec![format!("The token needs the scope {}.", scope.text())],
            _ => Vec::new(),
        }
    }

    /// The header that belongs to the failure.
    pub(crate) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::NoCredentials => Some((
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("ApiKey realm=\"lendpay\", Bearer realm=\"lendpay\""),
            )),
            Self::InvalidApiKey => {
                Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey realm=\"lendpay\"")))
            }
            Self::InvalidToken => Some((
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"lendpay\", error=\"invalid_token\""),
            )),
            Self::Operator(failure) => failure.header(),
            Self::MissingScope(scope) => {
                let scope = scope.text();
                let challenge = format!("Bearer realm=\"lendpay\", error=\"insufficient_scope\", scope=\"{scope}\"");
                Some((header::WWW_AUTHENTICATE, challenge.try_into().expect("scopes are ASCII")))
            }
            Self::MethodNotAllowed(allow) => {
                Some((header::ALLOW, HeaderValue::from_str(allow).expect("methods are ASCII")))
            }
            Self::Store(StoreError::Overloaded | StoreError::Unavailable | StoreError::OutcomeUnknown) => {
                Some((header::RETRY_AFTER, HeaderValue::from_static("1")))
            }
            Self::RateLimited(seconds) | Self::TooManyReaders(seconds) => {
                Some((header::RETRY_AFTER, (*seconds).into()))
            }
            _ => None,
        }
    }

    /// The body in a shape.
    pub(crate) fn body(&self, shape: Shape, operation: OperationId, at: Timestamp) -> ErrorBody {
        let Presentation { code, title, message, .. } = self.presentation();
        let message = match (shape, self) {
            (Shape::Operator, Self::NotFound) => {
                "There is nothing at this address. The document at /operator/openapi.json lists what there is."
            }
            (Shape::Operator, Self::RateLimited(_)) => {
                "Your address has failed to authenticate too often. Wait for the time in Retry-After."
            }
            (Shape::Operator, Self::Timeout) => "The request took too long; it may or may not have taken effect.",
            _ => message,
        };
        ErrorBody {
            title,
            message,
            error_code: (shape != Shape::Payments).then_some(code),
            errors: self.details(),
            date: Time(at),
            operation_id: operation.to_string(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.presentation().title)
    }
}

impl std::error::Error for Failure {}

impl ResponseError for Failure {
    fn status(&self) -> StatusCode {
        self.presentation().status
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
