//! Whether the filters of the index are those of the log.

use super::SimBase;
use crate::embedded::filters::{Filter, begin_of};
use crate::embedded::index::{Index as _, Table, unsealed};
use crate::embedded::log::FIRST;
use lendpay_domain::query::{EventFilter, Scope};

/// Whether the blocks lie one after the other from the beginning of the log on, and the filter of each says that it can
/// hold what it holds.
pub(super) fn hold(base: &SimBase) -> bool {
    let mut at = FIRST;
    base.index.all(Table::Filters).all(|item| {
        let holds = item.ok().and_then(|(key, value)| {
            let filter: Filter<'_> = unsealed(&value).ok()?;
            let follows = begin_of(&key) == Ok(at);
            at = filter.end;
            Some(follows && holds_events(base, begin_of(&key).ok()?, &filter)?)
        });
        holds == Some(true)
    })
}

/// `None` if the block cannot be read.
fn holds_events(base: &SimBase, begin: u64, filter: &Filter<'_>) -> Option<bool> {
    let mut frames = base.log.frames(begin, filter.end);
    while let Some(mut frame) = frames.next().ok()? {
        while let Some((sequence, entry, _)) = frame.next().ok()? {
            let Some(event) = entry.record(sequence).ok()?.event() else { continue };
            let (application, offer, buyer) = event.subject.ids();
            let scope = event.partner.map_or(Scope::All, Scope::Partner);
            let operation = Some(event.operation);
            let from = Some(event.occurred_at);
            let wanted = EventFilter { scope, application, offer, buyer, operation, from, ..EventFilter::default() };
            if sequence >= filter.next || filter.may_hold(&wanted) != Ok(true) {
                return Some(false);
            }
        }
    }
    Some(true)
}
