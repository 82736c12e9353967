//! The writes of a use case to links, connections and grants, as plain data.

use kalends_kernel::{CalendarId, ConnectionId, ExternalCalendarId, GrantId, OrgId, Revision, Version};
use kalends_time::Timestamp;

use crate::{
    Access, Connection, ConnectionLink, Copy, CopyKey, Destination, ExternalCalendar, Fence, Grant, PublishClaim,
    PublishState, RefreshState,
};

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
    /// access and the refresh state in the row do not change. A paused connection is no longer due.
    UpdateConnection {
        /// The row to write.
        connection: Box<Connection>,
        /// The version that was read.
        seen: Version,
        /// When it is due, if the change makes it due.
        due: Option<Timestamp>,
    },
    /// New access and a new refresh state of a connection, after its user consented again, entered a password or drew
    /// other busy times. Stale if the row no longer has the version `seen`. A refresh in progress loses its claim, because
    /// it uses the old access. The connection is due at once, unless it is paused.
    ReauthorizeConnection {
        /// The row to write.
        connection: Box<Connection>,
        /// The version that was read.
        seen: Version,
        /// When the user did that.
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
        /// The access, if it was renewed.
        access: Option<Access>,
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
    /// A new or changed destination. The calendar's policy becomes that of the destination, and the calendar is due at
    /// once. An attempt in progress loses its claim. Stale if the calendar is not visible, if the target is not among
    /// the calendars of the connection, or if the row no longer has the version `seen`; `None` means that there is no
    /// row. The refresh state of the row does not change.
    PutDestination {
        /// The row to write.
        destination: Box<Destination>,
        /// The version that was read.
        seen: Option<Version>,
    },
    /// Ends a destination. The calendar has no policy any more. If `keep` is set, the copies are forgotten and the row
    /// is removed. Otherwise the row is `ending`, and the calendar is due at once, so that a worker deletes the copies
    /// first. An attempt in progress loses its claim. Stale if the row no longer has the version `seen`.
    EndDestination {
        /// The organization.
        org: OrgId,
        /// Our calendar.
        calendar: CalendarId,
        /// The version that was read.
        seen: Version,
        /// Whether the copies stay at the provider.
        keep: bool,
        /// When.
        at: Timestamp,
    },
    /// Copies that were written or found (replaced by key), and those that exist no more or are past. Stale if the
    /// claim was lost. Moves the end of the claim to `until`.
    RecordCopies {
        /// The claim.
        claim: PublishClaim,
        /// The copies as they are now.
        written: Vec<Copy>,
        /// The keys of copies to forget.
        forgotten: Vec<CopyKey>,
        /// When the claim ends from now on.
        until: Timestamp,
    },
    /// The end of an attempt, which also ends the claim. Stale if the claim was lost.
    EndPublishing {
        /// The claim.
        claim: PublishClaim,
        /// The new state.
        state: PublishState,
        /// The revision of the calendar when its events were read. If it has another one now, the calendar is due at
        /// once. `None` if the calendar was gone: then it is due at once if it was written to since the claim.
        revision: Option<Revision>,
        /// When the next attempt is due; `None` if the row is removed, because the destination was ending and all its
        /// copies are gone.
        next: Option<Timestamp>,
        /// If the provider wants a pause, its end: no attempt begins before it, whatever changes on the calendar. A change
        /// of the destination ends the pause.
        not_before: Option<Timestamp>,
    },
}

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
