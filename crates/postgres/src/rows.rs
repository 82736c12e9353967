//! The shared rows with the keys of this database: UUIDs.

pub(crate) use kalends_rows::{
    AnswerRow, BookedEventRow, CodeRow, Located, SecondFactorRow, SharedEventRow, agent_row, approval_row,
    booking_page_row, booking_row, calendar_entry_row, calendar_row, claim_row, connection_row, constraints_json,
    copy_state_name, delivery_row, destination_row, event_row, grant_row, limits, live_hold, named_for_audit,
    open_attempt_secret, organization_row, original_start, pack, places, proposal_row, publication, read_rules,
    readable_names, reading_row, reminders_json, sealed_envelope, state_name, subscription_row, team_json,
    team_sources, total_of, webhook_row, write_copies,
};
use uuid::Uuid;

type Key = Uuid;

pub(crate) type AgentNameRow = kalends_rows::AgentNameRow<Key>;
pub(crate) type AgentRow = kalends_rows::AgentRow<Key>;
pub(crate) type ApprovalRow = kalends_rows::ApprovalRow<Key>;
pub(crate) type AttemptRow = kalends_rows::AttemptRow<Key>;
pub(crate) type AuditNameRow = kalends_rows::AuditNameRow<Key>;
pub(crate) type AuditRow = kalends_rows::AuditRow<Key>;
pub(crate) type AuthorizationCodeRow = kalends_rows::AuthorizationCodeRow<Key>;
pub(crate) type BookingPageRow = kalends_rows::BookingPageRow<Key>;
pub(crate) type BookingRow = kalends_rows::BookingRow<Key>;
pub(crate) type CalendarNameRow = kalends_rows::CalendarNameRow<Key>;
pub(crate) type CalendarRow = kalends_rows::CalendarRow<Key>;
pub(crate) type ClaimRow = kalends_rows::ClaimRow<Key>;
pub(crate) type ClaimedLetterRow = kalends_rows::ClaimedLetterRow<Key>;
pub(crate) type ConnectionRow = kalends_rows::ConnectionRow<Key>;
pub(crate) type ConnectorClientRow = kalends_rows::ConnectorClientRow<Key>;
pub(crate) type ContentRow = kalends_rows::ContentRow<Key>;
pub(crate) type CopyRow = kalends_rows::CopyRow<Key>;
pub(crate) type DataKeyRow = kalends_rows::DataKeyRow<Key>;
pub(crate) type DestinationRow = kalends_rows::DestinationRow<Key>;
pub(crate) type EventRow = kalends_rows::EventRow<Key, i16>;
pub(crate) type ExternalCalendarRow = kalends_rows::ExternalCalendarRow<Key>;
pub(crate) type FeedRow = kalends_rows::FeedRow<Key>;
pub(crate) type GrantRow = kalends_rows::GrantRow<Key, Key>;
pub(crate) type InvitationRow = kalends_rows::InvitationRow<Key>;
pub(crate) type ItemRow = kalends_rows::ItemRow<Key>;
pub(crate) type LetterRecordRow = kalends_rows::LetterRecordRow<Key>;
pub(crate) type LinkRow = kalends_rows::LinkRow<Key>;
pub(crate) type ListenerRow = kalends_rows::ListenerRow<Key>;
pub(crate) type MemberRow = kalends_rows::MemberRow<Key>;
pub(crate) type MembershipRow = kalends_rows::MembershipRow<Key>;
pub(crate) type NeighbourRow = kalends_rows::NeighbourRow<Key>;
pub(crate) type OrganizationRow = kalends_rows::OrganizationRow<Key>;
pub(crate) type PrincipalRow = kalends_rows::PrincipalRow<Key>;
pub(crate) type ReadingRow = kalends_rows::ReadingRow<Key>;
pub(crate) type RefreshTokenRow = kalends_rows::RefreshTokenRow<Key>;
pub(crate) type RepeatingRow<'a> = kalends_rows::RepeatingRow<'a, Key>;
pub(crate) type RulesRow = kalends_rows::RulesRow<Key>;
pub(crate) type RunWriteRow = kalends_rows::RunWriteRow<Key>;
pub(crate) type ScopedKeyRow = kalends_rows::ScopedKeyRow<Key>;
pub(crate) type SessionRow = kalends_rows::SessionRow<Key>;
pub(crate) type SignedInRow = kalends_rows::SignedInRow<Key>;
pub(crate) type SubscriptionRow = kalends_rows::SubscriptionRow<Key>;
pub(crate) type UserRow = kalends_rows::UserRow<Key>;
pub(crate) type WaitingRow = kalends_rows::WaitingRow<Key>;
pub(crate) type WebhookRow = kalends_rows::WebhookRow<Key>;
