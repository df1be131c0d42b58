//! Error bodies (contract 1.4): one that is written, and its schema in each area.

use super::time::Time;
use poem_openapi::Object;
use serde::Serialize;

/// The body of an error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody {
    pub title: &'static str,
    pub message: &'static str,
    /// None in the payments area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<&'static str>,
    pub errors: Vec<String>,
    pub date: Time,
    pub operation_id: String,
}

impl ErrorBody {
    /// The bytes of the body.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and a date are JSON")
    }
}

/// An error of the lending area.
#[derive(Object)]
#[oai(rename_all = "camelCase")]
pub struct LendingError {
    /// A short title of the error.
    pub title: String,
    /// What went wrong, for a person to read.
    pub message: String,
    /// A stable name of the error, for a program to read.
    pub error_code: String,
    /// Detail messages; may be empty.
    pub errors: Vec<String>,
    /// When the error occurred, in UTC.
    pub date: Time,
    /// Identifies the failed operation; quote it to support. The response header X-Request-Id has the same value.
    pub operation_id: String,
}

/// An error of the operator's side.
#[derive(Object)]
#[oai(rename_all = "camelCase")]
pub struct OperatorError {
    /// A short title of the error.
    pub title: String,
    /// What went wrong, for a person to read.
    pub message: String,
    /// A stable name of the error, for a program to read.
    pub error_code: String,
    /// Detail messages; may be empty. A message about a field begins with the field's path and a colon.
    pub errors: Vec<String>,
    /// When the error occurred.
    pub date: Time,
    /// Identifies the failed operation. The response header X-Request-Id has the same value.
    pub operation_id: String,
}

/// An error of the payments area.
#[derive(Object)]
#[oai(rename_all = "camelCase")]
pub struct PaymentsError {
    /// A short title of the error.
    pub title: String,
    /// What went wrong, for a person to read.
    pub message: String,
    /// Detail messages; may be empty. A message about a field begins with the field's path and a colon.
    pub errors: Vec<String>,
    /// When the error occurred, in UTC.
    pub date: Time,
    /// Identifies the failed operation; quote it to support. The response header X-Request-Id has the same value.
    pub operation_id: String,
}
