//! The operations of the operator's side (contract 2.9), one file each.

pub(crate) mod create_key;
pub(crate) mod export;
pub(crate) mod get_buyer;
pub(crate) mod get_offer;
pub(crate) mod health;
pub(crate) mod list_buyers;
pub(crate) mod list_events;
pub(crate) mod list_keys;
pub(crate) mod list_offers;
pub(crate) mod metrics;
pub(crate) mod move_offer;
mod parameters;
pub(crate) mod put_application;
pub(crate) mod put_offer;
pub(crate) mod put_partner;
pub(crate) mod revoke_key;

use super::{Failed, Operation};
use crate::context::Context;
use crate::failure::Failure;
use crate::operator_failure::{OperatorFailure, Thing};
use crate::operator_key::{OperatorCredentials, OperatorKey};
use crate::side::Shape;
use lendpay_domain::StoreError;
use lendpay_domain::command::Stamp;
use lendpay_domain::event::Actor;
use lendpay_domain::store::{Commands, Exports, Queries};
use parameters::{After, Body, IdText, Limit};
use poem_openapi::Tags;
use std::sync::Arc;

/// What the operations share.
pub(crate) struct Operator<S> {
    pub store: Arc<S>,
    pub key: OperatorKey,
}

impl<S> Operator<S> {
    /// The store, for who has the key.
    fn admit(&self, credentials: &OperatorCredentials) -> Result<&S, Failure> {
        self.key.admit(credentials)?;
        Ok(&self.store)
    }
}

/// The operator's stamp on a command.
fn stamp(context: &Context) -> Stamp {
    context.stamp(Actor::Operator)
}

fn not_there(thing: Thing) -> Failure {
    OperatorFailure::NotThere(thing).into()
}

/// An id that is to be given: the address says what it must be.
fn new_id<T>(id: Option<T>, name: &str) -> Result<T, Failure> {
    id.ok_or_else(|| OperatorFailure::BadFields(vec![format!("{name}: must be a UUID of 36 characters")]).into())
}

/// What every operation with a key can give, and what it gives besides.
fn failures(more: impl IntoIterator<Item = Failure>) -> Vec<Failure> {
    let common = [
        OperatorFailure::NoKey.into(),
        OperatorFailure::InvalidKey.into(),
        Failure::Timeout,
        Failure::TooLarge,
        Failure::Internal,
        Failure::Store(StoreError::Unavailable),
    ];
    more.into_iter().chain(common).collect()
}

/// The same for an operation that takes a body and changes something.
fn write_failures(problem: &str, more: impl IntoIterator<Item = Failure>) -> Vec<Failure> {
    let of_body = [
        OperatorFailure::BadFields(vec![problem.to_owned()]).into(),
        Failure::BadBody("The body is not valid JSON (line 3, column 5).".to_owned()),
        Failure::UnsupportedMediaType,
        Failure::Store(StoreError::OutcomeUnknown),
    ];
    failures(of_body.into_iter().chain(more))
}

#[derive(Tags)]
pub(crate) enum Tag {
    /// Partners, their keys and their applications.
    Partners,
    /// Offers and their life.
    Offers,
    /// Companies that partners have registered.
    Buyers,
    /// What happened, and everything there is.
    Data,
    /// How the service is. These need no key.
    Health,
}
