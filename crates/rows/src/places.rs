//! Where each sealed field is stored. A seal is bound to its place, so a value that was moved does not open.

use kalends_accounts::TokenHash;
use kalends_app::ports::Place;
use kalends_bridge::CopyKey;
use kalends_kernel::{
    AgentId, ApprovalId, BookingId, BookingPageId, CalendarId, ConnectionId, EventId, ExternalCalendarId, LetterId,
    MessageId, ProposalId, ResponseId, RunWriteId, SubscriptionId, UserId, WebhookId,
};
use uuid::Uuid;

/// Where the sealed content of an event is stored.
pub const fn event_content(id: EventId) -> Place {
    Place { table: "events", column: "content", id: id.uuid() }
}

/// Where the sealed token of a calendar's feed is stored.
pub const fn feed_token(id: CalendarId) -> Place {
    Place { table: "calendars", column: "feed_token", id: id.uuid() }
}

/// Where the sealed metadata of an agent is stored.
pub const fn agent_metadata(id: AgentId) -> Place {
    Place { table: "agents", column: "metadata", id: id.uuid() }
}

/// Where the sealed metadata of a calendar is stored.
pub const fn calendar_metadata(id: CalendarId) -> Place {
    Place { table: "calendars", column: "metadata", id: id.uuid() }
}

/// Where the sealed payload of a message is stored.
pub const fn message_payload(id: MessageId) -> Place {
    Place { table: "outbox", column: "payload", id: id.uuid() }
}

/// Where the sealed body of an entry of the change feed is stored.
pub const fn entry_body(id: MessageId) -> Place {
    Place { table: "change_feed", column: "body", id: id.uuid() }
}

/// Where the sealed part of a webhook endpoint is stored.
pub const fn webhook_content(id: WebhookId) -> Place {
    Place { table: "webhooks", column: "content", id: id.uuid() }
}

/// Where the sealed part of a subscription is stored.
pub const fn subscription_content(id: SubscriptionId) -> Place {
    Place { table: "ical_subscriptions", column: "content", id: id.uuid() }
}

/// Where the sealed part of a proposal is stored.
pub const fn proposal_content(id: ProposalId) -> Place {
    Place { table: "proposals", column: "content", id: id.uuid() }
}

/// Where the sealed part of a response is stored.
pub const fn response_remark(id: ResponseId) -> Place {
    Place { table: "proposal_participants", column: "remark", id: id.uuid() }
}

/// Where the sealed part of a booking page is stored.
pub const fn booking_page_content(id: BookingPageId) -> Place {
    Place { table: "booking_pages", column: "content", id: id.uuid() }
}

/// Where the sealed guest of a booking is stored.
pub const fn booking_guest(id: BookingId) -> Place {
    Place { table: "bookings", column: "guest", id: id.uuid() }
}

/// Where the sealed state before a write of a run is stored.
pub const fn run_state(id: RunWriteId) -> Place {
    Place { table: "run_writes", column: "state", id: id.uuid() }
}

/// Where the sealed part of an approval is stored.
pub const fn approval_content(id: ApprovalId) -> Place {
    Place { table: "approvals", column: "content", id: id.uuid() }
}

/// Where the sealed content of a letter is stored.
pub const fn letter_content(id: LetterId) -> Place {
    Place { table: "letters", column: "content", id: id.uuid() }
}

/// Where the sealed envelope of a letter is stored.
pub const fn letter_envelope(id: LetterId) -> Place {
    Place { table: "letter_records", column: "envelope", id: id.uuid() }
}

/// Where the sealed label of a connection is stored.
pub const fn connection_label(id: ConnectionId) -> Place {
    Place { table: "calendar_connections", column: "label", id: id.uuid() }
}

/// Where the sealed tokens of a connection are stored.
pub const fn connection_tokens(id: ConnectionId) -> Place {
    Place { table: "calendar_connections", column: "tokens", id: id.uuid() }
}

/// Where the sealed part of an external calendar is stored.
pub const fn external_content(id: ExternalCalendarId) -> Place {
    Place { table: "external_calendars", column: "content", id: id.uuid() }
}

/// Where the sealed reference of a copy is stored. `id` is its [`copy_id`].
pub const fn copy_content(id: Uuid) -> Place {
    Place { table: "publication_copies", column: "content", id }
}

/// The identifier of the copy of an event of `calendar`. It is a hash of all that the copy is of.
pub fn copy_id(calendar: CalendarId, key: &CopyKey) -> Uuid {
    let start = key.original_start.map(|start| start.as_micros().to_string());
    let of = format!("{calendar} {} {}", key.event, start.as_deref().unwrap_or("-"));
    half_of(&TokenHash::of(&of).0)
}

/// Where the sealed secret of a user's second factor is stored.
pub const fn second_factor_secret(id: UserId) -> Place {
    Place { table: "second_factors", column: "secret", id: id.uuid() }
}

/// Where the sealed body of an answer is stored. Its row has a scope instead of an identifier; half of that hash
/// distinguishes rows just as well.
pub fn answer_body(scope: &[u8; 32]) -> Place {
    Place { table: "idempotent_answers", column: "body", id: half_of(scope) }
}

/// Where a secret of an attempt at a provider is stored. Its row has a hash instead of an identifier; half of the
/// hash distinguishes rows just as well.
pub fn attempt_secret(table: &'static str, column: &'static str, key: TokenHash) -> Place {
    Place { table, column, id: half_of(&key.0) }
}

/// The first half of a hash, in place of an identifier.
fn half_of(hash: &[u8; 32]) -> Uuid {
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    Uuid::from_bytes(half)
}
