//! Times on the wire (contract 2.12): RFC 3339. Written in UTC with `Z` and 0, 3, 6 or 9 digits of fraction, which
//! every common parser and validator takes; read with any offset and 0 to 9 digits.

use super::wire_type;
use chrono::{DateTime, SecondsFormat};
use lendpay_domain::Timestamp;
use poem_openapi::registry::MetaSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Timestamp);

wire_type!(Time, "Time", schema: MetaSchema::new_with_format("string", "date-time"));

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl Time {
    /// As it is written.
    pub fn text(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true)
    }

    /// Reads RFC 3339.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let time = DateTime::parse_from_rfc3339(text).map_err(|_| "must be an RFC 3339 date-time")?;
        Ok(Self(time.to_utc()))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Cow::<str>::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_z_and_0_3_6_or_9_digits() {
        for (given, written) in [
            ("2022-06-03T12:15:44.0503342+00:00", "2022-06-03T12:15:44.050334200Z"),
            ("2022-06-03T12:15:44Z", "2022-06-03T12:15:44Z"),
            ("2022-06-03T12:15:40.100Z", "2022-06-03T12:15:40.100Z"),
            ("2022-06-03T12:15:40.67567Z", "2022-06-03T12:15:40.675670Z"),
            ("2022-06-03T14:15:40+02:00", "2022-06-03T12:15:40Z"),
            ("2022-06-03T12:00:00.000000001Z", "2022-06-03T12:00:00.000000001Z"),
        ] {
            let time: Time = serde_json::from_value(given.into()).expect("RFC 3339");
            assert_eq!(serde_json::to_value(time).expect("a string"), written);
        }
    }

    #[test]
    fn what_is_no_date_time_is_refused() {
        for text in ["", "2022-06-03", "2022-06-03T12:15:44", "1654258544", "2022-02-30T00:00:00Z"] {
            assert!(serde_json::from_value::<Time>(text.into()).is_err(), "{text}");
        }
    }
}
