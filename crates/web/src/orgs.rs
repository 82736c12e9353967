//! The page that lists the organizations of a user. It is in English, like the console, and works without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{english::in_english, members::role_text, shell::Shell, time::in_utc};

/// An organization of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnOrganization {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// The user's role there, as the API names it.
    pub role: &'static str,
    /// When the user became a member.
    pub since: Timestamp,
    /// Whether the session is switched to it.
    pub active: bool,
}

impl OwnOrganization {
    fn role_text(&self) -> &str {
        role_text(self.role)
    }

    fn joined(&self) -> String {
        in_utc(self.since)
    }
}

/// The organizations of the user.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "orgs.html")]
pub struct OwnOrganizations<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The organizations, in the order in which the user became a member.
    pub orgs: &'a [OwnOrganization],
}

in_english!(OwnOrganizations<'_>);
