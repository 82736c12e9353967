//! The ports of links, connections and grants, which stores implement.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_kernel::{
    CalendarId, ConnectionId, ConnectionLinkId, EventId, ExternalCalendarId, GrantId, Listed, OrgId, Page, StoreError,
    UserId, Version,
};
use kalends_time::Timestamp;

use crate::{
    ConnectAttempt, Connection, ConnectionLink, Copy, Destination, ExternalCalendar, Grant, ListedConnection,
    PublishClaim, RefreshClaim,
};

/// Reads connection links.
#[async_trait]
pub trait ConnectionLinks: Send + Sync {
    /// The link with that id.
    async fn find_link(&self, org: OrgId, link: ConnectionLinkId) -> Result<Option<ConnectionLink>, StoreError>;

    /// The link whose secret has that hash, in any organization.
    async fn find_link_by_secret(&self, secret: TokenHash) -> Result<Option<ConnectionLink>, StoreError>;

    /// The link for that calendar that waits for a user, expired or not.
    async fn waiting_link(&self, org: OrgId, calendar: CalendarId) -> Result<Option<ConnectionLink>, StoreError>;

    /// Removes up to `limit` links whose `expires_at` is before `before`, whatever their status, and returns their
    /// number.
    async fn forget_links(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Keeps attempts to get a user's consent.
#[async_trait]
pub trait ConnectAttempts: Send + Sync {
    /// Keeps an attempt under its key.
    async fn keep_connect_attempt(&self, attempt: &ConnectAttempt) -> Result<(), StoreError>;

    /// Removes and returns the attempt with that key, expired or not. If several calls compete, only one gets it.
    async fn use_connect_attempt(&self, key: TokenHash) -> Result<Option<ConnectAttempt>, StoreError>;

    /// Removes up to `limit` attempts that have expired at `now`, and returns their number.
    async fn forget_connect_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// A calendar of an account, and whether a grant includes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCalendar {
    /// The calendar.
    pub calendar: ExternalCalendar,
    /// Whether a grant includes it.
    pub counts: bool,
}

/// Reads connections and their calendars.
#[async_trait]
pub trait Connections: Send + Sync {
    /// The connection with that id.
    async fn find_connection(&self, org: OrgId, connection: ConnectionId) -> Result<Option<Connection>, StoreError>;

    /// The organization's connections, or only those of one user, by creation and then identifier. Those whose sealed
    /// columns cannot be opened are among them.
    async fn list_connections(
        &self,
        org: OrgId,
        human: Option<UserId>,
        page: Page,
    ) -> Result<Listed<ListedConnection>, StoreError>;

    /// The organization's connections, or only those of one user, by identifier, with their versions. Nothing sealed is
    /// opened, so a connection that cannot be opened is among them, and can be deleted.
    async fn connection_versions(
        &self,
        org: OrgId,
        human: Option<UserId>,
    ) -> Result<Vec<(ConnectionId, Version)>, StoreError>;

    /// The calendars of a connection, by identifier.
    async fn external_calendars(&self, org: OrgId, connection: ConnectionId) -> Result<Vec<KnownCalendar>, StoreError>;

    /// The connection of each of these calendars. Unknown calendars are left out.
    async fn connections_of(
        &self,
        org: OrgId,
        calendars: &[ExternalCalendarId],
    ) -> Result<Vec<(ExternalCalendarId, ConnectionId)>, StoreError>;

    /// Claims up to `limit` connections that are due, longest due first. The claims last until `until`. At most
    /// [`REFRESHES_PER_ORG`](crate::REFRESHES_PER_ORG) of one organization are claimed at the same time, including
    /// earlier claims that have not expired.
    async fn claim_refreshes(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(RefreshClaim, Connection)>, StoreError>;
}

/// Reads grants.
#[async_trait]
pub trait Grants: Send + Sync {
    /// The grant with that id.
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError>;

    /// The organization's grants, or only those of one user, by creation and then identifier.
    async fn list_grants(&self, org: OrgId, human: Option<UserId>, page: Page) -> Result<Listed<Grant>, StoreError>;
}

/// A destination whose publication a worker has claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedDestination {
    /// The claim.
    pub claim: PublishClaim,
    /// The destination.
    pub destination: Destination,
    /// The connection, with its tokens; `None` if it cannot be read.
    pub connection: Option<Connection>,
    /// The target; `None` if it is gone from the account.
    pub target: Option<ExternalCalendar>,
}

/// The number of copies of a calendar, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyCounts {
    /// Those that are as we wrote them.
    pub published: u64,
    /// Those that a person changed or deleted.
    pub diverged: u64,
}

/// Reads destinations and their copies.
#[async_trait]
pub trait Destinations: Send + Sync {
    /// The destination of a calendar, also one that is ending.
    async fn find_destination(&self, org: OrgId, calendar: CalendarId) -> Result<Option<Destination>, StoreError>;

    /// The destinations of a connection that are not ending, by calendar, with the names of the calendars that are
    /// visible.
    async fn destinations_of(
        &self,
        org: OrgId,
        connection: ConnectionId,
    ) -> Result<Vec<(Destination, Option<String>)>, StoreError>;

    /// The number of copies of a calendar.
    async fn count_copies(&self, org: OrgId, calendar: CalendarId) -> Result<CopyCounts, StoreError>;

    /// All copies of a calendar, by key.
    async fn copies_of(&self, org: OrgId, calendar: CalendarId) -> Result<Vec<Copy>, StoreError>;

    /// The copies of one event or series on a calendar, by key.
    async fn copies_of_event(&self, org: OrgId, calendar: CalendarId, event: EventId) -> Result<Vec<Copy>, StoreError>;

    /// Claims up to `limit` destinations that are due, longest due first. The claims last until `until`. Destinations of
    /// paused and lapsed connections are not due. At most [`PUBLICATIONS_PER_ORG`](crate::PUBLICATIONS_PER_ORG) of one
    /// organization are claimed at the same time, including attempts in progress whose claims have not expired.
    async fn claim_publications(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedDestination>, StoreError>;
}
