//! Spans on their way to an OpenTelemetry collector, over OTLP/HTTP. Off unless a collector is set.
//!
//! The shell reports each request when it is answered, so spans are built whole, and tracing's own spans, which would
//! cost every request something even when nobody collects, are not needed.

use crate::outgoing;
use crate::settings::Trust;
use bytes::Bytes;
use lendpay_api::{Span, TraceParent, Traces, span_id};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor as _,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use url::Url;

/// How long the collector may take for one batch.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long spans are collected before they are sent.
const COLLECT: Duration = Duration::from_secs(1);

/// How many spans may wait: some MiB. Whatever comes beyond them is dropped, so that a collector that hangs costs
/// nothing.
const QUEUE: usize = 16 * 1024;

/// How many spans one request carries.
const BATCH: usize = 2 * 1024;

/// Sends a span for each request. What still waits when it is dropped is sent then.
#[derive(Debug)]
pub struct Otlp {
    spans: BatchSpanProcessor,
    scope: InstrumentationScope,
    /// A request without a caller's decision is collected when 64 bits of its trace id are below this.
    below: u64,
}

impl Otlp {
    /// Starts the thread that sends. `share` is from 0 to 1.
    pub fn start(collector: &Url, share: f64, trust: &Trust) -> Result<Self, String> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Sending {
                agent: outgoing::agent(collector, PATIENCE, trust)?,
                failing: AtomicBool::new(false),
            })
            // OpenTelemetry Protocol Exporter, "Endpoint URLs for OTLP/HTTP".
            .with_endpoint(format!("{}/v1/traces", collector.as_str().trim_end_matches('/')))
            .with_timeout(PATIENCE)
            .build()
            .map_err(|error| format!("--otlp-endpoint: {error}"))?;
        let config = BatchConfigBuilder::default()
            .with_scheduled_delay(COLLECT)
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .build();
        let mut spans = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
        spans.set_resource(&Resource::builder().with_service_name("lendpay").build());
        let scope = InstrumentationScope::builder("lendpay").with_version(env!("CARGO_PKG_VERSION")).build();
        // A share of 1 saturates; the one id in 2^64 that is not below it does not matter.
        Ok(Self { spans, scope, below: (share * 2.0_f64.powi(64)) as u64 })
    }

    fn collects(&self, span: &Span<'_>) -> bool {
        // These bits of a trace id are random in any case (W3C Trace Context Level 2, section 3.2.2.3).
        let low_bits = || u128::from_be_bytes(span.operation.to_bytes()) as u64;
        span.caller.map_or_else(|| low_bits() < self.below, |caller| caller.sampled)
    }
}

impl Traces for Otlp {
    fn request(&self, span: &Span<'_>) {
        if !self.collects(span) {
            return;
        }
        // The names are those of OpenTelemetry's semantic conventions for HTTP servers.
        let mut attributes = vec![
            KeyValue::new("http.request.method", span.method.to_owned()),
            KeyValue::new("http.response.status_code", i64::from(span.status)),
        ];
        let name = match span.route {
            Some(route) => {
                attributes.push(KeyValue::new("http.route", route.to_owned()));
                format!("{} {route}", span.method)
            }
            None => span.method.to_owned(),
        };
        attributes.extend(span.partner.map(|partner| KeyValue::new("lendpay.partner.id", partner.to_string())));
        let start = SystemTime::from(span.start);
        let own = SpanContext::new(
            TraceId::from_bytes(span.operation.to_bytes()),
            SpanId::from_bytes(span_id()),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        );
        let parent = span.caller.map(|TraceParent { span, .. }| SpanId::from_bytes(span));
        self.spans.on_end(SpanData {
            span_context: own,
            parent_span_id: parent.unwrap_or(SpanId::INVALID),
            parent_span_is_remote: parent.is_some(),
            span_kind: SpanKind::Server,
            name: name.into(),
            start_time: start,
            end_time: start + span.duration,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if span.status >= 500 { Status::error("") } else { Status::Unset },
            instrumentation_scope: self.scope.clone(),
        });
    }
}

impl Drop for Otlp {
    fn drop(&mut self) {
        // What cannot be delivered was logged by who tried.
        let _ = self.spans.shutdown_with_timeout(PATIENCE);
    }
}

/// Sends batches, and says when that begins to fail and when it works again. It runs on the thread of the spans alone.
#[derive(Debug)]
struct Sending {
    agent: ureq::Agent,
    failing: AtomicBool,
}

#[async_trait::async_trait]
impl HttpClient for Sending {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let sent = self.agent.run(Request::from_parts(parts, &body[..])).and_then(|response| {
            let (head, mut body) = response.into_parts();
            Ok(Response::from_parts(head, Bytes::from(body.read_to_vec()?)))
        });
        let problem = match &sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answers {}", answer.status())),
            Err(error) => Some(error.to_string()),
        };
        match (problem, self.failing.load(Ordering::Relaxed)) {
            (Some(problem), false) => tracing::warn!(problem, "the collector does not take traces; they are dropped"),
            (None, true) => tracing::info!("the collector takes traces again"),
            (Some(_), true) | (None, false) => return sent.map_err(Into::into),
        }
        self.failing.fetch_xor(true, Ordering::Relaxed);
        sent.map_err(Into::into)
    }
}
