//! Imports: a store made from records, or added to.
//!
//! An import writes what the committer would have written, in the same order and with the same sequences.
//! While it runs, the file `importing` beside the database holds the place where it begins in the log. Whoever opens the
//! directory and finds that file undoes the import (`undo`): an import only ever adds, so that what it did is what the log says
//! from there on. It is done when the file is gone.

use super::checkpoint::Index;
use super::entry::{Cause, Entry};
use super::fault::Broken;
use super::frame::GroupLog;
use super::health::Health;
use super::mark::{self, Mark};
use super::open::{SledOptions, sync_all};
use super::prepare::prepare;
use super::quiet;
use super::redo::state_after;
use super::release::Release;
use super::trees::{Kind, StateKey, Trees};
use crate::codec::{self, Bytes, CodecError};
use crate::imported::{ImportError, Imported, MISMATCH};
use crate::records::{ApplicationRecord, BuyerRecord, KeyRow, OfferHead, OfferState, OfferTail, PartnerRecord, Time};
use lendpay_domain::event::{Event, Subject};
use lendpay_domain::offer::{Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::record::Record;
use lendpay_domain::{ApplicationId, OfferId, PartnerId, Timestamp};
use sled::IVec;
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

/// How many records are written at once.
const GROUP: usize = 1_024;

impl From<CodecError> for ImportError {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::TooLong => Self::Record("the record is longer than the store keeps"),
            CodecError::Version(_) | CodecError::Damaged => Self::Failed("a stored record cannot be read".to_owned()),
        }
    }
}

impl From<Broken> for ImportError {
    fn from(error: Broken) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<sled::Error> for ImportError {
    fn from(error: sled::Error) -> Self {
        Broken::from(error).into()
    }
}

impl From<std::io::Error> for ImportError {
    fn from(error: std::io::Error) -> Self {
        Broken::from(error).into()
    }
}

/// An import that is under way. Dropped before it is finished, it undoes what it has done.
pub struct SledImport {
    index: Index,
    first: Mark,
    merge: bool,
    log: GroupLog,
    states: HashMap<StateKey, IVec>,
    waiting: usize,
    /// Partners and keys that this import has added: what it may change again.
    own: HashSet<StateKey>,
    /// Offers that were there before.
    kept: HashSet<StateKey>,
    clients: HashMap<String, PartnerId>,
    done: Imported,
    finished: bool,
    _release: Release,
}

impl SledImport {
    /// Opens the store in a directory, which is created if it is not there, and begins to import into it: into an empty one,
    /// or with `merge` into any, of which nothing is changed. Blocks, as do all methods.
    ///
    /// # Errors
    /// See [`ImportError`].
    pub fn begin(path: &Path, options: SledOptions, merge: bool) -> Result<Self, ImportError> {
        let (trees, first) = prepare(path, options)?;
        if !merge && !trees.is_empty() {
            return Err(ImportError::NotEmpty { place: format!("in {}", path.display()) });
        }
        let index = Index { trees: Arc::new(trees), directory: path.into(), file: sync_all(path)? };
        mark::begin_import(path, first)?;
        let mut clients = HashMap::new();
        for item in index.trees.tree(Kind::Partners) {
            let (key, value) = item?;
            if let Some(client) = codec::unseal::<PartnerRecord<'_>>(&value)?.oauth_client_id {
                let id = key.as_ref().try_into().map_err(|_| CodecError::Damaged)?;
                clients.insert(client.to_owned(), PartnerId::from_bytes(id));
            }
        }
        Ok(Self {
            index,
            first,
            merge,
            log: GroupLog::new(first.next, first.end),
            states: HashMap::new(),
            waiting: 0,
            own: HashSet::new(),
            kept: HashSet::new(),
            clients,
            done: Imported::default(),
            finished: false,
            _release: Release { database: path.join("db"), health: Arc::new(Health::new()) },
        })
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// `Record` if it does not fit, `Failed` if the store failed. The import cannot go on then; drop it.
    pub fn add(&mut self, record: Record) -> Result<(), ImportError> {
        let mut outcome = Ok(false);
        quiet::caught(AssertUnwindSafe(|| {
            outcome = self.take(record);
            if self.waiting >= GROUP && outcome.is_ok() {
                outcome = self.write().map(|()| true);
            }
            Ok(())
        }))
        .map_err(ImportError::Failed)?;
        match outcome? {
            true => self.done.added += 1,
            false => self.done.kept += 1,
        }
        Ok(())
    }

    /// Makes everything durable and ends the import.
    ///
    /// # Errors
    /// `Failed` if the store failed; nothing was imported then.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        let mut outcome = Ok(());
        quiet::caught(AssertUnwindSafe(|| {
            outcome = self.write().and_then(|()| {
                self.index.trees.note_reached(self.log.begin())?;
                Ok(self.index.sync()?)
            });
            Ok(())
        }))
        .map_err(ImportError::Failed)?;
        outcome?;
        mark::end_import(&self.index.directory)?;
        self.finished = true;
        mark::write(&self.index.directory, Mark { next: self.log.following(), end: self.log.begin() })?;
        Ok(self.done)
    }

    /// Whether the record was added; `false` if its subject was there before.
    fn take(&mut self, record: Record) -> Result<bool, ImportError> {
        match record {
            Record::Partner { sequence, partner } => self.partner(sequence, &partner),
            Record::Key { sequence, key } => {
                if !self.has(&StateKey::partner(key.partner))? {
                    return Err(ImportError::Record("its partner is not there"));
                }
                let mut value = Vec::new();
                codec::seal(&KeyRow::from(&key), &mut value)?;
                self.party(sequence, StateKey::key(key.hash), &value)
            }
            Record::Application { sequence, id, partner } => {
                if !self.has(&StateKey::partner(partner))? {
                    return Err(ImportError::Record("its partner is not there"));
                }
                let mut value = Vec::new();
                codec::seal(&ApplicationRecord { partner: partner.to_bytes() }, &mut value)?;
                self.party(sequence, StateKey::application(id), &value)
            }
            Record::OfferCreated { event, terms } => self.offer(&event, &terms),
            Record::OfferTerms { sequence, application, offer, terms } => {
                self.terms(sequence, application, offer, &terms)
            }
            Record::OfferMoved { event } => self.moved(&event),
            Record::BuyerCreated { event, description, fingerprint } => {
                let Subject::Buyer(id) = event.subject else { return Err(MISMATCH) };
                let key = StateKey::buyer(id);
                if self.has(&key)? {
                    return self.there_before();
                }
                let mut value = Vec::new();
                let record = BuyerRecord::new(event.partner, event.occurred_at, fingerprint, &description);
                codec::seal(&record, &mut value)?;
                let entry =
                    Entry::BuyerCreated { cause: Cause::of(&event), buyer: id.to_bytes(), value: Bytes(&value) };
                self.note(Some(event.sequence), &entry)
            }
            Record::KeyUsed { key, at } => {
                let used = StateKey::key_use(key);
                if !self.own.contains(&StateKey::key(key)) {
                    return self.there_before();
                }
                let mut value = Vec::new();
                codec::seal(&Time::from(at), &mut value)?;
                self.states.insert(used, IVec::from(value));
                Ok(true)
            }
        }
    }

    fn partner(&mut self, sequence: Option<u64>, partner: &Partner) -> Result<bool, ImportError> {
        let key = StateKey::partner(partner.id);
        if !self.own.contains(&key) && self.has(&key)? {
            return self.there_before();
        }
        self.clients.retain(|_, owner| *owner != partner.id);
        if let Some(client) = &partner.oauth_client_id
            && self.clients.insert(client.clone(), partner.id).is_some()
        {
            return Err(ImportError::Record("another partner has its client id"));
        }
        let mut value = Vec::new();
        codec::seal(&PartnerRecord::from(partner), &mut value)?;
        self.party(sequence, key, &value)
    }

    /// A partner, a key or an application.
    fn party(&mut self, sequence: Option<u64>, key: StateKey, value: &[u8]) -> Result<bool, ImportError> {
        if !self.own.contains(&key) && self.has(&key)? {
            return self.there_before();
        }
        self.own.insert(key);
        self.note(sequence, &Entry::put(&key, value))
    }

    fn offer(&mut self, event: &Event, terms: &Terms) -> Result<bool, ImportError> {
        let Subject::Offer { application, offer, status: Status::Offered } = event.subject else {
            return Err(MISMATCH);
        };
        let Some(owner) = self.get(&StateKey::application(application))? else {
            return Err(ImportError::Record("its application is not there"));
        };
        if codec::unseal::<ApplicationRecord>(&owner)?.partner != event.partner.to_bytes() {
            return Err(ImportError::Record("its application belongs to another partner"));
        }
        let key = StateKey::offer(application, offer);
        if self.has(&key)? {
            if self.merge {
                self.kept.insert(key);
            }
            return self.there_before();
        }
        let value = sealed(event.partner, terms, event.occurred_at)?;
        let (application, offer) = (application.to_bytes(), offer.to_bytes());
        let entry = Entry::OfferCreated { cause: Cause::of(event), application, offer, value: Bytes(&value) };
        self.note(Some(event.sequence), &entry)
    }

    fn terms(
        &mut self,
        sequence: Option<u64>,
        application: ApplicationId,
        offer: OfferId,
        terms: &Terms,
    ) -> Result<bool, ImportError> {
        let key = StateKey::offer(application, offer);
        if self.kept.contains(&key) {
            return self.there_before();
        }
        let head = self.head(&key)?;
        if head.status()? != Status::Offered {
            return Err(ImportError::Record("its offer is no longer Offered"));
        }
        let value = sealed(PartnerId::from_bytes(head.partner), terms, head.status_changed_at.try_into()?)?;
        self.note(sequence, &Entry::put(&key, &value))
    }

    fn moved(&mut self, event: &Event) -> Result<bool, ImportError> {
        let Subject::Offer { application, offer, status } = event.subject else { return Err(MISMATCH) };
        let key = StateKey::offer(application, offer);
        if self.kept.contains(&key) {
            return self.there_before();
        }
        let head = self.head(&key)?;
        if head.partner != event.partner.to_bytes() {
            return Err(ImportError::Record("its offer belongs to another partner"));
        }
        if !head.status()?.successors().contains(&status) {
            return Err(ImportError::Record("its offer cannot come to this status from the one that it has"));
        }
        let (application, offer) = (application.to_bytes(), offer.to_bytes());
        let status = crate::records::status_code(status);
        let (cause, partner) = (Cause::of(event), head.partner);
        self.note(Some(event.sequence), &Entry::OfferMoved { cause, application, offer, partner, status })
    }

    fn there_before(&self) -> Result<bool, ImportError> {
        if self.merge { Ok(false) } else { Err(ImportError::Record("its subject is there already")) }
    }

    fn head(&self, key: &StateKey) -> Result<OfferHead, ImportError> {
        let value = self.get(key)?.ok_or(ImportError::Record("its offer is not there"))?;
        Ok(codec::unseal::<OfferState>(&value)?.head)
    }

    fn has(&self, key: &StateKey) -> Result<bool, ImportError> {
        Ok(self.get(key)?.is_some())
    }

    fn get(&self, key: &StateKey) -> Result<Option<IVec>, ImportError> {
        match self.states.get(key) {
            Some(value) => Ok(Some(value.clone())),
            None => Ok(self.index.trees.get(key)?),
        }
    }

    /// Adds an entry and the state that follows from it. It keeps its sequence, unless that is taken.
    fn note(&mut self, sequence: Option<u64>, entry: &Entry<'_>) -> Result<bool, ImportError> {
        let next = self.log.following();
        if let Some(sequence) = sequence.filter(|sequence| !self.merge && *sequence > next) {
            self.log.skip_to(sequence);
        }
        let key = entry.key()?;
        let old = self.get(&key)?;
        self.log.push(entry)?;
        let place = self.log.end_command();
        let mut state = Vec::new();
        state_after(entry, place, old.as_deref(), &mut state)?;
        self.states.insert(key, IVec::from(state));
        self.waiting += 1;
        Ok(true)
    }

    fn write(&mut self) -> Result<(), ImportError> {
        self.index.trees.commit(&mut self.log, &mut self.states)?;
        self.waiting = 0;
        Ok(())
    }
}

impl Drop for SledImport {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        // What fails here is done when the directory is opened next: the file `importing` is still there.
        let undone =
            quiet::caught(AssertUnwindSafe(|| undo(&self.index.trees, self.first).map_err(|error| error.to_string())));
        if undone.is_ok() && self.index.sync().is_ok() {
            drop(mark::end_import(&self.index.directory));
        }
    }
}

fn sealed(partner: PartnerId, terms: &Terms, at: Timestamp) -> Result<Vec<u8>, ImportError> {
    let (mut tail, mut value) = (Vec::new(), Vec::new());
    codec::append(&OfferTail::from(terms), &mut tail)?;
    OfferHead::new(partner, terms, Status::Offered, at).seal(&tail, &mut value)?;
    Ok(value)
}

/// Takes back every entry from `first` on, with the states that they have made. States go first, so that an undoing that is
/// cut off can be done again.
pub(super) fn undo(trees: &Trees, first: Mark) -> Result<(), Broken> {
    let mut frames = trees.log.frames(first.end, trees.log.length()?);
    // What cannot be read behind it was not synced, and has made no state.
    while let Ok(Some(mut frame)) = frames.next() {
        while let Ok(Some((_, entry, _))) = frame.next() {
            let Ok(key) = entry.key() else { continue };
            trees.tree(key.kind).remove(key.bytes())?;
            if key.kind == Kind::Keys {
                trees.tree(Kind::Uses).remove(key.bytes())?;
            }
        }
    }
    trees.forget_frames(first.next)?;
    trees.note_reached(first.end)?;
    trees.db.flush()?;
    Ok(trees.log.cut(first.end)?)
}
