//! Writers that go on until the service is gone, and note what it has acknowledged.

use crate::fill;
use crate::http::{Answer, Connection};
use crate::ledger::Ledger;
use crate::server::{OPERATOR_KEY, Server};
use anyhow::{anyhow, ensure};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// What the service says once its disk fails; it ends then.
const GONE: u16 = 503;

/// Numbers for idempotency keys and amounts, each taken once.
static NEXT: AtomicUsize = AtomicUsize::new(1_000_000);

/// Writers at work.
pub struct Writers(Vec<JoinHandle<anyhow::Result<()>>>);

impl Writers {
    /// Starts so many, and returns once so many more writes were acknowledged. They overwrite terms, or accept offers
    /// and create buyers.
    pub fn start(
        server: &Server,
        key: &str,
        ledger: &Arc<Ledger>,
        overwriting: bool,
        writers: usize,
        writes: usize,
    ) -> anyhow::Result<Self> {
        ledger.closed.store(false, Ordering::SeqCst);
        let enough = ledger.acknowledged() + writes;
        let threads = (0..writers).map(|writer| {
            let (ledger, key, partner, operator) =
                (Arc::clone(ledger), key.to_owned(), server.partner, server.operator);
            std::thread::spawn(move || {
                if overwriting { overwrite(operator, &ledger, writer, writers) } else { add(partner, &key, &ledger) }
            })
        });
        let running = Self(threads.collect());
        while ledger.acknowledged() < enough {
            ensure!(!running.0.iter().all(JoinHandle::is_finished), "the writers ended before the service did");
            std::thread::yield_now();
        }
        Ok(running)
    }

    /// Waits until all have noticed that the service is gone.
    pub fn join(self) -> anyhow::Result<()> {
        self.0.into_iter().try_for_each(|writer| writer.join().map_err(|_| anyhow!("a writer panicked"))?)
    }
}

/// The answer, if there is one and it counts.
fn counts(answer: anyhow::Result<Answer>, ledger: &Ledger, status: u16) -> anyhow::Result<Option<Answer>> {
    match answer {
        Ok(answer) if answer.status != GONE && !ledger.closed.load(Ordering::SeqCst) => {
            ensure!(answer.status == status, "{} {}", answer.status, answer.body);
            Ok(Some(answer))
        }
        _ => Ok(None),
    }
}

/// Accepts offers and creates buyers.
fn add(partner: SocketAddr, key: &str, ledger: &Ledger) -> anyhow::Result<()> {
    let mut connection = Connection::new(partner);
    while let Some(pair) = ledger.take_offer() {
        let answer = connection.post(key, &pair.accept_path(), &[], b"{}");
        let Some(answer) = counts(answer, ledger, 200)? else { return Ok(()) };
        ledger.accepted(pair, answer.text("statusChangedAt")?);
        let idempotency = format!("key-{}", NEXT.fetch_add(1, Ordering::SeqCst));
        let answer = fill::create(&mut connection, key, &idempotency);
        let Some(answer) = counts(answer, ledger, 201)? else { return Ok(()) };
        ledger.created(Some(idempotency), answer.text("id")?);
    }
    Err(anyhow!("the offers are used up"))
}

/// Overwrites the terms of offers, each writer its own.
fn overwrite(operator: SocketAddr, ledger: &Ledger, writer: usize, writers: usize) -> anyhow::Result<()> {
    let mut connection = Connection::new(operator);
    for n in (writer..ledger.overwritten()).step_by(writers).cycle() {
        let amount = NEXT.fetch_add(1, Ordering::SeqCst);
        let pair = ledger.overwrite(n, amount);
        let terms = fill::terms(amount);
        let headers = [("X-Operator-Key", OPERATOR_KEY)];
        let answer = connection.call("PUT", &pair.operator_path(), &headers, terms.as_bytes());
        if counts(answer, ledger, 200)?.is_none() {
            return Ok(());
        }
        ledger.overwrote(n, amount);
    }
    Ok(())
}
