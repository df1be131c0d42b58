//! What a large store costs.
//!
//! | module | subject |
//! |---|---|
//! | `growth` | speed, memory, disk and reopening of a store with few offers and one with many, side by side |
//! | `transfer` | export from a running service, import, and the export of what was imported |

mod growth;
mod transfer;

use crate::fill;
use crate::server::{Kind, Server, remove, shipped};
use anyhow::Context as _;
use std::fs;
use std::path::{Path, PathBuf};

/// How large.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many offers the large store holds.
    #[arg(long, default_value_t = 5_000_000)]
    offers: usize,
    /// How many offers are exported and imported.
    #[arg(long, default_value_t = 1_000_000)]
    exported: usize,
    /// Memory for the store's cache, in MiB.
    #[arg(long, default_value_t = 1_024)]
    cache: u32,
    /// How many updates the large store gets: new terms for offers that it has.
    #[arg(long, default_value_t = 1_000_000)]
    updates: usize,
}

/// Builds the service and measures both.
pub fn run(root: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let place =
        Place { programs: shipped(root, &["lendpay"])?, folder: root.join("target/scale"), cache: arguments.cache };
    remove(&place.folder)?;
    fs::create_dir_all(&place.folder).with_context(|| format!("cannot create {}", place.folder.display()))?;
    if arguments.exported > 0 {
        transfer::measure(&place, arguments.exported)?;
    }
    if arguments.offers > 0 {
        growth::measure(&place, arguments.offers, arguments.updates)?;
    }
    remove(&place.folder)
}

/// Where everything is.
struct Place {
    programs: PathBuf,
    folder: PathBuf,
    cache: u32,
}

impl Place {
    /// A store with so many offers, and its partner's key.
    fn filled(&self, name: &str, count: usize) -> anyhow::Result<(Server, String)> {
        println!("\n{name}: {count} offers");
        let server = self.start(name)?;
        let key = fill::fill(&server, &self.folder, &fill::offers(count))?;
        Ok((server, key))
    }

    fn start(&self, name: &str) -> anyhow::Result<Server> {
        let cache = ["--cache".to_owned(), self.cache.to_string()];
        Server::start_with(&self.programs, &self.folder, Kind::Lendpay, &self.data(name), &cache)
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// What a folder takes on the disk, in bytes.
fn size(folder: &Path) -> anyhow::Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let mut sum = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        // Blocks of 512 bytes, whatever the file system's are.
        sum += if about.is_dir() { size(&entry.path())? } else { about.blocks() * 512 };
    }
    Ok(sum)
}
