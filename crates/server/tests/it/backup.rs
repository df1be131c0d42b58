//! `lendpay backup`: copies of a running store's log, killed, refused, restored.

use crate::data::{check, fill, fill_with};
use crate::load::{Acknowledged, UNLIMITED, write};
use crate::operator::{Both, KEY};
use crate::process::{BINARY, Ended, Process, command, run};
use lendpay_storage::EmbeddedBackup;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A backup of a service, as a command.
fn backup(both: &Both, to: &Path) -> Command {
    let mut backup = both.command(&["backup", "--to"]);
    backup.arg(to);
    backup
}

/// The sentence of a backup that fails.
#[track_caller]
fn fails(mut backup: Command) -> String {
    let Output { status, stderr, .. } = backup.output().expect("the binary runs");
    let stderr = String::from_utf8(stderr).expect("UTF-8");
    assert_eq!((status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    stderr
}

#[track_caller]
fn works(mut backup: Command) -> String {
    let Output { status, stderr, .. } = backup.output().expect("the binary runs");
    let stderr = String::from_utf8(stderr).expect("UTF-8");
    assert!(status.success(), "{stderr}");
    stderr
}

fn ok(arguments: &[&str]) -> Ended {
    let ended = run(arguments);
    assert!(ended.status.success(), "{}", ended.stderr);
    ended
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a directory");
    for file in std::fs::read_dir(from).expect("a directory") {
        let file = file.expect("a file");
        if file.file_type().expect("known").is_file() {
            std::fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
        }
    }
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |about| about.len())
}

/// Stands before a service, passes on so many bytes of its answers, and then nothing more. Returns its address, and
/// what receives a word when nothing more comes.
fn tap(service: &str, bytes: usize) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (service, (stalled, word)) = (service.trim_start_matches("http://").to_owned(), channel());
    let left = Arc::new(AtomicUsize::new(bytes));
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&service).expect("a connection");
            let (mut from, mut to) = (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
            std::thread::spawn(move || {
                // The client may be killed.
                let _ = std::io::copy(&mut from, &mut to);
                to.shutdown(Shutdown::Both)
            });
            let (left, stalled) = (Arc::clone(&left), stalled.clone());
            std::thread::spawn(move || pass(server, client, &left, &stalled));
        }
    });
    (url, word)
}

/// Passes on what one connection answers.
fn pass(mut server: TcpStream, mut client: TcpStream, left: &AtomicUsize, stalled: &Sender<()>) {
    let mut piece = [0; 16 * 1024];
    loop {
        let most = left.load(Ordering::SeqCst).min(piece.len());
        if most == 0 {
            // The test may have ended.
            let _ = stalled.send(());
            std::thread::park();
        }
        match server.read(&mut piece[..most]) {
            Ok(length) if length > 0 && client.write_all(&piece[..length]).is_ok() => {
                left.fetch_sub(length, Ordering::SeqCst);
            }
            _ => return,
        }
    }
}

#[test]
fn a_backup_under_load_that_was_killed_ten_times_restores_everything_acknowledged_before_it() {
    /// More than is written and made durable at once.
    const MUCH: usize = 9 << 20;
    let directory = tempfile::tempdir().expect("a directory");
    let (original, target) = (directory.path().join("original"), directory.path().join("backup"));
    let data = fill_with(&original, 11_000, &"x".repeat(2_000));
    assert!(length(&original.join("log")) > 21 << 20);
    let both = Both::start(&original, &UNLIMITED);
    let (next, acknowledged) = (AtomicUsize::new(0), Acknowledged::default());
    let before = Mutex::new(Acknowledged::default());
    write(8, &both.server.address, &data, &next, &acknowledged, || {
        const KILLS: [usize; 10] = [700, 900, 5_000, MUCH, 100_000, MUCH, 70_000, 1 << 20, 1_000, 300_000];
        let (log, mark) = (target.join("log"), target.join("mark"));
        // Within the head of the answer, in its first bytes, in the middle of a write, after one, and in later runs.
        for (n, bytes) in KILLS.into_iter().enumerate() {
            let (url, stalled) = tap(&both.url, bytes);
            let mut backup = backup(&both, &target);
            backup.env("LENDPAY_OPERATOR_URL", &url);
            let marked = std::fs::read(&mark).ok();
            let process = Process::spawn(backup);
            stalled.recv().expect("it stalls");
            let is_writing = || length(&log) > 64;
            let has_written = || std::fs::read(&mark).ok() != marked;
            while bytes == MUCH && !(if n == 3 { is_writing() } else { has_written() }) {
                std::thread::yield_now();
            }
            process.signal("KILL");
            assert_eq!(process.wait().0.code(), None, "killed after {bytes} bytes");
        }
        let durable = EmbeddedBackup::open(&target).expect("opens").durable();
        assert!(durable > 8 << 20, "later runs go on from {durable}");
        let enough = acknowledged.count() + 200;
        while acknowledged.count() < enough {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut known = before.lock().expect("unpoisoned");
        known.offers = acknowledged.offers.lock().expect("unpoisoned").clone().into();
        known.buyers = acknowledged.buyers.lock().expect("unpoisoned").clone().into();
        let told = works(backup(&both, &target));
        assert!(told.contains("bytes copied") && told.contains("acknowledged before"), "{told}");
        both.server.process.signal("KILL");
    });
    let known = before.into_inner().expect("unpoisoned");
    assert!(known.offers.lock().expect("unpoisoned").len() > 50);
    drop(both);
    std::fs::remove_dir_all(&original).expect("it is gone");

    let restored = directory.path().join("restored");
    copy(&target, &restored);
    let store = format!("sled:{}", restored.display());
    let verified = ok(&["verify", "--store", &store]);
    assert!(verified.stderr.contains("records of the log can be read"), "{}", verified.stderr);
    ok(&["history", "new", "--store", &store]);
    check(&restored, &data, data.offers.len(), &known);
}

#[test]
fn a_backup_goes_on_is_remembered_and_belongs_to_its_user_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let (data, target) = (directory.path().join("data"), directory.path().join("a/backup"));
    let filled = fill(&data, 100);
    let both = Both::start(&data, &[]);
    let copied = |both: &Both, kind: &str| {
        let metrics = both.metrics();
        let name = format!("lendpay_copy_timestamp_seconds{{kind=\"{kind}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name)).expect("it is there").to_owned();
        line.parse::<u64>().expect("a number")
    };
    assert_eq!((copied(&both, "backup"), copied(&both, "export")), (0, 0));
    works(backup(&both, &target));
    let first = copied(&both, "backup");
    assert!(first > 1_700_000_000);
    let key = [("x-service-apikey", filled.key.as_str())];
    let accepted = both.server.post(&filled.accept_path(filled.offers[0]), &key, "");
    assert_eq!(accepted.expect("an answer").status, 200);
    both.run(&["export", &directory.path().join("export").display().to_string(), "--running"]);
    assert!(copied(&both, "export") >= first);
    let before = length(&target.join("log"));
    works(backup(&both, &target));
    assert!(length(&target.join("log")) > before);
    assert!(works(backup(&both, &target)).starts_with("0 bytes copied"));
    assert_eq!(std::fs::read(target.join("log")).expect("there"), std::fs::read(data.join("log")).expect("there"));
    for (path, mode) in [("", 0o700), ("log", 0o600), ("mark", 0o600)] {
        let about = std::fs::metadata(target.join(path)).expect("there");
        assert_eq!(about.permissions().mode() & 0o777, mode, "{path}");
    }
    assert_eq!(std::fs::read_dir(&target).expect("there").count(), 2);
    // Over a restart, also after a kill.
    let (backup, export) = (copied(&both, "backup"), copied(&both, "export"));
    both.server.process.signal("KILL");
    drop(both);
    let both = Both::start(&data, &[]);
    assert_eq!((copied(&both, "backup"), copied(&both, "export")), (backup, export));
}

#[test]
fn what_cannot_become_the_backup_is_refused_with_advice() {
    let directory = tempfile::tempdir().expect("a directory");
    let [data, old, other, target] = ["data", "old", "other", "backup"].map(|name| directory.path().join(name));
    let filled = fill(&data, 100);
    copy(&data, &old);
    fill(&other, 200);
    let both = Both::start(&data, &[]);
    for offer in &filled.offers {
        let key = [("x-service-apikey", filled.key.as_str())];
        assert_eq!(both.server.post(&filled.accept_path(*offer), &key, "").expect("an answer").status, 200);
    }
    works(backup(&both, &target));
    let whole = std::fs::read(target.join("log")).expect("there");
    // The data of a service that runs, and of one that was stopped.
    assert!(fails(backup(&both, &data)).contains("in use by another process"));
    assert!(fails(backup(&both, &other)).contains("holds a store and not a backup"));
    // Another run.
    let (url, stalled) = tap(&both.url, 2_000);
    let mut slow = backup(&both, &target);
    slow.env("LENDPAY_OPERATOR_URL", url);
    let slow = Process::spawn(slow);
    stalled.recv().expect("it stalls");
    assert!(fails(backup(&both, &target)).contains("in use by another process"));
    drop(slow);
    // A service with another log, and one that was restored from an older state.
    for data in [&other, &old] {
        let both = Both::start(data, &[]);
        let told = fails(backup(&both, &target));
        assert!(told.contains("another log") && told.contains("new directory"), "{told}");
    }
    assert!(both.fails(&["backup", "--to", &target.display().to_string()], &format!("{KEY}x")).contains("401"));
    assert!(std::fs::read(target.join("log")).expect("there") == whole, "nothing was changed");
    // A disk that is full; the kernel refuses to let a file grow past a limit.
    let full = directory.path().join("full");
    let mut limited = command("bash");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" backup --to \"$1\"", BINARY]).arg(&full);
    limited.env("LENDPAY_OPERATOR_URL", &both.url).env("LENDPAY_OPERATOR_KEY", KEY);
    assert!(fails(limited).contains("cannot be written"));
    works(backup(&both, &full));
    assert!(std::fs::read(full.join("log")).expect("there").starts_with(&whole));
    // What is not there makes nothing.
    let url = both.url.clone();
    drop(both);
    let mut lost = command(BINARY);
    let nothing = directory.path().join("nothing");
    lost.args(["backup", "--operator-url", &url, "--operator-key", KEY, "--to"]).arg(&nothing);
    assert!(fails(lost).contains("cannot be reached") && !nothing.exists());
}
