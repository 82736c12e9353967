//! What every store must do, as tests.
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
//! Each case gets a store of its own, empty but for its schema. [`CASES`] lists them.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the cases are tests, and fail by panicking"
)]

mod samples;
mod scene;

pub mod account_data;
pub mod accounts;
pub mod agents;
pub mod answers;
pub mod bookings;
pub mod bridge;
pub mod busy;
pub mod calendars;
pub mod changes;
pub mod claims;
pub mod commit;
pub mod context;
pub mod events;
pub mod feeds;
pub mod holds;
pub mod identities;
pub mod letters;
pub mod limits;
pub mod metering;
pub mod password_resets;
pub mod people;
pub mod proposals;
pub mod races;
pub mod rules;
pub mod scoped_keys;
pub mod sending;
pub mod series;
pub mod statements;
pub mod subscriptions;
pub mod timers;
pub mod webhooks;

use std::{any::Any, fmt, sync::Arc};

use kalends_app::ports::{HumanCalendars, Store};

use crate::Inspect;

/// All that a store does.
pub trait WholeStore: Store + HumanCalendars {}

impl<T: Store + HumanCalendars> WholeStore for T {}

/// A store and what a case needs beside it.
pub struct StoreUnderTest {
    /// The store, holding nothing.
    pub store: Arc<dyn WholeStore>,
    /// A look behind its ports.
    pub inspect: Arc<dyn Inspect>,
    /// What lives as long as the case: a temporary directory, or what drops the database.
    pub guard: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for StoreUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreUnderTest").finish_non_exhaustive()
    }
}

/// The one list of cases. Hands it to the macro `$then` of this crate, after `$arguments`.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident($($arguments:tt)*)) => {
        $crate::$then! {
            ($($arguments)*)
            accounts {
                organizations_come_back_as_they_were,
                organizations_are_listed_by_creation,
                unknown_accounts_are_absent,
                organizations_are_updated_under_their_version,
                an_address_belongs_to_one_organization,
                keys_are_found_by_their_hash,
                principals_follow_their_organization,
                the_epoch_rises_with_organizations,
                codes_are_replaced_under_their_version,
                a_sign_up_is_one_change_set,
                acceptances_are_recorded_each_time,
            }
            account_data {
                the_audit_log_is_read_in_pages,
                the_audit_log_is_filtered,
                the_audit_log_is_purged_by_plan,
                allowances_are_counted,
                no_more_is_taken_at_once,
                allowances_are_given_back,
                expired_allowances_are_forgotten,
                an_account_is_told,
                a_deleted_account_leaves_nothing,
                one_deletes_an_account,
                nothing_is_added_to_a_deleted_account,
                nothing_outlives_its_account,
            }
            letters {
                letters_come_back_as_they_were,
                a_lost_claim_on_a_letter_records_nothing,
                a_letter_that_is_put_off_is_due_again,
                a_newer_letter_supersedes_an_older_one,
                a_letter_that_is_sent_ends_older_ones,
                a_letter_is_not_sent_after_its_successor,
                a_letter_is_claimed_by_one,
                letters_go_with_their_organization,
                allowances_are_used_in_the_commit,
                allowances_are_used_as_the_rule_says,
            }
            password_resets {
                a_new_reset_voids_the_one_before,
                a_changed_password_voids_a_reset,
                a_reset_is_used_once,
                expired_resets_are_forgotten,
            }
            agents {
                agents_come_back_as_they_were,
                agents_are_updated_under_their_version,
                decommissioned_agents_stay_readable,
                agents_are_listed_by_filter,
                agents_are_listed_by_creation_in_pages,
                agents_of_other_organizations_are_absent,
            }
            calendars {
                calendars_come_back_as_they_were,
                calendars_are_updated_under_their_version,
                an_update_leaves_the_revision_alone,
                calendars_are_listed_by_owner,
                calendars_are_listed_by_creation_in_pages,
                calendars_are_walked_while_some_are_deleted,
                calendars_of_other_organizations_are_absent,
                calendars_need_a_living_agent,
                a_deleted_calendar_is_out_of_sight,
                a_decommissioned_agent_s_calendars_are_out_of_sight,
                feed_tokens_are_unique,
            }
            events {
                events_come_back_as_they_were,
                events_are_found_with_their_owner,
                events_are_updated_under_their_version,
                a_deleted_event_is_out_of_sight,
                events_of_other_organizations_are_absent,
                events_are_listed_by_start_in_pages,
                pages_of_large_events_end_early,
                events_are_listed_by_scope,
                events_are_listed_by_filter,
                scheduling_raises_the_revision_once_a_change_set,
            }
            feeds {
                feeds_are_found_by_their_token,
                a_rotated_token_finds_nothing,
                feeds_go_with_their_calendar,
                feeds_show_what_takes_place,
                long_feeds_are_shown_whole,
                a_feed_is_one_snapshot,
            }
            context {
                nothing_is_around_on_an_empty_calendar,
                the_present_is_half_open,
                the_current_event_began_last,
                the_next_event_starts_soonest,
                recent_events_ended_last,
                upcoming_events_start_within_a_day,
                only_what_takes_place_is_around,
            }
            busy {
                blocking_spans_overlap_the_window,
                long_events_block,
                full_days_block_wholly,
                the_status_decides_what_blocks,
                blocking_spans_follow_changes,
                busy_times_of_other_organizations_are_absent,
                sources_of_several_agents_come_at_once,
                all_of_an_agent_comes_at_once,
                blocking_spans_have_no_page,
            }
            rules {
                rules_come_back_as_they_were,
                rules_are_changed_under_their_version,
                rules_raise_the_revision,
                rules_make_a_guarded_change_stale,
                rules_live_with_their_calendar,
                one_wins_the_rules,
                blocks_tell_what_they_are,
            }
            claims {
                claims_come_back_as_they_were,
                claims_are_listed_by_creation_in_pages,
                claims_stand_alone,
                due_claims_come_in_order,
                old_claims_are_forgotten,
                claims_go_with_their_organization,
                claims_go_with_their_human,
                a_claim_takes_effect_once,
                one_claim_gets_on_hold,
                ten_guesses_are_judged,
                a_claim_ends_once,
            }
            identities {
                attempts_are_used_once,
                one_uses_an_attempt,
                expired_attempts_are_forgotten,
                an_identity_is_one_human_s,
                one_gets_an_identity,
            }
            changes {
                changes_come_in_the_order_of_the_last_one,
                changes_are_read_in_pages,
                events_carry_the_revision_of_their_calendar,
                overrides_are_changes_too,
                changes_live_with_their_calendar,
                what_changed_since_reaches_into_the_time,
                rules_that_changed_since_are_told,
                a_mirror_becomes_the_calendar,
                what_changed_since_is_one_snapshot,
            }
            commit {
                the_store_is_ready,
                an_empty_change_set_is_applied,
                messages_come_back_as_they_were,
                audit_entries_come_back_as_they_were,
                nothing_is_written_where_an_update_is_stale,
                nothing_is_written_where_the_ground_has_gone,
                nothing_is_written_where_a_limit_is_reached,
                nothing_is_written_where_something_exists,
                the_revision_guard_looks_before_the_change,
                a_change_set_may_span_calendars,
            }
            limits {
                charges_reach_the_limit_and_never_pass_it,
                unlimited_use_is_counted,
                use_is_counted_apart,
                several_metrics_are_charged_together,
                charges_of_one_metric_add_up,
                at_most_so_many_agents_exist,
                at_most_so_many_calendars_are_in_sight,
                what_exists_is_counted_after_the_change,
            }
            scoped_keys {
                scoped_keys_come_back_as_they_were,
                scoped_keys_speak_for_their_agent,
                scoped_keys_need_a_living_agent,
                a_revoked_key_is_gone,
                ended_keys_tell_whose_they_were,
                a_decommissioned_agent_s_keys_are_gone,
                scoped_keys_of_other_organizations_are_absent,
                at_most_so_many_scoped_keys_exist,
                one_makes_the_last_scoped_key,
                the_epoch_rises_with_keys_and_agents,
                an_organization_s_keys_are_replaced,
            }
            people {
                people_come_back_as_they_were,
                people_are_updated_under_their_version,
                an_address_belongs_to_one_human,
                addresses_are_found_as_they_are_kept,
                an_organization_has_one_owner,
                one_becomes_the_owner,
                what_is_owned_is_given_up_one_after_the_other,
                a_deleted_human_leaves_nothing,
                sessions_come_back_as_they_were,
                sessions_are_switched_while_they_last,
                sessions_end,
                sessions_go_with_their_organization,
                expired_sessions_are_forgotten,
                no_session_outlives_a_change_of_the_password,
            }
            metering {
                debits_reach_their_ceiling_and_never_pass_it,
                unlimited_debits_are_counted,
                debits_are_counted_apart,
                refunds_stop_at_nothing,
                usage_is_what_is_counted_and_what_exists,
                racing_nodes_never_pass_the_limit,
                debits_and_charges_share_a_counter,
            }
            answers {
                answers_come_back_as_they_were,
                an_answer_is_kept_until_it_expires,
                a_request_is_answered_once,
                an_expired_answer_is_replaced,
                expired_answers_are_forgotten,
            }
            races {
                one_wins_a_revision,
                losers_of_a_revision_try_again,
                unguarded_events_are_all_created,
                one_takes_the_last_use,
                one_takes_the_last_place,
                no_update_of_an_event_is_lost,
                no_attempt_at_a_code_is_lost,
                opposite_orders_do_not_deadlock,
                opposite_additions_are_all_applied,
                identical_requests_are_applied_once,
                one_gets_the_address,
                nothing_outlives_its_agent,
                nothing_outlives_its_calendar,
                outcomes_in_a_crowd_stay_apart,
                readers_see_whole_change_sets,
            }
            holds {
                holds_come_back_as_they_were,
                holds_are_told_in_a_window,
                holds_stand_beside_what_blocks,
                what_is_over_counts_as_cancelled,
                a_hold_set_is_found_together,
                the_number_of_an_agent_s_calendars_is_guarded,
                one_ends_a_hold,
                a_guarded_time_is_its_own,
            }
            timers {
                a_timer_comes_and_goes_with_its_event,
                a_write_that_changes_no_timing_leaves_the_timer_alone,
                timers_are_claimed_when_due,
                a_claim_keeps_others_away,
                timers_are_advanced_once,
                advancing_raises_nothing,
                new_default_reminders_are_looked_at_again,
                timers_of_calendars_out_of_sight_are_forgotten,
                workers_share_what_is_due,
                a_timer_and_its_message_are_one,
            }
            proposals {
                proposals_come_back_as_they_were,
                proposals_are_listed,
                proposals_are_settled_under_their_version,
                a_proposal_ends_once,
                overdue_proposals_are_found,
                reservations_are_told_with_holds,
                a_time_is_reserved_once,
            }
            subscriptions {
                subscriptions_come_back_as_they_were,
                subscriptions_are_listed,
                subscriptions_are_changed_under_their_version,
                subscriptions_go_with_their_calendar,
                due_subscriptions_are_claimed,
                a_sync_says_when_the_next_is_due,
                another_address_takes_the_claim_away,
                hosts_are_spared,
                workers_share_subscriptions,
                items_are_known_while_their_events_are,
                events_of_a_calendar_are_read_together,
                transparent_events_block_nothing,
                what_is_imported_counts_in_no_quota,
                imported_events_count_until_they_are_purged,
                imported_events_are_purged_once,
                a_purge_goes_on_while_there_is_more,
                a_lapsed_claim_keeps_no_room,
                one_sync_takes_the_last_room,
                an_address_meets_its_own_subscriptions,
                deleted_subscriptions_leave_their_items_to_the_next,
                deleted_subscriptions_are_forgotten,
                what_was_left_is_removed_after_all,
                one_takes_a_place_on_a_calendar,
            }
            bookings {
                booking_pages_come_back_as_they_were,
                booking_pages_are_listed_by_creation_in_pages,
                booking_pages_are_changed_under_their_version,
                booking_pages_are_found_by_their_slug,
                booking_pages_are_found_with_their_use,
                booking_pages_go_with_their_calendar,
                bookings_are_found_by_their_tokens,
                a_booking_is_made_on_the_page_that_was_seen,
                one_gets_the_slot,
                at_most_so_many_booking_pages_exist,
                booking_pages_go_with_their_organization,
            }
            bridge {
                links_come_back_as_they_were,
                links_are_changed_under_their_version,
                one_link_waits_for_a_human,
                links_are_made_for_calendars_in_sight,
                old_links_are_forgotten,
                consent_attempts_are_used_once,
                one_uses_a_consent_attempt,
                consent_attempts_are_forgotten,
                link_states_are_told_apart,
                connections_come_back_as_they_were,
                connections_are_listed_by_creation_in_pages,
                connections_are_changed_under_their_version,
                a_deleted_connection_leaves_nothing,
                the_bridge_goes_with_its_organization,
                due_connections_are_claimed,
                a_refresh_says_when_the_next_is_due,
                humans_and_workers_leave_each_other_what_is_theirs,
                paused_connections_are_not_refreshed,
                a_refresh_writes_what_came_of_it,
                workers_share_connections,
                grants_come_back_as_they_were,
                grants_are_made_of_known_calendars,
                grants_count_for_whom_they_name,
                human_calendars_tell_when_they_are_busy,
                what_is_taken_back_is_forgotten,
                nothing_is_left_where_the_last_grants_go_at_once,
                no_grant_outlives_its_calendars,
            }
            webhooks {
                webhooks_come_back_as_they_were,
                webhooks_are_changed_under_their_version,
                webhooks_are_listed_by_creation_in_pages,
                webhooks_of_other_organizations_are_absent,
                one_makes_the_last_webhook,
                messages_are_kept_where_somebody_listens,
                webhooks_go_with_their_organization,
            }
            sending {
                messages_are_addressed_to_whoever_listens,
                a_message_is_addressed_once,
                the_quota_is_reached_and_never_passed,
                one_serves_an_endpoint,
                what_waited_longest_is_claimed_first,
                what_fails_has_places_of_its_own,
                a_lost_claim_records_nothing,
                what_is_recorded_is_told,
                what_is_released_is_due_in_time,
                nothing_is_forgotten_between_two_claims,
                health_follows_what_is_recorded,
                a_removed_endpoint_is_not_served,
                a_delivery_is_sent_again,
                a_test_is_a_delivery_of_its_own,
                old_deliveries_are_forgotten,
                the_backlog_is_told,
            }
            series {
                series_come_back_as_they_were,
                a_rule_comes_and_goes,
                instances_are_listed_in_pages,
                instances_are_listed_by_filter,
                too_many_instances_are_not_listed,
                occurrences_block,
                instances_are_around,
                at_most_so_many_series_exist,
                one_creates_the_last_series,
                an_occurrence_has_one_override,
                a_list_sees_each_occurrence_once,
            }
        }
    };
}

/// Expands to one test for each case of the [`conformance`](crate::conformance) suite, in a module
/// for each group. The argument is the path of an async function without arguments that returns a
/// fresh [`StoreUnderTest`](crate::conformance::StoreUnderTest); the crate needs tokio with its
/// features `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! conformance_suite {
    ($make_store:path) => {
        $crate::conformance_cases! { conformance_tests($make_store) }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    (($make_store:path) $($group:ident { $($case:ident,)* })*) => {$(
        mod $group {
            use super::*;
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
    (() $($group:ident { $($case:ident,)* })*) => {
        &[$($((stringify!($group), stringify!($case)),)*)*]
    };
}

/// Group and name of every case.
pub const CASES: &[(&str, &str)] = conformance_cases! { conformance_names() };
