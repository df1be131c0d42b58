//! Values of settings, read from text.

use lendpay_domain::rate::{BadRateLimit, RateLimit};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;
use tracing_subscriber::filter::Targets;

/// Reads an address or a name of this machine, and a port.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    let found: Vec<_> = text.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    // A name such as localhost has an address of each kind; clients try both.
    let address = found.iter().find(|address| address.is_ipv4()).or(found.first());
    address.copied().ok_or_else(|| "write an address or a name of this machine, and a port: 127.0.0.1:8080".to_owned())
}

/// Reads what `Targets` reads, but takes nothing that is empty or no level for one.
pub fn log_levels(text: &str) -> Result<Targets, String> {
    let is_level = |text: &str| ["off", "error", "warn", "info", "debug", "trace"].contains(&text);
    let is_target =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:-".contains(&b));
    let good = text.split(',').all(|part| match part.split_once('=') {
        Some((target, level)) => is_target(target) && is_level(level),
        None => is_level(part),
    });
    let wrong = "write a level (off, error, warn, info, debug, trace), and if wanted levels of targets: \
                 warn,lendpay::request=info";
    text.parse().ok().filter(|_| good).ok_or_else(|| wrong.to_owned())
}

/// Reads a share of the whole.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1".to_owned())
}

/// Reads whole seconds, an hour at the most.
pub fn seconds(least: u64) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| match text.parse() {
        Ok(seconds) if (least..=3_600).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("write a whole number of seconds from {least} to 3600")),
    }
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

/// The longest time that calls are kept: ten years.
const LONGEST: Duration = Duration::from_hours(3_650 * 24);

/// Reads `--operations-kept`.
pub fn kept(text: &str) -> Result<Duration, &'static str> {
    let time = span(text)?;
    let good = (Duration::from_secs(1)..=LONGEST).contains(&time);
    if good { Ok(time) } else { Err("write a time from 1s to 3650d") }
}

/// A limit, or none. Under a name of its own: clap would take an `Option` for a setting that may be left out.
pub type Rate = Option<RateLimit>;

/// Reads `--rate-limit`.
pub fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "off" => Ok(None),
        text => text.parse().map(Some).map_err(|error: BadRateLimit| format!("{error}, or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_limit_is_a_limit_or_off() {
        assert_eq!(rate("off"), Ok(None));
        assert_eq!(rate("2000/300s"), Ok(Some(RateLimit::DEFAULT)));
        assert!(rate("none").is_err_and(|problem| problem.contains("off")));
    }

    #[test]
    fn what_is_logged_is_levels_and_nothing_else() {
        for text in ["info", "off", "trace", "warn,lendpay::serve=info", "info,lendpay::request=off,h2=debug"] {
            assert!(log_levels(text).is_ok(), "{text}");
        }
        for text in ["", "inof", "blah=,,", "blah=", "=info", "info,", "info,,warn", "lendpay", "a=b", "x[y]=info", "5"]
        {
            assert!(log_levels(text).is_err_and(|problem| problem.contains("lendpay::request=info")), "{text}");
        }
    }

    #[test]
    fn a_listener_may_be_named() {
        assert_eq!(socket_address("[::1]:1"), Ok("[::1]:1".parse().expect("an address")));
        assert!(socket_address("localhost:9185").is_ok_and(|it| it.ip().is_loopback() && it.port() == 9185));
        for text in ["", "8080", ":8080", "127.0.0.1", "127.0.0.1:65536", "nowhere.invalid:1"] {
            assert!(socket_address(text).is_err(), "{text}");
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

    #[test]
    fn calls_are_kept_for_a_bounded_time() {
        assert_eq!([kept("1s"), kept("7d")], [1, 604_800].map(|seconds| Ok(Duration::from_secs(seconds))));
        for text in ["0s", "3651d", "7", ""] {
            assert!(kept(text).is_err(), "{text}");
        }
    }
}
