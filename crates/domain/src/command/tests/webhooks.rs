//! Endpoints of webhooks.

use super::*;
use crate::command::{
    AddEndpointOutcome, ChangeEndpointOutcome, DeleteEndpoint, DeleteEndpointOutcome, EndpointChange, NoteDeliveries,
};

use crate::testing::samples::*;
use crate::webhook::progress::ASIDE;
use crate::webhook::{
    Aside, Disabled, Endpoint, EndpointUrl, FORMER_SECRET, Failed, InFlight, Noted, Owner, Secrets, State, Step,
    Webhook,
};

/// Partner 1 with endpoint 1, at sequence 3, and what is put besides.
fn parties(more: impl IntoIterator<Item = Change>) -> World {
    let put = Change::EndpointPut { endpoint: endpoint(1, 1).into(), step: Step::Created };
    let progress = Change::DeliveriesNoted(vec![Noted::beginning(endpoint_id(1), 3)]);
    world([partner_put(1, None), put, progress].into_iter().chain(more))
}

fn put(endpoint: Endpoint, step: Step) -> Change {
    Change::EndpointPut { endpoint: endpoint.into(), step }
}

fn noted(noted: Noted) -> Record {
    Record { sequence: None, cause: None, change: Change::DeliveriesNoted(vec![noted]) }
}

fn of(world: &World) -> Webhook {
    world.webhook(endpoint_id(1)).expect("works").expect("there")
}

/// What a change of endpoint 1 leads to.
fn change(world: &World, to: EndpointChange) -> (ChangeEndpointOutcome, Vec<Record>) {
    let decision = ask(world, &change_endpoint(1, to)).expect("decided");
    (decision.outcome, decision.changes)
}

/// The same if it changes something: the endpoint as it is then, and the step.
#[track_caller]
fn changed(world: &mut World, to: EndpointChange) -> (Webhook, Step) {
    let (outcome, changes) = change(world, to);
    for record in &changes {
        world.apply(&record.change, Terms::clone, Description::clone).expect("fits");
    }
    let Change::EndpointPut { step, .. } = changes[0].change else { panic!("{changes:?}") };
    assert_eq!(outcome, ChangeEndpointOutcome::Changed(of(world).into()), "what is told is what is there");
    (of(world), step)
}

#[test]
fn an_endpoint_is_added_once_and_begins_where_it_is_said() {
    let world = parties([]);
    let lenders = Endpoint { owner: Owner::Lender, ..endpoint(1, 2) };
    for new in [endpoint(1, 2), lenders] {
        let command = add_endpoint(new.clone());
        let decision = ask(&world, &command).expect("decided");
        let begins = noted(Noted::beginning(endpoint_id(2), 3));
        assert_eq!(decision.outcome, AddEndpointOutcome::Added);
        assert_eq!(decision.changes, [by(command.stamp, put(new, Step::Created)), begins]);
    }
    let again = ask(&world, &add_endpoint(endpoint(1, 1))).expect("decided");
    assert_eq!((again.outcome, again.changes), (AddEndpointOutcome::Added, vec![]));
    let nobodys = ask(&world, &add_endpoint(endpoint(9, 2))).expect("decided");
    assert_eq!((nobodys.outcome, nobodys.changes), (AddEndpointOutcome::NoPartner, vec![]));
    let taken = Endpoint { in_flight: InFlight::new(1).expect("in range"), ..endpoint(1, 1) };
    assert!(matches!(ask(&world, &add_endpoint(taken)), Err(DecideError::Contradiction(_))));
}

#[test]
fn what_an_operator_sets_is_set_and_nothing_else() {
    let mut world = parties([]);
    let before = of(&world);
    let url = EndpointUrl::parse("https://other.example/").expect("an address");
    let (types, in_flight) = (crate::query::EventTypes::named("buyer.created"), InFlight::new(1).expect("in range"));
    let update = EndpointChange::Update { url: url.clone(), types, in_flight };
    let (after, step) = changed(&mut world, update.clone());
    let endpoint = Endpoint { url, types, in_flight, ..before.endpoint };
    assert_eq!((after, step), (Webhook { endpoint, ..before }, Step::Updated));
    assert_eq!(change(&world, update).1, [], "it is like this already");
}

#[test]
fn pausing_and_resuming_keep_the_place_and_try_again_what_is_set_aside() {
    let progress = Noted { aside: vec![aside(2), waits(3)], ..Noted::beginning(endpoint_id(1), 3) };
    let mut world = parties([Change::DeliveriesNoted(vec![progress])]);
    assert_eq!(change(&world, EndpointChange::Resume { last: 9 }).1, [], "it is active");
    let before = of(&world);
    let (paused, step) = changed(&mut world, EndpointChange::Pause);
    assert_eq!((paused.endpoint.state(), step), (State::Paused, Step::Paused));
    assert_eq!((&paused.progress, paused.served()), (&before.progress, None));
    assert_eq!(change(&world, EndpointChange::Pause).1, []);
    let (resumed, step) = changed(&mut world, EndpointChange::Resume { last: 9 });
    assert_eq!((resumed.endpoint, step), (before.endpoint, Step::Resumed));
    let progress = resumed.progress.expect("there");
    let Some(Failed { attempts, problem, .. }) = aside(2).failed else { panic!("it has failed") };
    let due = Failed { attempts, first_at: at(9), next_at: at(9), problem };
    let wanted = [Aside { failed: Some(due), ..aside(2) }, waits(3)];
    assert_eq!((progress.generation, progress.cursor), (1, 3));
    assert_eq!(progress.aside.into_values().collect::<Vec<_>>(), wanted);
}

#[test]
fn an_endpoint_is_disabled_while_it_is_active_and_resumed_like_a_paused_one() {
    for why in [Disabled::Gone, Disabled::Failing] {
        let mut world = parties([]);
        let (disabled, step) = changed(&mut world, EndpointChange::Disable(why));
        assert_eq!((disabled.endpoint.state(), step), (State::Disabled(why), Step::Disabled));
        assert_eq!(change(&world, EndpointChange::Disable(Disabled::Gone)).1, []);
        assert_eq!(changed(&mut world, EndpointChange::Resume { last: 9 }).0.endpoint.state(), State::Active);
        changed(&mut world, EndpointChange::Pause);
        assert_eq!(change(&world, EndpointChange::Disable(why)).1, [], "an operator was first");
    }
}

#[test]
fn a_secret_is_valid_for_a_day_after_its_rotation() {
    let mut world = parties([]);
    let (rotated, step) = changed(&mut world, EndpointChange::Rotate(sealed(7)));
    assert_eq!((rotated.endpoint.state(), step), (State::Active, Step::SecretRotated));
    let secrets = &rotated.endpoint.secrets;
    assert_eq!(secrets.former, Some((sealed(1), at(9) + FORMER_SECRET)));
    let valid = |seconds| secrets.valid(at(seconds)).cloned().collect::<Vec<_>>();
    let day = 24 * 3_600;
    assert_eq!(valid(9), [sealed(7), sealed(1)]);
    assert_eq!(valid(9 + day - 1), [sealed(7), sealed(1)]);
    assert_eq!(valid(9 + day), [sealed(7)]);
    let (again, _) = changed(&mut world, EndpointChange::Rotate(sealed(8)));
    assert_eq!(again.endpoint.secrets.former.map(|(secret, _)| secret), Some(sealed(7)), "two at most");
}

#[test]
fn what_an_import_brings_is_paused_until_it_has_a_secret_and_is_resumed() {
    let bare = Endpoint { secrets: Secrets::default(), ..endpoint(1, 1) };
    // A merge brings no progress.
    let mut world = world([partner_put(1, None), put(bare, Step::Created)]);
    assert_eq!((of(&world).endpoint.state(), of(&world).served()), (State::Paused, None));
    assert_eq!(change(&world, EndpointChange::Resume { last: 9 }), (ChangeEndpointOutcome::NoSecret, vec![]));
    let (rotated, _) = changed(&mut world, EndpointChange::Rotate(sealed(7)));
    assert_eq!((rotated.endpoint.state(), rotated.endpoint.secrets.former), (State::Paused, None));
    let (resumed, _) = changed(&mut world, EndpointChange::Resume { last: 9 });
    assert_eq!(resumed.endpoint.state(), State::Active);
    assert_eq!(resumed.served().map(|progress| progress.cursor), Some(9), "it begins now");
}

#[test]
fn what_is_redelivered_begins_a_new_generation() {
    let progress = Noted { aside: vec![aside(2), aside(5)], ..Noted::beginning(endpoint_id(1), 9) };
    let mut world = parties([Change::DeliveriesNoted(vec![progress])]);
    let (moved, step) = changed(&mut world, EndpointChange::Redeliver { after: 4 });
    let progress = moved.progress.expect("there");
    assert_eq!((step, progress.generation, progress.cursor), (Step::Updated, 1, 4));
    assert_eq!(progress.aside.into_keys().collect::<Vec<_>>(), [2], "what comes later is delivered in its turn");
    assert_eq!(changed(&mut world, EndpointChange::Redeliver { after: 4 }).0.progress.map(|it| it.generation), Some(2));
}

#[test]
fn progress_of_an_older_generation_is_outdated() {
    let mut world = parties([]);
    changed(&mut world, EndpointChange::Redeliver { after: 1 });
    let late = Noted { cursor: 8, ..Noted::beginning(endpoint_id(1), 0) };
    let current = Noted { generation: 1, ..late.clone() };
    let unknown = Noted::beginning(endpoint_id(9), 1);
    let decision = ask(&world, &NoteDeliveries(vec![late, unknown, current.clone()])).expect("decided");
    assert_eq!(decision.outcome, [endpoint_id(1), endpoint_id(9)]);
    assert_eq!(decision.changes, [noted(current)]);
    let nothing = ask(&world, &NoteDeliveries(vec![])).expect("decided");
    assert_eq!((nothing.outcome, nothing.changes), (vec![], vec![]));
}

#[test]
fn no_more_is_set_aside_than_may_be() {
    let full = Noted { aside: (1..=ASIDE as u64).map(aside).collect(), ..Noted::beginning(endpoint_id(1), 2_000) };
    let world = parties([Change::DeliveriesNoted(vec![full])]);
    let one_more = Noted { aside: vec![aside(1_500)], ..Noted::beginning(endpoint_id(1), 2_000) };
    let ask = |noted: &Noted| ask(&world, &NoteDeliveries(vec![noted.clone()])).expect("decided").outcome;
    assert_eq!(ask(&one_more), [endpoint_id(1)]);
    assert_eq!(ask(&Noted { done: vec![7], ..one_more }), []);
}

#[test]
fn a_deleted_endpoint_is_gone_with_its_progress() {
    let mut world = parties([]);
    let command = DeleteEndpoint { id: endpoint_id(1), stamp: operator(9) };
    let decision = ask(&world, &command).expect("decided");
    let bare = Endpoint { set: State::Deleted, secrets: Secrets::default(), ..endpoint(1, 1) };
    let deleted = put(bare.clone(), Step::Deleted);
    assert_eq!(decision.outcome, DeleteEndpointOutcome::Deleted);
    assert_eq!(decision.changes, [by(command.stamp, deleted.clone())]);
    world.apply(&deleted, Terms::clone, Description::clone).expect("fits");
    assert_eq!(of(&world), Webhook { endpoint: bare, progress: None });
    assert_eq!(ask(&world, &command).expect("decided").outcome, DeleteEndpointOutcome::NotFound);
    assert_eq!(change(&world, EndpointChange::Pause), (ChangeEndpointOutcome::NotFound, vec![]));
    let late = NoteDeliveries(vec![Noted::beginning(endpoint_id(1), 9)]);
    assert_eq!(ask(&world, &late).expect("decided").outcome, [endpoint_id(1)]);
    assert!(
        matches!(ask(&world, &add_endpoint(endpoint(1, 1))), Err(DecideError::Contradiction(_))),
        "its id is taken"
    );
}
