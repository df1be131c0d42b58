//! The kinds of stores, and what the service needs of one besides the ports.

use crate::settings::{Common, StorePlace};
use lendpay_domain::Store;
use lendpay_domain::store::Answer;
use lendpay_storage::{EmbeddedOptions, EmbeddedStore, PostgresAddress, PostgresOptions, PostgresStore, StoreStats};
use std::fmt;
use std::path::Path;

/// A store that can be watched and closed.
pub trait Kept: Store {
    /// Is ready, with the reason, when the process has to end since its store cannot go on; never otherwise.
    fn failure(&self) -> impl Future<Output = String> + Send;

    /// Why the store does not work, if it does not.
    fn failure_reason(&self) -> Option<String>;

    /// Counters.
    fn stats(&self) -> StoreStats;

    /// Does what waits, and takes nothing more.
    fn close(&self) -> impl Future<Output = Answer<()>> + Send;
}

macro_rules! kept {
    ($($store:ty),+) => {$(
        impl Kept for $store {
            fn failure(&self) -> impl Future<Output = String> + Send {
                self.failure()
            }

            fn failure_reason(&self) -> Option<String> {
                self.failure_reason()
            }

            fn stats(&self) -> StoreStats {
                self.stats()
            }

            async fn close(&self) -> Answer<()> {
                self.close().await
            }
        }
    )+};
}

kept!(EmbeddedStore, PostgresStore);

/// Opens the embedded store in a directory.
pub fn open_sled(path: &Path, settings: &Common) -> Result<EmbeddedStore, String> {
    let mut options = EmbeddedOptions::default();
    options.cache_capacity = u64::from(settings.cache) << 20;
    EmbeddedStore::open(path, options).map_err(|error| error.to_string())
}

/// Opens the store in a database.
pub async fn open_postgres(address: &PostgresAddress, settings: &Common) -> Result<PostgresStore, String> {
    let options = PostgresOptions { connections: settings.store_connections.into(), ..PostgresOptions::default() };
    PostgresStore::open(address, options).await.map_err(|error| error.to_string())
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sled(path) => write!(f, "sled:{}", path.display()),
            Self::Postgres(address) => address.fmt(f),
        }
    }
}
