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
use lendpay_cluster::Cluster;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

const CONNECTIONS: usize = 64;

/// How many offers a measurement may accept.
const ACCEPTS: usize = 40_000;

/// The commands of a group: two groups are under way, as in the store, and every connection waits for one of them.
const GROUP: usize = CONNECTIONS / 2;

/// The yardstick, then the service; another build is the last yardstick.
const SERVERS: [&str; 3] = ["bare statements", "lendpay, one process", "lendpay, two processes"];

/// Measures in turn.
pub fn measure(lab: &Lab, arguments: &Arguments) -> anyhow::Result<Results> {
    let Arguments { rounds, seconds, .. } = *arguments;
    lab.needs("everyday")?;
    let cluster = stores::cluster();
    let labs = [lab.below("one")?, lab.below("two")?];
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let other = arguments.beside.as_deref().map(|program| labs[0].with(program));
    let mut servers = SERVERS.to_vec();
    if other.is_some() {
        servers.insert(1, BESIDE);
    }
    let yardsticks = servers.len() - 2;
    let mut results = Results::new(servers, yardsticks);
    for round in 1..=rounds {
        println!("\nround {round} of {rounds}");
        let offers = fill::offers(3 * ACCEPTS);
        let slices: Vec<_> = offers.chunks(ACCEPTS).collect();
        if let Some(other) = &other {
            let (_, mut server, key) = start(other, &cluster, &offers)?;
            for job in Job::ALL {
                let cell = load::drive(other, &server, &key, job, CONNECTIONS, slices[1], seconds)?;
                results.add(1, job, CONNECTIONS, cell);
            }
            server.stop()?;
        }
        let (url, mut one, key) = start(&labs[0], &cluster, &offers)?;
        for job in Job::ALL {
            results.add(0, job, CONNECTIONS, runtime.block_on(bare(&url, job, slices[0], seconds))?);
            let cell = load::drive(&labs[0], &one, &key, job, CONNECTIONS, slices[1], seconds)?;
            results.add(yardsticks, job, CONNECTIONS, cell);
            let other = serve(&labs[1], &url)?;
            let cell = together(&labs, [&one, &other], &key, job, slices[2], seconds)?;
            results.add(yardsticks + 1, job, CONNECTIONS, cell);
        }
        one.stop()?;
    }
    Ok(results)
}

fn serve(lab: &Lab, url: &str) -> anyhow::Result<Server> {
    lab.serve(url, &["--store-connections", "16"])
}

/// The service on a database of its own that is full of offers; returns the database, the service, and a partner's key.
fn start(lab: &Lab, cluster: &Cluster, offers: &[Pair]) -> anyhow::Result<(String, Server, String)> {
    let url = stores::database(lab, cluster)?;
    let server = serve(lab, &url)?;
    let key = fill::fill(lab, &server, offers)?;
    cluster.sql(url.rsplit('/').next().context("a name")?, "VACUUM ANALYZE");
    Ok((url, server, key))
}

/// Drives two processes at once, half of the connections each.
fn together(
    labs: &[Lab; 2],
    servers: [&Server; 2],
    key: &str,
    job: Job,
    offers: &[Pair],
    seconds: u32,
) -> anyhow::Result<Cell> {
    let (first, second) = offers.split_at(offers.len() / 2);
    let drive = |n: usize, half| load::drive(&labs[n], servers[n], key, job, CONNECTIONS / 2, half, seconds);
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| drive(0, first));
        let other = drive(1, second);
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

/// What two connections reach with groups of statements that do nothing but write.
async fn bare(url: &str, job: Job, offers: &[Pair], seconds: u32) -> anyhow::Result<Cell> {
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
            let from = next.fetch_add(GROUP, Ordering::Relaxed);
            match job {
                Job::Accept if from + GROUP > offers.len() => break,
                Job::Accept => write(&client, &statement, job, &offers[from..from + GROUP]).await?,
                Job::Create => {
                    let buyers: Vec<_> = (0..GROUP).map(|_| (Uuid::nil(), Uuid::from_u128(rand::random()))).collect();
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
    ordered_at = now() FROM unnest($2::uuid[], $3::uuid[]) AS k (application_id, offer_id) WHERE o.partner_id = $1 \
    AND o.application_id = k.application_id AND o.offer_id = k.offer_id AND o.status = 'Offered' \
    RETURNING o.application_id, o.offer_id) \
    INSERT INTO changes (change_id, ordered_at, occurred_at, occurred_at_ns, actor, operation_id, partner_id, \
    application_id, offer_id, status) \
    SELECT gen_random_uuid(), now(), now(), 0, 'partner', gen_random_uuid(), $1, application_id, offer_id, \
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
    let parameters: [&(dyn ToSql + Sync); 3] = match job {
        Job::Accept => [&partner, &first, &second],
        Job::Create => [&partner, &second, &BODY],
    };
    let rows = client.execute(statement, &parameters).await?;
    ensure!(rows == group.len() as u64, "{rows} rows of {}", group.len());
    Ok(())
}
