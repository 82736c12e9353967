//! Booking pages, and the conditions under which they offer slots.

use kalends_availability::BusySet;
use kalends_calendars::Patch;
use kalends_kernel::{AgentId, BookingPageId, CalendarId, Entropy, OrgId, Version};
use kalends_time::{SignedDuration, Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{grid::Timetable, secret::Slug};

/// The maximum number of characters of a title. It leaves room for a guest's name, because the title of an event
/// consists of both.
pub const TITLE_MAX: usize = 255;
/// The maximum number of characters of a description.
pub const DESCRIPTION_MAX: usize = 5_000;
/// The shortest slot, in minutes.
pub const DURATION_MIN_MINUTES: u16 = 5;
/// The longest slot, in minutes.
pub const DURATION_MAX_MINUTES: u16 = 480;
/// The default length of a slot, in minutes.
pub const DURATION_DEFAULT_MINUTES: u16 = 30;
/// The longest buffer around busy time, in minutes.
pub const BUFFER_MAX_MINUTES: u8 = 120;
/// The maximum number of days ahead for which a page may offer slots.
pub const WINDOW_MAX_DAYS: u16 = 365;
/// The default number of days ahead for which a page offers slots.
pub const WINDOW_DEFAULT_DAYS: u16 = 14;
/// The longest notice, in minutes: 365 days.
pub const NOTICE_MAX_MINUTES: u32 = 365 * 24 * 60;

/// A booking page as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct BookingPage {
    /// The identifier.
    pub id: BookingPageId,
    /// The organization.
    pub org: OrgId,
    /// The calendar whose time is booked.
    pub calendar: CalendarId,
    /// The agent that owns the calendar; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// The last part of the page's address.
    pub slug: Slug,
    /// The title, 1-255 characters.
    pub title: String,
    /// The description, as free text.
    pub description: Option<String>,
    /// The rule that places its slots.
    pub timetable: Timetable,
    /// Minutes that stay free before and after busy time, 0-120.
    pub buffer_minutes: u8,
    /// The number of days ahead for which slots are offered, 1-365.
    pub window_days: u16,
    /// The minimum notice in minutes: the shortest time between a booking and the start of the slot.
    pub min_notice_minutes: u32,
    /// Whether the page is open.
    pub active: bool,
    /// The number of bookings. Only stores increment it, with each booking, and that does not change the version.
    pub bookings: u64,
    /// The row's version.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, not counting bookings.
    pub updated_at: Timestamp,
    /// When it was deleted, if it was.
    pub deleted_at: Option<Timestamp>,
}

/// The validated fields of a new page.
#[derive(Debug, Clone, PartialEq)]
pub struct NewBookingPage {
    /// The title, 1-255 characters.
    pub title: String,
    /// The description, as free text.
    pub description: Option<String>,
    /// The rule that places its slots.
    pub timetable: Timetable,
    /// Minutes that stay free before and after busy time.
    pub buffer_minutes: u8,
    /// The number of days ahead for which slots are offered.
    pub window_days: u16,
    /// The minimum notice, in minutes.
    pub min_notice_minutes: u32,
    /// Whether the page is open.
    pub active: bool,
}

/// The validated changes of a PATCH.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BookingPagePatch {
    /// A new title.
    pub title: Patch<String>,
    /// A new description; `None` clears it.
    pub description: Patch<Option<String>>,
    /// The length of a slot, in minutes.
    pub duration_minutes: Patch<u16>,
    /// Minutes that stay free before and after busy time.
    pub buffer_minutes: Patch<u8>,
    /// The number of days ahead for which slots are offered.
    pub window_days: Patch<u16>,
    /// The minimum notice, in minutes.
    pub min_notice_minutes: Patch<u32>,
    /// The zone of the hours and dates.
    pub zone: Patch<kalends_time::Zone>,
    /// The hours of each weekday; `None` is always open.
    pub constraints: Patch<Option<kalends_availability::Week<kalends_availability::Hours>>>,
    /// Whether the page is open.
    pub active: Patch<bool>,
}

impl BookingPage {
    /// A new page.
    pub fn create(
        (org, calendar, agent): (OrgId, CalendarId, Option<AgentId>),
        new: NewBookingPage,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        Self {
            id: BookingPageId::new(now, entropy),
            org,
            calendar,
            agent,
            slug: Slug::generate(entropy),
            title: new.title,
            description: new.description,
            timetable: new.timetable,
            buffer_minutes: new.buffer_minutes,
            window_days: new.window_days,
            min_notice_minutes: new.min_notice_minutes,
            active: new.active,
            bookings: 0,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        }
    }

    /// The page after `patch`. Existing bookings stay as they are.
    #[must_use]
    pub fn patched(&self, patch: BookingPagePatch, now: Timestamp) -> Self {
        let mut page = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        patch.title.apply_to(&mut page.title);
        patch.description.apply_to(&mut page.description);
        patch.duration_minutes.apply_to(&mut page.timetable.duration_minutes);
        patch.buffer_minutes.apply_to(&mut page.buffer_minutes);
        patch.window_days.apply_to(&mut page.window_days);
        patch.min_notice_minutes.apply_to(&mut page.min_notice_minutes);
        patch.zone.apply_to(&mut page.timetable.zone);
        patch.constraints.apply_to(&mut page.timetable.constraints);
        patch.active.apply_to(&mut page.active);
        page
    }

    /// The page marked as deleted. Existing bookings stay.
    #[must_use]
    pub fn deleted(&self, now: Timestamp) -> Self {
        Self { version: self.version.next(), updated_at: now, deleted_at: Some(now), ..self.clone() }
    }

    /// Whether guests may book on it.
    pub const fn is_open(&self) -> bool {
        self.active && self.deleted_at.is_none()
    }

    /// The time in which slots are offered at `now`: from the minimum notice to the end of the window, or to the end of
    /// the time-zone tables if that is earlier. `None` if that leaves no time.
    pub fn window(&self, now: Timestamp) -> Option<Span> {
        let from = now + SignedDuration::minutes(self.min_notice_minutes.into());
        let to = now + SignedDuration::days(self.window_days.into());
        Span::new(from, to.min(Timestamp::HORIZON)).ok()
    }

    /// The time that stays free before and after busy time.
    pub fn buffer(&self) -> SignedDuration {
        SignedDuration::minutes(self.buffer_minutes.into())
    }

    /// `window`, widened by the page's buffer on both sides: busy time there can block a part of `window`.
    pub fn reads(&self, window: Span) -> Span {
        Span::new(window.start() - self.buffer(), window.end() + self.buffer()).unwrap_or(window)
    }

    /// The time that the page does not offer in `window`: the time that its calendar does not offer, and busy time
    /// widened by the page's buffer. If the calendar has buffers too, the longer one counts on each side.
    ///
    /// `blocking` must hold everything that blocks in [`reads(window)`](Self::reads).
    #[must_use]
    pub fn taken(&self, not_offered: &BusySet, blocking: &BusySet, window: Span) -> BusySet {
        not_offered.union(&blocking.widen(self.buffer(), self.buffer()).clip(window))
    }
}

/// The fields of a page that stores seal, as one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidential {
    /// The last part of the address.
    pub slug: Slug,
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
}

/// The plain form of [`Confidential`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    slug: String,
    title: String,
    description: Option<String>,
}

/// The document does not contain the fields of a booking page. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a booking page")]
pub struct ConfidentialError;

impl Confidential {
    /// Writes the document.
    pub fn write(page: &BookingPage) -> Vec<u8> {
        let (title, description) = (page.title.clone(), page.description.clone());
        let plain = Plain { slug: page.slug.reveal().to_owned(), title, description };
        // Serializing three strings cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`ConfidentialError`].
    pub fn read(document: &[u8]) -> Result<Self, ConfidentialError> {
        let Plain { slug, title, description } = serde_json::from_slice(document).map_err(|_| ConfidentialError)?;
        Ok(Self { slug: Slug::from_stored(slug), title, description })
    }
}
