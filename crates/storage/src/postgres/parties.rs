//! Partners, their keys and applications: rare commands, each a transaction of its own.

use super::alone::Command;
use super::pool::Session;
use super::rows::{self, kept, split, split_some};
use super::statements as sql;
use super::trouble::Trouble;
use lendpay_domain::key::KeyRecord;
use lendpay_domain::partner::Partner;
use lendpay_domain::store::{
    AddKey, AddKeyOutcome, PutApplication, PutApplicationOutcome, PutPartner, PutPartnerOutcome, RevokeKey,
    RevokeKeyOutcome,
};
use tokio_postgres::types::ToSql;

impl Command for PutPartner {
    type Outcome = PutPartnerOutcome;

    async fn carry_out(&self, session: &Session) -> Result<PutPartnerOutcome, Trouble> {
        let id = self.id.uuid();
        let old = session.row(sql::FIND_PARTNER, &[&id]).await?;
        let old = old.map(|row| rows::partner(self.id, &row, 0)).transpose()?;
        let created_at = old.as_ref().map_or(self.at, |old| old.created_at);
        let partner =
            Partner { id: self.id, name: self.name.clone(), oauth_client_id: self.oauth_client_id.clone(), created_at };
        if let Some(client) = &self.oauth_client_id {
            let owner = session.row(sql::FIND_CLIENT, &[&kept(client)]).await?;
            match owner.as_ref().map(rows::partner_id).transpose()? {
                Some(owner) if owner != self.id => return Ok(PutPartnerOutcome::ClientTaken),
                Some(_) => {}
                None if session.run(sql::INSERT_CLIENT, &[&kept(client), &id]).await? == 0 => {
                    return Err(Trouble::Raced);
                }
                None => {}
            }
        }
        if let Some(client) = old.as_ref().and_then(|old| old.oauth_client_id.as_ref())
            && Some(client) != self.oauth_client_id.as_ref()
        {
            session.run(sql::DELETE_CLIENT, &[&kept(client), &id]).await?;
        }
        write_partner(session, &partner).await?;
        Ok(if old.is_some() { PutPartnerOutcome::Updated(partner) } else { PutPartnerOutcome::Created(partner) })
    }
}

/// Writes a partner's row.
pub(super) async fn write_partner(session: &Session, partner: &Partner) -> Result<(), Trouble> {
    let (at, ns) = split(partner.created_at);
    let client = partner.oauth_client_id.as_deref().map(kept);
    session.run(sql::UPSERT_PARTNER, &[&partner.id.uuid(), &kept(partner.name.as_str()), &client, &at, &ns]).await?;
    Ok(())
}

impl Command for AddKey {
    type Outcome = AddKeyOutcome;

    async fn carry_out(&self, session: &Session) -> Result<AddKeyOutcome, Trouble> {
        let KeyRecord { partner, id, hash, .. } = self.key;
        if write_key(session, sql::INSERT_KEY, &self.key).await? == 1 {
            return Ok(AddKeyOutcome::Added);
        }
        match session.row(sql::KEY_IS_THERE, &[&partner.uuid(), &id.uuid()]).await? {
            // A repetition changes nothing; above all it does not bring a revoked key back.
            Some(row) if row.try_get::<_, &[u8]>(0)? == hash.to_bytes() => Ok(AddKeyOutcome::Added),
            Some(_) => Err(Trouble::Refused("the id of a new key is taken".to_owned())),
            None if session.row(sql::PARTNER_IS_THERE, &[&partner.uuid()]).await?.is_none() => {
                Ok(AddKeyOutcome::NoPartner)
            }
            None => Err(Trouble::Raced),
        }
    }
}

/// Writes a key's row, by a statement that inserts or updates; returns how many rows that were.
pub(super) async fn write_key(session: &Session, statement: &str, key: &KeyRecord) -> Result<usize, Trouble> {
    let ((created, created_ns), (expires, expires_ns)) = (split(key.created_at), split_some(key.expires_at));
    let (revoked, revoked_ns) = split_some(key.revoked_at);
    let areas: Vec<_> = key.areas.iter().map(|area| area.name()).collect();
    let (partner, id, hash) = (key.partner.uuid(), key.id.uuid(), key.hash.to_bytes());
    let parameters: [&(dyn ToSql + Sync); 11] = [
        &partner,
        &id,
        &hash.as_slice(),
        &kept(key.name.as_str()),
        &areas,
        &created,
        &created_ns,
        &expires,
        &expires_ns,
        &revoked,
        &revoked_ns,
    ];
    session.run(statement, &parameters).await
}

impl Command for RevokeKey {
    type Outcome = RevokeKeyOutcome;

    async fn carry_out(&self, session: &Session) -> Result<RevokeKeyOutcome, Trouble> {
        let (at, ns) = split(self.at);
        let (partner, key) = (self.partner.uuid(), self.key.uuid());
        if session.run(sql::REVOKE_KEY, &[&partner, &key, &at, &ns]).await? == 1 {
            return Ok(RevokeKeyOutcome::Revoked);
        }
        let there = session.row(sql::KEY_IS_THERE, &[&partner, &key]).await?.is_some();
        Ok(if there { RevokeKeyOutcome::Revoked } else { RevokeKeyOutcome::NotFound })
    }
}

impl Command for PutApplication {
    type Outcome = PutApplicationOutcome;

    async fn carry_out(&self, session: &Session) -> Result<PutApplicationOutcome, Trouble> {
        let partner = self.partner.uuid();
        if session.row(sql::PARTNER_IS_THERE, &[&partner]).await?.is_none() {
            return Ok(PutApplicationOutcome::NoPartner);
        }
        if session.run(sql::INSERT_APPLICATION, &[&self.id.uuid(), &partner]).await? == 1 {
            return Ok(PutApplicationOutcome::Created);
        }
        let owner = session.row(sql::OWNER, &[&self.id.uuid()]).await?;
        match owner.as_ref().map(rows::partner_id).transpose()? {
            Some(owner) if owner == self.partner => Ok(PutApplicationOutcome::Unchanged),
            Some(_) => Ok(PutApplicationOutcome::OwnedByAnother),
            None => Err(Trouble::Raced),
        }
    }
}
