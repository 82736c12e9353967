//! The attendees of an event, between the lines of a form and the API.

use kalends_calendars::{Attendee, AttendeeRole, AttendeeStatus};
use kalends_kernel::Email;
use kalends_web::{AttendeeLine, AttendeeShown};
use kalends_wire as wire;

/// An attendee, as the pages show them.
pub(super) fn shown(attendee: &Attendee) -> AttendeeShown {
    AttendeeShown {
        name: attendee.name.clone(),
        email: attendee.email.as_str().to_owned(),
        is_optional: attendee.role == AttendeeRole::Optional,
        agent: attendee.agent.map(|agent| agent.to_string()),
        reply: match attendee.status {
            AttendeeStatus::NeedsAction => "has not replied",
            AttendeeStatus::Accepted => "accepted",
            AttendeeStatus::Tentative => "may come",
            AttendeeStatus::Declined => "declined",
        },
    }
}

/// The attendees as the lines of a form.
pub(super) fn lines_of(attendees: &[AttendeeShown]) -> String {
    let lines: Vec<String> = attendees.iter().map(|attendee| attendee.line().to_string()).collect();
    lines.join("\n")
}

/// The attendees of the lines that were typed. `known` are those of the event: they are the same people if they have
/// the same address, and keep their agents, which the lines do not show.
pub(super) fn attendees(typed: &str, known: &[AttendeeShown]) -> Vec<wire::NewAttendee> {
    AttendeeLine::read_all(typed).map(|line| attendee(line, known)).collect()
}

fn attendee(line: AttendeeLine<'_>, known: &[AttendeeShown]) -> wire::NewAttendee {
    let address = Email::parse("email", line.email).ok();
    let known = known.iter().find(|known| address.as_ref().is_some_and(|address| address.as_str() == known.email));
    // A line that was left as it is keeps the blanks around the name, which a line does not show.
    let is_left = known.is_some_and(|known| {
        let shown = known.line().to_string();
        AttendeeLine::read_all(&shown).next() == Some(line)
    });
    let name = if is_left { known.and_then(|known| known.name.clone()) } else { line.name.map(str::to_owned) };
    wire::NewAttendee {
        email: line.email.to_owned(),
        name,
        role: Some(if line.is_optional { wire::AttendeeRole::Optional } else { wire::AttendeeRole::Required }),
        agent_id: known.and_then(|known| known.agent.clone()),
    }
}

#[cfg(test)]
mod tests {
    use kalends_wire::AttendeeRole::{Optional, Required};

    use super::*;

    fn person(name: Option<&str>, email: &str, is_optional: bool) -> AttendeeShown {
        AttendeeShown {
            name: name.map(str::to_owned),
            email: email.to_owned(),
            is_optional,
            agent: Some(format!("agt_of_{email}")),
            reply: "accepted",
        }
    }

    #[test]
    fn those_who_stay_keep_their_agents() {
        let known = [person(Some("Ada"), "ada@example.com", false), person(None, "bob@example.com", true)];
        assert_eq!(lines_of(&known), "Ada <ada@example.com>\nbob@example.com (optional)");
        let typed = "Countess <ADA@example.com> (optional)\n\nEve <eve@example.com>\nnobody";
        let attendee = |name: Option<&str>, email: &str, role, agent: Option<&str>| wire::NewAttendee {
            name: name.map(str::to_owned),
            email: email.to_owned(),
            role: Some(role),
            agent_id: agent.map(str::to_owned),
        };
        let expected = [
            attendee(Some("Countess"), "ADA@example.com", Optional, Some("agt_of_ada@example.com")),
            attendee(Some("Eve"), "eve@example.com", Required, None),
            attendee(None, "nobody", Required, None),
        ];
        assert_eq!(attendees(typed, &known), expected);
    }

    #[test]
    fn a_line_that_is_left_as_it_is_names_the_same_attendee() {
        let known = [person(Some(" Ada  L "), "ada@example.com", true), person(Some("x <y"), "bob@example.com", false)];
        let read = attendees(&lines_of(&known), &known);
        for (read, known) in read.iter().zip(&known) {
            assert_eq!((&read.name, &read.email), (&known.name, &known.email));
            assert_eq!(read.role == Some(Optional), known.is_optional);
        }
    }
}
