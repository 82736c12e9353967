//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_availability::{Hours, Week};
use kalends_bookings::{
    self as domain, BUFFER_MAX_MINUTES, BookingPagePatch, DESCRIPTION_MAX, DURATION_DEFAULT_MINUTES,
    DURATION_MAX_MINUTES, DURATION_MIN_MINUTES, NOTICE_MAX_MINUTES, NewBookingPage, TITLE_MAX, Timetable,
    WINDOW_DEFAULT_DAYS, WINDOW_MAX_DAYS,
};
use kalends_calendars::{Patch, WrittenWeek};
use kalends_kernel::{Code, FieldError, FieldErrors, bounded_text, optional_text};
use kalends_time::Zone;

use super::{BookingPage, CreateBookingPage, UpdateBookingPage};
use crate::{
    WorkingHours,
    patch::{nothing_to_change, set, set_or_clear},
};

impl BookingPage {
    /// Builds the answer of a service that is reachable at `base_url`.
    pub fn new(page: &domain::BookingPage, base_url: &str) -> Self {
        let constraints = page.timetable.constraints.as_ref().map(WrittenWeek::from);
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
    name.parse().map_err(|error: kalends_time::ZoneError| {
        FieldError::new("timezone", error.to_string()).with_code(Code::InvalidTimezone)
    })
}

fn constraints(week: WorkingHours) -> Result<Week<Hours>, FieldErrors> {
    WrittenWeek::from(week).read("availability_constraints")
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
