//! Times on the command line.

use chrono::{DateTime, NaiveDate, SecondsFormat};
use std::time::Duration;

/// Reads an RFC 3339 date-time, or a date, which means its beginning in UTC. Gives it in UTC with `Z`.
pub fn moment(text: &str) -> Result<String, &'static str> {
    let date = || Some(text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?.and_utc());
    let time = DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc()).or_else(date);
    let time = time.ok_or("write a date such as 2026-11-23, or a date-time such as 2026-11-23T12:00:00Z")?;
    Ok(time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

/// Reads a number with a unit: s, m, h or d.
pub fn span(text: &str) -> Result<Duration, &'static str> {
    const WRONG: &str = "write a number and a unit, such as 90s, 30m, 12h or 7d";
    let seconds = match text.char_indices().last() {
        Some((end, 's')) => (end, 1),
        Some((end, 'm')) => (end, 60),
        Some((end, 'h')) => (end, 3_600),
        Some((end, 'd')) => (end, 86_400),
        _ => return Err(WRONG),
    };
    let number: u32 = text[..seconds.0].parse().map_err(|_| WRONG)?;
    Ok(Duration::from_secs(u64::from(number) * seconds.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_or_a_date_time() {
        for (text, wanted) in [
            ("2026-11-23", "2026-11-23T00:00:00Z"),
            ("2026-11-23T01:30:00.5+02:00", "2026-11-22T23:30:00.500Z"),
            ("2026-11-23T01:30:00Z", "2026-11-23T01:30:00Z"),
        ] {
            assert_eq!(moment(text).as_deref(), Ok(wanted));
        }
        for text in ["", "tomorrow", "2026-02-30", "23.11.2026", "2026-11-23T01:30:00"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_is_a_number_with_a_unit() {
        for (text, wanted) in [("0s", 0), ("90s", 90), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800)] {
            assert_eq!(span(text), Ok(Duration::from_secs(wanted)));
        }
        for text in ["", "7", "d", "-1d", "1.5h", "7 d", "7w", "99999999999d", "1é"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
