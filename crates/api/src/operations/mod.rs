//! The operations, one file each: those that partners call, and below `operator` those of the operator.

pub(crate) mod accept_offer;
mod body;
pub(crate) mod create_buyer;
mod failed;
pub(crate) mod operator;
mod path;

pub(crate) use body::{Body, Payload};
pub(crate) use failed::{Failed, Operation, Parameter};
pub(crate) use path::{Id, OfferPath, PathId, PathIds};

use poem_openapi::Tags;

#[derive(Tags)]
pub(crate) enum Area {
    /// Loan offers to a partner's customers.
    Lending,
    /// Companies that pay through the service.
    Payments,
}
