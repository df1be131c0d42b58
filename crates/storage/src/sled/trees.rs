//! What is open: the log, the trees that are its index, and how their keys look.

use super::clients::Clients;
use super::fault::Broken;
use super::frame::GroupLog;
use super::log::{self, LogFile};
use lendpay_domain::key::KeyHash;
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId};
use sled::{Db, IVec, Tree};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A tree that holds states. The numbers are part of the format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Offers = 0,
    Buyers = 1,
    Partners = 2,
    Keys = 3,
    Applications = 4,
    /// When keys were last used: the one kind that the log knows nothing of.
    Uses = 5,
}

impl Kind {
    pub(super) const ALL: [Self; 6] =
        [Self::Offers, Self::Buyers, Self::Partners, Self::Keys, Self::Applications, Self::Uses];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Offers => "offers",
            Self::Buyers => "buyers",
            Self::Partners => "partners",
            Self::Keys => "keys",
            Self::Applications => "applications",
            Self::Uses => "uses",
        }
    }

    pub(super) fn of(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == code)
    }

    /// Every key of a tree has the same length.
    const fn key_len(self) -> usize {
        match self {
            Self::Offers | Self::Keys | Self::Uses => 32,
            Self::Buyers | Self::Partners | Self::Applications => 16,
        }
    }
}

/// Where a state is. Small and `Copy`, so that what a group has staged can be looked up without an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StateKey {
    pub(super) kind: Kind,
    bytes: [u8; 32],
}

impl StateKey {
    /// The application comes first: its offers lie side by side.
    pub(super) fn offer(application: ApplicationId, offer: OfferId) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&application.to_bytes());
        bytes[16..].copy_from_slice(&offer.to_bytes());
        Self { kind: Kind::Offers, bytes }
    }

    pub(super) fn buyer(id: BuyerId) -> Self {
        Self::short(Kind::Buyers, id.to_bytes())
    }

    pub(super) fn partner(id: PartnerId) -> Self {
        Self::short(Kind::Partners, id.to_bytes())
    }

    pub(super) fn application(id: ApplicationId) -> Self {
        Self::short(Kind::Applications, id.to_bytes())
    }

    pub(super) fn key(hash: KeyHash) -> Self {
        Self { kind: Kind::Keys, bytes: hash.to_bytes() }
    }

    pub(super) fn key_use(hash: KeyHash) -> Self {
        Self { kind: Kind::Uses, bytes: hash.to_bytes() }
    }

    /// A key as it was read.
    pub(super) fn read(kind: Kind, key: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        if key.len() != kind.key_len() {
            return None;
        }
        bytes[..key.len()].copy_from_slice(key);
        Some(Self { kind, bytes })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.kind.key_len()]
    }

    fn short(kind: Kind, id: [u8; 16]) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&id);
        Self { kind, bytes }
    }

    /// How a log line names the state: never by the hash of a key.
    pub(super) fn shown(&self) -> String {
        if matches!(self.kind, Kind::Keys | Kind::Uses) {
            return "(hidden)".to_owned();
        }
        self.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The open log with its index.
pub(super) struct Trees {
    pub(super) log: LogFile,
    pub(super) db: Db,
    /// Where in the log the frame of a sequence begins, for a frame here and there: see [`Self::note_frame`].
    frames: Tree,
    pub(super) meta: Tree,
    pub(super) clients: Clients,
    /// The values of the tree of keys: every request looks one up, and they are few.
    keys: RwLock<HashMap<IVec, IVec>>,
    states: [Tree; Kind::ALL.len()],
    /// The last frame that was noted.
    noted: AtomicU64,
}

/// A group that is in the log and in the trees.
pub(super) struct Committed {
    /// Where it ends in the log.
    pub(super) end: u64,
    /// How long writing and syncing took, and the number of its events by type; `None` if there was nothing to log.
    pub(super) synced: Option<(Duration, [u64; 7])>,
}

impl Trees {
    pub(super) fn open(log: LogFile, db: Db) -> sled::Result<Self> {
        let tree = |kind: Kind| db.open_tree(kind.name());
        let [a, b, c, d, e, f] = Kind::ALL;
        let states = [tree(a)?, tree(b)?, tree(c)?, tree(d)?, tree(e)?, tree(f)?];
        let (frames, meta) = (db.open_tree("frames")?, db.open_tree("meta")?);
        let (clients, keys) = (Clients::default(), RwLock::default());
        Ok(Self { log, db, frames, meta, clients, keys, states, noted: AtomicU64::new(0) })
    }

    /// Takes into memory what is looked up there, once, when the store is opened and whole.
    pub(super) fn remember(&self) -> sled::Result<()> {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) =
            self.tree(Kind::Keys).iter().collect::<Result<_, _>>()?;
        self.clients.fill(self.tree(Kind::Partners))
    }

    pub(super) const fn tree(&self, kind: Kind) -> &Tree {
        &self.states[kind as usize]
    }

    pub(super) fn get(&self, key: &StateKey) -> sled::Result<Option<IVec>> {
        if key.kind == Kind::Keys {
            return Ok(self.keys.read().unwrap_or_else(PoisonError::into_inner).get(key.bytes()).cloned());
        }
        self.tree(key.kind).get(key.bytes())
    }

    pub(super) fn insert(&self, key: &StateKey, value: IVec) -> sled::Result<()> {
        match key.kind {
            Kind::Partners => self.clients.put(key, &value),
            Kind::Keys => {
                let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
                keys.insert(key.bytes().into(), value.clone());
            }
            Kind::Offers | Kind::Buyers | Kind::Applications | Kind::Uses => {}
        }
        self.tree(key.kind).insert(key.bytes(), value).map(drop)
    }

    /// Appends a group to the log and makes it durable, and only then sets the states that follow from it: a state without its
    /// entry could be seen, and be lost or not be undone.
    pub(super) fn commit(&self, log: &mut GroupLog, states: &mut HashMap<StateKey, IVec>) -> Result<Committed, Broken> {
        let (begin, sequence) = (log.begin(), log.first());
        let group = log.end_group();
        let mut committed = Committed { end: begin + group.len() as u64, synced: None };
        if !group.is_empty() {
            let start = Instant::now();
            self.log.write(begin, group)?;
            self.log.sync()?;
            committed.synced = Some((start.elapsed(), log.clear()));
            self.note_frame(sequence, begin)?;
        }
        for (key, value) in states.drain() {
            self.insert(&key, value)?;
        }
        Ok(committed)
    }

    /// Notes where a frame begins, if it is far enough from the last one that was noted.
    pub(super) fn note_frame(&self, sequence: u64, at: u64) -> sled::Result<()> {
        /// How much of the log a reader has to read to find an entry.
        const DISTANCE: u64 = 64 * 1024;
        if at >= self.noted.load(Ordering::Relaxed) + DISTANCE {
            self.frames.insert(sequence.to_be_bytes(), &at.to_be_bytes())?;
            self.noted.store(at, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Where to look for the entry with a sequence: not behind its frame.
    pub(super) fn frame_of(&self, sequence: u64) -> sled::Result<u64> {
        let noted = self.frames.range(..=sequence.to_be_bytes()).next_back().transpose()?;
        Ok(noted.and_then(|(_, at)| at.as_ref().try_into().ok().map(u64::from_be_bytes)).unwrap_or(log::FIRST))
    }

    /// Forgets the frames from a sequence on.
    pub(super) fn forget_frames(&self, sequence: u64) -> sled::Result<()> {
        for item in self.frames.range(sequence.to_be_bytes()..).keys() {
            self.frames.remove(item?)?;
        }
        self.noted.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Notes how far in the log the trees have come. All trees share the one log of the database, whose recovery keeps a prefix:
    /// a database that holds this note holds what came before it.
    pub(super) fn note_reached(&self, end: u64) -> sled::Result<()> {
        self.meta.insert("reached", &end.to_be_bytes()).map(drop)
    }

    /// How far in the log the trees have come at least.
    pub(super) fn reached(&self) -> sled::Result<u64> {
        let noted = self.meta.get("reached")?;
        Ok(noted.and_then(|at| at.as_ref().try_into().ok().map(u64::from_be_bytes)).unwrap_or_default())
    }

    /// Whether there is nothing in the trees.
    pub(super) fn is_empty(&self) -> bool {
        self.states.iter().all(Tree::is_empty)
    }
}
