//! What must hold for the head of every request, whatever it asks for.

use crate::failure::Failure;
use poem::Request;
use poem::http::header::{EXPECT, HOST};
use poem::http::{HeaderMap, Version};
use std::net::Ipv6Addr;

/// The most header fields, and the most bytes of all of them with the target, as in HTTP/1. Hyper enforces both there;
/// in HTTP/2 a field of one byte can stand for thousands.
pub(crate) const FIELDS: usize = 100;
/// See [`FIELDS`].
pub(crate) const SIZE: usize = 32 * 1024;

/// Refuses a head that is too large, or that does not say once whom it is for.
pub(super) fn check(request: &Request) -> Result<(), Failure> {
    let headers = request.headers();
    let fields = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if headers.len() > FIELDS || target + fields.sum::<usize>() > SIZE {
        return Err(Failure::HeadTooLarge);
    }
    if names_one_host(request, headers) { Ok(()) } else { Err(Failure::BadHost) }
}

/// Whether the client waits for leave to send the body (RFC 9110, section 10.1.1).
pub(super) fn waits_to_send(request: &Request) -> bool {
    request.version() >= Version::HTTP_11 && request.headers().contains_key(EXPECT)
}

/// RFC 9112, section 3.2: HTTP/1.1 needs exactly one valid `Host`, HTTP/1.0 at most one. RFC 9113, section 8.3.1: in
/// HTTP/2
/// `:authority` takes its place, and may not contradict it.
fn names_one_host(request: &Request, headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(HOST).iter();
    let (host, more) = (lines.next(), lines.next());
    let authority = request.uri().authority().filter(|_| request.version() >= Version::HTTP_2);
    let host_is_good = match host {
        Some(host) => host.to_str().is_ok_and(|host| {
            is_host(host) && authority.is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host))
        }),
        None => authority.is_some() || request.version() < Version::HTTP_11,
    };
    more.is_none() && host_is_good && authority.is_none_or(|authority| is_host(authority.as_str()))
}

/// RFC 9110, section 7.2: a host that is not empty (4.2.1), then perhaps a port.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => return address.parse::<Ipv6Addr>().is_ok(),
        Some((address, rest)) => (address.parse::<Ipv6Addr>().is_ok(), rest.strip_prefix(':')),
        None => {
            let (name, port) = text.split_once(':').map_or((text, Some("")), |(name, port)| (name, Some(port)));
            (is_name(name), port)
        }
    };
    let is_port =
        |port: &str| port.is_empty() || port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    host && port.is_some_and(is_port)
}

/// RFC 3986, section 3.2.2.
fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let hex = |bytes: &mut std::str::Bytes<'_>| bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
    while let Some(byte) = bytes.next() {
        let good = match byte {
            b'%' => hex(&mut bytes) && hex(&mut bytes),
            byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte),
        };
        if !good {
            return false;
        }
    }
    !name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_a_port() {
        for good in ["x", "api.example", "API.example:8080", "127.0.0.1:80", "[::1]", "[::1]:8080", "a%2Db", "x:"] {
            assert!(is_host(good), "{good}");
        }
        for bad in [
            "", ":80", "a b", "a/b", "user@x", "x:http", "x:65536", "x:+1", "[::1", "[x]", "[::1]x", "::1", "a%2", "ä",
            "x,y:1 ", "http://x",
        ] {
            assert!(!is_host(bad), "{bad}");
        }
    }

    #[test]
    fn http_2_names_its_host_in_the_target() {
        let check = |version, uri: &'static str, host: &[&str]| {
            let mut request = Request::builder().version(version).uri_str(uri).finish();
            for host in host {
                request.headers_mut().append(HOST, host.parse().expect("a value"));
            }
            check(&request)
        };
        for (version, uri, host) in [
            (Version::HTTP_2, "https://x:1/", &[][..]),
            (Version::HTTP_2, "https://x:1/", &["X:1"]),
            (Version::HTTP_2, "/", &["x"]),
            (Version::HTTP_11, "/", &["x"]),
            (Version::HTTP_11, "http://y/", &["x"]),
            (Version::HTTP_10, "/", &[]),
        ] {
            assert_eq!(check(version, uri, host), Ok(()), "{version:?} {uri} {host:?}");
        }
        for (version, uri, host) in [
            (Version::HTTP_2, "/", &[][..]),
            (Version::HTTP_2, "https://x/", &["y"]),
            (Version::HTTP_2, "https://user@x/", &[]),
            (Version::HTTP_2, "https://x/", &["x", "x"]),
            (Version::HTTP_11, "http://y/", &[]),
            (Version::HTTP_11, "/", &["x", "x"]),
            (Version::HTTP_10, "/", &["a b"]),
        ] {
            assert_eq!(check(version, uri, host), Err(Failure::BadHost), "{version:?} {uri} {host:?}");
        }
    }
}
