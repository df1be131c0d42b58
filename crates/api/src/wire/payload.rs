//! Reading the payload of CreateBuyer (contract 2.4, 2.6): strict about JSON, patient with everything else.
//!
//! One pass over the bytes. It refuses what serde's derives would let through (an array for an object, the same member
//! twice, nesting without end) and collects every wrong type instead of stopping at the first. No message quotes a value.

use lendpay_domain::buyer::{BankAccount, Description};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// How deep objects and arrays may be nested, the body itself included.
const MAX_DEPTH: usize = 32;

/// A payload that is JSON: what it describes, and which fields have a wrong type.
pub(crate) struct Payload {
    pub description: Description,
    pub problems: Vec<String>,
}

/// Checks that a body is one JSON object, in the bounds that hold for every body, without reading its members.
pub(crate) fn check(body: &[u8]) -> Result<(), String> {
    if body.is_empty() {
        return Err("The body is empty; it must be a JSON object.".to_owned());
    }
    let mut json = serde_json::Deserializer::from_slice(body);
    let object = Object { fields: &mut NoFields, depth: 1 };
    object.deserialize(&mut json).and_then(|()| json.end()).map_err(|error| explain(&error))
}

/// Parses a body. The error is a sentence for `errors`.
pub(crate) fn parse(body: &[u8]) -> Result<Payload, String> {
    if body.is_empty() {
        return Err("The body is empty; the smallest that is accepted is {}.".to_owned());
    }
    let mut payload = Payload { description: Description::default(), problems: Vec::new() };
    let mut json = serde_json::Deserializer::from_slice(body);
    let object = Object { fields: &mut BuyerFields(&mut payload), depth: 1 };
    object.deserialize(&mut json).and_then(|()| json.end()).map_err(|error| explain(&error))?;
    Ok(payload)
}

/// Our words for serde's: its own would quote the value.
fn explain(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let what = match error.classify() {
        serde_json::error::Category::Data => {
            let text = error.to_string();
            [TWICE, DEEP].into_iter().find(|known| text.starts_with(known)).unwrap_or(NO_OBJECT)
        }
        serde_json::error::Category::Eof => "The body ends in the middle of the JSON",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "The body is not valid JSON",
    };
    format!("{what} (line {line}, column {column}).")
}

const NO_OBJECT: &str = "The body is not a JSON object";
const TWICE: &str = "An object has the same member twice";
const DEEP: &str = "Objects and arrays are nested more than 32 levels deep";

/// Takes the members of an object that it knows.
trait Fields {
    /// Takes the value of `name` if the object has such a field, and says so. `depth` is that of the object.
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, depth: usize, map: &mut A) -> Result<bool, A::Error>;
}

struct BuyerFields<'p>(&'p mut Payload);

impl Fields for BuyerFields<'_> {
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, depth: usize, map: &mut A) -> Result<bool, A::Error> {
        let Payload { description, problems } = &mut *self.0;
        match name {
            "name" => text(map, depth, "name", &mut description.name, problems)?,
            "registrationNumber" => {
                text(map, depth, "registrationNumber", &mut description.registration_number, problems)?;
            }
            "countryCode" => text(map, depth, "countryCode", &mut description.country_code, problems)?,
            "type" => match map.next_value_seed(Value { depth: depth + 1 })? {
                Found::Null => {}
                Found::Integer(number) => description.kind = Some(number),
                Found::Text(_) | Found::Other => problems.push("type: must be an integer of 32 bits".to_owned()),
            },
            "bankAccount" => {
                let mut account = BankAccount::default();
                let mut fields = AccountFields(&mut account, problems);
                match map.next_value_seed(ObjectOrOther(Object { fields: &mut fields, depth: depth + 1 }))? {
                    Shape::Object => description.bank_account = Some(account),
                    Shape::Null => {}
                    Shape::Other => problems.push("bankAccount: must be an object".to_owned()),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

struct AccountFields<'p>(&'p mut BankAccount, &'p mut Vec<String>);

impl Fields for AccountFields<'_> {
    fn take<'de, A: MapAccess<'de>>(&mut self, name: &str, depth: usize, map: &mut A) -> Result<bool, A::Error> {
        let Self(account, problems) = self;
        let (path, slot) = match name {
            "currencyCode" => ("bankAccount.currencyCode", &mut account.currency_code),
            "accountName" => ("bankAccount.accountName", &mut account.account_name),
            "sortCode" => ("bankAccount.sortCode", &mut account.sort_code),
            "accountNumber" => ("bankAccount.accountNumber", &mut account.account_number),
            "bic" => ("bankAccount.bic", &mut account.bic),
            "accountType" => ("bankAccount.accountType", &mut account.account_type),
            "iban" => ("bankAccount.iban", &mut account.iban),
            _ => return Ok(false),
        };
        text(map, depth, path, slot, problems)?;
        Ok(true)
    }
}

/// Reads a string or null into `slot`; anything else is a problem.
fn text<'de, A: MapAccess<'de>>(
    map: &mut A,
    depth: usize,
    path: &str,
    slot: &mut Option<String>,
    problems: &mut Vec<String>,
) -> Result<(), A::Error> {
    match map.next_value_seed(Value { depth: depth + 1 })? {
        Found::Null => {}
        Found::Text(text) => *slot = Some(text),
        Found::Integer(_) | Found::Other => problems.push(format!("{path}: must be a string")),
    }
    Ok(())
}

/// Reads the members of an object, known or not; refuses a name that comes twice.
fn members<'de, A: MapAccess<'de>>(fields: &mut impl Fields, depth: usize, mut map: A) -> Result<(), A::Error> {
    if depth > MAX_DEPTH {
        return Err(A::Error::custom(DEEP));
    }
    // Objects here have a handful of members; more make it a sorted search.
    let mut names: Vec<Cow<'de, str>> = Vec::new();
    while let Some(Name(name)) = map.next_key()? {
        match names.binary_search(&name) {
            Ok(_) => return Err(A::Error::custom(TWICE)),
            Err(at) => {
                if !fields.take(&name, depth, &mut map)? {
                    map.next_value_seed(Value { depth: depth + 1 })?;
                }
                names.insert(at, name);
            }
        }
    }
    Ok(())
}

/// A member's name, borrowed from the body where it has no escapes.
struct Name<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Reads an object and nothing else.
struct Object<'f, F> {
    fields: &'f mut F,
    depth: usize,
}

impl<'de, F: Fields> DeserializeSeed<'de> for Object<'_, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for Object<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        members(self.fields, self.depth, map)
    }
}

enum Shape {
    Object,
    Null,
    Other,
}

/// Reads an object, and notices when it is something else.
struct ObjectOrOther<'f, F>(Object<'f, F>);

impl<'de, F: Fields> DeserializeSeed<'de> for ObjectOrOther<'_, F> {
    type Value = Shape;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for ObjectOrOther<'_, F> {
    type Value = Shape;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Shape, A::Error> {
        self.0.visit_map(map).map(|()| Shape::Object)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Shape, A::Error> {
        elements(self.0.depth, seq).map(|()| Shape::Other)
    }
    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Other)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Other)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::Other)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Other)
    }
    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Other)
    }
}

/// What a value was.
enum Found {
    Null,
    Integer(i32),
    Text(String),
    Other,
}

/// Reads any value at `depth`, checking nesting and names all the way down.
struct Value {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Found;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Found;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Found, A::Error> {
        members(&mut NoFields, self.depth, map).map(|()| Found::Other)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Found, A::Error> {
        elements(self.depth, seq).map(|()| Found::Other)
    }
    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Null)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        Ok(Found::Other)
    }
    fn visit_i64<E>(self, number: i64) -> Result<Found, E> {
        Ok(i32::try_from(number).map_or(Found::Other, Found::Integer))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Found, E> {
        Ok(i32::try_from(number).map_or(Found::Other, Found::Integer))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        Ok(Found::Other)
    }
    fn visit_str<E>(self, text: &str) -> Result<Found, E> {
        Ok(Found::Text(text.to_owned()))
    }
}

struct NoFields;

impl Fields for NoFields {
    fn take<'de, A: MapAccess<'de>>(&mut self, _: &str, _: usize, _: &mut A) -> Result<bool, A::Error> {
        Ok(false)
    }
}

/// Reads an array that nobody asked for.
fn elements<'de, A: SeqAccess<'de>>(depth: usize, mut seq: A) -> Result<(), A::Error> {
    if depth > MAX_DEPTH {
        return Err(A::Error::custom(DEEP));
    }
    while seq.next_element_seed(Value { depth: depth + 1 })?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(body: &str) -> Vec<String> {
        match parse(body.as_bytes()) {
            Ok(payload) => payload.problems,
            Err(problem) => vec![problem],
        }
    }

    #[test]
    fn fields_are_read_and_null_and_unknown_ones_ignored() {
        let body = r#"{"name":"A\u00e9","type":0,"x":[1,{"name":2}],"registrationNumber":null,
            "bankAccount":{"iban":"I","bic":null,"y":{}}}"#;
        let payload = parse(body.as_bytes()).expect("good JSON");
        assert_eq!(payload.problems, Vec::<String>::new());
        assert_eq!(payload.description.name.as_deref(), Some("Aé"));
        assert_eq!(payload.description.kind, Some(0));
        assert_eq!(payload.description.registration_number, None);
        let account = payload.description.bank_account.expect("an account");
        assert_eq!((account.iban.as_deref(), account.bic), (Some("I"), None));
    }

    #[test]
    fn wrong_types_are_all_reported_by_path_without_their_values() {
        let body = r#"{"name":1,"countryCode":true,"type":"0","registrationNumber":{"a":1},
            "bankAccount":{"iban":["SECRET"],"bic":1.5}}"#;
        let wanted = [
            "name: must be a string",
            "countryCode: must be a string",
            "type: must be an integer of 32 bits",
            "registrationNumber: must be a string",
            "bankAccount.iban: must be a string",
            "bankAccount.bic: must be a string",
        ];
        assert_eq!(problems(body), wanted);
        for kind in ["0.0", "2147483648", "-2147483649", "1e3", "true", "[]"] {
            assert_eq!(problems(&format!(r#"{{"type":{kind}}}"#)), ["type: must be an integer of 32 bits"], "{kind}");
        }
        for account in ["[]", "1", "\"x\"", "true", "-1", "1.5", "[{\"iban\":\"x\"}]"] {
            assert_eq!(problems(&format!(r#"{{"bankAccount":{account}}}"#)), ["bankAccount: must be an object"]);
        }
        assert!(problems(r#"{"bankAccount":null}"#).is_empty());
    }

    #[test]
    fn what_is_no_json_object_is_refused_with_its_place() {
        for (body, start) in [
            ("", "The body is empty"),
            ("[]", NO_OBJECT),
            ("null", NO_OBJECT),
            ("\"SECRET\"", NO_OBJECT),
            ("12", NO_OBJECT),
            ("{", "The body ends in the middle"),
            ("{\"name\":\"SECRET", "The body ends in the middle"),
            ("{} x", "The body is not valid JSON"),
            ("{name:1}", "The body is not valid JSON"),
            ("{\"name\":\"\\ud800\"}", "The body is not valid JSON"),
            ("{\"x\":\"\\ud800\"}", "The body is not valid JSON"),
            ("{\"name\":\"a\u{1}b\"}", "The body is not valid JSON"),
            ("\u{feff}{}", "The body is not valid JSON"),
        ] {
            let found = problems(body);
            assert!(found.len() == 1 && found[0].starts_with(start), "{body}: {found:?}");
            assert!(!found[0].contains("SECRET"), "{found:?}");
        }
        let found = parse(b"{\"name\":\"\xff\"}").err();
        assert_eq!(found.as_deref(), Some("The body is not valid JSON (line 1, column 10)."));
    }

    #[test]
    fn the_same_member_twice_is_refused_at_any_depth() {
        for body in [
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","n\u0061me":"b"}"#,
            r#"{"x":1,"x":1}"#,
            r#"{"bankAccount":{"iban":"a","iban":"a"}}"#,
            r#"{"x":[{"y":{"z":1,"z":2}}]}"#,
        ] {
            assert!(problems(body)[0].starts_with(TWICE), "{body}");
        }
    }

    #[test]
    fn nesting_ends_at_32_levels() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for inside in ["x", "bankAccount"] {
                let nested = |levels: usize| {
                    format!("{{\"{inside}\":{}1{}}}", open.repeat(levels - 1), close.repeat(levels - 1))
                };
                assert!(!problems(&nested(32)).iter().any(|problem| problem.starts_with(DEEP)), "{inside}");
                assert!(problems(&nested(33))[0].starts_with(DEEP), "{inside}");
                assert!(problems(&nested(120))[0].starts_with(DEEP), "{inside}");
            }
        }
    }
}
