//! Laws and examples of changes of many occurrences.

use std::collections::BTreeSet;

use kalends_time::testing::config;
use proptest::{collection::vec, prelude::*};
use rstest::rstest;

use super::*;
use crate::{EventSource, EventStatus, RecurrencePatch, series::examples::*};

const NOW: Timestamp = Timestamp::from_micros(11);

pub(super) fn berlin() -> Zones {
    "Europe/Berlin".parse::<Zone>().unwrap().into()
}

/// New identifiers, from this number on.
pub(super) fn ids(first: u8) -> impl FnMut() -> EventId {
    let mut numbers = first..;
    move || id(numbers.next().unwrap())
}

fn starting(start: Timestamp) -> EventPatch {
    EventPatch { start: Patch::Set(Moment::At(start)), ..EventPatch::default() }
}

fn titled(title: &str) -> EventPatch {
    EventPatch { title: Patch::Set(title.into()), ..EventPatch::default() }
}

/// The series with some occurrences cancelled and some moved by half an hour, and the rows of those that moved.
pub(super) fn with_exceptions(series: Event, acts: &[(usize, bool)]) -> (Event, Vec<Event>) {
    let starts: Vec<Timestamp> = all(&series).iter().map(|span| span.start()).collect();
    let (mut series, mut rows) = (series, Vec::new());
    for (number, (index, cancel)) in acts.iter().enumerate() {
        let start = starts[index % starts.len()];
        let Some(instance) = series.instance(start) else { continue };
        if *cancel {
            series = series.without_occurrence(start, NOW).unwrap();
            continue;
        }
        let later = starting(start + SignedDuration::minutes(30));
        let row = id(u8::try_from(10 + number).unwrap());
        let zone = berlin().calendar;
        let (changed, row) = series.with_occurrence_patched(&instance, row, later, zone, NOW).unwrap();
        series = changed;
        rows.push(row);
    }
    (series, rows)
}

/// Whether the clocks skip the time of an occurrence, which then starts at another.
fn skips_a_time(event: &Event) -> bool {
    let zone = event.recurrence().unwrap().zone;
    let time = |start| zone.to_civil(start).time;
    all(event).iter().any(|span| time(span.start()) != time(event.times.span.start()))
}

/// What takes place: the occurrences that the rule gives, and the overrides.
fn taking_place<'a>(
    series: impl IntoIterator<Item = &'a Event>,
    rows: impl IntoIterator<Item = &'a Event>,
) -> Vec<Times> {
    let generated = series
        .into_iter()
        .flat_map(|series| all(series).into_iter().map(|span| Times { span, all_day: series.times.all_day }));
    let mut times: Vec<Times> = generated.chain(rows.into_iter().map(|row| row.times)).collect();
    times.sort_by_key(|times| times.span);
    times
}

pub(super) fn rows_after<'a>(rows: &'a [Event], changed: &'a ChangedSeries) -> Vec<&'a Event> {
    let replaced: BTreeSet<EventId> = changed.overrides.iter().map(|changed| changed.before.id).collect();
    for after in changed.overrides.iter().filter_map(|changed| changed.after.as_ref()) {
        let row = rows.iter().find(|row| row.id == after.id);
        assert!(row.is_none_or(|row| row.occurrence() == after.occurrence()), "a row stays the same instance");
        let other = rows.iter().find(|row| row.occurrence() == after.occurrence());
        assert!(other.is_none_or(|row| row.id == after.id), "an instance stays the same row");
    }
    let kept = rows.iter().filter(|row| !replaced.contains(&row.id));
    kept.chain(changed.overrides.iter().filter_map(|changed| changed.after.as_ref())).collect()
}

/// Every override has the original start of an occurrence that its series names, and every one that it names has a
/// row.
pub(super) fn overrides_agree(series: &Event, rows: &[&Event]) -> bool {
    let of_rows: Vec<Timestamp> = rows
        .iter()
        .filter_map(|row| row.occurrence())
        .filter(|occurrence| occurrence.series == series.id)
        .map(|occurrence| occurrence.start)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    of_rows == series.recurrence().unwrap().overridden() && of_rows.len() == rows.len()
}

proptest! {
    #![proptest_config(config(96))]

    /// A series that is split has the same occurrences, exceptions included, as before.
    #[test]
    fn a_split_changes_no_occurrence(
        event in series(), acts in vec((0..40_usize, any::<bool>()), 0..8), at in 0..40_usize,
    ) {
        let (event, rows) = with_exceptions(event, &acts);
        let starts = all(&event);
        prop_assume!(!starts.is_empty());
        let start = starts[at % starts.len()].start();
        prop_assume!(!skips_a_time(&event));
        let Some((ended, rest)) = event.split(start, id(9), NOW).unwrap() else {
            prop_assert!(starts[0].start() == start && rows.iter().all(|row| row.occurrence().unwrap().start >= start));
            return Ok(());
        };
        prop_assert_eq!((rest.id, rest.previous_series, rest.times.span.start()), (id(9), Some(event.id), start));
        prop_assert_eq!((&rest.title, rest.version, ended.version), (&event.title, Version::FIRST, event.version.next()));
        prop_assert_eq!(taking_place([&ended, &rest], &rows), taking_place([&event], &rows));
        let (before, after): (Vec<&Event>, Vec<&Event>) =
            rows.iter().partition(|row| row.occurrence().unwrap().start < start);
        prop_assert!(overrides_agree(&ended, &before));
        let instance = rest.instance(start).unwrap();
        let taken = after.iter().map(|row| (*row).clone()).collect();
        let changed = rest.with_all_patched(taken, &instance, &titled("x"), berlin(), NOW, &mut ids(40)).unwrap();
        let moved: Vec<&Event> = changed.overrides.iter().map(|changed| changed.after.as_ref().unwrap()).collect();
        prop_assert!(overrides_agree(&changed.series, &moved), "every later override belongs to the new series");
        prop_assert_eq!(taking_place([&ended, &changed.series], before.into_iter().chain(moved)), taking_place([&event], &rows));
        // A stored recurrence is as it would be written.
        for half in [&ended, &rest] {
            let recurrence = half.recurrence().unwrap();
            let series = Series::new(recurrence.rule.clone(), half.times.span.start(), recurrence.zone, recurrence.series(half.times).unwrap().length());
            prop_assert_eq!(series.unwrap().last_start(), recurrence.last_start);
        }
    }

    /// A series whose named occurrence moves takes place as before, later by the same time on the wall clock, and its
    /// exceptions move with it.
    #[test]
    fn all_occurrences_move_alike(
        event in series(), acts in vec((0..40_usize, any::<bool>()), 0..8), at in 0..40_usize,
        quarters in prop_oneof![Just(0), -40..40_i64, -700..700_i64],
    ) {
        let (event, rows) = with_exceptions(event, &acts);
        let zone = event.recurrence().unwrap().zone;
        let starts = all(&event);
        prop_assume!(!starts.is_empty());
        let named = starts[at % starts.len()].start();
        prop_assume!(!skips_a_time(&event));
        let instance = event.instance(named).unwrap();
        let by = quarters * 15 * 60_000_000;
        let to = at_wall_clock(zone, wall_clock_micros(zone, named) + by).unwrap();
        // The clocks skip some times.
        prop_assume!(wall_clock_micros(zone, to) == wall_clock_micros(zone, named) + by);
        let changed = match event.with_all_patched(rows.clone(), &instance, &starting(to), berlin(), NOW, &mut ids(40)) {
            Ok(changed) => changed,
            Err(EventError::Invalid(errors)) => {
                let date = |instant| zone.to_civil(instant).date;
                let skipped = errors.first().message.contains("skip");
                prop_assert!(skipped || date(named) != date(to), "a move within a day: {errors}");
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let after = rows_after(&rows, &changed);
        let shifted = |instant| wall_clock_micros(zone, instant) + by;
        let expected: Vec<i64> = taking_place([&event], &rows).iter().map(|times| shifted(times.span.start())).collect();
        let got = taking_place([&changed.series], after.iter().copied());
        let shown: Vec<i64> = got.iter().map(|times| wall_clock_micros(zone, times.span.start())).collect();
        let skipped = |(expected, got): (&i64, &i64)| expected == got || at_wall_clock(zone, *expected).map(|at| wall_clock_micros(zone, at)) == Some(*got);
        prop_assert!(expected.len() == shown.len() && expected.iter().zip(&shown).all(skipped), "{expected:?} {shown:?}");
        let length = event.times.span.length();
        prop_assert!(got.iter().all(|times| times.span.length() == length));
        let exdates = |event: &Event| event.recurrence().unwrap().exdates().len();
        prop_assert_eq!(exdates(&changed.series), exdates(&event));
        prop_assert!(overrides_agree(&changed.series, &after));
        prop_assert_eq!(changed.series.version, event.version.next());
        prop_assert!(quarters != 0 || changed.overrides.is_empty());
    }
}

#[test]
fn a_field_changes_where_it_was_not_changed_alone() {
    let (series, retro) = overridden(&weekly(), "2026-03-09T09:00:00Z");
    let moved = starting(at("2026-03-16T11:00:00Z"));
    let instance = series.instance(at("2026-03-16T09:00:00Z")).unwrap();
    let (series, later) = series.with_occurrence_patched(&instance, id(3), moved, Zone::UTC, NOW).unwrap();
    let rows = vec![retro.clone(), later.clone()];
    let other = series.instance(at("2026-03-23T09:00:00Z")).unwrap();
    let patch = EventPatch { status: Patch::Set(EventStatus::Tentative), ..titled("Sync") };
    let changed = series.with_all_patched(rows.clone(), &other, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    let after: Vec<&Event> = changed.overrides.iter().map(|changed| changed.after.as_ref().unwrap()).collect();
    let shown: Vec<(&str, EventStatus, Timestamp)> =
        after.iter().map(|event| (event.title.as_str(), event.status, event.times.span.start())).collect();
    let tentative = EventStatus::Tentative;
    let expected = [("Retro", tentative, at("2026-03-09T09:00:00Z")), ("Sync", tentative, at("2026-03-16T11:00:00Z"))];
    assert_eq!(shown, expected);
    assert_eq!((after[0].id, after[1].id, after[0].version), (id(2), id(3), changed.series.version));
    assert_eq!(changed.series.title, "Sync");

    // The occurrence that the request names gets every change, and its new length becomes that of the series.
    let patch = EventPatch { end: Patch::Set(Moment::At(at("2026-03-09T09:45:00Z"))), ..titled("Sync") };
    let changed = series.with_all_patched(rows, &retro, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    let after: Vec<&Event> = changed.overrides.iter().map(|changed| changed.after.as_ref().unwrap()).collect();
    assert_eq!(after[0].title, "Sync");
    let minutes = |event: &Event| event.times.span.length().as_seconds() / 60;
    assert_eq!((minutes(&changed.series), minutes(after[0]), minutes(after[1])), (45, 45, 45));
}

#[test]
fn an_override_of_another_length_keeps_it() {
    let series = weekly();
    let instance = series.instance(at("2026-03-09T09:00:00Z")).unwrap();
    let end = |text: &str| EventPatch { end: Patch::Set(Moment::At(at(text))), ..EventPatch::default() };
    let (series, short) =
        series.with_occurrence_patched(&instance, id(2), end("2026-03-09T09:20:00Z"), Zone::UTC, NOW).unwrap();
    let other = series.instance(at("2026-03-16T09:00:00Z")).unwrap();
    let longer = end("2026-03-16T11:00:00Z");
    let changed = series.with_all_patched(vec![short], &other, &longer, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(changed.series.times.span.length(), SignedDuration::hours(2));
    assert_eq!(changed.overrides, []);
}

#[test]
fn an_occurrence_that_was_moved_moves_from_where_it_is() {
    let series = weekly();
    let instance = series.instance(at("2026-03-09T09:00:00Z")).unwrap();
    let to_eleven = starting(at("2026-03-09T11:00:00Z"));
    let (series, moved) = series.with_occurrence_patched(&instance, id(2), to_eleven, Zone::UTC, NOW).unwrap();
    let noon = starting(at("2026-03-09T12:00:00Z"));
    let changed = series.with_all_patched(vec![moved.clone()], &moved, &noon, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(starts(&changed.series)[..2], ["2026-03-02T10:00:00Z", "2026-03-16T10:00:00Z"]);
    let [ChangedOverride { before, after: Some(after) }] = &changed.overrides[..] else { panic!("{changed:?}") };
    assert_eq!((before, after.times.span.start()), (&moved, at("2026-03-09T12:00:00Z")));
    // Its instance has another identifier, so it is another row.
    let occurrence = Occurrence { series: series.id, start: at("2026-03-09T10:00:00Z") };
    assert_eq!((after.occurrence(), after.id), (Some(occurrence), id(40)));
}

#[test]
fn a_new_rule_decides_where_the_old_one_cannot_move() {
    let first_monday = made(
        "2026-03-02T09:00:00Z",
        "2026-03-02T10:00:00Z",
        "FREQ=MONTHLY;BYDAY=1MO;COUNT=9",
        None,
        &["2026-06-01T09:00:00Z"],
    )
    .unwrap();
    let instance = first_monday.instance(at("2026-04-06T09:00:00Z")).unwrap();
    let tuesday = starting(at("2026-04-07T09:00:00Z"));
    let refused = first_monday.with_all_patched(Vec::new(), &instance, &tuesday, berlin(), NOW, &mut ids(40));
    let Err(EventError::Invalid(errors)) = refused else { panic!("{refused:?}") };
    assert_eq!(errors.first().param, "start_time");
    let recurrence = RecurrencePatch {
        rule: Patch::Set(Some("FREQ=MONTHLY;BYDAY=1TU;COUNT=9".parse().unwrap())),
        ..RecurrencePatch::default()
    };
    let patch = EventPatch { recurrence, ..tuesday };
    let changed = first_monday.with_all_patched(Vec::new(), &instance, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(starts(&changed.series)[..3], ["2026-03-03T09:00:00Z", "2026-04-07T09:00:00Z", "2026-05-05T09:00:00Z"]);
    // 1 June moves to 2 June, which the new rule has too.
    assert_eq!(changed.series.recurrence().unwrap().exdates(), [at("2026-06-02T09:00:00Z")]);

    let once = EventPatch {
        recurrence: RecurrencePatch { rule: Patch::Set(None), ..RecurrencePatch::default() },
        ..tuesday_at_ten()
    };
    let changed = first_monday.with_all_patched(Vec::new(), &instance, &once, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(
        (changed.series.repeats, changed.series.times.span.start()),
        (Repeats::Once, at("2026-03-03T10:00:00Z"))
    );
}

fn tuesday_at_ten() -> EventPatch {
    starting(at("2026-04-07T10:00:00Z"))
}

#[test]
fn what_remains_as_one_event_is_the_named_occurrence() {
    let series = weekly();
    let instance = series.instance(at("2026-03-09T09:00:00Z")).unwrap();
    let retro = EventPatch { title: Patch::Set("Retro".into()), ..starting(at("2026-03-09T12:00:00Z")) };
    let (series, moved) = series.with_occurrence_patched(&instance, id(2), retro, Zone::UTC, NOW).unwrap();
    let (_, rest) = series.split(at("2026-03-09T09:00:00Z"), id(9), NOW).unwrap().unwrap();
    let alone = || RecurrencePatch { rule: Patch::Set(None), ..RecurrencePatch::default() };
    let patch = EventPatch { recurrence: alone(), ..starting(at("2026-03-09T13:00:00Z")) };
    let changed = rest.with_all_patched(vec![moved.clone()], &moved, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    let single = &changed.series;
    assert_eq!((single.id, &*single.title, &single.repeats), (id(9), "Retro", &Repeats::Once));
    assert_eq!((single.times.span.start(), single.previous_series), (at("2026-03-09T13:00:00Z"), Some(series.id)));
    assert_eq!(changed.overrides, [ChangedOverride { before: moved, after: None }]);
    // The same if nothing takes place before it, because the first occurrence is cancelled.
    let late = weekly().without_occurrence(at("2026-03-02T09:00:00Z"), NOW).unwrap();
    let instance = late.instance(at("2026-03-09T09:00:00Z")).unwrap();
    let patch = EventPatch { recurrence: alone(), ..EventPatch::default() };
    let changed = late.with_all_patched(Vec::new(), &instance, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    let single = (changed.series.repeats, changed.series.times.span.start());
    assert_eq!(single, (Repeats::Once, at("2026-03-09T09:00:00Z")));
}

#[test]
fn a_new_zone_keeps_the_time_of_the_named_occurrence_and_all_exceptions() {
    // 09:00 in UTC is 10:00 in Berlin in winter, and 11:00 in summer.
    let series =
        made("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z", "FREQ=DAILY;COUNT=60", None, &["2026-04-05T09:00:00Z"]);
    let (series, retro) = overridden(&series.unwrap(), "2026-04-06T09:00:00Z");
    let zone = RecurrencePatch { zone: Patch::Set(Some(berlin().calendar)), ..RecurrencePatch::default() };
    let patch = EventPatch { recurrence: zone, ..EventPatch::default() };
    let winter = series.instance(at("2026-03-10T09:00:00Z")).unwrap();
    let changed = series.with_all_patched(vec![retro.clone()], &winter, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    let recurrence = changed.series.recurrence().unwrap();
    assert_eq!(
        (recurrence.exdates(), recurrence.overridden()),
        (&[at("2026-04-05T08:00:00Z")][..], &[at("2026-04-06T08:00:00Z")][..])
    );
    assert_eq!(changed.overrides[0].after.as_ref().unwrap().times.span.start(), at("2026-04-06T08:00:00Z"));
    assert_eq!(all(&changed.series).len(), 58);
    let summer = series.instance(at("2026-04-10T09:00:00Z")).unwrap();
    let changed = series.with_all_patched(vec![retro], &summer, &patch, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(changed.series.times.span.start(), at("2026-03-02T10:00:00Z"));
    assert!(changed.series.instance(at("2026-04-10T09:00:00Z")).is_some());
}

#[test]
fn an_override_at_its_original_start_stays_there() {
    // The clocks skip 02:30 on 29 March, so that occurrence is at 03:30.
    let night = made("2026-03-27T01:30:00Z", "2026-03-27T02:00:00Z", "FREQ=DAILY;COUNT=9", Some("Europe/Berlin"), &[]);
    let (night, retro) = overridden(&night.unwrap(), "2026-03-29T01:30:00Z");
    let instance = night.instance(at("2026-03-28T01:30:00Z")).unwrap();
    for (to, expected) in
        [("2026-03-28T02:30:00Z", "2026-03-29T01:30:00Z"), ("2026-03-28T00:30:00Z", "2026-03-29T00:30:00Z")]
    {
        let changed =
            night.with_all_patched(vec![retro.clone()], &instance, &starting(at(to)), berlin(), NOW, &mut ids(40));
        let changed = changed.unwrap();
        // An hour later, it is where it was.
        let after = changed.overrides.first().map_or(&retro, |changed| changed.after.as_ref().unwrap());
        assert_eq!((after.times.span.start(), after.occurrence().unwrap().start), (at(expected), at(expected)));
    }
}

#[test]
fn a_repeated_time_is_the_one_that_the_request_names() {
    let night = made("2026-10-20T23:30:00Z", "2026-10-21T00:00:00Z", "FREQ=DAILY;COUNT=9", Some("Europe/Berlin"), &[]);
    let (_, rest) = night.unwrap().split(at("2026-10-24T23:30:00Z"), id(9), NOW).unwrap().unwrap();
    let instance = rest.instance(at("2026-10-24T23:30:00Z")).unwrap();
    // 02:30 comes twice on 25 October.
    let second = starting(at("2026-10-25T01:30:00Z"));
    let changed = rest.with_all_patched(Vec::new(), &instance, &second, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(starts(&changed.series)[..2], ["2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"]);
}

#[test]
fn nothing_before_an_occurrence_is_as_if_it_were_the_first() {
    let series = weekly().without_occurrence(at("2026-03-02T09:00:00Z"), NOW).unwrap();
    assert_eq!(series.split(at("2026-03-09T09:00:00Z"), id(9), NOW), Ok(None));
    assert_eq!(series.ended_before(at("2026-03-09T09:00:00Z"), NOW), Ok(None));
    let ended = series.ended_before(at("2026-03-23T09:00:00Z"), NOW).unwrap().unwrap();
    assert_eq!(starts(&ended), ["2026-03-09T09:00:00Z", "2026-03-16T09:00:00Z"]);
    let days = made("2026-09-01", "2026-09-02", "FREQ=DAILY", None, &[]).unwrap();
    let (ended, rest) = days.split(at("2026-09-09T22:00:00Z"), id(9), NOW).unwrap().unwrap();
    assert_eq!(ended.recurrence().unwrap().rule().to_string(), "FREQ=DAILY;UNTIL=20260909");
    assert_eq!(rest.times.span.start(), at("2026-09-09T22:00:00Z"));
}

#[test]
fn an_all_day_series_moves_by_days_of_the_calendar() {
    let days = made("2026-03-27", "2026-03-28", "FREQ=DAILY;COUNT=5", None, &["2026-03-30"]).unwrap();
    let instance = days.instance(at("2026-03-28T23:00:00Z")).unwrap();
    let to =
        EventPatch { start: Patch::Set(Moment::parse("start_time", "2026-03-31").unwrap()), ..EventPatch::default() };
    let changed = days.with_all_patched(Vec::new(), &instance, &to, berlin(), NOW, &mut ids(40)).unwrap();
    assert_eq!(
        starts(&changed.series),
        ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z", "2026-04-01T22:00:00Z"]
    );
    // A calendar that is in Tokyo now: the days stay the same, and are days there.
    let tokyo: Zones = "Asia/Tokyo".parse::<Zone>().unwrap().into();
    let changed = days.with_all_patched(Vec::new(), &instance, &to, tokyo, NOW, &mut ids(40)).unwrap();
    assert_eq!(starts(&changed.series)[..2], ["2026-03-28T15:00:00Z", "2026-03-29T15:00:00Z"]);
    assert_eq!(changed.series.recurrence().unwrap().zone().name(), "Asia/Tokyo");
}

#[rstest]
#[case::all_day(EventPatch { all_day: Patch::Set(true), ..EventPatch::default() }, "all_day")]
#[case::too_late(starting(at("2099-12-31T22:30:00Z")), "start_time")]
#[case::too_early(starting(at("1970-01-01T00:00:00Z")), "start_time")]
#[case::backwards(EventPatch { end: Patch::Set(Moment::At(at("2026-03-01T00:00:00Z"))), ..EventPatch::default() }, "end_time")]
fn a_change_of_all_that_does_not_fit_is_refused(#[case] patch: EventPatch, #[case] param: &str) {
    let endless = made("2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z", "FREQ=DAILY;COUNT=30", None, &[]).unwrap();
    let instance = endless.instance(at("2026-03-09T09:00:00Z")).unwrap();
    let refused = endless.with_all_patched(Vec::new(), &instance, &patch, berlin(), NOW, &mut ids(40));
    let Err(EventError::Invalid(errors)) = refused else { panic!("{refused:?}") };
    assert_eq!(errors.first().param, param);
}

#[test]
fn what_cannot_be_split_is_refused() {
    let imported = Event { source: EventSource::ExternalIcal, ..weekly() };
    assert_eq!(imported.split(at("2026-03-09T09:00:00Z"), id(9), NOW), Err(EventError::ReadOnly(imported.id)));
    let patched = imported.with_all_patched(Vec::new(), &imported, &titled("x"), berlin(), NOW, &mut ids(40));
    assert_eq!(patched, Err(EventError::ReadOnly(imported.id)));
    // 02:30 does not exist on 29 March.
    let night = made("2026-03-27T01:30:00Z", "2026-03-27T02:00:00Z", "FREQ=DAILY", Some("Europe/Berlin"), &[]).unwrap();
    let Err(EventError::Invalid(errors)) = night.split(at("2026-03-29T01:30:00Z"), id(9), NOW) else { panic!() };
    assert_eq!(errors.first().param, "scope");
    assert!(night.split(at("2026-03-30T00:30:00Z"), id(9), NOW).unwrap().is_some());
}
