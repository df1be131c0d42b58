//! The operators' file: who may call the operator's side besides the holder of the single key. It may change while the
//! service runs.

use crate::secret_file;
use lendpay_api::{OperatorKey, OperatorList, Operators};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The file, and who may call as it says.
pub struct OperatorsFile {
    path: PathBuf,
    /// The version of the file that was read first.
    first: Option<(u64, i64, i64)>,
    operators: Arc<Operators>,
}

impl OperatorsFile {
    /// Reads the file. `key` is the single key, if there is one.
    pub fn open(path: &Path, key: Option<OperatorKey>) -> Result<Self, String> {
        let first = secret_file::version(path);
        let operators = Arc::new(Operators::new(key, read(path)?));
        Ok(Self { path: path.into(), first, operators })
    }

    /// Who may call.
    pub fn operators(&self) -> Arc<Operators> {
        Arc::clone(&self.operators)
    }

    /// Reads the file again whenever it changes. While it cannot be read, or others can read it, the last list stays.
    pub async fn renew(self) -> Infallible {
        let mut seen = self.first;
        loop {
            tokio::time::sleep(LOOK).await;
            let before = std::mem::replace(&mut seen, secret_file::version(&self.path));
            if before == seen {
                continue;
            }
            match read(&self.path) {
                Ok(list) => {
                    let keys = list.keys();
                    self.operators.replace(list);
                    tracing::info!(keys, "the operators' file was read again");
                }
                Err(reason) => tracing::warn!(reason, "the new operators' file cannot be used; the last one stays"),
            }
        }
    }
}

fn read(path: &Path) -> Result<OperatorList, String> {
    let unreadable =
        |error: &dyn std::fmt::Display| format!("no operators can be read from {}: {error}", path.display());
    let text = std::io::read_to_string(secret_file::open(path)?).map_err(|error| unreadable(&error))?;
    OperatorList::parse(&text).map_err(|error| unreadable(&error))
}
