//! What the partner's reads share.

use super::Operation;
use crate::caller::{Caller, Credentials, Gate};
use crate::context::Context;
use crate::failure::Failure;
use crate::feed::Feed;
use crate::tokens::scheme::Scope;
use crate::turns::Turn;
use lendpay_domain::StoreError;
use lendpay_domain::store::{Commands, Queries};
use std::sync::Arc;

/// The store, and who gets in.
pub(crate) struct Reads<S> {
    pub store: Arc<S>,
    pub gate: Gate,
    pub feed: Arc<Feed>,
}

impl<S: Commands + Queries> Reads<S> {
    /// The store and the caller, if it may do what needs the scope, when its turn has come.
    pub async fn admit(
        &self,
        credentials: &Credentials,
        scope: Scope,
        context: &Context,
    ) -> Result<(&S, Caller, Turn), Failure> {
        let caller = self.gate.admit(&*self.store, credentials, scope, context).await?;
        let turn = self.gate.turns.take(caller.partner, context.crowd()).await?;
        Ok((&self.store, caller, turn))
    }
}

/// What every read can give, and what it gives besides.
pub(super) fn failures<O: Operation>(scope: Scope, more: impl IntoIterator<Item = Failure>) -> Vec<Failure> {
    let parameter = if O::QUERY.is_empty() { "lmit: is not a known parameter" } else { super::parameters::BAD_LIMIT };
    let common = [
        Failure::BadParameters(vec![parameter.to_owned()]),
        Failure::NoCredentials,
        Failure::InvalidApiKey,
        Failure::InvalidToken,
        Failure::InsufficientScope(scope),
        Failure::MissingScope(scope),
        Failure::RateLimited(1),
        Failure::Timeout,
        Failure::TooLarge,
        Failure::Internal,
        Failure::Store(StoreError::Unavailable),
    ];
    more.into_iter().chain(common).collect()
}
