//! What a page of a list takes: the first, one in the middle and the last, by each filter, in a store with few offers
//! and buyers and in one with many, on both kinds of store.

use super::Place;
use super::console;
use super::listed::{self, FEW, OF_FEW};
use crate::bench::report::median;
use crate::fill::{self, Pair};
use crate::http::Operator;
use crate::server::Server;
use crate::stores::{Kind, Stores};
use anyhow::Context as _;
use std::time::Instant;

/// How many offers, and buyers, the small store holds.
const SMALL: usize = 2 * OF_FEW;

/// How often a page is read.
const ROUNDS: usize = 31;

pub fn measure(place: &Place, many: usize) -> anyhow::Result<()> {
    let files = [SMALL, many].map(|count| (count, place.lab.path(&format!("listed-{count}.ndjson"))));
    for (count, file) in &files {
        listed::write(file, *count)?;
    }
    for kind in [Kind::Sled, Kind::Postgres] {
        let stores = Stores::start(kind);
        let kind = stores.name();
        println!("\nlists, {kind}: {SMALL} offers and as many buyers, and {many} of each");
        let mut servers = Vec::new();
        for (count, file) in &files {
            let store = stores.empty(&place.lab, &format!("listed-{count}"))?;
            let begin = Instant::now();
            place.lab.lendpay(&["import", &file.display().to_string(), "--store", &store])?;
            println!("  import of {count}: {:.1} s", begin.elapsed().as_secs_f64());
            if let Some(cluster) = stores.cluster() {
                cluster.sql(store.rsplit('/').next().context("a name")?, "VACUUM ANALYZE");
            }
            servers.push(place.lab.below(&format!("{kind}-{count}"))?.serve(&store, &["--cache", &place.cache])?);
        }
        pages(&servers[0], &servers[1], many)?;
        // Of the partner with few; what caused the last record.
        console::pages(&servers[1], &fill::offers(1)[0], many * 11 / 5)?;
        for mut server in servers {
            server.stop()?;
        }
    }
    Ok(())
}

/// Reads the pages of both in turn, and says how long they took.
fn pages(small: &Server, large: &Server, many: usize) -> anyhow::Result<()> {
    let (mut few, mut all) = (Operator::new(small.operator), Operator::new(large.operator));
    let offers = fill::offers(SMALL);
    for (name, path, cursors) in lists(&offers[OF_FEW], &offers[0]) {
        let mut said = Vec::new();
        for (which, [small, large]) in ["first", "middle", "last"].iter().zip(cursors.of(many)) {
            let (mut of_few, mut of_all) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                of_few.push(time(&mut few, &format!("{path}&after={small}"))?);
                of_all.push(time(&mut all, &format!("{path}&after={large}"))?);
            }
            let (of_few, of_all) = (median(&mut of_few), median(&mut of_all));
            said.push(format!("{which} {of_all:.2} ms, {:.1} times", of_all / of_few));
        }
        println!("  {name}: {}", said.join("; "));
    }
    Ok(())
}

/// Milliseconds until the page is there.
fn time(operator: &mut Operator, path: &str) -> anyhow::Result<f64> {
    let begin = Instant::now();
    operator.call("GET", path, "", &[200])?;
    Ok(begin.elapsed().as_secs_f64() * 1_000.0)
}

/// What the pages of a list begin after.
#[derive(Clone, Copy)]
enum Cursors {
    Ids,
    /// Of an application and an offer, or of a partner and a buyer.
    Pairs,
    Sequences,
}

impl Cursors {
    /// Those of the first, a middle and a last page, in the small store and in the large one.
    fn of(self, many: usize) -> [[String; 2]; 3] {
        // A partner, and for each offer a buyer, a fifth of an application and the offer itself.
        let last = |count: usize| count * 11 / 5;
        [(0, "00000000"), (1, "80000000"), (2, "fffe0000")].map(|(n, digits)| {
            let id = format!("{digits}-0000-4000-8000-000000000000");
            match self {
                Self::Ids => [id.clone(), id],
                Self::Pairs => [format!("{id}:{id}"), format!("{id}:{id}")],
                Self::Sequences => [SMALL, many].map(|count| (last(count) * n / 2).saturating_sub(n * 50).to_string()),
            }
        })
    }
}

/// Every list, by every filter. Both stores have the offer, which is of the partner with many, and the one of the
/// partner with few.
fn lists(of_many: &Pair, of_few: &Pair) -> Vec<(&'static str, String, Cursors)> {
    use Cursors::{Ids, Pairs, Sequences};
    let Pair { application, offer, .. } = of_many;
    let operation = listed::operation(SMALL);
    vec![
        ("partners by name", "/operator/partners?name=lab".to_owned(), Ids),
        ("applications", "/operator/applications?limit=100".to_owned(), Ids),
        ("applications of a partner with few", format!("/operator/applications?partnerId={FEW}"), Ids),
        ("offers", "/operator/offers?limit=100".to_owned(), Pairs),
        ("offers of a partner with few", format!("/operator/offers?partnerId={FEW}"), Pairs),
        ("offers of an application", format!("{}/offers?limit=100", of_few.application_path()), Pairs),
        ("offers by a status that all have", "/operator/offers?status=Offered".to_owned(), Pairs),
        ("offers by a status that none has", "/operator/offers?status=Advanced".to_owned(), Pairs),
        ("offers by expiry, none", "/operator/offers?expiresBefore=2030-01-01T00:00:00Z".to_owned(), Pairs),
        (
            "a partner's offers by a status that none has",
            format!("/operator/offers?partnerId={FEW}&status=Advanced"),
            Pairs,
        ),
        ("buyers", "/operator/buyers?limit=100".to_owned(), Pairs),
        ("buyers of a partner with few", format!("/operator/buyers?partnerId={FEW}"), Pairs),
        ("buyers by number", "/operator/buyers?registrationNumber=00000007".to_owned(), Pairs),
        (
            "a partner's buyers by number",
            format!("/operator/buyers?registrationNumber=00000007&partnerId={FEW}"),
            Pairs,
        ),
        ("events", "/operator/events?limit=100".to_owned(), Sequences),
        ("events of a partner with few", format!("/operator/events?partnerId={FEW}"), Sequences),
        ("events by type, none", "/operator/events?type=offer.declined".to_owned(), Sequences),
        ("events by application", format!("/operator/events?applicationId={application}"), Sequences),
        ("events by offer", format!("/operator/events?offerId={offer}"), Sequences),
        ("events by buyer", format!("/operator/events?buyerId={offer}"), Sequences),
        ("events by operation", format!("/operator/events?operationId={operation}"), Sequences),
        ("events by time, none", "/operator/events?until=2020-01-01T00:00:00Z".to_owned(), Sequences),
    ]
}
