//! The pages of the console to which signing in or up leads.

/// A page of the console to which signing in or up leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Next {
    /// The first page.
    #[default]
    Home,
    /// The page of a connection link.
    Connect,
    /// The connected calendars.
    Connections,
    /// The page on which a user joins an organization.
    Join,
    /// The plans.
    Plans,
}

impl Next {
    /// Every page.
    pub const ALL: [Self; 5] = [Self::Home, Self::Connect, Self::Connections, Self::Join, Self::Plans];

    /// The path.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Home => "/console",
            Self::Connect => "/console/connect/offer",
            Self::Connections => "/console/connections",
            Self::Join => "/console/join",
            Self::Plans => "/console/plans",
        }
    }

    /// The page with that path; the first page if there is none. So an address cannot lead the user elsewhere.
    pub fn of(path: &str) -> Self {
        // A provider returns the browser to this page, which leads to the one with the offer.
        if path == "/console/connect" {
            return Self::Connect;
        }
        Self::ALL.into_iter().find(|next| next.path() == path).unwrap_or_default()
    }

    /// The address of the sign-in or sign-up at `path` that leads here.
    pub(crate) fn after(self, path: &str) -> String {
        match self {
            Self::Home => path.to_owned(),
            next => format!("{path}?next={}", next.path()),
        }
    }

    /// The name by which a provider returns the browser to the page, if it does.
    pub(crate) const fn return_to(self) -> Option<&'static str> {
        match self {
            Self::Connect => Some("connect"),
            Self::Connections => Some("connections"),
            Self::Join => Some("join"),
            Self::Home | Self::Plans => None,
        }
    }
}
