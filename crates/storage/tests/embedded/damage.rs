//! The table of damages: every file of a store that was closed, or killed, with a bit flipped, a part zeroed, its end
//! missing or garbage after it, or removed. Nothing is silent: the store has everything, or says so when the damaged
//! part is read, or refuses to open with the advice that helps.

use crate::child::Child;
use crate::conformance::samples::*;
use crate::seen::{Seen, fill, seen};
use crate::verify::verified;
use crate::{copy, copy_files, empty, files, open};
use lendpay_domain::StoreError;
use lendpay_domain::store::{Answer, Commands as _};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore, OpenError};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    /// One bit is another.
    Flip(u64),
    /// 500 bytes are zero.
    Zero(u64),
    /// The end is missing.
    Cut(u64),
    /// There is garbage after the end.
    Grow,
    Remove,
}

impl Harm {
    fn apply(self, path: &Path) {
        let file = std::fs::File::options().read(true).write(true).open(path).expect("there");
        let length = file.metadata().expect("there").len();
        match self {
            Self::Flip(bit) => {
                let mut byte = [0];
                file.read_exact_at(&mut byte, bit / 8).expect("reads");
                file.write_all_at(&[byte[0] ^ (1 << (bit % 8))], bit / 8).expect("writes");
            }
            Self::Zero(at) => {
                file.write_all_at(&vec![0; (length - at).min(500) as usize], at).expect("writes");
            }
            Self::Cut(at) => file.set_len(at).expect("cuts"),
            Self::Grow => file.write_all_at(&[0x5a; 500], length).expect("writes"),
            Self::Remove => std::fs::remove_file(path).expect("deletes"),
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug)]
struct Case {
    /// Relative to the store's directory.
    file: PathBuf,
    harm: Harm,
}

fn cases(directory: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for file in files(directory) {
        let bytes = std::fs::read(directory.join(&file)).expect("there");
        // sled's file goes on with zeros.
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1);
        let (flips, zeros, cuts) = match file.to_str().expect("plain") {
            "log" => (56, 20, 20),
            "mark" => (16, 1, 4),
            "index/db" => (24, 8, 8),
            "index/conf" => (8, 1, 2),
            _snapshot => (12, 2, 3),
        };
        let spread = move |count: u64| (0..count).map(move |n| (used - 1) * n / count);
        // Every bit of a byte comes up.
        cases.extend(
            spread(flips).enumerate().map(|(n, at)| Harm::Flip(8 * at + n as u64 % 8)).map(|harm| (file.clone(), harm)),
        );
        cases.extend(spread(zeros).map(|at| (file.clone(), Harm::Zero(at))));
        cases.extend(spread(cuts).map(|at| (file.clone(), Harm::Cut(at))));
        cases.extend([Harm::Grow, Harm::Remove].map(|harm| (file.clone(), harm)));
    }
    cases.into_iter().map(|(file, harm)| Case { file, harm }).collect()
}

/// The share of one of so many workers.
fn share(cases: &[Case], worker: usize, workers: usize) -> Vec<Case> {
    cases.iter().skip(worker).step_by(workers).cloned().collect()
}

/// What became of a damaged store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// It opens with everything there.
    Whole,
    /// It opens with everything there, after its index was rebuilt.
    Rebuilt,
    /// It opens, and says that it is damaged when the damaged part is read.
    Told,
    /// It does not open, and says that the log is damaged.
    Refused,
}

/// Opens a store and holds all that it answers against what it answered before.
async fn outcome(path: &Path, before: &[Answer<Seen>]) -> Result<Outcome, String> {
    let store = match EmbeddedStore::open(path, EmbeddedOptions::default()) {
        Ok(store) => store,
        Err(OpenError::Damaged { .. }) => return Ok(Outcome::Refused),
        Err(OpenError::Format { .. }) => return Err("it has another format".to_owned()),
        Err(error) => return Err(format!("it does not open: {error}")),
    };
    let report = store.open_report();
    let after = seen(&store).await;
    let failed = store.failure_reason();
    drop(store);
    if after == before {
        return Ok(if report.rebuilt { Outcome::Rebuilt } else { Outcome::Whole });
    }
    for (n, (after, before)) in after.iter().zip(before).enumerate() {
        match after {
            Err(StoreError::Corrupt) => {}
            Err(StoreError::Unavailable | StoreError::OutcomeUnknown) if failed.is_some() => {}
            after if after == before => {}
            after => return Err(format!("SILENT: answer {n} is {after:?}, was {before:?}; {report:?}, {failed:?}")),
        }
    }
    if failed.is_some() {
        // The index was damaged. The next opening rebuilds it.
        let start = Instant::now();
        while path.join("mark").exists() {
            if start.elapsed() > Duration::from_secs(10) {
                return Err("the index is damaged, and yet trusted at the next opening".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let next = open(copy(path).path());
        if seen(&next).await != before {
            return Err("the next opening does not have everything".to_owned());
        }
    }
    Ok(Outcome::Told)
}

/// How many cases of a file had an outcome.
type Table = BTreeMap<(String, Outcome), u32>;

/// Does the cases, those of each worker one after the other.
fn table<W: Send>(
    workers: Vec<(W, Vec<Case>)>,
    run: impl Fn(&mut W, &Case) -> Result<Outcome, String> + Send + Sync,
) -> Table {
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for (mut worker, cases) in workers {
            let (sender, run) = (sender.clone(), &run);
            scope.spawn(move || {
                for case in cases {
                    let result = run(&mut worker, &case);
                    sender.send((case, result)).expect("somebody listens");
                }
            });
        }
    });
    drop(sender);
    let (mut table, mut failed) = (Table::new(), Vec::new());
    for (case, result) in results {
        match result {
            Ok(outcome) => {
                let file = case
                    .file
                    .to_str()
                    .expect("plain")
                    .split_once("snap.")
                    .map_or_else(|| case.file.display().to_string(), |(before, _)| format!("{before}snap"));
                *table.entry((file, outcome)).or_default() += 1;
            }
            Err(problem) => failed.push(format!("{case:?}: {problem}")),
        }
    }
    assert!(failed.is_empty(), "{} cases:\n{}\n{table:#?}", failed.len(), failed.join("\n"));
    table
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

/// A directory in memory, if there is such a thing: these cases sync much, and no power is cut.
fn in_memory() -> TempDir {
    TempDir::new_in("/dev/shm").unwrap_or_else(|_| empty())
}

fn count(table: &Table, file: &str, outcome: Outcome) -> u32 {
    table.get(&(file.to_owned(), outcome)).copied().unwrap_or(0)
}

/// How many cases are done at once.
const CLOSED: usize = 16;
const KILLED: usize = 6;

#[test]
fn damage_of_a_closed_store_is_never_silent() {
    let directory = in_memory();
    let before = block_on(async {
        fill(&open(directory.path())).await;
        seen(&open(directory.path())).await
    });
    let (whole, findings) = verified(directory.path()).expect("opens");
    assert_eq!(findings, []);
    assert!(whole.records > 100 && whole.frames > 10 && whole.entries > Some(80), "{whole:?}");
    let (directory, before) = (directory.path(), &before);
    let cases = cases(directory);
    let shares = (0..CLOSED).map(|worker| ((), share(&cases, worker, CLOSED))).collect();
    let table = table(shares, |(), case| {
        let damaged = in_memory();
        copy_files(directory, damaged.path());
        case.harm.apply(&damaged.path().join(&case.file));
        // First: it changes nothing.
        let check = (!case.file.starts_with("index")).then(|| verified(damaged.path()));
        let outcome = match block_on(outcome(damaged.path(), before)) {
            // The version of the format is the one byte of the head that has no checksum.
            Err(_) if case.file == Path::new("log") && matches!(case.harm, Harm::Flip(56..64)) => Outcome::Refused,
            outcome => outcome?,
        };
        // A check of the stopped store finds what opening does not.
        match check {
            Some(Ok((_, findings))) if findings.is_empty() && matches!(outcome, Outcome::Told | Outcome::Refused) => {
                Err(format!("{outcome:?}, and not found by verify"))
            }
            Some(Err(error)) if outcome != Outcome::Refused => Err(format!("verify: {error}")),
            Some(_) | None => Ok(outcome),
        }
    });
    println!("closed: {table:#?}");
    // Opening reads nothing of a log that was closed but its head and its length: so much is found by verify only.
    assert!(count(&table, "log", Outcome::Told) >= 60, "{table:#?}");
    // Every cut, no log at all, and the head.
    assert!(count(&table, "log", Outcome::Refused) >= 21, "{table:#?}");
    expectations(&table);
}

/// What holds for closed and for killed stores.
fn expectations(table: &Table) {
    for (file, outcome) in table.keys() {
        let expected: &[Outcome] = match file.as_str() {
            "log" => &[Outcome::Whole, Outcome::Told, Outcome::Refused],
            "mark" => &[Outcome::Rebuilt],
            _index => &[Outcome::Whole, Outcome::Rebuilt, Outcome::Told],
        };
        assert!(expected.contains(outcome), "{file}: {outcome:?}");
    }
    assert!(table.values().sum::<u32>() >= 170, "both tables have 337 cases at least: {table:#?}");
}

/// A store whose process was killed, on the boot and in the files of that: what it left is put back for each case.
struct Killed {
    directory: TempDir,
    /// Second names of the log and of the index's file: they stay the same files when the store deletes them.
    kept: TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
    before: Vec<Answer<Seen>>,
}

/// The files that the mark names.
const NAMED: [&str; 2] = ["log", "index/db"];

impl Killed {
    fn new() -> Self {
        let (directory, kept) = (empty(), empty());
        Child::start("child::fills", directory.path()).kill_after("ready", 1);
        let read = |file: PathBuf| (file.clone(), std::fs::read(directory.path().join(file)).expect("there"));
        let files = files(directory.path()).into_iter().map(read).collect();
        for (n, file) in NAMED.iter().enumerate() {
            std::fs::hard_link(directory.path().join(file), kept.path().join(n.to_string())).expect("links");
        }
        let before = block_on(async { seen(&open(copy(directory.path()).path())).await });
        Self { directory, kept, files, before }
    }

    fn put_back(&self) {
        let path = self.directory.path();
        for file in files(path) {
            std::fs::remove_file(path.join(file)).expect("deletes");
        }
        std::fs::create_dir_all(path.join("index")).expect("creates");
        for (n, file) in NAMED.iter().enumerate() {
            std::fs::hard_link(self.kept.path().join(n.to_string()), path.join(file)).expect("links");
        }
        for (file, bytes) in &self.files {
            std::fs::write(path.join(file), bytes).expect("writes");
        }
    }
}

#[test]
fn damage_of_a_killed_store_is_never_silent() {
    let shares = std::thread::scope(|scope| {
        let make = |worker| {
            scope.spawn(move || {
                let killed = Killed::new();
                let cases = share(&cases(killed.directory.path()), worker, KILLED);
                (killed, cases)
            })
        };
        let started: Vec<_> = (0..KILLED).map(make).collect();
        started.into_iter().map(|killed| killed.join().expect("no panic")).collect()
    });
    let table = table(shares, |killed, case| {
        killed.put_back();
        case.harm.apply(&killed.directory.path().join(&case.file));
        match block_on(outcome(killed.directory.path(), &killed.before)) {
            Err(_) if case.file == Path::new("log") && matches!(case.harm, Harm::Flip(56..64)) => Ok(Outcome::Refused),
            outcome => outcome,
        }
    });
    println!("killed: {table:#?}");
    // What comes after the mark is read by opening too.
    assert!(count(&table, "log", Outcome::Refused) >= 23, "{table:#?}");
    expectations(&table);
}

/// Where the frames of a log end (README.md, "The log").
fn frame_ends(log: &[u8]) -> Vec<usize> {
    let mut ends = vec![64];
    while let Some(head) = log.get(ends[ends.len() - 1]..).and_then(|rest| rest.get(..32)) {
        let body = u32::from_le_bytes(head[8..12].try_into().expect("four bytes"));
        ends.push(ends[ends.len() - 1] + 32 + body as usize);
    }
    ends
}

/// A log that ends where a group ends says nothing of what came after it; the index does, also where it is not trusted:
/// the files were copied, or the mark is lost.
#[test]
fn a_log_that_lost_whole_groups_is_refused_as_long_as_the_index_knows_of_them() {
    let killed = empty();
    Child::start("child::fills", killed.path()).kill_after("ready", 1);
    let log = std::fs::read(killed.path().join("log")).expect("there");
    let ends = frame_ends(&log);
    assert_eq!(ends.last(), Some(&log.len()));
    for mark in [true, false] {
        for &end in &ends[ends.len() - 8..ends.len() - 1] {
            let lost = copy(killed.path());
            if !mark {
                std::fs::remove_file(lost.path().join("mark")).expect("deletes");
            }
            Harm::Cut(end as u64).apply(&lost.path().join("log"));
            let left = copy(lost.path());
            for _ in 0..2 {
                match EmbeddedStore::open(lost.path(), EmbeddedOptions::default()) {
                    Err(OpenError::Damaged { reason, .. })
                        if reason.contains("the index holds what comes after it") => {}
                    Err(error) => panic!("{end}, mark: {mark}: {error}"),
                    Ok(store) => panic!("SILENT: {end}, mark: {mark}: {:?}", store.open_report()),
                }
                assert!(std::fs::read(lost.path().join("log")).expect("there") == log[..end], "nothing is changed");
            }
            // On request it is opened with what there is.
            let mut options = EmbeddedOptions::default();
            options.rebuild_index = true;
            let store = EmbeddedStore::open(left.path(), options).expect("opens");
            assert!(store.open_report().rebuilt);
        }
    }
}

/// What a decision finds is known to readiness, as is what a read finds.
#[tokio::test]
async fn damage_that_a_decision_finds_is_told() {
    let directory = empty();
    let store = open(directory.path());
    with_partner(&store, 1).await;
    store.run(creation(1, 1, Some("k"), description(), 3)).await.expect("works");
    drop(store);
    let log = directory.path().join("log");
    let end = std::fs::metadata(&log).expect("there").len();
    Harm::Flip(8 * (end - 20)).apply(&log);
    let store = open(directory.path());
    assert_eq!((store.problem(), store.check().await), (None, Ok(())), "nobody has read it yet");
    let repeated = store.run(creation(1, 2, Some("k"), description(), 4)).await;
    assert_eq!(repeated.map(drop), Err(StoreError::Corrupt));
    let problem = store.problem().expect("it is damaged");
    assert!(problem.starts_with("the log is damaged at byte "), "{problem}");
    assert_eq!(store.check().await, Err(StoreError::Corrupt));
    assert_eq!(store.failure_reason(), None, "other commands go on");
    store.run(creation(1, 3, None, description(), 5)).await.expect("works");
}
