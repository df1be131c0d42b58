//! What a large store costs.
//!
//! | module | subject |
//! |---|---|
//! | `growth` | speed, memory, disk and reopening of a store with few offers and one with many, side by side |
//! | `console` | pages of the operator's console, with many |
//! | `lists` | pages of lists, by each filter, with few offers and buyers and with many, on both kinds of store |
//! | `listed` | the file that these stores are imported from |
//! | `transfer` | export from a running service, import, and the export of what was imported |

mod console;
mod growth;
mod listed;
mod lists;
mod transfer;

use crate::fill;
use crate::lab::{Lab, remove};
use crate::server::Server;
use xshell::cmd;

/// How large.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many offers the large store holds.
    #[arg(long, default_value_t = 5_000_000)]
    offers: usize,
    /// How many offers are exported and imported.
    #[arg(long, default_value_t = 1_000_000)]
    exported: usize,
    /// How many offers, and as many buyers, the store holds whose lists are read.
    #[arg(long, default_value_t = 1_000_000)]
    listed: usize,
    /// Memory for the store's cache, in MiB.
    #[arg(long, default_value_t = 1_024)]
    cache: u32,
    /// How many updates the large store gets: new terms for offers that it has.
    #[arg(long, default_value_t = 1_000_000)]
    updates: usize,
    /// Take the service as tests build it, which takes no time to build.
    #[arg(long)]
    unoptimized: bool,
}

const MIB: f64 = 1024.0 * 1024.0;

/// Builds the service and measures all of it.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lab = Lab::new("scale", !arguments.unoptimized)?;
    if arguments.offers > 0 || arguments.exported > 0 {
        lab.needs("load")?;
    }
    let place = Place { lab, cache: arguments.cache.to_string() };
    if arguments.listed > 0 {
        lists::measure(&place, arguments.listed)?;
    }
    if arguments.exported > 0 {
        transfer::measure(&place, arguments.exported)?;
    }
    if arguments.offers > 0 {
        growth::measure(&place, arguments.offers, arguments.updates)?;
    }
    remove(&place.lab.path(""))
}

/// Where everything is.
struct Place {
    lab: Lab,
    cache: String,
}

impl Place {
    /// A store with so many offers, and its partner's key.
    fn filled(&self, name: &str, count: usize) -> anyhow::Result<(Server, String)> {
        println!("\n{name}: {count} offers");
        let server = self.start(name)?;
        let key = fill::fill(&self.lab, &server, &fill::offers(count))?;
        Ok((server, key))
    }

    fn start(&self, name: &str) -> anyhow::Result<Server> {
        self.lab.serve(&self.lab.store(name), &["--cache", &self.cache])
    }

    /// What a store takes on the disk, in bytes.
    fn size(&self, name: &str) -> anyhow::Result<f64> {
        let (shell, store) = (self.lab.shell()?, self.lab.path(name));
        let said = cmd!(shell, "du --summarize --block-size=1 {store}").quiet().read()?;
        Ok(said.split_whitespace().next().unwrap_or_default().parse()?)
    }
}
