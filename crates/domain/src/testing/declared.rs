//! A view that panics when a command looks at more than it said.

use crate::change::OfferKey;
use crate::command::{Command, Reads};
use crate::key::{KeyHash, KeyRecord};
use crate::partner::Partner;
use crate::view::{Found, StoredBuyer, StoredOffer, View};
use crate::webhook::Webhook;
use crate::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};

/// What a store sees that has loaded [`Reads`] and nothing else.
#[derive(Debug)]
pub struct Declared<'a, V> {
    view: &'a V,
    reads: Reads,
}

impl<'a, V: View> Declared<'a, V> {
    /// The part of a view that a command may look at.
    pub fn of<C: Command>(command: &C, view: &'a V) -> Self {
        let mut reads = Reads::default();
        command.reads(&mut reads);
        Self { view, reads }
    }
}

fn check<T: PartialEq>(declared: &[T], key: &T, what: &str) {
    assert!(declared.contains(key), "the command did not say that it reads this {what}");
}

impl<V: View> View for Declared<'_, V> {
    type Terms = V::Terms;
    type Buyer = V::Buyer;

    fn partner(&self, id: PartnerId) -> Found<Partner> {
        check(&self.reads.partners, &id, "partner");
        self.view.partner(id)
    }

    fn client(&self, client: &str) -> Found<PartnerId> {
        check(&self.reads.clients, &client.to_owned(), "client");
        self.view.client(client)
    }

    fn key(&self, partner: PartnerId, key: KeyId) -> Found<KeyRecord> {
        check(&self.reads.keys, &(partner, key), "key");
        self.view.key(partner, key)
    }

    fn key_with_hash(&self, hash: KeyHash) -> Found<(PartnerId, KeyId)> {
        check(&self.reads.hashes, &hash, "hash");
        self.view.key_with_hash(hash)
    }

    fn key_used(&self, hash: KeyHash) -> Found<Timestamp> {
        check(&self.reads.hashes, &hash, "use of a key");
        self.view.key_used(hash)
    }

    fn application(&self, id: ApplicationId) -> Found<PartnerId> {
        check(&self.reads.applications, &id, "application");
        self.view.application(id)
    }

    /// An offer that was named with a partner is not found if it has another: a store may look for it by all three ids.
    fn offer(&self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<V::Terms>> {
        let found = self.view.offer(application, offer)?;
        if self.reads.owned_offers.contains(&(application, offer)) {
            return Ok(found);
        }
        let named = |key: &&OfferKey| (key.application, key.offer) == (application, offer);
        let named = self.reads.offers.iter().find(named);
        let owner = named.expect("a command looks at no offer but those that it said").partner;
        Ok(found.filter(|stored| stored.partner == owner))
    }

    fn buyer(&self, partner: PartnerId, buyer: BuyerId) -> Found<StoredBuyer<V::Buyer>> {
        let Reads { buyers, new_buyers, .. } = &self.reads;
        check(&[&buyers[..], &new_buyers[..]].concat(), &(partner, buyer), "buyer");
        self.view.buyer(partner, buyer)
    }
    fn webhook(&self, id: EndpointId) -> Found<Webhook> {
        check(&self.reads.endpoints, &id, "endpoint");
        self.view.webhook(id)
    }
}
