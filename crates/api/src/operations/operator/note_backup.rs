//! `NoteBackup`: a backup is complete.

use super::*;
use crate::wire::backup::NewBackup;
use lendpay_domain::log::CopyKind;

pub(crate) struct NoteBackupApi<S>(pub Arc<Operator<S>>);

pub(crate) struct NoteBackup;

#[derive(ApiResponse)]
enum Noted {
    /// It is noted.
    #[oai(status = 204)]
    Now,
}

impl Operation for NoteBackup {
    const ID: &'static str = "NoteBackup";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        write_failures("asOf: must not be in the future", [OperatorFailure::NoLog.into()])
    }
}

#[OpenApi]
impl<S: Commands> NoteBackupApi<S> {
    /// Say that a backup is complete
    ///
    /// `lendpay backup` calls it when what it copied is durable. The metric `lendpay_copy_timestamp_seconds` shows it,
    /// also after a restart.
    #[oai(path = "/operator/log/backup", method = "put", operation_id = "NoteBackup", tag = "Tag::Data")]
    async fn note_backup(&self, request: OperatorRequest, body: Body<NewBackup>) -> Result<Noted, Failed<NoteBackup>> {
        self.0.admit::<NoteBackup>(&request)?;
        let as_of = body.read(request.context.at).await?;
        self.0.log()?.note_copy(CopyKind::Backup, as_of)?;
        Ok(Noted::Now)
    }
}
