//! By which names the operator's side may be called.
//!
//! A page of the internet can have its own name resolve to this machine, and call the operator's side from the
//! operator's browser as if it were the page's own (DNS rebinding). The header `Host` then holds the page's name.

use crate::failure::Failure;
use crate::operator_failure::OperatorFailure;
use poem::http::header;
use poem::http::uri::Authority;
use poem::{Endpoint, Request, Response};
use std::net::IpAddr;

/// The names: those of this machine, the address that is listened on, and those of a setting.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// Names that the operator has listed, without a port.
    pub listed: Vec<String>,
}

impl Hosts {
    /// Whether a request may name this host. `local` is the address at which it arrived.
    fn allow(&self, host: &str, local: Option<IpAddr>) -> bool {
        let name = host.trim_start_matches('[').trim_end_matches(']');
        match name.parse::<IpAddr>() {
            Ok(address) if address.is_loopback() || local == Some(address) => true,
            _ => name.eq_ignore_ascii_case("localhost") || self.listed.iter().any(|one| one.eq_ignore_ascii_case(host)),
        }
    }

    /// Checks every name that a request gives: HTTP/2 and proxies write it into the address, HTTP/1 into the header.
    /// One without any comes from no browser.
    fn check(&self, request: &Request) -> Result<(), Failure> {
        let local = request.local_addr().as_socket_addr().map(|address| address.ip().to_canonical());
        let headers = request.headers().get_all(header::HOST).iter();
        let named = headers.map(|value| value.to_str().ok()?.parse().ok());
        let named = named.chain(request.uri().authority().map(|authority| Some(authority.clone())));
        let refused = |authority: Option<Authority>| !authority.is_some_and(|it| self.allow(it.host(), local));
        match named.into_iter().find(|authority| refused(authority.clone())) {
            None => Ok(()),
            Some(_) => Err(OperatorFailure::UnknownHost.into()),
        }
    }
}

/// An endpoint that answers only requests with an allowed name.
pub(crate) struct Named<E> {
    pub inner: E,
    pub hosts: Hosts,
}

impl<E: Endpoint<Output = Response>> Endpoint for Named<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        self.hosts.check(&request)?;
        self.inner.call(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_the_address_and_listed_names_are_allowed() {
        let hosts = Hosts { listed: vec!["Ops.example".to_owned()] };
        let local = Some("192.0.2.1".parse().expect("an address"));
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]", "192.0.2.1", "ops.EXAMPLE"] {
            assert!(hosts.allow(host, local), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.example", "127.0.0.1.example", "192.0.2.2", "[2001:db8::1]", "0.0.0.0"]
        {
            assert!(!hosts.allow(host, local), "{host}");
        }
    }
}
