//! Reading bodies of both sides: one JSON object, strictly (contract 2.4, 2.6). Everything that is wrong with its
//! members is reported at once, and no message quotes a value.

use super::time::Time;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::fmt::{self, Display};

/// The largest integer that every reader of JSON has without rounding (RFC 8259, section 6).
pub(crate) const EXACT_MAX: u64 = (1 << 53) - 1;

/// What is wrong with what is no whole number up to that.
pub(crate) const NOT_EXACT: &str = "must be a whole number from 0 to 9007199254740991";

/// How deep objects and arrays may be nested, the body itself included.
pub(crate) const MAX_DEPTH: usize = 32;

const NO_OBJECT: &str = "The body is not a JSON object";
const TWICE: &str = "An object has the same member twice";
const DEEP: &str = "Objects and arrays are nested more than 32 levels deep";

/// A JSON value. Objects are searched from the front: what is read here has few members.
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Self>),
    Object(Members),
}

/// The members of an object, in the order in which they were sent. No name comes twice.
pub(crate) type Members = Vec<(String, Value)>;

impl Value {
    /// The text, if it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

/// The members of a JSON object, and what was wrong with those that have been taken.
pub(crate) struct Fields {
    /// Before each name in messages.
    prefix: &'static str,
    members: Members,
    taken: Vec<&'static str>,
    problems: Vec<String>,
}

impl Fields {
    /// Reads a body, which must be one JSON object without duplicate members. The error is a sentence for `errors`.
    pub fn of(body: &[u8]) -> Result<Self, String> {
        if body.is_empty() {
            return Err("The body is empty; it must be a JSON object.".to_owned());
        }
        let mut json = serde_json::Deserializer::from_slice(body);
        let value = Strict { depth: 1 }.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
        match value.map_err(|error| explain(&error))? {
            Value::Object(members) => Ok(Self::within("", members)),
            _ => Err(format!("{NO_OBJECT}.")),
        }
    }

    /// The members of an object; `prefix` is before each name in messages.
    pub const fn within(prefix: &'static str, members: Members) -> Self {
        Self { prefix, members, taken: Vec::new(), problems: Vec::new() }
    }

    /// Every member as it is.
    pub fn into_members(self) -> Members {
        self.members
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.taken.push(name);
        let member = self.members.iter_mut().find(|member| member.0 == name);
        member.map(|(_, value)| std::mem::replace(value, Value::Null))
    }

    fn note(&mut self, name: &str, problem: impl Display) {
        self.problems.push(format!("{}{name}: {problem}", self.prefix));
    }

    /// Takes a member that must be there.
    pub fn required<T, E: Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Value) -> Result<T, E>,
    ) -> Option<T> {
        match self.take(name).ok_or("is required") {
            Ok(value) => read(value).map_err(|error| self.note(name, error)).ok(),
            Err(problem) => {
                self.note(name, problem);
                None
            }
        }
    }

    /// Takes a member that may be absent or null.
    pub fn optional<T, E: Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Value) -> Result<T, E>,
    ) -> Option<T> {
        let value = self.take(name).filter(|value| !matches!(value, Value::Null))?;
        read(value).map_err(|error| self.note(name, error)).ok()
    }

    /// Takes a member that may be absent, but not null.
    pub fn given<T, E: Display>(&mut self, name: &'static str, read: impl FnOnce(Value) -> Result<T, E>) -> Option<T> {
        let value = self.take(name)?;
        read(value).map_err(|error| self.note(name, error)).ok()
    }

    /// Takes a member that is an object, absent or null, and reads its members; `prefix` is its name with a dot.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        prefix: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let members = self.optional(name, |value| match value {
            Value::Object(members) => Ok(members),
            _ => Err("must be an object"),
        })?;
        let mut inner = Self::within(prefix, members);
        let value = read(&mut inner);
        self.problems.append(&mut inner.problems);
        Some(value)
    }

    /// What was wrong. Members that nobody took are ignored.
    pub fn problems(self) -> Vec<String> {
        self.problems
    }

    /// The value, if nothing was wrong. Members that nobody took are refused: in most cases a name is misspelt.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<String>> {
        let names = self.members.iter().map(|(name, _)| name);
        let others = names.filter(|name| !self.taken.contains(&name.as_str()));
        self.problems.extend(others.map(|name| unknown("field", name)));
        value.filter(|_| self.problems.is_empty()).ok_or(self.problems)
    }
}

/// Says that a name that was sent is not known, and quotes it only if it can hold nothing secret.
pub(crate) fn unknown(what: &str, name: &str) -> String {
    let plain = name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain {
        format!("{name}: is not a known {what}")
    } else {
        format!("A {what} with an unusual name is not known.")
    }
}

/// Our words for serde's: its own would quote the value.
fn explain(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let what = match error.classify() {
        serde_json::error::Category::Data if error.to_string().starts_with(TWICE) => TWICE,
        serde_json::error::Category::Data => DEEP,
        serde_json::error::Category::Eof => "The body ends in the middle of the JSON",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "The body is not valid JSON",
    };
    format!("{what} (line {line}, column {column}).")
}

/// Whether a name comes twice. The cost of many names does not depend on their order.
fn has_duplicate(members: &Members) -> bool {
    /// So many are compared with each other: sorting them takes longer.
    const FEW: usize = 16;
    if members.len() <= FEW {
        return members.iter().enumerate().any(|(n, (name, _))| members[..n].iter().any(|(before, _)| before == name));
    }
    let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.windows(2).any(|two| two[0] == two[1])
}

/// Reads any value, and refuses what serde would let through: duplicate members and nesting without end.
#[derive(Clone, Copy)]
struct Strict {
    /// Of this value, if it is an object or an array.
    depth: usize,
}

impl Strict {
    /// Reads what is inside of this value.
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth > MAX_DEPTH { Err(E::custom(DEEP)) } else { Ok(Self { depth: self.depth + 1 }) }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (inner, mut members) = (self.inner()?, Members::new());
        while let Some(name) = map.next_key::<String>()? {
            members.push((name, map.next_value_seed(inner)?));
        }
        if has_duplicate(&members) { Err(A::Error::custom(TWICE)) } else { Ok(Value::Object(members)) }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let (inner, mut items) = (self.inner()?, Vec::new());
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(Number::from_f64(number).expect("JSON has finite numbers only")))
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }
}

/// Reads a string.
pub(crate) fn text(value: Value) -> Result<String, &'static str> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err("must be a string"),
    }
}

/// Reads an integer of 32 bits.
pub(crate) fn integer(value: Value) -> Result<i32, &'static str> {
    value
        .number()
        .and_then(Number::as_i64)
        .and_then(|number| number.try_into().ok())
        .ok_or("must be an integer of 32 bits")
}

/// Reads a whole number that is not negative.
pub(crate) fn whole(value: Value) -> Option<u64> {
    value.number().and_then(Number::as_u64)
}

/// Reads a date-time.
pub(crate) fn time(value: Value) -> Result<lendpay_domain::Timestamp, &'static str> {
    Time::parse(&text(value)?).map(|time| time.0)
}

/// Reads a string further.
pub(crate) fn parsed<T, E: Display>(value: Value, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, String> {
    parse(&text(value)?).map_err(|error| error.to_string())
}

/// Reads an id.
pub(crate) fn id<T>(value: Value, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, String> {
    parsed(value, |text| parse(text).ok_or("must be a UUID of 36 characters"))
}

/// Reads a number further.
pub(crate) fn decimal<T, E: Display>(value: Value, parse: impl FnOnce(f64) -> Result<T, E>) -> Result<T, String> {
    parse(value.number().and_then(Number::as_f64).ok_or("must be a number")?).map_err(|error| error.to_string())
}

/// Reads one of several names.
pub(crate) fn one_of<T: Copy>(value: Option<&str>, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let found = value.and_then(|text| all.iter().copied().find(|one| name(*one) == text));
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|one| name(*one)).collect();
        format!("must be one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn everything_wrong_is_reported_at_once_without_a_value() {
        let body = br#"{"a":"SECRET","b":1,"c":null,"iban SECRET":1,"nmae":"SECRET"}"#;
        let mut fields = Fields::of(body).expect("an object");
        assert_eq!(fields.required("a", integer), None);
        assert_eq!(fields.required("b", text), None);
        assert_eq!(fields.optional("c", integer), None);
        assert_eq!(fields.required("d", integer), None);
        assert_eq!(fields.optional("e", integer), None);
        let wanted = [
            "a: must be an integer of 32 bits",
            "b: must be a string",
            "d: is required",
            "A field with an unusual name is not known.",
            "nmae: is not a known field",
        ];
        assert_eq!(fields.finish(Some(())).expect_err("refused"), wanted);
    }

    #[test]
    fn what_is_no_json_object_is_refused_with_its_position() {
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
            ("{\"name\":\"a\u{1}b\"}", "The body is not valid JSON"),
            ("{\"name\":1e999}", "The body is not valid JSON"),
            ("\u{feff}{}", "The body is not valid JSON"),
        ] {
            let problem = Fields::of(body.as_bytes()).err().expect("refused");
            assert!(problem.starts_with(start) && !problem.contains("SECRET"), "{body}: {problem}");
        }
        let problem = Fields::of(b"{\"name\":\"\xff\"}").err();
        assert_eq!(problem.as_deref(), Some("The body is not valid JSON (line 1, column 10)."));
    }

    #[test]
    fn the_same_member_twice_is_refused_at_any_depth() {
        for body in [
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","n\u0061me":"b"}"#,
            r#"{"bankAccount":{"iban":"a","iban":"a"}}"#,
            r#"{"x":[{"y":{"z":1,"z":2}}]}"#,
        ] {
            assert!(Fields::of(body.as_bytes()).is_err_and(|problem| problem.starts_with(TWICE)), "{body}");
        }
    }

    #[test]
    fn nesting_ends_at_32_levels() {
        for (open, close, inside) in [("[", "]", "1"), ("{\"a\":", "}", "1"), ("[", "]", "")] {
            let nested = |levels: usize| {
                format!("{{\"x\":{}{inside}{}}}", open.repeat(levels - 1), close.repeat(levels - 1)).into_bytes()
            };
            assert!(Fields::of(&nested(32)).is_ok());
            for levels in [33, 120] {
                assert!(Fields::of(&nested(levels)).is_err_and(|problem| problem.starts_with(DEEP)), "{levels}");
            }
        }
    }

    #[test]
    fn members_cost_the_same_in_any_order() {
        // More than a request may have: a sorted list of names took 14 times as long for the second.
        let time = |names: &mut dyn Iterator<Item = u32>| {
            let members: Vec<_> = names.map(|n| format!("\"{n}\":0")).collect();
            let body = format!("{{{}}}", members.join(","));
            let start = Instant::now();
            assert!(Fields::of(body.as_bytes()).is_ok());
            start.elapsed()
        };
        let names = 1_000_000..1_100_000;
        let (ascending, descending) = (time(&mut names.clone()), time(&mut names.rev()));
        assert!(descending < ascending * 6, "{ascending:?} {descending:?}");
    }
}
