//! Lists, a page at a time.

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
