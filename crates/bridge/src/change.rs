//! What a use case changes of the bridge: plain data.

use kalends_kernel::{ConnectionId, ExternalCalendarId, GrantId, OrgId, Timestamp, Version};

use crate::{Connection, ConnectionLink, ExternalCalendar, Grant, RefreshState, Tokens};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Makes a link. Stale where its calendar is out of sight, or another link waits for a human for it
    /// (`state = awaiting_human`, whatever the time).
    CreateLink(Box<ConnectionLink>),
    /// Writes a link over the row that had the version `seen`; otherwise the change-set is stale.
    UpdateLink {
        /// The link as it shall be.
        link: Box<ConnectionLink>,
        /// The version that the decision saw.
        seen: Version,
    },
    /// Makes a connection, due at its creation, and its calendars.
    CreateConnection {
        /// The connection.
        connection: Box<Connection>,
        /// Its calendars.
        calendars: Vec<ExternalCalendar>,
    },
    /// Writes label and pause of a connection over the row that had the version `seen`; otherwise the change-set is stale.
    /// What opens it and what came of refreshing stay what they are. One that is paused is due no more.
    UpdateConnection {
        /// The connection as it shall be.
        connection: Box<Connection>,
        /// The version that the decision saw.
        seen: Version,
        /// When it is due, where the change makes it due.
        due: Option<Timestamp>,
    },
    /// Writes tokens and refresh state of a connection that was consented to again over the row that had the version `seen`;
    /// otherwise the change-set is stale. A refresh under way loses its claim: it asks with what counts no more. Due at once,
    /// unless it is paused.
    ReauthorizeConnection {
        /// The connection as it shall be.
        connection: Box<Connection>,
        /// The version that the decision saw.
        seen: Version,
        /// When it was consented to.
        at: Timestamp,
    },
    /// Removes a connection that still has the version `seen`, with its calendars; they are gone from grants, and a grant
    /// without any is removed.
    DeleteConnection {
        /// The organization.
        org: OrgId,
        /// The connection.
        connection: ConnectionId,
        /// The version that the decision saw.
        seen: Version,
    },
    /// Makes a connection due at once. One that is being refreshed is refreshed once more. Stale where it is gone, paused or
    /// has lapsed.
    AskRefresh {
        /// The organization.
        org: OrgId,
        /// The connection.
        connection: ConnectionId,
        /// When it was asked for.
        at: Timestamp,
    },
    /// Writes what came of a refresh and gives the claim up. Stale where it is lost.
    EndRefresh {
        /// The claim.
        claim: RefreshClaim,
        /// The tokens, where they were renewed.
        tokens: Option<Tokens>,
        /// What came of it.
        state: RefreshState,
        /// The calendars, written over those that are known.
        calendars: Vec<ExternalCalendar>,
        /// Those that are gone: from grants too, and a grant without any is removed.
        gone: Vec<ExternalCalendarId>,
        /// When the next one is due, unless it was paused meanwhile; at once where somebody asked meanwhile.
        next: Option<Timestamp>,
        /// When it ended.
        at: Timestamp,
    },
    /// Makes a grant. Stale where one of its calendars is gone.
    CreateGrant(Box<Grant>),
    /// Removes a grant. Stale where it is gone.
    DeleteGrant {
        /// The organization.
        org: OrgId,
        /// The grant.
        grant: GrantId,
    },
}

/// The number of a claim: whoever commits must bring the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// A connection that this worker refreshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RefreshClaim {
    /// The organization.
    pub org: OrgId,
    /// The connection.
    pub connection: ConnectionId,
    /// The number of the claim.
    pub fence: Fence,
}
