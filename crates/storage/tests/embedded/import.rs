//! Imports into the embedded store.

use crate::conformance::exports::{everything, one_of_everything};
use crate::conformance::samples::*;
use crate::open;
use lendpay_domain::life_cycle::Action;
use lendpay_domain::record::Record;
use lendpay_domain::store::{AddKey, CreateBuyerOutcome, PutPartner};
use lendpay_domain::{KeyId, Store};
use lendpay_storage::{ImportError, Imported, SledImport, SledOptions};
use tempfile::TempDir;

fn begin(directory: &TempDir, merge: bool) -> Result<SledImport, ImportError> {
    SledImport::begin(directory.path(), SledOptions::default(), merge)
}

fn import(directory: &TempDir, records: &[Record], merge: bool) -> Result<Imported, ImportError> {
    let mut import = begin(directory, merge)?;
    for record in records {
        import.add(record.clone())?;
    }
    import.finish()
}

fn empty() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

/// A store with something of everything, and more than one group.
async fn filled() -> (TempDir, Vec<Record>) {
    let directory = empty();
    let store = open(&directory);
    one_of_everything(&store).await;
    for n in 10..3_000 {
        store.create_buyer(creation(1, n, None, description(), 3)).await.expect("works");
        if n > 300 {
            continue;
        }
        with_offer(&store, 1, n, terms()).await;
        store.move_offer(go(n, Action::ALL[n as usize % 4], 900 + n as i64)).await.expect("works");
    }
    let records = everything(&store).await;
    (directory, records)
}

#[tokio::test]
async fn a_store_that_was_imported_is_the_same_store() {
    let (original, records) = filled().await;
    let copy = empty();
    let imported = import(&copy, &records, false).expect("works");
    assert_eq!(imported, Imported { added: records.len() as u64, kept: 0 });
    let (original, copy) = (open(&original), open(&copy));
    assert_eq!(everything(&copy).await, records);
    assert_eq!(all_events(&copy).await, all_events(&original).await);
    for n in 0..300 {
        let find = |store| Store::find_offer(store, application(1), offer(n), at(2));
        assert_eq!(find(&copy).await, find(&original).await, "{n}");
        assert_eq!(copy.find_buyer(buyer_id(n)).await, original.find_buyer(buyer_id(n)).await, "{n}");
    }
    assert_eq!(copy.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))));
    let again = copy.create_buyer(creation(1, 99_999, Some("k"), description(), 9)).await;
    assert!(matches!(again, Ok(CreateBuyerOutcome::Replayed(_))), "{again:?}");
    // Sequences go on.
    let last = all_events(&copy).await.last().expect("many").sequence;
    copy.create_buyer(creation(1, 88_888, None, description(), 9)).await.expect("works");
    assert_eq!(all_events(&copy).await.last().expect("many").sequence, last + 1);
}

#[tokio::test]
async fn what_is_not_empty_is_refused_and_untouched() {
    let (directory, records) = filled().await;
    let error = import(&directory, &records, false).expect_err("not empty");
    assert!(matches!(error, ImportError::NotEmpty { .. }) && error.to_string().contains("--merge"), "{error}");
    assert_eq!(everything(&open(&directory)).await, records);
    // A store that was opened and never written to is empty.
    let directory = empty();
    drop(open(&directory));
    import(&directory, &records, false).expect("empty");
}

#[tokio::test]
async fn a_merge_adds_what_is_missing_and_overwrites_nothing() {
    let (_original, records) = filled().await;
    let directory = empty();
    let store = open(&directory);
    with_partner(&store, 1).await;
    let put = PutPartner { id: partner(1), name: name("another name"), oauth_client_id: None, at: at(0) };
    store.put_partner(put).await.expect("works");
    let own_offer = with_offer(&store, 1, 1, bare_terms()).await;
    let own_buyer = creation(1, 15, None, Default::default(), 50);
    store.create_buyer(own_buyer).await.expect("works");
    let (before, events) = (everything(&store).await, all_events(&store).await);
    drop(store);
    let imported = import(&directory, &records, true).expect("works");
    assert_eq!(imported.added + imported.kept, records.len() as u64);
    let store = open(&directory);
    let after = everything(&store).await;
    assert_eq!(after[..before.len()], before, "what was there comes first and is as it was");
    assert_eq!(all_events(&store).await[..events.len()], events);
    assert_eq!(store.find_offer(application(1), offer(1), at(2)).await, Ok(Some(own_offer)));
    let kept = store.find_buyer(buyer_id(15)).await.expect("works").expect("there");
    assert_eq!((kept.created_at, kept.description.name), (at(50), None));
    assert!(store.find_offer(application(1), offer(20), at(2)).await.expect("works").is_some());
    assert_eq!(store.find_key(key(1, 1).hash).await, Ok(Some(key(1, 1))), "the key was not there");
    drop(store);
    let again = import(&directory, &records, true).expect("works");
    assert_eq!(again, Imported { added: 0, kept: records.len() as u64 });
    assert_eq!(everything(&open(&directory)).await, after);
}

#[tokio::test]
async fn an_import_that_does_not_end_leaves_nothing() {
    let (_original, records) = filled().await;
    for merge in [false, true] {
        for dropped in [true, false] {
            let directory = empty();
            let store = open(&directory);
            if merge {
                with_partner(&store, 7).await;
                store.add_key(AddKey { key: key(7, 77) }).await.expect("works");
            }
            let before = everything(&store).await;
            drop(store);
            let mut import = begin(&directory, merge).expect("begins");
            for record in &records {
                import.add(record.clone()).expect("fits");
            }
            let interrupted = empty();
            if dropped {
                drop(import);
            } else {
                // What a kill leaves: the files as they are in the middle.
                std::thread::sleep(std::time::Duration::from_millis(600));
                for name in ["db", "conf", "log", "lendpay", "importing"] {
                    std::fs::copy(directory.path().join(name), interrupted.path().join(name)).expect("works");
                }
            }
            let left = if dropped { &directory } else { &interrupted };
            let store = open(left);
            assert_eq!(everything(&store).await, before);
            assert_eq!(store.find_buyer(buyer_id(15)).await, Ok(None));
            assert_eq!(store.find_key(key(1, 1).hash).await, Ok(None));
            drop(store);
            assert!(!left.path().join("importing").exists());
            assert!(matches!(self::import(left, &records, merge), Ok(Imported { kept: 0, .. })));
        }
    }
}

#[tokio::test]
async fn records_that_contradict_each_other_are_refused() {
    let (_original, records) = filled().await;
    let without = |unwanted: fn(&Record) -> bool| -> Vec<Record> {
        records.iter().filter(|record| !unwanted(record)).cloned().collect()
    };
    let twice = [&records[..], &records[..1]].concat();
    let refused = [
        without(|record| matches!(record, Record::Partner { .. })),
        without(|record| matches!(record, Record::Application { .. })),
        without(|record| matches!(record, Record::OfferCreated { .. })),
        {
            let moves = records.iter().filter(|record| matches!(record, Record::OfferMoved { .. }));
            [&records[..], &moves.take(1).cloned().collect::<Vec<_>>()].concat()
        },
        {
            let buyers = records.iter().filter(|record| matches!(record, Record::BuyerCreated { .. }));
            [&records[..], &buyers.take(1).cloned().collect::<Vec<_>>()].concat()
        },
    ];
    for (n, records) in refused.iter().enumerate() {
        let directory = empty();
        let error = import(&directory, records, false).expect_err("contradicts");
        assert!(matches!(error, ImportError::Record(_)), "{n}: {error}");
        assert_eq!(everything(&open(&directory)).await, [], "{n}");
    }
    // A partner again is a change of it.
    import(&empty(), &twice, false).expect("fits");
}

#[tokio::test]
async fn sequences_that_another_store_left_out_are_left_out_here() {
    let (_original, mut records) = filled().await;
    for record in &mut records {
        match record {
            Record::OfferCreated { event, .. } | Record::OfferMoved { event } | Record::BuyerCreated { event, .. } => {
                event.sequence = event.sequence * 3 + 1_000;
            }
            Record::Partner { sequence, .. }
            | Record::Key { sequence, .. }
            | Record::Application { sequence, .. }
            | Record::OfferTerms { sequence, .. } => *sequence = None,
            Record::KeyUsed { .. } => {}
        }
    }
    let directory = empty();
    import(&directory, &records, false).expect("works");
    for _ in 0..2 {
        let store = open(&directory);
        let sequences: Vec<_> = all_events(&store).await.iter().map(|event| event.sequence).collect();
        assert!(sequences.iter().all(|sequence| sequence % 3 == 1), "{sequences:?}");
        let after = sequences[sequences.len() - 2];
        assert_eq!(store.events(after, 10).await.expect("works").len(), 1);
        assert_eq!(
            store.find_key(key(1, 1).hash).await.map(|key| key.map(|key| key.id)),
            Ok(Some(KeyId::from_bytes(bytes(1))))
        );
    }
}
