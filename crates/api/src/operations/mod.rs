//! The operations, one file each: those that partners call, and below `operator` those of the operator.

pub(crate) mod accept_offer;
mod body;
pub(crate) mod create_buyer;
pub(crate) mod decline_offer;
mod failed;
pub(crate) mod get_buyer;
pub(crate) mod get_offer;
mod ignored;
pub(crate) mod list_applications;
pub(crate) mod list_buyers;
pub(crate) mod list_events;
pub(crate) mod list_offers;
pub(crate) mod move_offer;
pub(crate) mod operator;
pub(crate) mod parameters;
mod path;
mod query;
mod reads;
mod tagged;

pub(crate) use body::{Body, Payload};
pub(crate) use failed::{Failed, Operation, Parameter};
pub(crate) use ignored::Ignored;
pub(crate) use path::{Id, OfferPath, PathId, PathIds, id};
pub(crate) use query::Query;
pub(crate) use reads::Reads;

use poem_openapi::Tags;

#[derive(Tags)]
pub(crate) enum Area {
    /// Loan offers to a partner's customers.
    Lending,
    /// Companies that pay through the service.
    Payments,
    /// What happened to offers and buyers.
    Events,
}
