//! Slots that several guests share.
//!
//! A page with more than one seat makes one event for each slot that is booked. Later guests join it as long as it has a
//! seat left, and it ends with the last of them.

use kalends_kernel::{EventId, FieldError, Version};
use kalends_time::{Span, Timestamp};

use crate::page::BookingPage;

/// The maximum number of seats of a slot.
pub const SEATS_MAX: u16 = 500;

/// An event that guests of a page share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedEvent {
    /// The event.
    pub id: EventId,
    /// Its version. It changes with each guest who joins or leaves.
    pub version: Version,
    /// When it takes place.
    pub span: Span,
    /// How many guests take part, without those who cancelled.
    pub guests: u64,
}

impl BookingPage {
    /// Whether several guests can book the same slot.
    pub const fn is_shared(&self) -> bool {
        self.seats > 1
    }

    /// The events among `shared` that another guest can join at `now`, as far as the page knows: they are still in one of
    /// its slots, inside its window, and have a seat left.
    pub fn joinable(&self, shared: Vec<SharedEvent>, now: Timestamp) -> Vec<SharedEvent> {
        let fits = |event: &SharedEvent| {
            event.guests < u64::from(self.seats) && self.slot(event.span.start(), now) == Ok(event.span)
        };
        if self.is_shared() { shared.into_iter().filter(fits).collect() } else { Vec::new() }
    }

    /// Checks that the page does not have both a team and several seats.
    ///
    /// # Errors
    /// Names the field `seats`.
    pub fn checked(self) -> Result<Self, FieldError> {
        if self.is_shared() && self.team.is_some() {
            let message =
                format!("must be 1 on a page with calendars, got {}; set calendars to null, or seats to 1", self.seats);
            return Err(FieldError::new("seats", message));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{CalendarId, Entropy, OrgId};
    use kalends_time::{SignedDuration, Zone};

    use super::*;
    use crate::{Assignment, BookingPagePatch, NewBookingPage, PageDetails, Team};

    const NOW: Timestamp = Timestamp::from_micros(1_772_442_000_000_000);

    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    fn page(seats: u16) -> BookingPage {
        let new = NewBookingPage {
            slug: None,
            title: "Yoga".into(),
            description: None,
            details: PageDetails::default(),
            duration_minutes: 60,
            zone: None,
            constraints: None,
            buffer_minutes: 0,
            window_days: 1,
            min_notice_minutes: 0,
            max_per_day: None,
            seats,
            active: true,
        };
        let owner = (OrgId::from_bytes([1; 16]), CalendarId::from_bytes([2; 16]), None);
        BookingPage::create(owner, Zone::UTC, new, NOW, &Ones)
    }

    /// An event of `guests` that begins some minutes from now.
    fn event(start: i64, minutes: i64, guests: u64) -> SharedEvent {
        let start = NOW + SignedDuration::minutes(start);
        let span = Span::new(start, start + SignedDuration::minutes(minutes)).unwrap();
        SharedEvent { id: EventId::from_bytes([3; 16]), version: Version::FIRST, span, guests }
    }

    #[test]
    fn guests_join_events_that_are_still_slots_and_have_a_seat_left() {
        assert_eq!(NOW.to_string(), "2026-03-02T09:00:00Z");
        let (page, open) = (page(3), event(60, 60, 2));
        let others = [
            ("full", event(60, 60, 3)),
            ("fuller than now allowed", event(60, 60, 9)),
            ("off the grid", event(75, 60, 1)),
            ("longer", event(60, 90, 1)),
            ("before the window", event(-60, 60, 1)),
            ("after the window", event(24 * 60, 60, 1)),
        ];
        for (what, other) in others {
            assert_eq!(page.joinable(vec![other, open], NOW), [open], "{what}");
        }
        assert_eq!(self::page(1).joinable(vec![event(60, 60, 0)], NOW), [], "one seat is not shared");
    }

    #[test]
    fn a_team_has_one_seat() {
        let team = Some(Team { others: vec![CalendarId::from_bytes([4; 16])], assignment: Assignment::Collective });
        assert!(BookingPage { team: team.clone(), ..page(1) }.checked().is_ok());
        assert!(page(SEATS_MAX).checked().is_ok());
        assert_eq!(BookingPage { team, ..page(2) }.checked().unwrap_err().param, "seats");
        let patch = BookingPagePatch { seats: kalends_calendars::Patch::Set(4), ..BookingPagePatch::default() };
        assert_eq!(page(2).patched(patch, NOW).unwrap().seats, 4);
    }
}
