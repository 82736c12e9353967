//! What can be said about a connection in one word.

/// The status of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConnectionStatus {
    /// It is refreshed.
    Active,
    /// The last refresh failed or was incomplete. It will be tried again.
    Error,
    /// The provider no longer accepts the access. The user must consent again, or enter the password again.
    ReauthorizationRequired,
    /// The user paused it. It is not refreshed, and its calendars do not count.
    Paused,
}

impl ConnectionStatus {
    /// Every status.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Error, Self::ReauthorizationRequired, Self::Paused];

    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Error => "error",
            Self::ReauthorizationRequired => "reauthorization_required",
            Self::Paused => "paused",
        }
    }
}
