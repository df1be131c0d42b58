//! Both sides on one store, with a clock that stands still until it is set.

use crate::backend::{self, Backend, Remains};
use crate::document;
use lendpay_api::{
    Clock, Feed, NewOperatorKey, OperatorKey, OperatorList, OperatorSettings, Operators, PartnerSettings, SecretKeys,
    WebhookSettings, operator_side, partner_side,
};
use lendpay_domain::operator::{OperatorName, Role};
use poem::http::uri::Scheme;
use lendpay_domain::webhook::attempt::{TEST, Testing};
use lendpay_domain::webhook::{Attempt, Deliveries, Endpoint, Problem};
use lendpay_domain::{EndpointId, EventId, Timestamp};
use poem::http::{HeaderMap, Method};
use poem::web::{LocalAddr, RemoteAddr};
use poem::{Request, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The key of the operator.
pub const OPERATOR_KEY: &str = "operator-0123456789abcdef0123456789";

pub struct SetClock(Mutex<Timestamp>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("not poisoned")
    }
}

/// The status that every test of an endpoint gets here.
pub const TEST_STATUS: u16 = 418;

/// Delivery that sends nothing, and remembers what it was told.
#[derive(Default)]
pub struct NoDeliveries {
    changed: Mutex<Vec<EndpointId>>,
    attempts: Mutex<Vec<(EndpointId, Attempt)>>,
}

impl NoDeliveries {
    /// The endpoints that were changed.
    pub fn changed(&self) -> Vec<EndpointId> {
        self.changed.lock().expect("not poisoned").clone()
    }
}

impl Deliveries for NoDeliveries {
    fn attempts(&self, endpoint: EndpointId) -> Vec<Attempt> {
        let all = self.attempts.lock().expect("not poisoned");
        all.iter().filter(|(of, _)| *of == endpoint).map(|(_, attempt)| *attempt).collect()
    }

    fn test(&self, endpoint: Endpoint, event: EventId, at: Timestamp, within: Duration) -> Testing {
        assert!(within < lendpay_api::Limits::default().request_time, "there must be time left for the answer");
        let (duration, result) = (Duration::from_micros(1_500), Err(Problem::Status(TEST_STATUS)));
        let attempt = Attempt { event, kind: TEST, sequence: None, number: 1, at, duration, result, next_at: None };
        self.attempts.lock().expect("not poisoned").push((endpoint.id, attempt));
        Box::pin(async move { attempt })
    }

    fn changed(&self, endpoint: EndpointId) {
        self.changed.lock().expect("not poisoned").push(endpoint);
    }
}

type Side = Box<dyn poem::endpoint::DynEndpoint<Output = Response>>;

pub struct Context {
    operator: Side,
    partner: Side,
    pub store: Arc<Backend>,
    pub feed: Arc<Feed>,
    pub deliveries: Arc<NoDeliveries>,
    /// With which secrets of endpoints are encrypted.
    pub keys: Arc<SecretKeys>,
    /// A key of an operator with each role, which has the role's name.
    operators: [(Role, NewOperatorKey); Role::ALL.len()],
    list: Arc<Operators>,
    clock: Arc<SetClock>,
    _remains: Remains,
}

/// An answer that has passed the check.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).expect("UTF-8")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("JSON: {}", self.text()))
    }

    /// The answer is this error.
    #[track_caller]
    pub fn is_error(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, &body["errorCode"]), (status, &json!(code)), "{body}");
        body
    }

    /// The answer is a success; its body.
    #[track_caller]
    pub fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }
}

pub fn moment(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_700_000_000 + seconds, 123_456_000).expect("in range")
}

/// The nth id.
pub fn id(n: u128) -> String {
    uuid::Uuid::from_u128(0x1111_0000_0000_4000_8000_0000_0000_0000 + n).to_string()
}

impl Context {
    pub async fn new() -> Self {
        Self::with(true, true).await
    }

    pub async fn without_webhooks() -> Self {
        Self::with(true, false).await
    }

    pub async fn without_console() -> Self {
        Self::with(false, true).await
    }

    async fn with(console: bool, webhooks: bool) -> Self {
        let (store, remains) = backend::fresh().await;
        let store = Arc::new(store);
        let clock = Arc::new(SetClock(Mutex::new(moment(0))));
        let operators = Role::ALL.map(|role| {
            let name = OperatorName::parse(role.name()).expect("a name");
            (role, NewOperatorKey::make(name, role))
        });
        let lines = operators.each_ref().map(|(_, made)| made.line.as_str()).join("\n");
        let key = OperatorKey::parse(OPERATOR_KEY).expect("long enough");
        let feed = Arc::<Feed>::default();
        let list = Arc::new(Operators::new(Some(key), OperatorList::parse(&lines).expect("good lines")));
        let deliveries = Arc::new(NoDeliveries::default());
        let keys = Arc::new(SecretKeys::parse(&"5a".repeat(32)).expect("a key"));
        let webhook_settings =
            WebhookSettings { keys: Arc::clone(&keys), deliveries: deliveries.clone(), plain_http: false };
        let settings = OperatorSettings {
            operators: Arc::clone(&list),
            hosts: lendpay_api::Hosts::default(),
            limits: lendpay_api::Limits::default(),
            reason: Backend::failure_reason,
            log: crate::log(&store),
            feed: Arc::clone(&feed),
            webhooks: webhooks.then_some(webhook_settings),
            stopping: Arc::default(),
            metrics: Arc::new(|| "lendpay_test 1\n".to_owned()),
            traces: None,
            console,
        };
        let operator = operator_side(Arc::clone(&store), clock.clone(), settings, Arc::default());
        let partner = partner_side(Arc::clone(&store), clock.clone(), PartnerSettings { feed: Arc::clone(&feed), ..PartnerSettings::default() });
        Self {
            operator: Box::new(poem::endpoint::ToDynEndpoint(operator)),
            partner: Box::new(poem::endpoint::ToDynEndpoint(partner)),
            store,
            feed,
            deliveries,
            keys,
            operators,
            list,
            clock,
            _remains: remains,
        }
    }

    pub fn set_time(&self, seconds: i64) {
        *self.clock.0.lock().expect("not poisoned") = moment(seconds);
    }

    /// Sends a request to the operator's side with these headers, and checks what holds for every answer.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&'static str, &str)], body: &str) -> Answer {
        let answer = exchange(&*self.operator, request(method, path, headers, body)).await;
        check(method, path, &answer, self.clock.now());
        answer
    }

    /// The same as over TLS.
    pub async fn send_over_tls(&self, method: &str, path: &str, headers: &[(&'static str, &str)], body: &str) -> Answer {
        let (plain, body) = request(method, path, headers, body).into_parts();
        let head = poem::http::Request::builder().method(plain.method).uri(plain.uri).body(()).expect("a request");
        let (mut head, ()) = head.into_parts();
        head.headers = plain.headers;
        let parts = (head, LocalAddr::default(), RemoteAddr::default(), Scheme::HTTPS).into();
        exchange(&*self.operator, Request::from_parts(parts, body)).await
    }

    /// The same with the key and a JSON body.
    pub async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("x-operator-key", OPERATOR_KEY), ("content-type", "application/json")];
        self.send(method, path, &headers, &body).await
    }

    /// The same by an operator that has a name and a role.
    pub async fn call_as(&self, role: Role, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("x-operator-key", self.key_of(role)), ("content-type", "application/json")];
        self.send(method, path, &headers, &body).await
    }

    /// Takes every operator but the single key off the list.
    pub fn remove_operators(&self) {
        self.list.replace(OperatorList::default());
    }

    /// The key of the operator with this role.
    pub fn key_of(&self, role: Role) -> &str {
        let found = self.operators.iter().find(|(its, _)| *its == role);
        &found.expect("each role has an operator").1.key
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &Value::Null).await
    }

    /// Sends a request to the partners' side.
    pub async fn as_partner(&self, method: &str, path: &str, headers: &[(&'static str, &str)], body: &str) -> Answer {
        exchange(&*self.partner, request(method, path, headers, body)).await
    }

    /// Partner `n` with a key for both areas and application `n`; the key.
    pub async fn partner(&self, n: u128) -> String {
        let path = format!("/operator/partners/{}", id(n));
        self.call("PUT", &path, &json!({ "name": format!("Partner {n}") })).await.is(201);
        let key = json!({ "name": "a key", "areas": ["lending", "payments"] });
        let key = self.call("POST", &format!("{path}/keys"), &key).await.is(201);
        self.call("PUT", &application(n), &json!({ "partnerId": id(n) })).await.is(201);
        key["key"].as_str().expect("a key").to_owned()
    }
}

/// The path of application `n`.
pub fn application(n: u128) -> String {
    format!("/operator/applications/{}", id(n))
}

/// The path of offer `n` of application `n`'s partner.
pub fn offer(a: u128, n: u128) -> String {
    format!("{}/offers/{}", application(a), id(n))
}

/// A full body for an offer.
pub fn terms() -> Value {
    json!({
        "details": "Fixed rate", "fundingType": "TermLoan", "offerType": "Underwritten",
        "annualPercentageRate": 0.0905, "interestRate": 0.03, "expiryAt": "2023-11-14T23:00:00Z",
        "redirectUrl": "https://onboarding.example/loans/1", "amount": 25000.55, "duration": "TwoYears",
    })
}

fn request(method: &str, path: &str, headers: &[(&'static str, &str)], body: &str) -> Request {
    let mut request = Request::builder()
        .method(method.parse::<Method>().expect("a method"))
        .uri(path.parse().expect("a URI"))
        .header("host", "localhost")
        .body(body.to_owned());
    for (name, value) in headers {
        request.headers_mut().append(*name, value.parse().expect("a header value"));
    }
    request
}

async fn exchange(side: &dyn poem::endpoint::DynEndpoint<Output = Response>, request: Request) -> Answer {
    let response = side.call(request).await.expect("the shell answers everything");
    let (parts, body) = response.into_parts();
    let bytes = body.into_vec().await.expect("a body");
    Answer { status: parts.status.as_u16(), headers: parts.headers, bytes }
}

/// What holds for every answer of the operator's side.
fn check(method: &str, path: &str, answer: &Answer, now: Timestamp) {
    let told = format!("{method} {path} → {answer:?}");
    assert!(!answer.headers.keys().any(|name| name.as_str().starts_with("access-control-")), "{told}");
    let id = answer.headers["x-request-id"].to_str().expect("ASCII");
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{told}");
    let path = path.split('?').next().unwrap_or_default();
    let operation = document::operation(method, path);
    let health = path.starts_with("/health");
    // Pages are checked where they are asked for.
    let page = answer.headers.get("content-type").is_some_and(|kind| kind == "text/html; charset=utf-8");
    if answer.status >= 400 && !answer.bytes.is_empty() && !health && !page {
        let body = answer.json();
        let fields: Vec<_> = body.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(fields, ["title", "message", "errorCode", "errors", "date", "operationId"], "{told}");
        assert_eq!(body["operationId"], id, "{told}");
        let date: Timestamp = body["date"].as_str().expect("a date").parse().expect("RFC 3339");
        assert_eq!(date, now, "{told}");
        assert_eq!(answer.status == 401, answer.headers.contains_key("www-authenticate"), "{told}");
    }
    let json = answer.headers.get("content-type").is_some_and(|kind| kind == "application/json");
    if let Some(operation) = operation {
        let body = if json { answer.json() } else { Value::Null };
        if let Err(problem) = operation.judge(answer.status, &body) {
            panic!("{problem}\n{told}");
        }
    }
}

/// Nothing of the bank account of a sample's buyer, in full or masked. Its last four digits alone may be a part of an
/// id.
pub fn holds_no_bank_detail(answer: &Value) {
    let text = answer.to_string();
    let details = ["20201555", "55779911", "\"5555\"", "*"];
    assert!(!details.iter().any(|detail| text.contains(detail)), "{text}");
}
