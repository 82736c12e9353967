//! The cost of the algebra, compared with the plainest code that does the same:
//! `cargo bench -p kalends-availability --bench algebra`.
//!
//! Every round runs each case once, one after the other, so that a slow moment of the machine affects
//! them all. The output shows the median over the rounds.

use std::{hint::black_box, rc::Rc, time::Instant as Timer};

use kalends_availability::{BusySet, SignedDuration, Span, Timestamp, free_slots};

/// The number of spans, and the number of rounds to run with them.
const SIZES: [(u32, usize); 4] = [(1_000, 401), (10_000, 101), (100_000, 31), (1_000_000, 11)];
/// 2026-03-01T00:00:00Z.
const ORIGIN: Timestamp = Timestamp::from_micros(1_772_323_200_000_000);
/// The inputs of one size have at least this many spans in total.
const VARIED: u32 = 200_000;
/// The average time from one start to the next: 1,000 spans in 30 days.
const APART: SignedDuration = SignedDuration::seconds(2_592);
/// A query of 100 sets of 1,000 spans, and how many times faster than the plain code it must be.
const HELD: (&str, f64) = ("common_free of 100 sets", 2.0);

fn main() {
    // `cargo bench ... -- sets` measures only the queries of several sets.
    if std::env::args().any(|argument| argument == "sets") {
        return several_sets();
    }
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
    several_sets();
}

fn several_sets() {
    println!("\n{:<54}{:>12}{:>12}", "microseconds a query (and times the plain one)", "median", "");
    for group in [everyone("dense", APART), everyone("sparse", APART_SPARSE), one_week(), rooms()] {
        let measured = measure(group, 101);
        for (row, case) in measured.iter().enumerate() {
            let ratio = if row == 0 { String::new() } else { format!("({:.2}x)", case.nanos / measured[0].nanos) };
            let faster = measured[0].nanos / case.nanos;
            let holds = if faster >= HELD.1 { "yes" } else { "NO" };
            let target = if case.name == HELD.0 {
                format!("{faster:.1} times as fast (target {:.0}): {holds}", HELD.1)
            } else {
                String::new()
            };
            println!("{}", format!("{:<54}{:>12.1} {ratio:<12}{target}", case.name, case.nanos / 1e3).trim_end());
        }
    }
}

/// The average time from one start to the next if the spans of 100 people rarely meet.
const APART_SPARSE: SignedDuration = SignedDuration::days(3);

/// The sets of a number of people, with that many spans each.
fn people(people: u64, spans: u32, apart: SignedDuration) -> Rc<Vec<BusySet>> {
    let one = |seed| BusySet::from_unsorted(random_spans_apart(spans, seed, apart));
    Rc::new((1..=people).map(one).collect())
}

/// When 100 people with 1,000 spans each are all free.
fn everyone(density: &'static str, apart: SignedDuration) -> Vec<Case> {
    let everything = window(ORIGIN, SignedDuration::micros(apart.as_micros() * 1_000));
    let (plain, ours, most) = match density {
        "dense" => ("plain free time of 100 sets", HELD.0, "at_least_free(90) of 100 sets"),
        _ => ("plain free time of 100 sparse sets", "common_free of the same", "at_least_free(90) of the same"),
    };
    let sets = people(100, 1_000, apart);
    let input = || {
        let sets = Rc::clone(&sets);
        move || Rc::clone(&sets)
    };
    vec![
        case(plain, input(), |_| 1, move |sets| plain_common_free(&sets, everything)),
        case(ours, input(), |_| 1, move |sets| BusySet::common_free(&*sets, everything)),
        case(most, input(), |_| 1, move |sets| BusySet::at_least_free(90, &*sets, everything)),
    ]
}

/// When the same people are all free in one week of many years.
fn one_week() -> Vec<Case> {
    let week = window(ORIGIN + SignedDuration::days(1_000), SignedDuration::days(7));
    let sets = people(100, 1_000, APART_SPARSE);
    let input = || {
        let sets = Rc::clone(&sets);
        move || Rc::clone(&sets)
    };
    vec![
        case("plain free time of a week", input(), |_| 1, move |sets| plain_common_free(&sets, week)),
        case("common_free of a week", input(), |_| 1, move |sets| BusySet::common_free(&*sets, week)),
    ]
}

/// The query of `examples/rooms.rs` on 100,000 bookings each of a room and two people: the half hours of a week.
fn rooms() -> Vec<Case> {
    let week = window(ORIGIN + SignedDuration::days(1_000), SignedDuration::days(7));
    let sets = people(3, 100_000, APART);
    let input = || {
        let sets = Rc::clone(&sets);
        move || Rc::clone(&sets)
    };
    let plain = move |sets: Rc<Vec<BusySet>>| {
        let spans = sets.iter().flat_map(|set| set.spans().iter().copied());
        plain_slots(&plain_sort_and_sweep(spans.collect()), week)
    };
    let clipped = move |sets: Rc<Vec<BusySet>>| {
        let spans = sets.iter().flat_map(|set| set.spans().iter().filter_map(|span| span.clip(week)));
        plain_slots(&plain_sort_and_sweep(spans.collect()), week)
    };
    let ours = move |sets: Rc<Vec<BusySet>>| {
        let length = SignedDuration::minutes(30);
        let taken = BusySet::common_free(&*sets, week).complement(week);
        free_slots(week, &taken, length, length).collect::<Vec<_>>()
    };
    vec![
        case("plain sweep of three rooms, slots of a week", input(), |_| 1, plain),
        case("plain clip and sweep of the same", input(), |_| 1, clipped),
        case("common_free and free_slots of the same", input(), |_| 1, ours),
    ]
}

/// Clips all spans, sorts all, and keeps what is between them.
fn plain_common_free(sets: &[BusySet], window: Span) -> Vec<Span> {
    let spans = sets.iter().flat_map(|set| set.spans().iter().filter_map(|span| span.clip(window)));
    let mut free = Vec::new();
    let mut from = window.start();
    for busy in plain_sort_and_sweep(spans.collect()) {
        free.extend(Span::new(from, busy.start()));
        from = busy.end();
    }
    free.extend(Span::new(from, window.end()));
    free
}

/// The half hours of `window` that overlap none of the sorted `busy`.
fn plain_slots(busy: &[Span], window: Span) -> Vec<Span> {
    let half_hour = SignedDuration::minutes(30);
    let (mut slots, mut start, mut at) = (Vec::new(), window.start(), 0);
    while start + half_hour <= window.end() {
        while busy.get(at).is_some_and(|busy| busy.end() <= start) {
            at += 1;
        }
        let slot = self::window(start, half_hour);
        if !busy.get(at).is_some_and(|busy| busy.overlaps(slot)) {
            slots.push(slot);
        }
        start = slot.end();
    }
    slots
}

/// One operation on one input.
struct Case {
    name: &'static str,
    /// The name of the case to compare it with.
    plain: Option<&'static str>,
    /// Runs the operation once and returns the nanoseconds per unit of input.
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
    const SWEEP_APART: &str = "plain sweep of sorted, none of which meet";

    let everything = window(ORIGIN, SignedDuration::micros(APART.as_micros() * i64::from(count)));
    let month = window(everything.end() - SignedDuration::days(30), SignedDuration::days(30));
    let inputs: Vec<Vec<Span>> = (1..=(VARIED / count).max(1)).map(|seed| random_spans(count, seed.into())).collect();
    let all = |input: &dyn Fn(&[Span]) -> Vec<Span>| inputs.iter().map(|spans| input(spans)).collect::<Vec<_>>();
    let halves = |spans: &[Span]| {
        let (first, second) = spans.split_at(spans.len() / 2);
        [in_order(first), in_order(second)]
    };

    let [unsorted, unsorted_too] = [(); 2].map(|()| turns(inputs.clone()));
    let [sorted, sorted_too] = [(); 2].map(|()| turns(all(&in_order)));
    let [apart, apart_too] =
        [(); 2].map(|()| turns(all(&|spans| BusySet::from_unsorted(spans.to_vec()).spans().to_vec())));
    let runs = turns(all(&|spans| halves(spans).concat()));
    let pairs = turns(inputs.iter().map(|spans| halves(spans).map(BusySet::from_unsorted)).map(Rc::new).collect());
    let [set, set_too, set_again] =
        [(); 3].map(|()| turns(inputs.iter().cloned().map(BusySet::from_unsorted).map(Rc::new).collect()));
    vec![
        case(SORT_AND_SWEEP, unsorted, Vec::len, plain_sort_and_sweep),
        case("from_unsorted", unsorted_too, Vec::len, BusySet::from_unsorted).compared_with(SORT_AND_SWEEP),
        case(SWEEP, sorted, Vec::len, plain_sweep),
        case("from_unsorted of sorted", sorted_too, Vec::len, BusySet::from_unsorted).compared_with(SWEEP),
        case(SWEEP_APART, apart, Vec::len, plain_sweep),
        case("from_unsorted of the same", apart_too, Vec::len, BusySet::from_unsorted).compared_with(SWEEP_APART),
        case("from_runs of two sorted halves", runs, Vec::len, BusySet::from_runs),
        case("union of two halves", pairs, |pair| pair[0].len() + pair[1].len(), |pair| pair[0].union(&pair[1])),
        case("complement of everything", set, |busy| busy.len(), move |busy| busy.complement(everything)),
        case(
            "free_slots of everything",
            set_too,
            |busy| busy.len(),
            move |busy| consume(half_hours(everything, &busy)),
        ),
        case(
            "free_slots of 30 days, ns a slot",
            set_again,
            move |busy| half_hours(month, busy).count(),
            move |busy| consume(half_hours(month, &busy)),
        ),
    ]
}

/// Cycles through the inputs, because the branch predictor learns a short input by heart.
fn turns<I: Clone>(inputs: Vec<I>) -> impl FnMut() -> I {
    let mut next = 0;
    move || {
        next = (next + 1) % inputs.len();
        inputs[next].clone()
    }
}

/// A case that makes its input for each run, outside the measured time.
fn case<I, O>(
    name: &'static str,
    mut input: impl FnMut() -> I + 'static,
    units: impl Fn(&I) -> usize + 'static,
    mut operation: impl FnMut(I) -> O + 'static,
) -> Case {
    let run = move || {
        let input = black_box(input());
        let units = u32::try_from(units(&input)).map_or(f64::INFINITY, f64::from);
        let timer = Timer::now();
        let output = black_box(operation(input));
        let elapsed = timer.elapsed();
        drop(output);
        elapsed.as_secs_f64() * 1e9 / units
    };
    Case { name, plain: None, run: Box::new(run) }
}

impl Case {
    fn compared_with(self, plain: &'static str) -> Self {
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

/// The textbook algorithm: sort, then extend the last span or begin another.
fn plain_sort_and_sweep(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    plain_sweep(spans)
}

fn plain_sweep(mut spans: Vec<Span>) -> Vec<Span> {
    if spans.is_empty() {
        return spans;
    }
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
    let length = SignedDuration::minutes(30);
    free_slots(window, busy, length, length)
}

/// Looks at both ends of every slot, as code that writes them into a response does.
fn consume(slots: impl Iterator<Item = Span>) -> i64 {
    let mut sum = 0;
    for slot in slots {
        sum ^= slot.start().as_micros() ^ slot.end().as_micros();
    }
    sum
}

fn window(start: Timestamp, length: SignedDuration) -> Span {
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

/// Spans of 15 to 60 minutes that start anywhere. The same seed gives the same spans.
fn random_spans(count: u32, seed: u64) -> Vec<Span> {
    random_spans_apart(count, seed, APART)
}

fn random_spans_apart(count: u32, seed: u64, apart: SignedDuration) -> Vec<Span> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut below = |bound: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state >> 1).map_or(0, |random| random % bound)
    };
    let minutes = apart.as_micros() / 60_000_000 * i64::from(count);
    let mut span =
        || window(ORIGIN + SignedDuration::minutes(below(minutes)), SignedDuration::minutes(15 * (1 + below(4))));
    (0..count).map(|_| span()).collect()
}
