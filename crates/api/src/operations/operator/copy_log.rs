//! `CopyLog`: the bytes of the log, for backups. What is sent never changes: nothing has to be locked.

use super::*;
use crate::wire::fields::{EXACT_MAX, NOT_EXACT};
use crate::wire::time::Time;
use futures_util::stream;
use poem_openapi::payload::Binary;
use serde_json::json;
use std::io;

pub(crate) struct CopyLogApi<S>(pub Arc<Operator<S>>);

pub(crate) struct CopyLog;

const FROM: Parameter = Parameter {
    name: "from",
    description: "The byte of the log to begin with; 0 when it is absent.",
    schema: || json!({ "type": "integer", "format": "int64", "default": 0, "maximum": EXACT_MAX, "minimum": 0 }),
};

#[derive(ApiResponse)]
enum Copied {
    /// The bytes of the log from `from` to `Log-End`; none if it ends before that.
    #[oai(status = 200)]
    Bytes(
        Binary<poem::Body>,
        /// The byte at which the log ended when it was asked for.
        #[oai(header = "Log-End")]
        u64,
        /// The time at which it was asked for: everything that was acknowledged before lies before `Log-End`.
        #[oai(header = "Log-As-Of")]
        String,
    ),
}

impl Operation for CopyLog {
    const ID: &'static str = "CopyLog";
    const QUERY: &'static [Parameter] = &[FROM];
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        failures([
            OperatorFailure::BadFields(vec![format!("{}: {NOT_EXACT}", FROM.name)]).into(),
            OperatorFailure::NoLog.into(),
        ])
    }
}

#[OpenApi]
impl<S: Commands> CopyLogApi<S> {
    /// Copy the log
    ///
    /// For `lendpay backup`. An embedded store keeps everything in a log that only grows: what was copied once stays as it
    /// is, and the next copy goes on from there. Its frames have checksums (`crates/storage/README.md`), which whoever
    /// copies has to check. Holds bank details in full. A store in a database has no log, and is 409: the database has
    /// tools of its own.
    #[oai(path = "/operator/log", method = "get", operation_id = "CopyLog", tag = "Tag::Data")]
    async fn copy_log(&self, request: OperatorRequest) -> Result<Copied, Failed<CopyLog>> {
        self.0.admit::<CopyLog>(&request)?;
        let mut parameters = request.query.of::<CopyLog>();
        let from = parameters
            .get(&FROM, |text| text.parse().ok().filter(|from| *from <= EXACT_MAX).ok_or(NOT_EXACT))
            .unwrap_or(0);
        parameters.good()?;
        let log = Arc::clone(self.0.log()?);
        let end = log.end();
        // A piece at a time; the client's reading sets the pace.
        let pieces = stream::try_unfold(from, move |at| {
            let piece = log.read(at, end);
            async move {
                let piece = piece.map_err(|error| io::Error::other(error.to_string()))?;
                let next = at + piece.len() as u64;
                Ok::<_, io::Error>((!piece.is_empty()).then_some((piece, next)))
            }
        });
        let as_of = Time(request.context.at).text();
        Ok(Copied::Bytes(Binary(poem::Body::from_bytes_stream(pieces)), end, as_of))
    }
}
