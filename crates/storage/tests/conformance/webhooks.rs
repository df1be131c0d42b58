//! Endpoints of webhooks, and how far deliveries have come. What the commands decide is tested in the domain.

use super::Backend;
use super::exports::everything;
use super::samples::*;
use lendpay_domain::change::Change;
use lendpay_domain::command::{AddEndpointOutcome, DeleteEndpoint, EndpointChange, NoteDeliveries};
use lendpay_domain::event::Subject;
use lendpay_domain::page::Window;
use lendpay_domain::store::{Commands as _, Webhooks as _};
use lendpay_domain::webhook::progress::ASIDE;
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Noted, Owner, Progress, State, Step, Webhook};
use lendpay_domain::{EndpointId, Store};
use std::sync::Arc;

/// Partners 1 and 2, endpoints 1 and 3 of partner 1, endpoint 2 of partner 2, endpoint 4 of the lender.
async fn with_endpoints(store: &impl Store) {
    for p in [1, 2] {
        with_partner(store, p).await;
    }
    let lenders = Endpoint { owner: Owner::Lender, ..endpoint(1, 4) };
    for endpoint in [endpoint(1, 1), endpoint(2, 2), endpoint(1, 3), lenders] {
        assert_eq!(store.run(add_endpoint(endpoint)).await, Ok(AddEndpointOutcome::Added));
    }
}

/// The numbers of the endpoints that are listed, one at a time.
async fn listed(store: &impl Store, owner: Option<Owner>) -> Vec<EndpointId> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let query = FindEndpoints { owner, window: Window { after, limit: 1 } };
        let page = store.find_endpoints(query).await.expect("works");
        ids.extend(page.items.iter().map(|endpoint| endpoint.id));
        match page.next {
            None => return ids,
            next => after = next,
        }
    }
}

pub async fn endpoints_are_listed_and_found_until_they_are_deleted<S: Store>(store: &Arc<S>) {
    let store = &**store;
    assert_eq!(listed(store, None).await, []);
    with_endpoints(store).await;
    let of = |p| Some(Owner::Partner(partner(p)));
    assert_eq!(listed(store, None).await, [1, 2, 3, 4].map(endpoint_id));
    assert_eq!(listed(store, of(1)).await, [1, 3].map(endpoint_id));
    assert_eq!(listed(store, Some(Owner::Lender)).await, [endpoint_id(4)]);
    assert_eq!(listed(store, of(9)).await, []);
    let progress = Some(Progress { cursor: 3, ..Progress::default() });
    let wanted = Webhook { endpoint: endpoint(1, 1), progress };
    assert_eq!(store.find_webhook(endpoint_id(1)).await, Ok(Some(wanted)));
    assert_eq!(store.find_webhook(endpoint_id(9)).await, Ok(None));
    store.run(DeleteEndpoint { id: endpoint_id(1), stamp: operator(9) }).await.expect("works");
    assert_eq!(store.find_webhook(endpoint_id(1)).await, Ok(None));
    assert_eq!(listed(store, of(1)).await, [endpoint_id(3)]);
    let last = all_events(store).await.pop().expect("some");
    assert_eq!((last.partner, last.subject), (Some(partner(1)), Subject::Webhook(endpoint_id(1), Step::Deleted)));
}

pub async fn what_is_done_to_an_endpoint_is_told_in_order<S: Store>(store: &Arc<S>) {
    with_endpoints(&**store).await;
    let changes = [
        EndpointChange::Pause,
        EndpointChange::Rotate(sealed(7)),
        EndpointChange::Resume { last: 9 },
        EndpointChange::Redeliver { after: 0 },
        EndpointChange::Disable(lendpay_domain::webhook::Disabled::Gone),
    ];
    for change in changes {
        store.run(change_endpoint(4, change)).await.expect("works");
    }
    let told: Vec<_> = all_events(&**store).await;
    let told = told.iter().filter(|event| event.subject.endpoint() == Some(endpoint_id(4)));
    let told: Vec<_> = told.map(|event| (event.partner, event.subject.event_type())).collect();
    let wanted = ["created", "paused", "secret_rotated", "resumed", "updated", "disabled"];
    assert_eq!(told, wanted.map(|step| (None, format!("webhook.{step}"))).each_ref().map(|(p, name)| (*p, &name[..])));
}

/// As much as may be set aside is kept, and is there after a crash.
pub async fn progress_is_kept<B: Backend>() {
    let backend = B::fresh().await;
    with_endpoints(&**backend.store()).await;
    let full = |n| Noted {
        cursor: 5_000,
        last_success_at: Some(at(7)),
        aside: (1..=ASIDE as u64).map(|n| if n % 2 == 0 { aside(n) } else { waits(n) }).collect(),
        ..Noted::beginning(endpoint_id(n), 0)
    };
    for part in Noted::parts(vec![full(1), full(2)]) {
        assert_eq!(backend.store().run(NoteDeliveries(part)).await, Ok(vec![]));
    }
    let done = Noted { done: (2..=ASIDE as u64).collect(), cursor: 5_001, ..Noted::beginning(endpoint_id(1), 0) };
    let late = Noted { generation: 1, ..Noted::beginning(endpoint_id(3), 0) };
    let outdated = backend.store().run(NoteDeliveries(vec![done.clone(), late])).await;
    assert_eq!(outdated, Ok(vec![endpoint_id(3)]));
    let mut first = Progress::default();
    [&full(1), &done].into_iter().for_each(|noted| first.note(noted));
    let mut second = Progress::default();
    second.note(&full(2));
    let third = Progress { cursor: 3, ..Progress::default() };
    let events = all_events(&**backend.store()).await;
    for backend in [backend.crash().await.reopen().await] {
        for (n, progress) in [(1, &first), (2, &second), (3, &third)] {
            let found = backend.store().find_webhook(endpoint_id(n)).await.expect("works").expect("there");
            assert_eq!(found.progress.as_ref(), Some(progress), "{n}");
        }
        assert_eq!(all_events(&**backend.store()).await, events, "progress is no event");
    }
}

/// The secrets of an endpoint are kept, and a store that takes what an export without them holds has it paused.
pub async fn an_import_has_the_progress_and_leaves_endpoints_paused<B: Backend>() {
    let backend = B::fresh().await;
    with_endpoints(&**backend.store()).await;
    let noted = Noted { aside: vec![aside(2)], ..Noted::beginning(endpoint_id(1), 8) };
    backend.store().run(NoteDeliveries(vec![noted])).await.expect("works");
    let wanted = backend.store().find_webhook(endpoint_id(1)).await.expect("works").expect("there");
    assert!(wanted.served().is_some());
    let mut records = everything(&**backend.store()).await;
    for record in &mut records {
        if let Change::EndpointPut { endpoint, .. } = &mut record.change {
            endpoint.secrets = Default::default();
        }
    }
    for merge in [false, true] {
        let (copy, done) = B::fresh().await.import(records.clone(), merge, at(5)).await;
        done.expect("fits");
        let copy = copy.reopen().await;
        let found = copy.store().find_webhook(endpoint_id(1)).await.expect("works").expect("there");
        assert_eq!((found.endpoint.state(), found.served()), (State::Paused, None));
        // With other sequences a cursor means nothing.
        assert_eq!(found.progress, wanted.progress.clone().filter(|_| !merge));
    }
}

/// Whoever asks gets what nobody else has.
pub async fn an_endpoint_that_is_held_stays_held<S: Store>(store: &Arc<S>) {
    with_endpoints(&**store).await;
    let holder = lendpay_domain::HolderId::from_bytes([1; 16]);
    let both = vec![endpoint_id(1), endpoint_id(2)];
    for _ in 0..2 {
        let mut held = store.hold(holder, both.clone()).await.expect("works");
        held.sort_unstable();
        assert_eq!(held, both);
    }
    store.release(holder).await.expect("works");
    assert_eq!(store.hold(holder, both.clone()).await.map(|held| held.len()), Ok(2));
}
