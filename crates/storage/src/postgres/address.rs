//! Where the database is, and how it is reached: a connection string as every PostgreSQL client takes it.

use super::OpenError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long one host may take to answer, unless the string says otherwise.
const CONNECT: Duration = Duration::from_secs(2);

/// How long a connection may be without any sign of the other side, unless the string says otherwise.
const SILENCE: Duration = Duration::from_secs(10);

/// `postgres://user:password@host1,host2/database?options`. Shown without its password.
///
/// Beside the options of the driver it takes two of libpq's that the driver does not know: `sslmode=verify-full` and
/// `sslrootcert=FILE`. Whenever TLS is used, the certificate is verified, its host name too. Only a server that can write is
/// connected to: of several hosts the primary.
#[derive(Clone)]
pub struct PostgresAddress {
    pub(super) config: Box<Config>,
    authority: Option<PathBuf>,
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        for (n, host) in self.config.get_hosts().iter().enumerate() {
            f.write_str(if n == 0 { "postgres://" } else { "," })?;
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            let port = ports.get(n).or(ports.first());
            port.map_or(Ok(()), |port| write!(f, ":{port}"))?;
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl PartialEq for PostgresAddress {
    fn eq(&self, other: &Self) -> bool {
        self.config == other.config && self.authority == other.authority
    }
}

impl Eq for PostgresAddress {}

impl FromStr for PostgresAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (place, options) = text.split_once('?').unwrap_or((text, ""));
        let (mut kept, mut authority, mut verified) = (Vec::new(), None, false);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", "verify-full")) => verified = true,
                Some(("sslrootcert", path)) => authority = Some(PathBuf::from(path)),
                _ => kept.push(option),
            }
        }
        let rest = if kept.is_empty() { place.to_owned() } else { format!("{place}?{}", kept.join("&")) };
        // The driver's message names the option, and quotes nothing of the string.
        let mut config: Config = rest.parse().map_err(|error| {
            format!("{}; write for example postgres://lendpay@db.example/lendpay?sslmode=verify-full", chain(&error))
        })?;
        if config.get_hosts().is_empty() || config.get_dbname().is_none() {
            return Err("name a host and a database: postgres://lendpay@db.example/lendpay".to_owned());
        }
        if verified {
            config.ssl_mode(SslMode::Require);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("lendpay");
        }
        // A host that goes away without a word is noticed by who waits for it.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 5).keepalives_retries(5);
        }
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self { config: Box::new(config), authority })
    }
}

impl PostgresAddress {
    /// A configuration for each host: the driver bounds only how long TCP takes, and that for all hosts together.
    pub(super) fn hosts(&self) -> Vec<Config> {
        let all = &*self.config;
        let ports = all.get_ports();
        let one = |(n, host): (usize, &Host)| {
            let mut one = Config::new();
            match host {
                Host::Tcp(name) => one.host(name),
                Host::Unix(path) => one.host_path(path),
            };
            all.get_hostaddrs().get(n).map(|address| one.hostaddr(*address));
            ports.get(n).or(ports.first()).map(|port| one.port(*port));
            all.get_user().map(|user| one.user(user));
            all.get_password().map(|password| one.password(password));
            all.get_dbname().map(|name| one.dbname(name));
            all.get_options().map(|options| one.options(options));
            all.get_application_name().map(|name| one.application_name(name));
            all.get_connect_timeout().map(|limit| one.connect_timeout(*limit));
            all.get_tcp_user_timeout().map(|limit| one.tcp_user_timeout(*limit));
            all.get_keepalives_interval().map(|interval| one.keepalives_interval(interval));
            all.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
            one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
            one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
            one.channel_binding(all.get_channel_binding()).target_session_attrs(all.get_target_session_attrs());
            one
        };
        all.get_hosts().iter().enumerate().map(one).collect()
    }

    /// Whether somebody between here and a host could read and change everything: TLS is not demanded, and the host is
    /// not this machine.
    pub fn is_exposed(&self) -> bool {
        let is_local = |host: &Host| match host {
            Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
            Host::Unix(_) => true,
        };
        let hosts_are_local = self.config.get_hosts().iter().all(is_local);
        let addresses_are_local = self.config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        self.config.get_ssl_mode() != SslMode::Require && !(hosts_are_local && addresses_are_local)
    }

    /// What makes TLS of a connection, where the string or the server asks for it.
    pub(super) fn tls(&self) -> Result<MakeRustlsConnect, OpenError> {
        let unusable = |problem: String| OpenError::Tls(problem);
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?;
        let config = match &self.authority {
            Some(path) => builder.with_root_certificates(roots(path).map_err(unusable)?).with_no_client_auth(),
            None => {
                builder.with_platform_verifier().map_err(|error| unusable(error.to_string()))?.with_no_client_auth()
            }
        };
        Ok(MakeRustlsConnect::new(config))
    }
}

fn roots(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| format!("no certificate can be read from {}: {error}", path.display()))?;
    let (added, _) = roots.add_parsable_certificates(read);
    if added == 0 {
        return Err(format!("there is no certificate in {}", path.display()));
    }
    Ok(roots)
}

/// An error with those that caused it.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_is_shown_without_its_secret() {
        let text = "postgres://lendpay:hunter2@one:5432,two:5433/loans?sslmode=verify-full&connect_timeout=1";
        let address: PostgresAddress = text.parse().expect("an address");
        assert_eq!(address.to_string(), "postgres://one:5432,two:5433/loans");
        assert!(!format!("{address:?} {:?}", address.config).contains("hunter2"));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(address.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(address.config.get_connect_timeout(), Some(&Duration::from_secs(1)));
    }

    #[test]
    fn a_host_elsewhere_without_verified_tls_is_exposed() {
        for (text, exposed) in [
            ("postgres://u@db.example/d", true),
            ("postgres://u@db.example/d?sslmode=prefer", true),
            ("postgres://u@db.example/d?sslmode=disable", true),
            ("postgres://u@localhost,db.example/d", true),
            ("postgres://u@localhost/d?hostaddr=192.0.2.1", true),
            // Whenever there is TLS the certificate is verified, the host name too.
            ("postgres://u@db.example/d?sslmode=require", false),
            ("postgres://u@db.example/d?sslmode=verify-full", false),
            ("postgres://u@127.0.0.1/d", false),
            ("postgres://u@localhost,127.0.0.2/d?sslmode=disable", false),
            ("postgres://%2Frun%2Fpostgresql/d", false),
        ] {
            assert_eq!(text.parse::<PostgresAddress>().expect(text).is_exposed(), exposed, "{text}");
        }
    }

    #[test]
    fn each_host_has_everything_that_the_string_says() {
        let of = |hosts: &str| -> PostgresAddress {
            let options =
                "options=-c%20x%3D1&connect_timeout=1&tcp_user_timeout=7&keepalives_interval=3&sslmode=require";
            let options = format!("{options}&keepalives_retries=2&keepalives_idle=9&channel_binding=require");
            format!("postgres://lendpay:hunter2@{hosts}/loans?{options}").parse().expect("an address")
        };
        let (one, two) = (of("one:5"), of("two:6"));
        assert_eq!(of("one:5,two:6").hosts(), [*one.config, *two.config]);
    }

    #[test]
    fn what_is_no_connection_string_is_refused_without_being_quoted() {
        for text in
            ["postgres://", "postgres://hunter2", "postgres://h/d?hunter2=x%", "postgres://u:hunter2@h:port/d", "x"]
        {
            let problem = text.parse::<PostgresAddress>().expect_err(text);
            assert!(!problem.contains("u:hunter2"), "{problem}");
        }
    }
}
