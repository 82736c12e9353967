//! The parts that both stores share, apart from SQL: rows and how they become domain values, sealing, and the
//! addressing of messages.
//!
//! The SQL stays in the stores. A row is a plain struct, generic over the type of its keys, since one database returns
//! them as UUIDs and the other as bytes. `into_domain` turns a row into a domain value, and `open` does the same for a
//! row with sealed fields. A value that no version of the program writes is an error that names the table, the column
//! and the row ([`Located`]).
//!
//! Confidential fields, such as the title of an event, are sealed before a transaction begins ([`SealedChangeSet`]).
//! Each seal is bound to its place ([`places`]). [`SealedColumn`] lists the columns that are sealed again after the
//! data key has changed. [`fan_out()`] has the steps of addressing messages; the stores implement the statements.

#[macro_use]
mod columns;

mod agent;
mod answer;
mod approval;
mod audit;
mod booking;
mod calendar;
mod change_feed;
mod change_set;
mod claim;
mod code;
mod connection;
mod connection_link;
mod connector;
mod data_key;
mod event;
mod event_metadata;
mod event_state;
mod fan_out;
mod grant;
mod key;
mod letter;
mod listed;
mod located;
mod name;
mod organization;
pub mod places;
mod principal;
mod proposal;
mod publication;
mod reseal;
mod rules;
mod run_write;
mod scoped_key;
mod sealed;
mod second_factor;
mod session;
mod subscription;
mod user;
mod webhook;

pub use agent::AgentRow;
pub use answer::{AnswerRow, located_answer};
pub use approval::{ApprovalRow, approval_decided_at, approval_status};
pub use audit::AuditRow;
pub use booking::{
    BookedEventRow, BookingPageRow, BookingRow, SharedEventRow, constraints_json, team_json, team_sources,
};
pub use calendar::{BusySourceRow, CalendarEntryRow, CalendarRow, open_feed_token, publication, reminders_json};
pub use change_feed::{EntriesToPlace, FeedRow};
pub use change_set::{AgentWrite, CalendarWrite, EntryWrite, EventWrite, LetterWrite, SealedBridge, SealedChangeSet};
pub use claim::ClaimRow;
pub use code::CodeRow;
pub use connection::{ConnectionRow, ExternalCalendarRow, ReadingRow, pack, write_copies};
pub use connection_link::{AttemptRow, LinkRow};
pub use connector::{AuthorizationCodeRow, ConnectorClientRow, RefreshTokenRow, redirects_json};
pub use data_key::{DataKeyRow, state_name};
pub use event::{EventRow, RepeatingRow, live_hold};
pub use event_metadata::{NoDigests, WantedMetadata, metadata_digests, stored_digests};
pub use fan_out::{FanOut, ListenerRow, WaitingRow, fan_out};
pub use grant::{GrantRow, ListedGrantRow};
pub use key::Key;
pub use letter::{ClaimedLetterRow, LetterRecordRow, sealed_envelope};
pub use listed::total_of;
pub use located::{Located, open_attempt_secret, row_id};
pub use name::{AgentNameRow, AuditNameRow, CalendarNameRow, ContentRow, named_for_audit, readable_names};
pub use organization::{OrganizationRow, limits, reply_to_json};
pub use principal::PrincipalRow;
pub use proposal::{ParticipantRow, ProposalRow};
pub use publication::{CopyRow, DestinationRow, copy_state_name, original_start};
pub use reseal::{Renewed, SealedColumn};
pub use rules::{RulesRow, read_rules};
pub use run_write::{RunWriteRow, resource_uuid, run_owner};
pub use scoped_key::{ScopedKeyRow, approval_columns, read_approval, read_connector, read_scopes, scopes_text};
pub use sealed::EventContent;
pub use second_factor::SecondFactorRow;
pub use session::{SessionRow, SignedInRow};
pub use subscription::{ItemRow, NeighbourRow, SubscriptionRow};
pub use user::{InvitationRow, MemberRow, MembershipRow, UserRow};
pub use webhook::{DeliveryRow, WebhookRow};
