//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_availability::{Hours, Week};
use kalends_bookings::{
    self as domain, Assignment, BUFFER_MAX_MINUTES, BookingPagePatch, CALENDARS_MAX, Colour, DESCRIPTION_MAX,
    DURATION_DEFAULT_MINUTES, DURATION_MAX_MINUTES, DURATION_MIN_MINUTES, NOTICE_MAX_MINUTES, NamedElsewhere,
    NewBookingPage, Origin, PER_DAY_MAX, PageDetails, PageDetailsPatch, QuestionType, Questions, SEATS_MAX, Slug,
    TITLE_MAX, TeamPatch, WINDOW_DEFAULT_DAYS, WINDOW_MAX_DAYS, embed_origins, guest_reminders, host_name, location,
    notify_emails,
};
use kalends_calendars::{ConferenceUrl, Patch, WrittenWeek};
use kalends_kernel::{FieldError, FieldErrors, bounded_text, optional_text};
use kalends_time::Zone;

use super::{BookingPage, CreateBookingPage, NotifyConsent, Question, UpdateBookingPage};
use crate::{
    Notice, WorkingHours, fields,
    patch::{Given, nothing_to_change, set, set_or_clear},
};

impl BookingPage {
    /// Builds the answer of a service that is reachable at `base_url`.
    pub fn new(page: &domain::BookingPage, base_url: &str) -> Self {
        let constraints = page.timetable.constraints.as_ref().map(WrittenWeek::from);
        let PageDetails { host_name, location, conference_url, accent, embed_origins, questions, guest_reminders } =
            &page.details;
        Self {
            id: page.id,
            org_id: page.org,
            calendar_id: page.calendar,
            calendars: page.team.is_some().then(|| page.calendars().collect()),
            assignment: page.assignment().map(|assignment| assignment.as_str().to_owned()),
            agent_id: page.agent,
            slug: page.slug.reveal().to_owned(),
            title: page.title.clone(),
            description: page.description.clone(),
            host_name: host_name.clone(),
            location: location.clone(),
            conference_url: conference_url.as_ref().map(|url| url.as_str().to_owned()),
            accent_color: accent.as_ref().map(Colour::to_string),
            embed_origins: embed_origins.iter().map(Origin::to_string).collect(),
            notify_emails: page.listeners.as_slice().iter().map(|of| of.email.as_str().to_owned()).collect(),
            notify_consents: page.listeners.as_slice().iter().map(NotifyConsent::from).collect(),
            questions: questions.as_slice().iter().map(Question::from).collect(),
            guest_reminders: guest_reminders.minutes().to_vec(),
            duration_minutes: page.timetable.duration_minutes,
            buffer_minutes: page.buffer_minutes,
            window_days: page.window_days,
            min_notice_minutes: page.min_notice_minutes,
            max_per_day: page.max_per_day,
            seats: page.seats,
            timezone: page.timetable.zone.name().to_owned(),
            availability_constraints: constraints.map(Into::into),
            active: page.active,
            bookings_count: page.bookings,
            booking_url: format!("{base_url}/book/{}", page.slug.reveal()),
            notices: Vec::new(),
            created_at: page.created_at,
            updated_at: page.updated_at,
        }
    }
}

impl BookingPage {
    /// Returns the page with the notice that it offers times at night, because nothing limits its hours.
    #[must_use]
    pub fn offering_nights(mut self) -> Self {
        let message = "the page offers times at night: neither its availability_constraints nor the working hours of its \
                       calendar's availability rules limit them; set one of them";
        self.notices.push(Notice { code: "offers_nights".into(), message: message.to_owned() });
        self
    }
}

impl From<&domain::Listener> for NotifyConsent {
    fn from(listener: &domain::Listener) -> Self {
        Self { email: listener.email.as_str().to_owned(), status: listener.consent.as_str().to_owned() }
    }
}

impl From<&domain::Question> for Question {
    fn from(question: &domain::Question) -> Self {
        let domain::Question { id, label, kind, required, options } = question.clone();
        Self { id, label, kind: kind.as_str().to_owned(), required, options }
    }
}

impl Question {
    fn parse(self, param: &str) -> Result<domain::Question, FieldError> {
        let Self { id, label, kind, required, options } = self;
        let known = QuestionType::ALL.iter().copied().find(|known| known.as_str() == kind);
        let kind = known.ok_or_else(|| {
            let names: Vec<&str> = QuestionType::ALL.iter().map(|kind| kind.as_str()).collect();
            FieldError::new(format!("{param}.type"), format!("must be one of {}, got {kind}", names.join(", ")))
        })?;
        Ok(domain::Question { id, label, kind, required, options })
    }
}

fn questions(given: Vec<Question>) -> Result<Questions, FieldErrors> {
    Questions::fits(given.len())?;
    let mut errors = FieldErrors::default();
    let parsed = given.into_iter().enumerate();
    let parsed: Vec<domain::Question> =
        parsed.filter_map(|(index, question)| errors.take(question.parse(&format!("questions[{index}]")))).collect();
    errors.finish()?;
    Questions::new(parsed)
}

/// What a request says about the team. Whether the two fields fit depends on the page.
fn team(errors: &mut FieldErrors, calendars: Given<Vec<String>>, assignment: Given<String>) -> TeamPatch<String> {
    TeamPatch {
        calendars: errors.take(set_or_clear(calendars, named_calendars)).unwrap_or_default(),
        assignment: errors.take(set_or_clear(assignment, |name| known_assignment(&name))).unwrap_or_default(),
    }
}

/// The calendars are looked up one by one, so their number is limited first.
fn named_calendars(named: Vec<String>) -> Result<Vec<String>, FieldError> {
    if named.len() <= CALENDARS_MAX {
        return Ok(named);
    }
    let message = format!("must be 2 to {CALENDARS_MAX} calendars including calendar_id, got {}", named.len());
    Err(FieldError::new("calendars", message))
}

fn known_assignment(name: &str) -> Result<Assignment, FieldError> {
    Assignment::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Assignment::ALL.iter().map(|assignment| assignment.as_str()).collect();
        FieldError::new("assignment", format!("must be one of {}, got {name}", names.join(", ")))
    })
}

fn conference_url(text: &str) -> Result<ConferenceUrl, FieldError> {
    ConferenceUrl::parse("conference_url", text)
}

fn accent(text: &str) -> Result<Colour, FieldError> {
    Colour::parse("accent_color", text)
}

fn slug(text: &str) -> Result<Slug, FieldError> {
    Slug::parse("slug", text)
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

fn per_day(count: i64) -> Result<u16, FieldError> {
    number("max_per_day", count, (1, PER_DAY_MAX))
}

fn seats(count: i64) -> Result<u16, FieldError> {
    number("seats", count, (1, SEATS_MAX))
}

fn zone(name: &str) -> Result<Zone, FieldError> {
    fields::zone("timezone", name)
}

fn constraints(week: WorkingHours) -> Result<Week<Hours>, FieldErrors> {
    WrittenWeek::from(week).read("availability_constraints")
}

impl CreateBookingPage {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(String, NewBookingPage, NamedElsewhere), FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(title(&self.title));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let duration = errors.take(self.duration_minutes.map_or(Ok(DURATION_DEFAULT_MINUTES), duration));
        let buffer = errors.take(self.buffer_minutes.map_or(Ok(0), buffer));
        let window = errors.take(self.window_days.map_or(Ok(WINDOW_DEFAULT_DAYS), window));
        let notice = errors.take(self.min_notice_minutes.map_or(Ok(0), notice));
        let max_per_day = errors.take(self.max_per_day.map(per_day).transpose()).flatten();
        let seats = errors.take(self.seats.map_or(Ok(1), seats));
        let zone = errors.take(self.timezone.as_deref().map(zone).transpose());
        let slug = errors.take(self.slug.as_deref().map(slug).transpose());
        let details = PageDetails {
            host_name: errors.take(self.host_name.as_deref().map(host_name).transpose()).flatten(),
            location: errors.take(self.location.as_deref().map(location).transpose()).flatten(),
            conference_url: errors.take(self.conference_url.as_deref().map(conference_url).transpose()).flatten(),
            accent: errors.take(self.accent_color.as_deref().map(accent).transpose()).flatten(),
            embed_origins: errors
                .take_all(self.embed_origins.as_deref().map_or(Ok(vec![]), embed_origins))
                .unwrap_or_default(),
            questions: errors.take_all(self.questions.map_or(Ok(Questions::default()), questions)).unwrap_or_default(),
            guest_reminders: errors
                .take(guest_reminders(self.guest_reminders.as_deref().unwrap_or_default()))
                .unwrap_or_default(),
        };
        let constraints = errors.take_all(self.availability_constraints.map(constraints).transpose());
        let team = team(&mut errors, self.calendars.map(Some), self.assignment.map(Some));
        let notify_emails =
            replaced(&mut errors, "notify_emails", self.notify_emails.map(Some), |given| notify_emails(&given));
        errors.clone().finish()?;
        match (title, description, duration, buffer, window, notice, seats, zone, constraints, slug) {
            (
                Some(title),
                Some(description),
                Some(duration_minutes),
                Some(buffer_minutes),
                Some(window_days),
                Some(min_notice_minutes),
                Some(seats),
                Some(zone),
                Some(constraints),
                Some(slug),
            ) => {
                let active = self.active.unwrap_or(true);
                let new = NewBookingPage {
                    slug,
                    title,
                    description,
                    details,
                    duration_minutes,
                    zone,
                    constraints,
                    buffer_minutes,
                    window_days,
                    min_notice_minutes,
                    max_per_day,
                    seats,
                    active,
                };
                Ok((self.calendar_id, new, NamedElsewhere { team, notify_emails }))
            }
            _ => Err(errors),
        }
    }
}

/// Parses a list that replaces another one.
fn replaced<T, U>(
    errors: &mut FieldErrors,
    param: &str,
    given: Given<T>,
    parse: impl FnOnce(T) -> Result<U, FieldErrors>,
) -> Patch<U> {
    let Some(given) = errors.take(set(param, given, Ok)) else { return Patch::Keep };
    match given {
        Patch::Keep => Patch::Keep,
        Patch::Set(given) => errors.take_all(parse(given)).map_or(Patch::Keep, Patch::Set),
    }
}

impl UpdateBookingPage {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self) -> Result<(BookingPagePatch, NamedElsewhere), FieldErrors> {
        const FIELDS: &str = "title, calendars, assignment, description, slug, host_name, location, conference_url, accent_color, \
                              embed_origins, notify_emails, questions, guest_reminders, duration_minutes, buffer_minutes, \
                              window_days, min_notice_minutes, max_per_day, seats, timezone, availability_constraints, \
                              active";
        let mut errors = FieldErrors::default();
        let described = |text: String| bounded_text("description", &text, 0, DESCRIPTION_MAX);
        let constraints = match self.availability_constraints {
            None => Some(Patch::Keep),
            Some(None) => Some(Patch::Set(None)),
            Some(Some(week)) => errors.take_all(constraints(week)).map(|week| Patch::Set(Some(week))),
        };
        let details = PageDetailsPatch {
            host_name: errors.take(set_or_clear(self.host_name, |text| host_name(&text))).unwrap_or_default(),
            location: errors.take(set_or_clear(self.location, |text| location(&text))).unwrap_or_default(),
            conference_url: errors
                .take(set_or_clear(self.conference_url, |text| conference_url(&text)))
                .unwrap_or_default(),
            accent: errors.take(set_or_clear(self.accent_color, |text| accent(&text))).unwrap_or_default(),
            embed_origins: replaced(&mut errors, "embed_origins", self.embed_origins, |given| embed_origins(&given)),
            questions: replaced(&mut errors, "questions", self.questions, questions),
            guest_reminders: errors
                .take(set("guest_reminders", self.guest_reminders, |minutes| guest_reminders(&minutes)))
                .unwrap_or_default(),
        };
        let patch = BookingPagePatch {
            slug: errors.take(set("slug", self.slug, |text| slug(&text))).unwrap_or_default(),
            details,
            title: errors.take(set("title", self.title, |text| title(&text))).unwrap_or_default(),
            description: errors.take(set_or_clear(self.description, described)).unwrap_or_default(),
            duration_minutes: errors.take(set("duration_minutes", self.duration_minutes, duration)).unwrap_or_default(),
            buffer_minutes: errors.take(set("buffer_minutes", self.buffer_minutes, buffer)).unwrap_or_default(),
            window_days: errors.take(set("window_days", self.window_days, window)).unwrap_or_default(),
            min_notice_minutes: errors
                .take(set("min_notice_minutes", self.min_notice_minutes, notice))
                .unwrap_or_default(),
            max_per_day: errors.take(set_or_clear(self.max_per_day, per_day)).unwrap_or_default(),
            seats: errors.take(set("seats", self.seats, seats)).unwrap_or_default(),
            zone: errors.take(set("timezone", self.timezone, |name| zone(&name))).unwrap_or_default(),
            constraints: constraints.unwrap_or_default(),
            active: errors.take(set("active", self.active, Ok)).unwrap_or_default(),
        };
        let team = team(&mut errors, self.calendars, self.assignment);
        let notify_emails = replaced(&mut errors, "notify_emails", self.notify_emails, |given| notify_emails(&given));
        let named = NamedElsewhere { team, notify_emails };
        errors.finish()?;
        if patch == BookingPagePatch::default() && named == NamedElsewhere::default() {
            return Err(nothing_to_change(FIELDS).into());
        }
        Ok((patch, named))
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
            "window_days": 65_536, "min_notice_minutes": -1, "max_per_day": 0, "seats": 501, "timezone": "Mars",
            "availability_constraints": { "mon": { "start": "x", "end": "25:00" } }, "slug": "Intro", "host_name": "a\nb",
            "location": "", "conference_url": "http://a.example", "accent_color": "red", "embed_origins": ["*"],
            "questions": [{ "id": "a", "label": "A?", "type": "date" }], "guest_reminders": [60, 0]
        });
        let errors = serde_json::from_value::<CreateBookingPage>(body.clone()).unwrap().parse().unwrap_err();
        let params: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
        let fields = [
            "title",
            "description",
            "duration_minutes",
            "buffer_minutes",
            "window_days",
            "min_notice_minutes",
            "max_per_day",
            "seats",
        ];
        let details = [
            "slug",
            "host_name",
            "location",
            "conference_url",
            "accent_color",
            "embed_origins[0]",
            "questions[0].type",
            "guest_reminders[1]",
        ];
        let others = ["timezone", "availability_constraints.mon.start"];
        for field in fields.iter().chain(&others).chain(&details) {
            assert!(params.contains(field), "{field} in {params:?}");
        }
        let mut patch = body;
        patch.as_object_mut().unwrap().remove("calendar_id");
        let errors = serde_json::from_value::<UpdateBookingPage>(patch).unwrap().parse().unwrap_err();
        assert_eq!(errors.iter().count(), params.len());
    }
}
