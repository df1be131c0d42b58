//! A disk in memory that keeps, at a crash, what a real one may keep.

use crate::embedded::log::disk::{Disk, Identity, LogIo};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// What a disk writes at once.
const SECTOR: usize = 512;

/// A generator of numbers (xorshift64*); the same seed gives the same schedule.
#[derive(Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`.
    pub(super) const fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }

    /// True once in `n` times.
    pub(super) const fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A seeded fault, which the checks have to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seeded {
    /// A sync of the log does nothing.
    SkippedSync,
    /// Another boot has the same id.
    OneBoot,
    /// The index loses an insert now and then.
    LostInsert,
    /// A flush of the index does nothing.
    SkippedFlush,
    /// A rewrite of the same bytes does not reach the disk.
    NoRewrite,
    /// A command is acknowledged before the sync.
    EarlyAnswer,
}

impl Seeded {
    pub(super) const ALL: [Self; 6] =
        [Self::SkippedSync, Self::OneBoot, Self::LostInsert, Self::SkippedFlush, Self::NoRewrite, Self::EarlyAnswer];
}

struct State {
    /// What the page cache has of the log.
    cached: Vec<u8>,
    /// What the disk has for sure.
    durable: Vec<u8>,
    /// The parts that were written since the last sync.
    dirty: Vec<(usize, usize)>,
    mark: Option<Vec<u8>>,
    boot: u128,
    chance: Chance,
    /// After so many more operations the simulation stops.
    fuel: u64,
    /// One sync in so many fails; 0: none.
    failing: u64,
    seeded: Option<Seeded>,
    /// Where a sync of the log, or a removal of the mark, is announced, so that it waits for the test.
    held: Option<Sender<Go>>,
}

/// Lets a sync of the log return, or a removal of the mark.
pub(super) type Go = SyncSender<io::Result<()>>;

/// The disk. Clones share it.
#[derive(Clone)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    pub(super) fn new(seed: u64, seeded: Option<Seeded>) -> Self {
        Self(Arc::new(Mutex::new(State {
            cached: Vec::new(),
            durable: Vec::new(),
            dirty: Vec::new(),
            mark: None,
            boot: 1,
            chance: Chance::new(seed),
            fuel: u64::MAX,
            failing: 0,
            seeded,
            held: None,
        })))
    }

    /// From now on, a sync of the log, or a removal of the mark, returns when the test says so.
    pub(super) fn hold(&self) -> Receiver<Go> {
        let (held, announced) = channel();
        self.state().held = Some(held);
        announced
    }

    /// Waits for the test.
    fn wait(&self) -> io::Result<()> {
        let held = self.state().held.clone();
        let (go, wait) = sync_channel(1);
        // A test that has ended holds nothing.
        if let Some(held) = held
            && held.send(go).is_ok()
            && let Ok(result) = wait.recv()
        {
            return result;
        }
        Ok(())
    }

    /// From now on, so many operations work; one sync in `failing` fails.
    pub(super) fn run_for(&self, fuel: u64, failing: u64) {
        let mut state = self.state();
        (state.fuel, state.failing) = (fuel, failing);
    }

    /// The power is cut: of what was not synced, any sectors and any length may remain.
    pub(super) fn cut_power(&self) {
        let mut state = self.state();
        let State { cached, durable, dirty, chance, .. } = &mut *state;
        let longest = cached.len().max(durable.len());
        for (from, to) in std::mem::take(dirty) {
            for sector in from / SECTOR..to.div_ceil(SECTOR) {
                if chance.one_in(2) {
                    continue;
                }
                let (begin, end) = ((sector * SECTOR).max(from), ((sector + 1) * SECTOR).min(to).min(cached.len()));
                if begin < end {
                    if durable.len() < end {
                        durable.resize(end, 0);
                    }
                    durable[begin..end].copy_from_slice(&cached[begin..end]);
                }
            }
        }
        if durable.len() < longest && chance.one_in(4) {
            // The length is ahead of the data.
            let more = 1 + chance.below((longest - durable.len()) as u64) as usize;
            durable.resize(durable.len() + more, 0);
        }
        state.cached = state.durable.clone();
        state.boot += 1;
        state.dirty.clear();
    }

    /// Flips a bit of the log.
    pub(super) fn flip(&self, bit: usize) {
        let mut state = self.state();
        state.cached[bit / 8] ^= 1 << (bit % 8);
        state.durable = state.cached.clone();
    }

    /// The length of the log.
    pub(super) fn length(&self) -> usize {
        self.state().cached.len()
    }

    /// Cuts the end of the log off, or leaves zeros in its place.
    pub(super) fn lose_end(&self, length: usize, zeros: bool) {
        let mut state = self.state();
        let before = state.cached.len();
        state.cached.truncate(length);
        if zeros {
            state.cached.resize(before, 0);
        }
        state.durable = state.cached.clone();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation; fails if the simulation has stopped.
    fn step(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        if state.fuel == 0 {
            return Err(io::Error::other("the simulation has stopped"));
        }
        state.fuel -= 1;
        Ok(state)
    }
}

impl Disk for SimDisk {
    type Log = Self;

    fn open_log(&self) -> io::Result<Self> {
        Ok(self.clone())
    }

    fn mark(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.state().mark.clone())
    }

    fn put_mark(&self, mark: &[u8]) -> io::Result<()> {
        // A replacement is there or not; the rename may become durable although the call was not answered.
        match self.step() {
            Ok(mut state) => state.mark = Some(mark.to_vec()),
            Err(error) => {
                let mut state = self.state();
                if state.chance.one_in(2) {
                    state.mark = Some(mark.to_vec());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn remove_mark(&self) -> io::Result<()> {
        self.wait()?;
        self.step()?.mark = None;
        Ok(())
    }

    fn identity(&self, _: &Self) -> Option<Identity> {
        let state = self.state();
        let boot = if state.seeded == Some(Seeded::OneBoot) { 1 } else { state.boot };
        Some(Identity { boot: Uuid::from_u128(boot), log: (1, 1), index: (1, 2) })
    }
}

impl LogIo for SimDisk {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let state = self.state();
        let at = at as usize;
        let bytes = state.cached.get(at..at + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let at = at as usize;
        let (mut state, written) = match self.step() {
            Ok(state) => (state, bytes.len()),
            Err(_) => {
                // A short write.
                let mut state = self.state();
                let written = state.chance.below(bytes.len() as u64 + 1) as usize;
                (state, written)
            }
        };
        let end = at + written;
        let same = state.cached.get(at..end) == Some(&bytes[..written]);
        if state.cached.len() < end {
            state.cached.resize(end, 0);
        }
        state.cached[at..end].copy_from_slice(&bytes[..written]);
        if !(same && state.seeded == Some(Seeded::NoRewrite)) {
            state.dirty.push((at, end));
        }
        if written == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.state().cached.len() as u64)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        let mut state = self.step()?;
        state.cached.truncate(length as usize);
        // A cut may reach the disk at any time before the sync.
        if state.chance.one_in(2) {
            state.durable.truncate(length as usize);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.wait()?;
        let mut state = self.step()?;
        let failing = state.failing;
        if failing > 0 && state.chance.one_in(failing) {
            // The kernel reports the error once and marks the pages as clean: they can be read, and are not on the
            // disk.
            state.dirty.clear();
            state.fuel = 0;
            return Err(io::Error::other("a sync failed"));
        }
        if state.seeded == Some(Seeded::SkippedSync) {
            return Ok(());
        }
        let State { cached, durable, dirty, .. } = &mut *state;
        durable.resize(cached.len(), 0);
        for (from, to) in dirty.drain(..) {
            let to = to.min(cached.len());
            if from < to {
                durable[from..to].copy_from_slice(&cached[from..to]);
            }
        }
        Ok(())
    }
}
