//! What every store must do. A backend implements [`Backend`] and calls [`cases!`]; each case gets a fresh, empty
//! store.

pub mod buyers;
pub mod calls;
pub mod events;
pub mod expiries;
pub mod exports;
pub mod imports;
pub mod lists;
pub mod moves;
pub mod offers;
pub mod parties;
pub mod races;
pub mod samples;
pub mod webhooks;

use lendpay_domain::change::Record;
use lendpay_domain::import::Imported;
use lendpay_domain::{Store, Timestamp};
use lendpay_storage::ImportError;
use std::sync::Arc;

/// A backend under test. Dropping it removes what it has made.
pub trait Backend: Sized + Send {
    /// The store.
    type Store: Store;

    /// Makes an empty store.
    fn fresh() -> impl Future<Output = Self> + Send;

    /// The store.
    fn store(&self) -> &Arc<Self::Store>;

    /// Imports records, closing the store for it if that is how it imports. A rejected import leaves the backend as it
    /// was.
    fn import(
        self,
        records: Vec<Record>,
        merge: bool,
        now: Timestamp,
    ) -> impl Future<Output = (Self, Result<Imported, ImportError>)> + Send;

    /// Closes the store and opens it again.
    fn reopen(self) -> impl Future<Output = Self> + Send;

    /// Ends the store without closing it, and opens what is left. Everything that was answered is there.
    fn crash(self) -> impl Future<Output = Self> + Send {
        self.reopen()
    }
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
            parties::a_keys_expiry_comes_forward
            parties::a_key_is_found_by_its_id
            parties::a_second_key_with_an_id_or_a_hash_is_refused
            parties::applications_have_one_owner
            offers::an_offer_comes_back_exactly
            offers::terms_are_replaced_while_offered_and_fixed_afterwards
            offers::equal_terms_change_nothing
            offers::an_offer_needs_its_application
            offers::new_terms_find_an_offer_expired
            moves::an_accept_can_be_repeated
            moves::another_partners_offer_does_not_exist
            moves::expiry_before_at_and_after_its_moment
            moves::an_expiry_and_an_archive_are_two_events
            moves::every_move_answers_as_the_life_cycle_says
            moves::a_reason_is_kept_in_the_event
            moves::accepting_one_offer_leaves_the_others_alone
            buyers::a_buyer_comes_back_exactly
            buyers::a_creation_is_replayed_identically
            buyers::a_key_with_another_payload_is_told
            buyers::partners_keys_do_not_meet
            buyers::without_a_key_every_creation_is_new
            buyers::the_longest_buyer_is_kept
            buyers::an_id_is_one_buyer_of_a_partner
            buyers::a_buyer_needs_its_partner
            buyers::a_read_in_full_is_an_event_and_changes_nothing
            events::events_tell_everything_in_order
            events::what_operators_do_is_told_with_their_names
            events::a_reader_beside_64_writers_gets_each_event_once
            events::whoever_waits_learns_of_each_change
            events::a_list_ends_only_when_it_holds_everything_that_was_done_before_it
            events::a_reader_for_some_partners_gets_all_of_their_events
            expiries::what_is_due_expires_once_and_nothing_else_does
            expiries::an_accept_that_finds_an_expiry_leaves_nothing_to_record
            expiries::expiries_beside_accepts_of_the_same_offers
            lists::an_applications_offers_are_listed_and_no_others
            lists::buyers_are_listed_and_found_by_their_number
            lists::long_lists_are_whole_in_pages_of_any_size
            lists::a_partners_keys_are_listed_with_their_last_use
            exports::an_export_holds_every_change_with_its_cause
            exports::an_export_is_one_moment_beside_writers
            webhooks::endpoints_are_listed_and_found_until_they_are_deleted
            webhooks::what_is_done_to_an_endpoint_is_told_in_order
            webhooks::an_endpoint_that_is_held_stays_held
            races::accepts_declines_and_archives_of_one_offer
            races::accepts_of_one_offer
            races::puts_of_different_terms
            races::creations_with_one_key
        }
        $crate::cases! { on $backend,
            imports::a_store_that_was_imported_is_the_same_store
            imports::what_is_not_empty_is_refused_and_untouched
            imports::every_faulty_import_is_rejected_and_changes_nothing
            imports::a_merge_adds_what_is_missing_and_overwrites_nothing
            imports::a_merge_goes_on_with_no_subject_that_was_there
            imports::expired_keys_and_unchecked_buyers_are_counted
            imports::sequences_that_another_store_left_out_are_left_out_here
            imports::every_import_begins_a_new_history_and_nothing_else_does
            imports::the_end_is_that_of_the_last_event
            expiries::what_is_due_is_found_after_a_restart_a_crash_and_an_import
            webhooks::progress_is_kept
            webhooks::an_import_has_the_progress_and_leaves_endpoints_paused
            calls::a_call_comes_back_exactly
            calls::the_last_calls_of_an_operation_are_found_in_their_order
            calls::what_is_too_old_is_not_found
            calls::what_is_kept_is_there_after_a_crash_and_a_restart
            calls::nobody_has_more_than_its_share_of_the_space
        }
    };
    (on $backend:ty, $($module:ident::$case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            conformance::$module::$case::<$backend>().await;
        }
    )+};
    ($backend:ty, $($module:ident::$case:ident)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let backend = <$backend as conformance::Backend>::fresh().await;
            conformance::$module::$case(conformance::Backend::store(&backend)).await;
        }
    )+};
}
