//! Booking pages, as their owners see them.

use kalends_availability::{Hours, Week, WrittenHours};
use kalends_bookings::{
    self as domain, BUFFER_MAX_MINUTES, BookingPagePatch, DESCRIPTION_MAX, DURATION_DEFAULT_MINUTES,
    DURATION_MAX_MINUTES, DURATION_MIN_MINUTES, NOTICE_MAX_MINUTES, NewBookingPage, TITLE_MAX, Timetable,
    WINDOW_DEFAULT_DAYS, WINDOW_MAX_DAYS,
};
use kalends_calendars::Patch;
use kalends_kernel::{
    AgentId, BookingPageId, CalendarId, Code, FieldError, FieldErrors, OrgId, Timestamp, Zone, bounded_text,
    optional_text,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    WorkingHours,
    patch::{Given, given, nothing_to_change, set, set_or_clear},
};

/// A public page on which guests book slots of a calendar.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "bkp_01jn8r6v9ke0bt3m5qz2c7xwdh", "org_id": "org_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "slug": "x7Jd0aQ2mVtY5cKw9LrB3g", "title": "Intro call", "description": null, "duration_minutes": 30,
    "buffer_minutes": 10, "window_days": 14, "min_notice_minutes": 120, "timezone": "Europe/Berlin",
    "availability_constraints": { "mon": { "start": "09:00", "end": "17:00" } }, "active": true, "bookings_count": 3,
    "booking_url": "https://calendar.example.com/book/x7Jd0aQ2mVtY5cKw9LrB3g",
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct BookingPage {
    /// The identifier, `bkp_…`.
    #[schema(value_type = String)]
    pub id: BookingPageId,
    /// The owning organization, `org_…`.
    #[schema(value_type = String)]
    pub org_id: OrgId,
    /// The calendar that is booked, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The agent that owns the calendar; null for a shared calendar.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The secret part at the end of the page's address. Anyone who has it can book.
    pub slug: String,
    /// The title of the page, which says what is booked.
    pub title: String,
    /// A description, as free text.
    pub description: Option<String>,
    /// The length of a slot, in minutes.
    pub duration_minutes: u16,
    /// Minutes kept free before and after everything that blocks.
    pub buffer_minutes: u8,
    /// The number of days ahead for which slots are offered.
    pub window_days: u16,
    /// The minimum time between a booking and the start of its slot, in minutes.
    pub min_notice_minutes: u32,
    /// The IANA time zone of the slots.
    pub timezone: String,
    /// The opening hours of each weekday. A weekday that is left out is closed. Null means any time.
    pub availability_constraints: Option<WorkingHours>,
    /// Whether the page accepts bookings.
    pub active: bool,
    /// The number of bookings that were made on the page, including cancelled ones.
    pub bookings_count: u64,
    /// The address on which guests book.
    #[schema(format = "uri")]
    pub booking_url: String,
    /// When the page was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the page was last changed. Bookings do not count as changes.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl BookingPage {
    /// Builds the answer of a service that is reachable at `base_url`.
    pub fn new(page: &domain::BookingPage, base_url: &str) -> Self {
        let constraints = page.timetable.constraints.as_ref().map(Week::<WrittenHours>::from);
        Self {
            id: page.id,
            org_id: page.org,
            calendar_id: page.calendar,
            agent_id: page.agent,
            slug: page.slug.reveal().to_owned(),
            title: page.title.clone(),
            description: page.description.clone(),
            duration_minutes: page.timetable.duration_minutes,
            buffer_minutes: page.buffer_minutes,
            window_days: page.window_days,
            min_notice_minutes: page.min_notice_minutes,
            timezone: page.timetable.zone.name().to_owned(),
            availability_constraints: constraints.map(Into::into),
            active: page.active,
            bookings_count: page.bookings,
            booking_url: format!("{base_url}/book/{}", page.slug.reveal()),
            created_at: page.created_at,
            updated_at: page.updated_at,
        }
    }
}

/// The fields of a new booking page.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "title": "Intro call", "duration_minutes": 30, "buffer_minutes": 10,
    "timezone": "Europe/Berlin", "availability_constraints": { "mon": { "start": "09:00", "end": "17:00" } }
}))]
pub struct CreateBookingPage {
    /// The calendar to book, `cal_…`.
    pub calendar_id: String,
    /// A title that says what is booked, 1-255 characters.
    #[schema(min_length = 1, max_length = 255)]
    pub title: String,
    /// A description of up to 5,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 5000)]
    pub description: Option<String>,
    /// The length of a slot, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 5, maximum = 480, default = 30)]
    pub duration_minutes: Option<i64>,
    /// Minutes to keep free before and after everything that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 120, default = 0)]
    pub buffer_minutes: Option<i64>,
    /// The number of days ahead for which slots are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365, default = 14)]
    pub window_days: Option<i64>,
    /// The minimum time between a booking and the start of its slot, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 525600, default = 0)]
    pub min_notice_minutes: Option<i64>,
    /// The IANA time zone of the slots. Defaults to UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// The opening hours of each weekday. A weekday that is left out is closed. Null means any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability_constraints: Option<WorkingHours>,
    /// Whether the page accepts bookings. Defaults to true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

fn title(text: &str) -> Result<String, FieldError> {
    bounded_text("title", text, 1, TITLE_MAX)
}

/// Parses a number within bounds.
fn number<T: TryFrom<i64> + PartialOrd + std::fmt::Display>(
    param: &str,
    given: i64,
    (min, max): (T, T),
) -> Result<T, FieldError> {
    let fits = T::try_from(given).ok().filter(|number| *number >= min && *number <= max);
    fits.ok_or_else(|| FieldError::new(param, format!("must be {min} to {max}, got {given}")))
}

fn duration(minutes: i64) -> Result<u16, FieldError> {
    number("duration_minutes", minutes, (DURATION_MIN_MINUTES, DURATION_MAX_MINUTES))
}

fn buffer(minutes: i64) -> Result<u8, FieldError> {
    number("buffer_minutes", minutes, (0, BUFFER_MAX_MINUTES))
}

fn window(days: i64) -> Result<u16, FieldError> {
    number("window_days", days, (1, WINDOW_MAX_DAYS))
}

fn notice(minutes: i64) -> Result<u32, FieldError> {
    number("min_notice_minutes", minutes, (0, NOTICE_MAX_MINUTES))
}

fn zone(name: &str) -> Result<Zone, FieldError> {
    name.parse().map_err(|error: kalends_kernel::ZoneError| {
        FieldError::new("timezone", error.to_string()).with_code(Code::InvalidTimezone)
    })
}

fn constraints(week: WorkingHours) -> Result<Week<Hours>, FieldErrors> {
    Week::read("availability_constraints", &week.into())
}

impl CreateBookingPage {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(String, NewBookingPage), FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(title(&self.title));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let duration = errors.take(self.duration_minutes.map_or(Ok(DURATION_DEFAULT_MINUTES), duration));
        let buffer = errors.take(self.buffer_minutes.map_or(Ok(0), buffer));
        let window = errors.take(self.window_days.map_or(Ok(WINDOW_DEFAULT_DAYS), window));
        let notice = errors.take(self.min_notice_minutes.map_or(Ok(0), notice));
        let zone = errors.take(self.timezone.as_deref().map_or(Ok(Zone::UTC), zone));
        let constraints = errors.take_all(self.availability_constraints.map(constraints).transpose());
        match (title, description, duration, buffer, window, notice, zone, constraints) {
            (
                Some(title),
                Some(description),
                Some(duration_minutes),
                Some(buffer_minutes),
                Some(window_days),
                Some(min_notice_minutes),
                Some(zone),
                Some(constraints),
            ) => {
                let timetable = Timetable { duration_minutes, zone, constraints };
                let active = self.active.unwrap_or(true);
                let new = NewBookingPage {
                    title,
                    description,
                    timetable,
                    buffer_minutes,
                    window_days,
                    min_notice_minutes,
                    active,
                };
                Ok((self.calendar_id, new))
            }
            _ => Err(errors),
        }
    }
}

/// The fields of a booking page that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "active": false }))]
pub struct UpdateBookingPage {
    /// A new title, 1-255 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    pub title: Given<String>,
    /// A new description of up to 5,000 characters. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 5000)]
    pub description: Given<String>,
    /// The length of a slot, in minutes.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 5, maximum = 480)]
    pub duration_minutes: Given<i64>,
    /// Minutes to keep free before and after everything that blocks.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0, maximum = 120)]
    pub buffer_minutes: Given<i64>,
    /// The number of days ahead for which slots are offered.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1, maximum = 365)]
    pub window_days: Given<i64>,
    /// The minimum time between a booking and the start of its slot, in minutes.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0, maximum = 525600)]
    pub min_notice_minutes: Given<i64>,
    /// The IANA time zone of the slots.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub timezone: Given<String>,
    /// Replaces the opening hours of all weekdays. Null means any time.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WorkingHours>)]
    pub availability_constraints: Given<WorkingHours>,
    /// Whether the page accepts bookings.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub active: Given<bool>,
}

impl UpdateBookingPage {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self) -> Result<BookingPagePatch, FieldErrors> {
        const FIELDS: &str = "title, description, duration_minutes, buffer_minutes, window_days, min_notice_minutes, \
                              timezone, availability_constraints, active";
        let mut errors = FieldErrors::default();
        let described = |text: String| bounded_text("description", &text, 0, DESCRIPTION_MAX);
        let constraints = match self.availability_constraints {
            None => Some(Patch::Keep),
            Some(None) => Some(Patch::Set(None)),
            Some(Some(week)) => errors.take_all(constraints(week)).map(|week| Patch::Set(Some(week))),
        };
        let patch = BookingPagePatch {
            title: errors.take(set("title", self.title, |text| title(&text))).unwrap_or_default(),
            description: errors.take(set_or_clear(self.description, described)).unwrap_or_default(),
            duration_minutes: errors.take(set("duration_minutes", self.duration_minutes, duration)).unwrap_or_default(),
            buffer_minutes: errors.take(set("buffer_minutes", self.buffer_minutes, buffer)).unwrap_or_default(),
            window_days: errors.take(set("window_days", self.window_days, window)).unwrap_or_default(),
            min_notice_minutes: errors
                .take(set("min_notice_minutes", self.min_notice_minutes, notice))
                .unwrap_or_default(),
            zone: errors.take(set("timezone", self.timezone, |name| zone(&name))).unwrap_or_default(),
            constraints: constraints.unwrap_or_default(),
            active: errors.take(set("active", self.active, Ok)).unwrap_or_default(),
        };
        errors.finish()?;
        if patch == BookingPagePatch::default() {
            return Err(nothing_to_change(FIELDS).into());
        }
        Ok(patch)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_invalid_field_of_a_page_is_named() {
        let body = json!({
            "calendar_id": "cal_1", "title": " ", "description": "\0", "duration_minutes": 4, "buffer_minutes": 256,
            "window_days": 65_536, "min_notice_minutes": -1, "timezone": "Mars",
            "availability_constraints": { "mon": { "start": "x", "end": "25:00" } }
        });
        let errors = serde_json::from_value::<CreateBookingPage>(body.clone()).unwrap().parse().unwrap_err();
        let params: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
        let fields =
            ["title", "description", "duration_minutes", "buffer_minutes", "window_days", "min_notice_minutes"];
        for field in fields.iter().chain(&["timezone", "availability_constraints.mon.start"]) {
            assert!(params.contains(field), "{field} in {params:?}");
        }
        let mut patch = body;
        patch.as_object_mut().unwrap().remove("calendar_id");
        let errors = serde_json::from_value::<UpdateBookingPage>(patch).unwrap().parse().unwrap_err();
        assert_eq!(errors.iter().count(), params.len());
    }
}
