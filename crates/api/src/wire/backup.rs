//! Backups on the wire.

use super::fields::{self, Fields};
use super::party::FromFields;
use super::time::Time;
use lendpay_domain::Timestamp;
use poem_openapi::Object;

/// A backup that is complete.
#[derive(Debug, Object)]
#[oai(rename_all = "camelCase", rename = "NoteBackupRequest")]
pub struct NewBackup {
    /// Everything that was acknowledged before is in the backup: `Log-As-Of` of the answer that it was copied from.
    pub as_of: Time,
}

impl FromFields for NewBackup {
    type Value = Timestamp;

    fn read(fields: &mut Fields, now: Timestamp) -> Option<Timestamp> {
        fields.required("asOf", |value| match fields::time(value) {
            Ok(as_of) if as_of > now => Err("must not be in the future"),
            time => time,
        })
    }
}
