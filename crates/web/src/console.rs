//! The pages on which a human connects calendars. They hold nothing but their frame: their script asks the JSON API with the
//! cookie of the session, so that a page is the same for everybody.

use askama::Template;

/// A page of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Console {
    /// Where a connection link leads.
    Connect,
    /// What is connected, and where a provider sends the browser back.
    Connections,
}

#[derive(Template)]
#[template(path = "console.html")]
struct Shape {
    page: Console,
}

impl Console {
    /// Every page.
    pub const ALL: [Self; 2] = [Self::Connect, Self::Connections];

    /// Where the page lies.
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

    /// What the script shows.
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Connections => "connections",
        }
    }
}
