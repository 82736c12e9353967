//! The providers of human calendars.

use kalends_accounts::oauth;

/// Where a human calendar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CalendarProvider {
    /// Google Calendar. The user consents at Google.
    Google,
    /// Microsoft 365 and Outlook.com. The user consents at Microsoft.
    Microsoft,
    /// A CalDAV server (RFC 4791): iCloud, Fastmail, Nextcloud and others. The user enters its address, a user name and
    /// an app password.
    Caldav,
    /// Calendars that a user draws in Kalends itself, to try the bridge without an account anywhere. Off by default.
    Example,
}

impl CalendarProvider {
    /// Every provider, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Google, Self::Microsoft, Self::Caldav, Self::Example];

    /// The name in the API and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Google => "google",
            Self::Microsoft => "microsoft",
            Self::Caldav => "caldav",
            Self::Example => "example",
        }
    }

    /// The name to show to users.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Google => "Google",
            Self::Microsoft => "Microsoft",
            Self::Caldav => "CalDAV",
            Self::Example => "Example calendar",
        }
    }

    /// The provider with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }

    /// The provider at which the user consents (OAuth); `None` if access is given in another way.
    pub const fn oauth(self) -> Option<oauth::Provider> {
        match self {
            Self::Google => Some(oauth::Provider::Google),
            Self::Microsoft => Some(oauth::Provider::Microsoft),
            Self::Caldav | Self::Example => None,
        }
    }

    /// The provider with that name, if the user consents there.
    pub fn with_consent(name: &str) -> Option<Self> {
        Self::from_name(name).filter(|provider| provider.oauth().is_some())
    }

    /// Whether events can be copied to its calendars.
    pub const fn takes_copies(self) -> bool {
        matches!(self, Self::Microsoft)
    }
}

impl TryFrom<oauth::Provider> for CalendarProvider {
    type Error = NoCalendars;

    fn try_from(provider: oauth::Provider) -> Result<Self, NoCalendars> {
        match provider {
            oauth::Provider::Google => Ok(Self::Google),
            oauth::Provider::Microsoft => Ok(Self::Microsoft),
            oauth::Provider::Oidc => Err(NoCalendars),
        }
    }
}

/// Users can only sign in with this provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the provider has no calendars")]
pub struct NoCalendars;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_found_by_its_name() {
        for provider in CalendarProvider::ALL {
            assert_eq!(CalendarProvider::from_name(provider.as_str()), Some(provider));
            let consents = provider.oauth().is_some();
            assert_eq!(CalendarProvider::with_consent(provider.as_str()).is_some(), consents);
            if let Some(oauth) = provider.oauth() {
                assert_eq!((oauth.as_str(), CalendarProvider::try_from(oauth)), (provider.as_str(), Ok(provider)));
            }
        }
        assert_eq!(CalendarProvider::from_name("oidc"), None);
        assert_eq!(CalendarProvider::try_from(oauth::Provider::Oidc), Err(NoCalendars));
    }
}
