//! The REST API, end to end: the real binary over HTTP, on both databases. Modules are named after resources and
//! rules.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is how tests and their helpers fail")]

use rstest_reuse::template;

/// The cases of a test that runs on both databases.
#[template]
#[rstest]
#[case::sqlite(kalends_e2e::Database::Sqlite)]
#[case::postgres(kalends_e2e::Database::Postgres)]
fn on_both(#[case] database: kalends_e2e::Database) {}

/// The ways through a screen of the console. `cargo xtask full` walks the last three.
#[rstest_reuse::template]
#[rstest]
#[case::by_the_keyboard(crate::walk::Way::KEYS)]
#[case::on_a_phone_without_scripts(crate::walk::Way::PLAIN)]
#[ignore = "`cargo xtask full` walks this way too"]
#[case::with_a_mouse(crate::walk::Way::MOUSE)]
#[ignore = "`cargo xtask full` walks this way too"]
#[case::by_the_keyboard_without_scripts(crate::walk::Way::PLAIN_KEYS)]
#[ignore = "`cargo xtask full` walks this way too"]
#[case::on_a_phone(crate::walk::Way::PHONE)]
fn in_every_way(#[case] way: crate::walk::Way) {}

mod account_browser;
mod account_end;
mod accounts;
mod activity_browser;
mod activity_pages;
mod addresses;
mod agent_pages;
mod agents;
mod agents_browser;
mod approval_races;
mod approvals;
mod approvals_browser;
mod approvals_pages;
mod attendees_by_the_rule;
mod audit_actions;
mod audit_log;
mod availability;
mod availability_browser;
mod availability_pages;
mod availability_rules;
mod booking_browser;
mod booking_days;
mod booking_editor_browser;
mod booking_editor_pages;
mod booking_emails_by_the_rule;
mod booking_html;
mod booking_pages;
mod booking_pages_by_the_rule;
mod booking_questions_by_the_rule;
mod bookings;
mod bookings_of_hosts_by_the_rule;
mod bounds;
mod caldav;
mod caldav_pages;
mod calendar_browser;
mod calendar_desk;
mod calendar_pages;
mod calendar_settings_pages;
mod calendars;
mod change_feed;
mod changes;
mod claim_nodes;
mod claim_pages;
mod claims;
mod client;
mod client_guide;
mod code_guesses;
mod concurrency;
mod conflicts;
mod connect_browser;
mod connecting;
mod connection_links;
mod connection_pages;
mod connections_browser;
mod connectors;
mod console;
mod console_account;
mod console_pages;
mod context;
mod core_tools;
mod core_tools_events;
mod core_tools_operations;
mod core_tools_phrases;
mod core_tools_proposals;
mod core_tools_times;
mod desk;
mod dry_runs;
mod entity_tags;
mod envelope;
mod erasure;
mod event_browser;
mod event_form_pages;
mod event_pages;
mod event_times;
mod events;
mod feed;
mod feed_pages;
mod feeds_browser;
mod fields;
mod first_run_browser;
mod first_run_pages;
mod fixtures;
mod front;
mod given_addresses;
mod guest_reminders_by_the_rule;
mod guides;
mod hold_races;
mod holds;
mod human_calendars;
mod human_calendars_consent;
mod human_calendars_kept;
mod idempotency;
mod idempotency_scopes;
mod if_as_of;
mod import;
mod imported_events;
mod invitations;
mod invitations_by_the_rule;
mod ip_limits;
mod keys;
mod keys_pages;
mod languages_by_the_rule;
mod lifecycle;
mod lists;
mod local_times;
mod logs;
mod mail;
mod manage_browser;
mod mcp_resources;
mod member_pages;
mod members;
mod metadata_filters_by_the_rule;
mod metering;
mod moves_by_the_rule;
mod oauth;
mod oidc;
mod operator_browser;
mod operator_pages;
mod operators;
mod organization_browser;
mod organization_pages;
mod overview_pages;
mod page_crawl;
mod pages;
mod password_browser;
mod people_browser;
mod placements_by_the_rule;
mod plan_limits;
mod proposal_outcomes;
mod proposal_races;
mod proposals;
mod publishing;
mod publishing_nodes;
mod publishing_pages;
mod reach;
mod reach_operations;
mod reach_world;
mod readers;
mod reservations;
mod runs;
mod sandbox;
mod scopes;
mod scopes_by_the_rule;
mod search_by_the_rule;
mod seats_by_the_rule;
mod second_factor;
mod secrecy;
mod series;
mod series_scopes;
mod service;
mod session_pages;
mod sessions;
mod standin;
mod starts;
mod stored;
mod subscriber;
mod subscriptions;
mod sync_failures;
mod syncs;
mod team_pages_by_the_rule;
mod terms;
mod test_keys;
mod timers;
mod tools;
mod usage_pages;
mod waiting_browser;
mod waiting_pages;
mod waiting_writes;
mod waitlist;
mod walk;
mod webhook_deliveries;
mod webhook_examples;
mod webhook_failures;
mod webhook_pages;
mod webhooks;
mod webhooks_browser;
mod workers;
