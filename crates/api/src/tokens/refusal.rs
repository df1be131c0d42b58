//! Why a token is rejected.

use std::fmt;

/// For the log, and never with a part of the token. Callers are told only that the token is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    TooLong,
    Malformed,
    Algorithm,
    Type,
    Critical,
    UnknownKey,
    Signature,
    Issuer,
    Audience,
    Expired,
    NotYet,
    NoClient,
    NoPartner,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "it is too long",
            Self::Malformed => "it is not a JWT with the claims of an access token",
            Self::Algorithm => "its algorithm is not RS256, PS256, ES256 or EdDSA",
            Self::Type => "its type is not at+jwt or JWT",
            Self::Critical => "it has critical headers",
            Self::UnknownKey => "its key is not in the issuer's key set",
            Self::Signature => "its signature is wrong",
            Self::Issuer => "it was issued by another issuer",
            Self::Audience => "it is meant for another audience",
            Self::Expired => "it has expired",
            Self::NotYet => "it is not valid yet",
            Self::NoClient => "it names no client",
            Self::NoPartner => "its client belongs to no partner",
        })
    }
}
