//! OAuth 2.0 access tokens (contract 2.8): RFC 9068 JWTs of one authorization server, presented as RFC 6750 says.
//!
//! | module | subject |
//! |---|---|
//! | `claims` | what a token must say |
//! | `key_set` | the authorization server's keys, and signatures by them |
//! | `keys` | when keys are fetched, and who waits for them |
//! | `scheme` | the scopes, and how the document tells of all this |
//! | `seen` | tokens that were verified before |
//!
//! This crate knows no network: keys come from a [`KeySource`].

mod claims;
#[cfg(test)]
mod fuzz;
mod key_set;
mod keys;
mod refusal;
pub(crate) mod scheme;
mod seen;
#[cfg(test)]
mod tests;

pub use keys::KeySource;
pub(crate) use refusal::Refusal;
pub use scheme::Scope;

use claims::Expected;
use keys::Keys;
use lendpay_domain::Timestamp;
use scheme::Scopes;
use seen::Seen;
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

/// The longest token that is looked at.
pub(crate) const LONGEST: usize = 16 * 1024;

/// OAuth 2.0 as an operator has set it up.
#[derive(Clone, Debug)]
pub struct OAuth {
    /// What accepts tokens.
    pub tokens: Arc<Tokens>,
    /// Where partners get them, for the document.
    pub token_url: String,
}

/// Accepts the tokens of one authorization server that are meant for this service.
pub struct Tokens {
    expected: Expected,
    keys: Keys,
    seen: Seen,
}

/// What a token that is accepted says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// To whom it was issued.
    pub client: Arc<str>,
    /// What it may be used for.
    pub scopes: Scopes,
    /// When it is accepted for the last time, in microseconds since 1970.
    until: i64,
}

impl Tokens {
    /// Accepts the tokens of `issuer` for `audience`. Nothing is accepted before [`keep_keys`](Self::keep_keys) has
    /// run.
    pub fn new(issuer: String, audience: String, source: impl KeySource) -> Self {
        Self { expected: Expected { issuer, audience }, keys: Keys::new(Box::new(source)), seen: Seen::default() }
    }

    /// Fetches the authorization server's keys, now, from time to time, and when a token names one that is not known.
    /// To be run beside the server, once.
    pub async fn keep_keys(&self) -> Infallible {
        self.keys.keep().await
    }

    /// Accepts a token or does not.
    pub(crate) async fn verify(&self, token: &str, now: Timestamp) -> Result<Verified, Refusal> {
        if token.len() > LONGEST {
            return Err(Refusal::TooLong);
        }
        let hash = Sha256::digest(token.as_bytes()).into();
        let mut set = self.keys.current();
        if let Some(verified) = self.seen.get(set.generation, &hash, now) {
            return Ok(verified);
        }
        let header = key_set::header(token)?;
        if !set.knows(&header) {
            self.keys.refreshed(now).await;
            set = self.keys.current();
        }
        let verified = set.verify(token, &header)?.check(&self.expected, now)?;
        self.seen.put(set.generation, hash, verified.clone());
        Ok(verified)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("expected", &self.expected).finish_non_exhaustive()
    }
}
