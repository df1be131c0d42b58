//! Events, a page at a time: blocks of the log that cannot hold what is wanted are passed over, the others are read.

use super::EmbeddedStore;
use super::filters::{Filter, begin_of};
use super::index::Table;
use super::read::each_frame;
use super::work::Work;
use lendpay_domain::PartnerId;
use lendpay_domain::change::Record;
use lendpay_domain::event::{Event, EventPage};
use lendpay_domain::query::{EventFilter, FindEvents};
use lendpay_domain::store::Answer;

/// A page that is being read.
struct Search<'a> {
    query: &'a FindEvents,
    /// Whose events are wanted, in order of their ids; `None` if everybody's.
    partners: Option<&'a [PartnerId]>,
    work: &'a mut Work,
    events: Vec<Event>,
    /// Up to here everything was looked at.
    seen: u64,
    /// Whether there are more than the page takes.
    more: bool,
}

impl Search<'_> {
    const fn is_done(&self) -> bool {
        self.more || self.work.is_done()
    }
}

impl EmbeddedStore {
    /// With `partners`, events of others and of nobody may be left out.
    pub(super) async fn events(
        &self,
        query: &FindEvents,
        partners: Option<&[PartnerId]>,
        work: &mut Work,
    ) -> Answer<EventPage> {
        let FindEvents { after, filter: wanted, .. } = *query;
        // No sequence is as great as the greatest number.
        let first = after.saturating_add(1);
        // The end is read first: the position of a frame is noted before the end that includes it is published.
        let end = self.base.log.end();
        let mut at = self.look_up(|base| base.frame_of(first))?;
        let mut search = Search { query, partners, work, events: Vec::new(), seen: after, more: false };
        if wanted != EventFilter::default() {
            let mut filters = self.look_up(|base| base.filters_from(first))?;
            while !search.is_done()
                && let Some((key, value)) = self.look_up(|_| filters.next().transpose())?
            {
                let filter: Filter<'_> = self.value(Table::Filters, key.as_ref(), value.as_ref())?;
                let said = begin_of(key.as_ref()).and_then(|begin| Ok((begin, filter.may_hold(&wanted)?)));
                let (begin, may_hold) =
                    self.read(|base| said.map_err(|_| base.corrupt(Table::Filters, key.as_ref())))?;
                let (block_end, next) = (filter.end, filter.next);
                self.search(&mut search, at, if may_hold { block_end } else { begin }).await?;
                if !search.is_done() {
                    (at, search.seen) = (at.max(block_end), search.seen.max(next - 1));
                    search.work.entries += 1;
                    search.work.turn().await;
                }
            }
        }
        self.search(&mut search, at, end).await?;
        // What came after the end that was read is not more of this list.
        let cut = search.is_done();
        let Search { events, seen, more, .. } = search;
        let last = self.base.log.last();
        let seen = if more { events.last().map_or(after, |event| event.sequence) } else { seen };
        let next = Some(seen).filter(|seen| more || cut && *seen < last);
        Ok(EventPage { history: self.history(), last, seen, events, next })
    }

    /// Searches a part of the log, until the page is done.
    async fn search(&self, search: &mut Search<'_>, at: u64, to: u64) -> Answer<()> {
        let FindEvents { after, limit, filter: wanted } = *search.query;
        let mut frames = self.base.log.frames(at, to);
        while !search.is_done() && frames.at() < to {
            each_frame(&mut frames, &self.health, |mut frame| {
                if frame.next_sequence() <= after.saturating_add(1) {
                    return Ok(true);
                }
                while let Some((sequence, entry, _)) = frame.next()? {
                    search.work.entries += 1;
                    // Before the entry is made a record: that is most of the work.
                    let others = |owner| search.partners.is_some_and(|all| all.binary_search(&owner).is_err());
                    if entry.change.partner().is_some_and(others) {
                        continue;
                    }
                    let event = entry.record(sequence).map(|record: Record| record.event())?;
                    if let Some(event) = event.filter(|event| sequence > after && wanted.wants(event)) {
                        if search.events.len() >= limit {
                            search.more = true;
                            return Ok(false);
                        }
                        search.events.push(event);
                    }
                }
                search.seen = frame.next_sequence() - 1;
                Ok(!search.is_done() && !search.work.is_long())
            })?;
            search.work.turn().await;
        }
        Ok(())
    }
}
