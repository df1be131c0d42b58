//! TLS of both listeners, with curl as the client.

use crate::data::fill;
use crate::operator::Both;
use crate::process::{Server, run};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs::Permissions;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate and its key in two files.
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Files {
    pub fn new(folder: &Path) -> Self {
        let files = Self { certificate: folder.join("tls.crt"), key: folder.join("tls.key") };
        files.renew();
        files
    }

    /// A new certificate, which nobody trusts who trusts the one before.
    fn renew(&self) {
        self.renew_with(0o600);
    }

    /// The same, with a mode of the key's file.
    fn renew_with(&self, mode: u32) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        std::fs::write(&self.key, signing_key.serialize_pem()).expect("a file");
        std::fs::set_permissions(&self.key, Permissions::from_mode(mode)).expect("a mode");
        std::fs::write(&self.certificate, cert.pem()).expect("a file");
    }

    pub fn arguments(&self) -> [&str; 4] {
        ["--tls-cert", self.certificate.to_str().expect("UTF-8"), "--tls-key", self.key.to_str().expect("UTF-8")]
    }
}

/// What curl gets that trusts a certificate: the HTTP version and the status; nothing if it does not trust the server.
fn curl(trusted: &Path, address: &str, path: &str, more: &[&str]) -> Option<String> {
    let port = address.rsplit_once(':').expect("a port").1;
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--output", "/dev/null", "--write-out", "%{http_version} %{http_code}", "--cacert"]);
    curl.arg(trusted).args(more).arg(format!("https://localhost:{port}{path}"));
    let output = curl.output().expect("curl runs");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn both_listeners_speak_tls_and_both_versions_of_http() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(&directory.path().join("data"), 1);
    let files = Files::new(directory.path());
    let both = Both::start(&directory.path().join("data"), &files.arguments());
    let operator = both.url.trim_start_matches("http://");
    let accept = data.accept_path(data.offers[0]);
    let key = format!("X-Service-ApiKey: {}", data.key);
    for (flag, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
        let ask = |address: &str, path: &str, more: &[&str]| {
            curl(&files.certificate, address, path, &[&[flag], more].concat()).expect("an answer")
        };
        let partner = &both.server.address;
        assert_eq!(ask(partner, &accept, &["-X", "POST", "-H", &key]), format!("{version} 200"));
        assert_eq!(ask(partner, &accept, &["-X", "POST"]), format!("{version} 401"));
        assert_eq!(ask(partner, "/payments/buyers", &["-H", &key, "-d", "{"]), format!("{version} 415"));
        assert_eq!(ask(operator, "/health/ready", &[]), format!("{version} 200"));
    }
    // Whoever speaks no TLS gets nothing.
    assert!(both.server.post(&accept, &[], "").is_err());
    // A connection that is open and idle does not hold up the end.
    let _idle = TcpStream::connect(&both.server.address).expect("a connection");
    both.server.process.signal("TERM");
    assert_eq!(both.server.process.wait().0.code(), Some(0));
}

#[test]
fn a_renewed_certificate_is_used_at_once_and_a_broken_one_never() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(&directory.path().join("data"), 1);
    let files = Files::new(directory.path());
    let mut server = Server::start(&directory.path().join("data"), &files.arguments());
    let first = directory.path().join("first.crt");
    std::fs::copy(&files.certificate, &first).expect("a copy");
    let trusts = |trusted: &Path, server: &Server| curl(trusted, &server.address, "/openapi.json", &[]).is_some();
    assert!(trusts(&first, &server));

    std::fs::write(&files.certificate, "not a certificate").expect("a file");
    server.process.wait_for("the new certificate cannot be used; the last one stays");
    assert!(trusts(&first, &server));

    files.renew();
    server.process.wait_for("the certificate was read again");
    assert!(trusts(&files.certificate, &server) && !trusts(&first, &server));
}

#[test]
fn a_renewed_key_that_others_can_read_is_refused_until_they_cannot() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(&directory.path().join("data"), 1);
    let files = Files::new(directory.path());
    let mut server = Server::start(&directory.path().join("data"), &files.arguments());
    let first = directory.path().join("first.crt");
    std::fs::copy(&files.certificate, &first).expect("a copy");
    let trusts = |trusted: &Path, server: &Server| curl(trusted, &server.address, "/openapi.json", &[]).is_some();

    files.renew_with(0o644);
    // The files may be looked at between one and the other.
    while !server.process.wait_for("the new certificate cannot be used; the last one stays")["reason"]
        .as_str()
        .is_some_and(|reason| reason.contains("chmod 600"))
    {}
    assert!(trusts(&first, &server) && !trusts(&files.certificate, &server));

    std::fs::set_permissions(&files.key, Permissions::from_mode(0o600)).expect("a mode");
    server.process.wait_for("the certificate was read again");
    assert!(trusts(&files.certificate, &server) && !trusts(&first, &server));
}

#[test]
fn files_that_cannot_be_used_stop_the_start() {
    let [here, there] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let (files, other) = (Files::new(here.path()), Files::new(there.path()));
    let store = format!("sled:{}", here.path().join("data").display());
    let start = |more: &[&str]| run(&[&["serve", "--listen", "127.0.0.1:0", "--store", &store], more].concat());
    let [_, certificate, _, key] = files.arguments();
    let [_, _, _, other_key] = other.arguments();
    let none = here.path().join("none.key");
    std::fs::copy(&files.certificate, &none).expect("a copy");
    std::fs::set_permissions(&none, Permissions::from_mode(0o600)).expect("a mode");
    let none = none.to_str().expect("UTF-8");
    for (certificate, key, words) in [
        (certificate, other_key, "together"),
        (certificate, none, "no private key"),
        ("/nowhere", key, "no certificate"),
    ] {
        let ended = start(&["--tls-cert", certificate, "--tls-key", key]);
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(words) && ended.stderr.contains("--tls-key"), "{}", ended.stderr);
    }
    let half = start(&["--tls-cert", certificate]);
    assert_eq!(half.status.code(), Some(2));
    assert!(half.stderr.contains("--tls-key"), "{}", half.stderr);
}
