//! One request, followed from what the partner was told to the log, the trace and the event.

use crate::collector::Collector;
use crate::data::{self, Data};
use crate::operator::Both;
use crate::process::Reply;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use std::path::Path;

fn start(data: &Path, collector: &Collector, more: &[&str]) -> Both {
    let endpoint = format!("http://{}", collector.address);
    Both::start(data, &[&["--otlp-endpoint", &endpoint], more].concat())
}

fn accept(both: &Both, data: &Data, n: usize, traceparent: Option<&str>) -> Reply {
    let mut headers = vec![("x-service-apikey", data.key.as_str())];
    headers.extend(traceparent.map(|value| ("traceparent", value)));
    both.server.post(&data.accept_path(data.offers[n]), &headers, "{}").expect("an answer")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attribute(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == key);
    format!("{:?}", found.and_then(|attribute| attribute.value.as_ref()).and_then(|value| value.value.as_ref()))
}

#[test]
fn from_the_operation_id_to_the_log_the_trace_and_the_event() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = data::fill(directory.path(), 2);
    let collector = Collector::start(0);
    let mut both = start(directory.path(), &collector, &[]);

    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let reply = accept(&both, &data, 0, Some(&format!("00-{trace}-{parent}-01")));
    assert_eq!((reply.status, &reply.headers["x-request-id"]), (200, &trace.parse().expect("a value")));
    let line = both.server.process.wait_for("request");
    assert_eq!((&line["operation"], &line["status"]), (&trace.into(), &200.into()));
    let span = collector.next();
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (trace.to_owned(), parent.to_owned()));
    assert_eq!(span.name, "POST /lending/applications/{applicationId}/offers/{offerId}/accept");
    assert_eq!(span.kind(), SpanKind::Server);
    assert!(span.span_id.iter().any(|byte| *byte != 0) && hex(&span.span_id) != parent);
    let micros = line["duration_us"].as_u64().expect("a number");
    assert_eq!((span.end_time_unix_nano - span.start_time_unix_nano) / 1_000, micros);
    assert!(attribute(&span, "http.response.status_code").contains("200"));
    assert!(attribute(&span, "lendpay.partner.id").contains(line["partner"].as_str().expect("a partner")));
    let events = both.run_json(&["events"]);
    let mine: Vec<_> = events.iter().filter(|event| event["operationId"] == trace).collect();
    assert_eq!(mine.len(), 1);
    assert_eq!((&mine[0]["type"], &mine[0]["partnerId"]), (&"offer.accepted".into(), &line["partner"]));
    // The command above is a request of the operator's side, and a trace of its own.
    assert_eq!(collector.next().name, "GET /operator/events");

    // An error, by the id in its body; the caller knows of no trace.
    let headers = [("x-service-apikey", data.key.as_str())];
    let reply =
        both.server.post("/lending/applications/x/offers/y/accept?secret=1", &headers, "{}").expect("an answer");
    let id = reply.body["operationId"].as_str().expect("an id").to_owned();
    let span = collector.next();
    assert_eq!((reply.status, hex(&span.trace_id), span.parent_span_id.len()), (404, id.clone(), 0));
    let whole = format!("{span:?}");
    assert!(!whole.contains("secret") && !whole.contains(&data.key), "{whole}");
    while both.server.process.wait_for("request")["operation"] != id.as_str() {}
}

#[test]
fn a_trace_that_its_caller_does_not_keep_is_not_collected() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = data::fill(directory.path(), 1);
    let collector = Collector::start(0);
    let both = start(directory.path(), &collector, &["--trace-share", "0"]);
    let (dropped, kept) =
        ("00-11111111111111111111111111111111-2222222222222222-00", "33333333333333333333333333333333");
    assert_eq!(accept(&both, &data, 0, Some(dropped)).status, 200);
    // Nor is one without a caller, when none are wanted.
    assert_eq!(accept(&both, &data, 0, None).status, 200);
    assert_eq!(accept(&both, &data, 0, Some(&format!("00-{kept}-2222222222222222-01"))).status, 200);
    assert_eq!(hex(&collector.next().trace_id), kept);
}

#[test]
fn a_collector_that_is_away_costs_nothing_but_its_spans() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = data::fill(directory.path(), 1);
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    let mut both = Both::start(directory.path(), &["--otlp-endpoint", &format!("http://127.0.0.1:{port}")]);
    assert_eq!(accept(&both, &data, 0, None).status, 200);
    both.server.process.wait_for("the collector does not take traces; they are dropped");
    let collector = Collector::start(port);
    assert_eq!(accept(&both, &data, 0, None).status, 200);
    both.server.process.wait_for("the collector takes traces again");
    assert!(collector.next().name.ends_with("/accept"));
    // What waits is sent at the end.
    assert_eq!(accept(&both, &data, 0, None).status, 200);
    both.server.process.signal("TERM");
    assert!(both.server.process.wait().0.success());
    assert!(collector.next().name.ends_with("/accept"));
}
