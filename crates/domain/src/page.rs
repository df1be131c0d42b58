//! Lists, a page at a time. What a page costs does not depend on how much a store holds.

/// The most entries that a store looks at for a page: of an index, of a table or of its log.
pub const ENTRIES: usize = 20_000;

/// The most offers or buyers that a store reads for a page, whatever its limit: an index says which, but each is kept
/// apart, and can be long.
pub const RECORDS: usize = 200;

/// Which part of a list is wanted: up to `limit` items that come after `after` in the list's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window<C> {
    /// The last item that the reader has seen.
    pub after: Option<C>,
    /// The most items that are wanted.
    pub limit: usize,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    /// The items.
    pub items: Vec<T>,
    /// Where to go on; `None` at the end of the list. A page may have fewer items than were wanted, or none, and still
    /// not be the last: a store reads a bounded number of records for a page.
    pub next: Option<C>,
}
