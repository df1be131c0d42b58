//! An index in memory. A crash of the process keeps a prefix of what was written since the last
//! flush; a power cut keeps any part of what was written since the last sync.

use super::disk::Seeded;
use crate::embedded::index::{Index, IndexOpener, Item, Items, Table};
use crate::embedded::problem::Problem;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Tables = BTreeMap<(Table, Vec<u8>), Vec<u8>>;

/// One write; without a value, a removal.
type Write = ((Table, Vec<u8>), Option<Vec<u8>>);

fn apply(tables: &mut Tables, writes: impl IntoIterator<Item = Write>) {
    for (key, value) in writes {
        match value {
            Some(value) => drop(tables.insert(key, value)),
            None => drop(tables.remove(&key)),
        }
    }
}

#[derive(Default)]
struct State {
    seeded: Option<Seeded>,
    inserts: u64,
    now: Tables,
    /// What the operating system has.
    flushed: Tables,
    /// What the disk has.
    durable: Tables,
    /// What was written since the last flush.
    unflushed: Vec<Write>,
}

/// An index that outlives the store that opened it, as files do.
#[derive(Clone, Default)]
pub(crate) struct MemoryIndex(Arc<Mutex<State>>);

impl MemoryIndex {
    pub(crate) fn new(seeded: Option<Seeded>) -> Self {
        Self(Arc::new(Mutex::new(State { seeded, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process ends: of what was not flushed, the first `kept` writes have reached the operating system.
    pub(crate) fn crash(&self, kept: usize) {
        let mut state = self.state();
        let writes = std::mem::take(&mut state.unflushed);
        apply(&mut state.flushed, writes.into_iter().take(kept));
        state.now = state.flushed.clone();
    }

    /// The power is cut: of what was not synced, what `keep` says remains.
    pub(crate) fn cut_power(&self, mut keep: impl FnMut() -> bool) {
        let mut state = self.state();
        let mut left = std::mem::take(&mut state.durable);
        for (key, value) in &state.flushed {
            if left.get(key) != Some(value) && keep() {
                left.insert(key.clone(), value.clone());
            }
        }
        (state.flushed, state.now, state.durable) = (left.clone(), left.clone(), left);
    }

    /// How many writes are not flushed.
    pub(crate) fn unflushed(&self) -> usize {
        self.state().unflushed.len()
    }
}

impl Index for MemoryIndex {
    type Bytes = Vec<u8>;

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, Problem> {
        Ok(self.state().now.get(&(table, key.to_vec())).cloned())
    }

    fn insert(&self, table: Table, key: &[u8], value: &[u8]) -> Result<(), Problem> {
        let (key, value) = ((table, key.to_vec()), value.to_vec());
        let mut state = self.state();
        state.inserts += 1;
        if state.seeded == Some(Seeded::LostInsert) && state.inserts.is_multiple_of(7) {
            return Ok(());
        }
        state.now.insert(key.clone(), value.clone());
        state.unflushed.push((key, Some(value)));
        Ok(())
    }

    fn remove(&self, table: Table, key: &[u8]) -> Result<(), Problem> {
        let (key, mut state) = ((table, key.to_vec()), self.state());
        state.now.remove(&key);
        state.unflushed.push((key, None));
        Ok(())
    }

    fn range(&self, table: Table, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Items<Vec<u8>> {
        let state = self.state();
        let items = state
            .now
            .iter()
            .filter(|((of, key), _)| *of == table && RangeBounds::<[u8]>::contains(&(from, to), &key[..]));
        let items: Vec<Item<Vec<u8>>> = items.map(|((_, key), value)| Ok((key.clone(), value.clone()))).collect();
        Box::new(items.into_iter())
    }

    fn flush(&self) -> Result<(), Problem> {
        let mut state = self.state();
        if state.seeded != Some(Seeded::SkippedFlush) {
            let writes = std::mem::take(&mut state.unflushed);
            apply(&mut state.flushed, writes);
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), Problem> {
        self.flush()?;
        let mut state = self.state();
        state.durable = state.flushed.clone();
        Ok(())
    }
}

impl IndexOpener for MemoryIndex {
    type Index = Self;

    fn exists(&self) -> bool {
        true
    }

    fn open(&self) -> Result<Self, Problem> {
        Ok(self.clone())
    }

    fn delete(&self) -> Result<(), Problem> {
        let mut state = self.state();
        *state = State { seeded: state.seeded, ..State::default() };
        Ok(())
    }
}
