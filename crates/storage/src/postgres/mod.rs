//! The store on PostgreSQL, for more than one process.
//!
//! | module | subject |
//! |---|---|
//! | `address` | the connection string, TLS |
//! | `migrations` | the tables, and how they come to be |
//! | `pool` | connections, transactions, waiting between tries |
//! | `trouble`, `health` | what can go wrong and what follows; telling it |
//! | `statements`, `rows` | every statement; rows and what they stand for |
//! | `group`, `work`, `stage` | commands that go to the database together: the queue, the domain's decisions, what is written |
//! | `alone`, `parties` | what is not grouped: trying again, rare commands |
//! | `read`, `memory`, `uses` | reads; keys and clients for a moment; when keys were used |
//! | `events`, `order`, `export`, `import` | events and their numbers; everything as records, out and in |

mod address;
mod alone;
mod events;
mod export;
mod group;
mod health;
mod import;
mod memory;
mod migrations;
mod order;
mod parties;
mod pool;
mod read;
mod rows;
mod stage;
mod statements;
#[cfg(test)]
mod tests;
mod trouble;
mod uses;
mod work;

pub use address::PostgresAddress;
pub use export::PostgresExport;
pub use import::PostgresImport;
pub use migrations::migrate;

use crate::stats::StoreStats;
use deadpool_postgres::Pool;
use group::Queue;
use health::Health;
use lendpay_domain::buyer::Buyer;
use lendpay_domain::event::Event;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::store::{
    AcceptOffer, AcceptOutcome, AddKey, AddKeyOutcome, Answer, CreateBuyer, CreateBuyerOutcome, FindBuyers, MoveOffer,
    MoveOutcome, PutApplication, PutApplicationOutcome, PutOffer, PutOfferOutcome, PutPartner, PutPartnerOutcome,
    RevokeKey, RevokeKeyOutcome, Store,
};
use lendpay_domain::{ApplicationId, BuyerId, KeyId, OfferId, PartnerId, Timestamp};
use memory::{Clients, Keys};
use pool::Session;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use uses::Uses;
use work::{Move, Put, Work};

/// How the store uses the database.
#[derive(Clone, Copy, Debug)]
pub struct PostgresOptions {
    /// The most connections. Two carry commands; the others are for reads, the operator's commands and exports.
    pub connections: usize,
    /// The most commands that wait; more are refused.
    pub queue: usize,
    /// How long a command may wait for a database that is busy or away.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: 16, queue: 4_096, patience: Duration::from_secs(10) }
    }
}

/// Why a database cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The tables are not those of this program.
    #[error("{}", version_problem(*.found, *.wanted))]
    Version {
        /// The version of the tables; 0 if there are none.
        found: i32,
        /// The version that this program works with.
        wanted: i32,
    },
    /// The database answers before it has written.
    #[error(
        "The database has synchronous_commit off: what it says is written could be lost with it. Set it to on, for this \
         database or its user."
    )]
    Asynchronous,
    /// The database did not answer, or said no.
    #[error("The database at {address} cannot be used: {reason}.")]
    Unreachable {
        /// The database, without the password.
        address: String,
        /// What it said.
        reason: String,
    },
    /// TLS or the pool cannot be set up.
    #[error("{0}.")]
    Tls(String),
}

fn version_problem(found: i32, wanted: i32) -> String {
    match found {
        0 => "There are no tables in the database; make them with `lendpay migrate`.".to_owned(),
        _ if found < wanted => format!(
            "The database has tables of version {found}, and this program needs {wanted}; run `lendpay migrate` with this \
             program."
        ),
        _ => format!(
            "The database has tables of version {found}, and this program knows {wanted}; run the program that made them, or \
             a newer one."
        ),
    }
}

/// The store. Any number of processes can have it open.
pub struct PostgresStore {
    pool: Pool,
    health: Arc<Health>,
    patience: Duration,
    queue: Queue,
    groups: Mutex<JoinSet<()>>,
    keys: Keys,
    clients: Clients,
    uses: Uses,
}

impl PostgresStore {
    /// Opens a database whose tables are there. One that does not answer is no error: it may come back, and until then
    /// commands are refused.
    ///
    /// # Errors
    /// If the tables are older or newer than this program, or TLS cannot be set up.
    pub async fn open(address: &PostgresAddress, options: PostgresOptions) -> Result<Self, OpenError> {
        let health = Arc::new(Health::default());
        let pool = pool::pool(address, options, &health)?;
        match Session::get(&pool).await {
            Ok(session) => session.give_back(),
            Err(trouble) => {
                if let Some(problem) = health.fatal() {
                    return Err(problem);
                }
                health.note(&trouble);
            }
        }
        let (queue, groups) = group::start(&pool, options.queue, options.patience, &health);
        let (keys, clients, uses) = (Keys::default(), Clients::default(), Uses::start(&pool));
        Ok(Self { pool, health, patience: options.patience, queue, groups: Mutex::new(groups), keys, clients, uses })
    }

    /// Takes no more commands, does those that wait, and closes every connection.
    ///
    /// # Errors
    /// None yet; commands that could not be done were answered so.
    pub async fn close(&self) -> Answer<()> {
        self.queue.close();
        let groups = std::mem::take(&mut *self.groups.lock().unwrap_or_else(PoisonError::into_inner));
        groups.join_all().await;
        self.pool.close();
        Ok(())
    }

    /// Is ready, with the reason, when this program must not go on with this database; never otherwise.
    pub fn failure(&self) -> impl Future<Output = String> + Send + use<> {
        self.health.failure()
    }

    /// Why the database cannot be used, if it cannot.
    pub fn failure_reason(&self) -> Option<String> {
        self.health.trouble()
    }

    /// Counters.
    pub fn stats(&self) -> StoreStats {
        self.health.stats()
    }
}

impl Store for PostgresStore {
    type Export = PostgresExport;

    async fn accept_offer(&self, command: AcceptOffer) -> Answer<AcceptOutcome> {
        let AcceptOffer { partner, application, offer, stamp } = command;
        let command = Move { key: (partner, application, offer), action: Action::Accept, stamp };
        Ok(match self.queue.run(Work::Move, command).await? {
            MoveOutcome::Done(offer) => AcceptOutcome::Accepted(offer),
            MoveOutcome::Illegal(illegal) => AcceptOutcome::Refused(illegal),
            MoveOutcome::NotFound => AcceptOutcome::NotFound,
        })
    }

    async fn create_buyer(&self, command: CreateBuyer) -> Answer<CreateBuyerOutcome> {
        self.queue.run(Work::Create, command).await
    }

    async fn move_offer(&self, command: MoveOffer) -> Answer<MoveOutcome> {
        let MoveOffer { application, offer, action, stamp } = command;
        let Some(partner) = self.owner(application).await? else { return Ok(MoveOutcome::NotFound) };
        self.queue.run(Work::Move, Move { key: (partner, application, offer), action, stamp }).await
    }

    async fn put_offer(&self, command: PutOffer) -> Answer<PutOfferOutcome> {
        let PutOffer { application, offer, terms, stamp } = command;
        let Some(partner) = self.owner(application).await? else { return Ok(PutOfferOutcome::NoApplication) };
        let command = Put { key: (partner, application, offer), terms, stamp };
        self.queue.run(Work::Put, command).await
    }

    async fn put_partner(&self, command: PutPartner) -> Answer<PutPartnerOutcome> {
        let outcome = self.alone(command).await;
        self.clients.forget();
        outcome
    }

    async fn add_key(&self, command: AddKey) -> Answer<AddKeyOutcome> {
        self.alone(command).await
    }

    async fn revoke_key(&self, command: RevokeKey) -> Answer<RevokeKeyOutcome> {
        let outcome = self.alone(command).await;
        self.keys.forget();
        outcome
    }

    async fn put_application(&self, command: PutApplication) -> Answer<PutApplicationOutcome> {
        self.alone(command).await
    }

    async fn find_key(&self, hash: KeyHash) -> Answer<Option<KeyRecord>> {
        self.key(hash).await
    }

    fn note_use(&self, key: KeyHash, at: Timestamp) {
        self.uses.note(key, at);
    }

    async fn keys_of(&self, partner: PartnerId, window: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        self.keys_of_partner(partner, window).await
    }

    async fn find_client(&self, client: &str) -> Answer<Option<PartnerId>> {
        self.client(client).await
    }

    async fn find_offer(&self, application: ApplicationId, offer: OfferId, now: Timestamp) -> Answer<Option<Offer>> {
        self.offer_at(application, offer, now).await
    }

    async fn offers_of(
        &self,
        application: ApplicationId,
        window: Window<OfferId>,
        now: Timestamp,
    ) -> Answer<Option<Page<Offer, OfferId>>> {
        self.offers(application, window, now).await
    }

    async fn find_buyers(&self, query: FindBuyers) -> Answer<Page<Buyer, BuyerId>> {
        self.buyers(query).await
    }

    async fn find_buyer(&self, id: BuyerId) -> Answer<Option<Buyer>> {
        self.buyer(id).await
    }

    async fn events(&self, after: u64, limit: usize) -> Answer<Vec<Event>> {
        self.events_after(after, limit).await
    }

    async fn export(&self) -> Answer<PostgresExport> {
        self.begin_export().await
    }

    async fn check(&self) -> Answer<()> {
        self.writable().await
    }
}
