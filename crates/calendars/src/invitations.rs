//! Invitations and replies: which messages the attendees of an event get, and what a reply changes.

use kalends_kernel::{Email, Entropy, random_bytes};
use kalends_time::Timestamp;

use crate::{Attendee, AttendeeStatus, Attendees, Event, ReplySecret, ReplyToken};

impl ReplyToken {
    /// The token of an attendee of `event`; `None` before the attendee has a link.
    pub fn of(event: &Event, attendee: &Attendee) -> Option<Self> {
        let of = event.occurrence();
        let (series, occurrence) = of.map_or((event.id, None), |of| (of.series, Some(of.start)));
        Some(Self { org: event.org, event: series, occurrence, secret: attendee.secret? })
    }
}

/// A message to one attendee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invite<'a> {
    /// The event is new for the attendee, or has changed (`REQUEST`, RFC 5546 section 3.2.2).
    Request(&'a Attendee),
    /// The event does not take place, or the attendee is no longer invited (`CANCEL`, section 3.2.5).
    Cancel(&'a Attendee),
}

impl Event {
    /// This event, in which every attendee has a link.
    #[must_use]
    pub fn with_links(&self, entropy: &dyn Entropy) -> Self {
        let linked = self.attendees.each(|attendee| {
            attendee.secret.get_or_insert_with(|| ReplySecret(random_bytes(entropy)));
        });
        Self { attendees: linked, ..self.clone() }
    }

    /// The messages that bring the attendees up to date with this event. `before` is the event as it was; `None` if it
    /// is new.
    pub fn invites<'a>(&'a self, before: Option<&'a Self>) -> Vec<Invite<'a>> {
        let asked = if self.takes_place() { self.attendees.as_slice() } else { &[] };
        // A change of an event that was cancelled before, and still is, is news to nobody. A request that changes nothing
        // asks for the same cancellation again.
        let is_news = |before: &&Self| {
            before.takes_place() || self.takes_place() || self.deleted_at.is_some() || self.says_the_same(before)
        };
        let known = before.filter(is_news).map_or(&[][..], |before| before.attendees.as_slice());
        let is_asked = |known: &Attendee| asked.iter().any(|attendee| attendee.email == known.email);
        let dropped = known.iter().filter(|known| !is_asked(known));
        asked.iter().map(Invite::Request).chain(dropped.map(Invite::Cancel)).collect()
    }

    /// This override with the reply that an attendee gave for its series, which was `before` and is `after`. `None` if the
    /// attendee has replied for this occurrence itself, or was asked again because it moved.
    pub fn following_reply(&self, before: &Self, after: &Self, email: &Email) -> Option<Self> {
        let reply = |event: &Self| event.attendees.get(email).map(|of| (of.status, of.responded_at));
        let (own, known, new) = (reply(self)?, reply(before)?, reply(after)?);
        if own != known {
            return None;
        }
        let attendees = self.attendees.each(|attendee| {
            if attendee.email == *email {
                (attendee.status, attendee.responded_at) = new;
            }
        });
        Some(Self { attendees, version: after.version, updated_at: after.updated_at, ..self.clone() })
    }

    /// This event with only the attendees who are not in `lists`.
    #[must_use]
    pub fn only_others_than(&self, lists: &[&Attendees]) -> Self {
        let is_other = |of: &&Attendee| lists.iter().all(|list| list.get(&of.email).is_none());
        let others = self.attendees.as_slice().iter().filter(is_other);
        Self { attendees: Attendees::from_stored(others.cloned().collect()), ..self.clone() }
    }

    /// This event with only the attendees who have a link.
    #[must_use]
    pub fn only_linked(&self) -> Self {
        let linked = self.attendees.as_slice().iter().filter(|attendee| attendee.secret.is_some());
        Self { attendees: Attendees::from_stored(linked.cloned().collect()), ..self.clone() }
    }

    /// Whether only the version, and the links and replies of attendees, differ.
    fn says_the_same(&self, other: &Self) -> bool {
        let Self { version, updated_at, ref attendees, .. } = *self;
        attendees.asks_the_same(&other.attendees)
            && *self == Self { version, updated_at, attendees: attendees.clone(), ..other.clone() }
    }

    /// This override with the attendees and replies of its series, which was `before` and is `after`, as far as it has
    /// none of its own. `None` if that changes nothing.
    pub fn following_attendees(&self, before: &Self, after: &Self) -> Option<Self> {
        let attendees = self.attendees.following(&before.attendees, &after.attendees);
        if attendees == self.attendees {
            return None;
        }
        Some(Self { attendees, version: after.version, updated_at: after.updated_at, ..self.clone() })
    }

    /// This event with the reply of one attendee. `None` if the reply changes nothing.
    ///
    /// For an occurrence, [`Event::with_override`] gives the series that goes with it.
    pub fn with_reply(&self, email: &Email, status: AttendeeStatus, now: Timestamp) -> Option<Self> {
        if self.attendees.get(email).is_none_or(|attendee| attendee.status == status) {
            return None;
        }
        let attendees = self.attendees.each(|attendee| {
            if attendee.email == *email {
                (attendee.status, attendee.responded_at) = (status, Some(now));
            }
        });
        Some(Self { attendees, version: self.version.next(), updated_at: now, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AttendeeRole, AttendeeStatus, Attendees, EventPatch, EventStatus, Patch,
        series::examples::{at, moved, overridden, weekly},
    };

    const NOW: Timestamp = Timestamp::from_micros(9);

    struct Sevens;

    impl Entropy for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    fn attendee(email: &str) -> Attendee {
        Attendee::parse("attendees[0]", email, None, AttendeeRole::Required, None).unwrap()
    }

    fn attendees(emails: &[&str]) -> Attendees {
        Attendees::new(emails.iter().map(|email| attendee(email)).collect()).unwrap()
    }

    fn event(emails: &[&str]) -> Event {
        Event { attendees: attendees(emails), ..weekly() }
    }

    fn patched(event: &Event, patch: EventPatch) -> Event {
        event.patched(patch, kalends_time::Zone::UTC, NOW).unwrap()
    }

    fn statuses(event: &Event) -> Vec<&'static str> {
        event.attendees.as_slice().iter().map(|attendee| attendee.status.as_str()).collect()
    }

    #[test]
    fn those_who_stay_keep_their_reply_and_their_link() {
        let event = event(&["ada@example.com", "eve@example.com"]).with_links(&Sevens);
        let event = event.with_reply(&attendee("eve@example.com").email, AttendeeStatus::Declined, NOW).unwrap();
        let patch = EventPatch {
            attendees: Patch::Set(attendees(&["bob@example.com", "eve@example.com"])),
            ..EventPatch::default()
        };
        let after = patched(&event, patch);
        assert_eq!(statuses(&after), ["needs_action", "declined"]);
        let secrets: Vec<bool> = after.attendees.as_slice().iter().map(|attendee| attendee.secret.is_some()).collect();
        assert_eq!(secrets, [false, true]);
        assert_eq!(after.attendees.as_slice()[1].responded_at, Some(NOW));
    }

    #[test]
    fn another_time_asks_again_and_another_title_does_not() {
        let event =
            event(&["ada@example.com"]).with_reply(&attendee("ada@example.com").email, AttendeeStatus::Accepted, NOW);
        let event = event.unwrap();
        let titled = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
        assert_eq!(statuses(&patched(&event, titled)), ["accepted"]);
        let moves = moved("2026-03-03T09:00:00Z", "2026-03-03T10:00:00Z");
        assert_eq!(statuses(&patched(&event, moves)), ["needs_action"]);
    }

    #[test]
    fn a_reply_that_changes_nothing_is_no_change() {
        let event = event(&["ada@example.com"]);
        let ada = attendee("ada@example.com").email;
        let replied = event.with_reply(&ada, AttendeeStatus::Tentative, NOW).unwrap();
        assert!(replied.version > event.version);
        assert_eq!(replied.with_reply(&ada, AttendeeStatus::Tentative, at("2026-03-03T09:00:00Z")), None);
        assert_eq!(event.with_reply(&attendee("eve@example.com").email, AttendeeStatus::Accepted, NOW), None);
    }

    #[test]
    fn a_reply_for_the_series_is_one_for_its_overrides() {
        let series = event(&["ada@example.com"]);
        let ada = attendee("ada@example.com").email;
        let (series, occurrence) = overridden(&series, "2026-03-09T09:00:00Z");
        let replied = series.with_reply(&ada, AttendeeStatus::Accepted, NOW).unwrap();
        let follows = occurrence.following_reply(&series, &replied, &ada).unwrap();
        assert_eq!((statuses(&follows), follows.version), (vec!["accepted"], replied.version));
        let alone = occurrence.with_reply(&ada, AttendeeStatus::Declined, NOW).unwrap();
        assert_eq!(alone.following_reply(&series, &replied, &ada), None);
    }

    #[test]
    fn a_new_list_of_the_series_is_one_for_its_overrides() {
        let (before, occurrence) = overridden(&event(&["ada@example.com"]), "2026-03-09T09:00:00Z");
        let ada = attendee("ada@example.com").email;
        let occurrence = occurrence.with_reply(&ada, AttendeeStatus::Accepted, NOW).unwrap();
        let list = Patch::Set(attendees(&["ada@example.com", "eve@example.com"]));
        let after = patched(&before, EventPatch { attendees: list, ..EventPatch::default() });
        let follows = occurrence.following_attendees(&before, &after).unwrap();
        assert_eq!((statuses(&follows), follows.version), (vec!["accepted", "needs_action"], after.version));
        let own = Event { attendees: attendees(&["bob@example.com"]), ..occurrence.clone() };
        assert_eq!(own.following_attendees(&before, &after), None);
        assert_eq!(occurrence.following_attendees(&before, &before), None);
    }

    #[test]
    fn who_leaves_the_series_keeps_the_link_for_an_override() {
        let (before, occurrence) = overridden(&event(&["ada@example.com"]), "2026-03-09T09:00:00Z");
        let own = Event { attendees: attendees(&["ada@example.com", "bob@example.com"]), ..occurrence };
        let before = before.with_links(&Sevens);
        let after = Event { attendees: attendees(&["eve@example.com"]), ..before.clone() };
        let follows = own.following_attendees(&before, &after).unwrap();
        let linked: Vec<bool> = follows.attendees.as_slice().iter().map(|attendee| attendee.secret.is_some()).collect();
        assert_eq!(linked, [true, false]);
    }

    #[test]
    fn a_series_that_asks_again_asks_for_its_overrides_too() {
        let ada = attendee("ada@example.com").email;
        let accepted = event(&["ada@example.com"]).with_reply(&ada, AttendeeStatus::Accepted, NOW).unwrap();
        let (before, occurrence) = overridden(&accepted, "2026-03-09T09:00:00Z");
        let after = Event { attendees: before.attendees.asked_again(), ..before.clone() };
        assert_eq!(statuses(&occurrence.following_attendees(&before, &after).unwrap()), ["needs_action"]);
        // A reply for the occurrence alone stays.
        let alone = occurrence.with_reply(&ada, AttendeeStatus::Declined, NOW).unwrap();
        assert_eq!(alone.following_attendees(&before, &after), None);
    }

    #[test]
    fn invites_follow_the_change() {
        let before = event(&["ada@example.com", "eve@example.com"]).with_links(&Sevens);
        let shown = |after: &Event, before: Option<&Event>| -> Vec<String> {
            let line = |invite: &Invite<'_>| match invite {
                Invite::Request(to) => format!("request {}", to.email),
                Invite::Cancel(to) => format!("cancel {}", to.email),
            };
            after.invites(before).iter().map(line).collect()
        };
        assert_eq!(shown(&before, None), ["request ada@example.com", "request eve@example.com"]);
        let fewer = Event { attendees: attendees(&["eve@example.com", "bob@example.com"]), ..before.clone() };
        assert_eq!(
            shown(&fewer, Some(&before)),
            ["request eve@example.com", "request bob@example.com", "cancel ada@example.com"]
        );
        let all = ["cancel ada@example.com", "cancel eve@example.com"];
        assert_eq!(shown(&before.deleted(NOW).unwrap(), Some(&before)), all);
        let cancelled = Event { status: EventStatus::Cancelled, ..before.clone() };
        assert_eq!(shown(&cancelled, Some(&before)), all);
        assert_eq!(shown(&cancelled, Some(&cancelled)), all, "asked for again");
        let titled = Event { title: "Retro".into(), ..cancelled.clone() };
        assert!(shown(&titled, Some(&cancelled)).is_empty());
        assert_eq!(shown(&cancelled.deleted(NOW).unwrap(), Some(&cancelled)), all);
        assert_eq!(shown(&before, Some(&cancelled)), ["request ada@example.com", "request eve@example.com"]);
    }

    #[test]
    fn debug_output_shows_neither_secret_nor_address() {
        let named = Attendee { name: Some("Lovelace".into()), ..attendee("ada@example.com") };
        let event = Event { attendees: Attendees::new(vec![named]).unwrap(), ..weekly() };
        let printed = format!("{:?}", event.with_links(&Sevens).attendees);
        assert!(!printed.contains("ada") && !printed.contains("Lovelace") && !printed.contains('7'), "{printed}");
    }
}
