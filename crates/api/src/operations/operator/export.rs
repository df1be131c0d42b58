//! `Export`: all data as a consistent snapshot, taken while the service runs.

use super::*;
use crate::transfer::Lines;
use futures_util::stream;
use lendpay_domain::Timestamp;
use lendpay_domain::log::CopyKind;
use lendpay_domain::store::Export as _;
use poem::http::{HeaderValue, header};
use poem::{IntoResponse, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use std::io;

pub(crate) struct ExportApi<S> {
    pub operator: Arc<Operator<S>>,
    /// Says why the store does not work, for people.
    pub reason: fn(&S) -> Option<String>,
}

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
    const ROLE: Option<Role> = Some(Role::Admin);

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
        let export = self.operator.admit::<Export>(&request)?.export().await?;
        let (store, reason) = (Arc::downgrade(&self.operator.store), self.reason);
        let (log, as_of) = (self.operator.log.clone(), request.context.at);
        let begin = Step::Header(Lines::default(), export, as_of);
        // Each step makes the next piece of the body; the client's reading sets the pace.
        let pieces = stream::try_unfold(begin, move |step| {
            let (store, log) = (store.clone(), log.clone());
            async move {
                let (piece, next) = match step {
                    Step::Header(lines, export, at) => {
                        (lines.header(at, export.history()), Step::Records(lines, export))
                    }
                    Step::Records(mut lines, mut export) => match export.next().await {
                        Ok(records) if records.is_empty() => (lines.end(), Step::End),
                        // Exactly as long as its bytes: a client that reads slowly holds it.
                        Ok(records) => {
                            let piece = records.iter().map(|record| lines.record(record)).collect::<Vec<_>>().concat();
                            (piece, Step::Records(lines, export))
                        }
                        Err(error) => {
                            let reason = store.upgrade().and_then(|store| reason(&store));
                            let reason = reason.unwrap_or_else(|| error.to_string());
                            tracing::error!(reason, "an export was interrupted");
                            (lines.error(&reason), Step::Failed)
                        }
                    },
                    Step::Failed => {
                        // The line with the reason is sent before the error closes the connection.
                        tokio::task::yield_now().await;
                        return Err(io::Error::other("the export was interrupted"));
                    }
                    Step::End => {
                        if let Some(log) = log {
                            // The export is whole all the same, and the log says why it is not noted.
                            let _ = log.note_copy(CopyKind::Export, as_of);
                        }
                        return Ok(None);
                    }
                };
                Ok(Some((piece, next)))
            }
        });
        Ok(Exported::Lines(Ndjson(poem::Body::from_bytes_stream(pieces))))
    }
}

/// What comes next in an export.
enum Step<E> {
    Header(Lines, E, Timestamp),
    Records(Lines, E),
    /// The store could not be read, and the client was told.
    Failed,
    End,
}
