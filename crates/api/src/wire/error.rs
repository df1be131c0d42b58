//! Error bodies (contract 1.4).

use super::time::Time;
use poem_openapi::Object;
use serde::Serialize;

/// An error of the lending area.
#[derive(Debug, Clone, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Clone, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Clone, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
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
