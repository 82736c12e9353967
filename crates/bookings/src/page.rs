//! Booking pages, and the conditions under which they offer slots.

use kalends_accounts::Email;
use kalends_availability::{BusySet, Hours, Week};
use kalends_calendars::{ConferenceUrl, Patch};
use kalends_kernel::{AgentId, BookingPageId, CalendarId, Entropy, FieldError, OrgId, Version};
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};
use serde::{Deserialize, Serialize};

use crate::{
    colour::Colour,
    details::{PageDetails, PageDetailsPatch, guest_reminders},
    embedding::Origin,
    grid::Timetable,
    listeners::{Listeners, PlainListeners},
    questions::{Question, Questions},
    secret::{SecretHash, Slug},
    team::{Assignment, Team, TeamPatch},
};

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

/// The maximum number of earlier slugs of a page.
pub const FORMER_SLUGS_MAX: usize = 20;

/// The largest maximum number of bookings on one day.
pub const PER_DAY_MAX: u16 = 500;

/// A booking page as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct BookingPage {
    /// The identifier.
    pub id: BookingPageId,
    /// The organization.
    pub org: OrgId,
    /// The calendar whose time is booked.
    pub calendar: CalendarId,
    /// The other calendars whose time is booked; `None` if there are none.
    pub team: Option<Team>,
    /// The addresses that get an email about each booking.
    pub listeners: Listeners,
    /// The agent that owns the calendar; `None` for a shared calendar.
    pub agent: Option<AgentId>,
    /// The last part of the page's address.
    pub slug: Slug,
    /// Slugs that the page had before, at most [`FORMER_SLUGS_MAX`], the newest last. The links in emails to guests
    /// contain them.
    pub former_slugs: Vec<Slug>,
    /// The title, 1-255 characters.
    pub title: String,
    /// The description, as free text.
    pub description: Option<String>,
    /// What it shows, asks and sends in addition.
    pub details: PageDetails,
    /// The rule that places its slots.
    pub timetable: Timetable,
    /// Minutes that stay free before and after busy time, 0-120.
    pub buffer_minutes: u8,
    /// The number of days ahead for which slots are offered, 1-365.
    pub window_days: u16,
    /// The minimum notice in minutes: the shortest time between a booking and the start of the slot.
    pub min_notice_minutes: u32,
    /// The maximum number of bookings on one date of the page's zone, 1-500; `None` means no maximum.
    pub max_per_day: Option<u16>,
    /// How many guests can book the same slot, 1-500.
    pub seats: u16,
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
    /// The last part of its address; `None` generates one.
    pub slug: Option<Slug>,
    /// The title, 1-255 characters.
    pub title: String,
    /// The description, as free text.
    pub description: Option<String>,
    /// What it shows and asks in addition.
    pub details: PageDetails,
    /// The length of a slot, in minutes.
    pub duration_minutes: u16,
    /// The zone of the hours and dates; `None` is that of the calendar.
    pub zone: Option<Zone>,
    /// The hours of each weekday; `None` is always open.
    pub constraints: Option<Week<Hours>>,
    /// Minutes that stay free before and after busy time.
    pub buffer_minutes: u8,
    /// The number of days ahead for which slots are offered.
    pub window_days: u16,
    /// The minimum notice, in minutes.
    pub min_notice_minutes: u32,
    /// The maximum number of bookings on one date.
    pub max_per_day: Option<u16>,
    /// How many guests can book the same slot.
    pub seats: u16,
    /// Whether the page is open.
    pub active: bool,
}

/// What a request for a page names that must be looked up before the page can have it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedElsewhere {
    /// The calendars, by their ids.
    pub team: TeamPatch<String>,
    /// The addresses that get an email about each booking, which may be members'.
    pub notify_emails: Patch<Vec<Email>>,
}

/// The validated changes of a PATCH.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BookingPagePatch {
    /// A new last part of the address.
    pub slug: Patch<Slug>,
    /// A new title.
    pub title: Patch<String>,
    /// A new description; `None` clears it.
    pub description: Patch<Option<String>>,
    /// What it shows and asks in addition.
    pub details: PageDetailsPatch,
    /// The length of a slot, in minutes.
    pub duration_minutes: Patch<u16>,
    /// Minutes that stay free before and after busy time.
    pub buffer_minutes: Patch<u8>,
    /// The number of days ahead for which slots are offered.
    pub window_days: Patch<u16>,
    /// The minimum notice, in minutes.
    pub min_notice_minutes: Patch<u32>,
    /// The maximum number of bookings on one date; `None` means no maximum.
    pub max_per_day: Patch<Option<u16>>,
    /// How many guests can book the same slot.
    pub seats: Patch<u16>,
    /// The zone of the hours and dates.
    pub zone: Patch<Zone>,
    /// The hours of each weekday; `None` is always open.
    pub constraints: Patch<Option<Week<Hours>>>,
    /// Whether the page is open.
    pub active: Patch<bool>,
}

impl BookingPage {
    /// A new page for the time of one calendar in the zone `zone`.
    pub fn create(
        (org, calendar, agent): (OrgId, CalendarId, Option<AgentId>),
        zone: Zone,
        new: NewBookingPage,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        Self {
            id: BookingPageId::new(now, entropy),
            org,
            calendar,
            team: None,
            listeners: Listeners::default(),
            agent,
            slug: new.slug.unwrap_or_else(|| Slug::generate(entropy)),
            former_slugs: Vec::new(),
            title: new.title,
            description: new.description,
            details: new.details,
            timetable: Timetable {
                duration_minutes: new.duration_minutes,
                zone: new.zone.unwrap_or(zone),
                constraints: new.constraints,
            },
            buffer_minutes: new.buffer_minutes,
            window_days: new.window_days,
            min_notice_minutes: new.min_notice_minutes,
            max_per_day: new.max_per_day,
            seats: new.seats,
            active: new.active,
            bookings: 0,
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        }
    }

    /// The page after `patch`. Existing bookings stay as they are.
    ///
    /// # Errors
    /// The page has had too many slugs ([`FORMER_SLUGS_MAX`]).
    pub fn patched(&self, patch: BookingPagePatch, now: Timestamp) -> Result<Self, FieldError> {
        let mut page = Self { version: self.version.next(), updated_at: now, ..self.clone() };
        patch.slug.apply_to(&mut page.slug);
        if page.slug != self.slug {
            page.former_slugs.retain(|slug| *slug != page.slug && *slug != self.slug);
            page.former_slugs.push(self.slug.clone());
            if page.former_slugs.len() > FORMER_SLUGS_MAX {
                let message = format!(
                    "must stay as it is: the page has had {FORMER_SLUGS_MAX} others; make another page instead"
                );
                return Err(FieldError::new("slug", message));
            }
        }
        patch.details.apply_to(&mut page.details);
        patch.title.apply_to(&mut page.title);
        patch.description.apply_to(&mut page.description);
        patch.duration_minutes.apply_to(&mut page.timetable.duration_minutes);
        patch.buffer_minutes.apply_to(&mut page.buffer_minutes);
        patch.window_days.apply_to(&mut page.window_days);
        patch.min_notice_minutes.apply_to(&mut page.min_notice_minutes);
        patch.max_per_day.apply_to(&mut page.max_per_day);
        patch.seats.apply_to(&mut page.seats);
        patch.zone.apply_to(&mut page.timetable.zone);
        patch.constraints.apply_to(&mut page.timetable.constraints);
        patch.active.apply_to(&mut page.active);
        Ok(page)
    }

    /// Whether a link to a booking of the page may contain that slug.
    pub fn has_or_had(&self, slug: &str) -> bool {
        let hash = SecretHash::of(slug);
        self.former_slugs.iter().chain([&self.slug]).any(|known| known.hash() == hash)
    }

    /// The page marked as deleted. Existing bookings stay, and so do the links to them. The slug is free for other pages.
    #[must_use]
    pub fn deleted(&self, now: Timestamp, entropy: &dyn Entropy) -> Self {
        let mut page = Self { version: self.version.next(), updated_at: now, deleted_at: Some(now), ..self.clone() };
        page.former_slugs.push(std::mem::replace(&mut page.slug, Slug::generate(entropy)));
        // Their links lead nowhere from now on, so they get no more emails.
        page.listeners = Listeners::default();
        page
    }

    /// Every calendar whose time is booked, its own first.
    pub fn calendars(&self) -> impl Iterator<Item = CalendarId> {
        std::iter::once(self.calendar).chain(self.team.iter().flat_map(|team| team.others.iter().copied()))
    }

    /// Which calendars take part in a booking; `None` if only one calendar is booked.
    pub fn assignment(&self) -> Option<Assignment> {
        self.team.as_ref().map(|team| team.assignment)
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

    /// The dates of the page's zone that `span` touches, each as a whole: the time whose bookings count for the maximum of
    /// these dates. It ends a date later, because clocks that go back over midnight show a date again after the next one
    /// has begun.
    pub fn whole_days(&self, span: Span) -> Span {
        let zone = self.timetable.zone;
        let midnight = |at: Timestamp, days| zone.to_timestamp(zone.to_civil(at).date.plus_days(days).midnight());
        // Without a midnight in range, a span that is longer than any date contains the same dates.
        let from = midnight(span.start(), 0).unwrap_or(span.start() - SignedDuration::days(2));
        let to = midnight(span.end(), 2).unwrap_or(span.end() + SignedDuration::days(3));
        Span::new(from, to).unwrap_or(span)
    }

    /// The dates on which no more bookings are taken. `starts` are those of the bookings that take place, in any order.
    /// A slot is never on two dates.
    #[must_use]
    pub fn full_days(&self, starts: &[Timestamp]) -> BusySet {
        let Some(max) = self.max_per_day else { return BusySet::EMPTY };
        let mut dates: Vec<CivilDate> = starts.iter().map(|start| self.timetable.zone.to_civil(*start).date).collect();
        dates.sort_unstable();
        let full = dates.chunk_by(|one, next| one == next).filter(|same| same.len() >= usize::from(max));
        let day = |same: &[CivilDate]| {
            let midnight = |date: CivilDate| self.timetable.zone.to_timestamp(date.midnight());
            let date = same.first()?;
            Span::new(midnight(*date)?, midnight(date.plus_days(1))?).ok()
        };
        BusySet::from_unsorted(full.filter_map(day).collect())
    }

    /// The time that one calendar of the page does not offer in `window`: the time that it does not offer to anyone, and
    /// busy time widened by the page's buffer. If the calendar has buffers too, the longer one counts on each side.
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
    /// Slugs that the page had before.
    pub former_slugs: Vec<Slug>,
    /// The title.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// What the page shows and asks in addition.
    pub details: PageDetails,
    /// The maximum number of bookings on one date.
    pub max_per_day: Option<u16>,
    /// How many guests can book the same slot.
    pub seats: u16,
    /// The addresses that get an email about each booking.
    pub listeners: Listeners,
}

/// The plain form of [`Confidential`]. Fields that are not set are left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    slug: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former_slugs: Vec<String>,
    title: String,
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conference_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accent: Option<[u8; 3]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    embed_origins: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Question>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guest_reminders: Vec<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_per_day: Option<u16>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    seats: u16,
    #[serde(default, skip_serializing_if = "PlainListeners::is_empty")]
    listeners: PlainListeners,
}

const fn one() -> u16 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(seats: &u16) -> bool {
    *seats == 1
}

/// The document does not contain the fields of a booking page. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a booking page")]
pub struct ConfidentialError;

impl Confidential {
    /// Writes the document.
    pub fn write(page: &BookingPage) -> Vec<u8> {
        let PageDetails { host_name, location, conference_url, accent, embed_origins, questions, guest_reminders } =
            &page.details;
        let plain = Plain {
            slug: page.slug.reveal().to_owned(),
            former_slugs: page.former_slugs.iter().map(|slug| slug.reveal().to_owned()).collect(),
            title: page.title.clone(),
            description: page.description.clone(),
            host_name: host_name.clone(),
            location: location.clone(),
            conference_url: conference_url.as_ref().map(|url| url.as_str().to_owned()),
            accent: accent.map(|Colour(bytes)| bytes),
            embed_origins: embed_origins.iter().map(|origin| origin.as_str().to_owned()).collect(),
            questions: questions.as_slice().to_vec(),
            guest_reminders: guest_reminders.minutes().iter().map(|minutes| (*minutes).into()).collect(),
            max_per_day: page.max_per_day,
            seats: page.seats,
            listeners: page.listeners.write(),
        };
        // Serializing texts, numbers and booleans cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`ConfidentialError`].
    pub fn read(document: &[u8]) -> Result<Self, ConfidentialError> {
        let plain: Plain = serde_json::from_slice(document).map_err(|_| ConfidentialError)?;
        Ok(Self {
            slug: Slug::from_stored(plain.slug),
            former_slugs: plain.former_slugs.into_iter().map(Slug::from_stored).collect(),
            title: plain.title,
            description: plain.description,
            details: PageDetails {
                host_name: plain.host_name,
                location: plain.location,
                conference_url: plain.conference_url.map(ConferenceUrl::from_stored),
                accent: plain.accent.map(Colour),
                embed_origins: plain.embed_origins.into_iter().map(Origin::from_stored).collect(),
                questions: Questions::from_stored(plain.questions),
                guest_reminders: guest_reminders(&plain.guest_reminders).map_err(|_| ConfidentialError)?,
            },
            max_per_day: plain.max_per_day,
            seats: plain.seats,
            listeners: Listeners::read(plain.listeners),
        })
    }
}
