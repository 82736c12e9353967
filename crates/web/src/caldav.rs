//! The page on which a user connects an account at a CalDAV server. It is in English, like the console, and works
//! without scripts.

use askama::Template;

use crate::{english::in_english, field::Field, link::with, problems::Problems, signed_in::SignedIn};

/// The fields of the form.
pub const CALDAV_FIELDS: [&str; 3] = ["url", "username", "password"];
/// The path of the form.
const FORM: &str = "/console/connections/caldav";
/// The maximum length of the address, in characters.
const URL: usize = 2_048;
/// The maximum length of the user name, in characters.
const USERNAME: usize = 255;

/// A server that many people use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaldavPreset {
    /// The server of Apple.
    Icloud,
    /// The server of Fastmail.
    Fastmail,
    /// A server of one's own.
    Nextcloud,
    /// Any other server.
    Other,
}

impl CaldavPreset {
    /// Every preset, in the order of the page.
    const ALL: [Self; 4] = [Self::Icloud, Self::Fastmail, Self::Nextcloud, Self::Other];

    /// The preset with that name in the address of the page; [`Self::Other`] for any other name.
    pub fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|preset| preset.as_str() == name).unwrap_or(Self::Other)
    }

    /// The preset to which the address of a server belongs.
    pub fn of(url: &str) -> Self {
        let host = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', ':', '?', '#']).next();
        let host = host.unwrap_or_default().to_ascii_lowercase();
        let is_at = |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        if is_at("icloud.com") {
            Self::Icloud
        } else if is_at("fastmail.com") {
            Self::Fastmail
        } else if url.contains("/remote.php/") {
            Self::Nextcloud
        } else {
            Self::Other
        }
    }

    /// The name in the address of the page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Icloud => "icloud",
            Self::Fastmail => "fastmail",
            Self::Nextcloud => "nextcloud",
            Self::Other => "other",
        }
    }

    /// The address of the server, with which the form begins. A part of it may have to be replaced.
    pub const fn url(self) -> &'static str {
        match self {
            Self::Icloud => "https://caldav.icloud.com/",
            Self::Fastmail => "https://caldav.fastmail.com/",
            Self::Nextcloud => "https://YOUR-SERVER/remote.php/dav",
            Self::Other => "",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Icloud => "iCloud",
            Self::Fastmail => "Fastmail",
            Self::Nextcloud => "Nextcloud",
            Self::Other => "Other",
        }
    }

    const fn about_url(self) -> Option<&'static str> {
        match self {
            Self::Icloud | Self::Fastmail => None,
            Self::Nextcloud => Some("Put the name of your server in place of YOUR-SERVER."),
            Self::Other => Some("Your provider calls it the CalDAV address or CalDAV server, such as dav.example.com."),
        }
    }

    const fn about_username(self) -> Option<&'static str> {
        match self {
            Self::Icloud => Some("The email address of your Apple Account."),
            Self::Fastmail => Some("Your whole Fastmail address."),
            Self::Nextcloud => Some("The name with which you sign in to Nextcloud."),
            Self::Other => None,
        }
    }

    const fn about_password(self) -> &'static str {
        match self {
            Self::Icloud => {
                "An app-specific password, not that of your Apple Account. Make one at account.apple.com, under \
                 Sign-In and Security."
            }
            Self::Fastmail => {
                "An app password with access to calendars. Make one in Fastmail, under Settings, Privacy & Security."
            }
            Self::Nextcloud => "An app password. Make one in Nextcloud, under Settings, Security.",
            Self::Other => "An app password, if your provider has them. You can then withdraw it there at any time.",
        }
    }
}

/// What was typed into the form. A password is not shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaldavGiven<'a> {
    /// The address of the server.
    pub url: &'a str,
    /// The user name.
    pub username: &'a str,
}

/// The form that connects an account, or takes another password for one that is connected.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "caldav.html")]
pub struct CaldavForm<'a> {
    /// The user and the organization.
    pub who: SignedIn<'a>,
    /// The identifier of the connection link; empty if no link asks for the account.
    pub link: &'a str,
    /// The identifier of the connection that needs a password; empty for a new one.
    pub connection: &'a str,
    /// The server for which the form gives help.
    pub preset: CaldavPreset,
    /// What was typed.
    pub given: CaldavGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl<'a> CaldavForm<'a> {
    const fn is_new(&self) -> bool {
        self.connection.is_empty()
    }

    const fn title(&self) -> &'static str {
        if self.is_new() { "Connect a CalDAV calendar" } else { "Enter the password again" }
    }

    const fn button(&self) -> &'static str {
        if self.is_new() { "Connect" } else { "Save the password" }
    }

    /// The page that leads here, and the text of the link to it.
    const fn back(&self) -> (&'static str, &'static str) {
        if self.link.is_empty() {
            ("/console/connections", "Connected calendars")
        } else {
            ("/console/connect/offer", "Back to the link")
        }
    }

    /// The presets to choose from: the address of the form with each of them, its title, and whether it is chosen.
    fn presets(&self) -> Vec<(String, &'static str, bool)> {
        let preset = |preset: CaldavPreset| {
            let name = preset.as_str();
            let href = if self.link.is_empty() {
                with(FORM, &[("preset", &name)])
            } else {
                with(FORM, &[("preset", &name), ("link", &self.link)])
            };
            (href, preset.title(), preset == self.preset)
        };
        CaldavPreset::ALL.into_iter().map(preset).collect()
    }

    fn url(&self) -> Field<'a> {
        let field = Field::text("url", "Address of the server", self.given.url, URL);
        // People leave out `https://`, which a field for a URL would not accept.
        Field { hint: self.preset.about_url(), ..field }.checked(self.problems)
    }

    fn username(&self) -> Field<'a> {
        let field = Field::text("username", "User name", self.given.username, USERNAME);
        Field { hint: self.preset.about_username(), ..field }.checked(self.problems)
    }

    fn password(&self) -> Field<'a> {
        let field = Field::text("password", "Password", "", 0);
        // A browser would cut a long password silently. It must not fill in the password of the console, which would be
        // sent to the server.
        let (kind, autocomplete, hint) = ("password", "new-password", Some(self.preset.about_password()));
        Field { kind, max: None, autocomplete, hint, ..field }.checked(self.problems)
    }
}

in_english!(CaldavForm<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::NO_PROBLEMS;

    fn form<'a>(link: &'a str, connection: &'a str) -> CaldavForm<'a> {
        CaldavForm {
            who: SignedIn { org: "org_x", organization: "Acme", email: "ada@example.com" },
            link,
            connection,
            preset: CaldavPreset::Icloud,
            given: CaldavGiven { url: "https://caldav.icloud.com/", username: "ada" },
            problems: &NO_PROBLEMS,
        }
    }

    #[rstest]
    #[case("https://caldav.icloud.com/", CaldavPreset::Icloud)]
    #[case("https://P12-CALDAV.ICLOUD.COM:443/1/", CaldavPreset::Icloud)]
    #[case("https://icloud.com.example/", CaldavPreset::Other)]
    #[case("https://noticloud.com/", CaldavPreset::Other)]
    #[case("https://caldav.fastmail.com", CaldavPreset::Fastmail)]
    #[case("https://cloud.example/remote.php/dav", CaldavPreset::Nextcloud)]
    #[case("", CaldavPreset::Other)]
    fn a_server_has_its_help(#[case] url: &str, #[case] preset: CaldavPreset) {
        assert_eq!(CaldavPreset::of(url), preset);
    }

    #[test]
    fn every_preset_has_a_name_and_belongs_to_its_address() {
        for preset in CaldavPreset::ALL {
            assert_eq!(CaldavPreset::named(preset.as_str()), preset);
            assert_eq!(CaldavPreset::of(preset.url()), preset);
        }
        assert_eq!(CaldavPreset::named("<script>"), CaldavPreset::Other);
    }

    #[test]
    fn presets_keep_the_link() {
        let (first, ..) = form("cln_x", "").presets().swap_remove(0);
        assert_eq!(first, "/console/connections/caldav?preset=icloud&link=cln_x");
        let (first, ..) = form("", "").presets().swap_remove(0);
        assert_eq!(first, "/console/connections/caldav?preset=icloud");
    }

    #[test]
    fn a_browser_fills_in_no_password() {
        let html = form("", "").html();
        let field = html.split("<input ").find(|field| field.contains("type=\"password\"")).unwrap();
        assert!(field.contains("autocomplete=\"new-password\"") && field.contains("value=\"\""), "{field}");
    }

    #[test]
    fn a_connection_needs_only_its_password() {
        let (first, again) = (form("", "").html(), form("", "con_x").html());
        assert!(first.contains("<h1>Connect a CalDAV calendar</h1>") && first.contains("?preset=fastmail"));
        assert!(again.contains("<h1>Enter the password again</h1>") && !again.contains("?preset="));
        assert!(again.contains("name=\"connection\" value=\"con_x\"") && !first.contains("con_x"));
    }
}
