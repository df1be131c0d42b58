//! `Export`: all data as a consistent snapshot, taken while the service runs.

use super::*;
use crate::transfer::Lines;
use futures_util::stream;
use lendpay_domain::store::Export as _;
use poem::http::{HeaderValue, header};
use poem::{IntoResponse, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use std::io;

pub(crate) struct ExportApi<S>(pub Arc<Operator<S>>);

pub(crate) struct Export;

/// Lines of JSON, sent as they are made.
struct Ndjson(poem::Body);

impl Payload for Ndjson {
    const CONTENT_TYPE: &'static str = "application/x-ndjson";

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "binary")))
    }
}

impl IntoResponse for Ndjson {
    fn into_response(self) -> Response {
        let mut response: Response = self.0.into();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(Self::CONTENT_TYPE));
        response
    }
}

#[derive(ApiResponse)]
enum Exported {
    /// The export: a header, a record a line, and a last line with counts and a checksum. Without that line it is
    /// incomplete.
    #[oai(status = 200)]
    Lines(Ndjson),
}

impl Operation for Export {
    const ID: &'static str = "Export";

    fn failures() -> Vec<Failure> {
        failures([])
    }
}

#[OpenApi]
impl<S: Exports> ExportApi<S> {
    /// Export everything
    ///
    /// For `lendpay import`. A consistent snapshot, taken while the service runs. Holds bank details in full.
    #[oai(path = "/operator/export", method = "get", operation_id = "Export", tag = "Tag::Data")]
    async fn export(&self, request: OperatorRequest) -> Result<Exported, Failed<Export>> {
        let export = self.0.admit::<Export>(&request)?.export().await?;
        let lines = Lines::default();
        let begin = lines.header(request.context.at, export.history());
        // Each step makes the next piece of the body; the client's reading sets the pace.
        let pieces = stream::try_unfold((Some(begin), Some((export, lines))), async |(begin, rest)| {
            if let Some(begin) = begin {
                return Ok(Some((begin, (None, rest))));
            }
            let Some((mut export, mut lines)) = rest else { return Ok(None) };
            let records = export.next().await.map_err(|error| {
                tracing::error!(%error, "an export was interrupted");
                io::Error::other("the export was interrupted")
            })?;
            if records.is_empty() {
                return Ok(Some((lines.end(), (None, None))));
            }
            // Exactly as long as its bytes: a client that reads slowly holds it.
            let piece = records.iter().map(|record| lines.record(record)).collect::<Vec<_>>().concat();
            Ok::<_, io::Error>(Some((piece, (None, Some((export, lines))))))
        });
        Ok(Exported::Lines(Ndjson(poem::Body::from_bytes_stream(pieces))))
    }
}
