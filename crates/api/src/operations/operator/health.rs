//! `Live` and `Ready`: whether the process runs, and whether it can do its work. They need no key.

use super::*;
use crate::wire::health::{Health, NotReady};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct HealthApi<S> {
    pub store: Arc<S>,
    /// Says why the store does not work, for people.
    pub reason: fn(&S) -> Option<String>,
    /// Set when the service is about to end.
    pub stopping: Arc<AtomicBool>,
}

pub(crate) struct Live;

impl Operation for Live {
    const ID: &'static str = "Live";

    fn failures() -> Vec<Failure> {
        vec![Failure::Internal]
    }
}

pub(crate) struct Ready;

impl Operation for Ready {
    const ID: &'static str = "Ready";

    fn failures() -> Vec<Failure> {
        vec![Failure::Internal]
    }
}

#[derive(ApiResponse)]
enum IsLive {
    /// The process runs.
    #[oai(status = 200)]
    Yes(Json<Health>),
}

#[derive(ApiResponse)]
enum IsReady {
    /// The service can do its work.
    #[oai(status = 200)]
    Yes(Json<Health>),
    /// The service cannot work; `reason` says why.
    #[oai(status = 503)]
    No(Json<NotReady>),
}

#[OpenApi]
impl<S: Commands> HealthApi<S> {
    /// Does the process run?
    ///
    /// Depends on nothing else: an answer means that the process accepts requests.
    #[oai(path = "/health/live", method = "get", operation_id = "Live", tag = "Tag::Health")]
    async fn live(&self) -> Result<IsLive, Failed<Live>> {
        Ok(IsLive::Yes(Json(Health::new("live"))))
    }

    /// Can the service do its work?
    ///
    /// Asks the store to answer, which it must do within two seconds.
    #[oai(path = "/health/ready", method = "get", operation_id = "Ready", tag = "Tag::Health")]
    async fn ready(&self) -> Result<IsReady, Failed<Ready>> {
        if self.stopping.load(Ordering::Relaxed) {
            return Ok(IsReady::No(Json(NotReady::new("the service is stopping".to_owned()))));
        }
        let reason = match tokio::time::timeout(PATIENCE, self.store.check()).await {
            Ok(Ok(())) => return Ok(IsReady::Yes(Json(Health::new("ready")))),
            Ok(Err(error)) => (self.reason)(&self.store).unwrap_or_else(|| error.to_string()),
            Err(_elapsed) => "the store does not answer".to_owned(),
        };
        Ok(IsReady::No(Json(NotReady::new(reason))))
    }
}
