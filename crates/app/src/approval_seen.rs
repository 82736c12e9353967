//! What a write that waits for approval would change, as it was when the caller asked.

use kalends_approvals::Seen;
use kalends_calendars::{Attendee, AttendeeStatus, Attendees, Calendar, Change as Scheduled, Event};
use kalends_kernel::{EventId, Version, base64url};
use kalends_runs::Kept;
use kalends_wire as wire;
use sha2::{Digest as _, Sha256};

use crate::{
    ChangeSet,
    answered::json,
    operations::{self, Operation},
};

/// Whether a resource is not as it was when the caller asked: one of those that it `saw` is `written` in another state. What
/// an undo or new rules write must have been there, too.
pub(crate) fn outdated(operation: &Operation, saw: &[Seen], written: &[Seen]) -> bool {
    let covers_all = [operations::UNDO_RUN.id, operations::PUT_RULES.id].contains(&operation.id);
    written.iter().any(|now| match saw.iter().find(|seen| seen.resource == now.resource) {
        Some(seen) => !seen.is_as(now),
        None => covers_all,
    })
}

/// The resources that `changes` update, as they were read. `before` are the events among them.
pub(crate) fn seen_by(operation: &Operation, changes: &ChangeSet, before: &[Kept]) -> Vec<Seen> {
    let calendars = changes.calendars.iter().filter_map(|change| match change {
        Scheduled::UpdateEvent { event, seen } | Scheduled::MoveEvent { event, seen, .. } => {
            Some(Seen { digest: digest_of(event.id, before), ..versioned(event.id.to_string(), *seen) })
        }
        Scheduled::UpdateCalendar { calendar, seen } => {
            let digest = calendar.deleted_at.map(|_| digest_of_deleted(calendar, *seen));
            Some(Seen { digest, ..versioned(calendar.id.to_string(), *seen) })
        }
        Scheduled::UpdateAgent { agent, seen } => Some(versioned(agent.id.to_string(), *seen)),
        Scheduled::PutRules { rules, seen: Some(seen) } => Some(versioned(rules.id.to_string(), *seen)),
        Scheduled::DeleteRules(rules) => Some(versioned(rules.id.to_string(), rules.version)),
        _ => None,
    });
    // The responses of others change a proposal, but not what another response is.
    let responds = operation.id == operations::RESPOND_TO_PROPOSAL.id;
    let proposals = changes.proposals.iter().filter(|_| !responds).filter_map(|change| match change {
        kalends_proposals::Change::Update { proposal, seen, .. } => Some(versioned(proposal.id().to_string(), *seen)),
        kalends_proposals::Change::Create(_) => None,
    });
    let pages = changes.bookings.iter().filter_map(|change| match change {
        kalends_bookings::Change::UpdatePage { page, seen } => Some(versioned(page.id.to_string(), *seen)),
        _ => None,
    });
    let subscriptions = changes.feeds.iter().filter_map(|change| match change {
        kalends_feeds::Change::UpdateSubscription { subscription, seen, .. } => {
            Some(versioned(subscription.id.to_string(), *seen))
        }
        kalends_feeds::Change::DeleteSubscription { subscription, seen, .. } => {
            Some(versioned(subscription.to_string(), *seen))
        }
        _ => None,
    });
    calendars.chain(proposals).chain(pages).chain(subscriptions).collect()
}

const fn versioned(resource: String, version: Version) -> Seen {
    Seen { resource, version, digest: None }
}

fn digest_of(event: EventId, before: &[Kept]) -> Option<String> {
    before.iter().find(|kept| kept.event.id == event).map(|kept| digest_of_event(&kept.event))
}

/// The digest of an event as its editors see it. What its guests do on their own leaves it the same: a guest must not be
/// able to keep a write from being made.
fn digest_of_event(event: &Event) -> String {
    let invited = |guest: &Attendee| Attendee {
        status: AttendeeStatus::NeedsAction,
        responded_at: None,
        secret: None,
        ..guest.clone()
    };
    let edited = Event {
        attendees: Attendees::from_stored(event.attendees.as_slice().iter().map(invited).collect()),
        updated_at: event.created_at,
        ..event.clone()
    };
    base64url(&Sha256::digest(json(&wire::Event::from(edited))))
}

/// The digest of a calendar that is deleted with its events. Every write of an event raises its revision.
fn digest_of_deleted(calendar: &Calendar, seen: Version) -> String {
    format!("{}.{}", seen.0, calendar.revision.0)
}

#[cfg(test)]
mod tests {
    use kalends_testkit::fixtures::{Fixtures, span};

    use super::*;

    #[test]
    fn the_replies_of_guests_leave_an_event_as_it_was_seen() {
        let make = Fixtures::new();
        let agent = make.agent(make.organization().id);
        let calendar = make.calendar(&agent);
        let guest = |email: &str| {
            Attendee::parse("attendees[0]", email, None, kalends_calendars::AttendeeRole::Required, None).unwrap()
        };
        let with = |guests: Vec<Attendee>| Event {
            attendees: Attendees::from_stored(guests),
            ..make.event(&calendar, span("2026-03-09T09:00:00Z", "2026-03-09T10:00:00Z"))
        };
        let event = with(vec![guest("ada@example.com")]);
        let replied =
            Attendee { status: AttendeeStatus::Declined, responded_at: Some(make.tick()), ..guest("ada@example.com") };
        let answered = Event {
            attendees: Attendees::from_stored(vec![replied]),
            version: event.version.next(),
            updated_at: make.tick(),
            ..event.clone()
        };
        assert_eq!(digest_of_event(&answered), digest_of_event(&event));
        let edits = [
            Event { title: "Other".to_owned(), ..event.clone() },
            Event { deleted_at: Some(make.tick()), ..event.clone() },
            Event { attendees: Attendees::from_stored(vec![guest("grace@example.com")]), ..event.clone() },
            Event { attendees: Attendees::default(), ..event.clone() },
        ];
        for edited in edits {
            assert_ne!(digest_of_event(&edited), digest_of_event(&event), "{edited:?}");
        }
    }
}
