//! A client of HTTP/2 that can misbehave, and what the service makes of it.

use crate::data::fill;
use crate::process::Server;
use crate::tls::Files;
use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, SendRequest};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A TLS connection on which HTTP/2 was agreed.
pub async fn tls(address: &str, files: &Files) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&files.certificate).expect("a certificate")).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("TLS");
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(address).await.expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("a handshake")
}

/// A connection of HTTP/2 that runs by itself.
pub async fn connect(address: &str, files: &Files, settings: &Builder) -> SendRequest<Bytes> {
    let (client, connection) = settings.handshake(tls(address, files).await).await.expect("a handshake");
    // It ends with its client, or when the server ends it.
    drop(tokio::spawn(connection));
    client.ready().await.expect("ready")
}

/// A server that speaks TLS.
struct Secure {
    server: Server,
    files: Files,
    key: String,
    _directory: TempDir,
}

impl Secure {
    fn start(more: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (data, files) = (directory.path().join("data"), Files::new(directory.path()));
        // It runs on threads of its own.
        let key = tokio::task::block_in_place(|| fill(&data, 1)).key;
        let server = Server::start(&data, &[&files.arguments()[..], more].concat());
        Self { server, files, key, _directory: directory }
    }

    async fn connect(&self, settings: &Builder) -> SendRequest<Bytes> {
        connect(&self.server.address, &self.files, settings).await
    }
}

fn request(method: &str, path: &str) -> ureq::http::Request<()> {
    let request = ureq::http::Request::builder().method(method).uri(format!("https://localhost{path}"));
    request.body(()).expect("a request")
}

/// Adds so many fields. In HTTP/2 each but the first takes one byte.
fn append(request: &mut ureq::http::Request<()>, fields: usize) {
    for _ in 0..fields {
        request.headers_mut().append("x", "y".parse().expect("a value"));
    }
}

/// The body, taken as it comes.
async fn read(mut body: RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_or_too_long_fields_get_431_with_the_contracts_body() {
    let secure = Secure::start(&[]);
    let mut client = secure.connect(&Builder::new()).await;
    let (mut many, mut long) = (request("POST", "/lending/x"), request("POST", "/lending/x"));
    append(&mut many, 101);
    long.headers_mut().insert("x", "y".repeat(40_000).parse().expect("a value"));
    for request in [many, long] {
        let (answer, _) = client.send_request(request, true).expect("sent");
        let answer = answer.await.expect("an answer");
        assert_eq!(answer.status(), 431);
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
        let id = answer.headers()["x-request-id"].clone();
        let body: Value = serde_json::from_slice(&read(answer.into_body()).await.expect("a body")).expect("JSON");
        assert_eq!(
            (body["errorCode"].as_str(), body["operationId"].as_str()),
            (Some("RequestTooLarge"), id.to_str().ok())
        );
        client = client.ready().await.expect("the connection goes on");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_of_one_byte_cost_little_and_32_requests_run_at_a_time() {
    let secure = Secure::start(&["--log", "warn,lendpay::serve=info"]);
    let mut held = Vec::new();
    let before = secure.server.process.memory();
    for _ in 0..50 {
        let mut client = secure.connect(&Builder::new()).await;
        for _ in 0..32 {
            let mut request = request("POST", "/payments/buyers");
            append(&mut request, 900);
            client = client.ready().await.expect("ready");
            let sent = client.send_request(request, false).expect("sent");
            held.push((sent, client.clone()));
        }
        let answer = client.send_request(request("GET", "/"), true);
        if let Ok((answer, _)) = answer {
            // The requests before it have arrived.
            let _ = tokio::time::timeout(Duration::from_secs(1), answer).await;
        }
        assert_eq!(client.current_max_send_streams(), 32);
    }
    let cost = secure.server.process.memory().saturating_sub(before);
    assert!(cost < 64 * 1024, "{cost} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_key_is_told_before_the_body() {
    let secure = Secure::start(&[]);
    let mut client = secure.connect(&Builder::new()).await;
    for (key, status) in [("wrong", 401), (&secure.key, 201)] {
        let mut request = request("POST", "/payments/buyers");
        request.headers_mut().insert("x-service-apikey", key.parse().expect("a value"));
        let (answer, mut body) = client.send_request(request, false).expect("sent");
        let mut answer = std::pin::pin!(answer);
        if status == 201 {
            body.send_data(Bytes::from_static(b"{}"), true).expect("sent");
        }
        assert_eq!(answer.as_mut().await.expect("an answer").status(), status);
        client = client.ready().await.expect("the connection goes on");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_drips_ends_the_connection() {
    let secure = Secure::start(&["--request-timeout", "4"]);
    let mut stream = tls(&secure.server.address, &secure.files).await;
    // Settings, and the beginning of a head of 100 bytes.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("takes it");
    stream.write_all(b"\0\0\x64\x01\x05\0\0\0\x01\x82").await.expect("takes it");
    let (mut reader, mut writer) = tokio::io::split(stream);
    let drip = tokio::spawn(async move {
        while writer.write_all(b"\x84").await.and(writer.flush().await).is_ok() {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    });
    let mut all = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(15), reader.read_to_end(&mut all)).await;
    assert!(end.is_ok(), "it is still open");
    drip.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_is_slow_but_steady_gets_everything_and_one_that_stops_is_let_go() {
    let secure = Secure::start(&["--idle-timeout", "1"]);
    let settings = Builder::new().initial_window_size(1_000).clone();
    let mut client = secure.connect(&settings).await;
    let (answer, _) = client.send_request(request("GET", "/openapi.json"), true).expect("sent");
    let answer = answer.await.expect("an answer");
    let whole: usize = answer.headers()["content-length"].to_str().expect("text").parse().expect("a number");
    let mut body = answer.into_body();
    let (mut length, start) = (0, std::time::Instant::now());
    while let Some(chunk) = body.data().await {
        let chunk = chunk.expect("it goes on");
        length += chunk.len();
        // Slowly for three times the idle time.
        if start.elapsed() < Duration::from_secs(3) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        body.flow_control().release_capacity(chunk.len()).expect("held");
    }
    assert_eq!(length, whole);

    let mut client = secure.connect(&settings).await;
    let (answer, _) = client.send_request(request("GET", "/openapi.json"), true).expect("sent");
    let mut body = answer.await.expect("an answer").into_body();
    let cut = async { while let Some(Ok(_)) = body.data().await {} };
    tokio::time::timeout(Duration::from_secs(15), cut).await.expect("the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_inside_tls_and_only_those_tell_clients_to_stay_with_it() {
    const HSTS: &str = "strict-transport-security";
    let secure = Secure::start(&[]);
    for path in ["/docs", "/nowhere"] {
        let mut client = secure.connect(&Builder::new()).await;
        let (answer, _) = client.send_request(request("GET", path), true).expect("sent");
        assert_eq!(answer.await.expect("an answer").headers()[HSTS], "max-age=31536000");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let plain = Server::start(directory.path(), &[]);
    let reply = plain.post("/nowhere", &[], "").expect("an answer");
    assert_eq!((reply.status, reply.headers.get(HSTS)), (404, None));
}
