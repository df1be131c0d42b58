//! Parameters of lists, the same for partners and for the operator. They are judged after the caller.

use super::Parameter;
use lendpay_domain::page::Window;
use serde_json::json;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Where a page begins.
pub(crate) const AFTER: Parameter = Parameter {
    name: "after",
    description: "`next` of the page before.",
    schema: || json!({ "type": "string", "minLength": 1 }),
};

/// Where a page of events begins.
pub(crate) const AFTER_SEQUENCE: Parameter = Parameter {
    description: "The last event that was seen: `next` of the page before, or `history`, a colon and the event's `sequence`. A \
                  sequence alone is accepted too, but what a restored store has given again is not noticed then. 0 or absent: \
                  from the beginning.",
    ..AFTER
};

/// How many items are wanted.
pub(crate) const LIMIT: Parameter = Parameter {
    name: "limit",
    description: "The most items that are wanted. A page of offers or buyers has 200 at most, and then a `next`.",
    schema: || {
        let (minimum, maximum) = (LIMITS.start(), LIMITS.end());
        json!({ "type": "integer", "format": "int32", "default": DEFAULT_LIMIT, "maximum": maximum, "minimum": minimum })
    },
};

/// For how long a reader of events waits.
pub(crate) const WAIT: Parameter = Parameter {
    name: "wait",
    description: "How many seconds to wait for an event if there is none yet. The answer comes as soon as there is one, and is an \
                  empty page if none comes, or if the service ends.",
    schema: || json!({ "type": "integer", "format": "int32", "default": 0, "maximum": 25.0, "minimum": 0.0 }),
};

/// Reads [`WAIT`].
pub(crate) fn wait(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= 25);
    seconds.map(Duration::from_secs).ok_or("must be a whole number from 0 to 25")
}

/// Which buyers are wanted.
pub(crate) const REGISTRATION_NUMBER: Parameter = Parameter {
    name: "registrationNumber",
    description: "Only buyers with exactly this registration number.",
    schema: || json!({ "type": "string" }),
};

/// Which offers are wanted.
pub(crate) const STATUS: Parameter = Parameter {
    name: "status",
    description: "Only offers that have this status now.",
    schema: || json!({ "$ref": "#/components/schemas/OfferStatus" }),
};

/// The most items that may be wanted.
pub(crate) const MOST: usize = 500;

/// How many items may be wanted.
const LIMITS: RangeInclusive<usize> = 1..=MOST;

/// How many are wanted when nobody says.
const DEFAULT_LIMIT: usize = 100;

/// What a `limit` must be.
pub(crate) const BAD_LIMIT: &str = "limit: must be a whole number from 1 to 500";

/// The window that `after` and `limit` ask for, or what is wrong with them; `cursor` reads the first.
pub(crate) fn window<C>(
    after: Option<&str>,
    limit: Option<&str>,
    cursor: impl Fn(&str) -> Option<C>,
) -> Result<Window<C>, Vec<String>> {
    let after = after.map(|text| cursor(text).ok_or("after: must be what an earlier answer gave")).transpose();
    let limit = limit.map_or(Some(DEFAULT_LIMIT), |text| text.parse().ok().filter(|limit| LIMITS.contains(limit)));
    match (after, limit.ok_or(BAD_LIMIT)) {
        (Ok(after), Ok(limit)) => Ok(Window { after, limit }),
        (after, limit) => Err([after.err(), limit.err()].into_iter().flatten().map(str::to_owned).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lendpay_domain::KeyId;

    #[test]
    fn a_window_has_1_to_500_items() {
        let window = |after, limit| window(after, limit, KeyId::parse).map(|window| window.limit);
        assert_eq!(window(None, None), Ok(100));
        assert_eq!(window(None, Some("1")), Ok(1));
        assert_eq!(window(Some("3e7b118e-bb4c-4e4b-981d-a62526cbbdce"), Some("500")), Ok(500));
        for bad in ["", "0", "501", "-1", "1.0", "x", "99999999999999999999"] {
            assert!(window(None, Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(window(Some(""), Some("0")).expect_err("refused").len(), 2);
    }
}
