//! What accepting and declining share: a partner moves an offer of its own (contract 2.1).

use super::{Ignored, OfferPath};
use crate::caller::{Credentials, Gate};
use crate::context::Context;
use crate::failure::Failure;
use crate::tokens::scheme::Scope;
use crate::wire::json::Json;
use crate::wire::offer::Offer;
use lendpay_domain::StoreError;
use lendpay_domain::command::{MoveOffer, MoveOutcome};
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;
use lendpay_domain::store::{Commands, Queries};
use std::sync::Arc;

/// Moves offers.
pub(crate) struct Moves<S> {
    pub store: Arc<S>,
    pub gate: Gate,
}

/// What a request to move an offer presents.
pub(super) struct Asked {
    pub context: Context,
    pub credentials: Credentials,
    pub path: OfferPath,
    pub body: Ignored,
}

impl<S: Commands + Queries> Moves<S> {
    /// The offer after the action, for who may do what needs the scope.
    pub(super) async fn run(&self, asked: Asked, scope: Scope, action: Action) -> Result<Json<Offer>, Failure> {
        let Asked { context, credentials, path, body } = asked;
        let caller = self.gate.admit(&*self.store, &credentials, scope, &context).await?;
        body.read().await?;
        let _turn = self.gate.turns.take(caller.partner, context.crowd()).await?;
        let (application, offer) = path.both().ok_or(Failure::OfferNotFound)?;
        let (partner, stamp) = (Some(caller.partner), context.stamp(caller.actor));
        match self.store.run(MoveOffer { partner, application, offer, action, reason: None, stamp }).await? {
            MoveOutcome::Done(offer) => Ok(Json(offer.into())),
            MoveOutcome::Unchanged(offer) => {
                context.set_unchanged();
                Ok(Json(offer.into()))
            }
            MoveOutcome::Illegal(illegal) => Err(Failure::OfferRefused(illegal)),
            MoveOutcome::NotFound => Err(Failure::OfferNotFound),
        }
    }
}

/// One of each failure: a move to a status is refused from these.
pub(super) fn failures(scope: Scope, to: Status, from: [Status; 3]) -> Vec<Failure> {
    let refused = from.map(|from| Failure::OfferRefused(IllegalMove { from, to, indicative: false }));
    let before = [
        Failure::BadRequest,
        Failure::NoCredentials,
        Failure::InvalidApiKey,
        Failure::InvalidToken,
        Failure::InsufficientScope(scope),
        Failure::ReadOnlyKey,
        Failure::MissingScope(scope),
        Failure::RateLimited(1),
        Failure::OfferNotFound,
        Failure::Timeout,
    ];
    let after = [
        Failure::TooLarge,
        Failure::Internal,
        Failure::Store(StoreError::Unavailable),
        Failure::Store(StoreError::OutcomeUnknown),
    ];
    before.into_iter().chain(refused).chain(after).collect()
}
