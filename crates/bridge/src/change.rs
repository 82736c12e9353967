//! The writes of a use case to links, connections and grants, as plain data.

use kalends_kernel::{ConnectionId, ExternalCalendarId, GrantId, OrgId, Version};
use kalends_time::Timestamp;

use crate::{Connection, ConnectionLink, ExternalCalendar, Grant, RefreshState, Tokens};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new link. Stale if its calendar is not visible, or if another link for the calendar has the stored state
    /// `awaiting_human`, expired or not.
    CreateLink(Box<ConnectionLink>),
    /// The changed link. Stale if the row no longer has the version `seen`.
    UpdateLink {
        /// The row to write.
        link: Box<ConnectionLink>,
        /// The version that was read.
        seen: Version,
    },
    /// A new connection, due for a refresh at its creation, and its calendars.
    CreateConnection {
        /// The connection.
        connection: Box<Connection>,
        /// Its calendars.
        calendars: Vec<ExternalCalendar>,
    },
    /// A connection with a new label, or paused or resumed. Stale if the row no longer has the version `seen`. The
    /// tokens and the refresh state in the row do not change. A paused connection is no longer due.
    UpdateConnection {
        /// The row to write.
        connection: Box<Connection>,
        /// The version that was read.
        seen: Version,
        /// When it is due, if the change makes it due.
        due: Option<Timestamp>,
    },
    /// New tokens and a new refresh state of a connection, after its user consented again. Stale if the row no longer
    /// has the version `seen`. A refresh in progress loses its claim, because it uses the old tokens. The connection is
    /// due at once, unless it is paused.
    ReauthorizeConnection {
        /// The row to write.
        connection: Box<Connection>,
        /// The version that was read.
        seen: Version,
        /// When the user consented.
        at: Timestamp,
    },
    /// Removes a connection and its calendars. The calendars are removed from grants too, and a grant without calendars
    /// is removed. Stale if the row no longer has the version `seen`.
    DeleteConnection {
        /// The organization.
        org: OrgId,
        /// The connection.
        connection: ConnectionId,
        /// The version that was read.
        seen: Version,
    },
    /// Makes a connection due at once. If it is being refreshed, it is refreshed once more. Stale if it is gone, paused
    /// or lapsed.
    AskRefresh {
        /// The organization.
        org: OrgId,
        /// The connection.
        connection: ConnectionId,
        /// When the refresh was requested.
        at: Timestamp,
    },
    /// The result of a refresh, which also ends the claim. Stale if the claim was lost.
    EndRefresh {
        /// The claim.
        claim: RefreshClaim,
        /// The tokens, if they were renewed.
        tokens: Option<Tokens>,
        /// The new refresh state.
        state: RefreshState,
        /// The present calendars, which replace the known ones.
        calendars: Vec<ExternalCalendar>,
        /// The calendars that are gone. They are removed from grants too, and a grant without calendars is removed.
        gone: Vec<ExternalCalendarId>,
        /// When the next refresh is due. If the connection was paused during the refresh, it is not due; if another
        /// refresh was requested, it is due at once.
        next: Option<Timestamp>,
        /// When it ended.
        at: Timestamp,
    },
    /// A new grant. Stale if one of its calendars is gone.
    CreateGrant(Box<Grant>),
    /// Removes a grant. Stale if it is gone.
    DeleteGrant {
        /// The organization.
        org: OrgId,
        /// The grant.
        grant: GrantId,
    },
}

/// A claim number. A commit must have the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// The claim of a worker on the refresh of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RefreshClaim {
    /// The organization.
    pub org: OrgId,
    /// The connection.
    pub connection: ConnectionId,
    /// The claim number.
    pub fence: Fence,
}
