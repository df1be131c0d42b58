//! The kinds of stores, and what the service needs of one besides the ports.

use crate::printable;
use crate::sandbox;
use crate::settings::Common;
use lendpay_domain::Store;
use lendpay_domain::calls::Keeping;
use lendpay_domain::log::Log;
use lendpay_domain::rate::Leases;
use lendpay_domain::store::Answer;
use lendpay_storage::embedded::OpenReport;
use lendpay_storage::{EmbeddedOptions, EmbeddedStore, PostgresAddress, PostgresOptions, PostgresStore, StoreStats};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A store that can be watched and closed.
pub trait Kept: Store {
    /// How many times as much of processors as this process its store uses elsewhere.
    const ELSEWHERE: u32 = 0;

    /// Is ready, with the reason, when the process has to end since its store cannot go on; never otherwise.
    fn failure(&self) -> impl Future<Output = String> + Send;

    /// Why the store does not work, if it does not.
    fn failure_reason(&self) -> Option<String>;

    /// Where a partner's requests are counted, if several processes may share the store.
    fn leases(self: &Arc<Self>) -> Option<Arc<dyn Leases>> {
        None
    }

    /// Counters.
    fn stats(&self) -> StoreStats;

    /// If the store consists of files: what opening them did, and how long rebuilding the index would take.
    fn files(&self) -> Option<(OpenReport, Duration)> {
        None
    }

    /// Its log and its directory, if it has them.
    fn log(&self) -> Option<(Arc<dyn Log>, &Path)> {
        None
    }

    /// Does what waits, and takes nothing more.
    fn close(&self) -> impl Future<Output = Answer<()>> + Send;
}

impl Kept for EmbeddedStore {
    fn failure(&self) -> impl Future<Output = String> + Send {
        self.failure()
    }

    fn failure_reason(&self) -> Option<String> {
        self.problem()
    }

    fn stats(&self) -> StoreStats {
        self.stats()
    }

    fn files(&self) -> Option<(OpenReport, Duration)> {
        Some((self.open_report(), self.rebuild_estimate()))
    }

    fn log(&self) -> Option<(Arc<dyn Log>, &Path)> {
        Some((self.log(), self.directory()))
    }

    async fn close(&self) -> Answer<()> {
        self.close().await
    }
}

impl Kept for PostgresStore {
    /// An accept takes about as much of the database.
    const ELSEWHERE: u32 = 1;

    fn failure(&self) -> impl Future<Output = String> + Send {
        self.failure()
    }

    fn failure_reason(&self) -> Option<String> {
        self.failure_reason()
    }

    fn leases(self: &Arc<Self>) -> Option<Arc<dyn Leases>> {
        Some(Arc::clone(self) as _)
    }

    fn stats(&self) -> StoreStats {
        self.stats()
    }

    async fn close(&self) -> Answer<()> {
        self.close().await
    }
}

/// How an embedded store is opened.
pub fn embedded_options(settings: &Common) -> EmbeddedOptions {
    let mut options = EmbeddedOptions::default();
    options.cache_capacity = u64::from(settings.cache) << 20;
    options
}

/// Refuses the directory of a sandbox: its keys are public.
pub fn no_sandbox(path: &Path) -> Result<(), String> {
    if sandbox::is_one(path) {
        return Err(format!(
            "{} is the directory of a sandbox; run `lendpay sandbox --data` on it, or choose another directory",
            path.display()
        ));
    }
    Ok(())
}

/// Opens the embedded store in a directory; with `rebuild_index` its index is rebuilt.
pub fn open_sled(path: &Path, settings: &Common, rebuild_index: bool) -> Result<EmbeddedStore, String> {
    no_sandbox(path)?;
    let mut options = embedded_options(settings);
    options.rebuild_index = rebuild_index;
    options.calls = keeping(settings);
    let store = EmbeddedStore::open(path, options).map_err(|error| error.to_string())?;
    let OpenReport { rebuilt, cut_bytes, cut_frames } = store.open_report();
    tracing::info!(rebuilt, cut_bytes, cut_frames, "the store is open");
    if is_readable_by_others(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))? {
        let run = format!("chmod -R go-rwx {}", printable::shell_word(path));
        tracing::warn!(run, "other users of this machine can read the data");
    }
    Ok(store)
}

fn keeping(settings: &Common) -> Keeping {
    Keeping { time: settings.operations_kept, ..Keeping::DEFAULT }
}

/// Whether the modes of a directory and of what is in it allow anything to others than the owner. What this program
/// makes never does; older versions, and copies, may.
fn is_readable_by_others(directory: &Path) -> io::Result<bool> {
    let entries = |directory: &Path| -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
    };
    // Nothing that is wrong with the records of calls stops a start.
    let calls = entries(&directory.join("calls")).unwrap_or_default();
    let below = [vec![directory.to_owned()], entries(directory)?, entries(&directory.join("index"))?, calls].concat();
    let modes = below.iter().map(|path| match std::fs::metadata(path) {
        // sled replaces files beside this.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        about => Ok(about?.mode()),
    });
    Ok(modes.collect::<io::Result<Vec<_>>>()?.iter().any(|mode| mode & 0o077 != 0))
}

/// Opens the store in a database.
pub async fn open_postgres(address: &PostgresAddress, settings: &Common) -> Result<PostgresStore, String> {
    if address.is_exposed() {
        tracing::warn!(store = %address, "the database is on another machine, without verified TLS; add sslmode=verify-full");
    }
    let connections = settings.store_connections.into();
    let options = PostgresOptions { connections, calls: keeping(settings), ..PostgresOptions::default() };
    PostgresStore::open(address, options).await.map_err(|error| error.to_string())
}
