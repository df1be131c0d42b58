//! Reading the operator's bodies: strict, everything that is wrong at once, and no message quotes a value.

use super::payload;
use super::time::Time;
use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use serde_json::{Map, Number, Value};
use std::fmt::Display;

/// The members of a body that have not been taken yet, and what was wrong with those that have.
pub(crate) struct Fields {
    members: Map<String, Value>,
    problems: Vec<String>,
}

impl Fields {
    /// Reads a body, which must be one JSON object.
    pub fn of(body: &[u8]) -> Result<Self, Failure> {
        payload::check(body).map_err(Failure::BadBody)?;
        // What has passed the check is an object.
        let members = serde_json::from_slice(body).map_err(|_| Failure::Internal)?;
        Ok(Self { members, problems: Vec::new() })
    }

    /// Takes a member that must be there.
    pub fn required<T, E: Display>(&mut self, name: &str, read: impl FnOnce(&Value) -> Result<T, E>) -> Option<T> {
        match self.members.shift_remove(name) {
            Some(value) => self.keep(name, read(&value)),
            None => {
                self.problems.push(format!("{name}: is required"));
                None
            }
        }
    }

    /// Takes a member that may be absent or null.
    pub fn optional<T, E: Display>(&mut self, name: &str, read: impl FnOnce(&Value) -> Result<T, E>) -> Option<T> {
        match self.members.shift_remove(name) {
            None | Some(Value::Null) => None,
            Some(value) => self.keep(name, read(&value)),
        }
    }

    /// Takes a member whatever it is.
    pub fn keep<T>(&mut self, name: &str, read: Result<T, impl Display>) -> Option<T> {
        read.map_err(|error| self.problems.push(format!("{name}: {error}"))).ok()
    }

    /// Everything was taken: what is left has no place here, which in most cases is a misspelt name.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Failure> {
        for name in self.members.keys() {
            let plain = name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            self.problems.push(match plain {
                true => format!("{name}: is no field here"),
                false => "A field with an unusual name is no field here.".to_owned(),
            });
        }
        value.filter(|_| self.problems.is_empty()).ok_or_else(|| OperatorFailure::BadFields(self.problems).into())
    }
}

/// Reads a string.
pub(crate) fn text(value: &Value) -> Result<&str, &'static str> {
    value.as_str().ok_or("must be a string")
}

/// Reads a number.
pub(crate) fn number(value: &Value) -> Result<f64, &'static str> {
    value.as_number().and_then(Number::as_f64).ok_or("must be a number")
}

/// Reads a date-time.
pub(crate) fn time(value: &Value) -> Result<lendpay_domain::Timestamp, &'static str> {
    text(value)?;
    serde_json::from_value::<Time>(value.clone()).map(|time| time.0).map_err(|_| "must be an RFC 3339 date-time")
}

/// Reads a string further.
pub(crate) fn parsed<T, E: Display>(value: &Value, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, String> {
    parse(text(value)?).map_err(|error| error.to_string())
}

/// Reads a number further.
pub(crate) fn decimal<T, E: Display>(value: &Value, parse: impl FnOnce(f64) -> Result<T, E>) -> Result<T, String> {
    parse(number(value)?).map_err(|error| error.to_string())
}

/// Reads one of several names.
pub(crate) fn one_of<T: Copy>(value: &Value, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let found = text(value).ok().and_then(|text| all.iter().copied().find(|one| name(*one) == text));
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|one| name(*one)).collect();
        format!("must be one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_is_told_at_once_without_a_value() {
        let body = br#"{"a":"SECRET","b":1,"c":null,"iban SECRET":1,"nmae":"SECRET"}"#;
        let mut fields = Fields::of(body).expect("an object");
        assert_eq!(fields.required("a", number), None);
        assert_eq!(fields.required("b", |value| text(value).map(str::to_owned)), None);
        assert_eq!(fields.optional("c", number), None);
        assert_eq!(fields.required("d", number), None);
        assert_eq!(fields.optional("e", number), None);
        let Err(Failure::Operator(OperatorFailure::BadFields(problems))) = fields.finish(Some(())) else {
            panic!("refused")
        };
        let wanted = [
            "a: must be a number",
            "b: must be a string",
            "d: is required",
            "A field with an unusual name is no field here.",
            "nmae: is no field here",
        ];
        assert_eq!(problems, wanted);
    }

    #[test]
    fn only_objects_are_read() {
        for body in [&b"[]"[..], b"", b"{\"a\":1,\"a\":1}", b"{", b"null"] {
            assert!(matches!(Fields::of(body), Err(Failure::BadBody(_))));
        }
    }
}
