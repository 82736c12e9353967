//! The pages on which a user connects calendars, sets a password or joins an organization. Their HTML is only a frame that is the same for
//! everyone: the script fills it by calling the JSON API with the session's cookie.

use askama::Template;
use kalends_i18n::Translator;

/// A page of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// The page that a connection link leads to.
    Connect,
    /// The list of connections, to which a provider also redirects the browser.
    Connections,
    /// The page on which a user sets a password with the token from an email.
    Reset,
    /// The page on which a user accepts an invitation with the token from an email.
    Invitations,
}

#[derive(Template)]
#[template(path = "console.html")]
struct Shape {
    page: Console,
    providers: String,
}

impl Shape {
    /// The console is in English.
    fn words(&self) -> &'static Translator {
        Translator::english()
    }
}

impl Console {
    /// Every page.
    pub const ALL: [Self; 4] = [Self::Connect, Self::Connections, Self::Reset, Self::Invitations];

    /// The path of the page.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Connect => "/console/connect",
            Self::Connections => "/console/connections",
            Self::Reset => "/console/reset",
            Self::Invitations => "/console/invitations",
        }
    }

    /// The page. It offers to sign in with these providers, or with a password.
    pub fn html(self, providers: &[&str]) -> String {
        crate::render(&Shape { page: self, providers: providers.join(" ") })
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Connect => "Connect your calendar",
            Self::Connections => "Connected calendars",
            Self::Reset => "Set your password",
            Self::Invitations => "Join an organization",
        }
    }

    /// The name by which the script knows what to show.
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Connections => "connections",
            Self::Reset => "reset",
            Self::Invitations => "invitations",
        }
    }
}
