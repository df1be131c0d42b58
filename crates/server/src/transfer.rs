//! `lendpay export` and `lendpay import`.

mod file;

use crate::client::http::Client;
use crate::operator_settings::Access;
use crate::serve;
use crate::settings::StorePlace;
use crate::system_clock::SystemClock;
use clap::Args;
use file::{Destination, Progress, Tee, source};
use lendpay_api::Clock as _;
use lendpay_api::transfer::{Lines, Reader, check};
use lendpay_domain::record::Export as _;
use lendpay_domain::{Store as _, StoreError};
use lendpay_storage::{ImportError, SledImport, SledOptions, SledStore};
use std::io::{BufReader, Seek as _, Write};

/// What `export` needs.
#[derive(Debug, Args)]
pub struct Export {
    /// Where to write to; - is standard output.
    #[arg(value_name = "FILE|-")]
    file: String,

    /// Export from the running service, through its operator's side, in place of a stopped store.
    #[arg(long)]
    running: bool,

    /// The stopped store.
    #[arg(long, env = "LENDPAY_STORE", value_name = "STORE", default_value = "sled:./lendpay-data")]
    store: StorePlace,

    #[command(flatten)]
    access: Access,
}

/// What `import` needs.
#[derive(Debug, Args)]
pub struct Import {
    /// What to read; - is standard input.
    #[arg(value_name = "FILE|-")]
    file: String,

    /// Add to a store that is not empty what it has not got. Nothing that is there is changed.
    #[arg(long)]
    merge: bool,

    /// The store, which must not be running.
    #[arg(long, env = "LENDPAY_STORE", value_name = "STORE", default_value = "sled:./lendpay-data")]
    store: StorePlace,
}

/// The store's cache: exports and imports go through it once, from one end to the other.
fn options() -> SledOptions {
    let mut options = SledOptions::default();
    options.cache_capacity = 64 << 20;
    options
}

/// Writes everything to a file.
pub fn export(settings: &Export) -> Result<(), String> {
    let mut destination = Destination::create(&settings.file)?;
    let records = match settings.running {
        true => from_service(&settings.access, &mut destination)?,
        false => from_store(&settings.store, &mut destination)?,
    };
    destination.finish()?;
    eprintln!("{records} records exported to {}.", settings.file);
    Ok(())
}

fn from_store(StorePlace::Sled(path): &StorePlace, to: &mut Destination) -> Result<u64, String> {
    if !path.join("db").exists() {
        return Err(format!("there is no store in {}; name another one with --store", path.display()));
    }
    let store = SledStore::open(path, options()).map_err(|error| match error {
        lendpay_storage::OpenError::InUse { .. } => {
            format!("{error} Or export from the running service with --running.")
        }
        error => error.to_string(),
    })?;
    let unwritable = |error: std::io::Error| format!("the export cannot be written: {error}");
    serve::runtime()?.block_on(async {
        let failed = |error: StoreError| format!("the store cannot be read: {error}");
        let (mut lines, progress) = (Lines::default(), Progress::unknown("records"));
        to.write_all(&lines.header(SystemClock.now())).map_err(unwritable)?;
        let (mut export, mut records) = (store.export().await.map_err(failed)?, 0);
        loop {
            let some = export.next().await.map_err(failed)?;
            if some.is_empty() {
                break;
            }
            for record in &some {
                to.write_all(&lines.record(record)).map_err(unwritable)?;
            }
            records += some.len() as u64;
            progress.set(records);
        }
        to.write_all(&lines.end()).map_err(unwritable)?;
        Ok(records)
    })
}

fn from_service(access: &Access, to: &mut Destination) -> Result<u64, String> {
    let body = Client::new(access)?.stream("/operator/export")?;
    let progress = Progress::unknown("bytes");
    let whole = check(BufReader::with_capacity(1 << 16, Tee::new(body, to, &progress)));
    whole.map(|checked| checked.records).map_err(|problem| format!("the export did not arrive whole: {problem}"))
}

/// Reads an export into a store.
pub fn import(settings: &Import) -> Result<(), String> {
    let mut file = source(&settings.file)?;
    let refused = |problem| format!("{} is refused and nothing was imported: {problem}", settings.file);
    // All of it is checked before anything is written.
    let checked = check(BufReader::with_capacity(1 << 16, &file)).map_err(refused)?;
    file.rewind().map_err(|error| format!("{} cannot be read again: {error}", settings.file))?;
    let StorePlace::Sled(path) = &settings.store;
    let mut import = SledImport::begin(path, options(), settings.merge).map_err(|error| error.to_string())?;
    let mut reader = Reader::new(BufReader::with_capacity(1 << 16, &file));
    let (progress, mut records) = (Progress::of(checked.records), 0_u64);
    while let Some(record) = reader.next().map_err(refused)? {
        import.add(record).map_err(|error| match error {
            ImportError::Record(_) => {
                format!("{} is refused and nothing was imported: line {}: {error}", settings.file, reader.line())
            }
            error => error.to_string(),
        })?;
        records += 1;
        progress.set(records);
    }
    let done = import.finish().map_err(|error| error.to_string())?;
    drop(progress);
    eprintln!("{} records imported, {} of what was there before left as they are.", done.added, done.kept);
    Ok(())
}
