#![doc = include_str!("../README.md")]

mod app_scheme;
mod email;
mod entropy;
mod field;
mod foreign;
mod human_source;
mod id;
mod locale;
mod metadata;
mod metadata_filter;
mod page;
mod request_time;
mod revision;
mod store;
mod text;
mod token;

/// What the interface takes and returns of other crates.
pub use kalends_time::{ParseTimestampError, Timestamp};
pub use serde_json;
pub use uuid;

pub use app_scheme::app_scheme;
pub use email::{EMAIL_MAX, Email};
pub use entropy::{Entropy, random_bytes};
pub use field::{Code, FieldError, FieldErrors};
pub use foreign::Foreign;
pub use human_source::HumanSource;
pub use id::{
    AgentId, ApprovalId, AuditId, BookingId, BookingPageId, CalendarId, ClaimId, ConnectionId, ConnectionLinkId,
    ConnectorClientId, DataKeyId, DeliveryId, EventId, ExternalCalendarId, GrantId, HoldSetId, IdError, KeyId,
    LetterId, MemberInvitationId, MessageId, OrgId, ProposalId, RequestId, ResponseId, RulesId, RunWriteId, SessionId,
    SlotId, SubscriptionId, UserId, WebhookId, new_uuid,
};
pub use locale::{Language, Locale, LocaleError};
pub use metadata::Metadata;
pub use metadata_filter::{MetadataFilter, MetadataTerm};
pub use page::{LIMIT_DEFAULT, LIMIT_MAX, Listed, PAGE_BYTES_MAX, Page};
pub use request_time::{EARLIEST_TIME, RequestTimeError, request_time};
pub use revision::{Revision, Version};
pub use store::{CorruptRow, StoreError};
pub use text::{bounded_text, is_invisible, optional_text, visible};
pub use token::{base64, base64url, from_base64, from_base64url};
