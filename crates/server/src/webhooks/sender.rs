//! Sends a webhook: one request over HTTPS, to an address that was checked, within a time limit.

use super::addresses::may_be_reached;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper::{Request, Response, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::IpNet;
use lendpay_domain::Timestamp;
use lendpay_domain::webhook::{EndpointUrl, InFlight, Problem};
use rustls::ClientConfig;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// How much of an answer is read. A longer one costs its connection.
const ANSWER: usize = 4 * 1024;

/// How long a connection stays open without a request.
const IDLE: Duration = Duration::from_secs(30);

/// Which addresses a name has, as the system says or as a test does.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Asks the system.
pub fn system_lookup() -> Lookup {
    Arc::new(|name| {
        async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) }.boxed()
    })
}

/// Why nothing was connected to.
#[derive(Debug)]
struct Refused(Problem);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.names().0)
    }
}

impl Error for Refused {}

/// Resolves names to addresses that may be connected to. The connector asks it for each connection, and connects to
/// nothing else.
#[derive(Clone)]
struct Checked {
    lookup: Lookup,
    allowed: Arc<[IpNet]>,
}

impl Service<Name> for Checked {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Refused;
    type Future = BoxFuture<'static, Result<Self::Response, Refused>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (found, allowed) = ((self.lookup)(name.as_str().to_owned()), Arc::clone(&self.allowed));
        async move {
            let mut found = found.await.unwrap_or_default();
            if found.is_empty() {
                return Err(Refused(Problem::Name));
            }
            found.retain(|address| may_be_reached(*address, &allowed));
            if found.is_empty() {
                return Err(Refused(Problem::Address));
            }
            Ok(found.into_iter().map(|address| SocketAddr::new(address, 0)).collect::<Vec<_>>().into_iter())
        }
        .boxed()
    }
}

/// What an endpoint answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    /// How long it asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// The client, with one pool of connections for all endpoints.
#[derive(Clone)]
pub struct Sender {
    client: Client<HttpsConnector<HttpConnector<Checked>>, Full<Bytes>>,
    allowed: Arc<[IpNet]>,
    limit: Duration,
}

impl Sender {
    /// Connects to what `allowed` adds to the Internet; with `plain` also without TLS. An attempt may take no longer
    /// than
    /// `limit`.
    pub fn new(tls: ClientConfig, lookup: Lookup, allowed: Arc<[IpNet]>, plain: bool, limit: Duration) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Checked { lookup, allowed: Arc::clone(&allowed) });
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        let https = HttpsConnectorBuilder::new().with_tls_config(tls);
        let https = if plain { https.https_or_http() } else { https.https_only() };
        let https = https.enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(InFlight::MOST.get().into())
            .build(https);
        Self { client, allowed, limit }
    }

    /// Sends a request, within the limit and `within`. It follows no redirect.
    pub async fn send(
        &self,
        url: &EndpointUrl,
        headers: impl IntoIterator<Item = (&'static str, String)>,
        body: String,
        now: Timestamp,
        within: Duration,
    ) -> Result<Answer, Problem> {
        let request = Request::post(url.as_str())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("lendpay/", env!("CARGO_PKG_VERSION")));
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let request = request.body(Full::from(body)).map_err(|_| Problem::Name)?;
        // The connector asks for the addresses of names only.
        let literal = request.uri().host().and_then(|host| host.trim_matches(['[', ']']).parse().ok());
        if literal.is_some_and(|address| !may_be_reached(address, &self.allowed)) {
            return Err(Problem::Address);
        }
        match tokio::time::timeout(self.limit.min(within), self.answer(request, now)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(problem(&error)),
            Err(_) => Err(Problem::Timeout),
        }
    }

    async fn answer(
        &self,
        request: Request<Full<Bytes>>,
        now: Timestamp,
    ) -> Result<Answer, hyper_util::client::legacy::Error> {
        let response = self.client.request(request).await?;
        let answer = Answer { status: response.status(), retry_after: retry_after(&response, now) };
        // The head has decided. A body that is read to its end leaves the connection for the next request.
        let _ = Limited::new(response.into_body(), ANSWER).collect().await;
        Ok(answer)
    }
}

/// `Retry-After`: seconds, or a date (RFC 9110, 10.2.3).
fn retry_after<B>(response: &Response<B>, now: Timestamp) -> Option<Duration> {
    let text = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = chrono::DateTime::parse_from_rfc2822(text).ok()?;
    Some((at.to_utc() - now).to_std().unwrap_or_default())
}

/// What an operator is told of an error.
fn problem(error: &hyper_util::client::legacy::Error) -> Problem {
    let causes = || std::iter::successors(Some(error as &(dyn Error + 'static)), |error| (*error).source());
    if let Some(Refused(problem)) = causes().find_map(|cause| cause.downcast_ref()) {
        return *problem;
    }
    match error.is_connect() {
        _ if causes().any(is_tls) => Problem::Tls,
        true => Problem::Connect,
        false => Problem::Broken,
    }
}

/// What is in an `io::Error` is not its source.
fn is_tls(cause: &(dyn Error + 'static)) -> bool {
    let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    cause.is::<rustls::Error>() || inner.is_some_and(|inner| is_tls(inner))
}

#[cfg(test)]
mod tests;
