//! What every store must do. A backend implements [`Backend`] and calls [`cases!`]; each case gets a fresh, empty store.

pub mod buyers;
pub mod events;
pub mod exports;
pub mod lists;
pub mod moves;
pub mod offers;
pub mod parties;
pub mod races;
pub mod samples;

use lendpay_domain::Store;
use std::sync::Arc;

/// A backend under test. Dropping it removes what it has made.
pub trait Backend: Sized {
    /// The store.
    type Store: Store;

    /// Makes an empty store.
    fn fresh() -> impl Future<Output = Self> + Send;

    /// The store.
    fn store(&self) -> &Arc<Self::Store>;
}

/// Makes a test of every case for a backend.
#[macro_export]
macro_rules! cases {
    ($backend:ty) => {
        $crate::cases! { $backend,
            parties::partners_are_created_renamed_and_keep_their_client_ids_apart
            parties::a_client_is_the_partner_that_has_its_id_now
            parties::keys_come_back_as_they_were_added
            parties::revoked_keys_stay_revoked
            parties::applications_have_one_owner
            offers::an_offer_comes_back_exactly
            offers::terms_are_replaced_while_offered_and_fixed_afterwards
            offers::an_offer_needs_its_application
            offers::new_terms_for_a_lapsed_offer_find_it_expired
            moves::an_accept_can_be_repeated
            moves::another_partners_offer_does_not_exist
            moves::expiry_before_at_and_after_its_moment
            moves::a_lapse_and_an_archive_are_two_events
            moves::every_move_answers_as_the_life_cycle_says
            moves::accepting_one_offer_leaves_the_others_alone
            buyers::a_buyer_comes_back_exactly
            buyers::a_creation_is_replayed_identically
            buyers::a_key_with_another_payload_is_told
            buyers::partners_keys_do_not_meet
            buyers::without_a_key_every_creation_is_new
            buyers::the_longest_buyer_is_kept
            events::events_tell_everything_in_order
            events::a_reader_beside_64_writers_gets_each_event_once
            lists::an_applications_offers_are_listed_and_no_others
            lists::buyers_are_listed_and_found_by_their_number
            lists::a_partners_keys_are_listed_with_their_last_use
            exports::an_export_holds_everything
            exports::an_export_is_one_moment_beside_writers
            races::accepts_declines_and_archives_of_one_offer
            races::accepts_of_one_offer
            races::creations_with_one_key
        }
    };
    ($backend:ty, $($module:ident::$case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let backend = <$backend as conformance::Backend>::fresh().await;
            conformance::$module::$case(conformance::Backend::store(&backend)).await;
        }
    )+};
}
