//! When to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask the process to stop.
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Takes over Ctrl-C and SIGTERM.
    pub fn listen() -> Result<Self, String> {
        let signal = |kind| signal(kind).map_err(|error| format!("signals cannot be received: {error}"));
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Is ready when one of them arrives.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
