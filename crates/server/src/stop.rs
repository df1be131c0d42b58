//! When to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask the process to stop.
pub struct StopSignals([Signal; 2]);

impl StopSignals {
    /// Takes over Ctrl-C and SIGTERM.
    pub fn listen() -> Result<Self, String> {
        let take = |kind| signal(kind).map_err(|error| format!("signals cannot be received: {error}"));
        Ok(Self([take(SignalKind::interrupt())?, take(SignalKind::terminate())?]))
    }

    /// Is ready when one of them arrives.
    pub async fn received(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
