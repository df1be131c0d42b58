//! Writers that repeat what failed until it is done, as the guide tells partners to, and note what they were told
//! meanwhile.

use crate::fill;
use crate::http::{Answer, Connection};
use crate::ledger::{Ledger, locked};
use crate::server::Server;
use anyhow::{anyhow, bail};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Before what failed is repeated.
const PAUSE: Duration = Duration::from_millis(200);

/// Between two writes, while there is no hurry.
const REST: Duration = Duration::from_millis(500);

/// What they share.
#[derive(Default)]
struct Seen {
    over: AtomicBool,
    hurry: AtomicBool,
    /// For idempotency keys.
    next: AtomicUsize,
    /// How many accepts, each with a creation, each server has acknowledged.
    done: Vec<AtomicUsize>,
    /// How often each answer came that was no success.
    failures: Mutex<BTreeMap<String, usize>>,
    /// The longest time until a write was done, with its repetitions.
    longest: Mutex<Duration>,
}

/// Writers at work.
pub struct Writers {
    threads: Vec<JoinHandle<anyhow::Result<()>>>,
    seen: Arc<Seen>,
}

impl Writers {
    /// Starts so many, in turn at each of the servers.
    pub fn start(servers: &[Server], key: &str, ledger: &Arc<Ledger>, writers: usize) -> Self {
        let done = servers.iter().map(|_| AtomicUsize::new(0)).collect();
        let seen = Arc::new(Seen { done, ..Seen::default() });
        let write = |(n, server): (usize, &Server)| {
            let (seen, ledger, key, address) = (Arc::clone(&seen), Arc::clone(ledger), key.to_owned(), server.partner);
            std::thread::spawn(move || seen.write(n, address, &key, &ledger))
        };
        let threads = servers.iter().enumerate().cycle().take(writers).map(write).collect();
        Self { threads, seen }
    }

    /// Fails if one has ended.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.threads.iter().any(JoinHandle::is_finished) {
            bail!("a writer ended");
        }
        Ok(())
    }

    /// They write as fast as they can, or a little. Returns the longest time until a write was done since the last
    /// call.
    pub fn hurry(&self, hurry: bool) -> Duration {
        self.seen.hurry.store(hurry, Ordering::SeqCst);
        std::mem::take(&mut *locked(&self.seen.longest))
    }

    /// How many accepts, each with a creation, each server has acknowledged.
    pub fn done(&self) -> Vec<usize> {
        self.seen.done.iter().map(|done| done.load(Ordering::SeqCst)).collect()
    }

    /// Ends them once what they have begun is done; returns how often each answer came that was no success.
    pub fn end(self) -> anyhow::Result<String> {
        self.seen.over.store(true, Ordering::SeqCst);
        for writer in self.threads {
            writer.join().map_err(|_| anyhow!("a writer panicked"))??;
        }
        Ok(locked(&self.seen.failures).iter().map(|(answer, count)| format!("  {count:6}  {answer}\n")).collect())
    }
}

impl Seen {
    /// Accepts offers and creates buyers.
    fn write(&self, server: usize, partner: SocketAddr, key: &str, ledger: &Ledger) -> anyhow::Result<()> {
        let mut connection = Connection::new(partner);
        while !self.over.load(Ordering::SeqCst) {
            if !self.hurry.load(Ordering::SeqCst) {
                std::thread::sleep(REST);
            }
            let pair = ledger.take_offer().ok_or_else(|| anyhow!("the offers are used up"))?;
            let answer =
                self.until_done(&mut connection, partner, 200, |it| it.post(key, &pair.accept_path(), &[], b"{}"))?;
            ledger.accepted(pair, answer.text("statusChangedAt")?);
            let idempotency = format!("key-{}", self.next.fetch_add(1, Ordering::SeqCst));
            let answer = self.until_done(&mut connection, partner, 201, |it| fill::create(it, key, &idempotency))?;
            ledger.created(Some(idempotency), answer.text("id")?);
            self.done[server].fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Repeats a request that is answered with 503, or not at all.
    fn until_done(
        &self,
        connection: &mut Connection,
        partner: SocketAddr,
        status: u16,
        send: impl Fn(&mut Connection) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        let begin = Instant::now();
        loop {
            let failure = match send(connection) {
                Ok(answer) if answer.status == status => {
                    let mut longest = locked(&self.longest);
                    *longest = begin.elapsed().max(*longest);
                    return Ok(answer);
                }
                Ok(answer) if answer.status == 503 => format!("503 {}", answer.text("message")?),
                Ok(answer) => bail!("{} {}", answer.status, answer.body),
                Err(_) => {
                    *connection = Connection::new(partner);
                    "no answer".to_owned()
                }
            };
            *locked(&self.failures).entry(failure).or_default() += 1;
            std::thread::sleep(PAUSE);
        }
    }
}
