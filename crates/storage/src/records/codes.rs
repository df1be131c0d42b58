//! The numbers by which the domain's names are stored. Written out, so that reordering an enum does not change the
//! format, and exhaustive, so that a new name cannot be forgotten.

use crate::codec::CodecError;
use lendpay_domain::KeyId;
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Access, Area, Areas};
use lendpay_domain::offer::{Duration, FundingType, OfferType, Status};
use lendpay_domain::operator::OperatorName;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($type:ident: $to:ident, $from:ident { $($name:ident = $code:literal,)+ })+) => {$(
        pub(crate) const fn $to(value: $type) -> u8 {
            match value {
                $($type::$name => $code,)+
            }
        }

        pub(crate) const fn $from(code: u8) -> Result<$type, CodecError> {
            match code {
                $($code => Ok($type::$name),)+
                _ => Err(CodecError::Damaged),
            }
        }
    )+};
}

codes! {
    Status: status_code, status_of {
        Offered = 0,
        Expired = 1,
        CustomerAccepted = 2,
        CustomerDeclined = 3,
        Advanced = 4,
        Archived = 5,
    }
    FundingType: funding_code, funding_of {
        TermLoan = 0,
    }
    OfferType: offer_type_code, offer_type_of {
        Indicative = 0,
        Underwritten = 1,
    }
    Duration: duration_code, duration_of {
        HalfYear = 0,
        Year = 1,
        TwoYears = 2,
        ThreeYears = 3,
        FourYears = 4,
        FiveYears = 5,
        SixYears = 6,
    }
}

const fn area_bit(area: Area) -> u8 {
    match area {
        Area::Lending => 1,
        Area::Payments => 2,
    }
}

const fn access_bit(access: Access) -> u8 {
    match access {
        Access::Full => 0,
        Access::Read => 128,
    }
}

/// A bit for each area of a key, and one if it may only read.
pub(super) fn rights_code(areas: Areas, access: Access) -> u8 {
    areas.iter().map(area_bit).sum::<u8>() | access_bit(access)
}

pub(super) fn rights_of(code: u8) -> Result<(Areas, Access), CodecError> {
    let areas: Areas = Area::ALL.into_iter().filter(|&area| code & area_bit(area) != 0).collect();
    let access = Access::ALL.into_iter().find(|&access| rights_code(areas, access) == code);
    Ok((areas, access.ok_or(CodecError::Damaged)?))
}

/// Who caused a change. The order of the variants is the format.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ActorCode<'a> {
    Key([u8; 16]),
    OAuthClient,
    Operator,
    Clock,
    NamedOperator(&'a str),
}

impl<'a> From<&'a Actor> for ActorCode<'a> {
    fn from(actor: &'a Actor) -> Self {
        match actor {
            Actor::Key(id) => Self::Key(id.to_bytes()),
            Actor::OAuthClient => Self::OAuthClient,
            Actor::Operator => Self::Operator,
            Actor::Clock => Self::Clock,
            Actor::NamedOperator(name) => Self::NamedOperator(name.as_str()),
        }
    }
}

impl TryFrom<ActorCode<'_>> for Actor {
    type Error = CodecError;

    fn try_from(code: ActorCode<'_>) -> Result<Self, CodecError> {
        Ok(match code {
            ActorCode::Key(id) => Self::Key(KeyId::from_bytes(id)),
            ActorCode::OAuthClient => Self::OAuthClient,
            ActorCode::Operator => Self::Operator,
            ActorCode::Clock => Self::Clock,
            ActorCode::NamedOperator(name) => {
                Self::NamedOperator(OperatorName::parse(name).map_err(|_| CodecError::Damaged)?)
            }
        })
    }
}
