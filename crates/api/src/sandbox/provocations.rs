//! What a request to a sandbox may ask for in the header `X-Sandbox`.

use crate::failure::Failure;
use crate::table::Table;
use lendpay_domain::StoreError;
use poem::{Endpoint as _, Request, Response};
use std::fmt;
use std::time::Duration;

/// The header.
pub(super) const HEADER: &str = "X-Sandbox";

/// How much later a slow answer comes.
const DELAY: Duration = Duration::from_secs(5);

/// What a request may ask for.
pub struct Provocation {
    /// The value of the header.
    pub name: &'static str,
    /// What happens.
    pub about: &'static str,
    effect: Effect,
}

enum Effect {
    /// The request fails, and nothing was done.
    Fail(fn() -> Failure),
    /// What the request asks for is done; then it fails.
    DoAndFail(fn() -> Failure),
    /// What it asks for is done, and the answer is lost.
    DoAndLose,
    /// What it asks for is done, and the answer comes later.
    DoAndDelay,
}

/// Every value of the header.
pub static PROVOCATIONS: [Provocation; 10] = [
    Provocation {
        name: "bad-request",
        about: "400, as of a request that breaks off.",
        effect: Effect::Fail(|| Failure::BadRequest),
    },
    Provocation { name: "timeout", about: "408. Nothing was done.", effect: Effect::Fail(|| Failure::Timeout) },
    Provocation {
        name: "request-too-large",
        about: "413, as of a body of 65,537 bytes.",
        effect: Effect::Fail(|| Failure::TooLarge),
    },
    Provocation {
        name: "unsupported-media-type",
        about: "415, as of a body that is not JSON.",
        effect: Effect::Fail(|| Failure::UnsupportedMediaType),
    },
    Provocation {
        name: "rate-limited",
        about: "429 with Retry-After: 1. Nothing was done.",
        effect: Effect::Fail(|| Failure::RateLimited(1)),
    },
    Provocation { name: "internal-error", about: "500. Nothing was done.", effect: Effect::Fail(|| Failure::Internal) },
    Provocation {
        name: "unavailable",
        about: "503 with Retry-After: 1. Nothing was done.",
        effect: Effect::Fail(|| Failure::Store(StoreError::Unavailable)),
    },
    Provocation {
        name: "outcome-unknown",
        about: "503 with Retry-After: 1, after the operation was carried out.",
        effect: Effect::DoAndFail(|| Failure::Store(StoreError::OutcomeUnknown)),
    },
    Provocation {
        name: "lost-reply",
        about: "The operation is carried out; then the connection is closed without an answer.",
        effect: Effect::DoAndLose,
    },
    Provocation {
        name: "slow-reply",
        about: "The operation is carried out; the answer comes 5 s later.",
        effect: Effect::DoAndDelay,
    },
];

/// In the extensions of a response: it is not to be sent, and its connection is closed.
#[derive(Clone, Copy, Debug)]
pub struct LostReply;

impl fmt::Display for LostReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request asked to lose the reply")
    }
}

impl std::error::Error for LostReply {}

/// Calls an operation, and does to its answer what the request asks for. An operation that refuses the request is not
/// disturbed: its failure is the answer.
pub(crate) async fn provoke(operations: &Table, request: Request) -> poem::Result<Response> {
    let Some(wanted) = request.headers().get(HEADER) else { return operations.call(request).await };
    let known = PROVOCATIONS.iter().find(|known| known.name.as_bytes() == wanted.as_bytes());
    let Some(known) = known else {
        let names = PROVOCATIONS.each_ref().map(|known| known.name).join(", ");
        return Err(Failure::BadParameters(vec![format!("{HEADER}: must be one of {names}")]).into());
    };
    match known.effect {
        Effect::Fail(failure) => Err(failure().into()),
        Effect::DoAndFail(failure) => {
            operations.call(request).await?;
            Err(failure().into())
        }
        Effect::DoAndLose => {
            let mut response = operations.call(request).await?;
            response.set_data(LostReply);
            Ok(response)
        }
        Effect::DoAndDelay => {
            let response = operations.call(request).await?;
            tokio::time::sleep(DELAY).await;
            Ok(response)
        }
    }
}
