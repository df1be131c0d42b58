//! Times on the command line.

use chrono::{DateTime, NaiveDate, SecondsFormat};

/// Reads an RFC 3339 date-time, or a date, which means its beginning in UTC. Gives it in UTC with `Z`.
pub fn moment(text: &str) -> Result<String, &'static str> {
    let date = || Some(text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?.and_utc());
    let time = DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc()).or_else(date);
    let time = time.ok_or("write a date such as 2026-11-23, or a date-time such as 2026-11-23T12:00:00Z")?;
    Ok(time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
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
}
