//! A collector that takes spans over OTLP/HTTP and keeps them.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

pub struct Collector {
    pub address: SocketAddr,
    spans: Receiver<Span>,
}

impl Collector {
    /// Listens on a port; 0 is any that is free.
    pub fn start(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (send, spans) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let send = send.clone();
                std::thread::spawn(move || while answer(&mut BufReader::new(&stream), &stream, &send).is_some() {});
            }
        });
        Self { address, spans }
    }

    /// The next span.
    pub fn next(&self) -> Span {
        // Only so that a test that fails ends.
        self.spans.recv_timeout(Duration::from_secs(60)).expect("a span")
    }
}

/// Answers one request; none when the connection ends.
fn answer(reader: &mut impl std::io::BufRead, mut stream: impl std::io::Write, spans: &Sender<Span>) -> Option<()> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(head.contains("\r\ncontent-type: application/x-protobuf\r\n"), "{head}");
    let length = head.split("\r\ncontent-length: ").nth(1).and_then(|rest| rest.lines().next()).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    reader.read_exact(&mut body).expect("a body");
    let request = ExportTraceServiceRequest::decode(&body[..]).expect("a message of the protocol");
    for resource in request.resource_spans {
        let service = &resource.resource.expect("a resource").attributes;
        assert!(service.iter().any(|one| one.key == "service.name" && format!("{one:?}").contains("lendpay")));
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            // The test may have ended.
            let _ = spans.send(span);
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n").ok()
}
