//! `lendpay backup`, `lendpay export`, `lendpay import`, `lendpay history`, `lendpay migrate` and `lendpay verify`.

mod backup;
mod file;

pub use backup::backup;

use crate::client::http::Client;
use crate::runtime;
use crate::settings::{Access, Export, HistoryCommand, Import, KeptIn, Migrate, StorePlace};
use crate::store::no_sandbox;
use crate::system_clock::SystemClock;
pub use file::source;

use file::{Destination, Tee, of_records, unbounded};
use lendpay_api::Clock as _;
use lendpay_api::transfer::{Lines, Problem, Reader, check};
use lendpay_domain::StoreError;
use lendpay_domain::change::Record;
use lendpay_domain::import::Imported;
use lendpay_domain::store::{self, Exports as _};
use lendpay_storage::{
    EmbeddedExport, EmbeddedImport, EmbeddedOptions, ImportError, OpenError, PostgresImport, PostgresOptions,
    PostgresStore, verify_embedded,
};
use std::cell::Cell;
use std::io::{BufReader, Seek as _, Write};

/// The store's cache: exports and imports go through it once, from one end to the other.
fn options() -> EmbeddedOptions {
    let mut options = EmbeddedOptions::default();
    options.cache_capacity = 64 << 20;
    options
}

/// Writes everything to a file.
pub fn export(settings: &Export) -> Result<(), String> {
    let mut destination = Destination::create(&settings.file)?;
    let records = match settings.running {
        true => from_service(&settings.access, destination.writer())?,
        false => from_store(&settings.kept.store, destination.writer())?,
    };
    destination.finish()?;
    eprintln!("{records} records exported to {}.", settings.file);
    Ok(())
}

/// Refuses a directory without a store: opening would create one.
fn existing(place: &StorePlace) -> Result<&StorePlace, String> {
    match place {
        StorePlace::Sled(path) if !path.join("log").exists() => {
            Err(format!("there is no store in {}; name another one with --store", path.display()))
        }
        place => Ok(place),
    }
}

fn from_store(place: &StorePlace, to: &mut dyn Write) -> Result<u64, String> {
    let place = existing(place)?;
    runtime::run(async {
        match place {
            StorePlace::Sled(path) => {
                let export = EmbeddedExport::of_stopped(path).map_err(|error| match error {
                    OpenError::InUse { .. } => format!("{error} Or export from the running service with --running."),
                    error => error.to_string(),
                })?;
                write(export, EmbeddedExport::problem, to).await
            }
            StorePlace::Postgres(address) => {
                let store = PostgresStore::open(address, PostgresOptions::default()).await;
                let store = store.map_err(|error| error.to_string())?;
                let reason = |_: &_| store.failure_reason();
                let export = store.export().await.map_err(|error| unreadable(error, store.failure_reason()))?;
                write(export, reason, to).await
            }
        }
    })
}

fn unreadable(error: StoreError, reason: Option<String>) -> String {
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    format!("the store cannot be read: {error}{reason}")
}

async fn write<E: store::Export>(
    mut export: E,
    reason: impl Fn(&E) -> Option<String>,
    to: &mut dyn Write,
) -> Result<u64, String> {
    let unwritable = |error: std::io::Error| format!("the export cannot be written: {error}");
    let (mut lines, progress, mut records) = (Lines::default(), unbounded("records"), 0);
    to.write_all(&lines.header(SystemClock.now(), export.history())).map_err(unwritable)?;
    loop {
        let some = export.next().await.map_err(|error| unreadable(error, reason(&export)))?;
        if some.is_empty() {
            break;
        }
        for record in &some {
            to.write_all(&lines.record(record)).map_err(unwritable)?;
        }
        records += some.len() as u64;
        progress.set_position(records);
    }
    to.write_all(&lines.end()).map_err(unwritable)?;
    Ok(records)
}

fn from_service(access: &Access, to: &mut dyn Write) -> Result<u64, String> {
    let answer = Client::new(access)?.stream("/operator/export")?;
    let from = unbounded("bytes").wrap_read(answer.into_body().into_reader());
    let checked = check(BufReader::with_capacity(1 << 16, Tee { from, to }));
    checked.map(|checked| checked.records).map_err(|problem| format!("the export did not arrive complete: {problem}"))
}

/// Reads an export into a store.
pub fn import(settings: &Import) -> Result<(), String> {
    let mut file = source(&settings.file)?;
    let refused = |problem: Problem| format!("{} is refused and nothing was imported: {problem}", settings.file);
    // All of it is checked before anything is written.
    let checked = check(BufReader::with_capacity(1 << 16, &file)).map_err(refused)?;
    file.rewind().map_err(|error| format!("{} cannot be read again: {error}", settings.file))?;
    let mut reader = Reader::new(BufReader::with_capacity(1 << 16, &file));
    let (progress, last) = (of_records(checked.records), Cell::new(0));
    let records = std::iter::from_fn(|| {
        let record = reader.next().map_err(refused).transpose()?;
        last.set(reader.line());
        progress.inc(1);
        Some(record)
    });
    let failed = |error: ImportError| match error {
        // A record is a line.
        ImportError::Record { problem, back } => refused(Problem { line: last.get() - back, what: problem.to_owned() }),
        error => error.to_string(),
    };
    let done = runtime::run(add_all(&settings.kept.store, settings.merge, records, failed))?;
    progress.finish_and_clear();
    let Imported { added, kept, expired_keys, unchecked_buyers } = done;
    eprintln!("{added} records imported, {kept} of what was there before left as they are.");
    if expired_keys > 0 {
        eprintln!("Keys among them that have expired: {expired_keys}.");
    }
    if unchecked_buyers > 0 {
        eprintln!("Buyers among them that would not pass today's full checks: {unchecked_buyers}.");
    }
    Ok(())
}

/// Begins a new history. An import does that, also one of nothing.
pub fn history(HistoryCommand::New(kept): &HistoryCommand) -> Result<(), String> {
    let place = existing(&kept.store)?;
    runtime::run(add_all(place, true, std::iter::empty(), |error| error.to_string()))?;
    eprintln!("A new history has begun. Readers of events have to read them again from the beginning.");
    Ok(())
}

/// Imports records into a store of either kind.
async fn add_all(
    place: &StorePlace,
    merge: bool,
    records: impl Iterator<Item = Result<Record, String>>,
    failed: impl Fn(ImportError) -> String,
) -> Result<Imported, String> {
    let now = SystemClock.now();
    match place {
        StorePlace::Sled(path) => {
            no_sandbox(path)?;
            let mut import = EmbeddedImport::begin(path, options(), merge, now).map_err(&failed)?;
            for record in records {
                import.add(record?).map_err(&failed)?;
            }
            import.finish().map_err(failed)
        }
        StorePlace::Postgres(address) => {
            let mut import = PostgresImport::begin(address, merge, now).await.map_err(&failed)?;
            for record in records {
                import.add(record?).await.map_err(&failed)?;
            }
            import.finish().await.map_err(failed)
        }
    }
}

/// Checks a stopped embedded store, and prints each thing that is damaged.
pub fn verify(kept: &KeptIn) -> Result<(), String> {
    let StorePlace::Sled(path) = existing(&kept.store)? else {
        return Err("a database has checks of its own; name an embedded store with --store sled:DIRECTORY".to_owned());
    };
    let mut output = std::io::stdout().lock();
    // Whoever closes the output early has seen enough; the exit code tells the rest.
    let checked = verify_embedded(path, options(), |finding| drop(writeln!(output, "{finding}")));
    let done = checked.map_err(|error| error.to_string())?;
    if done.findings > 0 {
        return Err(format!("{} problems were found in {}", done.findings, path.display()));
    }
    let index = done.entries.map_or("its index was not compared, as it was not closed".to_owned(), |entries| {
        format!("{entries} entries of its index fit them")
    });
    eprintln!("{} records of the log can be read; {index}.", done.records);
    if done.unfinished > 0 {
        eprintln!("The last {} bytes of the log were never acknowledged; a start cuts them off.", done.unfinished);
    }
    Ok(())
}

/// Makes or renews the tables of a database.
pub fn migrate(settings: &Migrate) -> Result<(), String> {
    let StorePlace::Postgres(address) = &settings.store else {
        return Err("an embedded store has no tables; name a database with --store postgres://…".to_owned());
    };
    let migrate = lendpay_storage::postgres::migrate(address);
    let steps = runtime::run(async { migrate.await.map_err(|error| error.to_string()) })?;
    match steps {
        0 => eprintln!("The tables at {address} are up to date."),
        _ => eprintln!("The tables at {address} are up to date now, {steps} steps later."),
    }
    Ok(())
}
