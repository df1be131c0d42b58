//! The tables, as they came to be: one statement a version, never changed once released. New ones are added at the end:
//! first what is additional, and what is no longer used a release later.
//!
//! Everything is written so that engines that speak PostgreSQL's protocol can take it: no sequence, no trigger, no
//! foreign key (the commands hold the rules). That is untested but on PostgreSQL.
//!
//! Columns are what statements look for, order or compare, and what events say; `body` and `terms` are sealed records
//! (`codec`) of everything else. Times are kept to the microsecond, as PostgreSQL does, and what they have of
//! nanoseconds beside it (`…_ns`, 0 to 999). `ordered_at` is the time of the last change, see `order`. The change that
//! created a buyer is in the buyer's row only. An offer's `expiry_at`, to the microsecond, is in its terms too: a list
//! by expiry reads no others then. A change without a sequence of its own, from an import, has a negative one.

use super::address::{PostgresAddress, chain};
use super::{OpenError, PostgresOptions, pool, statements as sql};
use std::sync::atomic::AtomicUsize;
use tokio_postgres::Client;

/// The version that this program works with.
pub(super) const VERSION: i32 = STEPS.len() as i32;

/// The oldest version whose program can go on with these tables: what came after it only adds. Raise it to the version
/// of a step that takes something away, or that an older program would write past.
const OLDEST: i32 = 24;

const STEPS: [&str; 25] = [
    "CREATE TABLE partners (
        partner_id uuid NOT NULL PRIMARY KEY,
        body bytea NOT NULL,
        ordered_at timestamptz NOT NULL
    )",
    // A row stays when its client is released.
    "CREATE TABLE oauth_clients (
        oauth_client_id text NOT NULL PRIMARY KEY,
        partner_id uuid,
        ordered_at timestamptz NOT NULL
    )",
    "CREATE TABLE api_keys (
        partner_id uuid NOT NULL,
        key_id uuid NOT NULL,
        hash bytea NOT NULL,
        body bytea NOT NULL,
        ordered_at timestamptz NOT NULL,
        PRIMARY KEY (partner_id, key_id)
    )",
    "CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash)",
    "CREATE TABLE applications (
        application_id uuid NOT NULL PRIMARY KEY,
        partner_id uuid NOT NULL,
        ordered_at timestamptz NOT NULL
    )",
    "CREATE INDEX applications_by_partner ON applications (partner_id, application_id)",
    "CREATE TABLE offers (
        partner_id uuid NOT NULL,
        application_id uuid NOT NULL,
        offer_id uuid NOT NULL,
        terms bytea NOT NULL,
        expiry_at timestamptz,
        status text NOT NULL,
        status_changed_at timestamptz NOT NULL,
        status_changed_at_ns smallint NOT NULL,
        ordered_at timestamptz NOT NULL,
        PRIMARY KEY (application_id, offer_id)
    ) WITH (fillfactor = 85)",
    "CREATE INDEX offers_by_partner ON offers (partner_id, application_id, offer_id)",
    "CREATE TABLE buyers (
        partner_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        registration_number text,
        body bytea NOT NULL,
        PRIMARY KEY (partner_id, buyer_id)
    )",
    // An entry of an index has at most 2.7 kB; a registration number may be longer.
    "CREATE INDEX buyers_by_number ON buyers (left(registration_number, 256), partner_id, buyer_id)",
    "CREATE TABLE changes (
        change_id uuid NOT NULL,
        sequence bigint,
        ordered_at timestamptz NOT NULL,
        occurred_at timestamptz,
        occurred_at_ns smallint NOT NULL,
        actor text,
        operation_id uuid,
        partner_id uuid,
        application_id uuid,
        offer_id uuid,
        status text,
        buyer_id uuid,
        body bytea,
        PRIMARY KEY (ordered_at, change_id)
    ) WITH (fillfactor = 70)",
    // Those without a sequence are in `changes_waiting`: a change is written to this index when it is numbered.
    "CREATE INDEX changes_by_sequence ON changes (sequence) WHERE sequence IS NOT NULL",
    "CREATE INDEX changes_waiting ON changes (ordered_at, change_id) WHERE sequence IS NULL",
    "CREATE TABLE change_counter (
        one integer NOT NULL PRIMARY KEY,
        last bigint NOT NULL,
        history uuid NOT NULL
    )",
    "INSERT INTO change_counter VALUES (1, 0, gen_random_uuid())",
    // Calls that changed nothing, for a while. Whose share of the space a row takes is its owner.
    "CREATE TABLE calls (
        call_id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
        operation_id uuid NOT NULL,
        called_at timestamptz NOT NULL,
        owner text NOT NULL,
        body bytea NOT NULL
    )",
    "CREATE INDEX calls_by_operation ON calls (operation_id, called_at)",
    "CREATE INDEX calls_by_time ON calls (called_at)",
    // What the events of partners, keys, applications and endpoints say besides.
    "ALTER TABLE changes ADD COLUMN event_type text, ADD COLUMN key_id uuid, ADD COLUMN endpoint_id uuid",
    // Offers by their expiry, to the microsecond. A row stays when the offer reaches another status or gets another
    // expiry, until it is due: an index of the offers would be written by each accept.
    "CREATE TABLE offers_due (
        expiry_at timestamptz NOT NULL,
        application_id uuid NOT NULL,
        offer_id uuid NOT NULL,
        PRIMARY KEY (expiry_at, application_id, offer_id)
    )",
    "CREATE INDEX api_keys_by_id ON api_keys (key_id)",
    // Written when a change is numbered, not when it is kept: once for each change, and not while a partner waits.
    "CREATE INDEX changes_by_subject ON changes (coalesce(offer_id, buyer_id), sequence) WHERE sequence IS NOT NULL",
    "CREATE INDEX changes_by_operation ON changes (operation_id, sequence) WHERE sequence IS NOT NULL",
    // Endpoints of webhooks, deleted ones too, with their progress, and which process serves one until when, by the
    // database's clock.
    "CREATE TABLE webhooks (
        endpoint_id uuid NOT NULL PRIMARY KEY,
        body bytea NOT NULL,
        progress bytea,
        ordered_at timestamptz NOT NULL,
        holder uuid,
        held_until timestamptz
    )",
    // What partners have used of their rate limit: all of it is back at `full_at`. `granted` is what the last lease
    // got, which its statement could not return otherwise. It is not worth a sync, and a crash or a failover empties
    // it.
    "CREATE UNLOGGED TABLE rate_limits (
        partner_id uuid NOT NULL PRIMARY KEY,
        granted bigint NOT NULL,
        full_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)",
];

/// Brings a database up to the version of this program; returns how many steps that took. Older programs go on
/// meanwhile and afterwards, unless a step takes away what they use.
///
/// # Errors
/// If the database cannot be used, or a newer program has been there.
pub async fn migrate(address: &PostgresAddress) -> Result<usize, OpenError> {
    let unreachable = |reason| OpenError::Unreachable { address: address.to_string(), reason };
    let failed = |error: tokio_postgres::Error| unreachable(chain(&error));
    let connection =
        pool::connect(&address.hosts(), &AtomicUsize::new(0), &address.tls()?, PostgresOptions::default().step).await;
    let connection = connection.map_err(|error| unreachable(error.reason().to_owned()))?;
    let client = &connection.client;
    client.batch_execute(TABLE).await.map_err(failed)?;
    let from = version(client).await.map_err(failed)?.found;
    let Some(steps) = usize::try_from(from).ok().and_then(|from| STEPS.get(from..)) else {
        return Err(OpenError::Version { found: from, wanted: VERSION });
    };
    for (step, version) in steps.iter().zip(from + 1..) {
        // The insertion fails if somebody else is at the same step.
        let both = format!("BEGIN; INSERT INTO lendpay_migrations VALUES ({version}, now(), {OLDEST}); {step}; COMMIT");
        client.batch_execute(&both).await.map_err(failed)?;
    }
    Ok(steps.len())
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS lendpay_migrations (
    version integer NOT NULL PRIMARY KEY,
    applied_at timestamptz NOT NULL,
    oldest integer NOT NULL
)";

/// What the tables of a database are.
pub(super) struct Version {
    /// Their version; 0 if nothing of ours is there.
    pub(super) found: i32,
    /// The oldest version whose program can go on with them.
    oldest: i32,
}

impl Version {
    /// Whether this program can work with them.
    pub(super) const fn fits(&self) -> bool {
        self.oldest <= VERSION && VERSION <= self.found
    }
}

/// The version that a database has.
pub(super) async fn version(client: &Client) -> Result<Version, tokio_postgres::Error> {
    let there = client.query_typed_one("SELECT to_regclass('lendpay_migrations') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return Ok(Version { found: 0, oldest: 0 });
    }
    let row = client.query_typed_one(sql::TABLES_VERSION, &[]).await?;
    Ok(Version { found: row.get(0), oldest: row.get(1) })
}
