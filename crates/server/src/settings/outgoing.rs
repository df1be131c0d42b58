//! Other programs that the service calls: their addresses, and which certificates are trusted.

use clap::Args;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use url::{Host, Url};

/// An address of a service that is trusted with a secret, or whose answers are believed: https, or http on this
/// machine. The text is kept as it was written, since issuers are compared letter by letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    text: String,
    url: Url,
}

impl Address {
    pub const fn url(&self) -> &Url {
        &self.url
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write an address that begins with https:// (http:// only for this machine itself)".to_owned();
        let url = Url::parse(text).map_err(|_| wrong())?;
        if !(url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url)) {
            return Err(wrong());
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err("write an address without a user, a password or a fragment".to_owned());
        }
        Ok(Self { text: text.to_owned(), url })
    }
}

/// Whether the host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Which certificates are trusted.
#[derive(Debug, Args)]
pub struct Trust {
    /// A file with certificates in PEM. HTTPS connections to other programs trust these authorities in place of the
    /// ones that the machine trusts.
    #[arg(long, env = "LENDPAY_CA", value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// Reads the address of a collector.
pub fn collector(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| "write an address such as http://localhost:4318".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_of_this_machine() {
        for text in [
            "https://id.example",
            "https://id.example/tenant/?a=b",
            "http://127.0.0.1:4000",
            "http://localhost:4000/x",
            "http://[::1]:4000",
        ] {
            assert_eq!(text.parse::<Address>().map(|address| address.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "id.example",
            "http://id.example",
            "http://localhost.example",
            "http://10.0.0.1",
            "ftp://id.example",
            "file:///etc/passwd",
            "https://user@id.example",
            "https://:secret@id.example",
            "https://id.example/#x",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
