//! The data of the benchmark, created through the API.
//!
//! Each of the reading agents has a calendar that repeats every ten days: 111 half hours hold three short events each,
//! which neither touch nor overlap, and the other half hours are empty. One day in the middle has one more event. A
//! window of 30 days that begins at any half hour of the first eighteen days therefore has 1,000 events, or 999 if it
//! begins after that day, and 1,107 free half-hour slots.
//!
//! The same number of agents have calendars with series: 950 plain events in any 30 days, and 50 weekly series that
//! began five years earlier, so 1,000 events count there too. They take the same 11 half hours of every day, which
//! leaves 1,110 free slots.

use anyhow::{Context as _, Result};
use kalends_time::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::connection::{Connection, get, post};
use crate::json;
use crate::load::CONNECTIONS;

/// The number of agents whose calendar is read: one for each connection.
pub(crate) const READERS: usize = CONNECTIONS;
/// The number of days with events. The last window begins on the eighteenth day.
const DAYS: u64 = 50;
/// The period after which a calendar repeats, in days.
const PERIOD: u64 = 10;
/// The number of busy half hours in a period.
const TAKEN: u64 = 111;
/// The number of events that one request creates.
const BATCH: usize = 100;
/// The number of busy half hours a day in the calendars with series.
const TAKEN_DAILY: u64 = 11;
/// The period after which the plain events of such a calendar repeat, in days, and their number in a period.
const SPREAD_PERIOD: u64 = 3;
const SPREAD_EVENTS: usize = 95;
/// The number of weekly series in such a calendar.
const SERIES: usize = 50;
/// The number of different bodies that a writing connection sends.
pub(crate) const BODIES: u64 = 64;
/// The first day, in days since 1970-01-01: 2026-03-02, a Monday.
const FIRST_DAY: u64 = 20_514;

/// The number of half hours over which the cold windows of each kind are spread: eight days.
const COLD: u64 = 8 * 48;

/// The window of 30 days that begins this many minutes after the first day began, as query parameters.
pub(crate) fn window(minute: u64) -> String {
    format!("start={}&end={}&slot_duration=30m", instant(minute), instant(minute + 30 * 1440))
}

/// Windows of which none can be answered from the cache of the one before. They alternate between two starts that are
/// ten days apart, while the service caches a calendar's busy times only for the whole days of the last request.
/// Hundreds of others come before a window is repeated, more than the cache of answers can hold.
pub(crate) fn cold_windows() -> impl Iterator<Item = String> {
    (0..COLD).flat_map(|half| [window(half * 30), window(PERIOD * 1440 + half * 30)])
}

/// The created data.
#[derive(Debug, Default)]
pub(crate) struct Data {
    /// The agents whose calendars are read.
    pub(crate) agents: Vec<String>,
    /// Their calendars.
    pub(crate) calendars: Vec<String>,
    /// The agents with series.
    pub(crate) recurring: Vec<String>,
    /// Events of the first of the read calendars.
    pub(crate) events: Vec<String>,
    /// Calendars that are not read: one for each writing connection.
    pub(crate) written: Vec<String>,
    /// Calendars with a thousand events in 30 days, one for each writing connection. All times of [`free_from`] are
    /// free.
    pub(crate) free: Vec<String>,
    /// The slugs of three booking pages of one calendar, which has a thousand events from now on. The first offers half
    /// hours for 14 days, the second five minutes for a year. The third is like the first, but books five such calendars
    /// together.
    pub(crate) pages: Vec<String>,
    /// The session of a person with an organization of their own.
    pub(crate) session: String,
    /// The agents whose free times are searched, and when.
    pub(crate) searched: Searched,
    /// An organization whose change feed nobody reads.
    pub(crate) unread: Organization,
    /// An organization whose change feed was read.
    pub(crate) followed: Organization,
}

/// Agents with some events in the same days.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    pub(crate) agents: Vec<String>,
    /// The first and the last moment, in RFC 3339.
    pub(crate) start: String,
    pub(crate) end: String,
}

/// An organization for a few cases, with one calendar for each writing connection.
#[derive(Debug, Default)]
pub(crate) struct Organization {
    pub(crate) key: String,
    pub(crate) calendars: Vec<String>,
}

impl Data {
    /// Creates everything.
    pub(crate) async fn create(connection: &mut Connection, key: &str) -> Result<Self> {
        let mut data = Self::default();
        for reader in 0..READERS {
            let number = u64::try_from(reader)?;
            let (agent, calendar) = agent_with_calendar(connection, key, &format!("Reader {reader}")).await?;
            let mut bodies = events(number);
            bodies[0]["metadata"]["ticket"] = json!(reader);
            let created = create_events(connection, key, &calendar, &bodies).await?;
            if reader == 0 {
                data.events = created;
            }
            data.agents.push(agent);
            data.calendars.push(calendar);

            let (agent, calendar) = agent_with_calendar(connection, key, &format!("Recurring {reader}")).await?;
            create_events(connection, key, &calendar, &events_next_to_series(number)).await?;
            create_events(connection, key, &calendar, &series(number)).await?;
            data.recurring.push(agent);
        }
        data.events.truncate(1000);
        for writer in 0..CONNECTIONS {
            data.written.push(agent_with_calendar(connection, key, &format!("Writer {writer}")).await?.1);
        }
        let taken: Vec<Value> = (0..SPREAD).map(|number| event(number * EVERY, LASTS)).collect();
        for writer in 0..CONNECTIONS {
            let calendar = agent_with_calendar(connection, key, &format!("Free {writer}")).await?.1;
            create_events(connection, key, &calendar, &taken).await?;
            data.free.push(calendar);
        }
        data.pages = create_pages(connection, key).await?;
        Ok(data)
    }
}

/// The number of events on each calendar with free times, spread over 30 days.
const SPREAD: u64 = 1_000;
/// The time from one of these events to the next, and the length of each, in minutes.
const EVERY: u64 = 43;
const LASTS: u64 = 20;
/// The length of the free times, in minutes.
pub(crate) const FREE: u64 = 2;
/// The number of free times.
pub(crate) const FREE_TIMES: u64 = SPREAD * ((EVERY - LASTS) / FREE);

/// When a free time begins, in minutes. Those that follow each other are in different gaps.
pub(crate) const fn free_from(number: u64) -> u64 {
    number % SPREAD * EVERY + LASTS + number / SPREAD * FREE
}

/// The number of calendars that a booking page books together.
const TEAM: usize = 5;
/// The number of events on each calendar with booking pages, in the next 14 days.
const BOOKED: u64 = 1_000;

/// Creates the booking pages and returns their slugs. Three short events take every second half hour.
async fn create_pages(connection: &mut Connection, key: &str) -> Result<Vec<String>> {
    let mut team = Vec::new();
    for member in 0..TEAM {
        team.push(agent_with_calendar(connection, key, &format!("Booked {member}")).await?.1);
    }
    let health = connection.ask(&get("/health", None)).await?.json(200)?;
    let now: Timestamp = json::text(&health, "ts")?.parse()?;
    // Aligned with the pages, whose slots begin with the day.
    let half_hour = SignedDuration::minutes(30).as_micros();
    let first = Timestamp::from_micros((now.as_micros() / half_hour + 1) * half_hour);
    let bodies: Vec<Value> = (0..BOOKED)
        .map(|number| {
            let (half, (offset, length)) = (number / 3 * 2, SHORT[usize::try_from(number % 3).unwrap_or(0)]);
            let minutes = |minutes: u64| SignedDuration::minutes(i64::try_from(minutes).unwrap_or(0));
            let start = first + minutes(half * 30 + offset);
            let (start, end) = (start.to_string(), (start + minutes(length)).to_string());
            json!({ "title": "Weekly planning with the design team", "start_time": start, "end_time": end })
        })
        .collect();
    for calendar in &team {
        create_events(connection, key, calendar, &bodies).await?;
    }
    let mut slugs = Vec::new();
    for (duration, days, together) in [(30, 14, false), (5, 365, false), (30, 14, true)] {
        let mut page = json!({
            "calendar_id": team.first(), "title": "Intro", "duration_minutes": duration, "window_days": days,
        });
        if together {
            page["calendars"] = json!(team);
            page["assignment"] = json!("collective");
        }
        let made = connection.ask(&post("/v1/booking-pages", Some(key), None, &page.to_string())).await?.json(201)?;
        slugs.push(json::text(&made, "slug")?.to_owned());
    }
    Ok(slugs)
}

/// Creates the events and returns their identifiers.
pub(crate) async fn create_events(
    connection: &mut Connection,
    key: &str,
    calendar: &str,
    bodies: &[Value],
) -> Result<Vec<String>> {
    let mut ids = Vec::with_capacity(bodies.len());
    for batch in bodies.chunks(BATCH) {
        let body = json!({ "events": batch }).to_string();
        let target = format!("/v1/calendars/{calendar}/events/batch");
        let created = connection.ask(&post(&target, Some(key), None, &body)).await?.json(201)?;
        for event in json::list(&created, "data")? {
            ids.push(json::text(event, "id")?.to_owned());
        }
    }
    Ok(ids)
}

pub(crate) async fn agent_with_calendar(
    connection: &mut Connection,
    key: &str,
    name: &str,
) -> Result<(String, String)> {
    let agent = json!({ "name": name, "type": "ai" }).to_string();
    let agent = connection.ask(&post("/v1/agents", Some(key), None, &agent)).await?.json(201)?;
    let agent = json::text(&agent, "id")?.to_owned();
    let calendar = json!({ "name": "Work", "timezone": "UTC" }).to_string();
    let target = format!("/v1/agents/{agent}/calendars");
    let calendar = connection.ask(&post(&target, Some(key), None, &calendar)).await?;
    let calendar = calendar.json(201).context("cannot create a calendar")?;
    Ok((agent, json::text(&calendar, "id")?.to_owned()))
}

/// The starts and lengths of the three events in a half hour, in minutes. The last two minutes stay free.
const SHORT: [(u64, u64); 3] = [(1, 7), (10, 7), (20, 7)];

/// The bodies of one calendar's events. The calendars are busy at different times, so several agents together are free
/// much less often than one.
fn events(reader: u64) -> Vec<Value> {
    let halves = PERIOD * 48;
    let mut bodies = Vec::new();
    for period in 0..DAYS / PERIOD {
        for taken in 0..TAKEN {
            let half = (taken * halves / TAKEN + reader * 7) % halves;
            let minute = (period * halves + half) * 30;
            bodies.extend(SHORT.map(|(offset, length)| event(minute + offset, length)));
            if period == 1 && taken == 0 {
                bodies.push(event(minute + 28, 2));
            }
        }
    }
    bodies
}

/// The busy half hours of every day in a calendar with series.
fn taken_daily(reader: u64) -> impl Iterator<Item = u64> {
    (0..TAKEN_DAILY).map(move |taken| (taken * 48 / TAKEN_DAILY + reader * 7) % 48)
}

/// The bodies of the plain events of a calendar with series.
fn events_next_to_series(reader: u64) -> Vec<Value> {
    let mut bodies = Vec::new();
    for first in (0..DAYS).step_by(usize::try_from(SPREAD_PERIOD).unwrap_or(1)) {
        let places = SHORT.into_iter().flat_map(|short| (0..SPREAD_PERIOD).map(move |day| (short, first + day)));
        let each = places.flat_map(|(short, day)| taken_daily(reader).map(move |half| (short, day, half)));
        let of_period = each.take(SPREAD_EVENTS).filter(|(_, day, _)| *day < DAYS);
        bodies.extend(of_period.map(|((offset, length), day, half)| event((day * 48 + half) * 30 + offset, length)));
    }
    bodies
}

/// The bodies of a calendar's weekly series, starting in the first week of March 2021. They take the last two minutes
/// of half hours that are busy anyway.
fn series(reader: u64) -> Vec<Value> {
    let places = (0..7).flat_map(|weekday| taken_daily(reader).map(move |half| (weekday, half * 30 + 28)));
    let bodies = places.take(SERIES).map(|(weekday, minute)| {
        // The first of that month was a Monday.
        let at = |minute| {
            format!("2021-03-{:02}T{:02}:{:02}:00Z", 1 + weekday + minute / 1440, minute / 60 % 24, minute % 60)
        };
        json!({
            "title": "Weekly planning with the design team",
            "description": "What was done, what comes next, and what stands in the way. Notes are in the usual place.",
            "start_time": at(minute),
            "end_time": at(minute + 2),
            "recurrence_rule": "FREQ=WEEKLY",
            "metadata": { "room": "4.12", "source": "bench" },
        })
    });
    bodies.collect()
}

fn event(minute: u64, length: u64) -> Value {
    json!({
        "title": "Weekly planning with the design team",
        "description": "What was done, what comes next, and what stands in the way. Notes are in the usual place.",
        "start_time": instant(minute),
        "end_time": instant(minute + length),
        "metadata": { "room": "4.12", "source": "bench" },
    })
}

/// The body of a new event that begins this many minutes after the first day began.
pub(crate) fn addition(minute: u64, length: u64) -> Value {
    json!({
        "title": "Weekly planning with the design team",
        "description": "What was done, what comes next, and what stands in the way.",
        "start_time": instant(minute),
        "end_time": instant(minute + length),
        "metadata": { "room": "4.12" },
    })
}

/// The time this many minutes after the first day began. The events are in March and April of one year.
pub(crate) fn instant(minute: u64) -> String {
    const MARCH_FIRST: u64 = FIRST_DAY - 1;
    let day = FIRST_DAY + minute / 1440 - MARCH_FIRST;
    let (month, day) = match day {
        0..=30 => (3, day + 1),
        31..=60 => (4, day - 30),
        _ => (5, day - 60),
    };
    format!("2026-{month:02}-{day:02}T{:02}:{:02}:00Z", minute / 60 % 24, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_across_months() {
        for (minute, text) in [
            (0, "2026-03-02T00:00:00Z"),
            (29 * 1440 + 61, "2026-03-31T01:01:00Z"),
            (30 * 1440, "2026-04-01T00:00:00Z"),
            (60 * 1440, "2026-05-01T00:00:00Z"),
        ] {
            assert_eq!(instant(minute), text);
        }
    }

    #[test]
    fn free_times_are_between_the_events_and_apart() {
        let mut free: Vec<u64> = (0..FREE_TIMES).map(free_from).collect();
        free.sort_unstable();
        assert!(free.is_sorted_by(|one, next| one + FREE <= *next));
        assert!(free.iter().all(|start| start % EVERY >= LASTS && start % EVERY + FREE <= EVERY));
    }

    #[test]
    fn each_window_has_a_thousand_events() {
        for reader in [0, 5, 31] {
            let bodies = events(reader);
            for (from, to) in [("2026-03-02", "2026-04-01"), ("2026-03-12", "2026-04-11")] {
                let inside = bodies.iter().filter(|body| {
                    let start = json::text(body, "start_time").unwrap();
                    from <= start && start < to
                });
                assert_eq!(inside.count(), 1000);
            }
        }
    }

    #[test]
    fn series_are_within_busy_half_hours() {
        for reader in [0, 5, 31] {
            let half = |body: &Value, field| {
                let at = json::text(body, field).unwrap();
                let part = |range: std::ops::Range<usize>| at[range].parse::<u64>().unwrap();
                part(11..13) * 2 + part(14..16) / 30
            };
            let (plain, series) = (events_next_to_series(reader), series(reader));
            for (from, to) in [("2026-03-02", "2026-04-01"), ("2026-03-13", "2026-04-12")] {
                let inside = plain.iter().filter(|body| {
                    let start = json::text(body, "start_time").unwrap();
                    from <= start && start < to
                });
                assert_eq!(inside.count() + series.len(), 1000);
            }
            let taken: Vec<u64> = taken_daily(reader).collect();
            assert!(plain.iter().chain(&series).all(|body| taken.contains(&half(body, "start_time"))));
            let mut starts: Vec<&str> = series.iter().map(|body| json::text(body, "start_time").unwrap()).collect();
            starts.sort_unstable();
            starts.dedup();
            assert_eq!(starts.len(), series.len());
            assert!(starts[0] >= "2021-03-01" && starts[49] < "2021-03-08");
        }
    }
}
