//! The bridge to human calendars.
//!
//! An agent makes a [`ConnectionLink`] and polls it. A user opens it, consents to Kalends reading their busy times at a
//! provider (a [`Connection`] and its [`ExternalCalendar`]s), and chooses the agents for which these count (a
//! [`Grant`]). From then on the connection is refreshed every few minutes. Only the starts and ends of busy times are
//! kept.
//!
//! A user may also allow that the events of a calendar are copied to a calendar of their account (a [`Destination`]).
//! [`wanted`], [`plan()`] and [`adopted`] decide what is written there.
//!
//! Everything is pure: the current time and the source of identifiers are arguments. Adapters talk to providers.
//!
//! ```
//! use kalends_bridge::{ConnectionLink, LinkStatus, NewLink, PublicationPolicy};
//! use kalends_kernel::Entropy;
//! use kalends_time::{SignedDuration, Timestamp};
//!
//! struct Counting(std::sync::atomic::AtomicU8);
//! impl Entropy for Counting {
//!     fn fill(&self, bytes: &mut [u8]) {
//!         bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
//!     }
//! }
//! let entropy = Counting(0.into());
//! let now: Timestamp = "2026-03-02T08:00:00Z".parse()?;
//! let org = "org_00000000000000000000000001".parse()?;
//! let agent = "agt_00000000000000000000000001".parse()?;
//! let calendar = "cal_00000000000000000000000001".parse()?;
//! let asked = NewLink { publishing: false, policy: PublicationPolicy::None };
//! let (link, secret) = ConnectionLink::create((org, Some(agent), calendar), asked, now, &entropy);
//! assert_eq!(secret.hash(), link.secret);
//!
//! let human = "usr_00000000000000000000000001".parse()?;
//! let opened = link.open(human, now)?;
//! assert_eq!(opened.status(now), LinkStatus::InProgress);
//! assert_eq!(opened.status(now + SignedDuration::hours(1)), LinkStatus::Expired);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod attempt;
mod change;
mod connection;
mod external;
mod fence;
mod grant;
mod human;
#[cfg(test)]
mod laws;
mod link;
pub mod ports;
mod provider;
mod publishing;
mod refresh;
mod status;

pub use access::{
    ADDRESSES_MAX, Access, AccessError, CaldavAccount, DRAWN_MAX, DRAWN_NAMES, Drawing, DrawnCalendar, EXAMPLES_MAX,
    PASSWORD_MAX, SERVER_URL_MAX, Tokens, USERNAME_MAX,
};
pub use attempt::{ConnectAttempt, Purpose, Scopes};
pub use change::{Change, RefreshClaim};
pub use connection::{
    Connection, ConnectionPatch, LABEL_MAX, ListedConnection, UNREADABLE_CONNECTION, UnreadableConnection,
};
pub use external::{
    CALENDARS_MAX, Confidential, ConfidentialError, ExternalCalendar, Listing, NAME_MAX, REFERENCE_MAX, Reading,
    TheirCalendar, listing,
};
pub use fence::Fence;
pub use grant::{AGENTS_MAX, ALL_CURRENT_MAX, Audience, Grant, NewGrant, SOURCES_MAX};
pub use human::{AvailabilityState, HumanBusy, HumanTime, STALE_AFTER, UNAVAILABLE_AFTER, Warning, WarningKind};
pub use kalends_calendars::PublicationPolicy;
pub use link::{
    ConnectionLink, IncompleteError, LINK_LASTS, LINKS_KEPT, LinkError, LinkSecret, LinkStatus, NewLink, SETUP_LASTS,
};
pub use provider::{CalendarProvider, NoCalendars};
pub use publishing::{
    Adopted, COPIES_MAX, COPY_DESCRIPTION_MAX, COPY_LOCATION_MAX, COPY_TITLE_MAX, Copy, CopyContent, CopyKey,
    CopyState, Destination, DestinationError, FoundCopy, PUBLICATIONS_PER_ORG, Plan, PublishClaim, PublishOutcome,
    PublishState, Recorded, STEPS_AT_ONCE, Step, adopted, external_sync, intents, is_published, next_publication, plan,
    throttled_until, wanted,
};
pub use refresh::{CLAIM_LASTS, Ended, REFRESHES_PER_ORG, RENEW_BEFORE, RefreshState, SPANS_MAX, next_due, window};
pub use status::ConnectionStatus;
