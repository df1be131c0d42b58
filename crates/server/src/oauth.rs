//! OAuth 2.0 as the settings have it: where the authorization server is, and how its keys are fetched.

mod issuer;

use crate::settings::{OAuthSettings, Trust};
use issuer::Issuer;
use lendpay_api::{OAuth, Tokens};
use std::sync::Arc;

/// OAuth 2.0, if it is set up. Half a configuration is an error.
pub fn of(settings: &OAuthSettings, trust: &Trust) -> Result<Option<OAuth>, String> {
    let Some(complete) = settings.complete()? else { return Ok(None) };
    let issuer = Issuer::new(&complete.issuer, complete.jwks_url, trust)?;
    let tokens = Tokens::new(complete.issuer.to_string(), complete.audience, issuer);
    Ok(Some(OAuth { tokens: Arc::new(tokens), token_url: complete.token_url.to_string() }))
}
