//! The frame of the operator's pages: the way to the other pages, and when the session ends.

use kalends_time::Timestamp;

use crate::time::in_utc;

/// A part of the operator's pages, to which the frame leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorPlace {
    /// The state of the server.
    Overview,
    /// The organizations.
    Organizations,
    /// The waiting list.
    Waiting,
    /// The sending of mail.
    Mail,
    /// The keys that seal the stored fields.
    Keys,
    /// The settings.
    Configuration,
}

impl OperatorPlace {
    /// Every place, in the order of the frame.
    pub const ALL: &'static [Self] =
        &[Self::Overview, Self::Organizations, Self::Waiting, Self::Mail, Self::Keys, Self::Configuration];

    /// The path of its first page.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/console/operator",
            Self::Organizations => "/console/operator/organizations",
            Self::Waiting => "/console/operator/waiting",
            Self::Mail => "/console/operator/mail",
            Self::Keys => "/console/operator/keys",
            Self::Configuration => "/console/operator/configuration",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Server",
            Self::Organizations => "Organizations",
            Self::Waiting => "Waiting list",
            Self::Mail => "Mail",
            Self::Keys => "Keys",
            Self::Configuration => "Configuration",
        }
    }
}

/// The frame of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorShell {
    /// The place to which the page belongs.
    pub place: OperatorPlace,
    /// When the session ends.
    pub ends_at: Timestamp,
}

impl OperatorShell {
    pub(crate) fn is_at(&self, place: &OperatorPlace) -> bool {
        self.place == *place
    }

    pub(crate) fn ends(&self) -> String {
        in_utc(self.ends_at)
    }

    pub(crate) const fn places(&self) -> &'static [OperatorPlace] {
        OperatorPlace::ALL
    }
}
