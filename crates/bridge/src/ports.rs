//! What stores offer for the bridge to human calendars.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_kernel::{
    CalendarId, ConnectionId, ConnectionLinkId, ExternalCalendarId, GrantId, Listed, OrgId, Page, StoreError, Timestamp,
};

use crate::{ConnectAttempt, Connection, ConnectionLink, ExternalCalendar, Grant, RefreshClaim};

/// Reads connection links.
#[async_trait]
pub trait ConnectionLinks: Send + Sync {
    /// One link.
    async fn find_link(&self, org: OrgId, link: ConnectionLinkId) -> Result<Option<ConnectionLink>, StoreError>;

    /// The link whose secret has that hash: a look-up that knows no organization yet.
    async fn find_link_by_secret(&self, secret: TokenHash) -> Result<Option<ConnectionLink>, StoreError>;

    /// The link that waits for a human to connect something for that calendar, expired or not.
    async fn waiting_link(&self, org: OrgId, calendar: CalendarId) -> Result<Option<ConnectionLink>, StoreError>;

    /// Removes up to `limit` links that ended, by themselves or not, before `before`, and says how many: those whose
    /// `expires_at` lies before it.
    async fn forget_links(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Keeps attempts to get a human's consent.
#[async_trait]
pub trait ConnectAttempts: Send + Sync {
    /// Keeps an attempt under its key.
    async fn keep_connect_attempt(&self, attempt: &ConnectAttempt) -> Result<(), StoreError>;

    /// The attempt that is kept under the key, expired or not, which is used up by this call: of several calls one gets it.
    async fn use_connect_attempt(&self, key: TokenHash) -> Result<Option<ConnectAttempt>, StoreError>;

    /// Removes up to `limit` attempts that have expired at `now`, and says how many.
    async fn forget_connect_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// A calendar of an account, and whether a grant makes it count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCalendar {
    /// The calendar.
    pub calendar: ExternalCalendar,
    /// Whether it counts for anybody.
    pub counts: bool,
}

/// Reads connections and their calendars.
#[async_trait]
pub trait Connections: Send + Sync {
    /// One connection.
    async fn find_connection(&self, org: OrgId, connection: ConnectionId) -> Result<Option<Connection>, StoreError>;

    /// The organization's connections, by creation, then identifier.
    async fn list_connections(&self, org: OrgId, page: Page) -> Result<Listed<Connection>, StoreError>;

    /// The calendars of a connection, by identifier.
    async fn external_calendars(&self, org: OrgId, connection: ConnectionId) -> Result<Vec<KnownCalendar>, StoreError>;

    /// Of which connections the calendars are; one that is not known is left out.
    async fn connections_of(
        &self,
        org: OrgId,
        calendars: &[ExternalCalendarId],
    ) -> Result<Vec<(ExternalCalendarId, ConnectionId)>, StoreError>;

    /// Claims up to `limit` connections that are due, those that have waited longest first, until `until`.
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
    /// One grant.
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError>;

    /// The organization's grants, by creation, then identifier.
    async fn list_grants(&self, org: OrgId, page: Page) -> Result<Listed<Grant>, StoreError>;
}
