//! Values that a database rejects, or could mistake for its own way to write them.

use crate::Postgres;
use crate::conformance::Backend as _;
use crate::conformance::samples::*;
use lendpay_domain::buyer::Description;
use lendpay_domain::command::CreateBuyerOutcome;
use lendpay_domain::page::Window;
use lendpay_domain::query::{FindBuyers, Scope};
use lendpay_domain::store::{Commands as _, Queries as _};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_text_comes_back_as_it_was() {
    let backend = Postgres::fresh().await;
    with_partner(&**backend.store(), 1).await;
    for (n, text) in
        (1..).zip(["\0", "a\0b", "\u{1a}", "\u{1a}0", "\u{1a}1\0", "\\0", "\u{fffe}\u{feff}\u{2028}", "'; --"])
    {
        let described = Description { name: Some(text.into()), ..description() };
        let command = creation(1, n, None, described.clone(), 1);
        backend.store().run(command.clone()).await.expect("works");
        let found = backend.store().find_buyer(Scope::All, command.id).await.expect("works").expect("there");
        assert_eq!(found.description, described, "{text:?}");
    }
}

/// An entry of an index has at most 2.7 kB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registration_number_of_60_kb_is_kept_and_found() {
    let backend = Postgres::fresh().await;
    let store = backend.store();
    with_partner(&**store, 1).await;
    // What no compression makes small, and what it does.
    let mut state = 1_u64;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(33 + ((state >> 33) % 90) as u8)
    });
    let random: String = random.take(60_000).collect();
    for (n, number) in (1..).zip([random, "x".repeat(60_000), "é".repeat(30_000), "\0".repeat(60_000)]) {
        let described = Description { registration_number: Some(number.clone()), ..description() };
        let created = store.run(creation(1, n, None, described, 1)).await;
        assert!(matches!(created, Ok(CreateBuyerOutcome::Created(_))), "{created:?}");
        for wanted in [number.clone(), format!("{number}.")] {
            let query = FindBuyers {
                scope: Scope::All,
                registration_number: Some(wanted.clone()),
                window: Window { after: None, limit: 10 },
            };
            let found = store.find_buyers(query).await.expect("works").items;
            let ids: Vec<_> = found.iter().map(|buyer| buyer.id).collect();
            assert_eq!(ids, if wanted == number { vec![buyer_id(n)] } else { Vec::new() });
        }
    }
}
