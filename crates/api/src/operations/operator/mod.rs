//! The operations of the operator's side (contract 2.9), one file each.

pub(crate) mod copy_log;
pub(crate) mod create_key;
pub(crate) mod export;
mod filters;
pub(crate) mod get_application;
pub(crate) mod get_buyer;
pub(crate) mod get_key;
pub(crate) mod get_offer;
pub(crate) mod get_operation;
pub(crate) mod get_partner;
pub(crate) mod health;
pub(crate) mod list_all_offers;
pub(crate) mod list_applications;
pub(crate) mod list_buyers;
pub(crate) mod list_events;
pub(crate) mod list_keys;
pub(crate) mod list_offers;
pub(crate) mod list_partners;
pub(crate) mod metrics;
pub(crate) mod move_offer;
pub(crate) mod note_backup;
mod parameters;
pub(crate) mod put_application;
pub(crate) mod put_key_expiry;
pub(crate) mod put_offer;
pub(crate) mod put_offers;
pub(crate) mod put_partner;
pub(crate) mod read_buyer;
mod request;
pub(crate) mod revoke_key;
pub(crate) mod webhooks;

use super::{Body, Failed, OfferPath, Operation, Parameter, PathId, PathIds};
use crate::context::Context;
use crate::failure::Failure;
use crate::feed::Feed;
use crate::operator_failure::{OperatorFailure, Resource};
use crate::operator_key::PresentedKey;
use crate::operator_side::WebhookSettings;
use crate::operators::{KnownOperator, Operators};
use crate::rate_limit::Failures;
use crate::wire::json::Json;
use lendpay_domain::StoreError;
use lendpay_domain::command::Stamp;
use lendpay_domain::event::EventPage;
use lendpay_domain::log::Log;
use lendpay_domain::operator::Role;
use lendpay_domain::query::FindEvents;
use lendpay_domain::store::{Answer, Calls, Commands, Exports, Queries, Webhooks};
use poem_openapi::{ApiResponse, OpenApi, Tags};
pub(crate) use request::OperatorRequest;
use std::sync::Arc;

/// What the operations share.
pub(crate) struct Operator<S> {
    pub store: Arc<S>,
    pub operators: Arc<Operators>,
    pub failures: Failures,
    /// The store's own log, if it has one.
    pub log: Option<Arc<dyn Log>>,
    pub feed: Arc<Feed>,
    /// What webhooks need, if they are on.
    pub webhooks: Option<WebhookSettings>,
}

impl<S> Operator<S> {
    /// The store's own log.
    fn log(&self) -> Result<&Arc<dyn Log>, Failure> {
        self.log.as_ref().ok_or_else(|| OperatorFailure::NoLog.into())
    }

    /// Who has the key. Notes who it is, and counts the failures of an address.
    pub fn identify(&self, key: &PresentedKey, context: &Context) -> Result<KnownOperator, Failure> {
        match self.operators.find(key) {
            Ok(operator) => {
                context.set_actor(operator.actor);
                Ok(operator)
            }
            Err(failure) => {
                self.failures.count(context.peer)?;
                Err(failure.into())
            }
        }
    }

    /// What webhooks need.
    fn webhooks(&self) -> Result<&WebhookSettings, Failure> {
        self.webhooks.as_ref().ok_or_else(|| OperatorFailure::WebhooksOff.into())
    }

    /// The store, for who has a key, and a role that suffices, and asks with the parameters of the operation. Notes who
    /// it is.
    fn admit<O: Operation>(&self, request: &OperatorRequest) -> Result<&S, Failure> {
        // One that declares no role cannot be built.
        let needed = const { O::ROLE.expect("an operation that asks for a key declares its least role") };
        let operator = self.identify(&request.key, &request.context)?;
        if operator.role < needed {
            return Err(OperatorFailure::RoleMissing { needed, has: operator.role }.into());
        }
        request.query.of::<O>().good()?;
        Ok(&self.store)
    }
}

/// The first page that has an event, or the last one: a page looks at a bounded part of the log, which may hold none that
/// is wanted.
async fn first_events(store: &impl Queries, mut query: FindEvents) -> Answer<EventPage> {
    loop {
        let page = store.find_events(query).await?;
        match page.next {
            Some(next) if page.events.is_empty() => query.after = next,
            _ => return Ok(page),
        }
    }
}

fn not_found(resource: Resource) -> Failure {
    OperatorFailure::NotFound(resource).into()
}

/// An id that is to be given: the address says what it must be.
fn new_id<T>(id: Option<T>, name: &str) -> Result<T, Failure> {
    id.ok_or_else(|| OperatorFailure::BadFields(vec![format!("{name}: must be a UUID of 36 characters")]).into())
}

/// What every operation with a key can give, and what it gives besides.
fn failures(more: impl IntoIterator<Item = Failure>) -> Vec<Failure> {
    let common = [
        OperatorFailure::BadFields(vec!["lmit: is not a known parameter".to_owned()]).into(),
        OperatorFailure::NoKey.into(),
        OperatorFailure::InvalidKey.into(),
        Failure::RateLimited(1),
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
    /// Offers and their transitions.
    Offers,
    /// Companies that partners have registered.
    Buyers,
    /// Endpoints that events are sent to.
    Webhooks,
    /// Events, the export and the backup.
    Data,
    /// The state of the service. These need no key.
    Health,
}
