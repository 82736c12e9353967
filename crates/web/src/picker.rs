//! A month's days, and the free times of one of them.

use askama::Template;
use kalends_i18n::{Sentence, Translator, Week};
use kalends_kernel::{Language, Locale};
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use crate::link::Path;
use crate::page::{DisplaySettings, Page, link};
use crate::page_query::months;
use crate::time::{Month, offset_label, zone_label};
use crate::zones::{self, Group};

/// If there are more times than this, they are grouped by part of the day.
const TIMES_WITHOUT_PARTS: usize = 8;

/// The part of the page with the times of a day.
const DAY: &str = "#day";

/// A month with the days on which a time is free, and the free times of one day.
///
/// If a booking is being moved, its booked slot is shown too.
#[derive(Debug, Clone)]
pub struct Picker<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings<'a>,
    /// The current time.
    pub now: Timestamp,
    /// The span in which bookings may begin. The page links only to months in this span.
    pub bookable: Span,
    /// The month to show: [`crate::PageQuery::month_to_show`].
    pub month: Month,
    /// The requested day. If it is missing or not in the month, the first day with a free time is shown.
    pub day: Option<CivilDate>,
    /// The free slots in [`Month::span`], or in a longer span. Slots outside the month are ignored.
    pub offers: &'a [Span],
    /// The first free slot of all, which the page links to if the month has none.
    pub first_offer: Option<Span>,
    /// The booked slot, if the booking is being moved.
    pub moving: Option<Span>,
}

/// The data of the template.
#[derive(Template)]
#[template(path = "picker.html")]
struct Shape<'a> {
    title: String,
    page: Page<'a>,
    shown: DisplaySettings<'a>,
    moving: Option<Span>,
    month: String,
    month_count: String,
    steps: [Step; 2],
    weekdays: Week,
    weeks: Vec<[Option<Cell>; 7]>,
    day: Option<Day>,
    nothing_free: bool,
    first_offer: Option<Elsewhere>,
    zones: Vec<Group>,
    zone: String,
    own_zone: Option<Elsewhere>,
    requested_month: Month,
    requested_day: Option<CivilDate>,
    languages: Vec<InLanguage>,
}

/// The page in another language.
struct InLanguage {
    language: Language,
    href: String,
    shown: bool,
}

/// The link to the previous or next month, with its name and the shape of its arrow.
struct Step {
    id: &'static str,
    arrow: &'static str,
    label: Sentence,
    href: Option<String>,
}

/// A day of the month.
struct Cell {
    date: CivilDate,
    number: u32,
    today: bool,
    selected: bool,
    free: Option<Free>,
}

/// The link of a day on which a time is free.
struct Free {
    href: String,
    label: String,
}

/// The day whose times are shown.
struct Day {
    label: String,
    count: String,
    parts: Vec<Part>,
}

/// The times of one part of the day. It has no name if there are only a few times.
struct Part {
    /// The message that names it.
    name: Option<&'static str>,
    times: Vec<Time>,
}

/// A free time.
struct Time {
    at: Timestamp,
    href: String,
    label: String,
}

/// A link to the same page in another state.
struct Elsewhere {
    href: String,
    label: String,
}

/// An offer and its start on the visitor's clock.
#[derive(Clone, Copy)]
struct Local {
    at: Timestamp,
    date: CivilDate,
    time: kalends_time::CivilTime,
}

impl Shape<'_> {
    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn nothing_free_in(&self) -> Sentence {
        self.shown.say("nothing-free-in").with("month", &self.month)
    }

    /// A heading and what is counted below it, for screen readers.
    fn counted(&self, heading: &str, count: &str) -> String {
        let both = self.shown.say("heading-with-count").with("heading", heading);
        both.with("count", count).to_string()
    }
}

impl Picker<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(&self.shape())
    }

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn shape(&self) -> Shape<'_> {
        let Self { page, shown, .. } = self;
        let words = self.words();
        let offers = self.local_offers();
        let of_month: Vec<Local> = offers.into_iter().filter(|one| Month::of(one.date) == Some(self.month)).collect();
        let requested_day = self.day.filter(|day| Month::of(*day) == Some(self.month));
        let selected = requested_day.or_else(|| of_month.first().map(|one| one.date));
        let free_days = of_month.chunk_by(|one, next| one.date == next.date).count();
        // Offsets are those of the day that is shown, or else of the beginning of the month.
        let when = of_month.iter().find(|one| Some(one.date) == selected).map(|one| one.at);
        let when = when.or_else(|| self.month.span(shown.zone).map(Span::start)).unwrap_or(self.now);
        Shape {
            title: self.title(),
            page: *page,
            shown: *shown,
            moving: self.moving,
            month: words.month(self.month.first()),
            month_count: self.counted("free-days", free_days),
            steps: [
                self.step("earlier", "previous-month", "M12 5l-5 5 5 5", self.month.previous()),
                self.step("later", "next-month", "M8 5l5 5-5 5", self.month.next()),
            ],
            weekdays: words.week(),
            weeks: self.weeks(&of_month, selected),
            day: selected.map(|date| self.day(date, &of_month)),
            nothing_free: of_month.iter().all(|one| Some(one.date) != selected),
            first_offer: self.first_offer.map(|offer| {
                let date = shown.zone.to_civil(offer.start()).date;
                Elsewhere { href: self.day_href(date), label: words.date(date) }
            }),
            zones: zones::choices(shown.zone, page.zone, when),
            zone: zone_label(shown.zone, when),
            own_zone: (page.zone != shown.zone).then(|| Elsewhere {
                href: self.requested(requested_day, page.zone, shown.reader.asked()),
                label: zone_label(page.zone, when),
            }),
            requested_month: self.month,
            requested_day,
            languages: Language::ALL.map(|language| self.in_language(language, requested_day)).into(),
        }
    }

    fn title(&self) -> String {
        let Page { title, host, .. } = self.page;
        let words = self.words();
        let with_host = |host| words.say("title-with-host").with("title", title).with("host", host).to_string();
        let title = host.map_or_else(|| title.to_owned(), with_host);
        match self.moving {
            None => title,
            Some(_) => words.say("move-title").with("title", title).to_string(),
        }
    }

    /// The offers on the visitor's clock, in order and without duplicates.
    fn local_offers(&self) -> Vec<Local> {
        let mut starts: Vec<Timestamp> = self.offers.iter().map(|offer| offer.start()).collect();
        starts.sort_unstable();
        starts.dedup();
        let local = |at: Timestamp| {
            let civil = self.shown.zone.to_civil(at);
            Local { at, date: civil.date, time: civil.time }
        };
        starts.into_iter().map(local).collect()
    }

    /// The link to a month, if a booking may begin in it.
    fn step(&self, id: &'static str, word: &'static str, arrow: &'static str, month: Option<Month>) -> Step {
        let words = self.words();
        let (first, last) = months(self.bookable, self.shown.zone);
        let month = month.filter(|month| (first..=last).contains(month));
        let step = words.say(word);
        let label = match month {
            None => step,
            Some(month) => {
                let named = words.month(month.first());
                words.say("step-to-month").with("step", step).with("month", named)
            }
        };
        Step { id, arrow, label, href: month.map(|month| self.shown.link(self.page.path, &[("month", &month)])) }
    }

    /// The address of a day, scrolled to its times. It needs no month, because the month follows from the day.
    fn day_href(&self, date: CivilDate) -> String {
        self.shown.link(self.page.path, &[("day", &date)]) + DAY
    }

    /// The address of the day or else the month that the visitor asked for, in another zone or language.
    fn requested(&self, day: Option<CivilDate>, zone: Zone, asked: Option<Locale>) -> String {
        day.map_or_else(
            || link(self.page.path, &[("month", &self.month)], zone, asked),
            |day| link(self.page.path, &[("day", &day)], zone, asked) + DAY,
        )
    }

    /// The page in one of the languages.
    fn in_language(&self, language: Language, day: Option<CivilDate>) -> InLanguage {
        let locale = self.words().locale();
        let asked = Some(Locale::of(language).with_region_of(locale));
        InLanguage { language, href: self.requested(day, self.shown.zone, asked), shown: language == locale.language() }
    }

    fn counted(&self, id: &'static str, count: usize) -> String {
        self.words().say(id).count(u32::try_from(count).unwrap_or(u32::MAX)).to_string()
    }

    fn weeks(&self, offers: &[Local], selected: Option<CivilDate>) -> Vec<[Option<Cell>; 7]> {
        let words = self.words();
        let today = self.shown.zone.to_civil(self.now).date;
        let mut weeks: Vec<[Option<Cell>; 7]> = Vec::with_capacity(6);
        for date in self.month.dates() {
            let free = offers.iter().filter(|offer| offer.date == date).count();
            let cell = Cell {
                date,
                number: date.year_month_day().2,
                today: date == today,
                selected: Some(date) == selected,
                free: (free > 0).then(|| {
                    let day = words.day(date);
                    let day = if date == today { words.say("today").with("day", day).to_string() } else { day };
                    let count = self.counted("free-times", free);
                    let label = words.say("heading-with-count").with("heading", day).with("count", count);
                    Free { href: self.day_href(date), label: label.to_string() }
                }),
            };
            let day = words.day_of_week(date);
            if weeks.is_empty() || day == 0 {
                weeks.push(Default::default());
            }
            let place = weeks.last_mut().and_then(|week| week.get_mut(usize::from(day)));
            if let Some(place) = place {
                *place = Some(cell);
            }
        }
        weeks
    }

    fn day(&self, date: CivilDate, offers: &[Local]) -> Day {
        let of_day: Vec<Local> = offers.iter().filter(|offer| offer.date == date).copied().collect();
        let with_parts = of_day.len() > TIMES_WITHOUT_PARTS;
        let mut parts: Vec<Part> = Vec::new();
        for offer in &of_day {
            let name = with_parts.then(|| part_of_day(offer));
            if parts.last().is_none_or(|part| part.name != name) {
                parts.push(Part { name, times: Vec::new() });
            }
            // When clocks are set back, a time of day occurs twice. Its two occurrences are labelled with their
            // offsets.
            let twice = of_day.iter().filter(|other| other.time == offer.time).count() > 1;
            if let Some(part) = parts.last_mut() {
                part.times.push(self.time(offer, twice));
            }
        }
        Day { label: self.words().day(date), count: self.counted("free-times", of_day.len()), parts }
    }

    fn time(&self, offer: &Local, twice: bool) -> Time {
        let mut label = self.words().time(offer.time);
        if twice {
            label = format!("{label} {}", offset_label(self.shown.zone.offset_at(offer.at)));
        }
        Time { at: offer.at, href: slot_href(self.shown, self.page.path, offer.at), label }
    }
}

/// The address that chooses a slot.
pub(crate) fn slot_href(shown: DisplaySettings<'_>, path: &Path, at: Timestamp) -> String {
    shown.link(path, &[("slot", &at)])
}

/// The message that names the part of the day.
fn part_of_day(offer: &Local) -> &'static str {
    match offer.time.as_micros() / 3_600_000_000 {
        ..12 => "morning",
        12..17 => "afternoon",
        _ => "evening",
    }
}
