//! A month's days, and the free times of one of them.

use askama::Template;
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use crate::link::Path;
use crate::page::{DisplaySettings, Page};
use crate::page_query::months;
use crate::time::{Month, WEEKDAYS, day_label, offset_label, zone_label};
use crate::zones::{self, Group};

/// If there are more times than this, they are grouped by part of the day.
const TIMES_WITHOUT_PARTS: usize = 8;

/// A month with the days on which a time is free, and the free times of one day.
///
/// If a booking is being moved, its booked slot is shown too.
#[derive(Debug, Clone)]
pub struct Picker<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings,
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
    page: Page<'a>,
    shown: DisplaySettings,
    moving: Option<Span>,
    month: String,
    month_count: String,
    steps: [Step; 2],
    weeks: Vec<[Option<Cell>; 7]>,
    day: Option<Day>,
    nothing_free: bool,
    first_offer: Option<Elsewhere>,
    zones: Vec<Group>,
    zone: String,
    own_zone: Option<Elsewhere>,
    requested_month: Month,
    requested_day: Option<CivilDate>,
}

/// The link to the previous or next month, with its name and the shape of its arrow.
struct Step {
    id: &'static str,
    word: &'static str,
    arrow: &'static str,
    label: String,
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

impl Picker<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(&self.shape())
    }

    fn shape(&self) -> Shape<'_> {
        let Self { page, shown, .. } = self;
        let offers = self.local_offers();
        let of_month: Vec<Local> = offers.into_iter().filter(|one| Month::of(one.date) == Some(self.month)).collect();
        let requested_day = self.day.filter(|day| Month::of(*day) == Some(self.month));
        let selected = requested_day.or_else(|| of_month.first().map(|one| one.date));
        let free_days = of_month.chunk_by(|one, next| one.date == next.date).count();
        // Offsets are those of the day that is shown, or else of the beginning of the month.
        let when = of_month.iter().find(|one| Some(one.date) == selected).map(|one| one.at);
        let when = when.or_else(|| self.month.span(shown.zone).map(Span::start)).unwrap_or(self.now);
        Shape {
            page: *page,
            shown: *shown,
            moving: self.moving,
            month: self.month.label(),
            month_count: match free_days {
                0 => "no free days".to_owned(),
                1 => "1 free day".to_owned(),
                many => format!("{many} free days"),
            },
            steps: [
                self.step("earlier", "Previous month", "M12 5l-5 5 5 5", self.month.previous()),
                self.step("later", "Next month", "M8 5l5 5-5 5", self.month.next()),
            ],
            weeks: self.weeks(&of_month, selected),
            day: selected.map(|date| self.day(date, &of_month)),
            nothing_free: of_month.iter().all(|one| Some(one.date) != selected),
            first_offer: self.first_offer.map(|offer| {
                let date = shown.zone.to_civil(offer.start()).date;
                Elsewhere { href: self.day_href(date, shown.zone), label: crate::time::date_label(date) }
            }),
            zones: zones::choices(shown.zone, page.zone, when),
            zone: zone_label(shown.zone, when),
            own_zone: (page.zone != shown.zone).then(|| Elsewhere {
                href: requested_day.map_or_else(
                    || page.path.with(&[("month", &self.month), ("tz", &page.zone)]),
                    |day| self.day_href(day, page.zone),
                ),
                label: zone_label(page.zone, when),
            }),
            requested_month: self.month,
            requested_day,
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
        let (first, last) = months(self.bookable, self.shown.zone);
        let month = month.filter(|month| (first..=last).contains(month));
        Step {
            id,
            word,
            arrow,
            label: month.map(Month::label).unwrap_or_default(),
            href: month.map(|month| self.page.path.with(&[("month", &month), ("tz", &self.shown.zone)])),
        }
    }

    /// The address of a day, scrolled to its times. It needs no month, because the month follows from the day.
    fn day_href(&self, date: CivilDate, zone: Zone) -> String {
        self.page.path.with(&[("day", &date), ("tz", &zone)]) + "#day"
    }

    fn weeks(&self, offers: &[Local], selected: Option<CivilDate>) -> Vec<[Option<Cell>; 7]> {
        let today = self.shown.zone.to_civil(self.now).date;
        let mut weeks: Vec<[Option<Cell>; 7]> = Vec::with_capacity(6);
        for date in self.month.dates() {
            let free = offers.iter().filter(|offer| offer.date == date).count();
            let cell = Cell {
                date,
                number: date.year_month_day().2,
                today: date == today,
                selected: Some(date) == selected,
                free: (free > 0).then(|| Free {
                    href: self.day_href(date, self.shown.zone),
                    label: format!(
                        "{}{}, {}",
                        day_label(date),
                        if date == today { ", today" } else { "" },
                        free_times(free)
                    ),
                }),
            };
            if weeks.is_empty() || date.weekday() == 0 {
                weeks.push(Default::default());
            }
            let place = weeks.last_mut().and_then(|week| week.get_mut(usize::from(date.weekday())));
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
        Day { label: day_label(date), count: free_times(of_day.len()), parts }
    }

    fn time(&self, offer: &Local, twice: bool) -> Time {
        let DisplaySettings { zone, clock } = self.shown;
        let mut label = clock.write(offer.time);
        if twice {
            label = format!("{label} {}", offset_label(zone.offset_at(offer.at)));
        }
        Time { at: offer.at, href: slot_href(self.page.path, offer.at, zone), label }
    }
}

/// The address that chooses a slot.
pub(crate) fn slot_href(path: &Path, at: Timestamp, zone: Zone) -> String {
    path.with(&[("slot", &at), ("tz", &zone)])
}

fn free_times(count: usize) -> String {
    match count {
        0 => "no free times".to_owned(),
        1 => "1 free time".to_owned(),
        many => format!("{many} free times"),
    }
}

fn part_of_day(offer: &Local) -> &'static str {
    match offer.time.as_micros() / 3_600_000_000 {
        ..12 => "Morning",
        12..17 => "Afternoon",
        _ => "Evening",
    }
}
