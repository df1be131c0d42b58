//! Waits until the directory is free again.
//!
//! sled's own threads may hold its file, and with it the lock, for a moment after the database was dropped. Who drops a store
//! and opens it again must not find it in use by itself.

use super::health::Health;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Dropped after the database.
pub(super) struct Release {
    pub(super) database: PathBuf,
    pub(super) health: Arc<Health>,
}

impl Drop for Release {
    fn drop(&mut self) {
        // A store that has failed stays open until the process ends.
        if self.health.failure_reason().is_some() {
            return;
        }
        let Ok(file) = File::open(&self.database) else { return };
        // A second at most: another process may be first, and then the directory was free.
        for _ in 0..1_000 {
            if file.try_lock().is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
