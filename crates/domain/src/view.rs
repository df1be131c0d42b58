//! What a decision may look at, and how changes are applied to it.
//!
//! A [`View`] answers point look-ups and nothing else. An [`Overlay`] is a view with changes on top, so that the
//! commands of a group see what those before them have changed. Replay uses it too, so that what a change does is
//! written in one place.

mod through;

pub use through::{HeldTerms, Known, Remembered};

use crate::buyer::{Buyer, Description};
use crate::change::{Change, OfferKey};
use crate::idempotency::Fingerprint;
use crate::key::{KeyHash, KeyRecord};
use crate::life_cycle::{Standing, Transition};
use crate::offer::{Offer, Terms};
use crate::partner::Partner;
use crate::webhook::{State, Webhook};
use crate::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

/// Why a look-up has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewError {
    /// What was read is not what was written. This command fails; others need not.
    Corrupt,
    /// The store failed: no command can be decided.
    Failed,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Corrupt => "a stored record is damaged",
            Self::Failed => "the store failed",
        })
    }
}

impl std::error::Error for ViewError {}

/// The answer of a look-up.
pub type Found<T> = Result<Option<T>, ViewError>;

/// What a view has of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOffer<T> {
    /// The partner that owns its application.
    pub partner: PartnerId,
    /// What the life cycle needs.
    pub standing: Standing,
    /// The terms, or where they are.
    pub terms: T,
}

/// What a view has of a buyer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBuyer<B> {
    /// The partner that registered it.
    pub partner: PartnerId,
    /// The digest of the payload; `None` if the creation had no idempotency key.
    pub fingerprint: Option<Fingerprint>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// The description, or where it is.
    pub description: B,
}

impl StoredOffer<Terms> {
    /// The whole offer.
    pub fn offer(self, application: ApplicationId, id: OfferId) -> Offer {
        let Self { partner, standing: Standing { status, status_changed_at, .. }, terms } = self;
        Offer { id, application, partner, terms, status, status_changed_at }
    }
}

impl StoredBuyer<Description> {
    /// The whole buyer.
    pub fn buyer(self, id: BuyerId) -> Buyer {
        let Self { partner, created_at, description, fingerprint: _ } = self;
        Buyer { id, partner, description, created_at }
    }
}

/// What is stored, as far as decisions need it. Every method is a point look-up.
pub trait View {
    /// An offer's terms, or where they are.
    type Terms: HeldTerms;
    /// A buyer's description, or where it is.
    type Buyer: Clone + Send + 'static;

    /// A partner.
    fn partner(&self, id: PartnerId) -> Found<Partner>;
    /// The partner with this client id at the authorization server.
    fn client(&self, client: &str) -> Found<PartnerId>;
    /// A partner's key, valid or not.
    fn key(&self, partner: PartnerId, key: KeyId) -> Found<KeyRecord>;
    /// The key with this hash, valid or not.
    fn key_with_hash(&self, hash: KeyHash) -> Found<(PartnerId, KeyId)>;
    /// When a key was last used.
    fn key_used(&self, hash: KeyHash) -> Found<Timestamp>;
    /// The owner of an application.
    fn application(&self, id: ApplicationId) -> Found<PartnerId>;
    /// An offer.
    fn offer(&self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<Self::Terms>>;
    /// A partner's buyer.
    fn buyer(&self, partner: PartnerId, buyer: BuyerId) -> Found<StoredBuyer<Self::Buyer>>;
    /// An endpoint of webhooks, with its progress; also one that was deleted.
    fn webhook(&self, id: EndpointId) -> Found<Webhook>;

    /// The terms of an offer that was found; `None` if the view has only the place where they are.
    fn terms<'a>(&'a self, found: &'a Self::Terms) -> Option<&'a Terms> {
        found.whole()
    }
}

/// Nothing is stored: the base of a store that keeps everything in an [`Overlay`].
#[derive(Debug)]
pub struct Nothing<T, B>(PhantomData<fn() -> (T, B)>);

impl<T, B> Default for Nothing<T, B> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: HeldTerms, B: Clone + Send + 'static> View for Nothing<T, B> {
    type Terms = T;
    type Buyer = B;

    fn partner(&self, _: PartnerId) -> Found<Partner> {
        Ok(None)
    }

    fn client(&self, _: &str) -> Found<PartnerId> {
        Ok(None)
    }

    fn key(&self, _: PartnerId, _: KeyId) -> Found<KeyRecord> {
        Ok(None)
    }

    fn key_with_hash(&self, _: KeyHash) -> Found<(PartnerId, KeyId)> {
        Ok(None)
    }

    fn key_used(&self, _: KeyHash) -> Found<Timestamp> {
        Ok(None)
    }

    fn application(&self, _: ApplicationId) -> Found<PartnerId> {
        Ok(None)
    }

    fn offer(&self, _: ApplicationId, _: OfferId) -> Found<StoredOffer<T>> {
        Ok(None)
    }

    fn buyer(&self, _: PartnerId, _: BuyerId) -> Found<StoredBuyer<B>> {
        Ok(None)
    }

    fn webhook(&self, _: EndpointId) -> Found<Webhook> {
        Ok(None)
    }
}

/// The state that changes have led to, by key.
#[derive(Debug)]
pub struct Tables<T, B> {
    /// Partners.
    pub partners: HashMap<PartnerId, Partner>,
    /// Keys, by partner and id.
    pub keys: HashMap<(PartnerId, KeyId), KeyRecord>,
    /// When keys were last used.
    pub uses: HashMap<KeyHash, Timestamp>,
    /// The owners of applications.
    pub applications: HashMap<ApplicationId, PartnerId>,
    /// Offers.
    pub offers: HashMap<(ApplicationId, OfferId), StoredOffer<T>>,
    /// Buyers, by partner and id.
    pub buyers: HashMap<(PartnerId, BuyerId), StoredBuyer<B>>,
    /// Endpoints of webhooks, those that were deleted too.
    pub webhooks: HashMap<EndpointId, Webhook>,
    /// Which partner is which client.
    pub clients: HashMap<String, PartnerId>,
    hashes: HashMap<KeyHash, (PartnerId, KeyId)>,
}

impl<T, B> Default for Tables<T, B> {
    fn default() -> Self {
        Self {
            partners: HashMap::new(),
            keys: HashMap::new(),
            uses: HashMap::new(),
            applications: HashMap::new(),
            offers: HashMap::new(),
            buyers: HashMap::new(),
            webhooks: HashMap::new(),
            clients: HashMap::new(),
            hashes: HashMap::new(),
        }
    }
}

impl<T, B> Tables<T, B> {
    /// Sets a partner and its client id.
    pub fn put_partner(&mut self, partner: Partner) {
        let before = self.partners.get(&partner.id).and_then(|before| before.oauth_client_id.as_ref());
        if let Some(client) = before
            // Another partner may have taken it since.
            && self.clients.get(client) == Some(&partner.id)
        {
            self.clients.remove(client);
        }
        if let Some(client) = &partner.oauth_client_id {
            self.clients.insert(client.clone(), partner.id);
        }
        self.partners.insert(partner.id, partner);
    }

    /// Sets a key.
    pub fn put_key(&mut self, key: KeyRecord) {
        self.hashes.insert(key.hash, (key.partner, key.id));
        self.keys.insert((key.partner, key.id), key);
    }

    /// The partner with this client id.
    pub fn client(&self, client: &str) -> Option<PartnerId> {
        self.clients.get(client).copied()
    }

    /// The key that has this hash.
    pub fn key_with_hash(&self, hash: KeyHash) -> Option<&KeyRecord> {
        self.keys.get(self.hashes.get(&hash)?)
    }

    /// Empties every table; allocations stay.
    pub fn clear(&mut self) {
        let Self { partners, keys, uses, applications, offers, buyers, webhooks, clients, hashes } = self;
        partners.clear();
        keys.clear();
        uses.clear();
        applications.clear();
        offers.clear();
        buyers.clear();
        webhooks.clear();
        clients.clear();
        hashes.clear();
    }
}

/// A view with changes on top.
#[derive(Debug)]
pub struct Overlay<V: View> {
    /// The view below.
    pub base: V,
    /// What has changed.
    pub tables: Tables<V::Terms, V::Buyer>,
}

impl<V: View> Overlay<V> {
    /// A view without changes.
    pub fn new(base: V) -> Self {
        Self { base, tables: Tables::default() }
    }

    /// Applies a change. `terms` and `buyer` say what the view keeps of the values that the change sets.
    ///
    /// # Errors
    /// `Corrupt` if the change is about something that does not exist; otherwise the error of the view below.
    pub fn apply(
        &mut self,
        change: &Change,
        terms: impl FnOnce(&Terms) -> V::Terms,
        buyer: impl FnOnce(&Description) -> V::Buyer,
    ) -> Result<(), ViewError> {
        match change {
            Change::PartnerPut(partner) => self.tables.put_partner(partner.clone()),
            Change::KeyAdded(key) => self.tables.put_key(key.clone()),
            Change::KeyRevoked { partner, key, at } => {
                let record = self.key(*partner, *key)?.ok_or(ViewError::Corrupt)?;
                self.tables.put_key(KeyRecord { revoked_at: Some(*at), ..record });
            }
            Change::KeyExpirySet { partner, key, at } => {
                let record = self.key(*partner, *key)?.ok_or(ViewError::Corrupt)?;
                self.tables.put_key(KeyRecord { expires_at: Some(*at), ..record });
            }
            Change::KeyUsed { key, at } => drop(self.tables.uses.insert(*key, *at)),
            Change::ApplicationPut { application, partner } => {
                self.tables.applications.insert(*application, *partner);
            }
            Change::OfferCreated { offer, terms: set, at } => {
                let standing = Standing::offered(set, *at);
                let stored = StoredOffer { partner: offer.partner, standing, terms: terms(set) };
                self.tables.offers.insert((offer.application, offer.offer), stored);
            }
            Change::TermsReplaced { offer, terms: set, before: _ } => {
                let stored = self.offer_mut(offer)?;
                stored.standing = stored.standing.with_terms(set);
                stored.terms = terms(set);
            }
            Change::OfferMoved { offer, status, at, reason: _ } => {
                self.offer_mut(offer)?.standing.apply(Transition { status: *status, at: *at });
            }
            Change::BuyerCreated { partner, buyer: id, description, fingerprint, at } => {
                let (partner, fingerprint, created_at) = (*partner, *fingerprint, *at);
                let stored = StoredBuyer { partner, fingerprint, created_at, description: buyer(description) };
                self.tables.buyers.insert((partner, *id), stored);
            }
            Change::BuyerRead { .. } => {}
            Change::EndpointPut { endpoint, step: _ } => {
                let before = self.webhook(endpoint.id)?.filter(|_| endpoint.set != State::Deleted);
                let progress = before.and_then(|before| before.progress);
                self.tables.webhooks.insert(endpoint.id, Webhook { endpoint: (**endpoint).clone(), progress });
            }
            Change::DeliveriesNoted(all) => {
                for noted in all {
                    // A replay can meet the progress of an endpoint that the index knows as deleted.
                    let Some(mut webhook) = self.webhook(noted.endpoint)?.and_then(Webhook::there) else { continue };
                    webhook.progress.get_or_insert_default().note(noted);
                    self.tables.webhooks.insert(noted.endpoint, webhook);
                }
            }
        }
        Ok(())
    }

    /// The offer's record in the tables, copied from below if it is not there yet.
    fn offer_mut(&mut self, offer: &OfferKey) -> Result<&mut StoredOffer<V::Terms>, ViewError> {
        use std::collections::hash_map::Entry;
        match self.tables.offers.entry((offer.application, offer.offer)) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let stored = self.base.offer(offer.application, offer.offer)?;
                Ok(entry.insert(stored.ok_or(ViewError::Corrupt)?))
            }
        }
    }
}

impl<V: View> View for Overlay<V> {
    type Terms = V::Terms;
    type Buyer = V::Buyer;

    fn partner(&self, id: PartnerId) -> Found<Partner> {
        self.tables.partners.get(&id).map_or_else(|| self.base.partner(id), |partner| Ok(Some(partner.clone())))
    }

    fn client(&self, client: &str) -> Found<PartnerId> {
        if let Some(partner) = self.tables.client(client) {
            return Ok(Some(partner));
        }
        // The view below still has the old client id of a partner that has changed.
        Ok(self.base.client(client)?.filter(|owner| !self.tables.partners.contains_key(owner)))
    }

    fn key(&self, partner: PartnerId, key: KeyId) -> Found<KeyRecord> {
        let found = self.tables.keys.get(&(partner, key));
        found.map_or_else(|| self.base.key(partner, key), |key| Ok(Some(key.clone())))
    }

    fn key_with_hash(&self, hash: KeyHash) -> Found<(PartnerId, KeyId)> {
        if let Some(key) = self.tables.key_with_hash(hash) {
            return Ok(Some((key.partner, key.id)));
        }
        Ok(self.base.key_with_hash(hash)?.filter(|owner| !self.tables.keys.contains_key(owner)))
    }

    fn key_used(&self, hash: KeyHash) -> Found<Timestamp> {
        self.tables.uses.get(&hash).map_or_else(|| self.base.key_used(hash), |at| Ok(Some(*at)))
    }

    fn application(&self, id: ApplicationId) -> Found<PartnerId> {
        self.tables.applications.get(&id).map_or_else(|| self.base.application(id), |owner| Ok(Some(*owner)))
    }

    fn offer(&self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<V::Terms>> {
        let found = self.tables.offers.get(&(application, offer));
        found.map_or_else(|| self.base.offer(application, offer), |offer| Ok(Some(offer.clone())))
    }

    fn buyer(&self, partner: PartnerId, buyer: BuyerId) -> Found<StoredBuyer<V::Buyer>> {
        let found = self.tables.buyers.get(&(partner, buyer));
        found.map_or_else(|| self.base.buyer(partner, buyer), |buyer| Ok(Some(buyer.clone())))
    }

    fn webhook(&self, id: EndpointId) -> Found<Webhook> {
        self.tables.webhooks.get(&id).map_or_else(|| self.base.webhook(id), |found| Ok(Some(found.clone())))
    }
}

#[cfg(test)]
mod tests;
