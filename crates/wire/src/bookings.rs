//! What guests can do on booking pages.

use std::borrow::Cow;

use kalends_bookings::{self as domain, Guest};
use kalends_calendars as calendars;
use kalends_kernel::{BookingPageId, CivilDate, Code, EventId, FieldError, FieldErrors, Span, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Event, EventStatus, Slot, event::instant, schemas::BookingStatus};

/// Selects the time in which slots are listed.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SlotsOfPage {
    /// Only slots that start at this time or later: RFC 3339 with an offset, or a date in the page's zone. Defaults
    /// to now.
    pub from: Option<String>,
    /// Only slots that end by this time: RFC 3339 with an offset, or a date in the page's zone, inclusive. Defaults
    /// to the end of the page's window.
    pub to: Option<String>,
}

/// One end of the requested time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// A timestamp.
    At(Timestamp),
    /// A date.
    On(CivilDate),
}

/// The requested time. Its dates are resolved in the zone of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedTime {
    from: Option<Asked>,
    to: Option<Asked>,
}

impl SlotsOfPage {
    /// Checks both parameters.
    ///
    /// # Errors
    /// Lists every invalid parameter.
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
    /// Resolves the time in the zone of a page. Returns `None` if neither end was given.
    ///
    /// # Errors
    /// `end_before_start`.
    pub fn by_clocks_of(self, zone: Zone) -> Result<Option<Span>, FieldError> {
        // Limits that cover every possible slot and that arithmetic cannot exceed.
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

/// A booking page, as guests see it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "slug": "x7Jd0aQ2mVtY5cKw9LrB3g", "title": "Intro call", "description": null, "duration_minutes": 30,
    "timezone": "Europe/Berlin"
}))]
pub struct OpenPage {
    /// The secret part at the end of the page's address.
    pub slug: String,
    /// The title of the page, which says what is booked.
    pub title: String,
    /// A description, as free text.
    pub description: Option<String>,
    /// The length of a slot, in minutes.
    pub duration_minutes: u16,
    /// The IANA time zone of the slots.
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

/// The slots that can be booked on a page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BookingSlots {
    /// The page.
    pub booking_page: OpenPage,
    /// The offered slots, sorted by start. At most 5,000.
    #[schema(max_items = 5000)]
    pub slots: Vec<Slot>,
    /// The start of the first slot that is not listed: send it as `from` to continue. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_from: Option<Timestamp>,
    /// Why the page offers no slots right now, with the code `booking_closed`. Absent while bookings are accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<PageNotice>,
}

/// A remark about an answer that is not an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageNotice {
    /// A stable name. `booking_closed`: no bookings are accepted right now.
    #[schema(value_type = String, example = "booking_closed")]
    pub code: Cow<'static, str>,
    /// The remark as text.
    #[schema(value_type = String)]
    pub message: Cow<'static, str>,
}

impl PageNotice {
    /// No bookings are accepted right now.
    pub const CLOSED: Self = Self {
        code: Cow::Borrowed("booking_closed"),
        message: Cow::Borrowed("booking is closed for now; bookings made before stay as they are"),
    };
}

impl BookingSlots {
    /// The maximum number of slots in one answer. It covers two weeks of the shortest slots, or a year of half-hour
    /// slots during the day.
    pub const MAX: usize = 5_000;

    /// Renders the [`BookingSlots`] of a page that is closed as JSON text.
    ///
    /// # Errors
    /// If the page cannot be serialized, which does not happen.
    pub fn render_closed(page: &domain::BookingPage) -> Result<Vec<u8>, serde_json::Error> {
        let notices = vec![PageNotice::CLOSED];
        serde_json::to_vec(&Self { booking_page: page.into(), slots: Vec::new(), next_from: None, notices })
    }

    /// Renders [`BookingSlots`] as JSON text. It takes only one more offer than it shows, and writes the digits of
    /// all times into one buffer.
    ///
    /// # Errors
    /// If the page cannot be serialized, which does not happen.
    pub fn render(
        page: &domain::BookingPage,
        offers: impl Iterator<Item = Span>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        /// The approximate size of a slot, in bytes.
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

/// The fields of a guest's booking.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "name": "Ada Lovelace", "email": "ada@example.com", "notes": "I bring the engine.", "start": "2026-03-02T09:00:00Z"
}))]
pub struct SubmitBooking {
    /// Your name, 1-200 characters.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The address that receives the confirmation, at most 320 characters.
    #[schema(format = "email", max_length = 320)]
    pub email: String,
    /// Notes for the host, up to 2,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub notes: Option<String>,
    /// The start of one of the offered slots. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start: String,
}

impl SubmitBooking {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
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

/// The slot to move a booking to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "start": "2026-03-02T10:00:00Z" }))]
pub struct MoveBooking {
    /// The start of one of the offered slots. RFC 3339 with an offset.
    #[schema(format = DateTime)]
    pub start: String,
}

impl MoveBooking {
    /// Checks the field.
    ///
    /// # Errors
    /// If the field is invalid.
    pub fn parse(self) -> Result<Timestamp, FieldErrors> {
        Ok(instant("start", &self.start)?)
    }
}

/// The addresses at which a guest can change a booking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BookingLinks {
    /// The address that cancels the booking with a POST without a body.
    #[schema(format = "uri")]
    pub cancel_url: String,
    /// The address that moves the booking with a POST of `start`. Absent if the requested address may only cancel.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri")]
    pub reschedule_url: Option<String>,
}

/// The part of an event that its guest sees.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "evt_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Intro call: Ada Lovelace", "start_time": "2026-03-02T09:00:00Z",
    "end_time": "2026-03-02T09:30:00Z", "status": "confirmed"
}))]
pub struct GuestEvent {
    /// The identifier, `evt_…`.
    #[schema(value_type = String)]
    pub id: EventId,
    /// The event's title.
    pub title: String,
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// Whether the event takes place.
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

/// A new booking.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Booked {
    /// The booking page, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The event.
    pub event: GuestEvent,
    /// The addresses at which the guest can change the booking.
    #[serde(flatten)]
    pub links: BookingLinks,
}

impl Booked {
    /// Builds the answer to a guest.
    pub fn new(page: &domain::BookingPage, event: &calendars::Event, links: BookingLinks) -> Self {
        Self { booking_page_id: page.id, event: event.into(), links }
    }
}

/// A booking, as its guest sees it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GuestBooking {
    /// The booking page, `bkp_…`.
    #[schema(value_type = String)]
    pub booking_page_id: BookingPageId,
    /// The page, as guests see it.
    pub booking_page: OpenPage,
    /// `confirmed`, or `cancelled` by the guest or the owner of the calendar.
    #[schema(value_type = BookingStatus, example = "confirmed")]
    pub status: Cow<'static, str>,
    /// The event as it is now. If the owner moves it in the calendar, the booking moves too. Null if it was deleted.
    pub event: Option<GuestEvent>,
    /// The guest's name.
    pub name: String,
    /// The address that receives mail about the booking.
    pub email: String,
    /// The guest's notes.
    pub notes: Option<String>,
    /// The addresses at which the guest can change the booking. Absent if it is cancelled.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub links: Option<BookingLinks>,
}

impl GuestBooking {
    /// Builds the booking. `moves` is whether the guest's token may move it; otherwise it may only cancel it.
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

/// An event of a booking, as the payload of webhook messages.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BookedEvent {
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The page on which the event was booked, `bkp_…`.
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
    fn rendered_slots_match_the_serialized_type() {
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
    #[case::a_date_with_25_hours(
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
    #[case::not_a_date(None, Some("2026-02-29"), Err("to"))]
    #[case::too_late(None, Some("2100-01-01"), Err("to"))]
    fn requested_times_are_resolved_in_the_zone(
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
