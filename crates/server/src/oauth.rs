//! OAuth 2.0 as the settings have it: fetching an authorization server's keys, and finding out where they are.

use crate::outgoing;
use crate::settings::{Address, OAuthSettings, Trust};
use lendpay_api::{KeySource, OAuth, Tokens, TraceParent};
use serde::Deserialize;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use url::Url;

/// How long one request to the authorization server may take.
const LIMIT: Duration = Duration::from_secs(4);

/// The most bytes of an answer.
const LONGEST: u64 = 1024 * 1024;

/// OAuth 2.0, if it is set up. Half a configuration is an error.
pub fn of(settings: &OAuthSettings, trust: &Trust) -> Result<Option<OAuth>, String> {
    let Some(complete) = settings.complete()? else { return Ok(None) };
    let client = outgoing::agent(complete.issuer.url(), LIMIT, trust)?;
    let (issuer, jwks_url) = (complete.issuer.clone(), complete.jwks_url);
    let issuer = Issuer { client, issuer, jwks_url, discovered: Arc::default() };
    let tokens = Tokens::new(complete.issuer.to_string(), complete.audience, issuer);
    Ok(Some(OAuth { tokens: Arc::new(tokens), token_url: complete.token_url.to_string() }))
}

/// An authorization server.
#[derive(Clone)]
struct Issuer {
    client: ureq::Agent,
    issuer: Address,
    jwks_url: Option<Address>,
    /// What its metadata said the last time that it could be asked.
    discovered: Arc<Mutex<Option<Address>>>,
}

/// What is read of the metadata (RFC 8414, section 2; OpenID Connect Discovery, section 3).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl KeySource for Issuer {
    fn fetch(&self) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>> {
        let issuer = self.clone();
        let (send, receive) = oneshot::channel();
        // A thread of its own: one of the runtime's would be waited for when the process ends.
        let thread = std::thread::Builder::new().name("issuer".to_owned()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = send.send(issuer.keys());
        });
        Box::pin(async move {
            thread.map_err(|error| format!("no thread can be started: {error}"))?;
            receive.await.unwrap_or_else(|_| Err("the thread that fetches has ended".to_owned()))
        })
    }
}

impl Issuer {
    fn keys(&self) -> Result<Vec<u8>, String> {
        if let Some(address) = &self.jwks_url {
            return self.get(address.url());
        }
        let known = self.discovered.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(keys) = known.and_then(|address| self.get(address.url()).ok()) {
            return Ok(keys);
        }
        let address = self.discover()?;
        let keys = self.get(address.url())?;
        *self.discovered.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
        Ok(keys)
    }

    /// Asks the issuer where its keys are, in both forms that there are.
    fn discover(&self) -> Result<Address, String> {
        let [first, second] = metadata_urls(self.issuer.url());
        let text = self.get(&first).or_else(|one| {
            self.get(&second).map_err(|other| format!("the issuer's metadata cannot be fetched: {one}; {other}"))
        })?;
        let metadata: Metadata = serde_json::from_slice(&text)
            .map_err(|_| "the issuer's metadata has no issuer and jwks_uri in a JSON object".to_owned())?;
        // RFC 8414, section 3.3: metadata of somebody else must not be used.
        if metadata.issuer != self.issuer.to_string() {
            return Err(format!("the metadata is that of {}, and --oauth-issuer is {}", metadata.issuer, self.issuer));
        }
        metadata
            .jwks_uri
            .parse()
            .map_err(|problem| format!("the metadata's jwks_uri is {}: {problem}", metadata.jwks_uri))
    }

    fn get(&self, url: &Url) -> Result<Vec<u8>, String> {
        let trace = TraceParent::fresh();
        let request = self.client.get(url.as_str()).header("Accept", "application/json");
        let fetched = request.header("traceparent", trace.to_string()).call().and_then(|mut response| {
            let body = response.body_mut().with_config().limit(LONGEST).read_to_vec()?;
            Ok((response.status(), body))
        });
        // The trace is in the issuer's logs, if it keeps any.
        match fetched {
            Ok((status, body)) if status.is_success() => Ok(body),
            Ok((status, _)) => Err(format!("{url}: it answers {status} (trace {})", trace.trace)),
            Err(error) => Err(format!("{url}: {error} (trace {})", trace.trace)),
        }
    }
}

/// Where the metadata may be: RFC 8414 puts its name before the issuer's path, OpenID Connect Discovery after it.
fn metadata_urls(issuer: &Url) -> [Url; 2] {
    let path = issuer.path().trim_end_matches('/');
    [format!("/.well-known/oauth-authorization-server{path}"), format!("{path}/.well-known/openid-configuration")].map(
        |path| {
            let mut url = issuer.clone();
            url.set_path(&path);
            url
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_the_standards_say() {
        for (issuer, rfc, oidc) in [
            ("https://id.example", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"),
            ("https://id.example/", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"),
            (
                "https://id.example/a/b",
                "/.well-known/oauth-authorization-server/a/b",
                "/a/b/.well-known/openid-configuration",
            ),
        ] {
            let urls = metadata_urls(&issuer.parse().expect("a URL")).map(|url| url.to_string());
            assert_eq!(urls, [format!("https://id.example{rfc}"), format!("https://id.example{oidc}")], "{issuer}");
        }
    }
}
