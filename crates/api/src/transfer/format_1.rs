//! Format 1, which version 0.1.0 wrote: read, never written. Its records become lines of the current format.
//!
//! Changes of parties and terms have a `sequence` and no cause; the others have an `event` with both and the partner.
//! `terms` does not name the partner. A key is revoked by a second `key` line. The use of a key is `keyUse`, without a
//! sequence.

use super::records::{ApplicationLine, CauseLine, End, KeyLine, PartnerLine};
use super::values::{DescriptionLine, TermsLine};
use super::{records, records::NotARecord};
use crate::wire::offer::Status;
use crate::wire::time::Time;
use serde::Deserialize;
use std::collections::HashMap;
use uuid::Uuid;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Line {
    Partner(PartnerLine),
    Key(KeyLine),
    Application(ApplicationLine),
    Offer { event: EventLine, application_id: Uuid, offer_id: Uuid, terms: TermsLine },
    Terms { sequence: Option<u64>, application_id: Uuid, offer_id: Uuid, terms: TermsLine },
    Move { event: EventLine, application_id: Uuid, offer_id: Uuid, status: Status },
    Buyer { event: EventLine, buyer_id: Uuid, description: DescriptionLine, fingerprint: Option<String> },
    KeyUse { hash: String, at: Time },
    End(End),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventLine {
    sequence: u64,
    id: Uuid,
    occurred_at: Time,
    partner_id: Uuid,
    actor: String,
    operation_id: String,
}

impl EventLine {
    fn split(self) -> (Option<u64>, Option<CauseLine>, Uuid, Time) {
        let Self { sequence, id, occurred_at, partner_id, actor, operation_id } = self;
        (Some(sequence), Some(CauseLine { id, occurred_at, actor, operation_id }), partner_id, occurred_at)
    }
}

/// The owner of each application that was read.
pub(super) type Owners = HashMap<Uuid, Uuid>;

impl Line {
    /// The same in the current format. An error if no line before it names the owner of its application.
    pub(super) fn current(self, owners: &mut Owners) -> Result<records::Line, NotARecord> {
        Ok(match self {
            Self::Partner(line) => records::Line::Partner(line),
            Self::Key(line) => records::Line::Key(line),
            Self::Application(line) => {
                owners.insert(line.id, line.partner_id);
                records::Line::Application(line)
            }
            Self::Offer { event, application_id, offer_id, terms } => {
                let (sequence, cause, partner_id, at) = event.split();
                records::Line::Offer { sequence, cause, partner_id, application_id, offer_id, terms, at }
            }
            Self::Terms { sequence, application_id, offer_id, terms } => {
                let partner_id = *owners.get(&application_id).ok_or(NotARecord)?;
                let (cause, before) = (None, None);
                records::Line::Terms { sequence, cause, partner_id, application_id, offer_id, terms, before }
            }
            Self::Move { event, application_id, offer_id, status } => {
                let (sequence, cause, partner_id, at) = event.split();
                let reason = None;
                records::Line::Move { sequence, cause, partner_id, application_id, offer_id, status, at, reason }
            }
            Self::Buyer { event, buyer_id, description, fingerprint } => {
                let (sequence, cause, partner_id, at) = event.split();
                records::Line::Buyer { sequence, cause, partner_id, buyer_id, description, fingerprint, at }
            }
            Self::KeyUse { hash, at } => records::Line::KeyUsed { sequence: None, cause: None, hash, at },
            Self::End(End { mut records, sha256 }) => {
                if let Some(uses) = records.remove("keyUse") {
                    records.extend([("keyUsed".to_owned(), uses), ("keyRevoked".to_owned(), 0)]);
                }
                records::Line::End(End { records, sha256 })
            }
        })
    }
}
