//! kill -9 in the middle of load: what was acknowledged is there, and nothing is half there.

use crate::data::{check, fill};
use crate::load::{Acknowledged, UNLIMITED, write};
use crate::process::Server;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn kill_9_under_load_loses_nothing_acknowledged_and_leaves_nothing_half_done() {
    const ROUNDS: usize = 10;
    const WRITERS: usize = 64;
    const EACH_ROUND: usize = 300;
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 4_000);
    let (next, acknowledged) = (AtomicUsize::new(0), Acknowledged::default());
    for round in 1..=ROUNDS {
        let server = Server::start(directory.path(), &UNLIMITED);
        let enough = round * EACH_ROUND;
        write(WRITERS, &server.address, &data, &next, &acknowledged, || {
            while acknowledged.count() < enough {
                assert!(next.load(Ordering::SeqCst) < data.offers.len(), "the offers are used up before the kill");
                std::thread::sleep(Duration::from_millis(1));
            }
            server.process.signal("KILL");
        });
        drop(server);
        // Offers that nobody has asked for yet are read once, in the last round.
        let asked_for = if round < ROUNDS { next.load(Ordering::SeqCst) } else { data.offers.len() };
        check(directory.path(), &data, asked_for, &acknowledged);
    }
    println!("{ROUNDS} kills, {} acknowledged writes, none lost", acknowledged.count());
}
