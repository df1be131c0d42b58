//! Which addresses an endpoint may have. Whether a connection may be made to what a name resolves to is decided when it
//! is made.

use std::fmt;
use url::Url;

/// Where events are sent to: an absolute address, in the spelling of the URL standard. `https`, or `http` where a
/// setting allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointUrl(String);

/// Why an address is refused. Never quotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUrl {
    /// It has more than [`EndpointUrl::LONGEST`] characters.
    Length,
    /// It is no absolute address with a host.
    Form,
    /// Its scheme is not `https`.
    Scheme,
    /// It holds a user name or a password.
    Credentials,
    /// Its port is 0.
    Port,
    /// It has a fragment, which is never sent.
    Fragment,
}

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => write!(f, "must have at most {} characters", EndpointUrl::LONGEST),
            Self::Form => f.write_str("must be an absolute URL with a host"),
            Self::Scheme => f.write_str("must begin with https://"),
            Self::Credentials => f.write_str("must not hold a user name or a password"),
            Self::Port => f.write_str("must not have port 0"),
            Self::Fragment => f.write_str("must not have a fragment"),
        }
    }
}

impl std::error::Error for BadUrl {}

impl EndpointUrl {
    /// The most characters.
    pub const LONGEST: usize = 2_000;

    /// The address, if it may be used now. `plain` allows `http`, for tests and sandboxes.
    ///
    /// # Errors
    /// If its scheme is not allowed.
    pub fn allowed(self, plain: bool) -> Result<Self, BadUrl> {
        if plain || self.0.starts_with("https:") { Ok(self) } else { Err(BadUrl::Scheme) }
    }

    /// Checks an address, with either scheme.
    ///
    /// # Errors
    /// If it is not acceptable.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        if text.len() > Self::LONGEST {
            return Err(BadUrl::Length);
        }
        let url = Url::parse(text).map_err(|_| BadUrl::Form)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(BadUrl::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadUrl::Credentials);
        }
        if url.port() == Some(0) {
            return Err(BadUrl::Port);
        }
        if url.fragment().is_some() {
            return Err(BadUrl::Fragment);
        }
        // What is stored is longer than what was given where characters are escaped.
        let url = String::from(url);
        if url.len() > Self::LONGEST { Err(BadUrl::Length) } else { Ok(Self(url)) }
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, plain: bool) -> Result<EndpointUrl, BadUrl> {
        EndpointUrl::parse(text)?.allowed(plain)
    }

    #[test]
    fn an_address_is_https_with_a_host_and_without_credentials() {
        for good in ["https://a.example/hooks?tenant=7", "https://a.example:8443/", "https://[2001:db8::1]/x"] {
            assert_eq!(check(good, false).as_ref().map(EndpointUrl::as_str), Ok(good));
        }
        let long = format!("https://a.example/{}", "x".repeat(EndpointUrl::LONGEST));
        let escaped = format!("https://a.example/{}", "é".repeat(900));
        for (bad, problem) in [
            ("", BadUrl::Form),
            ("a.example/hooks", BadUrl::Form),
            ("/hooks", BadUrl::Form),
            ("https://", BadUrl::Form),
            ("https:///", BadUrl::Form),
            ("https://a b.example/", BadUrl::Form),
            ("https://a.example:99999/", BadUrl::Form),
            ("https://a.example:0/", BadUrl::Port),
            ("ftp://a.example/", BadUrl::Scheme),
            ("file:///etc/passwd", BadUrl::Scheme),
            ("http://a.example/", BadUrl::Scheme),
            ("https://user@a.example/", BadUrl::Credentials),
            ("https://user:pass@a.example/", BadUrl::Credentials),
            ("https://:pass@a.example/", BadUrl::Credentials),
            ("https://a.example/#top", BadUrl::Fragment),
            (long.as_str(), BadUrl::Length),
            (escaped.as_str(), BadUrl::Length),
        ] {
            assert_eq!(check(bad, false), Err(problem), "{bad}");
        }
    }

    #[test]
    fn a_setting_allows_http_and_nothing_else() {
        assert!(check("http://127.0.0.1:8080/", true).is_ok());
        for bad in ["ftp://a.example/", "http://user@a.example/", "http://a.example:0/"] {
            assert!(check(bad, true).is_err(), "{bad}");
        }
    }

    /// So that what is checked, shown and connected to is the same.
    #[test]
    fn other_spellings_of_a_host_are_kept_in_the_usual_one() {
        for spelling in ["https://0x7f.1/", "https://0177.0.0.1/", "https://2130706433/", "HTTPS://127.0.0.1"] {
            let url = check(spelling, false).expect("an address");
            assert_eq!(url.as_str(), "https://127.0.0.1/", "{spelling}");
            assert_eq!(EndpointUrl::parse(url.as_str()), Ok(url));
        }
    }
}
