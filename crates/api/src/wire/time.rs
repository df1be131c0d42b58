//! Times on the wire: RFC 3339 in UTC, with the offset written as `+00:00` and no zeros at the end of the fraction.

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
        const UTC: &str = "+00:00";
        let mut text = self.0.to_rfc3339_opts(SecondsFormat::Nanos, false);
        if text.ends_with(UTC) {
            let digits = text[..text.len() - UTC.len()].trim_end_matches('0').trim_end_matches('.').len();
            text.truncate(digits);
            text.push_str(UTC);
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let parsed =
            DateTime::parse_from_rfc3339(&text).map_err(|_| D::Error::custom("must be an RFC 3339 date-time"))?;
        Ok(Self(parsed.to_utc()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_out_as_in_the_contracts_sample() {
        for (given, written) in [
            ("2022-06-03T12:15:44.0503342+00:00", "2022-06-03T12:15:44.0503342+00:00"),
            ("2022-06-03T12:15:44Z", "2022-06-03T12:15:44+00:00"),
            ("2022-06-03T12:15:40.100Z", "2022-06-03T12:15:40.1+00:00"),
            ("2022-06-03T14:15:40+02:00", "2022-06-03T12:15:40+00:00"),
            ("2022-06-03T12:00:00.000000001Z", "2022-06-03T12:00:00.000000001+00:00"),
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
