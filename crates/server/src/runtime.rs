//! The threads that everything but the embedded store's committer runs on.

/// Runs something on them to its end.
pub fn run<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("threads cannot be started: {error}"))?;
    runtime.block_on(work)
}
