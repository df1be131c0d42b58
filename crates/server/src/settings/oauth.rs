//! The settings for OAuth 2.0: all of them, or none.

use super::outgoing::Address;
use clap::Args;

/// What it takes to accept access tokens.
#[derive(Debug, Args)]
#[command(next_help_heading = "OAuth 2.0 (all or none; without it only API keys are accepted)")]
pub struct OAuthSettings {
    /// The authorization server, as its tokens name it in `iss`.
    #[arg(long, env = "LENDPAY_OAUTH_ISSUER", value_name = "URL")]
    pub oauth_issuer: Option<Address>,

    /// This service, as tokens for it name it in `aud`.
    #[arg(long, env = "LENDPAY_OAUTH_AUDIENCE", value_name = "TEXT")]
    pub oauth_audience: Option<String>,

    /// Where partners get tokens; the document tells them.
    #[arg(long, env = "LENDPAY_OAUTH_TOKEN_URL", value_name = "URL")]
    pub oauth_token_url: Option<Address>,

    /// Where the authorization server's keys are; without it, that is found out from the issuer's metadata.
    #[arg(long, env = "LENDPAY_OAUTH_JWKS_URL", value_name = "URL")]
    pub oauth_jwks_url: Option<Address>,
}

/// The settings when they are complete.
#[derive(Debug, PartialEq, Eq)]
pub struct Complete {
    pub issuer: Address,
    pub audience: String,
    pub token_url: Address,
    pub jwks_url: Option<Address>,
}

impl OAuthSettings {
    /// None if nothing is set, an error if something is missing.
    pub fn complete(&self) -> Result<Option<Complete>, String> {
        let audience = self.oauth_audience.clone().filter(|audience| !audience.trim().is_empty());
        let jwks_url = self.oauth_jwks_url.clone();
        match (self.oauth_issuer.clone(), audience, self.oauth_token_url.clone()) {
            (Some(issuer), Some(_), Some(_)) if issuer.url().query().is_some() => {
                Err("--oauth-issuer: write the issuer without a query".to_owned())
            }
            (Some(issuer), Some(audience), Some(token_url)) => {
                Ok(Some(Complete { issuer, audience, token_url, jwks_url }))
            }
            (None, None, None) if jwks_url.is_none() && self.oauth_audience.is_none() => Ok(None),
            (issuer, audience, token_url) => {
                let issuer = issuer.is_none().then_some("--oauth-issuer");
                let audience = audience.is_none().then_some("--oauth-audience");
                let token_url = token_url.is_none().then_some("--oauth-token-url");
                let missing: Vec<_> = [issuer, audience, token_url].into_iter().flatten().collect();
                Err(format!(
                    "OAuth 2.0 is configured incompletely; set {} too, or none of the --oauth settings",
                    missing.join(" and ")
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_nothing() {
        for set in 0..16_u8 {
            let address = |bit: u8| (set & bit != 0).then(|| "https://id.example".parse().expect("an address"));
            let settings = OAuthSettings {
                oauth_issuer: address(1),
                oauth_audience: (set & 2 != 0).then(|| "audience".to_owned()),
                oauth_token_url: address(4),
                oauth_jwks_url: address(8),
            };
            match (set, settings.complete()) {
                (0, complete) => assert_eq!(complete, Ok(None)),
                (7 | 15, complete) => assert!(complete.is_ok_and(|complete| complete.is_some()), "{set}"),
                (_, complete) => {
                    let problem = complete.expect_err("half a configuration");
                    for (bit, flag) in [(1, "--oauth-issuer"), (2, "--oauth-audience"), (4, "--oauth-token-url")] {
                        assert_eq!(problem.contains(flag), set & bit == 0, "{set}: {problem}");
                    }
                }
            }
        }
    }
}
