//! The writer, the mark and recovery under crashes, on a simulated disk: everything acknowledged is there, no command
//! is there in part, the index says what the log says, and damage is detected.
//!
//! Each schedule is made of a seed: sessions of random commands, each of which ends in a kill, a power cut, a failed
//! sync or a close. The real code runs; only the disk and the index are replaced.

mod committer;
mod disk;
mod due;
mod filters;
mod index;

use super::base::{Base, LAYOUT, Overlay};
use super::index::{Index as _, Table};
use super::log::disk::Disk as _;
use super::log::frame::Kind;
use super::log::{FIRST, Head};
use super::mark::{Mark, Position, State};
use super::problem::Problem;
use super::recovery::{self, Opened};
use super::writer::Writer;
use super::writer::checkpoint::checkpoint;
use crate::codec;
use crate::job::{BoxedWork, job};
use disk::{Chance, Seeded, SimDisk};
use index::MemoryIndex;
use lendpay_domain::buyer::Description;
use lendpay_domain::buyer_checks::{BuyerChecks, check};
use lendpay_domain::change::Record;
use lendpay_domain::command::{CreateBuyer, MoveOffer, PutApplication, PutOffer, PutPartner};
use lendpay_domain::idempotency::IdempotencyKey;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Details, Terms};
use lendpay_domain::view::{Nothing, Overlay as Above, View as _};
use lendpay_domain::{ApplicationId, BuyerId, OfferId, PartnerId, Timestamp};
use std::sync::Arc;

type Sim = Overlay<MemoryIndex, SimDisk>;
type SimBase = Base<MemoryIndex, SimDisk>;

const HEAD: Head = Head { salt: 7, history: [1; 16] };

/// A store under simulation, and what it must hold.
struct World {
    disk: SimDisk,
    index: MemoryIndex,
    chance: Chance,
    seeded: Option<Seeded>,
    /// Commands that were given, each with its changes.
    given: Vec<Vec<Record>>,
    /// How many of them were acknowledged.
    acknowledged: usize,
    clock: i64,
}

/// What the checks found.
type Checked = Result<(), String>;

impl World {
    fn new(seed: u64, seeded: Option<Seeded>) -> Self {
        Self {
            disk: SimDisk::new(seed, seeded),
            index: MemoryIndex::new(seeded),
            chance: Chance::new(seed.wrapping_add(1_000_003)),
            seeded,
            given: Vec::new(),
            acknowledged: 0,
            clock: 1_700_000_000,
        }
    }

    fn open(&self) -> Result<Opened<MemoryIndex, SimDisk>, Problem> {
        let opened = recovery::open(&self.disk, &self.index, HEAD, false)?;
        self.checkpoint(&opened.base, opened.position)?;
        Ok(opened)
    }

    fn checkpoint(&self, base: &SimBase, position: Position) -> Result<(), Problem> {
        checkpoint(base, &self.disk, position, State::Open(self.disk.identity(&self.disk)))
    }

    fn close(&self, base: &SimBase, position: Position) -> Result<(), Problem> {
        checkpoint(base, &self.disk, position, State::Clean)
    }

    /// A command with one of few ids, so that commands concern the same things.
    fn command(&mut self, base: &SimBase) -> BoxedWork<Sim> {
        let stamp = self.stamp();
        let n = self.chance.below(3) as u8;
        let (partner, application) = (PartnerId::from_bytes([n; 16]), ApplicationId::from_bytes([n; 16]));
        let offer = OfferId::from_bytes([self.chance.below(3) as u8; 16]);
        match self.chance.below(6) {
            0 => {
                let name = lendpay_domain::testing::samples::name(&self.clock.to_string());
                job(PutPartner { id: partner, name, oauth_client_id: None, stamp }, None).0
            }
            1 => job(PutApplication { id: application, partner, stamp }, None).0,
            2 => {
                // Some expire at once: a move then has two changes.
                let terms =
                    terms(stamp.at + chrono::TimeDelta::seconds(self.chance.below(5) as i64), self.chance.below(2_000));
                // As the caller's thread does it: a command that comes too late for what it has read brings no change.
                let read = base.terms_of(application, offer).ok().flatten();
                job(PutOffer { application, offer, terms, stamp }, read).0
            }
            3 => {
                let action = Action::ALL[self.chance.below(4) as usize];
                job(MoveOffer { partner: None, application, offer, action, reason: None, stamp }, None).0
            }
            _ => {
                let key = IdempotencyKey::parse(&format!("k{}", self.chance.below(20))).expect("visible");
                let buyer = check(Description::default(), BuyerChecks::Contract).expect("acceptable");
                let fresh = BuyerId::from_bytes([0; 16]);
                job(CreateBuyer::new(partner, fresh, Some(&key), buyer, stamp), None).0
            }
        }
    }

    /// Decides a group of commands and writes it. Whether there was anything to write.
    fn group(&mut self, writer: &mut Writer<MemoryIndex, SimDisk>) -> Result<bool, ()> {
        for _ in 0..1 + self.chance.below(3) {
            let mut work = self.command(&writer.view.base.view);
            let changes = work.decide(&writer.view).map_err(drop)?;
            writer.push(&changes).map_err(drop)?.map_err(drop)?;
            if !changes.is_empty() {
                self.given.push(changes);
            }
        }
        writer.write().map_err(drop)
    }

    /// Groups of commands until the disk stops, or enough were done.
    fn session(&mut self, opened: &Opened<MemoryIndex, SimDisk>) -> Result<Writer<MemoryIndex, SimDisk>, ()> {
        let mut writer = Writer::new(Arc::clone(&opened.base), Kind::Commands, opened.position).map_err(drop)?;
        for _ in 0..1 + self.chance.below(5) {
            if self.group(&mut writer)? {
                if self.seeded == Some(Seeded::EarlyAnswer) {
                    self.acknowledged = self.given.len();
                }
                writer.sync().map_err(drop)?;
                writer.publish().map_err(drop)?;
                self.acknowledged = self.given.len();
            }
            if self.chance.one_in(3) {
                self.expire(&mut writer)?;
            }
            if self.chance.one_in(3) {
                self.checkpoint(&opened.base, writer.position()).map_err(drop)?;
            }
        }
        Ok(writer)
    }

    /// An import of some commands: all of them or nothing, and nobody is told before it ends.
    fn import(&mut self, opened: &Opened<MemoryIndex, SimDisk>) -> Result<(), ()> {
        let (base, position) = (&opened.base, opened.position);
        Mark::write(&self.disk, &base.log.head, position, State::Open(None)).map_err(drop)?;
        let mut writer = Writer::new(Arc::clone(base), Kind::Import, position).map_err(drop)?;
        let mut all = Vec::new();
        for _ in 0..1 + self.chance.below(4) {
            for _ in 0..3 {
                let changes = self.command(base).decide(&writer.view).map_err(drop)?;
                writer.push(&changes).map_err(drop)?.map_err(drop)?;
                all.extend(changes);
            }
            writer.write().map_err(drop)?;
            writer.publish().map_err(drop)?;
        }
        writer.sync().map_err(drop)?;
        self.given.push(all);
        writer.group.begin_history([self.chance.below(100) as u8; 16]);
        writer.write().map_err(drop)?;
        writer.sync().map_err(drop)?;
        self.acknowledged = self.given.len();
        writer.publish().map_err(drop)?;
        self.close(base, writer.position()).map_err(drop)
    }

    /// One session and its end.
    fn live(&mut self) -> Checked {
        let (fuel, failing) = match self.chance.below(3) {
            0 => (self.chance.below(25), 0),
            1 => (u64::MAX, 6),
            _ => (u64::MAX, 0),
        };
        self.disk.run_for(fuel, failing);
        let closed = match self.open() {
            Ok(opened) => {
                self.check(&opened)?;
                if self.chance.one_in(5) {
                    self.import(&opened).is_ok()
                } else {
                    match self.session(&opened) {
                        Ok(writer) if self.chance.one_in(3) => self.close(&opened.base, writer.position()).is_ok(),
                        Ok(_) | Err(()) => false,
                    }
                }
            }
            Err(Problem::Disk(_)) => false,
            Err(problem) => return Err(format!("refused: {problem:?}")),
        };
        self.disk.run_for(u64::MAX, 0);
        let writes = self.index.unflushed() as u64;
        let kept = if closed { writes } else { self.chance.below(writes + 1) };
        self.index.crash(kept as usize);
        if self.chance.one_in(2) {
            self.disk.cut_power();
            self.index.cut_power(|| self.chance.one_in(2));
        }
        Ok(())
    }

    /// Compares what the store has with what it must have. Commands that were lost, none of them acknowledged, are
    /// forgotten.
    fn check(&mut self, Opened { base, position, .. }: &Opened<MemoryIndex, SimDisk>) -> Checked {
        let (mut found, mut history) = (Vec::new(), HEAD.history);
        let mut frames = base.log.frames(FIRST, base.log.end());
        while let Some(mut frame) = frames.next().map_err(|error| format!("unreadable: {error:?}"))? {
            history = frame.history().unwrap_or(history);
            while let Some((sequence, entry, _)) = frame.next().map_err(|error| error.to_string())? {
                found.push(entry.record(sequence).map_err(|error| error.to_string())?);
            }
        }
        let mut whole = 0;
        let mut rest = found.as_slice();
        for command in &self.given {
            let same = rest.len() >= command.len()
                && command.iter().zip(rest).all(|(a, b)| (a.cause, &a.change) == (b.cause, &b.change));
            if !same {
                break;
            }
            rest = &rest[command.len()..];
            whole += 1;
        }
        if !rest.is_empty() {
            return Err(format!("the log holds what no command has given, or a part of one: {rest:?}"));
        }
        if whole < self.acknowledged {
            return Err(format!("{} acknowledged, {whole} found", self.acknowledged));
        }
        self.given.truncate(whole);
        let mut model = Above::new(Nothing::<Terms, Description>::default());
        for record in &found {
            model.apply(&record.change, Terms::clone, Description::clone).map_err(|error| error.to_string())?;
        }
        let tables = &model.tables;
        let same = [
            ("history", position.history == history),
            ("filter", filters::hold(base)),
            ("expiry", due::hold(base, &tables.offers)),
            ("application", tables.applications.iter().all(|(id, owner)| base.application(*id) == Ok(Some(*owner)))),
            (
                "partner",
                tables.partners.iter().all(|(id, partner)| base.partner(*id).as_ref() == Ok(&Some(partner.clone()))),
            ),
            (
                "offer",
                tables.offers.iter().all(|((application, offer), stored)| {
                    base.offer(*application, *offer)
                        .is_ok_and(|found| found.is_some_and(|found| found.standing == stored.standing))
                }),
            ),
            (
                "buyer",
                tables.buyers.iter().all(|((partner, id), stored)| {
                    let found = base.buyer(*partner, *id);
                    found.is_ok_and(|found| found.is_some_and(|found| found.fingerprint == stored.fingerprint))
                }),
            ),
        ];
        if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
            return Err(format!("the index, or the position, has another {what} than the log"));
        }
        Ok(())
    }
}

fn terms(expiry: Timestamp, length: u64) -> Terms {
    // Longer than a sector now and then.
    let details = Details::parse(&"x".repeat(length as usize)).expect("not too long");
    Terms { details, expiry_at: Some(expiry), ..lendpay_domain::testing::samples::terms() }
}

/// Runs schedules; the first that fails, with its seed.
fn schedules(seeds: std::ops::Range<u64>, seeded: Option<Seeded>) -> Result<u64, String> {
    let mut crashes = 0;
    for seed in seeds {
        let mut world = World::new(seed, seeded);
        for _ in 0..4 {
            world.live().map_err(|problem| format!("seed {seed}: {problem}"))?;
            crashes += 1;
        }
        world.disk.run_for(u64::MAX, 0);
        let last = world.open().map_err(|problem| format!("seed {seed}: refused: {problem:?}"))?;
        world.check(&last).map_err(|problem| format!("seed {seed}: {problem}"))?;
    }
    Ok(crashes)
}

#[test]
fn nothing_acknowledged_is_lost_in_100_000_crashes() {
    let halves = [0..12_500, 12_500..25_000].map(|seeds| std::thread::spawn(move || schedules(seeds, None)));
    let crashes: u64 = halves.map(|half| half.join().expect("no panic").expect("holds")).into_iter().sum();
    assert_eq!(crashes, 100_000);
}

#[test]
fn every_seeded_fault_is_found() {
    for fault in Seeded::ALL {
        assert!(schedules(0..3_000, Some(fault)).is_err(), "{fault:?} was not found");
    }
}

/// A closed store with some content.
fn closed_world(seed: u64) -> World {
    let mut world = World::new(seed, None);
    let opened = world.open().expect("opens");
    let position = world.session(&opened).expect("works").position();
    world.close(&opened.base, position).expect("works");
    world
}

#[test]
fn a_flipped_bit_of_the_log_is_never_silent() {
    let mut found = 0;
    for seed in 0..2_000 {
        let mut world = closed_world(seed);
        if world.given.is_empty() {
            continue;
        }
        let mut chance = Chance::new(seed);
        let bits = (world.disk.length() - FIRST as usize) * 8;
        world.disk.flip(FIRST as usize * 8 + chance.below(bits as u64) as usize);
        // Opening with an intact index reads no frame; a rebuild reads all of them.
        let rebuilt = recovery::open(&world.disk, &world.index, HEAD, true);
        match rebuilt {
            Err(Problem::Log(_)) => found += 1,
            Ok(opened) => panic!("seed {seed}: {:?}", world.check(&opened)),
            Err(other) => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn a_log_whose_end_is_missing_is_refused() {
    for seed in 0..500 {
        let world = closed_world(seed);
        let length = world.disk.length();
        if length > FIRST as usize {
            let left = length - 1 - Chance::new(seed).below((length - FIRST as usize) as u64) as usize;
            world.disk.lose_end(left, false);
            assert!(matches!(world.open(), Err(Problem::Log(_))), "seed {seed}");
        }
    }
}

/// Whole commands of the group, or nothing of it.
#[test]
fn a_group_that_is_torn_at_any_byte_is_cut_off() {
    let mut torn = 0;
    for seed in 0..16 {
        for cut in 0.. {
            let mut world = World::new(seed, None);
            let opened = world.open().expect("opens");
            let mut writer = world.session(&opened).expect("works");
            let begin = world.disk.length();
            if !world.group(&mut writer).expect("works") || begin + cut >= world.disk.length() {
                break;
            }
            drop((writer, opened));
            world.disk.lose_end(begin + cut, cut % 2 == 1);
            let opened = world.open().unwrap_or_else(|problem| panic!("seed {seed}, {cut} bytes: {problem:?}"));
            world.check(&opened).unwrap_or_else(|problem| panic!("seed {seed}, {cut} bytes: {problem}"));
            world.session(&opened).expect("goes on");
            torn += 1;
        }
    }
    assert!(torn > 1_000, "{torn}");
}

/// What an index of another version, or of another log, holds is not read.
#[test]
fn an_index_of_another_version_or_log_is_rebuilt() {
    for (layout, salt, rebuilt) in
        [(LAYOUT, HEAD.salt, false), (LAYOUT + 1, HEAD.salt, true), (LAYOUT, HEAD.salt + 1, true)]
    {
        let mut world = closed_world(3);
        let (end, mut note) = (world.disk.length() as u64, Vec::new());
        codec::seal(&(layout, salt, end), &mut note).expect("short");
        world.index.insert(Table::Notes, b"reached", &note).expect("works");
        let opened = world.open().expect("opens");
        assert_eq!(opened.report.rebuilt, rebuilt, "{layout}, {salt}");
        world.check(&opened).expect("holds");
    }
}
