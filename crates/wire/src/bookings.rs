//! What guests do on booking pages.

use std::borrow::Cow;

use kalends_bookings::{self as domain, Guest};
use kalends_calendars as calendars;
use kalends_kernel::{BookingPageId, CivilDate, Code, EventId, FieldError, FieldErrors, Span, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Event, EventStatus, Slot, event::instant, schemas::BookingStatus};

/// Of which time slots are asked for.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SlotsOfPage {
    /// Only slots that begin then or later: RFC 3339 with an offset, or a date of the page's zone. From now on unless
    /// told.
    pub from: Option<String>,
    /// Only slots that end by then: RFC 3339 with an offset, or a date of the page's zone, which is included. To the end
    /// of the page's window unless told.
    pub to: Option<String>,
}

/// One end of the time that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// An instant.
    At(Timestamp),
    /// A date.
    On(CivilDate),
}

/// The time that is asked for, to be told by the clocks of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedTime {
    from: Option<Asked>,
    to: Option<Asked>,
}

impl SlotsOfPage {
    /// Checks both parameters.
    ///
    /// # Errors
    /// All parameters at fault.
    pub fn parse(self) -> Result<AskedTime, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut end = |param: &str, text: Option<&str>| errors.take(text.map(|text| asked(param, text)).transpose());
        let (from, to) = (end("from", self.from.as_deref()), end("to", self.to.as_deref()));
        match (from, to) {
            (Some(from), Some(to)) => Ok(AskedTime { from, to }),
            _ => Err(errors),
        }
    }
}

fn asked(param: &str, text: &str) -> Result<Asked, FieldError> {
    match text.parse::<CivilDate>() {
        Ok(date) => {
            let years = Timestamp::EARLIEST.utc_date()..Timestamp::HORIZON.utc_date();
            let message = || format!("must lie in the years 1970 to 2099, got {date}");
            years.contains(&date).then_some(Asked::On(date)).ok_or_else(|| FieldError::new(param, message()))
        }
        Err(_) => instant(param, text).map(Asked::At),
    }
}

impl AskedTime {
    /// The time by the clocks of a page; `None` where nothing narrows its window.
    ///
    /// # Errors
    /// `end_before_start`.
    pub fn by_clocks_of(self, zone: Zone) -> Result<Option<Span>, FieldError> {
        // Far enough, and far from where reckoning ends.
        let (first, last) = (Timestamp::EARLIEST, Timestamp::HORIZON);
        let midnight = |date: CivilDate| zone.to_timestamp(date.midnight());
        let from = self.from.map_or(Some(first), |asked| match asked {
            Asked::At(instant) => Some(instant),
            Asked::On(date) => midnight(date),
        });
        let to = self.to.map_or(Some(last), |asked| match asked {
            Asked::At(instant) => Some(instant),
            Asked::On(date) => midnight(date.plus_days(1)),
        });
        if self.from.is_none() && self.to.is_none() {
            return Ok(None);
        }
        let (from, to) = (from.unwrap_or(first), to.unwrap_or(last));
        Span::new(from, to)
            .map(Some)
            .map_err(|error| FieldError::new("to", error.to_string()).with_code(Code::EndBeforeStart))
    }
}

/// What guests see of a booking page.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "slug": "x7Jd0aQ2mVtY5cKw9LrB3g", "title": "Intro call", "description": null, "duration_minutes": 30,
    "timezone": "Europe/Berlin"
}))]
pub struct OpenPage {
    /// What the page's address ends with.
    pub slug: String,
    /// What is booked.
    pub title: String,
    /// Free text.
    pub description: Option<String>,
    /// How long a slot is.
    pub duration_minutes: u16,
    /// Whose clocks and dates the slots follow.
    pub timezone: String,
}

impl From<&domain::BookingPage> for OpenPage {
    fn from(page: &domain::BookingPage) -> Self {
        Self {
            slug: page.slug.reveal().to_owned(),
            title: page.title.clone(),
            description: page.description.clone(),
            duration_minutes: page.timetable.duration_minutes,
            timezone: page.timetable.zone.name().to_owned(),
        }
    }
}

/// What can be booked on a page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BookingSlots {
    /// The page.
    pub booking_page: OpenPage,
    /// The slots that are offered, by start; at most 5,000.
    #[schema(max_items = 5000)]
    pub slots: Vec<Slot>,
    /// The start of the first slot beyond: ask again with this `from`. Absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_from: Option<Timestamp>,
    /// Why the page offers nothing at all now, with the code `booking_closed`. Absent while bookings are taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<PageNotice>,
}

/// Something to know about an answer that is no error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageNotice {
    /// A stable name: `booking_closed`, no booking is taken for now.
    #[schema(value_type = String, example = "booking_closed")]
    pub code: Cow<'static, str>,
    /// The same in words.
    #[schema(value_type = String)]
    pub message: Cow<'static, str>,
}

impl PageNotice {
    /// No booking is taken for now.
    pub const CLOSED: Self = Self {
        code: Cow::Borrowed("booking_closed"),
        message: Cow::Borrowed("booking is closed for now; bookings made before stay as they are"),
    };
}

impl BookingSlots {
    /// The most slots of one answer: all of a fortnight of the shortest ones, or of a year of half hours by day.
    pub const MAX: usize = 5_000;

    /// [`BookingSlots`] of a page that is closed for now, as JSON text.
    ///
    /// # Errors
    /// If the page cannot be written, which does not happen.
    pub fn render_closed(page: &domain::BookingPage) -> Result<Vec<u8>, serde_json::Error> {
        let notices = vec![PageNotice::CLOSED];
        serde_json::to_vec(&Self { booking_page: page.into(), slots: Vec::new(), next_from: None, notices })
    }

    /// [`BookingSlots`] as JSON text, of which no more is taken than is shown. Times are written as digits into one buffer.
    ///
    /// # Errors
    /// Where the page cannot be written, which cannot be.
    pub fn render(
        page: &domain::BookingPage,
        offers: impl Iterator<Item = Span>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        /// About how many bytes a slot takes.
        const SLOT: usize = 64;
        let mut slots: Vec<Span> = offers.take(Self::MAX + 1).collect();
        let next = if slots.len() > Self::MAX { slots.pop() } else { None };
        let mut text = Vec::with_capacity(1024 + slots.len() * SLOT);
        text.extend_from_slice(b"{\"booking_page\":");
        serde_json::to_writer(&mut text, &OpenPage::from(page))?;
        text.extend_from_slice(b",\"slots\":[");
        for (index, slot) in slots.iter().enumerate() {
            text.extend_from_slice(if index == 0 { b"{\"start\":\"" } else { b",{\"start\":\"" });
            slot.start().write_iso(&mut text);
            text.extend_from_slice(b"\",\"end\":\"");
            slot.end().write_iso(&mut text);
            text.extend_from_slice(b"\"}");
        }
        text.extend_from_slice(b"]");
        if let Some(next) = next {
            text.extend_from_slice(b",\"next_from\":\"");
            next.start().write_iso(&mut text);
            text.extend_from_slice(b"\"");
        }
        text.extend_from_slice(b"}");
        Ok(text)
    }
}

/// What a guest sends to book a slot.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "name": "Ada Lovelace", "email": "ada@example.com", "notes": "I bring the engine.", "start": "2026-03-02T09:00:00Z"
}))]
pub struct SubmitBooking {
    /// 1-200 characters.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// Where the confirmation goes; at most 320 characters.
    #[schema(format = "email", max_length = 320)]
    pub email: String,
    /// Up to 2,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub notes: Option<String>,
    /// The start of one of the slots that are offered, RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start: String,
}

impl SubmitBooking {
    /// Checks every field.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<(Timestamp, Guest), FieldErrors> {
        let mut errors = FieldErrors::default();
        let guest = errors.take_all(Guest::parse(&self.name, &self.email, self.notes.as_deref()));
        let start = errors.take(instant("start", &self.start));
        match (start, guest) {
            (Some(start), Some(guest)) => Ok((start, guest)),
            _ => Err(errors),
        }
    }
}

/// To which slot a booking is moved.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "start": "2026-03-02T10:00:00Z" }))]
pub struct MoveBooking {
    /// The start of one of the slots that are offered, RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start: String,
}

impl MoveBooking {
    /// Checks the field.
    ///
    /// # Errors
    /// The field, where it is at fault.
    pub fn parse(self) -> Result<Timestamp, FieldErrors> {
        Ok(instant("start", &self.start)?)
    }
}

/// Where a guest goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BookingLinks {
    /// Where the booking is cancelled: a POST without a body.
    #[schema(format = "uri")]
    pub cancel_url: String,
    /// Where it is moved: a POST of `start`. Left out where the address that was asked is not good for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri")]
    pub reschedule_url: Option<String>,
}

/// What of an event its guest sees.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "evt_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Intro call: Ada Lovelace", "start_time": "2026-03-02T09:00:00Z",
    "end_time": "2026-03-02T09:30:00Z", "status": "confirmed"
}))]
pub struct GuestEvent {
    /// `evt_…`
    #[schema(value_type = String)]
    pub id: EventId,
    /// Its title.
    pub title: String,
    /// Its start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// Its end.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// Whether it takes place.
    pub status: EventStatus,
}

impl From<&calendars::Event> for GuestEvent {
    fn from(event: &calendars::Event) -> Self {
        Self {
            id: event.id,
            title: event.title.clone(),
            start_time: event.times.span.start(),
            end_time: event.times.span.end(),
            status: event.status.into(),
        }
    }
}

/// What a guest has booked just now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Booked {
    /// The page, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The event.
    pub event: GuestEvent,
    /// Where the guest goes on.
    #[serde(flatten)]
    pub links: BookingLinks,
}

impl Booked {
    /// The answer to a guest.
    pub fn new(page: &domain::BookingPage, event: &calendars::Event, links: BookingLinks) -> Self {
        Self { booking_page_id: page.id, event: event.into(), links }
    }
}

/// A booking as its guest sees it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GuestBooking {
    /// The page, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// What guests see of it.
    pub booking_page: OpenPage,
    /// `confirmed`, or `cancelled` by the guest or by the owner of the calendar.
    #[schema(value_type = BookingStatus, example = "confirmed")]
    pub status: Cow<'static, str>,
    /// The event as it is now: whoever moves it in the calendar moves the booking. Null where it was deleted.
    pub event: Option<GuestEvent>,
    /// The guest's name.
    pub name: String,
    /// Where letters go.
    pub email: String,
    /// What the guest added.
    pub notes: Option<String>,
    /// Where the guest goes on; left out of a booking that is cancelled.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub links: Option<BookingLinks>,
}

impl GuestBooking {
    /// The booking, shown to a token that moves it, or only cancels it.
    pub fn new(
        page: &domain::BookingPage,
        booking: &domain::Booking,
        event: Option<&calendars::Event>,
        links: BookingLinks,
        moves: bool,
    ) -> Self {
        let takes_place = event.is_some_and(|event| event.status != calendars::EventStatus::Cancelled);
        let links = BookingLinks { reschedule_url: links.reschedule_url.filter(|_| moves), ..links };
        Self {
            booking_page_id: page.id,
            booking_page: page.into(),
            status: if takes_place { "confirmed" } else { "cancelled" }.into(),
            event: event.map(GuestEvent::from),
            name: booking.guest.name.clone(),
            email: booking.guest.email.as_str().to_owned(),
            notes: booking.guest.notes.clone(),
            links: takes_place.then_some(links),
        }
    }
}

/// An event of a booking, as webhooks tell it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BookedEvent {
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The page on which it was booked, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{CalendarId, Entropy, OrgId, SignedDuration};
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::CreateBookingPage;

    struct Zeros;

    impl Entropy for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    fn page(zone: &str) -> domain::BookingPage {
        let body = json!({ "calendar_id": "cal_1", "title": "Intro \"call\"", "timezone": zone });
        let (_, new) = serde_json::from_value::<CreateBookingPage>(body).unwrap().parse().unwrap();
        let now = Timestamp::EARLIEST;
        let of = (OrgId::new(now, &Zeros), CalendarId::new(now, &Zeros), None);
        domain::BookingPage::create(of, new, now, &Zeros)
    }

    #[test]
    fn slots_are_written_like_everything_else() {
        let page = page("UTC");
        let slot = |minute| {
            let start = "2026-03-02T09:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::minutes(minute);
            Span::new(start, start + SignedDuration::minutes(30)).unwrap()
        };
        let most = i64::try_from(BookingSlots::MAX).unwrap();
        for count in [0, 1, 3, most, most + 1, most + 2] {
            let offers = (0..count).map(|number| slot(30 * number));
            let text: Value = serde_json::from_slice(&BookingSlots::render(&page, offers.clone()).unwrap()).unwrap();
            let slots = offers.clone().take(BookingSlots::MAX).map(Slot::from).collect();
            let next_from = offers.clone().nth(BookingSlots::MAX).map(Span::start);
            let expected =
                serde_json::to_value(BookingSlots { booking_page: (&page).into(), slots, next_from, notices: vec![] })
                    .unwrap();
            assert_eq!(text, expected);
        }
    }

    #[rstest]
    #[case::nothing(None, None, Ok(None))]
    #[case::a_date(Some("2026-03-29"), Some("2026-03-29"), Ok(Some("2026-03-28T23:00:00Z 2026-03-29T22:00:00Z")))]
    #[case::the_date_of_25_hours(
        Some("2026-10-25"),
        Some("2026-10-25"),
        Ok(Some("2026-10-24T22:00:00Z 2026-10-25T23:00:00Z"))
    )]
    #[case::instants(
        Some("2026-03-02T10:00:00+01:00"),
        Some("2026-03-02T10:00:00Z"),
        Ok(Some("2026-03-02T09:00:00Z 2026-03-02T10:00:00Z"))
    )]
    #[case::from_alone(Some("2099-12-31"), None, Ok(Some("2099-12-30T23:00:00Z 2100-01-01T00:00:00Z")))]
    #[case::to_alone(None, Some("2026-02-28"), Ok(Some("1970-01-01T00:00:00Z 2026-02-28T23:00:00Z")))]
    #[case::the_last_date(None, Some("2099-12-31"), Ok(Some("1970-01-01T00:00:00Z 2099-12-31T23:00:00Z")))]
    #[case::backwards(Some("2026-03-03"), Some("2026-03-02"), Err("to"))]
    #[case::no_offset(Some("2026-03-03T10:00:00"), None, Err("from"))]
    #[case::no_date(None, Some("2026-02-29"), Err("to"))]
    #[case::too_late(None, Some("2100-01-01"), Err("to"))]
    fn the_time_that_is_asked_for(
        #[case] from: Option<&str>,
        #[case] to: Option<&str>,
        #[case] expected: Result<Option<&str>, &str>,
    ) {
        let asked = SlotsOfPage { from: from.map(str::to_owned), to: to.map(str::to_owned) };
        let berlin = "Europe/Berlin".parse().unwrap();
        let found = asked.parse().map_err(|errors| errors.first().param);
        let found = found.and_then(|asked| asked.by_clocks_of(berlin).map_err(|error| error.param));
        let shown = found.map(|span| span.map(|span| format!("{} {}", span.start(), span.end())));
        assert_eq!(shown.as_ref().map(Option::as_deref).map_err(String::as_str), expected);
    }
}
