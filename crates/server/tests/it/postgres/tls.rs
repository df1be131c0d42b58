//! TLS on the way to the database.

use super::{Service, migrated};
use crate::process::{client, run};
use lendpay_cluster::{Begin, Cluster};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::Path;

/// An authority whose certificate is in a file.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(file: &Path) -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(parameters, key).expect("a certificate");
        std::fs::write(file, authority.pem()).expect("written");
        Self(authority)
    }

    /// Lets a cluster speak TLS, under a name.
    fn certify(&self, cluster: &Cluster, name: &str) {
        let key = KeyPair::generate().expect("a key");
        let parameters = CertificateParams::new([name.to_owned()]).expect("parameters");
        let certificate = parameters.signed_by(&key, &self.0).expect("a certificate");
        cluster.put_file("server.crt", &certificate.pem());
        cluster.put_file("server.key", &key.serialize_pem());
        cluster.sql("postgres", "ALTER SYSTEM SET ssl = on");
        cluster.sql("postgres", "SELECT pg_reload_conf()");
    }
}

#[test]
fn the_databases_certificate_is_verified_and_its_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name);
    let (right, _other) = (Authority::new(&file("right.pem")), Authority::new(&file("other.pem")));
    let cluster = Cluster::start(Begin::Empty, &["fsync=off"]);
    cluster.sql("postgres", "CREATE DATABASE loans");
    let url = migrated(cluster.url("loans"));
    let with = |authority: &str| format!("{url}?sslmode=verify-full&sslrootcert={}", file(authority).display());
    let refused = |store: &str, why: &str| {
        let migrate = run(&["migrate", "--store", store]);
        assert!(!migrate.status.success() && migrate.stderr.contains(why), "{why}: {}", migrate.stderr);
    };

    refused(&with("right.pem"), "does not support TLS");
    right.certify(&cluster, "127.0.0.1");
    // A server reads its settings again a moment later.
    while !run(&["migrate", "--store", &with("right.pem")]).status.success() {}
    let service = Service::start(&with("right.pem"), &[]);
    let key = service.partner().text;
    assert_eq!(service.create(&client(), &key, "a").expect("an answer").status, 201);
    let encrypted =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'lendpay'";
    assert_eq!(cluster.sql("postgres", encrypted), "t");

    refused(&with("other.pem"), "certificate");
    // What the machine trusts, which this authority is not among.
    refused(&format!("{url}?sslmode=verify-full"), "certificate");
    refused(&with("nothing.pem"), "nothing.pem");
    right.certify(&cluster, "db.example");
    while run(&["migrate", "--store", &with("right.pem")]).status.success() {}
    refused(&with("right.pem"), "not valid for name");
}
