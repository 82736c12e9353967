//! The addresses of resources.

use std::fmt;

use kalends_kernel::{AgentId, CalendarId};
use kalends_time::CivilDate;

/// What every address begins with.
const SCHEME: &str = "kalends://";
const CALENDARS: &str = "calendars";
const AGENTS: &str = "agents";
const TODAY: &str = "today";
const WEEK: &str = "week";
const CONTEXT: &str = "context";

/// The media type of every resource.
pub(super) const JSON: &str = "application/json";

/// The days after the first one of a week.
const DAYS_AFTER_MONDAY: i64 = 6;

/// What a resource shows. It is written as the resource's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// The calendars that the key reaches.
    Calendars,
    /// What takes place on a calendar.
    Agenda(CalendarId, Days),
    /// What an agent does now and next.
    Context(AgentId),
}

/// The days of an agenda.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Days {
    Today,
    /// From Monday to Sunday.
    Week,
}

impl Address {
    /// What the resource with this address shows; `None` if there is no such address.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let parts: Vec<&str> = uri.strip_prefix(SCHEME)?.split('/').collect();
        match parts.as_slice() {
            [CALENDARS] => Some(Self::Calendars),
            [CALENDARS, id, TODAY] => Some(Self::Agenda(id.parse().ok()?, Days::Today)),
            [CALENDARS, id, WEEK] => Some(Self::Agenda(id.parse().ok()?, Days::Week)),
            [AGENTS, id, CONTEXT] => Some(Self::Context(id.parse().ok()?)),
            _ => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calendars => write!(f, "{SCHEME}{CALENDARS}"),
            Self::Agenda(calendar, Days::Today) => write!(f, "{SCHEME}{CALENDARS}/{calendar}/{TODAY}"),
            Self::Agenda(calendar, Days::Week) => write!(f, "{SCHEME}{CALENDARS}/{calendar}/{WEEK}"),
            Self::Context(agent) => write!(f, "{SCHEME}{AGENTS}/{agent}/{CONTEXT}"),
        }
    }
}

impl Days {
    /// The first and the last of the days, if `today` is one of them.
    pub(super) fn around(self, today: CivilDate) -> (CivilDate, CivilDate) {
        match self {
            Self::Today => (today, today),
            Self::Week => {
                let monday = today.plus_days(-i64::from(today.weekday()));
                (monday, monday.plus_days(DAYS_AFTER_MONDAY))
            }
        }
    }
}

/// A kind of resources, one for each calendar or agent.
pub(super) struct Template {
    /// The address (RFC 6570).
    pub uri: &'static str,
    pub name: &'static str,
    pub description: &'static str,
}

/// All kinds of resources, except for the list of calendars.
pub(super) static TEMPLATES: [Template; 3] = [
    Template {
        uri: "kalends://calendars/{calendar_id}/today",
        name: "Agenda of today",
        description: "What takes place on a calendar today, in its time zone: events, occurrences of series, holds, \
            and what began earlier and still goes on.",
    },
    Template {
        uri: "kalends://calendars/{calendar_id}/week",
        name: "Agenda of this week",
        description: "What takes place on a calendar from Monday to Sunday of this week, in its time zone.",
    },
    Template {
        uri: "kalends://agents/{agent_id}/context",
        name: "Context of an agent",
        description: "What an agent does now and next: the current and the next event on each of its calendars, what \
            starts within 24 hours, and what ended last.",
    },
];

/// The addresses that exist, for an error.
pub(super) fn known() -> String {
    let templates: Vec<&str> = TEMPLATES.iter().map(|template| template.uri).collect();
    format!("{}, {}", Address::Calendars, templates.join(", "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const CALENDAR: &str = "cal_00000000000000000000000001";
    const AGENT: &str = "agt_00000000000000000000000001";

    #[rstest]
    #[case::calendars("kalends://calendars", Address::Calendars)]
    #[case::today(
        "kalends://calendars/cal_00000000000000000000000001/today",
        Address::Agenda(CALENDAR.parse().unwrap(), Days::Today)
    )]
    #[case::week(
        "kalends://calendars/cal_00000000000000000000000001/week",
        Address::Agenda(CALENDAR.parse().unwrap(), Days::Week)
    )]
    #[case::context(
        "kalends://agents/agt_00000000000000000000000001/context",
        Address::Context(AGENT.parse().unwrap())
    )]
    fn an_address_is_written_as_it_is_read(#[case] uri: &str, #[case] address: Address) {
        assert_eq!(Address::parse(uri), Some(address));
        assert_eq!(address.to_string(), uri);
    }

    #[rstest]
    #[case::empty("")]
    #[case::another_scheme("https://calendars")]
    #[case::only_the_scheme("kalends://")]
    #[case::a_slash_at_the_end("kalends://calendars/")]
    #[case::no_days("kalends://calendars/cal_00000000000000000000000001")]
    #[case::other_days("kalends://calendars/cal_00000000000000000000000001/month")]
    #[case::more("kalends://calendars/cal_00000000000000000000000001/today/x")]
    #[case::no_identifier("kalends://calendars/x/today")]
    #[case::an_agent_s_identifier("kalends://calendars/agt_00000000000000000000000001/today")]
    #[case::a_template("kalends://calendars/{calendar_id}/today")]
    #[case::escaped("kalends://calendars/cal%5F00000000000000000000000001/today")]
    #[case::agents("kalends://agents")]
    fn other_addresses_do_not_exist(#[case] uri: &str) {
        assert_eq!(Address::parse(uri), None);
    }

    #[test]
    fn the_templates_are_the_addresses() {
        for template in &TEMPLATES {
            let uri = template.uri.replace("{calendar_id}", CALENDAR).replace("{agent_id}", AGENT);
            assert!(Address::parse(&uri).is_some(), "{uri}");
            assert!(known().contains(template.uri));
        }
    }

    // 2026-03-05 is a Thursday.
    #[rstest]
    #[case::today(Days::Today, "2026-03-05", "2026-03-05", "2026-03-05")]
    #[case::within_a_week(Days::Week, "2026-03-05", "2026-03-02", "2026-03-08")]
    #[case::on_monday(Days::Week, "2026-03-02", "2026-03-02", "2026-03-08")]
    #[case::on_sunday(Days::Week, "2026-03-08", "2026-03-02", "2026-03-08")]
    fn a_week_begins_on_monday(#[case] days: Days, #[case] today: &str, #[case] first: &str, #[case] last: &str) {
        assert_eq!(days.around(today.parse().unwrap()), (first.parse().unwrap(), last.parse().unwrap()));
    }
}
