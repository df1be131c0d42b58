//! Imports: one transaction, so that all of it is there or nothing. An import of nothing, with `merge`, begins a new
//! history and changes nothing else.

use super::address::PostgresAddress;
use super::error::DbError;
use super::health::Health;
use super::numbering::{self, last};
use super::order::Order;
use super::session::Session;
use super::view::{Loading, Rows};
use super::write::{Pending, write};
use super::{PostgresOptions, pool, statements as sql};
use crate::ImportError;
use crate::history::new_history;
use lendpay_domain::Timestamp;
use lendpay_domain::buyer::Description;
use lendpay_domain::change::Record;
use lendpay_domain::command::Reads;
use lendpay_domain::import::{Admission, Admitted, Imported, SEQUENCE_LIMIT, reads_of};
use lendpay_domain::offer::Terms;
use lendpay_domain::view::Overlay;
use std::sync::Arc;

/// How many records go to the database together.
const GROUP: usize = 1_000;

/// An import that is under way. Dropped before it is finished, it has done nothing.
pub struct PostgresImport {
    session: Session,
    order: Order,
    admission: Admission,
    waiting: Vec<Record>,
    /// The last sequence that was given; negative while no record had one of its own.
    last: i64,
}

impl From<DbError> for ImportError {
    fn from(error: DbError) -> Self {
        Self::Failed(error.reason().to_owned())
    }
}

impl PostgresImport {
    /// Begins an import at the moment `now`, into an empty database, or with `merge` into any. Events cannot be read
    /// there until it ends.
    ///
    /// # Errors
    /// If the database cannot be used, or is not empty.
    pub async fn begin(address: &PostgresAddress, merge: bool, now: Timestamp) -> Result<Self, ImportError> {
        let health = Arc::new(Health::default());
        let options = PostgresOptions { connections: 1, ..PostgresOptions::default() };
        let failed = |reason: String| ImportError::Failed(reason.trim_end_matches('.').to_owned());
        let pool = pool::pool(address, options, &health).map_err(|problem| failed(problem.to_string()))?;
        let session = Session::get(&pool).await.map_err(|error| failed(error.reason().to_owned()))?;
        session.begin().await?;
        let empty: bool = session.row(sql::IS_EMPTY).await?.try_get(0).map_err(DbError::from)?;
        if !merge && !empty {
            return Err(ImportError::NotEmpty { place: format!("at {address}") });
        }
        let mut last = last(&session).await?;
        loop {
            let numbered = numbering::number(&session, last).await?;
            last += numbered;
            if numbered < numbering::AT_ONCE {
                break;
            }
        }
        let first = -i64::try_from(SEQUENCE_LIMIT / 2).expect("half of what fits");
        let last = if merge { last } else { first };
        let admission = Admission::new(merge, now);
        Ok(Self { session, order: Order::default(), admission, waiting: Vec::with_capacity(GROUP), last })
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// `Record` if this one or one before it does not fit, `Failed` if the database failed. The import cannot go on then.
    pub async fn add(&mut self, record: Record) -> Result<(), ImportError> {
        self.waiting.push(record);
        if self.waiting.len() >= GROUP { self.write().await } else { Ok(()) }
    }

    /// Makes everything durable and ends the import.
    ///
    /// # Errors
    /// As [`Self::add`]; nothing was imported then.
    pub async fn finish(mut self) -> Result<Imported, ImportError> {
        self.write().await?;
        self.session.run(sql::BEGIN_HISTORY, &[&self.last.max(0), &new_history().uuid()]).await?;
        self.session.commit().await?;
        Ok(self.admission.done())
    }

    /// A record keeps its sequence unless that is taken. One without comes after the one before it; before all that
    /// have one, it gets a negative sequence, since theirs may begin with 1.
    fn next_sequence(&mut self, own: Option<u64>) -> i64 {
        let own = own.map(|own| i64::try_from(own).expect("sequences are admitted below the limit"));
        self.last = own.filter(|own| *own > self.last).unwrap_or(self.last + 1);
        self.last
    }

    async fn write(&mut self) -> Result<(), ImportError> {
        let records = std::mem::take(&mut self.waiting);
        let mut reads = Reads::default();
        records.iter().for_each(|record| reads_of(&record.change, &mut reads));
        let rows = Rows::load(&self.session, &self.order, reads, Loading::Again).await?;
        let mut view = Overlay::new(rows.stored);
        let (count, mut changes) = (records.len(), Vec::with_capacity(records.len()));
        for (n, record) in records.into_iter().enumerate() {
            match self.admission.admit(&record, &view).map_err(ImportError::from) {
                Ok(Admitted::Keep) => {}
                Ok(Admitted::Add { sequence }) => {
                    view.apply(&record.change, Terms::clone, Description::clone).expect("an admitted record fits");
                    changes.push(Pending { sequence: Some(self.next_sequence(sequence)), record });
                }
                Err(ImportError::Record { problem, .. }) => {
                    return Err(ImportError::Record { problem, back: (count - 1 - n) as u64 });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(write(&self.session, &self.order, &view, &rows.versions, &changes).await?)
    }
}
