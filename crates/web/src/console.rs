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
    /// Where a human sets a password by mail.
    Reset,
}

#[derive(Template)]
#[template(path = "console.html")]
struct Shape {
    page: Console,
    providers: String,
}

impl Console {
    /// Every page.
    pub const ALL: [Self; 3] = [Self::Connect, Self::Connections, Self::Reset];

    /// Where the page lies.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Connect => "/console/connect",
            Self::Connections => "/console/connections",
            Self::Reset => "/console/reset",
        }
    }

    /// The page, which offers to sign in with the providers of these names beside a password.
    pub fn html(self, providers: &[&str]) -> String {
        crate::render(&Shape { page: self, providers: providers.join(" ") })
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Connect => "Connect your calendar",
            Self::Connections => "Connected calendars",
            Self::Reset => "Set your password",
        }
    }

    /// What the script shows.
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Connections => "connections",
            Self::Reset => "reset",
        }
    }
}
