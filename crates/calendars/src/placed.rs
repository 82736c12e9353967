//! Holds that the key of an agent places on calendars of others.

use kalends_kernel::{Metadata, Version};

use crate::{Attendees, Event, EventStatus, Reminders, Repeats};

/// How many live holds on calendars of others the keys of one agent can have placed.
pub const PLACED_HOLDS_MAX: u64 = 20;

/// The title of an event of others for the agent that placed it as a hold, once somebody has changed it.
const BUSY: &str = "Busy";

impl Event {
    /// The event as the agent sees it that placed it as a hold on a calendar of another, from the row as it is stored.
    /// As long as nobody has changed anything except to end the hold, that is the event itself, which the agent wrote.
    /// Once somebody has, only its time and its status are left. The undo of a run is such a change: the row does not say
    /// whose it was.
    #[must_use]
    pub fn as_its_placer_sees(self) -> Self {
        // The end of a hold is one write, and a hold cannot be changed in the same write.
        let unchanged = if self.status == EventStatus::Hold { Version::FIRST } else { Version::FIRST.next() };
        if self.version <= unchanged {
            return self;
        }
        Self {
            title: BUSY.to_owned(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            metadata: Metadata::default(),
            reminders: None,
            guest_reminders: Reminders::default(),
            seat_changes: 0,
            repeats: Repeats::Once,
            previous_series: None,
            transparent: false,
            updated_at: self.created_at,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::{SignedDuration, Span, Timestamp};
    use rstest::rstest;

    use super::*;
    use crate::{HOLD_MOST, Hold, HoldScope, Moment, NewEvent, NewHold, series::examples::calendar};

    const NOW: Timestamp = Timestamp::from_micros(1_772_323_200_000_000);

    fn placed() -> Event {
        let hold = Hold { expires_at: NOW + SignedDuration::minutes(5), priority: 0, scope: HoldScope::Calendar };
        let span = Span::new(NOW + SignedDuration::minutes(60), NOW + SignedDuration::minutes(90)).unwrap();
        let new = NewEvent {
            title: "Kick-off".to_owned(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            start: Moment::At(span.start()),
            end: Moment::At(span.end()),
            all_day: false,
            status: EventStatus::Hold,
            metadata: Metadata::default(),
            reminders: None,
            recurrence: None,
            hold: Some(NewHold { hold, longest: HOLD_MOST }),
            if_free: false,
            if_as_of: None,
            send_invitations: false,
        };
        let id = "evt_00000000000000000000000001".parse().unwrap();
        Event::create(id, &calendar("UTC"), new, NOW).unwrap()
    }

    fn changed(event: &Event) -> Event {
        let (title, location) = ("Secret".to_owned(), Some("Room 1".to_owned()));
        Event { title, location, version: event.version.next(), ..event.clone() }
    }

    #[rstest]
    #[case::live(placed(), "Kick-off")]
    #[case::confirmed(placed().confirmed(NOW).unwrap(), "Kick-off")]
    #[case::released(placed().released(NOW).unwrap(), "Kick-off")]
    #[case::changed(changed(&placed()), "Busy")]
    #[case::confirmed_and_undone(Event { version: Version::FIRST.next().next(), ..placed() }, "Busy")]
    #[case::changed_and_confirmed(changed(&placed()).confirmed(NOW).unwrap(), "Busy")]
    #[case::confirmed_and_changed(changed(&placed().confirmed(NOW).unwrap()), "Busy")]
    fn what_others_changed_is_not_seen(#[case] event: Event, #[case] title: &str) {
        let seen = event.clone().as_its_placer_sees();
        assert_eq!(seen.title, title);
        assert_eq!(seen.location, None);
        assert_eq!((seen.id, seen.times, seen.status), (event.id, event.times, event.status));
    }
}
