//! Empty stores of either kind, for experiments.

use crate::lab::{Lab, remove};
use lendpay_cluster::{Begin, Cluster};

/// A kind of store.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    Sled,
    Postgres,
}

/// On which kinds of store an experiment is done.
#[derive(clap::Args)]
pub struct Wanted {
    /// One kind of store alone, in place of both.
    #[arg(long, value_enum)]
    store: Option<Kind>,
}

impl Wanted {
    /// Those that are wanted.
    pub fn start(&self) -> Vec<Stores> {
        let all = [Kind::Sled, Kind::Postgres];
        all.into_iter().filter(|kind| self.store.is_none_or(|wanted| wanted == *kind)).map(Stores::start).collect()
    }
}

/// Where empty stores of one kind come from.
pub enum Stores {
    Sled,
    Postgres(Box<Cluster>),
}

impl Stores {
    /// Starts a database server, if the kind needs one.
    pub fn start(kind: Kind) -> Self {
        match kind {
            Kind::Sled => Self::Sled,
            Kind::Postgres => Self::Postgres(Box::new(cluster())),
        }
    }

    /// How reports name the kind.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    /// The database server, if there is one.
    pub fn cluster(&self) -> Option<&Cluster> {
        match self {
            Self::Sled => None,
            Self::Postgres(cluster) => Some(cluster),
        }
    }

    /// An empty store, as the service's command line names it; `directory` is where it is, if it is one.
    pub fn empty(&self, lab: &Lab, directory: &str) -> anyhow::Result<String> {
        match self {
            Self::Sled => {
                remove(&lab.path(directory))?;
                Ok(lab.store(directory))
            }
            Self::Postgres(cluster) => database(lab, cluster),
        }
    }
}

/// A database server with the memory that one in production would have at least.
pub fn cluster() -> Cluster {
    Cluster::start(Begin::Empty, &["shared_buffers=512MB", "max_wal_size=4GB"])
}

/// A database of its own with empty tables; returns its connection string.
pub fn database(lab: &Lab, cluster: &Cluster) -> anyhow::Result<String> {
    let url = cluster.database();
    lab.lendpay(&["migrate", "--store", &url])?;
    Ok(url)
}
