//! Views that answer through another one.

use super::{Found, StoredBuyer, StoredOffer, View};
use crate::key::{KeyHash, KeyRecord};
use crate::offer::Terms;
use crate::partner::Partner;
use crate::webhook::Webhook;
use crate::{ApplicationId, BuyerId, EndpointId, KeyId, OfferId, PartnerId, Timestamp};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Terms as a view has them: the terms, or where they are.
pub trait HeldTerms: Clone + PartialEq + Send + 'static {
    /// The terms, if these are the terms.
    fn whole(&self) -> Option<&Terms>;
}

impl HeldTerms for Terms {
    fn whole(&self) -> Option<&Terms> {
        Some(self)
    }
}

/// Looks everything up in another view.
macro_rules! look_ups_of {
    ($self:ident => $view:expr) => {
        look_ups_of!($self => $view, but of offers);

        fn offer(&$self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<V::Terms>> {
            $view.offer(application, offer)
        }
    };
    ($self:ident => $view:expr, but of offers) => {
        fn partner(&$self, id: PartnerId) -> Found<Partner> {
            $view.partner(id)
        }

        fn client(&$self, client: &str) -> Found<PartnerId> {
            $view.client(client)
        }

        fn key(&$self, partner: PartnerId, key: KeyId) -> Found<KeyRecord> {
            $view.key(partner, key)
        }

        fn key_with_hash(&$self, hash: KeyHash) -> Found<(PartnerId, KeyId)> {
            $view.key_with_hash(hash)
        }

        fn key_used(&$self, hash: KeyHash) -> Found<Timestamp> {
            $view.key_used(hash)
        }

        fn application(&$self, id: ApplicationId) -> Found<PartnerId> {
            $view.application(id)
        }

        fn buyer(&$self, partner: PartnerId, buyer: BuyerId) -> Found<StoredBuyer<V::Buyer>> {
            $view.buyer(partner, buyer)
        }

        fn webhook(&$self, id: EndpointId) -> Found<Webhook> {
            $view.webhook(id)
        }
    };
}

impl<V: View> View for Arc<V> {
    type Terms = V::Terms;
    type Buyer = V::Buyer;

    look_ups_of!(self => (**self));

    fn terms<'a>(&'a self, found: &'a V::Terms) -> Option<&'a Terms> {
        (**self).terms(found)
    }
}

/// A view with terms that were read before the decision.
#[derive(Debug)]
pub struct Known<'a, V: View> {
    /// The view.
    pub view: &'a V,
    /// The terms, and how the view referred to them when they were read.
    pub terms: Option<&'a (V::Terms, Terms)>,
}

impl<V: View> View for Known<'_, V> {
    type Terms = V::Terms;
    type Buyer = V::Buyer;

    look_ups_of!(self => self.view);

    /// What was read counts only while the view refers to the same terms.
    fn terms<'a>(&'a self, found: &'a V::Terms) -> Option<&'a Terms> {
        let known = self.terms.filter(|(place, _)| place == found);
        self.view.terms(found).or_else(|| known.map(|(_, terms)| terms))
    }
}

/// An offer's application, and the offer.
type OfferIds = (ApplicationId, OfferId);

/// How many offers are remembered: more than one command looks at.
const REMEMBERED: usize = 512;

/// A view that finds an offer a second time without a look-up: what is decided about an offer mostly changes it.
#[derive(Debug)]
pub struct Remembered<V: View> {
    /// The view.
    pub view: V,
    /// The offers that were found last, until they are asked for again.
    found: RefCell<HashMap<OfferIds, StoredOffer<V::Terms>>>,
}

impl<V: View> Remembered<V> {
    /// A view that remembers nothing yet.
    pub fn new(view: V) -> Self {
        Self { view, found: RefCell::default() }
    }

    /// Forgets what was found, before the view changes.
    pub fn forget(&self) {
        self.found.borrow_mut().clear();
    }
}

impl<V: View> View for Remembered<V> {
    type Terms = V::Terms;
    type Buyer = V::Buyer;

    look_ups_of!(self => self.view, but of offers);

    fn offer(&self, application: ApplicationId, offer: OfferId) -> Found<StoredOffer<V::Terms>> {
        let (ids, mut remembered) = ((application, offer), self.found.borrow_mut());
        if let Some(stored) = remembered.remove(&ids) {
            return Ok(Some(stored));
        }
        let found = self.view.offer(application, offer)?;
        if remembered.len() == REMEMBERED {
            remembered.clear();
        }
        remembered.extend(found.clone().map(|stored| (ids, stored)));
        Ok(found)
    }

    fn terms<'a>(&'a self, found: &'a V::Terms) -> Option<&'a Terms> {
        self.view.terms(found)
    }
}
