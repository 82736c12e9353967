//! Properties of every feed, checked with the reader of another project and with the zone database.

use std::collections::BTreeMap;

use calcard::icalendar::{ICalendar, ICalendarComponentType, ICalendarProperty};
use kalends_calendars::ConferenceUrl;
use kalends_recurrence::{Length, Rule, Series};
use kalends_time::testing::config;
use kalends_time::{CivilDateTime, SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;

use super::{
    tests::{at, calendar, event, id, written},
    *,
};

/// Zones whose rules have not changed for years, because the other reader's database is older than ours.
fn zone_name() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "America/New_York",
        "America/Santiago",
        "Asia/Jerusalem",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Europe/Berlin",
        "Europe/Dublin",
        "Pacific/Apia",
        "UTC",
    ])
}

fn rule() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "FREQ=DAILY;COUNT=30",
        "FREQ=DAILY;INTERVAL=3;COUNT=12",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;COUNT=20",
        "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270701",
        "FREQ=MONTHLY;BYMONTHDAY=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28;COUNT=9",
        "FREQ=YEARLY;COUNT=3",
    ])
}

/// Any characters of a title, including those that a line cannot contain.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            any::<char>(),
            proptest::sample::select(vec!['\r', '\n', '\0', '\t', ';', ',', '\\', '"', 'é', '日', '😀', ' '])
        ],
        1..120,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

const fn is_line_end(character: char) -> bool {
    matches!(character, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_lost(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
}

/// A title, the hour at which it begins, its length in hours, and its rule, zone and exdates.
type Drawn = (String, i64, i64, Option<(&'static str, &'static str, Vec<usize>)>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let repeats = (rule(), zone_name(), proptest::collection::vec(0..12_usize, 0..3));
    (text(), 0..24 * 400_i64, 1..30_i64, proptest::option::of(repeats))
}

fn made(number: u8, calendar: &Calendar, (title, hour, hours, repeats): &Drawn) -> Event {
    let start = at("2026-01-05T00:00:00Z") + SignedDuration::hours(*hour);
    let times = (start.to_string(), (start + SignedDuration::hours(*hours)).to_string());
    let times = (times.0.as_str(), times.1.as_str());
    let plain = |exdates: &[&str]| {
        event(number, calendar, times, repeats.as_ref().map(|(rule, zone, _)| (*rule, Some(*zone), exdates)))
    };
    let series = plain(&[]);
    let all = occurrences(&series);
    let cancelled: Vec<String> = repeats
        .iter()
        .flat_map(|(_, _, cancelled)| cancelled)
        .filter_map(|index| all.get(*index).map(|span| span.start().to_string()))
        .collect();
    let cancelled: Vec<&str> = cancelled.iter().map(String::as_str).collect();
    let location = Some(title.chars().rev().collect());
    let path: String = title.chars().filter(|one| !one.is_whitespace() && !one.is_control()).collect();
    let conference_url = Some(ConferenceUrl::parse("", &format!("https://meet.example.com/{path}")).unwrap());
    Event { title: title.clone(), location, conference_url, ..plain(&cancelled) }
}

/// The text without the characters that a line cannot contain.
fn shown(text: &str) -> String {
    text.replace("\r\n", "\n").replace(is_line_end, "\n").replace(is_lost, "")
}

fn occurrences(event: &Event) -> Vec<Span> {
    let ever = Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap();
    event.repeating().map_or(vec![event.times.span], |repeating| repeating.occurrences(ever).collect())
}

/// The times in seconds that the other reader finds, by UID. It misreads the end of a rule as a local time, although it
/// is correctly in UTC, so it gets a local one here.
fn read_back(text: &str, events: &[Event]) -> BTreeMap<String, Vec<(i64, i64)>> {
    let text = text.replace("\r\n ", "");
    let mut components: Vec<String> = text.split("BEGIN:VEVENT").map(str::to_owned).collect();
    for event in events.iter().filter(|event| !event.times.all_day) {
        let Some(recurrence) = event.recurrence() else { continue };
        let last = recurrence.last_start().unwrap();
        let local = stamp::local(recurrence.zone().to_civil(last));
        // Another series may end at the same instant in another zone.
        let uid = format!("UID:{}@kalends\r\n", event.id);
        for component in components.iter_mut().filter(|component| component.contains(&uid)) {
            *component = component.replace(&format!(";UNTIL={}", stamp::utc(last)), &format!(";UNTIL={local}"));
        }
    }
    let text = components.join("BEGIN:VEVENT");
    let read = ICalendar::parse(&text).unwrap();
    let expanded = read.expand_dates(calcard::common::timezone::Tz::UTC, 100_000);
    assert!(expanded.errors.is_empty(), "{:?}", expanded.errors);
    let mut found: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for event in expanded.events {
        let uid = read.components[event.comp_id as usize].uid().unwrap().to_owned();
        found.entry(uid).or_default().push(event.timestamps());
    }
    found.values_mut().for_each(|times| times.sort_unstable());
    found
}

/// Whether an occurrence of a series begins or ends in a gap or an overlap. The other reader mishandles both, so such
/// series are left out here. `kalends-recurrence` has its own tests for them.
fn meets_a_doubtful_time(event: &Event) -> bool {
    let Some(recurrence) = event.recurrence() else { return false };
    let zone = recurrence.zone();
    let comes_twice = |instant: Timestamp| {
        let [before, after] = [-6, 6].map(|hours| zone.offset_at(instant + SignedDuration::hours(hours)));
        let apart = SignedDuration::micros(before.as_micros() - after.as_micros());
        let other = [instant + apart, instant - apart];
        before != after && other.iter().any(|other| zone.to_civil(*other) == zone.to_civil(instant))
    };
    let of_day = |span: &Span| zone.to_civil(span.start()).time;
    let first = of_day(&event.times.span);
    let doubtful = |span: &Span| comes_twice(span.start()) || comes_twice(span.end()) || of_day(span) != first;
    let ever = Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap();
    // Include cancelled occurrences, because they are written as EXDATE.
    let series = recurrence.series(event.times).unwrap();
    doubtful(&event.times.span) || series.occurrences(ever).any(|span| doubtful(&span))
}

proptest! {
    #![proptest_config(config(128))]

    /// Every feed is well formed whatever its texts contain, and is the same each time it is written.
    #[test]
    fn every_feed_is_well_formed_and_deterministic(
        name in text(),
        drawn in proptest::collection::vec(drawn(), 0..6),
    ) {
        let calendar = calendar(&name, "Europe/Berlin");
        let events = || drawn.iter().zip(1..).map(|(drawn, number)| made(number, &calendar, drawn));
        let text = written(&calendar, events());
        prop_assert_eq!(&text, &written(&calendar, events()));
        prop_assert!(text.ends_with("END:VCALENDAR\r\n"));
        let mut depth = 0;
        for line in text.split_terminator("\r\n") {
            prop_assert!(line.len() <= 75, "{} octets: {line:?}", line.len());
            prop_assert!(!line.chars().any(|character| character.is_control() && character != '\t'), "{line:?}");
            depth += i32::from(line.starts_with("BEGIN:")) - i32::from(line.starts_with("END:"));
            prop_assert!(depth > 0 || line == "END:VCALENDAR");
        }
        prop_assert_eq!(depth, 0);
    }

    /// The reader of another project finds the same times, titles and locations in a feed.
    #[test]
    fn another_reader_finds_the_same_times(drawn in proptest::collection::vec(drawn(), 1..5)) {
        let calendar = calendar("Work", "Europe/Berlin");
        let made = drawn.iter().zip(1..).map(|(drawn, number)| made(number, &calendar, drawn));
        let events: Vec<Event> = made.filter(|event| !meets_a_doubtful_time(event)).collect();
        let text = written(&calendar, events.clone());
        let read = ICalendar::parse(&text).unwrap();
        let texts = |property: ICalendarProperty| -> BTreeMap<&str, &str> {
            let events = read.components.iter();
            let events = events.filter(|component| component.component_type == ICalendarComponentType::VEvent);
            events
                .filter_map(|component| {
                    let text = component.property(&property)?.values.first()?.as_text()?;
                    Some((component.uid()?, text))
                })
                .collect()
        };
        let (titles, locations) = (texts(ICalendarProperty::Summary), texts(ICalendarProperty::Location));
        let unfolded = text.replace("\r\n ", "");
        let found = read_back(&text, &events);
        for event in &events {
            let uid = format!("{}@kalends", event.id);
            prop_assert_eq!(titles.get(uid.as_str()).copied().unwrap_or_default(), shown(&event.title));
            let location = event.location.as_deref().unwrap_or_default();
            prop_assert_eq!(locations.get(uid.as_str()).copied().unwrap_or_default(), shown(location));
            let url = event.conference_url.as_ref().unwrap();
            prop_assert!(unfolded.contains(&format!("\r\nCONFERENCE;VALUE=URI:{url}\r\n")), "{text}");
            let expected: Vec<(i64, i64)> = occurrences(event)
                .iter()
                .map(|span| (span.start().as_unix_seconds(), span.end().as_unix_seconds()))
                .collect();
            prop_assert_eq!(found.get(&uid).cloned().unwrap_or_default(), expected, "{}", text);
        }
    }

    /// The description of a zone in a feed agrees with the zone database for all the time that the feed covers.
    #[test]
    fn zones_are_described_for_the_covered_time(name in zone_name(), day in 0..47_000_i64, days in 1..9_000_i64) {
        let from = Timestamp::EPOCH + SignedDuration::days(day);
        check_zone(name.parse().unwrap(), from, (from + SignedDuration::days(days)).min(Timestamp::HORIZON));
    }
}

#[test]
fn every_zone_is_described_from_1970_to_2099() {
    for zone in Zone::all() {
        check_zone(zone, Timestamp::EPOCH, Timestamp::HORIZON);
    }
}

#[test]
fn regular_zones_take_few_lines() {
    let length = |zone: &str| {
        let mut lines = Lines::default();
        let covered =
            zones::Covered { zone: zone.parse().unwrap(), from: at("2026-01-01T00:00:00Z"), to: Timestamp::HORIZON };
        zones::write(&covered, &mut lines);
        lines.take().lines().count()
    };
    assert_eq!(length("Europe/Berlin"), 17);
    assert_eq!(length("Asia/Kolkata"), 9);
    assert!(length("Africa/Casablanca") < 240);
}

/// Compares the description that is written of a zone with the zone, using a separate reader.
fn check_zone(zone: Zone, from: Timestamp, to: Timestamp) {
    let mut lines = Lines::default();
    zones::write(&zones::Covered { zone, from, to }, &mut lines);
    let text = lines.take().replace("\r\n ", "");
    // The instants of the changes, each with the offset from then on.
    let mut onsets: Vec<(i64, i64)> = Vec::new();
    let (mut observance, mut single): (BTreeMap<&str, &str>, Vec<&str>) = Default::default();
    for line in text.split_terminator("\r\n") {
        let (name, value) = line.split_once(':').unwrap();
        if name == "END" && value != "VTIMEZONE" {
            onsets.extend(of_observance(&observance, &single));
        }
        if name == "BEGIN" {
            observance.clear();
            single.clear();
        }
        if name == "RDATE" {
            single.push(value);
        }
        observance.insert(name, value);
    }
    onsets.sort_unstable();
    let described_offset = |second: i64| {
        let last = onsets.partition_point(|(onset, _)| *onset <= second);
        onsets[last.checked_sub(1).unwrap_or_else(|| panic!("nothing is in force at {second}: {text}"))].1
    };
    let mut second = from.as_unix_seconds();
    let check = |second: i64| {
        let actual = zone.offset_at(Timestamp::from_micros(second * 1_000_000)).as_seconds();
        assert_eq!(described_offset(second), actual, "{zone} at {second}: {text}");
    };
    while second < to.as_unix_seconds() {
        check(second);
        second += 86_400 * 5;
    }
    let inside = |onset: &i64| (from.as_unix_seconds() + 1..to.as_unix_seconds()).contains(onset);
    for (onset, _) in onsets.iter().filter(|(onset, _)| inside(onset)) {
        check(onset - 1);
        check(*onset);
    }
}

fn of_observance(observance: &BTreeMap<&str, &str>, single: &[&str]) -> Vec<(i64, i64)> {
    let offset = |text: &str| {
        let number = |range| text.get(range).map_or(0, |digits: &str| digits.parse::<i64>().unwrap());
        let ahead = number(1..3) * 3_600 + number(3..5) * 60 + number(5..7);
        if text.starts_with('-') { -ahead } else { ahead }
    };
    let local = |text: &str| {
        let (date, time) = text.trim_end_matches('Z').split_once('T').unwrap();
        let text =
            format!("{}-{}-{}T{}:{}:{}Z", &date[..4], &date[4..6], &date[6..], &time[..2], &time[2..4], &time[4..]);
        chrono::DateTime::parse_from_rfc3339(&text).unwrap().timestamp()
    };
    let (before, after) = (offset(observance["TZOFFSETFROM"]), offset(observance["TZOFFSETTO"]));
    let first = local(observance["DTSTART"]);
    let mut starts = vec![first];
    starts.extend(single.iter().map(|date| local(date)));
    if let Some(text) = observance.get("RRULE") {
        let (rule, until) =
            text.split_once(";UNTIL=").map_or((*text, None), |(rule, until)| (rule, Some(local(until))));
        let rule: Rule = rule.parse().unwrap();
        let length = Length::elapsed(SignedDuration::seconds(1)).unwrap();
        let first = Timestamp::from_micros(first * 1_000_000);
        let series = Series::new(rule, first, Zone::UTC, length).unwrap();
        assert!(series.begins_by_its_rule(), "{text}");
        let all = series.starts(first..Timestamp::HORIZON).map(|start| start.as_unix_seconds());
        starts = all.filter(|start| until.is_none_or(|until| start - before <= until)).collect();
    }
    starts.into_iter().map(|start| (start - before, after)).collect()
}

#[test]
fn civil_time_is_utc_plus_the_offset() {
    let local = CivilDateTime::ahead_of_utc(at("2026-03-01T23:30:00Z"), SignedDuration::hours(1));
    assert_eq!((stamp::local(local).as_str(), id(1)), ("20260302T003000", id(1)));
}
