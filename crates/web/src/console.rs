//! The pages on which a user connects calendars. Their HTML is only a frame that is the same for everyone: the script
//! fills it by calling the JSON API with the session's cookie.

use askama::Template;
use kalends_i18n::Translator;

/// A page of the console that a script fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// The page that a connection link leads to.
    Connect,
    /// The list of connections, to which a provider also redirects the browser.
    Connections,
}

#[derive(Template)]
#[template(path = "console.html")]
struct Shape {
    page: Console,
}

impl Shape {
    /// The console is in English.
    fn words(&self) -> &'static Translator {
        Translator::english()
    }
}

impl Console {
    /// Every page.
    pub const ALL: [Self; 2] = [Self::Connect, Self::Connections];

    /// The path of the page.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Connect => "/console/connect",
            Self::Connections => "/console/connections",
        }
    }

    /// The page.
    pub fn html(self) -> String {
        crate::render(&Shape { page: self })
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Connect => "Connect your calendar",
            Self::Connections => "Connected calendars",
        }
    }

    /// The name by which the script knows what to show.
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Connections => "connections",
        }
    }
}
