//! The service on PostgreSQL, one process and two, beside what the bare statements reach on the same database in the
//! same run.
//!
//! The bare statements do the least that the store has to: the same rows and changes, in groups, by two connections,
//! without HTTP, without keys, without a rule.

use super::report::Results;
use super::{Arguments, BESIDE};
use crate::fill::{self, PARTNER, Pair};
use crate::lab::Lab;
use crate::load::{self, Cell, Job};
use crate::server::Server;
use crate::stores;
use anyhow::{Context as _, anyhow, ensure};
use lendpay_cluster::{Begin, Cluster};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

/// How many offers a measurement may accept.
const ACCEPTS: usize = 40_000;

/// The yardstick, then the service; another build is the last yardstick.
const SERVERS: [&str; 3] = ["bare statements", "lendpay, one process", "lendpay, two processes"];

/// Measures in turn.
pub fn measure(lab: &Lab, arguments: &Arguments) -> anyhow::Result<Results> {
    let connections = arguments.connections();
    lab.needs("everyday")?;
    let cluster = stores::cluster();
    let _standby = arguments.standby.then(|| standby(&cluster));
    let labs = [lab.below("one")?, lab.below("two")?];
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let other = arguments.beside.as_deref().map(|program| labs[0].with(program));
    let mut servers = SERVERS.to_vec();
    if other.is_some() {
        servers.insert(1, BESIDE);
    }
    let yardsticks = servers.len() - 2;
    let mut results = Results::new(servers, yardsticks);
    let offers = fill::offers_of(arguments.partners.into(), 3 * ACCEPTS * connections.len());
    // For each number of connections, those that each server accepts.
    let slices: Vec<_> = offers.chunks(ACCEPTS).collect();
    let cells: Vec<_> = connections.iter().copied().zip(slices.chunks(3)).collect();
    for round in 1..=arguments.rounds {
        println!("\nround {round} of {}", arguments.rounds);
        let start = |lab| Filled::start(lab, &cluster, &offers, arguments);
        if let Some(other) = &other {
            let mut filled = start(other)?;
            for &(connections, slices) in &cells {
                for job in Job::ALL {
                    let cell = filled.drive(other, job, connections, slices[1])?;
                    results.add(1, job, connections, cell);
                }
            }
            filled.server.stop()?;
        }
        let mut filled = start(&labs[0])?;
        // Now: what the bare statements write cannot be read.
        print!("{}", filled.sizes(&labs[0])?);
        for &(connections, slices) in &cells {
            for job in Job::ALL {
                let bare = bare(&filled.url, job, connections, slices[0], arguments.seconds);
                results.add(0, job, connections, runtime.block_on(bare)?);
                results.add(yardsticks, job, connections, filled.drive(&labs[0], job, connections, slices[1])?);
                let second = serve(&labs[1], &filled.url)?;
                let cell = filled.together(&labs, &second, job, connections, slices[2])?;
                results.add(yardsticks + 1, job, connections, cell);
            }
        }
        filled.server.stop()?;
    }
    Ok(results)
}

/// A standby that each commit waits for.
fn standby(cluster: &Cluster) -> Cluster {
    const NAME: &str = "standby";
    let standby = Cluster::start(Begin::Standby(cluster, NAME), &[]);
    cluster.sql("postgres", &format!("ALTER SYSTEM SET synchronous_standby_names = '{NAME}'"));
    cluster.sql("postgres", "SELECT pg_reload_conf()");
    standby
}

fn serve(lab: &Lab, url: &str) -> anyhow::Result<Server> {
    lab.serve(url, &["--store-connections", "16"])
}

/// The service on a database of its own that is full of offers.
struct Filled<'a> {
    cluster: &'a Cluster,
    url: String,
    server: Server,
    /// One of each partner.
    keys: Vec<String>,
    seconds: u32,
}

impl<'a> Filled<'a> {
    fn start(lab: &Lab, cluster: &'a Cluster, offers: &[Pair], arguments: &Arguments) -> anyhow::Result<Self> {
        let url = stores::database(lab, cluster)?;
        let server = serve(lab, &url)?;
        let keys = fill::fill_for(arguments.partners.into(), lab, &server, offers)?;
        let filled = Self { cluster, url, server, keys, seconds: arguments.seconds };
        filled.sql("VACUUM ANALYZE")?;
        Ok(filled)
    }

    fn sql(&self, sql: &str) -> anyhow::Result<String> {
        Ok(self.cluster.sql(self.url.rsplit('/').next().context("a name")?, sql))
    }

    /// Drives this process, and tells what that has written.
    fn drive(&self, lab: &Lab, job: Job, connections: usize, offers: &[Pair]) -> anyhow::Result<Cell> {
        let written = || Ok::<f64, anyhow::Error>(self.sql("SELECT pg_current_wal_lsn() - '0/0'")?.parse()?);
        let before = written()?;
        let cell = load::drive_for(&self.keys, lab, &self.server, job, connections, offers, self.seconds)?;
        println!("  {:.0} bytes of WAL for each of these:", (written()? - before) / cell.requests);
        Ok(cell)
    }

    /// Drives this process and a second one at once, half of the connections each.
    fn together(
        &self,
        labs: &[Lab; 2],
        second: &Server,
        job: Job,
        connections: usize,
        offers: &[Pair],
    ) -> anyhow::Result<Cell> {
        let halves = offers.split_at(offers.len() / 2);
        let drive = |lab, server, half| {
            load::drive_for(&self.keys, lab, server, job, connections.div_ceil(2), half, self.seconds)
        };
        let (one, other) = std::thread::scope(|scope| {
            let one = scope.spawn(|| drive(&labs[0], &self.server, halves.0));
            let other = drive(&labs[1], second, halves.1);
            (one.join().unwrap_or_else(|_| Err(anyhow!("a driver panicked"))), other)
        });
        let (one, other) = (one?, other?);
        Ok(Cell {
            requests: one.requests + other.requests,
            seconds: f64::midpoint(one.seconds, other.seconds),
            p50_ms: f64::midpoint(one.p50_ms, other.p50_ms),
            p99_ms: one.p99_ms.max(other.p99_ms),
            p999_ms: one.p999_ms.max(other.p999_ms),
            errors: one.errors + other.errors,
            cpu_us: f64::midpoint(one.cpu_us, other.cpu_us),
            peak_mib: one.peak_mib + other.peak_mib,
        })
    }

    /// What a row of each large table takes with its part of the indexes, once every change has its sequence.
    fn sizes(&self, lab: &Lab) -> anyhow::Result<String> {
        // Whoever reads changes numbers them.
        lab.lendpay(&["export", &lab.path("export.ndjson").display().to_string(), "--store", &self.url])?;
        self.sql("VACUUM ANALYZE")?;
        let sizes = self.sql(
            "SELECT format('%s: %s rows of %s bytes with their indexes', relname, reltuples::bigint, \
             (pg_total_relation_size(oid) / reltuples)::bigint) FROM pg_class WHERE relkind = 'r' \
             AND relnamespace = 'public'::regnamespace AND reltuples >= 1000 ORDER BY relname",
        )?;
        Ok(sizes.lines().map(|line| format!("  {line}\n")).collect())
    }
}

/// What two connections reach with groups of statements that do nothing but write.
async fn bare(url: &str, job: Job, connections: usize, offers: &[Pair], seconds: u32) -> anyhow::Result<Cell> {
    // Two groups are under way, as in the store, and every connection waits for one of them.
    let group = connections.div_ceil(2);
    let id = |text: &str| Uuid::parse_str(text).context("an id");
    let offers: Vec<_> =
        offers.iter().map(|pair| Ok((id(&pair.application)?, id(&pair.offer)?))).collect::<anyhow::Result<_>>()?;
    let (begin, end, next) = (Instant::now(), Duration::from_secs(seconds.into()), AtomicUsize::new(0));
    let writer = async || {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        // It ends with its client.
        drop(tokio::spawn(connection));
        let statement = client.prepare(if job == Job::Accept { ACCEPT } else { CREATE }).await?;
        while begin.elapsed() < end {
            let from = next.fetch_add(group, Ordering::Relaxed);
            match job {
                Job::Accept if from + group > offers.len() => break,
                Job::Accept => write(&client, &statement, job, &offers[from..from + group]).await?,
                Job::Create => {
                    let buyers: Vec<_> = (0..group).map(|_| (Uuid::nil(), Uuid::from_u128(rand::random()))).collect();
                    write(&client, &statement, job, &buyers).await?;
                }
            }
        }
        anyhow::Ok(())
    };
    tokio::try_join!(writer(), writer())?;
    let (requests, seconds, none) = (next.load(Ordering::Relaxed) as f64, begin.elapsed().as_secs_f64(), f64::NAN);
    Ok(Cell { requests, seconds, p50_ms: none, p99_ms: none, p999_ms: none, errors: 0.0, cpu_us: none, peak_mib: none })
}

const ACCEPT: &str = "WITH moved AS (UPDATE offers o SET status = 'CustomerAccepted', status_changed_at = now(), \
    ordered_at = now() FROM unnest($1::uuid[], $2::uuid[]) AS k (application_id, offer_id) \
    WHERE o.application_id = k.application_id AND o.offer_id = k.offer_id AND o.status = 'Offered' \
    RETURNING o.partner_id, o.application_id, o.offer_id) \
    INSERT INTO changes (change_id, ordered_at, occurred_at, occurred_at_ns, actor, operation_id, partner_id, \
    application_id, offer_id, status) \
    SELECT gen_random_uuid(), now(), now(), 0, 'partner', gen_random_uuid(), partner_id, application_id, offer_id, \
    'CustomerAccepted' FROM moved";

const CREATE: &str = "WITH made AS (INSERT INTO buyers (buyer_id, partner_id, registration_number, body) \
    SELECT id, $1, '01234567', $3 FROM unnest($2::uuid[]) AS k (id) RETURNING buyer_id) \
    INSERT INTO changes (change_id, ordered_at, occurred_at, occurred_at_ns, actor, operation_id, partner_id, buyer_id) \
    SELECT gen_random_uuid(), now(), now(), 0, 'partner', gen_random_uuid(), $1, buyer_id FROM made";

/// About as many bytes as a buyer's record has.
const BODY: &[u8] = &[7; 260];

async fn write(client: &Client, statement: &Statement, job: Job, group: &[(Uuid, Uuid)]) -> anyhow::Result<()> {
    let partner = Uuid::parse_str(PARTNER)?;
    let (first, second): (Vec<_>, Vec<_>) = group.iter().copied().unzip();
    let parameters: &[&(dyn ToSql + Sync)] = match job {
        Job::Accept => &[&first, &second],
        Job::Create => &[&partner, &second, &BODY],
    };
    let rows = client.execute(statement, parameters).await?;
    ensure!(rows == group.len() as u64, "{rows} rows of {}", group.len());
    Ok(())
}
