//! Calls of the operator's side.

use crate::outgoing;
use crate::settings::Access;
use serde_json::Value;
use std::time::Duration;
use ureq::http::StatusCode;

/// How long a call may take, exports aside.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with the operator's key.
pub struct Client {
    agent: ureq::Agent,
    url: String,
    key: String,
}

/// Why a call failed.
pub enum CallError {
    /// The service could not be reached, or broke off.
    Unreachable(String),
    /// It cannot do this now, and asks to be called again.
    Busy(String),
    /// It said no, with a code for programs.
    Refused {
        /// The `errorCode`; empty if the answer has none.
        code: String,
        /// What it said.
        text: String,
    },
}

impl From<CallError> for String {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unreachable(text) | CallError::Busy(text) | CallError::Refused { text, .. } => text,
        }
    }
}

impl Client {
    /// A client for a service.
    pub fn new(access: &Access) -> Result<Self, String> {
        let key = access.key.text()?.ok_or(
            "this needs the operator's key: set --operator-key-file, --operator-key or the variable LENDPAY_OPERATOR_KEY",
        )?;
        let agent = outgoing::agent(access.operator_url.url(), PATIENCE, &access.trust)?;
        Ok(Self { agent, url: access.operator_url.to_string().trim_end_matches('/').to_owned(), key })
    }

    pub fn get(&self, path: &str) -> Result<Value, CallError> {
        let request = self.agent.get(self.address(path)).header("x-operator-key", &self.key);
        self.answer(request.call())
    }

    pub fn delete(&self, path: &str) -> Result<Value, CallError> {
        let request = self.agent.delete(self.address(path)).header("x-operator-key", &self.key);
        self.answer(request.call())
    }

    pub fn put(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(self.agent.put(self.address(path)), body)
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(self.agent.post(self.address(path)), body)
    }

    /// An answer that may be long, and take long.
    pub fn stream(&self, path: &str) -> Result<ureq::http::Response<ureq::Body>, CallError> {
        let request = self.agent.get(self.address(path)).header("x-operator-key", &self.key);
        let response = request.config().timeout_global(None).build().call();
        let response = response.map_err(|error| self.unreachable(&error))?;
        match response.status() {
            status if status == 200 => Ok(response),
            status => Err(self.answer(Ok(response)).map_or_else(|error| error, |_| self.no_lendpay(status))),
        }
    }

    fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    fn send(&self, request: ureq::RequestBuilder<ureq::typestate::WithBody>, body: &Value) -> Result<Value, CallError> {
        let request = request.header("x-operator-key", &self.key).header("content-type", "application/json");
        self.answer(request.send(body.to_string()))
    }

    fn answer(&self, answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value, CallError> {
        let mut response = answer.map_err(|error| self.unreachable(&error))?;
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string();
        let text = text.map_err(|error| self.unreachable(&error))?;
        let body = if text.is_empty() { Ok(Value::Null) } else { serde_json::from_str(&text) };
        match (response.status(), body) {
            (status, Ok(body)) if status.is_success() => Ok(body),
            (status, Ok(body)) if body["title"].is_string() => {
                let (code, text) = (body["errorCode"].as_str().unwrap_or_default(), refusal(status.as_u16(), &body));
                Err(if status == 503 {
                    CallError::Busy(text)
                } else {
                    CallError::Refused { code: code.to_owned(), text }
                })
            }
            (status, _) => Err(self.no_lendpay(status)),
        }
    }

    fn no_lendpay(&self, status: StatusCode) -> CallError {
        let text =
            format!("{} answers {status}, and not as a Lendpay service does; is --operator-url right?", self.url);
        CallError::Refused { code: String::new(), text }
    }

    fn unreachable(&self, error: &ureq::Error) -> CallError {
        CallError::Unreachable(format!(
            "the service cannot be reached at {}: {error}; is it running with an operator key, and is --operator-url right?",
            self.url
        ))
    }
}

/// An error body as one line.
pub fn refusal(status: u16, body: &Value) -> String {
    format!("{} (operationId {})", told(&status.into(), body), body["operationId"].as_str().unwrap_or_default())
}

/// What an error says, and about which fields.
pub fn told(status: &Value, error: &Value) -> String {
    let text = |field: &str| error[field].as_str().unwrap_or_default();
    let mut line = format!("{status} {}: {}", text("title"), text("message"));
    for detail in error["errors"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        line.push_str(&format!(" {};", detail.trim_end_matches('.')));
    }
    line
}
