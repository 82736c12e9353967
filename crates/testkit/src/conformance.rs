//! The contract of every store, as tests.
//!
//! A store's crate runs the suite from a file in its `tests` directory:
//!
//! ```
//! use std::sync::Arc;
//!
//! use kalends_testkit::{MemoryStore, conformance::StoreUnderTest};
//!
//! async fn empty_store() -> StoreUnderTest {
//!     let store = MemoryStore::new();
//!     StoreUnderTest { store: Arc::new(store.clone()), inspect: Arc::new(store), guard: Box::new(()) }
//! }
//!
//! kalends_testkit::conformance_suite!(empty_store);
//! # fn main() {}
//! ```
//!
//! Each case gets a store of its own, empty except for its schema. [`CASES`] lists the cases. A store that implements only
//! one port can be held to the cases of that port with [`port_suite!`](crate::port_suite).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the cases are tests and fail by panicking"
)]

mod samples;
mod scene;

pub mod account_data;
pub mod accounts;
pub mod agents;
pub mod answers;
pub mod approvals;
pub mod bookings;
pub mod bridge;
pub mod busy;
pub mod calendars;
pub mod change_feed;
pub mod changes;
pub mod claims;
pub mod commit;
pub mod connectors;
pub mod context;
pub mod delivery_history;
pub mod event_metadata;
pub mod events;
pub mod feeds;
pub mod glances;
pub mod holds;
pub mod identities;
pub mod letters;
pub mod limits;
pub mod members;
pub mod metering;
pub mod moves;
pub mod names;
pub mod organization_lists;
pub mod people;
pub mod proposals;
pub mod races;
pub mod reservations;
pub mod rules;
pub mod runs;
pub mod scoped_keys;
pub mod search;
pub mod second_factors;
pub mod sending;
pub mod series;
pub mod statements;
pub mod subscriptions;
pub mod timers;
pub mod user_tokens;
pub mod webhooks;

use std::{any::Any, fmt, sync::Arc};

use kalends_app::ports::Store;

use crate::Inspect;

/// A store, and what a case needs in addition to it.
pub struct StoreUnderTest {
    /// The store, empty.
    pub store: Arc<dyn Store>,
    /// Looks behind the store's ports.
    pub inspect: Arc<dyn Inspect>,
    /// A value that is kept until the case ends, such as a temporary directory or a guard that drops the database.
    pub guard: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for StoreUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreUnderTest").finish_non_exhaustive()
    }
}

/// The only list of cases. Passes it to the macro `$then` of this crate, after `$arguments`. The cases in brackets need
/// only the port of their group.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident($($arguments:tt)*)) => {
        $crate::$then! {
            ($($arguments)*)
            accounts {
                organizations_round_trip,
                organizations_are_listed_by_creation,
                unknown_accounts_are_absent,
                organizations_are_updated_only_at_the_version_seen,
                an_address_belongs_to_one_organization,
                keys_are_found_by_their_hash,
                principals_follow_their_organization,
                the_epoch_rises_with_changes_of_organizations,
                codes_are_replaced_only_at_the_version_seen,
                a_sign_up_is_one_change_set,
                acceptances_are_recorded_each_time,
            }
            organization_lists {
                organizations_are_searched,
                organizations_are_read_in_pages,
                the_organization_that_waits_longest_comes_first,
                use_is_read_for_several_organizations,
                a_database_has_a_size,
                the_last_backup_is_remembered,
            }
            account_data {
                the_audit_log_is_read_in_pages,
                the_audit_log_is_filtered,
                the_audit_log_is_purged_by_plan,
                allowances_are_counted,
                concurrent_uses_never_exceed_an_allowance,
                allowances_are_given_back,
                expired_allowances_are_purged,
                an_account_is_exported,
                the_use_since_a_month_is_read_with_what_exists,
                a_deleted_account_leaves_nothing,
                an_account_is_deleted_once,
                nothing_is_added_to_a_deleted_account,
                no_row_outlives_its_account,
            }
            letters {
                letters_round_trip,
                a_lost_claim_on_a_letter_records_nothing,
                a_postponed_letter_is_due_again,
                a_newer_letter_supersedes_an_older_one,
                a_sent_letter_removes_older_ones,
                a_letter_is_not_sent_after_its_successor,
                a_letter_waits_for_an_older_one_in_flight,
                letters_about_a_series_and_its_occurrences_keep_their_order,
                a_letter_is_claimed_by_one_worker,
                letters_are_deleted_with_their_organization,
                records_follow_their_letters,
                records_of_superseded_letters_are_marked,
                withdrawn_letters_are_not_sent,
                a_letter_withdrawn_while_it_was_sent_is_recorded_as_sent,
                records_are_read_in_pages_and_removed_by_age,
                failed_letters_are_read_across_organizations,
                allowances_are_used_in_the_commit,
                allowances_in_stores_match_take_many,
            }
            members {
                members_join_change_and_leave,
                members_go_with_their_user_and_their_organization,
                members_are_those_of_a_map,
                a_removal_ends_sessions_and_decisions,
                decisions_about_members_follow_each_other,
                an_organization_keeps_an_owner_in_a_race,
                an_invitation_replaces_the_one_of_its_address,
                an_invitation_is_used_once,
                expired_invitations_are_purged,
            }
            user_tokens {
                a_new_token_voids_the_previous_one,
                a_changed_password_voids_a_reset,
                a_token_is_used_once,
                expired_tokens_are_purged,
            }
            second_factors {
                a_factor_is_confirmed_once,
                a_code_is_used_once,
                recovery_codes_are_replaced_together,
                a_factor_goes_with_its_user,
            }
            agents {
                agents_round_trip,
                agents_are_updated_only_at_the_version_seen,
                decommissioned_agents_stay_readable,
                agents_are_listed_by_filter,
                agents_are_listed_by_creation_in_pages,
                agents_of_other_organizations_are_absent,
            }
            calendars {
                calendars_round_trip,
                calendars_are_updated_only_at_the_version_seen,
                an_update_leaves_the_revision_alone,
                calendars_are_listed_by_owner,
                calendars_are_listed_by_creation_in_pages,
                calendars_have_entries_with_the_names_of_their_agents,
                calendars_are_walked_while_some_are_deleted,
                calendars_of_other_organizations_are_absent,
                calendars_need_an_agent_that_is_not_decommissioned,
                a_deleted_calendar_is_hidden,
                calendars_of_a_decommissioned_agent_are_hidden,
                feed_tokens_are_unique,
            }
            events {
                events_round_trip,
                events_are_found_with_their_owner,
                events_are_updated_only_at_the_version_seen,
                a_deleted_event_is_hidden,
                events_of_other_organizations_are_absent,
                events_are_listed_by_start_in_pages,
                pages_of_large_events_end_early,
                events_are_listed_by_scope,
                events_are_listed_by_filter,
                scheduling_raises_the_revision_once_per_change_set,
            }
            event_metadata {
                events_are_listed_by_metadata,
                instances_are_listed_by_metadata,
                the_metadata_index_follows_changes,
                the_first_entries_are_indexed,
                events_of_an_earlier_release_are_indexed,
            }
            feeds {
                feeds_are_found_by_their_token,
                a_rotated_token_finds_nothing,
                feeds_end_with_their_calendar,
                feeds_show_confirmed_and_tentative_events,
                long_feeds_are_complete,
                a_feed_is_one_snapshot,
            }
            context {
                an_empty_calendar_has_no_context,
                the_present_is_half_open,
                the_current_event_began_last,
                the_next_event_starts_soonest,
                recent_events_ended_last,
                upcoming_events_start_within_a_day,
                the_context_leaves_out_cancelled_and_deleted_events,
            }
            busy {
                blocking_spans_overlap_the_window,
                long_events_block,
                full_days_are_read_completely,
                the_status_decides_what_blocks,
                blocking_spans_follow_changes,
                busy_times_of_other_organizations_are_absent,
                sources_of_several_agents_are_read_at_once,
                all_calendars_of_an_agent_are_read_at_once,
                blocking_spans_are_not_paged,
            }
            rules {
                rules_round_trip,
                rules_are_changed_only_at_the_version_seen,
                rules_raise_the_revision,
                rules_make_a_guarded_change_stale,
                rules_are_hidden_with_their_calendar,
                rules_of_several_calendars_are_read_at_once,
                one_concurrent_change_of_rules_wins,
                blocks_are_returned_with_their_kind,
            }
            claims {
                claims_round_trip,
                claims_are_listed_by_creation_in_pages,
                unfinished_claims_are_found,
                one_claim_per_address_waits_and_one_per_organization_is_on_hold,
                due_claims_are_listed_in_order,
                old_claims_are_purged,
                claims_are_deleted_with_their_organization,
                claims_are_deleted_with_their_user,
                a_claim_takes_effect_once,
                one_of_many_proved_claims_is_put_on_hold,
                at_most_ten_guesses_are_compared,
                a_claim_ends_once,
            }
            identities {
                attempts_are_used_once,
                concurrent_uses_of_an_attempt_succeed_once,
                expired_attempts_are_purged,
                an_identity_belongs_to_one_user,
                one_caller_gets_a_new_identity,
            }
            changes {
                changes_are_ordered_by_the_last_change,
                changes_are_read_in_pages,
                events_carry_the_revision_of_their_calendar,
                overrides_are_changes_too,
                changes_are_hidden_with_their_calendar,
                changed_since_counts_events_in_the_window,
                changed_since_includes_rules,
                a_mirror_converges_to_the_calendar,
                changed_since_is_one_snapshot,
            }
            moves {
                a_moved_event_is_on_its_new_calendar,
                a_stale_move_writes_nothing,
                mirrors_see_a_moved_event_leave,
                old_moves_are_purged,
                timers_move_with_their_events,
                an_event_moves_to_one_calendar,
            }
            runs {
                writes_of_runs_round_trip,
                an_undo_marks_the_writes_that_it_read,
                a_run_has_a_bounded_number_of_writes,
                a_write_is_recorded_only_with_its_change,
                kept_events_are_found_whatever_became_of_them,
                old_writes_of_runs_are_purged,
            }
            approvals {
                approvals_round_trip,
                the_status_of_an_approval_is_read_alone,
                approvals_are_listed,
                approvals_expire_in_lists,
                approvals_of_other_organizations_are_absent,
                a_page_of_approvals_has_a_limit_in_bytes,
                what_expires_first_is_read_first,
                pending_approvals_of_a_key_are_limited,
                pending_approvals_of_a_key_are_found,
                the_last_approval_is_asked_for_once,
                an_approval_is_decided_once,
                a_decision_is_written_only_with_its_change,
                overdue_approvals_are_found,
                old_approvals_are_purged,
                approvals_end_with_their_organization,
                reservations_of_an_approval_block_others,
            }
            names {
                names_are_read_by_identifier,
                what_is_gone_has_no_name,
                a_page_of_the_audit_log_is_named,
                a_young_agent_is_named_in_the_audit_log,
                as_many_names_as_a_page_has_are_read,
            }
            glances {
                what_there_is_is_counted,
                what_waits_is_known_until_it_expires,
                the_use_of_a_revoked_key_is_known,
            }
            commit {
                the_store_is_ready,
                an_empty_change_set_is_applied,
                a_dry_run_writes_nothing,
                messages_round_trip,
                audit_entries_round_trip,
                a_stale_update_writes_nothing,
                a_write_on_something_deleted_writes_nothing,
                a_reached_limit_writes_nothing,
                a_duplicate_writes_nothing,
                the_revision_guard_compares_before_the_change,
                a_change_set_may_span_calendars,
            }
            limits {
                charges_reach_but_never_exceed_the_limit,
                unlimited_use_is_counted,
                use_is_counted_separately,
                several_metrics_are_charged_together,
                charges_of_one_metric_add_up,
                the_number_of_agents_is_limited,
                the_number_of_visible_calendars_is_limited,
                limits_are_checked_after_the_change,
            }
            scoped_keys {
                scoped_keys_round_trip,
                approval_and_client_of_a_key_round_trip,
                the_last_use_of_a_key_is_kept,
                scoped_keys_authenticate_their_agent,
                scoped_keys_authenticate_with_their_scopes,
                scoped_keys_need_an_agent_that_is_not_decommissioned,
                a_revoked_key_is_gone,
                the_owner_of_an_ended_key_is_known,
                keys_of_a_decommissioned_agent_are_gone,
                scoped_keys_of_other_organizations_are_absent,
                the_number_of_scoped_keys_is_limited,
                the_last_scoped_key_is_made_once,
                the_epoch_rises_with_keys_and_agents,
                keys_of_an_organization_are_replaced,
            }
            connectors {
                clients_round_trip,
                codes_round_trip,
                a_code_is_exchanged_once,
                a_refresh_token_is_exchanged_once,
                a_renewed_key_has_another_text,
                only_keys_in_force_are_renewed,
                a_revoked_key_is_not_renewed,
                refresh_tokens_of_other_organizations_are_absent,
                expired_codes_and_tokens_are_purged,
                unused_clients_are_purged,
                clients_that_were_never_used_are_purged,
                clients_that_were_never_used_are_limited,
                lapsed_grants_are_listed,
                codes_go_with_their_user,
                no_code_outlives_its_user,
                codes_and_tokens_go_with_their_organization,
            }
            people {
                people_round_trip,
                people_are_updated_only_at_the_version_seen,
                an_address_belongs_to_one_user,
                several_users_state_an_address,
                addresses_are_found_as_stored,
                an_organization_gets_its_first_owner_once,
                one_user_becomes_the_owner,
                organizations_are_given_up_one_at_a_time,
                a_deleted_user_leaves_nothing,
                sessions_round_trip,
                only_valid_sessions_are_switched,
                sessions_end,
                sessions_end_with_their_organization,
                a_session_opens_the_active_membership,
                expired_sessions_are_purged,
                no_session_outlives_a_password_change,
            }
            metering {
                [
                    debits_reach_but_never_exceed_their_ceiling,
                    unlimited_debits_are_counted,
                    debits_are_counted_separately,
                    refunds_stop_at_zero,
                    racing_nodes_never_exceed_the_limit,
                ]
                usage_combines_counters_and_existing_things,
                debits_and_charges_share_a_counter,
            }
            answers {
                answers_round_trip,
                an_answer_is_kept_until_it_expires,
                a_request_is_answered_once,
                an_expired_answer_is_replaced,
                expired_answers_are_purged,
            }
            races {
                one_change_set_wins_a_revision,
                losers_of_a_revision_retry_and_win,
                one_event_takes_a_time,
                unguarded_events_are_all_created,
                the_last_use_is_granted_once,
                the_last_place_is_taken_once,
                no_update_of_an_event_is_lost,
                no_attempt_at_a_code_is_lost,
                opposite_orders_do_not_deadlock,
                opposite_additions_are_all_applied,
                identical_requests_are_applied_once,
                one_sign_up_gets_the_address,
                nothing_outlives_its_agent,
                nothing_outlives_its_calendar,
                concurrent_outcomes_stay_separate,
                readers_see_complete_change_sets,
            }
            holds {
                holds_round_trip,
                holds_are_read_by_window,
                holds_are_not_among_blocking_spans,
                expired_holds_count_as_cancelled,
                live_holds_are_found_on_all_calendars,
                a_hold_set_is_found_together,
                hold_sets_are_listed,
                placed_hold_sets_are_found_and_counted,
                the_last_hold_on_others_is_placed_once,
                a_page_of_hold_sets_has_a_limit_in_bytes,
                the_number_of_calendars_of_an_agent_is_guarded,
                a_hold_ends_once,
                a_time_guard_covers_only_its_window,
            }
            timers {
                a_timer_follows_its_event,
                a_write_that_changes_no_timing_leaves_the_timer_alone,
                timers_are_claimed_when_due,
                a_claimed_timer_is_not_claimed_again,
                timers_are_advanced_once,
                advancing_a_timer_raises_no_version,
                timers_that_inherit_new_reminders_are_marked,
                timers_of_hidden_calendars_are_purged,
                workers_share_due_timers,
                a_due_timer_emits_one_message,
            }
            proposals {
                [
                    proposals_round_trip,
                    events_of_participants_round_trip,
                    proposals_are_listed,
                    proposals_are_settled_only_at_the_version_seen,
                    a_proposal_ends_once,
                    overdue_proposals_are_found,
                ]
            }
            reservations {
                reservations_are_read_with_holds,
                a_time_is_reserved_once,
            }
            subscriptions {
                subscriptions_round_trip,
                subscriptions_are_listed,
                subscriptions_are_counted_by_status,
                subscriptions_are_changed_only_at_the_version_seen,
                subscriptions_end_with_their_calendar,
                due_subscriptions_are_claimed,
                a_sync_sets_when_the_next_is_due,
                a_new_address_revokes_the_claim,
                claims_per_host_are_limited,
                workers_share_subscriptions,
                items_are_known_while_their_events_are_visible,
                events_of_calendars_are_read_together,
                transparent_events_block_nothing,
                imported_series_count_in_no_quota,
                imported_events_count_until_they_are_purged,
                imported_events_are_purged_once,
                a_purge_stops_at_its_limit,
                a_lapsed_claim_frees_its_room,
                the_last_room_is_taken_once,
                an_address_finds_its_own_subscriptions,
                the_next_subscription_takes_over_items,
                deleted_subscriptions_are_purged,
                kept_events_can_still_be_removed,
                a_place_on_a_calendar_is_taken_once,
            }
            bookings {
                booking_pages_round_trip,
                booking_pages_are_listed_by_creation_in_pages,
                booking_pages_are_changed_only_at_the_version_seen,
                booking_pages_are_found_by_their_slug,
                a_slug_belongs_to_one_page,
                booking_pages_are_found_with_their_usage,
                booking_pages_end_with_their_calendar,
                bookings_are_found_by_their_tokens,
                bookings_are_listed_with_their_events,
                bookings_of_several_pages_are_in_one_list,
                a_team_takes_turns,
                guests_share_an_event,
                a_booking_needs_the_page_that_was_seen,
                a_slot_is_booked_once,
                an_event_comes_back_for_the_guests_that_were_counted,
                an_event_comes_back_or_its_guest_cancels,
                the_number_of_booking_pages_is_limited,
                booking_pages_end_with_their_organization,
            }
            bridge {
                links_round_trip,
                links_are_changed_only_at_the_version_seen,
                one_link_per_calendar_waits_for_a_user,
                links_are_made_for_visible_calendars,
                old_links_are_purged,
                consent_attempts_are_used_once,
                concurrent_uses_of_a_consent_attempt_succeed_once,
                expired_consent_attempts_are_purged,
                link_states_have_distinct_names,
                connections_round_trip,
                connections_are_listed_by_creation_in_pages,
                connections_say_when_they_are_refreshed_next,
                every_kind_of_access_round_trips,
                connections_are_changed_only_at_the_version_seen,
                a_deleted_connection_leaves_nothing,
                the_bridge_is_deleted_with_its_organization,
                due_connections_are_claimed,
                a_refresh_sets_when_the_next_is_due,
                users_and_workers_do_not_overwrite_each_other,
                paused_connections_are_not_refreshed,
                a_refresh_writes_its_results,
                a_lost_refresh_announces_nothing,
                workers_share_connections,
                refreshes_per_organization_are_limited,
                destinations_round_trip,
                every_read_of_a_calendar_has_its_policy,
                destinations_are_changed_only_at_the_version_seen,
                destinations_need_a_visible_calendar_and_a_present_target,
                copies_are_replaced_by_their_key,
                copies_in_a_human_calendar_are_read_apart,
                an_ended_destination_goes_with_its_copies,
                a_deleted_connection_takes_its_destinations_along,
                destinations_are_deleted_with_their_organization,
                writes_to_a_calendar_make_it_due,
                hidden_calendars_are_due_to_lose_their_copies,
                paused_and_lapsed_connections_are_not_published,
                due_destinations_are_claimed,
                workers_share_destinations,
                claims_per_organization_are_limited,
                an_interrupted_attempt_is_taken_over,
                an_attempt_keeps_its_claim_while_it_records,
                a_pause_outlasts_changes_of_the_calendar,
                changed_destinations_end_the_attempt_in_progress,
                a_change_during_an_attempt_makes_it_due_again,
                an_attempt_ends_without_a_revision,
                a_target_that_is_gone_is_claimed_without_it,
                no_destination_outlives_its_connection,
                no_destination_of_a_hidden_calendar_is_forgotten,
                no_write_is_lost_at_the_end_of_an_attempt,
                refreshes_and_publications_do_not_overwrite_each_other,
                a_calendar_gets_one_destination,
                grants_round_trip,
                connected_calendars_are_named_to_their_user,
                grants_are_made_of_known_calendars,
                grants_count_for_the_agents_they_name,
                human_calendars_return_busy_times,
                the_last_revoked_grant_deletes_the_reading,
                concurrently_revoked_grants_leave_no_reading,
                no_grant_outlives_its_calendars,
            }
            webhooks {
                webhooks_round_trip,
                webhooks_are_changed_only_at_the_version_seen,
                webhooks_are_listed_by_creation_in_pages,
                webhooks_of_other_organizations_are_absent,
                the_last_webhook_is_made_once,
                messages_are_stored_only_for_listeners,
                webhooks_end_with_their_organization,
            }
            change_feed {
                entries_of_a_feed_round_trip,
                a_reader_gets_the_types_that_it_wants,
                a_page_of_changes_has_a_limit_in_bytes,
                a_feed_starts_with_its_first_reader,
                readers_agree_on_one_order,
                no_change_is_lost_while_a_feed_starts,
                old_changes_are_forgotten,
                a_feed_that_nobody_reads_ends,
            }
            sending {
                messages_are_addressed_to_listening_endpoints,
                a_message_is_addressed_once,
                the_quota_is_reached_but_never_exceeded,
                one_worker_serves_an_endpoint,
                the_longest_waiting_endpoint_is_claimed_first,
                failing_endpoints_use_separate_places,
                a_lost_claim_records_nothing,
                recorded_outcomes_are_listed,
                a_released_endpoint_is_due_at_its_next_attempt,
                no_message_is_lost_between_two_claims,
                health_follows_recorded_outcomes,
                a_removed_endpoint_is_not_served,
                a_delivery_is_sent_again,
                a_test_message_has_its_own_delivery,
                old_deliveries_are_purged,
                the_backlog_is_counted,
            }
            delivery_history {
                the_newest_deliveries_are_listed_in_pages,
                deliveries_are_counted_by_day,
                a_payload_is_read_while_it_is_kept,
            }
            search {
                events_are_searched_by_calendar_and_start,
                a_search_sees_large_events_in_parts,
            }
            series {
                series_round_trip,
                an_event_gains_and_loses_a_rule,
                instances_are_listed_in_pages,
                instances_of_several_calendars_are_listed_together,
                instances_are_listed_by_filter,
                too_many_instances_are_not_listed,
                occurrences_block,
                the_context_shows_instances,
                the_number_of_series_is_limited,
                the_last_series_is_created_once,
                an_occurrence_has_one_override,
                a_list_sees_each_occurrence_once,
            }
        }
    };
}

/// Expands to one test for each case of the [`conformance`](crate::conformance) suite, in a module for each group.
/// The argument is the path of an async function without arguments that returns a new
/// [`StoreUnderTest`](crate::conformance::StoreUnderTest). The crate needs tokio with its features `macros` and
/// `rt-multi-thread`.
#[macro_export]
macro_rules! conformance_suite {
    ($make_store:path) => {
        $crate::conformance_cases! { conformance_tests($make_store) }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    (($make_store:path) $($group:ident { $([$($port_case:ident,)*])? $($case:ident,)* })*) => {$(
        mod $group {
            use super::*;
            $($(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $port_case() {
                    let store: $crate::conformance::StoreUnderTest = $make_store().await;
                    $crate::conformance::$group::$port_case(&store).await;
                }
            )*)?
            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let store: $crate::conformance::StoreUnderTest = $make_store().await;
                    $crate::conformance::$group::$case(&store).await;
                }
            )*
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_names {
    (() $($group:ident { $([$($port_case:ident,)*])? $($case:ident,)* })*) => {
        &[$(
            $($((stringify!($group), stringify!($port_case)),)*)?
            $((stringify!($group), stringify!($case)),)*
        )*]
    };
}

/// Expands to one test for each case that needs only one port, for a store that implements only that port. The arguments
/// are the port and the path of an async function without arguments that returns a new, empty store.
///
/// | argument | port | what the function returns |
/// |---|---|---|
/// | `metering` | [`Metering`](kalends_app::ports::Metering) | a [`MeteringUnderTest`](crate::conformance::metering::MeteringUnderTest) |
/// | `proposals` | [`Proposals`](kalends_proposals::ports::Proposals) | a [`ProposalsUnderTest`](crate::conformance::proposals::ProposalsUnderTest) |
///
/// The other groups of [`CASES`](crate::conformance::CASES) prepare what they read through the commit port, so only a
/// whole store can run them. The crate needs tokio with its features `macros` and `rt-multi-thread`.
///
/// ```
/// use std::sync::Arc;
///
/// use kalends_app::ports::Metering;
/// use kalends_kernel::OrgId;
/// use kalends_testkit::{MemoryStore, conformance::metering::MeteringUnderTest};
///
/// struct Counters(MemoryStore);
///
/// #[async_trait::async_trait]
/// impl MeteringUnderTest for Counters {
///     fn metering(&self) -> Arc<dyn Metering> {
///         Arc::new(self.0.clone())
///     }
///
///     // These counters know no organizations, so any two exist.
///     async fn organizations(&self) -> [OrgId; 2] {
///         [1, 2].map(|number| format!("org_{number:026}").parse().expect("an identifier"))
///     }
/// }
///
/// async fn empty_counters() -> Counters {
///     Counters(MemoryStore::new())
/// }
///
/// kalends_testkit::port_suite!(metering, empty_counters);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! port_suite {
    ($port:ident, $make_store:path) => {
        $crate::conformance_cases! { port_tests($port as $port, $make_store) }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! port_tests {
    ((metering as $port:ident, $make_store:path) metering { [$($case:ident,)*] $($other:ident,)* } $($rest:tt)*) => {
        $crate::port_tests! { @ $port, $make_store, $($case,)* }
    };
    ((proposals as $port:ident, $make_store:path) proposals { [$($case:ident,)*] $($other:ident,)* } $($rest:tt)*) => {
        $crate::port_tests! { @ $port, $make_store, $($case,)* }
    };
    (@ $port:ident, $make_store:path, $($case:ident,)*) => {
        mod $port {
            use super::*;
            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    $crate::conformance::$port::$case(&$make_store().await).await;
                }
            )*
        }
    };
    (($wanted:ident as $port:ident, $make_store:path) $group:ident { $($case:tt)* } $($rest:tt)*) => {
        $crate::port_tests! { ($wanted as $port, $make_store) $($rest)* }
    };
}

/// The group and name of every case.
pub const CASES: &[(&str, &str)] = conformance_cases! { conformance_names() };
