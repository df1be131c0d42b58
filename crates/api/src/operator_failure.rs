//! What can go wrong on the operator's side only.

use crate::failure::{Failure, Presentation};
use lendpay_domain::life_cycle::IllegalMove;
use lendpay_domain::offer::Status;
use lendpay_domain::operator::Role;
use poem::http::{HeaderName, HeaderValue, StatusCode, header};

/// A failure of the operator's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorFailure {
    /// The header X-Operator-Key is missing.
    NoKey,
    /// The header holds a key of nobody, or is there twice.
    InvalidKey,
    /// The operator's role is less than the operation needs.
    RoleMissing {
        /// The least role that may.
        needed: Role,
        /// The role of the key.
        has: Role,
    },
    /// There is no such resource.
    NotFound(Resource),
    /// The life cycle does not allow it.
    IllegalMove(IllegalMove),
    /// The offer is no longer Offered.
    TermsFixed(Status),
    /// The application belongs to another partner.
    ApplicationOwned,
    /// Another partner has this client id.
    ClientIdTaken,
    /// The key is revoked, or expires before the moment at which it should.
    KeyEndsEarlier,
    /// The body of a batch is too long.
    BatchTooLarge,
    /// The cursor is past the end, or of another history.
    CursorUnknown,
    /// The store has no log of its own.
    NoLog,
    /// The service has no keys to encrypt secrets of webhooks with.
    WebhooksOff,
    /// The endpoint has no secret.
    NoWebhookSecret,
    /// The request names a host that is not this service's.
    UnknownHost,
    /// Fields or parameters are not acceptable; one message for each, beginning with its path.
    BadFields(Vec<String>),
}

/// What an address can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A partner.
    Partner,
    /// A key of a partner.
    Key,
    /// An application.
    Application,
    /// An offer of an application.
    Offer,
    /// A buyer.
    Buyer,
    /// An endpoint of webhooks.
    Webhook,
}

impl OperatorFailure {
    /// The table of failures.
    pub(crate) fn presentation(&self) -> Presentation {
        let (status, code, title, message) = match self {
            Self::NoKey => (
                StatusCode::UNAUTHORIZED,
                "InvalidOperatorKey",
                "Authentication required",
                "Send an operator's key in the header X-Operator-Key.",
            ),
            Self::InvalidKey => (
                StatusCode::UNAUTHORIZED,
                "InvalidOperatorKey",
                "Invalid operator key",
                "The key in X-Operator-Key is not one that this service knows.",
            ),
            Self::RoleMissing { needed, .. } => {
                let message = match needed {
                    Role::Read => "This needs an operator with one of the roles read, support, lending or admin.",
                    Role::Support => "This needs an operator with one of the roles support, lending or admin.",
                    Role::Lending => "This needs an operator with one of the roles lending or admin.",
                    Role::Admin => "This needs an operator with the role admin.",
                };
                (StatusCode::FORBIDDEN, "InsufficientRole", "Role not sufficient", message)
            }
            Self::NotFound(resource) => {
                let (code, title, message) = match resource {
                    Resource::Partner => {
                        ("PartnerNotFound", "Partner not found", "There is no partner with this identifier.")
                    }
                    Resource::Key => ("KeyNotFound", "Key not found", "There is no such key with this identifier."),
                    Resource::Application => (
                        "ApplicationNotFound",
                        "Application not found",
                        "There is no application with this identifier.",
                    ),
                    Resource::Offer => {
                        ("OfferNotFound", "Offer not found", "The application has no offer with this identifier.")
                    }
                    Resource::Buyer => ("BuyerNotFound", "Buyer not found", "There is no buyer with this identifier."),
                    Resource::Webhook => (
                        "WebhookNotFound",
                        "Webhook endpoint not found",
                        "There is no webhook endpoint with this identifier.",
                    ),
                };
                (StatusCode::NOT_FOUND, code, title, message)
            }
            Self::IllegalMove(_) => (
                StatusCode::CONFLICT,
                "IllegalTransition",
                "Transition not allowed",
                "The life cycle of offers does not allow this transition.",
            ),
            Self::TermsFixed(_) => (
                StatusCode::CONFLICT,
                "TermsFixed",
                "Terms are fixed",
                "The terms of an offer can be replaced only while it is Offered.",
            ),
            Self::ApplicationOwned => (
                StatusCode::CONFLICT,
                "ApplicationOwned",
                "Application has an owner",
                "The application belongs to another partner. Applications do not move.",
            ),
            Self::ClientIdTaken => (
                StatusCode::CONFLICT,
                "ClientIdTaken",
                "Client id is taken",
                "Another partner has this OAuth client id.",
            ),
            Self::KeyEndsEarlier => (
                StatusCode::CONFLICT,
                "KeyEndsEarlier",
                "Key ends earlier",
                "The key is revoked, or expires before that moment. An expiry can only be brought forward.",
            ),
            Self::BatchTooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "RequestTooLarge",
                "Request too large",
                "The request is larger than is allowed: the body of a batch may have 8,388,608 bytes.",
            ),
            Self::CursorUnknown => (
                StatusCode::CONFLICT,
                "CursorUnknown",
                "Cursor unknown",
                "The store was restored or imported since, or has no such event. Read the events from the beginning; those that \
                 were seen before have the same id.",
            ),
            Self::NoLog => (
                StatusCode::CONFLICT,
                "NoLog",
                "No log",
                "The service keeps everything in a PostgreSQL database. Back that up with its own tools: pg_basebackup, and \
                 continuous archiving of the WAL.",
            ),
            Self::WebhooksOff => (
                StatusCode::CONFLICT,
                "WebhooksOff",
                "Webhooks are off",
                "The service was started without --secrets-key-file, the keys that secrets of webhook endpoints are \
                 encrypted with.",
            ),
            Self::NoWebhookSecret => (
                StatusCode::CONFLICT,
                "NoWebhookSecret",
                "Endpoint without secret",
                "An import has brought the endpoint, and imports bring no secrets. Rotate its secret, give the new one to \
                 whoever receives, and resume it then.",
            ),
            Self::UnknownHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "UnknownHost",
                "Unknown host",
                "The operator's side is not called by this name. The service's setting --operator-hosts lists names besides \
                 those of its own machine.",
            ),
            Self::BadFields(_) => {
                (StatusCode::BAD_REQUEST, "InvalidData", "Invalid data", "The data of the request is not acceptable.")
            }
        };
        Presentation { status, code, title, message }
    }

    /// The messages for `errors`.
    pub(crate) fn details(&self) -> Vec<String> {
        match self {
            Self::BadFields(problems) => problems.clone(),
            Self::IllegalMove(illegal) => vec![illegal.to_string()],
            Self::TermsFixed(status) => vec![format!("The offer is {status}.")],
            Self::RoleMissing { has, .. } => vec![format!("The role of this key is {has}.")],
            Self::NoKey
            | Self::InvalidKey
            | Self::NotFound(_)
            | Self::ApplicationOwned
            | Self::ClientIdTaken
            | Self::KeyEndsEarlier
            | Self::BatchTooLarge
            | Self::CursorUnknown
            | Self::NoLog
            | Self::WebhooksOff
            | Self::NoWebhookSecret
            | Self::UnknownHost => Vec::new(),
        }
    }

    pub(crate) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        matches!(self, Self::NoKey | Self::InvalidKey)
            .then_some((header::WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey realm=\"lendpay-operator\"")))
    }
}

impl From<OperatorFailure> for Failure {
    fn from(failure: OperatorFailure) -> Self {
        Self::Operator(failure)
    }
}
