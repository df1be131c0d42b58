//! What a page costs, and when it has to end.

use lendpay_domain::page::{ENTRIES, RECORDS};

/// After so many entries others come to their turn: some 100 µs, so that a page does not hold one of the few threads
/// that all requests share.
const TURN: usize = 64;

/// What a page has cost so far.
#[derive(Default)]
pub(super) struct Work {
    /// Entries of the index and of the log that it has looked at.
    pub entries: usize,
    /// Records that it has read from the log one by one.
    pub records: usize,
    /// How many entries there were when others had their turn.
    turned: usize,
}

impl Work {
    /// Whether the page has cost as much as it may.
    pub const fn is_done(&self) -> bool {
        self.entries >= ENTRIES || self.records >= RECORDS
    }

    /// Whether others are to have their turn.
    pub const fn is_long(&self) -> bool {
        self.entries - self.turned >= TURN
    }

    /// Gives others their turn if it is theirs. A caller that has gone is noticed here.
    pub async fn turn(&mut self) {
        if self.is_long() {
            self.turned = self.entries;
            tokio::task::yield_now().await;
        }
    }
}
