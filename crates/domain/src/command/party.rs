//! Partners, their keys and their applications: the operator's commands.

use super::{Command, DecideError, Decided, Decision, Reads, Stamp, plain_outcome};
use crate::change::{Change, Record};
use crate::key::{KeyHash, KeyRecord, hour_of};
use crate::partner::Partner;
use crate::text::Name;
use crate::view::View;
use crate::{ApplicationId, KeyId, PartnerId, Timestamp};

/// Creates a partner, or replaces its name and client id.
#[derive(Clone, Debug)]
pub struct PutPartner {
    /// The partner.
    pub id: PartnerId,
    /// Its name.
    pub name: Name,
    /// Its client id at the authorization server.
    pub oauth_client_id: Option<String>,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutPartnerOutcome {
    /// A new partner.
    Created(Partner),
    /// The partner existed; it has these values now.
    Updated(Partner),
    /// Another partner has this client id.
    ClientTaken,
}

impl Command for PutPartner {
    plain_outcome!(PutPartnerOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.partners.push(self.id);
        reads.clients.extend(self.oauth_client_id.clone());
    }

    fn decide<V: View>(&self, view: &V) -> Decided<PutPartnerOutcome> {
        let Self { id, name, oauth_client_id, stamp } = self.clone();
        if let Some(client) = &oauth_client_id
            && view.client(client)?.is_some_and(|owner| owner != id)
        {
            return Ok(Decision::unchanged(PutPartnerOutcome::ClientTaken));
        }
        let old = view.partner(id)?;
        let created_at = old.as_ref().map_or(stamp.at, |old| old.created_at);
        let partner = Partner { id, name, oauth_client_id, created_at };
        let changed = old.as_ref() != Some(&partner);
        let put = stamp.record(Change::PartnerPut(partner.clone()));
        let outcome = match old {
            Some(_) => PutPartnerOutcome::Updated(partner),
            None => PutPartnerOutcome::Created(partner),
        };
        Ok(if changed { Decision::with(outcome, put) } else { Decision::unchanged(outcome) })
    }
}

/// Adds a key.
#[derive(Clone, Debug)]
pub struct AddKey {
    /// The key, its partner included.
    pub key: KeyRecord,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddKeyOutcome {
    /// The key was added, now or already.
    Added,
    /// There is no such partner.
    NoPartner,
}

impl Command for AddKey {
    plain_outcome!(AddKeyOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.partners.push(self.key.partner);
        reads.keys.push((self.key.partner, self.key.id));
        reads.hashes.push(self.key.hash);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<AddKeyOutcome> {
        let KeyRecord { partner, id, hash, .. } = self.key;
        if view.partner(partner)?.is_none() {
            return Ok(Decision::unchanged(AddKeyOutcome::NoPartner));
        }
        // A repetition changes nothing: it must not make a revoked key valid again.
        match (view.key(partner, id)?, view.key_with_hash(hash)?) {
            (Some(old), _) if old.hash == hash => Ok(Decision::unchanged(AddKeyOutcome::Added)),
            (Some(_), _) => Err(DecideError::Contradiction("the id of a new key is taken")),
            (None, Some(_)) => Err(DecideError::Contradiction("the hash of a new key is taken")),
            (None, None) => {
                Ok(Decision::with(AddKeyOutcome::Added, self.stamp.record(Change::KeyAdded(self.key.clone()))))
            }
        }
    }
}

/// Revokes a key; it is refused from the next request on.
#[derive(Clone, Copy, Debug)]
pub struct RevokeKey {
    /// The partner.
    pub partner: PartnerId,
    /// Its key.
    pub key: KeyId,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevokeKeyOutcome {
    /// The key is revoked, now or already.
    Revoked,
    /// The partner has no such key.
    NotFound,
}

impl Command for RevokeKey {
    plain_outcome!(RevokeKeyOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.keys.push((self.partner, self.key));
    }

    fn decide<V: View>(&self, view: &V) -> Decided<RevokeKeyOutcome> {
        let Self { partner, key, stamp } = *self;
        Ok(match view.key(partner, key)? {
            None => Decision::unchanged(RevokeKeyOutcome::NotFound),
            Some(record) if record.revoked_at.is_some() => Decision::unchanged(RevokeKeyOutcome::Revoked),
            Some(_) => {
                let revoked = Change::KeyRevoked { partner, key, at: stamp.at };
                Decision::with(RevokeKeyOutcome::Revoked, stamp.record(revoked))
            }
        })
    }
}

/// Lets a key expire earlier than it would: at a moment that is still to come.
#[derive(Clone, Copy, Debug)]
pub struct ExpireKey {
    /// The partner.
    pub partner: PartnerId,
    /// Its key.
    pub key: KeyId,
    /// From this moment on it is refused.
    pub at: Timestamp,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpireKeyOutcome {
    /// The key expires at this moment, from now on or already.
    Expires,
    /// The key is revoked, or expires before. It is never valid for longer than was said once.
    EndsEarlier,
    /// The partner has no such key.
    NotFound,
}

impl Command for ExpireKey {
    plain_outcome!(ExpireKeyOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.keys.push((self.partner, self.key));
    }

    fn decide<V: View>(&self, view: &V) -> Decided<ExpireKeyOutcome> {
        let Self { partner, key, at, stamp } = *self;
        let Some(record) = view.key(partner, key)? else { return Ok(Decision::unchanged(ExpireKeyOutcome::NotFound)) };
        Ok(match record.expires_at {
            _ if record.revoked_at.is_some() => Decision::unchanged(ExpireKeyOutcome::EndsEarlier),
            Some(end) if end < at => Decision::unchanged(ExpireKeyOutcome::EndsEarlier),
            Some(end) if end == at => Decision::unchanged(ExpireKeyOutcome::Expires),
            Some(_) | None => {
                let set = Change::KeyExpirySet { partner, key, at };
                Decision::with(ExpireKeyOutcome::Expires, stamp.record(set))
            }
        })
    }
}

/// Registers an application of a partner.
#[derive(Clone, Copy, Debug)]
pub struct PutApplication {
    /// The application.
    pub id: ApplicationId,
    /// Its owner.
    pub partner: PartnerId,
    /// When, by whom, in which request.
    pub stamp: Stamp,
}

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutApplicationOutcome {
    /// A new application.
    Created,
    /// It existed and had this owner.
    Unchanged,
    /// It has another owner, which never changes.
    OwnedByAnother,
    /// There is no such partner.
    NoPartner,
}

impl Command for PutApplication {
    plain_outcome!(PutApplicationOutcome);

    fn reads(&self, reads: &mut Reads) {
        reads.partners.push(self.partner);
        reads.applications.push(self.id);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<PutApplicationOutcome> {
        let Self { id: application, partner, stamp } = *self;
        if view.partner(partner)?.is_none() {
            return Ok(Decision::unchanged(PutApplicationOutcome::NoPartner));
        }
        Ok(match view.application(application)? {
            Some(owner) if owner == partner => Decision::unchanged(PutApplicationOutcome::Unchanged),
            Some(_) => Decision::unchanged(PutApplicationOutcome::OwnedByAnother),
            None => Decision::with(
                PutApplicationOutcome::Created,
                stamp.record(Change::ApplicationPut { application, partner }),
            ),
        })
    }
}

/// Notes when a key was used, to the hour. No caller waits for it.
#[derive(Clone, Copy, Debug)]
pub struct UseKey {
    /// The key.
    pub key: KeyHash,
    /// When.
    pub at: Timestamp,
}

impl Command for UseKey {
    plain_outcome!(());

    fn reads(&self, reads: &mut Reads) {
        reads.hashes.push(self.key);
    }

    fn decide<V: View>(&self, view: &V) -> Decided<()> {
        let (key, at) = (self.key, hour_of(self.at));
        let later = view.key_used(key)?.is_none_or(|last| last < at);
        if !later || view.key_with_hash(key)?.is_none() {
            return Ok(Decision::unchanged(()));
        }
        Ok(Decision::with((), Record { sequence: None, cause: None, change: Change::KeyUsed { key, at } }))
    }
}
