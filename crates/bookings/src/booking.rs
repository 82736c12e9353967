//! Bookings: the slots that guests took.

use kalends_calendars::Event;
use kalends_kernel::{BookingId, BookingPageId, CalendarId, Entropy, EventId, OrgId, Version};
use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{
    cancelled::CancelledBy,
    guest::Guest,
    offer::{NEAREST, nearest, offered},
    page::BookingPage,
    secret::{BookingToken, Purpose, SecretHash},
    team::Taken,
};

/// How far before and after a taken slot to look for others.
const NEAR: SignedDuration = SignedDuration::days(14);

/// A booking as stored. Its time and its status are those of the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// The identifier.
    pub id: BookingId,
    /// The organization.
    pub org: OrgId,
    /// The page on which it was made.
    pub page: BookingPageId,
    /// The calendar of the event.
    pub calendar: CalendarId,
    /// The event that it made or joined. If it made several, it is the one on the calendar of the page.
    pub event: EventId,
    /// The events that it made on the other calendars of the page.
    pub also: Vec<EventId>,
    /// Whether the event can have other guests.
    pub shared: bool,
    /// How the calendars of its guest and its hosts know the event; `None` means as it is.
    pub known_as: Option<KnownAs>,
    /// The hash of the token to cancel it.
    pub cancel: SecretHash,
    /// The hash of the token to move it.
    pub moves: SecretHash,
    /// The guest who booked.
    pub guest: Guest,
    /// The token to move it, if emails that are sent later need it. It is sealed at rest.
    pub kept_token: Option<BookingToken>,
    /// Who cancelled it; `None` if nobody did, or if the owner cancelled or deleted the event itself.
    pub cancelled_by: Option<CancelledBy>,
    /// When it was cancelled. `None` also if an earlier release cancelled it; its event was deleted then.
    pub cancelled_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An event as the calendars outside the service know it. Guests who share one each have a `UID` of their own, which
/// follows them to another event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAs {
    /// The identifier from which the `UID` is made.
    pub event: EventId,
    /// Added to the number of the event's versions in which more than its guests changed. The sum is the version from which
    /// `SEQUENCE` is made (RFC 5545, section 3.8.7.4).
    pub offset: i64,
}

impl KnownAs {
    /// The version of an event as far as one guest knows it, before the offset is added.
    const fn version_of(event: &Event) -> i64 {
        event.version.0 - event.seat_changes
    }
}

impl Booking {
    /// A new booking of `event` and of the events `also`, and the token to move it. The token to cancel it is derived
    /// from that token. The booking keeps the token if the event reminds its guest.
    pub fn create(
        page: &BookingPage,
        (event, also): (&Event, Vec<EventId>),
        guest: Guest,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, BookingToken) {
        let token = BookingToken::generate(entropy);
        // The first email about the booking has the first number.
        let known =
            || KnownAs { event: EventId::new(now, entropy), offset: Version::FIRST.0 - KnownAs::version_of(event) };
        let booking = Self {
            id: BookingId::new(now, entropy),
            org: page.org,
            page: page.id,
            calendar: event.calendar,
            event: event.id,
            also,
            shared: page.is_shared(),
            known_as: page.is_shared().then(known),
            cancel: token.to_cancel().hash(),
            moves: token.hash(),
            guest,
            kept_token: kept(&token, event),
            cancelled_by: None,
            cancelled_at: None,
            created_at: now,
        };
        (booking, token)
    }

    /// The booking after its guest left the event `from` for `event`, and for `also` on the other calendars of the page.
    /// `token` moves the booking.
    #[must_use]
    pub fn moved(
        &self,
        page: &BookingPage,
        from: &Event,
        (event, also): (&Event, Vec<EventId>),
        token: &BookingToken,
    ) -> Self {
        let known = self.known_as.unwrap_or(KnownAs { event: self.event, offset: 0 });
        let next = KnownAs::version_of(from) + known.offset + 1;
        Self {
            calendar: event.calendar,
            event: event.id,
            also,
            shared: page.is_shared(),
            known_as: Some(KnownAs { offset: next - KnownAs::version_of(event), ..known }),
            kept_token: kept(token, event),
            ..self.clone()
        }
    }

    /// An event of the booking as the calendars of its guest and its hosts know it. If the event on the calendar of the page is
    /// gone, it may be another one.
    #[must_use]
    pub fn as_known(&self, event: Event) -> Event {
        match self.known_as {
            Some(KnownAs { event: id, offset }) => {
                Event { id, version: Version(KnownAs::version_of(&event) + offset), ..event }
            }
            None => Event { id: self.event, ..event },
        }
    }

    /// Every event that it made or joined, the one on the calendar of the page first.
    pub fn events(&self) -> impl Iterator<Item = EventId> {
        std::iter::once(self.event).chain(self.also.iter().copied())
    }

    /// The purpose of a token that a caller presents; `None` if it is not a token of this booking.
    pub fn opened_by(&self, token: &BookingToken) -> Option<Purpose> {
        let hash = token.hash();
        if hash == self.moves { Some(Purpose::Move) } else { (hash == self.cancel).then_some(Purpose::Cancel) }
    }
}

/// Why a slot cannot be booked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// No slot begins at this time: it is not on the page's grid, or it is outside the page's window.
    #[error(
        "must be the start of a slot that the page offers, got {0}; GET the slots of the page to see what it offers now"
    )]
    NotOnGrid(Timestamp),
    /// It is a slot of the page, but it is taken.
    #[error("the slot at {} is taken", .wanted.start())]
    Taken {
        /// The slot.
        wanted: Span,
        /// Up to three offered slots, nearest first.
        nearest: Vec<Span>,
    },
}

impl BookingPage {
    /// The slots in `within` that the page offers at `now`, by start. The iterator is lazy. `taken` is the time that
    /// the page does not offer, with what each of its calendars does not ([`BookingPage::taken`]).
    pub fn offers(&self, within: Span, taken: &Taken, now: Timestamp) -> impl Iterator<Item = Span> {
        let window = self.window(now).and_then(|window| window.clip(within));
        window.into_iter().flat_map(move |window| {
            let free = offered(self.timetable.grid(window), taken.parties());
            let shared = taken.shared().iter().copied().filter(move |slot| slot.clip(window) == Some(*slot));
            in_order(free, shared)
        })
    }

    /// Until this time, the page offers the same slots in `within` as at `now`, unless something is scheduled. The time
    /// may be earlier than necessary; `None` means forever. `first` is the first of these slots. A `within` of `None`
    /// means the whole window of the page.
    pub fn same_before(&self, within: Option<Span>, first: Option<Span>, now: Timestamp) -> Option<Timestamp> {
        let notice = SignedDuration::minutes(self.min_notice_minutes.into());
        let drops = first.map(|slot| slot.start() - notice);
        drops.into_iter().chain(self.next_to_come(within, now)).min()
    }

    /// When the end of the window reaches the next slot, whether or not that will be offered.
    fn next_to_come(&self, within: Option<Span>, now: Timestamp) -> Option<Timestamp> {
        /// Long enough to contain every weekday.
        const AHEAD: SignedDuration = SignedDuration::days(8);
        let days = SignedDuration::days(self.window_days.into());
        let end = now + days;
        if end >= Timestamp::HORIZON || within.is_some_and(|within| within.end() <= end) {
            return None;
        }
        let beyond = Span::new(end - self.timetable.length(), end + AHEAD).ok()?;
        let next = self.timetable.grid(beyond).map(Span::end).find(|slot_ends| *slot_ends > end);
        // If a gap skips the hours, the next slot comes later still. The search is repeated when this time is reached.
        Some(next.unwrap_or(beyond.end()) - days)
    }

    /// The slot that begins at `start`, if it is on the grid and inside the page's window at `now`, taken or not.
    ///
    /// # Errors
    /// [`SlotError::NotOnGrid`].
    pub fn slot(&self, start: Timestamp, now: Timestamp) -> Result<Span, SlotError> {
        let slot = self.timetable.slot_at(start);
        let in_window = |slot: &Span| self.window(now).is_some_and(|window| slot.clip(window) == Some(*slot));
        slot.filter(in_window).ok_or(SlotError::NotOnGrid(start))
    }

    /// The time to read before booking `slot`: the slot itself, and the time in which alternatives are offered.
    pub fn surroundings(slot: Span) -> Span {
        Span::new(slot.start() - NEAR, slot.end() + NEAR).unwrap_or(slot)
    }

    /// Books the slot that begins at `start`. `taken` is the time that the page does not offer in the slot's
    /// [surroundings](Self::surroundings).
    ///
    /// # Errors
    /// [`SlotError::NotOnGrid`] if no slot begins then, and [`SlotError::Taken`] if the slot is not offered.
    pub fn book(&self, start: Timestamp, taken: &Taken, now: Timestamp) -> Result<Span, SlotError> {
        let wanted = self.slot(start, now)?;
        if taken.free_for(wanted).next().is_some() || taken.shared().contains(&wanted) {
            return Ok(wanted);
        }
        let others = self.offers(Self::surroundings(wanted), taken, now);
        Err(SlotError::Taken { wanted, nearest: nearest(others, wanted, NEAREST) })
    }
}

/// The token that moves a booking, if its event sends reminders, whose links need it.
fn kept(token: &BookingToken, event: &Event) -> Option<BookingToken> {
    (!event.guest_reminders.is_empty()).then(|| token.clone())
}

/// The slots of both, by start. Each is in order, and none is in both.
fn in_order(one: impl Iterator<Item = Span>, two: impl Iterator<Item = Span>) -> impl Iterator<Item = Span> {
    let (mut one, mut two) = (one.peekable(), two.peekable());
    std::iter::from_fn(move || match (one.peek(), two.peek()) {
        (Some(first), Some(second)) if second.start() < first.start() => two.next(),
        (None, Some(_)) => two.next(),
        _ => one.next(),
    })
}
