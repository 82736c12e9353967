//! The emails to the attendees of events.

use kalends_accounts::Email;
use kalends_calendars::{ConferenceUrl, Event};
use kalends_feeds::write::MAILED_DESCRIPTION_MAX;
use kalends_i18n::Translator;
use kalends_kernel::Foreign;

use super::{Letter, Part, When, Words, places};
use crate::ports::Mail;

/// An event as the emails to its attendees show it.
pub(crate) struct Gathering {
    pub(super) title: Foreign,
    pub(super) organizer: Foreign,
    pub(super) when: When,
    pub(super) repeats: bool,
    pub(super) location: Option<Foreign>,
    pub(super) call: Option<ConferenceUrl>,
    pub(super) description: Vec<Foreign>,
}

impl Gathering {
    /// The event, which `organizer` organizes. `when` shows its times.
    pub(crate) fn new(event: &Event, when: When, organizer: Foreign) -> Self {
        let filled = |text: &&String| !text.trim().is_empty();
        let text = event.description.as_deref().unwrap_or_default();
        let description: String = text.chars().take(MAILED_DESCRIPTION_MAX).collect();
        let rest = (description.len() < text.len()).then_some("…");
        let lines = description.lines().filter(|line| !line.trim().is_empty()).chain(rest);
        Self {
            title: Foreign::new(&event.title),
            organizer,
            when,
            repeats: event.recurrence().is_some(),
            location: event.location.as_ref().filter(filled).map(|location| Foreign::new(location)),
            call: event.conference_url.clone(),
            description: lines.map(Foreign::new).collect(),
        }
    }
}

/// An invitation, or a change of an event to which the recipient was invited before. `reply` is the page to reply on.
pub(crate) fn invited(to: &Email, event: &Gathering, changed: bool, reply: &str) -> Mail {
    let says = if changed {
        Words::new("the event \"")
            .foreign(&event.title)
            .and("\" has changed. ")
            .foreign(&event.organizer)
            .and(" invites you to it on ")
    } else {
        Words::new("").foreign(&event.organizer).and(" invites you to \"").foreign(&event.title).and("\" on ")
    };
    let says = says.own(&event.when);
    let says = says.and(if event.repeats { ". It repeats on later dates." } else { "." });
    let mut parts = vec![Part::Says(says)];
    parts.extend(places(Translator::english(), event.location.as_ref(), event.call.as_ref()));
    if !event.description.is_empty() {
        parts.push(Part::Says("The organizer writes:".into()));
        parts.extend(event.description.iter().map(|line| Part::Says(Words::new("> ").foreign(line))));
    }
    parts.extend([
        Part::Says("To accept or decline, open".into()),
        Part::Link(reply.to_owned()),
        Part::Says(
            "Anyone with this link can reply in your name: do not forward this message. A reply by email is not recorded."
                .into(),
        ),
    ]);
    let subject = Words::new(if changed { "Changed: " } else { "Invitation: " }).foreign(&event.title);
    Letter { subject, parts }.to(to)
}

/// The end of an invitation. The event may still take place, without the recipient.
pub(crate) fn uninvited(to: &Email, event: &Gathering, takes_place: bool) -> Mail {
    let says = Words::new(if takes_place { "you are no longer invited to \"" } else { "the event \"" });
    let says = says.foreign(&event.title);
    let says = if event.repeats { says.and("\", on all of its dates") } else { says.and("\" on ").own(&event.when) };
    let says = if takes_place { says.and(".") } else { says.and(" is cancelled.") };
    let says = says.and(" There is nothing to do.");
    let subject = Words::new(if takes_place { "No longer invited: " } else { "Cancelled: " }).foreign(&event.title);
    Letter { subject, parts: vec![Part::Says(says)] }.to(to)
}
