//! Booking pages: what is offered, and under which conditions.

use kalends_availability::BusySet;
use kalends_calendars::Patch;
use kalends_kernel::{AgentId, BookingPageId, CalendarId, Entropy, OrgId, SignedDuration, Span, Timestamp, Version};
use serde::{Deserialize, Serialize};

use crate::{grid::Timetable, secret::Slug};

/// The most characters of a title: with a guest's name behind it, it is the title of an event.
pub const TITLE_MAX: usize = 255;
/// The most characters of a description.
pub const DESCRIPTION_MAX: usize = 5_000;
/// The shortest slot, in minutes.
pub const DURATION_MIN_MINUTES: u16 = 5;
/// The longest slot, in minutes.
pub const DURATION_MAX_MINUTES: u16 = 480;
/// How long a slot is unless told, in minutes.
pub const DURATION_DEFAULT_MINUTES: u16 = 30;
/// The longest buffer around what blocks, in minutes.
pub const BUFFER_MAX_MINUTES: u8 = 120;
/// For how many days ahead a page may offer slots.
pub const WINDOW_MAX_DAYS: u16 = 365;
/// For how many days ahead a page offers slots unless told.
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
    /// The calendar of which time is booked.
    pub calendar: CalendarId,
    /// The agent that owns the calendar; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// What the page's address ends with.
    pub slug: Slug,
    /// 1-255 characters.
    pub title: String,
    /// Free text, if any.
    pub description: Option<String>,
    /// Where its slots lie.
    pub timetable: Timetable,
    /// Minutes that stay free before and after what blocks, 0-120.
    pub buffer_minutes: u8,
    /// For how many days ahead slots are offered, 1-365.
    pub window_days: u16,
    /// How long before its start a slot can be booked at the latest, in minutes.
    pub min_notice_minutes: u32,
    /// Whether the page is open.
    pub active: bool,
    /// How often a slot of it was booked. Only stores raise it, with each booking; it raises no version.
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

/// What is needed to make a page, already checked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewBookingPage {
    /// 1-255 characters.
    pub title: String,
    /// Free text, if any.
    pub description: Option<String>,
    /// Where its slots lie.
    pub timetable: Timetable,
    /// Minutes that stay free before and after what blocks.
    pub buffer_minutes: u8,
    /// For how many days ahead slots are offered.
    pub window_days: u16,
    /// How long before its start a slot can be booked at the latest, in minutes.
    pub min_notice_minutes: u32,
    /// Whether the page is open.
    pub active: bool,
}

/// What is changed of a page, already checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BookingPagePatch {
    /// A new title.
    pub title: Patch<String>,
    /// A new description; `None` clears it.
    pub description: Patch<Option<String>>,
    /// How long a slot is.
    pub duration_minutes: Patch<u16>,
    /// Minutes that stay free before and after what blocks.
    pub buffer_minutes: Patch<u8>,
    /// For how many days ahead slots are offered.
    pub window_days: Patch<u16>,
    /// How long before its start a slot can be booked at the latest.
    pub min_notice_minutes: Patch<u32>,
    /// By whose clocks.
    pub zone: Patch<kalends_kernel::Zone>,
    /// When each weekday is open; `None` is always.
    pub constraints: Patch<Option<kalends_availability::Week<kalends_availability::Hours>>>,
    /// Whether the page is open.
    pub active: Patch<bool>,
}

impl BookingPage {
    /// A fresh page.
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

    /// The page with these changes. What was booked stays as it is.
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

    /// The page marked as deleted. What was booked stays.
    #[must_use]
    pub fn deleted(&self, now: Timestamp) -> Self {
        Self { version: self.version.next(), updated_at: now, deleted_at: Some(now), ..self.clone() }
    }

    /// Whether anybody may book on it.
    pub const fn is_open(&self) -> bool {
        self.active && self.deleted_at.is_none()
    }

    /// The time of which slots are offered at `now`: from the notice on to the end of the window, which is that of the
    /// time-zone tables at the latest. `None` where the notice is longer than the window.
    pub fn window(&self, now: Timestamp) -> Option<Span> {
        let from = now + SignedDuration::minutes(self.min_notice_minutes.into());
        let to = now + SignedDuration::days(self.window_days.into());
        Span::new(from, to.min(Timestamp::HORIZON)).ok()
    }

    /// What stays free before and after what blocks.
    pub fn buffer(&self) -> SignedDuration {
        SignedDuration::minutes(self.buffer_minutes.into())
    }

    /// `window` and all from which the page's buffer reaches into it.
    pub fn reads(&self, window: Span) -> Span {
        Span::new(window.start() - self.buffer(), window.end() + self.buffer()).unwrap_or(window)
    }

    /// What the page does not offer of `window`: what its calendar does not offer, and what blocks, widened by the page's
    /// buffer. Where the calendar has buffers of its own, the longer one decides on either side.
    ///
    /// `blocking` has to hold all that blocks in [`reads(window)`](Self::reads).
    #[must_use]
    pub fn taken(&self, not_offered: &BusySet, blocking: &BusySet, window: Span) -> BusySet {
        not_offered.union(&blocking.widen(self.buffer(), self.buffer()).clip(window))
    }
}

/// What of a page stores seal: one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidential {
    /// What the address ends with.
    pub slug: Slug,
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
}

/// Its plain form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    slug: String,
    title: String,
    description: Option<String>,
}

/// The document is not one that was written here. What it says is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a booking page")]
pub struct ConfidentialError;

impl Confidential {
    /// The document.
    pub fn write(page: &BookingPage) -> Vec<u8> {
        let (title, description) = (page.title.clone(), page.description.clone());
        let plain = Plain { slug: page.slug.reveal().to_owned(), title, description };
        // Three texts cannot fail to be written.
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
