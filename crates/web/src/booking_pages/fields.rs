//! The fields of the form of a booking page.

use kalends_bookings::{
    DESCRIPTION_MAX, EMBED_ORIGINS_MAX, HOST_NAME_MAX, NOTIFY_EMAILS_MAX, ORIGIN_MAX, QUESTIONS_MAX, SLUG_MAX,
    TITLE_MAX,
};
use kalends_time::{Timestamp, Zone};

use super::questions::{NEW_QUESTION, QuestionField, QuestionGiven, in_question};
use crate::{
    field::{Area, Choice, Field, Select},
    problems::Problems,
    zones::{Group, choices},
};

/// The fields of the form with one text each, as the API names them, except for the opening hours. A list has one entry
/// on each line. The text of the questions is the one that the field with their earlier state has. `hours` says whether
/// the opening hours count: [`BookingPageGiven::ANY_TIME`] or [`BookingPageGiven::THESE_HOURS`].
pub const BOOKING_PAGE_TEXTS: [&str; 22] = [
    "calendar_id",
    "title",
    "description",
    "slug",
    "host_name",
    "location",
    "conference_url",
    "accent_color",
    "embed_origins",
    "notify_emails",
    "guest_reminders",
    "duration_minutes",
    "buffer_minutes",
    "window_days",
    "min_notice_minutes",
    "max_per_day",
    "seats",
    "timezone",
    "assignment",
    "calendars",
    "questions",
    "hours",
];
/// The maximum lengths, in characters.
const LOCATION: usize = 500;
const CALL: usize = 2_000;
const COLOUR: usize = 7;
const EMAIL: usize = 320;
const REMINDERS: usize = 50;

/// The fields with the hours of a weekday. A weekday whose fields are empty is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpeningHours {
    /// The name of the field with the opening time.
    pub start: &'static str,
    /// The name of the field with the closing time.
    pub end: &'static str,
    labels: [&'static str; 2],
}

macro_rules! hours {
    ($day:literal $name:literal) => {
        OpeningHours {
            start: concat!("availability_constraints.", $day, ".start"),
            end: concat!("availability_constraints.", $day, ".end"),
            labels: [concat!($name, ", from"), concat!($name, ", to")],
        }
    };
}

/// The opening hours, from Monday to Sunday.
pub const OPENING_HOURS: [OpeningHours; 7] = [
    hours!("mon" "Monday"),
    hours!("tue" "Tuesday"),
    hours!("wed" "Wednesday"),
    hours!("thu" "Thursday"),
    hours!("fri" "Friday"),
    hours!("sat" "Saturday"),
    hours!("sun" "Sunday"),
];

const OPENINGS: [Choice<'static>; 2] = [
    Choice { value: BookingPageGiven::ANY_TIME, title: "Any time" },
    Choice { value: BookingPageGiven::THESE_HOURS, title: "Only these hours" },
];
const ASSIGNMENTS: [Choice<'static>; 3] = [
    Choice { value: "", title: "Only its own calendar" },
    Choice { value: "collective", title: "All calendars: everybody takes part" },
    Choice { value: "round_robin", title: "One of them, in turn" },
];

/// What was typed into the form of a booking page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BookingPageGiven {
    texts: Vec<(&'static str, String)>,
    /// The questions, in their order.
    pub questions: Vec<QuestionGiven>,
    /// The number of empty questions that the form shows after these.
    pub empty: usize,
}

impl BookingPageGiven {
    /// The choice that the page has no hours of its own.
    pub const ANY_TIME: &'static str = "any";
    /// The choice that guests can book only in the opening hours.
    pub const THESE_HOURS: &'static str = "these";
    /// The maximum number of questions with fields in the form, with those that are to be removed.
    pub const ROWS_MAX: usize = 2 * QUESTIONS_MAX;

    /// The names of the fields with one text each.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let hours = OPENING_HOURS.into_iter().flat_map(|hours| [hours.start, hours.end]);
        BOOKING_PAGE_TEXTS.into_iter().chain(hours)
    }

    /// A form with these texts, by the names of their fields, and without questions.
    pub fn new(text: impl Fn(&'static str) -> String) -> Self {
        Self { texts: Self::names().map(|name| (name, text(name))).collect(), questions: Vec::new(), empty: 0 }
    }

    /// The text of a field.
    pub fn get(&self, name: &str) -> &str {
        self.texts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    /// Replaces the text of a field.
    pub fn set(&mut self, name: &str, text: String) {
        if let Some((_, known)) = self.texts.iter_mut().find(|(known, _)| *known == name) {
            *known = text;
        }
    }

    /// The entries of a list.
    pub fn entries(&self, name: &str) -> impl Iterator<Item = &str> {
        self.get(name).lines().map(str::trim).filter(|entry| !entry.is_empty())
    }

    /// The names of all fields beside which a problem can be shown.
    pub fn known(&self) -> Vec<String> {
        let parts = (0..self.questions.len() + self.empty)
            .flat_map(|index| ["label", "type", "options"].map(|part| in_question(index, part)));
        Self::names().map(str::to_owned).chain(parts).collect()
    }

    /// The texts with the names of their fields.
    pub(crate) fn texts(&self) -> &[(&'static str, String)] {
        &self.texts
    }

    fn text<'a>(&'a self, name: &'static str, label: &'static str, max: usize, problems: &'a Problems) -> Field<'a> {
        let field = Field::text(name, label, self.get(name), max).checked(problems);
        Field { required: false, ..field }
    }

    fn number<'a>(&'a self, name: &'static str, label: &'static str, problems: &'a Problems) -> Field<'a> {
        Field { kind: "number", max: None, ..self.text(name, label, 0, problems) }
    }

    fn area<'a>(&'a self, name: &'static str, label: &'static str, max: usize, problems: &'a Problems) -> Area<'a> {
        Area { name, label, value: self.get(name), max, problem: problems.of(name), hint: None }
    }

    pub(crate) fn title<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        Field { required: true, ..self.text("title", "Title", TITLE_MAX, problems) }
    }

    pub(crate) fn description<'a>(&'a self, problems: &'a Problems) -> Area<'a> {
        self.area("description", "Description", DESCRIPTION_MAX, problems)
    }

    pub(crate) fn calendar<'a>(&'a self, calendars: &'a [Choice<'a>], problems: &'a Problems) -> Select<'a> {
        let (name, label) = ("calendar_id", "Calendar");
        Select { name, label, options: calendars, chosen: self.get(name), problem: problems.of(name) }
    }

    pub(crate) fn duration<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        Field { required: true, ..self.number("duration_minutes", "Length, in minutes", problems) }
    }

    pub(crate) fn location<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.text("location", "Place", LOCATION, problems)
    }

    pub(crate) fn call<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.text("conference_url", "Link to the call, https://…", CALL, problems)
    }

    pub(crate) fn hours<'a>(&'a self, problems: &'a Problems) -> Vec<Field<'a>> {
        let time = |name, label| Field { kind: "time", max: None, ..self.text(name, label, 0, problems) };
        let both = |hours: &OpeningHours| [time(hours.start, hours.labels[0]), time(hours.end, hours.labels[1])];
        OPENING_HOURS.iter().flat_map(both).collect()
    }

    pub(crate) fn opening<'a>(&'a self, problems: &'a Problems) -> Select<'a> {
        let (name, label) = ("hours", "Guests can book");
        Select { name, label, options: &OPENINGS, chosen: self.get(name), problem: problems.of(name) }
    }

    pub(crate) fn buffer<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.number("buffer_minutes", "Kept free before and after, in minutes", problems)
    }

    pub(crate) fn notice<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.number("min_notice_minutes", "Shortest notice, in minutes", problems)
    }

    pub(crate) fn window<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.number("window_days", "Can be booked up to this many days ahead", problems)
    }

    pub(crate) fn per_day<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.number("max_per_day", "Most bookings on one day", problems)
    }

    pub(crate) fn seats<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.number("seats", "Guests who can book the same time", problems)
    }

    /// The zone of the page. A new page can leave it to its calendar.
    pub(crate) fn zone<'a>(&'a self, is_new: bool, at: Timestamp, problems: &'a Problems) -> PageZone<'a> {
        let text = self.get("timezone");
        let zone: Zone = text.parse().unwrap_or(Zone::UTC);
        let (groups, problem) = (choices(zone, zone, at), problems.of("timezone"));
        PageZone { groups, is_new, is_chosen: !(is_new && text.is_empty()), problem }
    }

    pub(crate) fn assignment<'a>(&'a self, problems: &'a Problems) -> Select<'a> {
        let (name, label) = ("assignment", "Who takes part in a booking");
        Select { name, label, options: &ASSIGNMENTS, chosen: self.get(name), problem: problems.of(name) }
    }

    pub(crate) fn emails<'a>(&'a self, problems: &'a Problems) -> Area<'a> {
        let label = "Addresses that get an email about each booking, one per line, up to 5";
        self.area("notify_emails", label, (EMAIL + 1) * NOTIFY_EMAILS_MAX, problems)
    }

    pub(crate) fn reminders<'a>(&'a self, problems: &'a Problems) -> Area<'a> {
        let label = "Emails to the guest, in minutes before the start, one per line, up to 3";
        self.area("guest_reminders", label, REMINDERS, problems)
    }

    pub(crate) fn host<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        let hint = Some("Guests see this name above the title, such as Grace Hopper, Example Ltd.");
        Field { hint, ..self.text("host_name", "Who receives the guests", HOST_NAME_MAX, problems) }
    }

    pub(crate) fn slug<'a>(&'a self, is_new: bool, problems: &'a Problems) -> Field<'a> {
        let new = "End of the address, such as intro-call. Empty: a secret one";
        let label = if is_new { new } else { "End of the address" };
        self.text("slug", label, SLUG_MAX, problems)
    }

    pub(crate) fn colour<'a>(&'a self, problems: &'a Problems) -> Field<'a> {
        self.text("accent_color", "Color of the buttons, such as #0f6457", COLOUR, problems)
    }

    pub(crate) fn sites<'a>(&'a self, problems: &'a Problems) -> Area<'a> {
        let label = "Sites that may show the page in a frame, such as https://www.example.com, one per line, up to 10";
        self.area("embed_origins", label, (ORIGIN_MAX + 1) * EMBED_ORIGINS_MAX, problems)
    }

    /// The questions with their fields, also the empty ones.
    pub(crate) fn rows<'a>(&'a self, problems: &'a Problems) -> Vec<QuestionField<'a>> {
        let empty = self.empty.min(QUESTIONS_MAX.saturating_sub(self.staying()));
        let rows = self.questions.iter().chain(std::iter::repeat_n(&NEW_QUESTION, empty)).enumerate();
        rows.map(|(index, given)| QuestionField { index, given, problems }).collect()
    }

    /// Whether the form can show another question.
    pub(crate) fn has_room(&self) -> bool {
        self.staying() + self.empty < QUESTIONS_MAX && self.questions.len() + self.empty < Self::ROWS_MAX
    }

    /// The number of questions that are not to be removed.
    fn staying(&self) -> usize {
        self.questions.iter().filter(|question| !question.remove).count()
    }
}

/// The field of the zone of a page.
pub(crate) struct PageZone<'a> {
    pub(crate) groups: Vec<Group>,
    /// Whether the page is new, so that its zone can be that of its calendar.
    pub(crate) is_new: bool,
    /// Whether a zone is chosen.
    pub(crate) is_chosen: bool,
    pub(crate) problem: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_known_once_and_keeps_its_text() {
        let mut given = BookingPageGiven::new(str::to_owned);
        assert!(BookingPageGiven::names().all(|name| given.get(name) == name));
        given.set("availability_constraints.sun.end", "12:00".to_owned());
        given.set("nothing", "x".to_owned());
        assert_eq!((given.get("availability_constraints.sun.end"), given.get("nothing")), ("12:00", ""));
        given.empty = 1;
        let mut known = given.known();
        assert!(known.contains(&"questions[0].options".to_owned()));
        let count = known.len();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), count);
    }

    #[test]
    fn a_list_has_an_entry_on_each_line() {
        let given = BookingPageGiven::new(|_| " a \n\n b\n".to_owned());
        assert_eq!(given.entries("notify_emails").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn the_form_shows_at_most_ten_questions() {
        let problems = Problems::default();
        for (filled, empty, shown, has_room) in [(0, 1, 1, true), (9, 1, 10, false), (10, 3, 10, false)] {
            let questions = vec![QuestionGiven { label: "Why?".to_owned(), ..QuestionGiven::default() }; filled];
            let mut given = BookingPageGiven { questions, empty, ..BookingPageGiven::default() };
            let rows = given.rows(&problems);
            assert_eq!((rows.len(), given.has_room()), (shown, has_room));
            assert_eq!(rows.iter().filter(|row| row.given.is_empty()).count(), shown - filled);
            // Those that are to be removed make room for others.
            given.questions.iter_mut().for_each(|question| question.remove = true);
            assert_eq!(given.rows(&problems).len(), filled + empty);
        }
    }
}
