//! What the algebra costs, beside the plainest code that does the same:
//! `cargo bench -p kalends-availability --bench algebra`.
//!
//! Every round runs each case once, one after the other, so that a slow moment of the machine meets
//! them all; the median over the rounds is shown.

use std::{hint::black_box, rc::Rc, time::Instant as Timer};

use kalends_availability::{BusySet, SlotLength, free_slots};
use kalends_kernel::{Elapsed, Instant, Span};

/// How many spans, and in how many rounds.
const SIZES: [(u32, usize); 4] = [(1_000, 401), (10_000, 101), (100_000, 31), (1_000_000, 11)];
/// 2026-03-01T00:00:00Z.
const ORIGIN: Instant = Instant::from_micros(1_772_323_200_000_000);
/// From one start to the next on average: 1,000 in 30 days.
const APART: Elapsed = Elapsed::seconds(2_592);

fn main() {
    let columns = SIZES.map(|(count, rounds)| measure(cases(count), rounds));
    let heading = SIZES.map(|(count, _)| format!("{count:>18}")).concat();
    println!("{:<44}{heading} spans", "nanoseconds a span (and times the plain one)");
    for (row, case) in columns[0].iter().enumerate() {
        let cells = columns.iter().map(|column| {
            let nanos = column[row].nanos;
            let ratio = case.plain.and_then(|plain| column.iter().find(|other| other.name == plain));
            let ratio = ratio.map_or(String::new(), |plain| format!("({:.2}x)", nanos / plain.nanos));
            format!("{nanos:>9.2} {ratio:<8}")
        });
        println!("{:<44}{}", case.name, cells.collect::<String>());
    }
}

/// One operation on one input.
struct Case {
    name: &'static str,
    /// The case that it is compared with.
    plain: Option<&'static str>,
    /// Runs the operation once and returns the nanoseconds for each unit of it.
    run: Box<dyn FnMut() -> f64>,
}

/// The median of a case.
struct Measured {
    name: &'static str,
    plain: Option<&'static str>,
    nanos: f64,
}

fn cases(count: u32) -> Vec<Case> {
    const SORT_AND_SWEEP: &str = "plain sort_unstable and sweep";
    const SWEEP: &str = "plain sweep of sorted";

    let unsorted = random_spans(count);
    let sorted = in_order(&unsorted);
    let (first, second) = unsorted.split_at(unsorted.len() / 2);
    let halves = [in_order(first), in_order(second)];
    let runs = halves.concat();
    let [first, second] = halves.map(BusySet::from_unsorted);
    let in_halves = first.len() + second.len();
    let busy = Rc::new(BusySet::from_unsorted(sorted.clone()));
    let merged = busy.len();

    let everything = window(ORIGIN, Elapsed::micros(APART.as_micros() * i64::from(count)));
    let month = window(everything.end() - Elapsed::days(30), Elapsed::days(30));
    let offered = half_hours(month, &busy).count();
    let [free_in, slots, slots_of_a_month] = [(); 3].map(|()| Rc::clone(&busy));
    let given = |spans: &[Span]| {
        let spans = spans.to_vec();
        move || spans.clone()
    };

    vec![
        case(SORT_AND_SWEEP, unsorted.len(), given(&unsorted), plain_sort_and_sweep),
        case("from_unsorted", unsorted.len(), given(&unsorted), BusySet::from_unsorted).beside(SORT_AND_SWEEP),
        case(SWEEP, sorted.len(), given(&sorted), plain_sweep),
        case("from_unsorted of sorted", sorted.len(), given(&sorted), BusySet::from_unsorted).beside(SWEEP),
        case("from_runs of two sorted halves", runs.len(), given(&runs), BusySet::from_runs),
        case("union of two halves", in_halves, || (), move |()| first.union(&second)),
        case("free_in of everything", merged, || (), move |()| free_in.free_in(everything)),
        case("free_slots of everything", merged, || (), move |()| consume(half_hours(everything, &slots))),
        case(
            "free_slots of 30 days, ns a slot",
            offered,
            || (),
            move |()| consume(half_hours(month, &slots_of_a_month)),
        ),
    ]
}

/// A case that makes its input anew each time, outside of what is measured.
fn case<I, O>(
    name: &'static str,
    units: usize,
    mut input: impl FnMut() -> I + 'static,
    mut operation: impl FnMut(I) -> O + 'static,
) -> Case {
    let units = u32::try_from(units).map_or(f64::INFINITY, f64::from);
    let run = move || {
        let input = black_box(input());
        let timer = Timer::now();
        let output = black_box(operation(input));
        let elapsed = timer.elapsed();
        drop(output);
        elapsed.as_secs_f64() * 1e9 / units
    };
    Case { name, plain: None, run: Box::new(run) }
}

impl Case {
    fn beside(self, plain: &'static str) -> Self {
        Self { plain: Some(plain), ..self }
    }
}

fn measure(mut cases: Vec<Case>, rounds: usize) -> Vec<Measured> {
    let mut nanos = vec![Vec::with_capacity(rounds); cases.len()];
    for _ in 0..rounds {
        for (case, nanos) in cases.iter_mut().zip(&mut nanos) {
            nanos.push((case.run)());
        }
    }
    let measured = |(case, mut nanos): (Case, Vec<f64>)| {
        nanos.sort_by(f64::total_cmp);
        Measured { name: case.name, plain: case.plain, nanos: nanos[rounds / 2] }
    };
    cases.into_iter().zip(nanos).map(measured).collect()
}

/// The textbook: sort, then extend the last span or begin another.
fn plain_sort_and_sweep(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    plain_sweep(spans)
}

fn plain_sweep(mut spans: Vec<Span>) -> Vec<Span> {
    let mut last = 0;
    for read in 1..spans.len() {
        let next = spans[read];
        if next.start() > spans[last].end() {
            last += 1;
            spans[last] = next;
        } else if next.end() > spans[last].end() {
            spans[last] = window(spans[last].start(), next.end() - spans[last].start());
        }
    }
    spans.truncate(last + 1);
    spans
}

fn half_hours(window: Span, busy: &BusySet) -> impl Iterator<Item = Span> {
    let length = SlotLength::Minutes30.elapsed();
    free_slots(window, busy, length, length)
}

/// Looks at both ends of every slot, as whoever writes them into an answer does.
fn consume(slots: impl Iterator<Item = Span>) -> i64 {
    let mut sum = 0;
    for slot in slots {
        sum ^= slot.start().as_micros() ^ slot.end().as_micros();
    }
    sum
}

fn window(start: Instant, length: Elapsed) -> Span {
    match Span::new(start, start + length) {
        Ok(window) => window,
        Err(_) => unreachable!("every length here is positive"),
    }
}

fn in_order(spans: &[Span]) -> Vec<Span> {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    spans
}

/// Spans of 15 to 60 minutes that start anywhere, the same ones at each run.
fn random_spans(count: u32) -> Vec<Span> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state >> 1).map_or(0, |random| random % bound)
    };
    let minutes = APART.as_micros() / 60_000_000 * i64::from(count);
    let mut span = || window(ORIGIN + Elapsed::minutes(below(minutes)), Elapsed::minutes(15 * (1 + below(4))));
    (0..count).map(|_| span()).collect()
}
