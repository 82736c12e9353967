//! The pages that list a user's connected calendars. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    shell::{Done, Shell},
    time::in_utc,
};

/// The list of connected accounts, and of the agents that they count for.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "connections.html")]
pub struct Connections<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the browser keeps the token of a link that was opened before.
    pub has_link: bool,
    /// The accounts, the oldest first.
    pub accounts: &'a [Account],
    /// The number of accounts, also of those that the page does not show.
    pub accounts_total: u64,
    /// The grants, the oldest first.
    pub grants: &'a [Grant],
    /// The number of grants, also of those that the page does not show.
    pub grants_total: u64,
}

impl Connections<'_> {
    fn hides_accounts(&self) -> bool {
        more(self.accounts.len(), self.accounts_total)
    }

    fn hides_grants(&self) -> bool {
        more(self.grants.len(), self.grants_total)
    }
}

/// Whether there are more entries than the page shows.
fn more(shown: usize, total: u64) -> bool {
    u64::try_from(shown).is_ok_and(|shown| shown < total)
}

/// A connected account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The identifier of the connection.
    pub id: String,
    /// The provider's name, and the account's label.
    pub name: String,
    /// The status, as the API names it.
    pub status: &'static str,
    /// How current the busy times are, as the API names it.
    pub data: &'static str,
    /// When the busy times were last read.
    pub read_at: Option<Timestamp>,
    /// When the account was connected.
    pub connected_at: Timestamp,
    /// Why the last refresh failed, if it did.
    pub last_error: Option<String>,
    /// Whether events can be copied to calendars of the provider.
    pub takes_copies: bool,
}

impl Account {
    fn status_text(&self) -> &'static str {
        match self.status {
            "active" => "Connected",
            "error" => "The last refresh failed; it will be retried",
            "reauthorization_required" => "The provider needs your consent again",
            "paused" => "Paused: its calendars do not count",
            other => other,
        }
    }

    fn data_text(&self) -> &'static str {
        match self.data {
            "unread" => "not read yet",
            "fresh" => "up to date",
            "stale" => "more than an hour old",
            "unavailable" => "more than a day old",
            other => other,
        }
    }

    fn is_paused(&self) -> bool {
        self.status == "paused"
    }

    fn can_be_refreshed(&self) -> bool {
        !["paused", "reauthorization_required"].contains(&self.status)
    }

    fn read(&self) -> String {
        self.read_at.map(in_utc).unwrap_or_default()
    }

    fn connected(&self) -> String {
        in_utc(self.connected_at)
    }

    fn error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }
}

/// A grant: agents for which calendars count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The identifier.
    pub id: String,
    /// The names of the calendars.
    pub calendars: String,
    /// The audience, as the API names it.
    pub audience: &'static str,
    /// The number of agents; zero if it counts for all.
    pub agents: usize,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Grant {
    fn whom(&self) -> String {
        if self.audience == "all" {
            return "All agents, including future ones".to_owned();
        }
        let then = if self.audience == "all_current" { ", all at that time" } else { "" };
        match self.agents {
            1 => format!("1 agent{then}"),
            agents => format!("{agents} agents{then}"),
        }
    }

    fn since(&self) -> String {
        in_utc(self.created_at)
    }
}

/// The question whether to disconnect an account.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "disconnect.html")]
pub struct Disconnect<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The identifier of the connection.
    pub id: &'a str,
    /// The provider's name, and the account's label.
    pub name: &'a str,
}

in_english!(Connections<'_>, Disconnect<'_>);
