//! Calls of the operator's side.

use crate::outgoing;
use crate::settings::Access;
use serde_json::Value;
use std::io::Read;
use std::time::Duration;

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
    /// It said no.
    Refused(String),
}

impl From<CallError> for String {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unreachable(text) | CallError::Busy(text) | CallError::Refused(text) => text,
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

    /// The body of a long answer.
    pub fn stream(&self, path: &str) -> Result<impl Read + use<>, String> {
        let request = self.agent.get(self.address(path)).header("x-operator-key", &self.key);
        let response = request.config().timeout_global(None).build().call();
        let response = response.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status != 200 {
            return Err(match self.answer(Ok(response)) {
                Err(error) => error.into(),
                Ok(_) => format!("{} answers {status}, and not with an export; is --operator-url right?", self.url),
            });
        }
        Ok(response.into_body().into_reader())
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
                let error = if status == 503 { CallError::Busy } else { CallError::Refused };
                Err(error(refusal(status.as_u16(), &body)))
            }
            (status, _) => Err(CallError::Refused(format!(
                "{} answers {status}, and not as a Lendpay service does; is --operator-url right?",
                self.url
            ))),
        }
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
