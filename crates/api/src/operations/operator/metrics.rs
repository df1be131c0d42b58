//! `Metrics`: counters for Prometheus. They need no key, and hold no identifiers but those of partners.

use super::*;
use poem::http::{HeaderValue, header};
use poem::{IntoResponse, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};

/// Writes the metrics as they are now.
pub type WriteMetrics = Arc<dyn Fn() -> String + Send + Sync>;

pub(crate) struct MetricsApi {
    pub write: WriteMetrics,
}

pub(crate) struct Metrics;

impl Operation for Metrics {
    const ID: &'static str = "Metrics";

    fn failures() -> Vec<Failure> {
        vec![Failure::Internal]
    }
}

struct Text(String);

impl Payload for Text {
    const CONTENT_TYPE: &'static str = "text/plain";

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new("string")))
    }
}

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        let mut response: Response = self.0.into();
        let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        response
    }
}

#[derive(ApiResponse)]
enum Written {
    /// The metrics, in Prometheus' text format.
    #[oai(status = 200)]
    Text(Text),
}

#[OpenApi]
impl MetricsApi {
    /// Read the metrics
    ///
    /// Counters and histograms since the process was started, and the present state of process, disk and store.
    #[oai(path = "/metrics", method = "get", operation_id = "Metrics", tag = "Tag::Health")]
    async fn metrics(&self) -> Result<Written, Failed<Metrics>> {
        Ok(Written::Text(Text((self.write)())))
    }
}
