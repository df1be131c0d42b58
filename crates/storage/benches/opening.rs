//! Opening a store: after a kill, and with the index rebuilt. The criterion of the one is 1 second with 1,000,000
//! offers, of the other 60 seconds with 10,000,000 entries of the index. Run with
//! `cargo bench -p lendpay-storage --bench opening -- [OFFERS]`; each 10,000,000 offers take some 10 GB.

use lendpay_domain::change::{Change, OfferKey};
use lendpay_domain::store::Commands as _;
use lendpay_domain::testing::samples::*;
use lendpay_domain::{ApplicationId, OfferId};
use lendpay_storage::{EmbeddedImport, EmbeddedOptions, EmbeddedStore};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The first argument of the process that is killed.
const CHILD: &str = "child";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [child, path] = &arguments[..]
        && child == CHILD
    {
        return write(Path::new(path));
    }
    let offers = arguments.first().map_or(50_000, |offers| offers.parse().expect("a number of offers"));
    let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    timed("import", offers, || fill(directory.path(), offers));
    kill(directory.path());
    let mut options = EmbeddedOptions::default();
    let store = timed("open after a kill", offers, || EmbeddedStore::open(directory.path(), options).expect("opens"));
    println!("{:?}; the estimate for a rebuild is {:.1?}", store.open_report(), store.rebuild_estimate());
    timed("close", offers, || drop(store));
    options.rebuild_index = true;
    let store = timed("rebuild", offers, || EmbeddedStore::open(directory.path(), options).expect("opens"));
    timed("close", offers, || drop(store));
    timed("open", offers, || EmbeddedStore::open(directory.path(), EmbeddedOptions::default()).expect("opens"));
}

fn timed<T>(what: &str, offers: u64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let took = start.elapsed();
    println!("{what}: {took:.2?}, {:.2?} an offer", took / u32::try_from(offers).expect("fewer than 2^32"));
    done
}

/// Ids that are as far apart as random ones.
const fn scattered(n: u64) -> [u8; 16] {
    (n as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).to_be_bytes()
}

/// Imports offers, ten for each application.
fn fill(directory: &Path, offers: u64) {
    let mut import = EmbeddedImport::begin(directory, EmbeddedOptions::default(), false, at(0)).expect("begins");
    let mut sequence = 0;
    let mut add = |change| {
        sequence += 1;
        import.add(record(sequence, change)).expect("fits");
    };
    add(partner_put(1, None));
    for n in 0..offers {
        let (application, partner) = (ApplicationId::from_bytes(scattered(n / 10)), partner(1));
        if n % 10 == 0 {
            add(Change::ApplicationPut { application, partner });
        }
        let offer = OfferKey { partner, application, offer: OfferId::from_bytes(scattered(n)) };
        add(Change::OfferCreated { offer, terms: terms(), at: at(1) });
    }
    import.finish().expect("works");
}

/// Kills a process that writes.
fn kill(directory: &Path) {
    let program = std::env::current_exe().expect("a path");
    let mut child = Command::new(program).arg(CHILD).arg(directory).stdout(Stdio::piped()).spawn().expect("starts");
    let said = BufReader::new(child.stdout.take().expect("a pipe")).lines().next();
    assert_eq!(said.expect("a line").expect("text"), "ready");
    child.kill().expect("is killed");
    child.wait().expect("ends");
}

/// Writes for as long as three checkpoints take.
fn write(directory: &Path) {
    let store = EmbeddedStore::open(directory, EmbeddedOptions::default()).expect("opens");
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let start = Instant::now();
        for part in 0.. {
            let all = (0..200).map(|n| store.run(creation(1, 200 * part + n, None, description(), 0)));
            for outcome in futures_util::future::join_all(all).await {
                outcome.expect("is created");
            }
            if start.elapsed() > Duration::from_millis(3_500) {
                println!("ready");
                std::future::pending::<()>().await;
            }
        }
    });
}
