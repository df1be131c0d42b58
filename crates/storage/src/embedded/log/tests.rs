//! Frames: what is read is what was written, or it is found to be damaged.

use super::disk::LogIo;
use super::frame::{Frame, GroupLog, HEAD, Kind};
use super::*;
use lendpay_domain::buyer::Description;
use lendpay_domain::change::Record;
use lendpay_domain::testing::imports::base;
use lendpay_domain::testing::samples::{buyer_id, description, partner, record};
use lendpay_domain::testing::strategies::records;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Mutex;

const SALT: u64 = 0x0102_0304_0506_0708;
const HEAD_OF_LOG: Head = Head { salt: SALT, history: [3; 16] };

/// A file in memory.
struct Bytes(Mutex<Vec<u8>>);

impl LogIo for Bytes {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let bytes = self.0.lock().expect("no panic");
        let at = usize::try_from(at).expect("short");
        buffer.copy_from_slice(bytes.get(at..at + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let (mut to, at) = (self.0.lock().expect("no panic"), usize::try_from(at).expect("short"));
        let longer = to.len().max(at + bytes.len());
        to.resize(longer, 0);
        to[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.lock().expect("no panic").len() as u64)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.0.lock().expect("no panic").truncate(usize::try_from(length).expect("short"));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A log with these bytes after its head.
fn log(frames: &[u8]) -> LogFile<Bytes> {
    let log = LogFile::open(Bytes(Mutex::default()), Some(HEAD_OF_LOG)).expect("works");
    log.file.write_at(frames, FIRST).expect("works");
    log
}

fn group(salt: u64, kind: Kind) -> GroupLog {
    GroupLog::new(salt, kind, HEAD_OF_LOG.start())
}

/// Every record of a log, with its place, until the end or the first damage.
fn read(log: &LogFile<Bytes>) -> (Vec<(Record, Place)>, Option<u64>) {
    let (mut found, length) = (Vec::new(), log.file.length().expect("works"));
    let mut frames = log.frames(FIRST, length);
    loop {
        match frames.next() {
            Ok(Some(mut frame)) => {
                while let Some((sequence, entry, place)) = frame.next().expect("the frame is whole") {
                    found.push((entry.record(sequence).expect("is a record"), place));
                }
            }
            Ok(None) => return (found, None),
            Err(ReadError::Damaged) => return (found, Some(frames.at())),
            Err(ReadError::Io(error)) => panic!("{error}"),
        }
    }
}

/// A buyer with so much text.
fn long(n: u64, text: usize) -> Record {
    let description = Description { name: Some("x".repeat(text)), ..description() };
    let (partner, buyer, at) = (partner(1), buyer_id(n), lendpay_domain::testing::samples::at(0));
    record(n, Change::BuyerCreated { partner, buyer, description: description.into(), fingerprint: None, at })
}

proptest! {
    #[test]
    fn what_is_pushed_is_read_at_its_place(commands in vec(vec(records(), 1..3), 1..20)) {
        let mut group = group(SALT, Kind::Commands);
        let mut wanted = Vec::new();
        for command in &commands {
            let places: Vec<Place> = group.push(command).expect("short").collect();
            wanted.extend(command.iter().cloned().zip(places));
        }
        for (n, (record, _)) in wanted.iter_mut().enumerate() {
            record.sequence = Some(n as u64 + 1);
        }
        let log = log(group.end_group());
        prop_assert_eq!(read(&log), (wanted.clone(), None));
        for (record, place) in wanted {
            prop_assert!(log.change(place).is_ok_and(|change| change == record.change));
        }
    }
}

#[test]
fn a_frame_ends_between_two_commands() {
    let mut group = group(SALT, Kind::Commands);
    // Two changes of 20,000 bytes belong together: the second command does not fit into the first frame.
    for n in 0..4 {
        group.push(&[long(2 * n + 1, 20_000), long(2 * n + 2, 20_000)]).expect("short").for_each(drop);
    }
    let log = log(group.end_group());
    let mut frames = log.frames(FIRST, log.file.length().expect("works"));
    let mut sequences = Vec::new();
    while let Some(frame) = frames.next().expect("whole") {
        assert_eq!((frame.kind, frame.group), (Kind::Commands, FIRST), "all are of one group");
        sequences.push(frame.sequence()..frame.next_sequence());
    }
    assert_eq!(sequences, [1..3, 3..5, 5..7, 7..9]);
    assert_eq!(read(&log).0.len(), 8);
}

#[test]
fn a_command_that_is_too_long_leaves_the_group_as_it_was() {
    let (mut with, mut without) = (group(SALT, Kind::Commands), group(SALT, Kind::Commands));
    for n in 1..3 {
        for group in [&mut with, &mut without] {
            group.push(&[long(n, 10)]).expect("short").for_each(drop);
        }
        for command in [vec![long(9, 10), long(10, codec::LONGEST)], vec![long(9, codec::LONGEST - 1_000); 3]] {
            let refused = with.push(&command).map(Iterator::count);
            assert_eq!(refused, Err(CodecError::TooLong));
        }
    }
    assert_eq!(with.position(), without.position());
    assert_eq!(with.end_group(), without.end_group());
}

#[test]
fn sequences_can_be_left_out() {
    let mut group = group(SALT, Kind::Import);
    group.push(&[long(1, 1)]).expect("short").for_each(drop);
    group.skip_to(10);
    group.push(&[long(2, 1)]).expect("short").for_each(drop);
    group.skip_to(5);
    group.push(&[long(3, 1)]).expect("short").for_each(drop);
    group.begin_history([9; 16]);
    let log = log(group.end_group());
    let sequences: Vec<_> = read(&log).0.iter().map(|(record, _)| record.sequence).collect();
    assert_eq!(sequences, [Some(1), Some(10), Some(11)]);
    let mut frames = log.frames(FIRST, log.file.length().expect("works"));
    let mut kinds = Vec::new();
    while let Some(frame) = frames.next().expect("whole") {
        kinds.push((frame.kind, frame.history()));
    }
    assert_eq!(kinds, [(Kind::Import, None), (Kind::Import, None), (Kind::NewHistory, Some([9; 16]))]);
}

/// One frame of every kind of change.
fn frame(salt: u64) -> Vec<u8> {
    let mut group = group(salt, Kind::Commands);
    for (n, change) in (1..).zip(base()) {
        group.push(&[record(n, change)]).expect("short").for_each(drop);
    }
    group.end_group().to_vec()
}

#[test]
fn a_bit_that_is_flipped_anywhere_is_found() {
    let bytes = frame(SALT);
    assert!(Frame::read(SALT, FIRST, &bytes).is_ok());
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Frame::read(SALT, FIRST, &damaged).is_err(), "{bit}");
    }
    for length in 0..bytes.len() {
        assert!(Frame::read(SALT, FIRST, &bytes[..length]).is_err(), "{length}");
    }
    assert!(Frame::read(SALT, FIRST, &[&bytes[..], &[0]].concat()).is_err());
}

/// No value can look like a frame: its checksum includes the salt of the log, which nobody knows beforehand.
#[test]
fn a_frame_of_another_log_is_none() {
    let (mine, other) = (frame(SALT), frame(SALT + 1));
    assert!(Frame::read(SALT, FIRST, &other).is_err());
    // After damage, the search for a later group finds only frames of this log.
    let damaged = vec![0; mine.len()];
    assert_eq!(log(&[&damaged[..], &other].concat()).find_frame(FIRST, |_| true).expect("works"), None);
    let found = log(&[&damaged[..], &mine].concat()).find_frame(FIRST, |_| true).expect("works");
    assert_eq!(found, Some(FIRST + mine.len() as u64));
}

/// A frame belongs to a group that does not begin after it.
#[test]
fn a_later_group_tells_damage_from_a_torn_end() {
    let mut writer = group(SALT, Kind::Commands);
    let mut groups = Vec::new();
    for n in 1..4 {
        writer.push(&[long(n, 40_000)]).expect("short").for_each(drop);
        writer.push(&[long(n + 10, 40_000)]).expect("short").for_each(drop);
        groups.push((writer.position().end, writer.end_group().to_vec()));
        writer.clear();
    }
    let bytes: Vec<u8> = groups.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    for (n, (begin, group)) in groups.iter().enumerate() {
        let mut damaged = bytes.clone();
        damaged[(begin - FIRST) as usize + HEAD + 5] ^= 1;
        let log = log(&damaged);
        assert_eq!(read(&log).1, Some(*begin));
        assert_eq!(log.has_later_group(*begin).expect("works"), n < 2, "group {n}");
        let second = begin + group.len() as u64 / 2;
        assert_eq!(log.find_frame(*begin, |_| true).expect("works"), Some(second), "the other frame of the group");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in vec(any::<u8>(), 0..200), flips in vec((any::<usize>(), any::<u8>()), 0..4)) {
        drop(read(&log(&bytes)));
        let _ = Frame::read(SALT, FIRST, &bytes);
        let mut damaged = frame(SALT);
        for (at, byte) in flips {
            let at = at % damaged.len();
            damaged[at] = byte;
        }
        drop(read(&log(&damaged)));
    }
}
