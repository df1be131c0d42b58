//! How far a reader of events has come.

use crate::HistoryId;
use crate::event::EventPage;
use std::fmt;

/// A sequence that a reader has seen, and the history that it belongs to. As text `HISTORY:SEQUENCE`, or the sequence
/// alone if the reader does not know the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The history, if the reader knows it.
    pub history: Option<HistoryId>,
    /// The last sequence that was seen; 0 before the first.
    pub sequence: u64,
}

impl Cursor {
    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (history, sequence) = match text.split_once(':') {
            Some((history, sequence)) => (Some(HistoryId::parse(history)?), sequence),
            None => (None, text),
        };
        Some(Self { history, sequence: sequence.parse().ok()? })
    }

    /// Whether the store that a page is from has given this sequence. If not, the reader may have missed events: the
    /// store has another history, or was set back (contract 2.13).
    pub fn is_known(&self, page: &EventPage) -> bool {
        self.history.is_none_or(|history| history == page.history) && self.sequence <= page.last
    }
}

impl EventPage {
    /// Where to go on; `None` when there is no more now.
    pub fn next_cursor(&self) -> Option<Cursor> {
        self.next.map(|sequence| Cursor { history: Some(self.history), sequence })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(history) = self.history {
            write!(f, "{history}:")?;
        }
        self.sequence.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: HistoryId = HistoryId::from_bytes([1; 16]);
    const TWO: HistoryId = HistoryId::from_bytes([2; 16]);

    #[test]
    fn cursors_are_read_as_they_are_written() {
        for history in [None, Some(ONE)] {
            for sequence in [0, 7, u64::MAX] {
                let cursor = Cursor { history, sequence };
                assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
            }
        }
        for bad in [
            "",
            ":",
            ":1",
            "x",
            "-1",
            "01010101-0101-0101-0101-010101010101:",
            "01010101-0101-0101-0101-010101010101",
            "01010101010101010101010101010101:1",
            "18446744073709551616",
        ] {
            assert_eq!(Cursor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_cursor_of_another_history_or_past_the_end_is_unknown() {
        let page = EventPage { history: ONE, last: 5, seen: 5, events: Vec::new(), next: None };
        let known = |history, sequence| Cursor { history, sequence }.is_known(&page);
        for sequence in [0, 1, 5] {
            assert!(known(None, sequence) && known(Some(ONE), sequence), "{sequence}");
            assert!(!known(Some(TWO), sequence), "{sequence}");
        }
        for sequence in [6, u64::MAX] {
            assert!(!known(None, sequence) && !known(Some(ONE), sequence), "{sequence}");
        }
    }
}
