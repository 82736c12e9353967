//! Answers questions about busy times with one library, and prints how long each takes.
//!
//! `kalends-set-peers spans` writes the busy times of all calendars, one a line: the group, the calendar, the start and
//! the end, with tabs between them. Times are microseconds. `kalends-set-peers LIBRARY FILE` reads them and prints a
//! line for each case: its name, the number of spans in the answer, their total length, and the nanoseconds of one run.
//! What a library needs to hold a calendar is made before the clock starts.

use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use kalends_availability::{BusySet, Span, Timestamp};
use range_set_blaze::{MultiwayRangeSetBlazeRef as _, RangeSetBlaze};
use rangemap::RangeSet;

type Outcome<T> = Result<T, Box<dyn Error>>;
/// A start and an end, which is excluded.
type Pair = (i64, i64);

/// A measurement repeats its run for this long.
const WORTH_TIMING: Duration = Duration::from_millis(100);
const CALENDARS: u64 = 100;
const EVENTS: u32 = 1_000;
const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// The groups of calendars, and the days over which the events of each calendar are spread.
const FULL: (&str, i64) = ("full", 30);
const SPARSE: (&str, i64) = ("sparse", 3_000);
/// The day on which the window of one week begins.
const WEEK: i64 = 1_000;

/// A library of sets of intervals.
trait Library {
    /// The events of a calendar, in the type that the library takes them in.
    type Input;
    type Set;
    /// Free times, in the type that the library returns them in.
    type Free;

    fn input(events: &[Pair]) -> Self::Input;
    fn merge(events: &Self::Input) -> Self::Set;
    fn union(sets: &[Self::Set]) -> Self::Set;
    fn common_free(sets: &[Self::Set], window: Pair) -> Self::Free;
    fn spans(set: &Self::Set) -> Vec<Pair>;
    fn free_spans(free: &Self::Free) -> Vec<Pair>;
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["spans"] => print_spans(),
        ["kalends", file] => answer::<Kalends>(file)?,
        ["plain", file] => answer::<Plain>(file)?,
        ["rangemap", file] => answer::<Rangemap>(file)?,
        ["range-set-blaze", file] => answer::<Blaze>(file)?,
        _ => return Err("usage: kalends-set-peers spans | kalends-set-peers LIBRARY FILE".into()),
    }
    Ok(())
}

/// Events of 15 to 60 minutes that start anywhere. Every run prints the same ones.
fn print_spans() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |bound: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state >> 1).map_or(0, |random| random % bound)
    };
    for (group, days) in [FULL, SPARSE] {
        for calendar in 0..CALENDARS {
            for _ in 0..EVENTS {
                let start = below(days * DAY / MINUTE) * MINUTE;
                println!("{group}\t{calendar}\t{start}\t{}", start + 15 * (1 + below(4)) * MINUTE);
            }
        }
    }
}

fn answer<L: Library>(file: &str) -> Outcome<()> {
    let text = std::fs::read_to_string(file)?;
    let (full, sparse) = (calendars(&text, FULL.0)?, calendars(&text, SPARSE.0)?);
    let first = L::input(full.first().ok_or("the file has no calendars")?);
    let [full, sparse] = [full, sparse].map(|calendars| held::<L>(&calendars));
    time("merge the 1,000 events of a calendar", || L::merge(&first), L::spans);
    time("union of 100 calendars", || L::union(&sparse), L::spans);
    let free = |name, sets: &[L::Set], window| time(name, || L::common_free(sets, window), L::free_spans);
    free("free time of 100 full calendars, 30 days", &full, (0, FULL.1 * DAY));
    free("free time of 100 calendars, 3,000 days", &sparse, (0, SPARSE.1 * DAY));
    free("free time of 100 calendars, a week of these", &sparse, (WEEK * DAY, (WEEK + 7) * DAY));
    Ok(())
}

/// The events of each calendar of a group.
fn calendars(text: &str, wanted: &str) -> Outcome<Vec<Vec<Pair>>> {
    let mut calendars: Vec<Vec<Pair>> = Vec::new();
    for line in text.lines() {
        let mut fields = line.split('\t');
        if fields.next() != Some(wanted) {
            continue;
        }
        let mut number = || -> Outcome<i64> { Ok(fields.next().ok_or("a line has three numbers")?.parse()?) };
        let (calendar, event) = (usize::try_from(number()?)?, (number()?, number()?));
        calendars.resize_with(calendars.len().max(calendar + 1), Vec::new);
        calendars[calendar].push(event);
    }
    Ok(calendars)
}

fn held<L: Library>(calendars: &[Vec<Pair>]) -> Vec<L::Set> {
    calendars.iter().map(|events| L::merge(&L::input(events))).collect()
}

/// Prints the size of an answer and how long it takes.
fn time<T>(name: &str, run: impl Fn() -> T, spans: fn(&T) -> Vec<Pair>) {
    let found = spans(&run());
    let total: i64 = found.iter().map(|(start, end)| end - start).sum();
    let (began, mut runs) = (Instant::now(), 0u32);
    while began.elapsed() < WORTH_TIMING {
        black_box(run());
        runs += 1;
    }
    let nanos = began.elapsed().as_secs_f64() * 1e9 / f64::from(runs);
    println!("{name}\t{}\t{total}\t{nanos:.0}", found.len());
}

struct Kalends;

fn span((start, end): Pair) -> Option<Span> {
    Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).ok()
}

fn pair(span: &Span) -> Pair {
    (span.start().as_micros(), span.end().as_micros())
}

impl Library for Kalends {
    type Input = Vec<Span>;
    type Set = BusySet;
    type Free = BusySet;

    fn input(events: &[Pair]) -> Vec<Span> {
        events.iter().filter_map(|event| span(*event)).collect()
    }

    fn merge(events: &Vec<Span>) -> BusySet {
        BusySet::from_unsorted(events.clone())
    }

    fn union(sets: &[BusySet]) -> BusySet {
        BusySet::union_all(sets)
    }

    fn common_free(sets: &[BusySet], window: Pair) -> BusySet {
        span(window).map_or_else(BusySet::default, |window| BusySet::common_free(sets, window))
    }

    fn spans(set: &BusySet) -> Vec<Pair> {
        set.spans().iter().map(pair).collect()
    }

    fn free_spans(free: &BusySet) -> Vec<Pair> {
        Self::spans(free)
    }
}

/// Sort, then extend the last span or begin another.
struct Plain;

impl Plain {
    fn between(busy: &[Pair], window: Pair) -> Vec<Pair> {
        let (mut free, mut from) = (Vec::new(), window.0);
        for &(start, end) in busy {
            if from < start {
                free.push((from, start));
            }
            from = end;
        }
        if from < window.1 {
            free.push((from, window.1));
        }
        free
    }
}

impl Library for Plain {
    type Input = Vec<Pair>;
    type Set = Vec<Pair>;
    type Free = Vec<Pair>;

    fn input(events: &[Pair]) -> Vec<Pair> {
        events.to_vec()
    }

    fn merge(events: &Vec<Pair>) -> Vec<Pair> {
        let mut sorted = events.clone();
        sorted.sort_unstable();
        let mut merged: Vec<Pair> = Vec::with_capacity(sorted.len());
        for (start, end) in sorted {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged
    }

    fn union(sets: &[Vec<Pair>]) -> Vec<Pair> {
        Self::merge(&sets.concat())
    }

    fn common_free(sets: &[Vec<Pair>], window: Pair) -> Vec<Pair> {
        let clipped = sets.iter().flatten().map(|(start, end)| (*start.max(&window.0), *end.min(&window.1)));
        Self::between(&Self::merge(&clipped.filter(|(start, end)| start < end).collect()), window)
    }

    fn spans(set: &Vec<Pair>) -> Vec<Pair> {
        set.clone()
    }

    fn free_spans(free: &Vec<Pair>) -> Vec<Pair> {
        free.clone()
    }
}

struct Rangemap;

impl Library for Rangemap {
    type Input = Vec<Range<i64>>;
    type Set = RangeSet<i64>;
    type Free = Vec<Range<i64>>;

    fn input(events: &[Pair]) -> Vec<Range<i64>> {
        events.iter().map(|(start, end)| *start..*end).collect()
    }

    fn merge(events: &Vec<Range<i64>>) -> RangeSet<i64> {
        events.iter().cloned().collect()
    }

    fn union(sets: &[RangeSet<i64>]) -> RangeSet<i64> {
        sets.iter().flat_map(RangeSet::iter).cloned().collect()
    }

    fn common_free(sets: &[RangeSet<i64>], (from, to): Pair) -> Vec<Range<i64>> {
        let window = from..to;
        let busy: RangeSet<i64> = sets.iter().flat_map(|set| set.overlapping(&window)).cloned().collect();
        busy.gaps(&window).collect()
    }

    fn spans(set: &RangeSet<i64>) -> Vec<Pair> {
        set.iter().map(|range| (range.start, range.end)).collect()
    }

    fn free_spans(free: &Vec<Range<i64>>) -> Vec<Pair> {
        free.iter().map(|range| (range.start, range.end)).collect()
    }
}

/// Its ranges include their ends.
struct Blaze;

impl Library for Blaze {
    type Input = Vec<std::ops::RangeInclusive<i64>>;
    type Set = RangeSetBlaze<i64>;
    type Free = RangeSetBlaze<i64>;

    fn input(events: &[Pair]) -> Self::Input {
        events.iter().map(|(start, end)| *start..=*end - 1).collect()
    }

    fn merge(events: &Self::Input) -> RangeSetBlaze<i64> {
        events.iter().cloned().collect()
    }

    fn union(sets: &[RangeSetBlaze<i64>]) -> RangeSetBlaze<i64> {
        sets.union()
    }

    fn common_free(sets: &[RangeSetBlaze<i64>], (from, to): Pair) -> RangeSetBlaze<i64> {
        RangeSetBlaze::from_iter([from..=to - 1]) - sets.union()
    }

    fn spans(set: &RangeSetBlaze<i64>) -> Vec<Pair> {
        set.ranges().map(|range| (*range.start(), *range.end() + 1)).collect()
    }

    fn free_spans(free: &RangeSetBlaze<i64>) -> Vec<Pair> {
        Self::spans(free)
    }
}
