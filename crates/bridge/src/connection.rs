//! Connections: accounts of users at calendar providers.

use kalends_kernel::{ConnectionId, CorruptRow, Entropy, OrgId, UserId, Version};
use kalends_time::Timestamp;

use crate::{Access, CalendarProvider, ConnectionStatus, refresh::RefreshState};

/// The maximum number of characters of a label.
pub const LABEL_MAX: usize = 255;

/// What the user can do about a connection that cannot be read.
pub const UNREADABLE_CONNECTION: &str =
    "what is stored about this connection cannot be read; delete the connection, and connect the account again";

/// A user's account at a provider that is connected to an organization, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The identifier.
    pub id: ConnectionId,
    /// The organization.
    pub org: OrgId,
    /// The user who connected it.
    pub human: UserId,
    /// The provider of the account.
    pub provider: CalendarProvider,
    /// The user's label for it, 1-255 characters. Sealed at rest.
    pub label: Option<String>,
    /// What opens the account. It suits the provider. Sealed at rest.
    pub access: Access,
    /// Whether the user paused it.
    pub paused: bool,
    /// The results of refreshes. Only the end of a refresh and a new consent change them.
    pub refresh: RefreshState,
    /// When the next refresh is due, as it was read; `None` while it is not refreshed. Changes do not write it: they
    /// name the next time on their own.
    pub due_at: Option<Timestamp>,
    /// The row's version, which a refresh does not increment.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting refreshes.
    pub updated_at: Timestamp,
}

/// A connection in a list. One that cannot be read is still listed, so that its user sees it and can delete it.
pub type ListedConnection = Result<Connection, UnreadableConnection>;

/// What is known of a connection whose sealed columns cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableConnection {
    /// The identifier.
    pub id: ConnectionId,
    /// The provider of the account.
    pub provider: CalendarProvider,
    /// When the last successful or partial refresh ended.
    pub refreshed_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting refreshes.
    pub updated_at: Timestamp,
    /// What cannot be read, for the operator.
    pub cause: CorruptRow,
}

/// A change that a user makes to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionPatch {
    /// A new label; `None` removes it.
    Label(Option<String>),
    /// Whether it is paused.
    Paused(bool),
}

impl Connection {
    /// A new connection, to be refreshed at once.
    pub fn create(
        (org, human, provider): (OrgId, UserId, CalendarProvider),
        access: Access,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        Self {
            id: ConnectionId::new(now, entropy),
            org,
            human,
            provider,
            label: None,
            access,
            paused: false,
            refresh: RefreshState::default(),
            due_at: Some(now),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The connection after `patch`.
    #[must_use]
    pub fn patched(&self, patch: ConnectionPatch, now: Timestamp) -> Self {
        let mut changed = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        match patch {
            ConnectionPatch::Label(label) => changed.label = label,
            ConnectionPatch::Paused(paused) => changed.paused = paused,
        }
        changed
    }

    /// The connection after its user has given access again.
    #[must_use]
    pub fn reauthorized(&self, access: Access, now: Timestamp) -> Self {
        let (version, refresh) = (self.version.next(), self.refresh.reauthorized());
        Self { access, refresh, version, updated_at: now, ..self.clone() }
    }

    /// The status.
    pub const fn status(&self) -> ConnectionStatus {
        if self.paused { ConnectionStatus::Paused } else { self.refresh.status() }
    }

    /// Whether it is refreshed: neither paused nor lapsed.
    pub const fn is_refreshed(&self) -> bool {
        !self.paused && !self.refresh.lapsed
    }

    /// Whether to ask for a refresh at `now` because the access token is no longer valid. A refresh that is already due
    /// renews the token too. After a failure, the next refresh comes at its own time, so that changes of calendars do
    /// not shorten the wait.
    pub fn should_ask_for_token(&self, now: Timestamp) -> bool {
        self.is_refreshed() && self.refresh.failures == 0 && self.due_at.is_some_and(|due_at| due_at > now)
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::Drawing;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[rstest]
    #[case::in_time(Some(1), 0, false, true)]
    #[case::due(Some(0), 0, false, false)]
    #[case::overdue(Some(-1), 0, false, false)]
    #[case::failing(Some(1), 1, false, false)]
    #[case::paused(Some(1), 0, true, false)]
    #[case::not_refreshed(None, 0, false, false)]
    fn a_token_is_asked_for_unless_a_refresh_is_due_or_failing(
        #[case] due: Option<i64>,
        #[case] failures: u32,
        #[case] paused: bool,
        #[case] asks: bool,
    ) {
        let id = Uuid::from_u128(1);
        let connection = Connection {
            id: ConnectionId::from_uuid(id),
            org: OrgId::from_uuid(id),
            human: UserId::from_uuid(id),
            provider: CalendarProvider::Example,
            label: None,
            access: Access::Drawn(Drawing::default()),
            paused,
            refresh: RefreshState { failures, ..RefreshState::default() },
            due_at: due.map(|micros| NOW + SignedDuration::micros(micros)),
            version: Version::FIRST,
            created_at: NOW,
            updated_at: NOW,
        };
        assert_eq!(connection.should_ask_for_token(NOW), asks);
    }
}
