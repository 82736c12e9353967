//! Parses the requests into values of the domain, and builds the answers from them.

use std::borrow::Cow;

use kalends_bookings::{self as domain, Guest};
use kalends_calendars as calendars;
use kalends_kernel::{Code, FieldError, FieldErrors, Locale, LocaleError, Page, optional_text};
use kalends_time::{CivilDate, Span, Timestamp, Zone};
use serde_json::{Map, Value};

use super::{
    Booked, Booking, BookingLinks, BookingSlots, CancelBooking, GuestBooking, GuestEvent, ListBookings, MoveBooking,
    OpenPage, PageNotice, SlotsOfPage, SubmitBooking,
};
use crate::{
    Paging, Question,
    fields::{instant, zone},
};

/// One end of the requested time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeEnd {
    /// A timestamp.
    At(Timestamp),
    /// A date.
    On(CivilDate),
}

/// The requested time. Its dates are resolved in the zone of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotRange {
    from: Option<RangeEnd>,
    to: Option<RangeEnd>,
}

impl SlotsOfPage {
    /// Checks both parameters.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<SlotRange, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut end =
            |param: &str, text: Option<&str>| errors.take(text.map(|text| range_end(param, text)).transpose());
        let (from, to) = (end("from", self.from.as_deref()), end("to", self.to.as_deref()));
        match (from, to) {
            (Some(from), Some(to)) => Ok(SlotRange { from, to }),
            _ => Err(errors),
        }
    }
}

fn range_end(param: &str, text: &str) -> Result<RangeEnd, FieldError> {
    match text.parse::<CivilDate>() {
        Ok(date) => {
            let years = Timestamp::EPOCH.utc_date()..Timestamp::HORIZON.utc_date();
            let message = || format!("must be in the years 1970 to 2099, got {date}");
            years.contains(&date).then_some(RangeEnd::On(date)).ok_or_else(|| FieldError::new(param, message()))
        }
        Err(_) => instant(param, text).map(RangeEnd::At),
    }
}

impl SlotRange {
    /// Resolves the time in the zone of a page. Returns `None` if neither end was given.
    ///
    /// # Errors
    /// `end_before_start` if the end is not after the start.
    pub fn by_clocks_of(self, zone: Zone) -> Result<Option<Span>, FieldError> {
        // Limits that cover every possible slot and that arithmetic cannot exceed.
        let (first, last) = (Timestamp::EPOCH, Timestamp::HORIZON);
        let midnight = |date: CivilDate| zone.to_timestamp(date.midnight());
        let from = self.from.map_or(Some(first), |end| match end {
            RangeEnd::At(instant) => Some(instant),
            RangeEnd::On(date) => midnight(date),
        });
        let to = self.to.map_or(Some(last), |end| match end {
            RangeEnd::At(instant) => Some(instant),
            RangeEnd::On(date) => midnight(date.plus_days(1)),
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

impl From<&domain::BookingPage> for OpenPage {
    fn from(page: &domain::BookingPage) -> Self {
        Self {
            slug: page.slug.reveal().to_owned(),
            title: page.title.clone(),
            description: page.description.clone(),
            host_name: page.details.host_name.clone(),
            location: page.details.location.clone(),
            questions: page.details.questions.as_slice().iter().map(Question::from).collect(),
            duration_minutes: page.timetable.duration_minutes,
            timezone: page.timetable.zone.name().to_owned(),
        }
    }
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

    /// Renders the [`BookingSlots`] of a closed page as JSON text.
    ///
    /// # Errors
    /// If the page cannot be serialized, which does not happen.
    pub fn render_closed(page: &domain::BookingPage) -> Result<Vec<u8>, serde_json::Error> {
        let notices = vec![PageNotice::CLOSED];
        serde_json::to_vec(&Self { booking_page: page.into(), slots: Vec::new(), next_from: None, notices })
    }

    /// Renders [`BookingSlots`] as JSON text. It reads at most one slot more than it lists, and writes the digits of
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

impl SubmitBooking {
    /// Checks every field except the answers, which the questions of the page check ([`domain::Questions::read`]).
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(Timestamp, Guest, Map<String, Value>), FieldErrors> {
        let mut errors = FieldErrors::default();
        let guest = errors.take_all(Guest::parse(&self.name, &self.email, self.notes.as_deref()));
        let start = errors.take(instant("start", &self.start));
        let zone = errors.take(self.timezone.as_deref().map(|name| zone("timezone", name)).transpose());
        let read = |tag: &str| tag.parse().map_err(|error: LocaleError| FieldError::new("language", error.to_string()));
        let locale = errors.take(self.language.as_deref().map_or(Ok(Locale::DEFAULT), read));
        match (start, guest, zone, locale) {
            (Some(start), Some(guest), Some(zone), Some(locale)) => {
                Ok((start, Guest { zone, locale, ..guest }, self.answers))
            }
            _ => Err(errors),
        }
    }
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

impl GuestEvent {
    /// Builds the event as its guest sees it ([`Guest::view_of`]).
    pub fn new(page: &domain::BookingPage, booking: &domain::Booking, event: &calendars::Event) -> Self {
        let event = booking.guest.view_of(event);
        Self {
            id: event.id,
            // The owner may note down who comes to a shared event.
            title: if booking.shared { page.title.clone() } else { event.title },
            start_time: event.times.span.start(),
            end_time: event.times.span.end(),
            status: event.status.into(),
            location: event.location,
            conference_url: event.conference_url.map(String::from),
        }
    }
}

impl From<&domain::BookingNow> for Booking {
    fn from(now: &domain::BookingNow) -> Self {
        let domain::Booking { guest, .. } = &now.booking;
        let (cancelled_at, cancelled_by) = now.cancelled().unzip();
        Self {
            id: now.booking.id,
            event_id: now.booking.event,
            booking_page_id: now.booking.page,
            calendar_id: now.calendar,
            status: if cancelled_at.is_none() { "confirmed" } else { "cancelled" }.into(),
            start_time: now.span.start(),
            end_time: now.span.end(),
            name: guest.name.clone(),
            email: guest.email.as_str().to_owned(),
            notes: guest.notes.clone(),
            answers: guest.answers.as_map().clone().into_iter().collect(),
            created_at: now.booking.created_at,
            cancelled_at,
            cancelled_by: cancelled_by.map(|by| by.as_str().into()),
        }
    }
}

impl ListBookings {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(self) -> Result<(domain::BookingFilter, Page), FieldErrors> {
        let mut errors = FieldErrors::default();
        let cancelled = errors.take(match self.status.as_deref() {
            None => Ok(None),
            Some("confirmed") => Ok(Some(false)),
            Some("cancelled") => Ok(Some(true)),
            Some(other) => Err(FieldError::new("status", format!("must be one of confirmed, cancelled, got {other}"))),
        });
        let mut time = |param, text: Option<&str>| errors.take(text.map(|text| instant(param, text)).transpose());
        let start_after = time("start_after", self.start_after.as_deref());
        let start_before = time("start_before", self.start_before.as_deref());
        let page = errors.take_all(Paging { limit: self.limit, offset: self.offset }.parse());
        match (cancelled, start_after, start_before, page) {
            (Some(cancelled), Some(start_after), Some(start_before), Some(page)) => {
                Ok((domain::BookingFilter { cancelled, start_after, start_before }, page))
            }
            _ => Err(errors),
        }
    }
}

impl CancelBooking {
    /// Checks the reason. A blank one counts as none.
    ///
    /// # Errors
    /// If it is too long.
    pub fn parse(self) -> Result<Option<String>, FieldErrors> {
        let reason = optional_text("reason", self.reason.as_deref(), domain::REASON_MAX)?;
        Ok(reason.filter(|reason| !reason.trim().is_empty()))
    }
}

impl Booked {
    /// Builds the answer to a guest.
    pub fn new(
        page: &domain::BookingPage,
        booking: &domain::Booking,
        event: &calendars::Event,
        links: BookingLinks,
    ) -> Self {
        Self { booking_page_id: booking.page, event: GuestEvent::new(page, booking, event), links }
    }
}

impl GuestBooking {
    /// Builds the booking. `moves` says whether the guest's token may move the booking. If not, the token may only
    /// cancel it.
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
            event: event.map(|event| GuestEvent::new(page, booking, event)),
            name: booking.guest.name.clone(),
            email: booking.guest.email.as_str().to_owned(),
            notes: booking.guest.notes.clone(),
            answers: booking.guest.answers.as_map().clone().into_iter().collect(),
            links: takes_place.then_some(links),
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{CalendarId, Entropy, OrgId};
    use kalends_time::SignedDuration;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::{CreateBookingPage, Slot};

    struct Zeros;

    impl Entropy for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    fn page(zone: &str) -> domain::BookingPage {
        let body = json!({ "calendar_id": "cal_1", "title": "Intro \"call\"", "timezone": zone });
        let (_, new, _) = serde_json::from_value::<CreateBookingPage>(body).unwrap().parse().unwrap();
        let now = Timestamp::EPOCH;
        let of = (OrgId::new(now, &Zeros), CalendarId::new(now, &Zeros), None);
        domain::BookingPage::create(of, Zone::UTC, new, now, &Zeros)
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
        let query = SlotsOfPage { from: from.map(str::to_owned), to: to.map(str::to_owned) };
        let berlin = "Europe/Berlin".parse().unwrap();
        let found = query.parse().map_err(|errors| errors.first().param);
        let found = found.and_then(|query| query.by_clocks_of(berlin).map_err(|error| error.param));
        let described = found.map(|span| span.map(|span| format!("{} {}", span.start(), span.end())));
        assert_eq!(described.as_ref().map(Option::as_deref).map_err(String::as_str), expected);
    }
}
