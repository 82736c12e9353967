//! The vocabulary that every Kalends crate shares.
//!
//! Nothing here does I/O, reads a clock or draws random numbers: [`Clock`] and [`Entropy`] are the ports that supply
//! them. Three kinds of time are kept apart on purpose: a [`Timestamp`] (a point on the UTC line), a
//! [`CivilDateTime`] (what a wall clock shows) and a [`Zone`] (the rules that connect the two).

mod address;
mod civil;
mod field;
mod foreign;
mod id;
mod metadata;
mod page;
mod ports;
mod remote_url;
mod revision;
mod span;
mod store;
mod text;
mod timestamp;
mod token;
mod zone;

pub use address::{NotPublic, not_public};
pub use civil::{CivilDate, CivilDateTime, CivilTime, MissingDay};
pub use field::{Code, FieldError, FieldErrors};
pub use foreign::Foreign;
pub use id::{
    AgentId, AuditId, BookingId, BookingPageId, CalendarId, ClaimId, ConnectionId, ConnectionLinkId, DataKeyId,
    DeliveryId, EventId, ExternalCalendarId, GrantId, HoldSetId, IdError, KeyId, LetterId, MessageId, OrgId,
    ProposalId, RequestId, ResponseId, RulesId, SessionId, SlotId, SubscriptionId, UserId, WebhookId, new_uuid,
};
pub use metadata::Metadata;
pub use page::{LIMIT_DEFAULT, LIMIT_MAX, Listed, PAGE_BYTES_MAX, Page};
pub use ports::{Clock, Entropy, random_bytes};
pub use remote_url::RemoteUrl;
pub use revision::{Revision, Version};
pub use span::{Span, SpanError};
pub use store::{CorruptRow, StoreError};
pub use text::{bounded_text, optional_text};
pub use timestamp::{ParseTimestampError, SignedDuration, Timestamp};
pub use token::{base64, base64url, from_base64, from_base64url};
pub use zone::{Zone, ZoneError};
