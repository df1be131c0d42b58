//! Every command in every state, with its outcome and its changes written out.

mod buyers;
mod offers;
mod parties;
mod webhooks;

use super::{Command, DecideError, Decision, Stamp, Whole};
use crate::buyer::Description;
use crate::change::{Cause, Change, Record};
use crate::event::Actor;
use crate::offer::Terms;
use crate::testing::commands::meeting;
use crate::testing::declared::Declared;
use crate::view::{Nothing, Overlay, View};
use proptest::collection::vec;
use proptest::prelude::*;

pub(super) type World = Overlay<Nothing<Terms, Description>>;

/// What there is after these changes.
pub(super) fn world(changes: impl IntoIterator<Item = Change>) -> World {
    let mut world = Overlay::new(Nothing::default());
    for change in changes {
        world.apply(&change, Terms::clone, Description::clone).expect("fits");
    }
    world
}

/// Decides a command that sees what it reads and nothing else.
fn ask<C: Command>(world: &World, command: &C) -> Result<Decision<C::Outcome>, DecideError> {
    let Decision { outcome, changes } = command.decide(&Declared::of(command, world))?;
    Ok(Decision { outcome: command.clone().outcome(outcome, &Whole).expect("the view holds whole values"), changes })
}

/// A change of a command with this stamp.
fn by(stamp: Stamp, change: Change) -> Record {
    let Stamp { at, event, actor, operation } = stamp;
    Record { sequence: None, cause: Some(Cause { event, at, actor, operation }), change }
}

/// The stamp of an expiry that a command with this stamp finds.
fn clock(stamp: Stamp, at: crate::Timestamp) -> Stamp {
    Stamp { at, actor: Actor::Clock, ..stamp }
}

proptest! {
    /// A store loads what a command said that it reads, and nothing else; the view panics otherwise.
    #[test]
    fn a_command_looks_only_at_what_it_reads_and_its_changes_fit(commands in vec(meeting(), 1..60)) {
        let mut world = world([]);
        for command in commands {
            for record in command.changes(&world).unwrap_or_default() {
                let applied = world.apply(&record.change, Terms::clone, Description::clone);
                prop_assert_eq!(applied, Ok(()));
                prop_assert_eq!(record.sequence, None);
                prop_assert_eq!(record.cause.is_none(), record.change.never_has_cause());
                let cause = record.cause.map(|cause| cause.at);
                prop_assert!(cause.is_none() || record.change.at().is_none_or(|at| cause == Some(at)));
            }
        }
    }
}

/// A look-up that fails decides nothing, and is told as what it is.
#[test]
fn a_failed_look_up_decides_nothing() {
    use crate::testing::samples::*;
    use crate::view::{Found, StoredBuyer, StoredOffer, ViewError};
    use crate::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, StoreError, Timestamp};

    struct Broken(ViewError);
    macro_rules! broken {
        ($($look:ident($($type:ty),+) -> $found:ty;)+) => {$(
            fn $look(&self, $(_: $type),+) -> Found<$found> {
                Err(self.0)
            }
        )+};
    }
    impl View for Broken {
        type Terms = Terms;
        type Buyer = Description;
        broken! {
            partner(PartnerId) -> crate::partner::Partner;
            client(&str) -> PartnerId;
            key(PartnerId, KeyId) -> crate::key::KeyRecord;
            key_with_hash(crate::key::KeyHash) -> (PartnerId, KeyId);
            key_used(crate::key::KeyHash) -> Timestamp;
            application(ApplicationId) -> PartnerId;
            offer(ApplicationId, OfferId) -> StoredOffer<Terms>;
            buyer(PartnerId, BuyerId) -> StoredBuyer<Description>;
            webhook(EndpointId) -> crate::webhook::Webhook;
        }
    }
    for (error, told) in [(ViewError::Corrupt, StoreError::Corrupt), (ViewError::Failed, StoreError::Unavailable)] {
        let view = Broken(error);
        let errors = [
            put_partner(1, "a", None, 0).decide(&view).err(),
            add_key(key(1, 1)).decide(&view).err(),
            revoke(1, 1, 0).decide(&view).err(),
            expire(1, 1, 5, 0).decide(&view).err(),
            put_application(1, 1).decide(&view).err(),
            put_offer(1, 1, terms(), 0).decide(&view).err(),
            accept(1, 1, 0).decide(&view).err(),
            creation(1, 1, None, description(), 0).decide(&view).err(),
            super::UseKey { key: key(1, 1).hash, at: at(0) }.decide(&view).err(),
            add_endpoint(endpoint(1, 1)).decide(&view).err(),
            change_endpoint(1, super::EndpointChange::Pause).decide(&view).err(),
            super::DeleteEndpoint { id: endpoint_id(1), stamp: operator(0) }.decide(&view).err(),
            super::NoteDeliveries(vec![crate::webhook::Noted::beginning(endpoint_id(1), 0)]).decide(&view).err(),
        ];
        for found in errors {
            assert_eq!(found, Some(DecideError::View(error)));
            assert_eq!(found.map(StoreError::from), Some(told));
        }
        // An offer that cannot be read does not stop the expiries of others.
        let offers = [((application(1), offer(1)), operator(0))].into();
        let expiries = super::ExpireOffers { offers }.decide(&view).map(|decision| decision.outcome);
        let passed_over = error == ViewError::Corrupt;
        assert_eq!(expiries, if passed_over { Ok(0) } else { Err(DecideError::View(error)) });
    }
}
