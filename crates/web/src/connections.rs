//! The pages that list a user's connected calendars. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    providers::{consenting, takes},
    shell::{Done, Shell},
    time::{ago, ahead, in_utc},
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
    /// The random key of the form that connects the example calendar.
    pub once: &'a str,
    /// The providers that can be connected, each with the name in addresses and the name that people know.
    pub providers: &'a [(&'static str, &'static str)],
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

    fn consenting(&self) -> Vec<(&'static str, &'static str)> {
        consenting(self.providers)
    }

    fn takes_caldav(&self) -> bool {
        takes(self.providers, "caldav")
    }

    fn takes_example(&self) -> bool {
        takes(self.providers, "example")
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
    /// The provider, as the API names it.
    pub provider: &'static str,
    /// The provider's name, and the account's label.
    pub name: String,
    /// The status, as the API names it.
    pub status: &'static str,
    /// How current the busy times are, as the API names it.
    pub data: &'static str,
    /// When the busy times were last read.
    pub read_at: Option<Timestamp>,
    /// When they are read next; `None` if that is not planned.
    pub next_at: Option<Timestamp>,
    /// When the account was connected.
    pub connected_at: Timestamp,
    /// Why the last refresh failed, as a sentence, if it did.
    pub last_error: Option<String>,
    /// Whether events can be copied to calendars of the provider.
    pub takes_copies: bool,
    /// The present.
    pub now: Timestamp,
}

impl Account {
    fn status_text(&self) -> &'static str {
        match self.status {
            "active" => "Connected",
            "error" => "The last refresh failed; it will be retried",
            "reauthorization_required" if self.is_caldav() => "The server no longer accepts the password",
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

    fn is_caldav(&self) -> bool {
        self.provider == "caldav"
    }

    fn is_example(&self) -> bool {
        self.provider == "example"
    }

    /// Whether only the user can make it work again.
    fn is_lapsed(&self) -> bool {
        self.status == "reauthorization_required"
    }

    fn is_paused(&self) -> bool {
        self.status == "paused"
    }

    fn can_be_refreshed(&self) -> bool {
        !["paused", "reauthorization_required"].contains(&self.status)
    }

    fn read(&self) -> String {
        self.read_at.map(|at| format!("{} ({})", in_utc(at), ago(at, self.now))).unwrap_or_default()
    }

    /// When the busy times are read next, or what that waits for.
    fn next(&self) -> String {
        match self.next_at {
            _ if self.is_paused() => "Not until it is resumed".to_owned(),
            _ if self.is_lapsed() && self.is_caldav() => "After you enter the password again".to_owned(),
            _ if self.is_lapsed() && self.is_example() => "After you draw busy times again".to_owned(),
            _ if self.is_lapsed() => "After you renew your consent".to_owned(),
            Some(at) if at > self.now => format!("{} ({})", in_utc(at), ahead(at, self.now)),
            _ => "In a moment".to_owned(),
        }
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

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use rstest::rstest;

    use super::*;

    fn account(provider: &'static str, status: &'static str, next_after: Option<i64>) -> Account {
        let now: Timestamp = "2026-03-02T08:00:00Z".parse().unwrap();
        Account {
            id: "con_x".to_owned(),
            provider,
            name: "Work".to_owned(),
            status,
            data: "fresh",
            read_at: Some(now - SignedDuration::minutes(3)),
            next_at: next_after.map(|seconds| now + SignedDuration::seconds(seconds)),
            connected_at: now,
            last_error: None,
            takes_copies: false,
            now,
        }
    }

    #[rstest]
    #[case("google", "active", Some(120), "2 Mar 2026, 08:02 UTC (in 2 minutes)")]
    #[case("google", "active", Some(-1), "In a moment")]
    #[case("google", "error", None, "In a moment")]
    #[case("google", "paused", Some(120), "Not until it is resumed")]
    #[case("google", "reauthorization_required", None, "After you renew your consent")]
    #[case("caldav", "reauthorization_required", None, "After you enter the password again")]
    #[case("example", "reauthorization_required", None, "After you draw busy times again")]
    fn an_account_says_when_it_is_read_next(
        #[case] provider: &'static str,
        #[case] status: &'static str,
        #[case] next_after: Option<i64>,
        #[case] text: &str,
    ) {
        assert_eq!(account(provider, status, next_after).next(), text);
    }

    #[test]
    fn an_account_says_when_it_was_read() {
        assert_eq!(account("google", "active", None).read(), "2 Mar 2026, 07:57 UTC (3 minutes ago)");
    }

    #[rstest]
    #[case("caldav", "The server no longer accepts the password")]
    #[case("google", "The provider needs your consent again")]
    fn a_lapsed_account_says_what_is_wrong(#[case] provider: &'static str, #[case] text: &str) {
        assert_eq!(account(provider, "reauthorization_required", None).status_text(), text);
    }
}
