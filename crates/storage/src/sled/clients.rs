//! Which partner an OAuth client is, in memory: asked for each request with a token, and changed only when a partner is put.

use super::fault::readable;
use super::trees::{Kind, StateKey};
use crate::codec;
use crate::records::PartnerRecord;
use lendpay_domain::store::Answer;
use lendpay_domain::{PartnerId, StoreError};
use sled::Tree;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

#[derive(Default)]
pub(super) struct Clients(RwLock<Index>);

#[derive(Default)]
struct Index {
    partners: HashMap<String, [u8; 16]>,
    /// A partner's record cannot be read: its client is not listed, so that an unknown client may be that one.
    incomplete: bool,
}

impl Clients {
    /// Reads all partners, once, when the store is opened.
    pub(super) fn fill(&self, partners: &Tree) -> sled::Result<()> {
        for item in partners {
            let (bytes, value) = item?;
            match StateKey::read(Kind::Partners, &bytes) {
                Some(key) => self.put(&key, &value),
                None => self.change(|index| index.incomplete = true),
            }
        }
        Ok(())
    }

    /// Takes a partner's new state. A client id that moves from one partner to another within a group ends up with the other,
    /// whichever comes first.
    pub(super) fn put(&self, key: &StateKey, value: &[u8]) {
        let Ok(id) = <[u8; 16]>::try_from(key.bytes()) else { return };
        let record = readable(key, codec::unseal::<PartnerRecord<'_>>(value));
        self.change(|index| {
            // Partners are few and rarely put.
            index.partners.retain(|_, partner| *partner != id);
            match record.map(|record| record.oauth_client_id) {
                Ok(Some(client)) => drop(index.partners.insert(client.to_owned(), id)),
                Ok(None) => {}
                Err(_) => index.incomplete = true,
            }
        });
    }

    pub(super) fn find(&self, client: &str) -> Answer<Option<PartnerId>> {
        let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match index.partners.get(client) {
            Some(id) => Ok(Some(PartnerId::from_bytes(*id))),
            None if index.incomplete => Err(StoreError::Corrupt),
            None => Ok(None),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Index)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}
