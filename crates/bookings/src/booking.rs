//! Bookings: a slot that somebody took.

use kalends_availability::BusySet;
use kalends_kernel::{BookingId, BookingPageId, CalendarId, Entropy, EventId, OrgId, SignedDuration, Span, Timestamp};

use crate::{
    guest::Guest,
    offer::{NEAREST, nearest, offered},
    page::BookingPage,
    secret::{BookingToken, Purpose, SecretHash},
};

/// How far before and after a slot that is taken others are looked for.
const NEAR: SignedDuration = SignedDuration::days(14);

/// A booking as stored. When it takes place, and whether, the event tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// The identifier.
    pub id: BookingId,
    /// The organization.
    pub org: OrgId,
    /// On which page it was made.
    pub page: BookingPageId,
    /// The calendar on which the event stands.
    pub calendar: CalendarId,
    /// The event that it made.
    pub event: EventId,
    /// By what the token to cancel it is known.
    pub cancel: SecretHash,
    /// By what the token to move it is known.
    pub moves: SecretHash,
    /// Who booked.
    pub guest: Guest,
    /// When.
    pub created_at: Timestamp,
}

impl Booking {
    /// A fresh booking, and the token to move it, from which that to cancel it follows.
    pub fn create(
        page: &BookingPage,
        event: EventId,
        guest: Guest,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, BookingToken) {
        let token = BookingToken::generate(entropy);
        let booking = Self {
            id: BookingId::new(now, entropy),
            org: page.org,
            page: page.id,
            calendar: page.calendar,
            event,
            cancel: token.to_cancel().hash(),
            moves: token.hash(),
            guest,
            created_at: now,
        };
        (booking, token)
    }

    /// What a token that somebody presents is good for; `None` where it is another booking's.
    pub fn opened_by(&self, token: &BookingToken) -> Option<Purpose> {
        let hash = token.hash();
        if hash == self.moves { Some(Purpose::Move) } else { (hash == self.cancel).then_some(Purpose::Cancel) }
    }
}

/// Why a slot cannot be booked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlotError {
    /// No slot of the page begins then, now or at all.
    #[error(
        "must be the start of a slot that the page offers, got {0}; GET the slots of the page for those it offers now"
    )]
    NotOnGrid(Timestamp),
    /// It is one of the page's slots, and taken.
    #[error("the slot at {} is taken", .wanted.start())]
    Taken {
        /// The slot.
        wanted: Span,
        /// Up to three that are offered, the nearest first.
        nearest: Vec<Span>,
    },
}

impl BookingPage {
    /// The slots that the page offers at `now` and that lie in `within`, by start, each worked out when it is asked for.
    /// `taken` is what it does not offer ([`BookingPage::taken`]) of that time.
    pub fn offers(&self, within: Span, taken: &BusySet, now: Timestamp) -> impl Iterator<Item = Span> {
        let window = self.window(now).and_then(|window| window.clip(within));
        window.into_iter().flat_map(move |window| offered(self.timetable.grid(window), taken))
    }

    /// Before when the page offers the same slots of `within` (of all its window if `None`) as at `now`, should nothing be
    /// scheduled meanwhile; `first` is the first of them. `None` is for ever. It may be sooner than need be.
    pub fn same_before(&self, within: Option<Span>, first: Option<Span>, now: Timestamp) -> Option<Timestamp> {
        let notice = SignedDuration::minutes(self.min_notice_minutes.into());
        let drops = first.map(|slot| slot.start() - notice);
        drops.into_iter().chain(self.next_to_come(within, now)).min()
    }

    /// When the end of the window reaches the next slot, whether that will be offered or not.
    fn next_to_come(&self, within: Option<Span>, now: Timestamp) -> Option<Timestamp> {
        /// Every weekday comes within it.
        const AHEAD: SignedDuration = SignedDuration::days(8);
        let days = SignedDuration::days(self.window_days.into());
        let end = now + days;
        if end >= Timestamp::HORIZON || within.is_some_and(|within| within.end() <= end) {
            return None;
        }
        let beyond = Span::new(end - self.timetable.length(), end + AHEAD).ok()?;
        let next = self.timetable.grid(beyond).map(Span::end).find(|slot_ends| *slot_ends > end);
        // Where hours were skipped by the clocks it comes later; it is looked for again then.
        Some(next.unwrap_or(beyond.end()) - days)
    }

    /// The slot that begins at `start`, where it is on the grid now: inside the page's window, taken or not.
    ///
    /// # Errors
    /// [`SlotError::NotOnGrid`].
    pub fn slot(&self, start: Timestamp, now: Timestamp) -> Result<Span, SlotError> {
        let slot = self.timetable.slot_at(start);
        let in_window = |slot: &Span| self.window(now).is_some_and(|window| slot.clip(window) == Some(*slot));
        slot.filter(in_window).ok_or(SlotError::NotOnGrid(start))
    }

    /// The time that has a say about booking `slot`: beside the slot itself, that in which others are offered instead.
    pub fn surroundings(slot: Span) -> Span {
        Span::new(slot.start() - NEAR, slot.end() + NEAR).unwrap_or(slot)
    }

    /// Books the slot that begins at `start` (ruling 5.5). `taken` is what the page does not offer of the slot's
    /// [surroundings](Self::surroundings).
    ///
    /// # Errors
    /// [`SlotError::NotOnGrid`] for what is no slot now, [`SlotError::Taken`] for one that is not offered.
    pub fn book(&self, start: Timestamp, taken: &BusySet, now: Timestamp) -> Result<Span, SlotError> {
        let wanted = self.slot(start, now)?;
        if !taken.overlaps(wanted) {
            return Ok(wanted);
        }
        let others = self.offers(Self::surroundings(wanted), taken, now);
        Err(SlotError::Taken { wanted, nearest: nearest(others, wanted, NEAREST) })
    }
}
