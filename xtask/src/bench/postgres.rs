//! The service on PostgreSQL, one process and two, beside what the bare statements reach on the same database in the same run.
//!
//! The bare statements do the least that the store has to: the same rows and events, in groups, by two connections of the same
//! pool, without HTTP, without keys, without a rule.

use super::load::{self, Cell, Job};
use super::report::median;
use crate::command::{command, run};
use crate::fill::{self, PARTNER, Pair};
use crate::server::Server;
use anyhow::{Context as _, ensure};
use deadpool_postgres::{Manager, Pool};
use lendpay_cluster::{Begin, Cluster};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_postgres::NoTls;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

const CONNECTIONS: usize = 64;

/// How many offers a measurement may accept.
const ACCEPTS: usize = 40_000;

/// The most commands of a group, and how many groups are under way, as in the store.
const GROUP: usize = 256;
const GROUPS: usize = 2;

const SERVICES: [&str; 3] = ["bare statements", "lendpay, one process", "lendpay, two processes"];

/// Measures, so often and for so long each, and prints the medians.
pub fn measure(root: &Path, programs: &Path, folder: &Path, rounds: usize, seconds: u32) -> anyhow::Result<()> {
    let cluster = Cluster::start(Begin::Empty, &["shared_buffers=512MB", "max_wal_size=4GB"]);
    let mut figures: [[Vec<f64>; 2]; 3] = Default::default();
    for round in 1..=rounds {
        println!("\nround {round} of {rounds}");
        let url = cluster.database();
        run(&mut command(root, programs.join("lendpay"), &["migrate", "--store", &url]))?;
        let offers = fill::offers(3 * ACCEPTS);
        let folders = [folder.join("one"), folder.join("two")];
        folders.iter().try_for_each(fs::create_dir_all)?;
        let more = ["--store-connections".to_owned(), "16".to_owned()];
        let mut one = Server::lendpay(programs, &folders[0], &url, &more)?;
        let key = fill::fill(&one, &folders[0], &offers)?;
        let database = url.rsplit('/').next().context("a name")?;
        cluster.sql(database, "VACUUM ANALYZE");
        let slices: Vec<_> = offers.chunks(ACCEPTS).collect();

        for (at, job) in Job::ALL.into_iter().enumerate() {
            let mut note = |which: usize, rps: f64, line: &str| {
                println!("  {:<7} {:<24} {line}", job.name(), SERVICES[which]);
                figures[which][at].push(rps);
            };
            let bare = bare(&url, job, slices[0], seconds)?;
            note(0, bare, &format!("{bare:>8.0} requests/s"));
            let cell = load::drive(&one, &folders[0], &key, job, CONNECTIONS, slices[1], seconds)?;
            ensure!(cell.errors == 0, "{} errors", cell.errors);
            note(1, cell.rps, &cell.line());
            let other = Server::lendpay(programs, &folders[1], &url, &more)?;
            let both = together([&one, &other], &folders, &key, job, slices[2], seconds)?;
            let rps = both.iter().map(|cell| cell.rps).sum();
            note(
                2,
                rps,
                &format!(
                    "{rps:>8.0} requests/s, {:.1} µs CPU each",
                    both.iter().map(|cell| cell.cpu_us).sum::<f64>() / 2.0
                ),
            );
        }
        one.stop()?;
    }
    println!(
        "\n| {CONNECTIONS} connections | accepts/s | of the bare | creates/s | of the bare |\n|---|---|---|---|---|"
    );
    let medians: Vec<_> = figures.iter_mut().map(|[one, other]| (median(one), median(other))).collect();
    for (name, (accepts, creates)) in SERVICES.iter().zip(&medians) {
        println!(
            "| {name} | {accepts:.0} | {:.2} | {creates:.0} | {:.2} |",
            accepts / medians[0].0,
            creates / medians[0].1
        );
    }
    Ok(())
}

/// Drives two processes at once, half of the connections each.
fn together(
    servers: [&Server; 2],
    folders: &[PathBuf; 2],
    key: &str,
    job: Job,
    offers: &[Pair],
    seconds: u32,
) -> anyhow::Result<Vec<Cell>> {
    let halves = offers.split_at(offers.len() / 2);
    let cells: Vec<anyhow::Result<Cell>> = std::thread::scope(|scope| {
        let drive =
            |n: usize, half: &'_ [Pair]| load::drive(servers[n], &folders[n], key, job, CONNECTIONS / 2, half, seconds);
        let first = scope.spawn(move || drive(0, halves.0));
        let second = drive(1, halves.1);
        vec![first.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a driver panicked"))), second]
    });
    let cells: Vec<_> = cells.into_iter().collect::<anyhow::Result<_>>()?;
    ensure!(cells.iter().all(|cell| cell.errors == 0), "errors");
    Ok(cells)
}

type Item = (Uuid, Uuid);

/// What two connections reach with groups of statements that do nothing but write.
fn bare(url: &str, job: Job, offers: &[Pair], seconds: u32) -> anyhow::Result<f64> {
    let items: Vec<Item> = match job {
        Job::Accept => {
            let id = |text: &str| Uuid::parse_str(text).context("an id");
            offers.iter().map(|pair| Ok((id(&pair.application)?, id(&pair.offer)?))).collect::<anyhow::Result<_>>()?
        }
        Job::Create => (0..1_000_000).map(|_| (Uuid::nil(), Uuid::from_u128(rand::random()))).collect(),
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(drive(url, job, items, seconds))
}

async fn drive(url: &str, job: Job, items: Vec<Item>, seconds: u32) -> anyhow::Result<f64> {
    let pool = Pool::builder(Manager::new(url.parse()?, NoTls)).max_size(16).build()?;
    let (sender, receiver) = mpsc::channel::<(Item, oneshot::Sender<()>)>(4_096);
    let receiver = Arc::new(Mutex::new(receiver));
    let mut groups = tokio::task::JoinSet::new();
    for _ in 0..GROUPS {
        let (pool, receiver) = (pool.clone(), Arc::clone(&receiver));
        groups.spawn(async move {
            let mut group = Vec::new();
            while receiver.lock().await.recv_many(&mut group, GROUP).await > 0 {
                write(&pool, job, &group).await?;
                group.drain(..).for_each(|(_, reply)| {
                    // The caller may have ended.
                    let _ = reply.send(());
                });
            }
            anyhow::Ok(())
        });
    }
    let (items, next, done) = (Arc::new(items), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begin, end) = (Instant::now(), Duration::from_secs(seconds.into()));
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (items, next, done, sender) = (Arc::clone(&items), Arc::clone(&next), Arc::clone(&done), sender.clone());
        callers.spawn(async move {
            while begin.elapsed() < end {
                let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                let (reply, answer) = oneshot::channel();
                if sender.send((*item, reply)).await.is_err() || answer.await.is_err() {
                    return;
                }
                done.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    drop(sender);
    callers.join_all().await;
    let took = begin.elapsed();
    for group in groups.join_all().await {
        group?;
    }
    Ok(done.load(Ordering::Relaxed) as f64 / took.as_secs_f64())
}

const ACCEPT: &str = "WITH cur AS (SELECT o.application_id, o.offer_id, o.status FROM unnest($2::uuid[], $3::uuid[]) \
    AS k (application_id, offer_id) JOIN offers o ON o.partner_id = $1 AND o.application_id = k.application_id \
    AND o.offer_id = k.offer_id ORDER BY 1, 2 FOR UPDATE OF o), \
    upd AS (UPDATE offers o SET status = 'CustomerAccepted', status_changed_at = now() FROM cur WHERE o.partner_id = $1 \
    AND o.application_id = cur.application_id AND o.offer_id = cur.offer_id AND o.status = 'Offered' \
    RETURNING o.application_id, o.offer_id), \
    ev AS (INSERT INTO events SELECT $1, gen_random_uuid(), NULL, now(), 0, now(), application_id, offer_id, \
    'CustomerAccepted', NULL, 'operator', gen_random_uuid() FROM upd) \
    SELECT cur.offer_id, cur.status, upd.offer_id FROM cur LEFT JOIN upd USING (application_id, offer_id)";

const CREATE: &str = "WITH made AS (INSERT INTO buyers SELECT $1, k.id, k.name, k.number, k.country, 0, true, k.currency, \
    k.holder, k.sort_code, k.account, k.bic, k.kind, k.iban, NULL, now(), 0 FROM unnest($2::uuid[], $3::text[], $4::text[], \
    $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[]) \
    AS k (id, name, number, country, currency, holder, sort_code, account, bic, kind, iban) \
    ON CONFLICT DO NOTHING RETURNING buyer_id), \
    ev AS (INSERT INTO events SELECT $1, gen_random_uuid(), NULL, now(), 0, now(), NULL, NULL, NULL, buyer_id, 'operator', \
    gen_random_uuid() FROM made) SELECT buyer_id FROM made";

/// What a buyer of the benchmark has, field by field.
const BUYER: [&str; 10] = [
    "Northwind Bicycles 1 Ltd",
    "01234567",
    "GB",
    "GBP",
    "Northwind Bicycles Ltd",
    "202015",
    "55555555",
    "BUKBGB22",
    "Current",
    "GB33BUKB20201555555555",
];

async fn write(pool: &Pool, job: Job, group: &[(Item, oneshot::Sender<()>)]) -> anyhow::Result<()> {
    let partner = Uuid::parse_str(PARTNER)?;
    let (first, second): (Vec<_>, Vec<_>) = group.iter().map(|(item, _)| *item).unzip();
    let client = pool.get().await?;
    let rows = match job {
        Job::Accept => client.query(&client.prepare_cached(ACCEPT).await?, &[&partner, &first, &second]).await?,
        Job::Create => {
            let columns = BUYER.map(|text| vec![text; second.len()]);
            let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&partner, &second];
            parameters.extend(columns.iter().map(|column| column as &(dyn ToSql + Sync)));
            client.query(&client.prepare_cached(CREATE).await?, &parameters).await?
        }
    };
    ensure!(rows.len() == group.len(), "{} rows of {}", rows.len(), group.len());
    Ok(())
}
