//! How the database reads lists: by an index, whatever they are narrowed by, and no more than a page may look at.

use super::{migrated, statements as sql};
use crate::postgres::pool::BY_INDEX;
use lendpay_domain::page::ENTRIES;
use tokio_postgres::{Client, SimpleQueryMessage};

/// 100,000 partners, applications, offers, buyers and changes. Half of everything is of one partner, the other half of 500.
const FILL: &str = "
    CREATE FUNCTION pg_temp.owner(n int) RETURNS uuid LANGUAGE sql AS
        $$ SELECT md5('p' || CASE WHEN n % 2 = 0 THEN 0 ELSE n % 1000 END)::uuid $$;
    INSERT INTO partners SELECT md5('p' || n)::uuid, decode(repeat('ab', 60), 'hex'), now() FROM generate_series(0, 99999) n;
    INSERT INTO oauth_clients SELECT 'client ' || n, md5('p' || n)::uuid, now() FROM generate_series(1, 100000) n;
    INSERT INTO api_keys SELECT pg_temp.owner(n), md5('k' || n)::uuid, decode(md5('h' || n), 'hex'),
        decode(repeat('ab', 60), 'hex'), now() FROM generate_series(1, 100000) n;
    INSERT INTO applications SELECT md5('a' || n)::uuid, pg_temp.owner(n), now() FROM generate_series(1, 100000) n;
    INSERT INTO offers SELECT pg_temp.owner(n), md5('a' || n % 20000)::uuid, md5('o' || n)::uuid,
        decode(repeat('ab', 150), 'hex'), now() + n * interval '1 s',
        (ARRAY['Offered', 'CustomerAccepted', 'CustomerDeclined', 'Advanced'])[n % 4 + 1], now(), 0, now()
        FROM generate_series(1, 100000) n;
    INSERT INTO offers_due SELECT expiry_at, application_id, offer_id FROM offers;
    INSERT INTO buyers SELECT pg_temp.owner(n), md5('b' || n)::uuid, 'number ' || n % 5000, decode(repeat('ab', 300), 'hex')
        FROM generate_series(1, 100000) n;
    INSERT INTO changes SELECT md5('c' || n)::uuid, n, now() + n * interval '1 ms', now() + n * interval '1 ms', 0,
        'operator', md5('x' || n)::uuid, pg_temp.owner(n), md5('a' || n % 20000)::uuid, md5('o' || n)::uuid, 'Offered'
        FROM generate_series(1, 100000) n;
    UPDATE change_counter SET last = 100000;
    ANALYZE";

/// One of the 500 partners, and the one that has half of everything.
const PARTNERS: [&str; 2] = ["md5('p7')::uuid", "md5('p0')::uuid"];

/// Where pages begin: the first, one in the middle, the last ones.
const FROM: [&str; 3] = [
    "'00000000-0000-0000-0000-000000000000'",
    "'80000000-0000-0000-0000-000000000000'",
    "'fff00000-0000-0000-0000-000000000000'",
];

/// A list with a filter.
struct List {
    sql: &'static str,
    /// Its parameters; `FROM` is where the page begins, `PARTNER` whose it is.
    parameters: String,
    /// The index that it is to be read by.
    index: &'static str,
    /// The most rows that it may look at.
    rows: usize,
}

fn lists() -> Vec<List> {
    let mut lists = Vec::new();
    let mut add = |sql, parameters: String, index, rows| lists.push(List { sql, parameters, index, rows });
    let (page, walk) = (101, ENTRIES);
    add(sql::LIST_PARTNERS, format!("FROM, {page}"), "partners_pkey", page);
    add(sql::LIST_PARTNERS, format!("FROM, {walk}"), "partners_pkey", walk);
    add(sql::LIST_PARTNERS_BY_CLIENT, "'client 7'".to_owned(), "oauth_clients_pkey", 1);
    add(sql::KEY_WITH_ID, "md5('k7')::uuid".to_owned(), "api_keys_by_id", 1);
    add(sql::LIST_APPLICATIONS, format!("FROM, {page}"), "applications_pkey", page);
    add(sql::LIST_APPLICATIONS_OF, format!("FROM, {page}, PARTNER"), "applications_by_partner", page);
    let every = "'{Offered,CustomerAccepted,CustomerDeclined,Expired,Advanced,Archived}'";
    let narrowed = [
        (every, "NULL", page),
        ("'{Archived}'", "NULL", walk),
        ("'{Offered,Expired}'", "NULL", 10 * page),
        (every, "now()", walk),
    ];
    for (statuses, expiry, rows) in narrowed {
        let parameters = format!("FROM, FROM, {walk}, {page}, {statuses}, {expiry}");
        add(sql::LIST_OFFERS, parameters.clone(), "offers_pkey", rows);
        add(sql::LIST_OFFERS_OF_PARTNER, format!("{parameters}, PARTNER"), "offers_by_partner", rows);
        let of = format!("md5('a7')::uuid, FROM, {walk}, {page}, {statuses}, {expiry}");
        add(sql::LIST_OFFERS_OF_APPLICATION, of, "offers_pkey", page);
    }
    for after in ["NULL", "now() + interval '1 h'"] {
        add(sql::TAKE_DUE, format!("{after}, FROM, FROM, now() + interval '1 d', 128"), "offers_due_pkey", 128);
    }
    add(sql::LIST_BUYERS, format!("FROM, FROM, {page}"), "buyers_pkey", page);
    add(sql::LIST_BUYERS_OF, format!("PARTNER, FROM, {page}"), "buyers_pkey", page);
    let greatest = "'ffffffff-ffff-ffff-ffff-ffffffffffff'";
    for (first, last) in [("FROM", greatest), ("PARTNER", "PARTNER")] {
        let parameters = format!("{first}, FROM, {page}, 'number 7', {walk}, {last}");
        add(sql::LIST_BUYERS_BY_NUMBER, parameters, "buyers_by_number", page);
    }
    // Partners, application, offer, buyer, operation, statuses, other types, from, until.
    let all = ["NULL", "NULL", "NULL", "NULL", "NULL", every, "true", "NULL", "NULL"];
    let filters = [
        (0, "ARRAY[PARTNER]", walk),
        (0, "ARRAY[PARTNER, md5('p8')::uuid, md5('none')::uuid]", walk),
        (1, "md5('a7')::uuid", walk),
        (5, "'{Archived}'", walk),
        (6, "false", page),
        (7, "now() + interval '1 d'", walk),
        (8, "now() - interval '1 d'", walk),
    ];
    for (n, value, rows) in filters {
        let mut filter = all;
        filter[n] = value;
        for after in [0, 50_000, 99_900] {
            let parameters = format!("{after}, {walk}, {page}, {}", filter.join(", "));
            add(sql::LIST_EVENTS, parameters, "changes_by_sequence", rows);
        }
    }
    for (n, value, sql, index) in [
        (2, "md5('o7')::uuid", sql::LIST_EVENTS_OF_SUBJECT, "changes_by_subject"),
        (3, "md5('b7')::uuid", sql::LIST_EVENTS_OF_SUBJECT, "changes_by_subject"),
        (4, "md5('x7')::uuid", sql::LIST_EVENTS_OF_OPERATION, "changes_by_operation"),
    ] {
        let mut filter = all;
        filter[n] = value;
        for after in [0, 50_000] {
            add(sql, format!("{after}, {walk}, {page}, {}", filter.join(", ")), index, page);
        }
    }
    lists
}

/// Prepares a list, and reads it so often for the partner with few that the database may keep one plan for all values.
async fn prepare(client: &Client, sql: &str, parameters: &str) {
    let run = format!("EXECUTE list ({})", parameters.replace("FROM", FROM[0]).replace("PARTNER", PARTNERS[0]));
    for statement in [&format!("PREPARE list AS {sql}")].into_iter().chain([&run; 6]) {
        client.batch_execute(statement).await.unwrap_or_else(|error| panic!("{statement} of {sql}: {error:?}"));
    }
}

/// How the database reads a list, with what it did.
async fn plan(client: &Client, parameters: &str) -> String {
    explain(client, &format!("(ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE list ({parameters})")).await
}

async fn explain(client: &Client, what: &str) -> String {
    let rows = client.simple_query(&format!("EXPLAIN {what}")).await.expect("works");
    let lines = rows.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The most rows that a step of a plan gave or left out.
fn most_rows(plan: &str) -> usize {
    let numbers = plan.lines().flat_map(|line| {
        ["actual rows=", "Rows Removed by Filter: ", "Rows Removed by Join Filter: "].map(|before| {
            let (_, after) = line.split_once(before)?;
            after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        })
    });
    numbers.flatten().max().expect("a plan has numbers")
}

#[tokio::test]
async fn every_list_is_read_by_an_index_and_bounded() {
    let client = migrated().await;
    client.batch_execute(FILL).await.expect("fills");
    for List { sql, parameters, index, rows } in lists() {
        prepare(&client, sql, &parameters).await;
        for (from, partner) in FROM.iter().flat_map(|from| PARTNERS.map(|partner| (from, partner))) {
            let parameters = parameters.replace("FROM", from).replace("PARTNER", partner);
            let plan = plan(&client, &parameters).await;
            assert!(plan.contains(index), "{sql}\n{parameters}\n{plan}");
            let whole = plan.lines().any(|line| line.contains("Seq Scan") && !line.contains("change_counter"));
            // One more is looked at now and then, to see that there is more.
            assert!(!whole && most_rows(&plan) <= rows + 1, "{sql}\n{parameters}\n{plan}");
        }
        client.batch_execute("DEALLOCATE list").await.expect("works");
    }
}

/// What a session turns off counts as so costly that the database would compile a plan with it, which takes some 300
/// ms.
#[tokio::test]
async fn no_plan_is_compiled() {
    let client = migrated().await;
    client.batch_execute(BY_INDEX).await.expect("works");
    client.batch_execute("SET plan_cache_mode = force_generic_plan").await.expect("works");
    for (name, sql) in sql::ALL {
        let takes = client.prepare(sql).await.expect("prepares").params().len();
        let parameters = if takes == 0 { String::new() } else { format!("({})", vec!["NULL"; takes].join(", ")) };
        client.batch_execute(&format!("PREPARE statement AS {sql}")).await.expect("prepares");
        let plan = explain(&client, &format!("EXECUTE statement {parameters}")).await;
        assert!(!plan.contains("JIT"), "{name}\n{plan}");
        client.batch_execute("DEALLOCATE statement").await.expect("works");
    }
}
