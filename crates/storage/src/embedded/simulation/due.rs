//! Expiries that are due: the worker that records them, and whether the index names all that are to come.

use super::{MemoryIndex, SimBase, SimDisk, World};
use crate::embedded::due::{Due, expires_in};
use crate::embedded::index::{Index as _, Table};
use crate::embedded::writer::Writer;
use lendpay_domain::command::{Command as _, ExpireOffers, Stamp};
use lendpay_domain::event::Actor;
use lendpay_domain::offer::Terms;
use lendpay_domain::view::StoredOffer;
use lendpay_domain::{ApplicationId, EventId, OfferId, OperationId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl World {
    /// The stamp of a command, a second after the one before.
    pub(super) fn stamp(&mut self) -> Stamp {
        self.clock += 1;
        let at = Timestamp::from_timestamp(self.clock, 0).expect("in range");
        let event = EventId::from_bytes((self.clock as u128 * 2).to_be_bytes());
        Stamp { at, event, actor: Actor::Operator, operation: OperationId::from_bytes([0; 16]) }
    }

    /// Records expiries that are due, as the store does.
    pub(super) fn expire(&mut self, writer: &mut Writer<MemoryIndex, SimDisk>) -> Result<(), ()> {
        let base = Arc::clone(&writer.view.base.view);
        let (due, _) = base.due(None, self.stamp().at, 4).map_err(drop)?;
        let offers = due.iter().flat_map(Due::ids).map(|offer| (offer, self.stamp())).collect();
        let changes = ExpireOffers { offers }.decide(&writer.view).map_err(drop)?.changes;
        writer.push(&changes).map_err(drop)?.map_err(drop)?;
        if !changes.is_empty() {
            self.given.push(changes);
        }
        if writer.write().map_err(drop)? {
            writer.sync().map_err(drop)?;
            writer.publish().map_err(drop)?;
            self.acknowledged = self.given.len();
        }
        let forget = |entry: &Due| base.index.remove(Table::Due, &entry.key).map_err(drop);
        due.iter().try_for_each(forget)
    }
}

/// Whether the index names each offer that is to expire.
pub(super) fn hold(base: &SimBase, offers: &HashMap<(ApplicationId, OfferId), StoredOffer<Terms>>) -> bool {
    let Ok(named) = base
        .index
        .all(Table::Due)
        .map(|item| Due::read(&item.map_err(drop)?).map_err(drop))
        .collect::<Result<Vec<_>, ()>>()
    else {
        return false;
    };
    let named: HashSet<_> =
        named.iter().flat_map(|entry| entry.offers.iter().map(|offer| (entry.span(), *offer))).collect();
    offers.iter().all(|((application, offer), stored)| {
        let ids = (application.to_bytes(), offer.to_bytes());
        expires_in(stored).is_none_or(|span| named.contains(&(span, ids)))
    })
}
