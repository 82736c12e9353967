//! From a text to the time that it means.

use super::calendar::{dates, name};
use super::clocks::{Shown, day_start, with_offset};
use super::ends::ranges;
use super::grammar::{Moment, Part, Point, phrase};
use super::unresolved::Unresolved;
use super::words::{Clock, o_clock, words};
use crate::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Timestamp, Zone};

/// The time that a text means. [`resolve`] has an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolved {
    /// The time, or the start of the span.
    pub start: Timestamp,
    /// The end of the span, after `start`. `None` if the text means one moment.
    pub end: Option<Timestamp>,
    /// How exact the text is.
    pub precision: Precision,
    /// How the text was read, with all dates in full. It is in the grammar, and resolves to the same time.
    pub reading: String,
}

/// How exact a text is. [`resolve`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// It names whole days.
    Day,
    /// It names a time of the day.
    Minute,
}

impl Precision {
    /// The name in small letters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Minute => "minute",
        }
    }
}

/// Resolves a text such as `next Tuesday at 2pm`, relative to `now` and in a zone. The module
/// [`phrase`](crate::phrase) has the grammar.
///
/// The start is in the years 1970 to 2099. The time that it takes is linear in the length of the text.
///
/// ```
/// use kalends_time::phrase::{Precision, resolve};
/// use kalends_time::{Timestamp, Zone};
///
/// let berlin: Zone = "Europe/Berlin".parse()?;
/// // A Friday.
/// let now: Timestamp = "2026-03-06T09:00:00Z".parse()?;
/// let at = resolve("next Tuesday at 2pm", berlin, now)?;
/// assert_eq!((at.start, at.end), ("2026-03-10T13:00:00Z".parse()?, None));
/// assert_eq!(at.reading, "Tuesday, 2026-03-10, at 14:00");
///
/// let day = resolve("tomorrow", berlin, now)?;
/// assert_eq!((day.start, day.end), ("2026-03-06T23:00:00Z".parse()?, Some("2026-03-07T23:00:00Z".parse()?)));
/// assert_eq!(day.precision, Precision::Day);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Unresolved`] if the text is not in the grammar, can mean several times, or means one that does not exist.
pub fn resolve(text: &str, zone: Zone, now: Timestamp) -> Result<Resolved, Unresolved> {
    let phrase = phrase(&words(text)?)?;
    let resolver = Resolver { zone, now };
    let Some(end) = &phrase.end else { return only(resolver.single(&phrase.start)?) };
    let found = ranges(&phrase.start, end)?.into_iter().flat_map(|(start, end)| {
        let are_days = start.is_day() && end.is_day();
        let found = if are_days { resolver.days(&start, &end) } else { resolver.range(&start, &end) };
        found.unwrap_or_else(|error| vec![Err(error)])
    });
    only(found.collect())
}

/// One of the times that a text may mean.
type Reading = Result<Resolved, Unresolved>;

/// The only time that exists among the readings.
fn only(readings: Vec<Reading>) -> Reading {
    let (found, errors): (Vec<Reading>, Vec<Reading>) = readings.into_iter().partition(Result::is_ok);
    let mut found: Vec<Resolved> = found.into_iter().flatten().collect();
    found.sort_by_key(|resolved| (resolved.start, resolved.end));
    found.dedup();
    if found.len() > 1 {
        return Err(Unresolved::Ambiguous { candidates: found.into_iter().map(|resolved| resolved.reading).collect() });
    }
    // Without readings, the ends of a range do not follow each other.
    found.pop().map(Ok).or_else(|| errors.into_iter().next()).unwrap_or_else(|| Err(disordered()))
}

fn disordered() -> Unresolved {
    Unresolved::contradiction("ends before it starts; send the later time last, with its day")
}

/// The place and the time from which a text is read.
struct Resolver {
    zone: Zone,
    now: Timestamp,
}

/// One of the meanings of an end of a range, before the other end is known.
struct Side {
    date: Option<CivilDate>,
    /// The date of a start that has none, if this is the end.
    shared: Option<CivilDate>,
    /// Whether the date is written before the time, so that it may be that of this end alone.
    day_first: bool,
    times: Vec<CivilTime>,
    /// Whether it is written on a clock with 24 hours.
    of_24: bool,
    moment: Option<Timestamp>,
}

impl Resolver {
    fn today(&self) -> CivilDate {
        self.zone.to_civil(self.now).date
    }

    fn single(&self, point: &Point) -> Result<Vec<Reading>, Unresolved> {
        if let Some(moment) = self.moment(point)? {
            return Ok(vec![self.at(moment)]);
        }
        let dates = self.dates(point, self.today())?;
        let on = |time: CivilTime| dates.clone().unwrap_or_else(|| vec![self.next(time)]);
        Ok(match (point.clock, point.part) {
            (None, None) => dates.unwrap_or_default().into_iter().map(|date| self.whole(date, date)).collect(),
            (None, Some(part)) => {
                let (start, end) = hours(part);
                on(start).into_iter().flat_map(|date| self.between(date.at(start), date.at(end))).collect()
            }
            (Some(clock), part) => {
                let times = times(clock, part)?;
                let shown = times.into_iter().flat_map(|time| on(time).into_iter().map(move |date| date.at(time)));
                shown.flat_map(|civil| self.shown(civil)).collect()
            }
        })
    }

    /// The dates of a point. The midnight of today is on two.
    fn dates(&self, point: &Point, from: CivilDate) -> Result<Option<Vec<CivilDate>>, Unresolved> {
        let dates = dates(point, self.today(), from)?;
        if !point.is_midnight_of_today() {
            return Ok(dates);
        }
        Ok(dates.map(|dates| dates.into_iter().flat_map(|date| [date, date.plus_days(1)]).collect()))
    }

    /// The whole days from one day to another.
    fn days(&self, start: &Point, end: &Point) -> Result<Vec<Reading>, Unresolved> {
        let mut readings = Vec::new();
        for first in dates(start, self.today(), self.today())?.unwrap_or_default() {
            let lasts = dates(end, self.today(), first)?.unwrap_or_default();
            readings.extend(lasts.into_iter().filter(|last| *last > first).map(|last| self.whole(first, last)));
        }
        Ok(readings)
    }

    /// The time from one moment to another. If hours can mean several times, the shortest one on these days counts.
    fn range(&self, start: &Point, end: &Point) -> Result<Vec<Reading>, Unresolved> {
        if let (Some(start), Some(end)) = (self.moment(start)?, self.moment(end)?) {
            return Ok(if start < end { vec![self.span(start, end)] } else { Vec::new() });
        }
        let mut readings = Vec::new();
        for first in self.sides(start, self.today())? {
            for last in self.sides(end, first.date.unwrap_or_else(|| self.today()))? {
                for (from, to) in self.shortest(&first, &last).into_iter().chain(self.apart(&first, &last)) {
                    let starts = first.moment.map_or_else(|| self.timestamps(from), |moment| Ok(vec![moment]));
                    let ends = last.moment.map_or_else(|| self.timestamps(to), |moment| Ok(vec![moment]));
                    readings.extend(self.spans(starts, ends));
                }
            }
        }
        Ok(readings)
    }

    /// The meanings of an end of a range of times.
    fn sides(&self, point: &Point, from: CivilDate) -> Result<Vec<Side>, Unresolved> {
        if let Some(moment) = self.moment(point)? {
            let local = self.zone.to_civil(moment);
            return Ok(vec![Side {
                date: Some(local.date),
                shared: Some(local.date),
                day_first: true,
                times: vec![local.time],
                of_24: false,
                moment: Some(moment),
            }]);
        }
        let Some(clock) = point.clock else {
            let missing = "lacks a time at one end of the range; send, for example, tomorrow from 2pm to 3pm";
            return Err(Unresolved::incomplete(missing));
        };
        let times = times(clock, point.part)?;
        let dates = self.dates(point, from)?;
        let dates: Vec<Option<CivilDate>> =
            dates.map_or_else(|| vec![None], |dates| dates.into_iter().map(Some).collect());
        let (of_24, day_first) = (matches!(clock, Clock::Of24(_)), point.day_first);
        let of_today = point.is_midnight_of_today().then(|| self.today());
        let side = |date: Option<CivilDate>| Side {
            date,
            shared: of_today.or(date),
            day_first,
            times: times.clone(),
            of_24,
            moment: None,
        };
        Ok(dates.into_iter().map(side).collect())
    }

    /// The ranges between these ends if a date before the time of the end is that of the end alone. They begin at the next
    /// such time.
    fn apart(&self, first: &Side, last: &Side) -> Vec<(CivilDateTime, CivilDateTime)> {
        let Some(ends) = last.date.filter(|_| first.date.is_none() && last.day_first) else { return Vec::new() };
        let starts = first.times.iter().map(|from| self.next(*from).at(*from));
        let pairs = starts.flat_map(|from| last.times.iter().map(move |to| (from, ends.at(*to))));
        pairs.filter(|(from, to)| from < to).collect()
    }

    /// The shortest ranges between these ends. If one of them is written on a clock with 24 hours, the other may be too, so
    /// that its hour as it is written counts besides.
    fn shortest(&self, first: &Side, last: &Side) -> Vec<(CivilDateTime, CivilDateTime)> {
        let length =
            |(from, to): &(CivilDateTime, CivilDateTime)| Some(to.as_micros()?.saturating_sub(from.as_micros()?));
        let mut ranges = Vec::new();
        for from in first.times.iter().copied() {
            for to in last.times.iter().copied() {
                let begins = first.date.or(last.shared).unwrap_or_else(|| self.next(from));
                let ends = last.date.unwrap_or_else(|| if to > from { begins } else { begins.plus_days(1) });
                ranges.push((begins.at(from), ends.at(to)));
            }
        }
        let literal = ranges.first().copied().filter(|_| first.of_24 || last.of_24);
        ranges.retain(|(from, to)| from < to);
        let least = ranges.iter().map(length).min();
        ranges.retain(|range| Some(length(range)) == least || Some(*range) == literal);
        ranges
    }

    /// The moment of a point that has one.
    fn moment(&self, point: &Point) -> Result<Option<Timestamp>, Unresolved> {
        let moment = match point.moment {
            None => return Ok(None),
            Some(Moment::At(at)) => at,
            Some(Moment::FromNow(duration)) => self.now + duration,
        };
        if point.day.is_some() || point.clock.is_some() || point.part.is_some() {
            return Err(Unresolved::contradiction(
                "names a moment, and also a day or a time of the day; send one of them",
            ));
        }
        let date = self.zone.to_civil(moment).date;
        match point.weekday {
            Some(weekday) if weekday != date.weekday() => {
                let is = name(date.weekday());
                Err(Unresolved::contradiction(format!("names {date}, which is a {is}, not a {}", name(weekday))))
            }
            _ => Ok(Some(moment)),
        }
    }

    /// The next day on which the clocks show that time after now.
    fn next(&self, time: CivilTime) -> CivilDate {
        let today = self.today();
        let is_ahead = Shown::at(today.at(time), self.zone).is_some_and(|shown| shown.last() > self.now);
        if is_ahead { today } else { today.plus_days(1) }
    }

    /// The timestamps at which the clocks show a time.
    fn timestamps(&self, civil: CivilDateTime) -> Result<Vec<Timestamp>, Unresolved> {
        match Shown::at(civil, self.zone).ok_or(Unresolved::OutOfRange)? {
            Shown::Once(at) => Ok(vec![at]),
            Shown::Twice(first, second) => Ok(vec![first, second]),
            Shown::Never(change) => {
                let next = self.at(change)?.reading;
                Err(Unresolved::Skipped { zone: self.zone, local: civil, next })
            }
        }
    }

    /// The moments at which the clocks show a time.
    fn shown(&self, civil: CivilDateTime) -> Vec<Reading> {
        match self.timestamps(civil) {
            Ok(timestamps) => timestamps.into_iter().map(|at| self.at(at)).collect(),
            Err(error) => vec![Err(error)],
        }
    }

    /// The spans between two times of the clocks.
    fn between(&self, from: CivilDateTime, to: CivilDateTime) -> Vec<Reading> {
        self.spans(self.timestamps(from), self.timestamps(to))
    }

    /// The spans from one of these times to another.
    fn spans(
        &self,
        starts: Result<Vec<Timestamp>, Unresolved>,
        ends: Result<Vec<Timestamp>, Unresolved>,
    ) -> Vec<Reading> {
        let (starts, ends) = match (starts, ends) {
            (Ok(starts), Ok(ends)) => (starts, ends),
            (Err(error), _) | (_, Err(error)) => return vec![Err(error)],
        };
        let pairs = starts.iter().flat_map(|start| ends.iter().map(move |end| (*start, *end)));
        pairs.filter(|(start, end)| start < end).map(|(start, end)| self.span(start, end)).collect()
    }

    /// One moment.
    fn at(&self, at: Timestamp) -> Reading {
        let plain = self.plain(at).map(|civil| format!("{}, at {}", day(civil.date), clock(civil.time)));
        let reading = plain.unwrap_or_else(|| self.exact(at));
        in_range(at, None, Precision::Minute, reading)
    }

    fn span(&self, start: Timestamp, end: Timestamp) -> Reading {
        let reading = match (self.plain(start), self.plain(end)) {
            (Some(from), Some(to)) if from.date == to.date => {
                format!("{}, from {} to {}", day(from.date), clock(from.time), clock(to.time))
            }
            (Some(from), Some(to)) => {
                let (first, last) = (day(from.date), day(to.date));
                format!("{first}, from {} to {last}, at {}", clock(from.time), clock(to.time))
            }
            _ => format!("from {} to {}", with_offset(start, self.zone), with_offset(end, self.zone)),
        };
        in_range(start, Some(end), Precision::Minute, reading)
    }

    /// The days from one to another, both included.
    fn whole(&self, first: CivilDate, last: CivilDate) -> Reading {
        let start = day_start(first, self.zone).ok_or(Unresolved::OutOfRange)?;
        let end = day_start(last.plus_days(1), self.zone).ok_or(Unresolved::OutOfRange)?;
        if start >= end {
            let next = self.at(start)?.reading;
            return Err(Unresolved::Skipped { zone: self.zone, local: first.midnight(), next });
        }
        let reading = if first == last { day(first) } else { format!("{}, to {}", day(first), day(last)) };
        in_range(start, Some(end), Precision::Day, reading)
    }

    /// What the clocks show, if it leads back to the timestamp.
    fn plain(&self, at: Timestamp) -> Option<CivilDateTime> {
        let civil = self.zone.to_civil(at);
        (Shown::at(civil, self.zone) == Some(Shown::Once(at))).then_some(civil)
    }

    /// A moment that what the clocks show does not identify.
    fn exact(&self, at: Timestamp) -> String {
        format!("{}, {}", name(self.zone.to_civil(at).date.weekday()), with_offset(at, self.zone))
    }
}

fn in_range(start: Timestamp, end: Option<Timestamp>, precision: Precision, reading: String) -> Reading {
    // The last day ends after the horizon in zones behind UTC.
    let latest = Timestamp::HORIZON + SignedDuration::days(1);
    if !(Timestamp::EPOCH..Timestamp::HORIZON).contains(&start) || end.is_some_and(|end| end > latest) {
        return Err(Unresolved::OutOfRange);
    }
    Ok(Resolved { start, end, precision, reading })
}

/// The hours of a part of the day.
fn hours(part: Part) -> (CivilTime, CivilTime) {
    match part {
        Part::Morning => (o_clock(8), o_clock(12)),
        Part::Afternoon => (o_clock(12), o_clock(18)),
        Part::Evening => (o_clock(18), o_clock(22)),
    }
}

/// The times of a clock in a part of the day.
fn times(clock: Clock, part: Option<Part>) -> Result<Vec<CivilTime>, Unresolved> {
    let mut times = clock.times();
    times.retain(|time| match part {
        None => true,
        Some(Part::Morning) => *time < o_clock(12),
        Some(Part::Afternoon) => (o_clock(12)..o_clock(19)).contains(time),
        Some(Part::Evening) => *time >= o_clock(17),
    });
    if times.is_empty() {
        return Err(Unresolved::contradiction(
            "names a time that is not in its part of the day; leave one of them out",
        ));
    }
    Ok(times)
}

fn day(date: CivilDate) -> String {
    format!("{}, {date}", name(date.weekday()))
}

/// A time of the day, with seconds only if it has some.
fn clock(time: CivilTime) -> String {
    let (hour, minute, _) = time.hour_minute_second();
    let has_seconds = time.as_micros() % (60 * 1_000_000) != 0;
    if has_seconds { time.to_string() } else { format!("{hour:02}:{minute:02}") }
}
