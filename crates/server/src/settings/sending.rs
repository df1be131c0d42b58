//! How webhooks are sent.

use super::values::{seconds, span};
use clap::Args;
use ipnet::IpNet;
use lendpay_domain::webhook::Retries;
use std::time::Duration;

/// What delivery may be told.
#[derive(Debug, Args)]
pub struct Sending {
    /// How long an endpoint of webhooks may take to answer, in seconds.
    #[arg(long, env = "LENDPAY_WEBHOOK_TIMEOUT", value_name = "SECONDS", default_value = "15", value_parser = seconds(1))]
    pub webhook_timeout: Duration,

    /// When an event is sent again that an endpoint did not take: the wait after the first failure, the second and so
    /// on, the last of them again and again; and after a slash, for how long.
    #[arg(long, env = "LENDPAY_WEBHOOK_RETRIES", value_name = "WAITS/TIME", default_value = "5s,30s,2m,10m,30m,2h,6h,12h/7d", value_parser = retries)]
    pub webhook_retries: Retries,

    /// Addresses that webhooks may be sent to besides those of the Internet, such as 10.1.0.0/16; repeat it, or
    /// separate them with commas.
    #[arg(long, env = "LENDPAY_WEBHOOK_ALLOW", value_name = "RANGE", value_delimiter = ',', value_parser = range)]
    pub webhook_allow: Vec<IpNet>,
}

/// Reads `--webhook-retries`.
fn retries(text: &str) -> Result<Retries, String> {
    let wrong = || "write waits and a time, such as 5s,30s,2m,1h/7d".to_owned();
    let (waits, lasting) = text.split_once('/').ok_or_else(wrong)?;
    let waits = waits.split(',').map(|wait| span(wait).ok().filter(|wait| !wait.is_zero())).collect::<Option<_>>();
    let lasting = span(lasting).ok().filter(|time| !time.is_zero());
    waits.zip(lasting).and_then(|(waits, lasting)| Retries::new(waits, lasting)).ok_or_else(wrong)
}

/// Reads a range of addresses.
fn range(text: &str) -> Result<IpNet, String> {
    let range = text.parse::<IpNet>().ok().filter(|range| range.addr() == range.network());
    range.ok_or_else(|| "write a range such as 10.1.0.0/16 or fd00:1::/32, or 10.1.2.3/32 for one address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_contracts_schedule() {
        assert_eq!(retries("5s,30s,2m,10m,30m,2h,6h,12h/7d"), Ok(Retries::default()));
    }

    #[test]
    fn a_schedule_has_waits_and_a_time() {
        let wanted = Retries::new(vec![Duration::from_secs(1), Duration::from_mins(2)], Duration::from_hours(1));
        assert_eq!(retries("1s,2m/1h").ok(), wanted);
        for text in ["", "5s", "/7d", "5s/", "5s,/7d", "5/7d", "0s/7d", "5s/0d", "5s/7d/7d", "5s 30s/7d"] {
            assert!(retries(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_is_a_network() {
        for text in ["10.0.0.0/8", "127.0.0.1/32", "fd00::/8", "::1/128"] {
            assert!(range(text).is_ok(), "{text}");
        }
        for text in ["", "10.0.0.1", "10.0.0.1/8", "10.0.0.0/33", "localhost/8", "fd00::1/8"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
