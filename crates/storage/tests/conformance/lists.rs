//! Lists: complete, in order, in pages of any size; and when keys were used.

use super::exports::everything;
use super::samples::*;
use chrono::TimeDelta;
use lendpay_domain::buyer::{Buyer, Description};
use lendpay_domain::change::Change;
use lendpay_domain::key::KeyInUse;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::query::{FindBuyers, FindOffers, OfferCursor, OffersOf, Scope};
use lendpay_domain::store::Answer;
use lendpay_domain::{OfferId, Store, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Reads a list to its end, in pages of `limit`.
async fn whole<T, C: Copy>(limit: usize, read: impl AsyncFn(Window<C>) -> Answer<Page<T, C>>) -> Vec<T> {
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let page = read(Window { after, limit }).await.expect("works");
        assert!(page.items.len() <= limit);
        items.extend(page.items);
        match page.next {
            None => return items,
            next => after = next,
        }
    }
}

pub async fn an_applications_offers_are_listed_and_no_others<S: Store>(store: &Arc<S>) {
    let of = |n, seconds, window| {
        let (of, now) = (OffersOf::Application(application(n)), at(seconds));
        store.find_offers(FindOffers { of, status: None, expires_before: None, now, window })
    };
    let window = Window { after: None, limit: 10 };
    for p in 1..4 {
        with_partner(&**store, p).await;
    }
    let empty = Page { items: vec![], next: None };
    assert_eq!(of(2, 0, window).await, Ok(empty));
    let mut wanted = Vec::new();
    for n in 0..10 {
        with_offer(&**store, 1, n, bare_terms()).await;
        with_offer(&**store, 3, n, bare_terms()).await;
        wanted.push(with_offer(&**store, 2, n, if n == 5 { terms() } else { bare_terms() }).await);
    }
    for limit in 1..12 {
        let read = async |window| of(2, 2, window).await;
        assert_eq!(whole(limit, read).await, wanted);
    }
    // An expired offer is seen as it is for any reader.
    let late = of(2, 5_000, window).await.expect("works");
    assert_eq!(late.items[5], wanted[5].clone().seen_at(at(5_000)));
    let last = OfferCursor { application: application(2), offer: OfferId::from_bytes([0xff; 16]) };
    let beyond = of(2, 2, Window { after: Some(last), limit: 1 }).await;
    assert_eq!(beyond, Ok(Page { items: vec![], next: None }));
}

pub async fn buyers_are_listed_and_found_by_their_number<S: Store>(store: &Arc<S>) {
    for p in [0, 1] {
        with_partner(&**store, p).await;
    }
    let mut wanted: Vec<Buyer> = Vec::new();
    for n in 1..20 {
        let number = (n % 3 != 0).then(|| format!("number {}", n % 3));
        let command = creation(n % 2, n, None, Description { registration_number: number, ..description() }, 3);
        store.run(command.clone()).await.expect("works");
        wanted.push(store.find_buyer(Scope::All, command.id).await.expect("works").expect("there"));
    }
    wanted.sort_by_key(|buyer| (buyer.partner, buyer.id));
    for limit in [1, 2, 7, 19, 30] {
        for number in [None, Some("number 1"), Some("number 2"), Some("number")] {
            let query =
                |window| FindBuyers { scope: Scope::All, registration_number: number.map(str::to_owned), window };
            let found = whole(limit, async |window| store.find_buyers(query(window)).await).await;
            let has = |buyer: &&Buyer| number.is_none() || buyer.description.registration_number.as_deref() == number;
            assert_eq!(found, wanted.iter().filter(has).cloned().collect::<Vec<_>>(), "{limit} {number:?}");
        }
    }
}

/// A store may end a page before its limit; the list is whole however that is.
pub async fn long_lists_are_whole_in_pages_of_any_size<S: Store>(store: &Arc<S>) {
    with_partner(&**store, 1).await;
    let (mut offers, mut buyers) = (Vec::new(), Vec::new());
    for n in 1..=420 {
        offers.push(with_offer(&**store, 1, n, bare_terms()).await);
        store.run(creation(1, n, None, description(), 3)).await.expect("works");
        buyers.push(buyer_id(n));
    }
    let (all, of) = (OffersOf::All, [OffersOf::Partner(partner(1)), OffersOf::Application(application(1))]);
    for limit in [60, 199, 200, 201, 500] {
        for of in of.into_iter().chain([all]) {
            let query = |window| FindOffers { of, status: None, expires_before: None, now: at(2), window };
            assert_eq!(whole(limit, async |window| store.find_offers(query(window)).await).await, offers);
        }
        for scope in [Scope::All, Scope::Partner(partner(1))] {
            for registration_number in [None, description().registration_number] {
                let number = || registration_number.clone();
                let query = |window| FindBuyers { scope, registration_number: number(), window };
                let found = whole(limit, async |window| store.find_buyers(query(window)).await).await;
                assert_eq!(found.iter().map(|buyer| buyer.id).collect::<Vec<_>>(), buyers, "{limit} {scope:?}");
            }
        }
    }
}

pub async fn a_partners_keys_are_listed_with_their_last_use<S: Store>(store: &Arc<S>) {
    let window = Window { after: None, limit: 10 };
    assert_eq!(store.keys_of(partner(1), window).await, Ok(None));
    for p in [1, 2] {
        with_partner(&**store, p).await;
    }
    assert_eq!(store.keys_of(partner(1), window).await, Ok(Some(Page { items: vec![], next: None })));
    for n in 1..6 {
        store.run(add_key(key(1, n))).await.expect("works");
        store.run(add_key(key(2, n + 10))).await.expect("works");
    }
    let unused: Vec<_> = (1..6).map(|n| KeyInUse { key: key(1, n), last_used_at: None }).collect();
    for limit in 1..7 {
        let read = async |window| Ok(store.keys_of(partner(1), window).await?.expect("there"));
        assert_eq!(whole(limit, read).await, unused);
    }
    store.note_use(key(3, 99).hash, at(0));
    for seconds in [0, 1, 59, 200] {
        store.note_use(key(1, 2).hash, at(seconds));
    }
    let noted = async |hour: Timestamp| {
        for _ in 0..500 {
            store.check().await.expect("works");
            let keys = store.keys_of(partner(1), window).await.expect("works").expect("there").items;
            if keys[1].last_used_at == Some(hour) {
                assert_eq!((keys[0].last_used_at, keys[2].last_used_at), (None, None));
                assert_eq!(keys[1].key, key(1, 2));
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("a use is noted in time");
    };
    let hour = |n: i64| Timestamp::from_timestamp((at(0).timestamp() / 3_600 + n) * 3_600, 0).expect("in range");
    noted(hour(0)).await;
    // The last nanosecond of the hour, then the first of the next, then an earlier use that comes late.
    store.note_use(key(1, 2).hash, hour(1) - TimeDelta::nanoseconds(1));
    store.note_use(key(1, 2).hash, hour(1));
    noted(hour(1)).await;
    store.note_use(key(1, 2).hash, at(0));
    store.note_use(key(1, 3).hash, hour(0));
    store.check().await.expect("works");
    let uses = async || {
        let records = everything(&**store).await;
        let uses = records.into_iter().filter_map(|record| match record.change {
            Change::KeyUsed { key, at } => Some((key, at)),
            _ => None,
        });
        uses.collect::<Vec<_>>()
    };
    let mut found = uses().await;
    while found.len() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        found = uses().await;
    }
    let (second, third) = (key(1, 2).hash, key(1, 3).hash);
    found.sort_unstable_by_key(|(key, at)| (*key == third, *at));
    assert_eq!(found, [(second, hour(0)), (second, hour(1)), (third, hour(0))], "one change an hour and key");
}
