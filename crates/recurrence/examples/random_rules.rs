//! Writes random rules of all of RFC 5545 with the starts that the engine finds, for `cargo xtask interop rules`.
//!
//! One line for each rule, with tabs between the rule, the first start, the window's start and end, and the starts in
//! the window, which have commas between them. Times are seconds on the wall clock since 1970. The arguments are the
//! seed and the number of rules. With `near` after them, all windows begin at the first start, for engines that count from
//! there, and no start is before 1970, since some engines cannot represent it.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests, which fails this way")]

use kalends_recurrence::FloatingSeries;
use kalends_recurrence::testing;
use kalends_recurrence::testing::rfc_model::{Freq, Parts};
use kalends_time::CivilDateTime;

const DAY: i64 = 86_400;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| arguments.next().map_or(otherwise, |argument| argument.parse().unwrap());
    let (seed, count) = (number(1), number(3_000));
    let is_near = arguments.next().is_some_and(|argument| argument == "near");
    for number in 0..count {
        println!("{}", line(&mut Draw(seed << 32 | number), is_near));
    }
}

fn line(draw: &mut Draw, is_near: bool) -> String {
    let parts = testing::draw(&mut |bound| u32::try_from(draw.between(0, i64::from(bound) - 1)).unwrap());
    let rule = parts.rule();
    let first = if is_near { since_1970(draw) } else { first(draw) };
    let series = FloatingSeries::new(&rule, civil(first));
    let found = |(from, to): (i64, i64)| -> Vec<i64> {
        series.starts(civil(from)..civil(to)).map(|start| start.as_micros().unwrap() / 1_000_000).collect()
    };
    // Windows that begin at most this many days after the first start. The first one with a start that the rule gives is kept.
    let mut reaches = [0, 60, 370, 3 * 366, 40 * 365];
    reaches.rotate_left(usize::try_from(draw.between(0, 4)).unwrap());
    let windows = reaches.map(|reach| window(draw, &parts, first, reach));
    let chosen = windows.into_iter().find(|window| found(*window).iter().any(|start| *start != first));
    let (from, to) = if is_near { near(&parts, first) } else { chosen.unwrap_or(windows[0]) };
    let starts: Vec<String> = found((from, to)).iter().map(i64::to_string).collect();
    format!("{parts}\t{first}\t{from}\t{to}\t{}", starts.join(","))
}

/// A first start: mostly in the years 1970 to 2050, else from the year 3 on, since the other engine cannot examine a
/// period before the year 1.
fn first(draw: &mut Draw) -> i64 {
    if draw.between(0, 4) == 0 { draw.between(-718_000, 0) * DAY + second(draw) } else { since_1970(draw) }
}

fn since_1970(draw: &mut Draw) -> i64 {
    draw.between(0, 29_500) * DAY + second(draw)
}

fn second(draw: &mut Draw) -> i64 {
    if draw.between(0, 1) == 0 { draw.between(0, 23) * 3_600 } else { draw.between(0, DAY - 1) }
}

fn window(draw: &mut Draw, parts: &Parts, first: i64, reach: i64) -> (i64, i64) {
    let length = match parts.frequency {
        Freq::Hourly => 20 * DAY,
        Freq::Minutely => 2 * DAY,
        Freq::Secondly => 7_200,
        _ => 731 * DAY,
    };
    let from = first + draw.between(0, reach * DAY);
    (from, from + draw.between(length / 2, length))
}

/// A window from the first start on, which is longer for longer periods.
fn near(parts: &Parts, first: i64) -> (i64, i64) {
    let length = match parts.frequency {
        Freq::Yearly | Freq::Monthly => 10 * 366 * DAY,
        Freq::Weekly | Freq::Daily => 2 * 366 * DAY,
        Freq::Hourly => 20 * DAY,
        Freq::Minutely => DAY,
        Freq::Secondly => 1_800,
    };
    (first, first + length)
}

fn civil(seconds: i64) -> CivilDateTime {
    CivilDateTime::from_micros(seconds * 1_000_000)
}

/// The generator splitmix64.
struct Draw(u64);

impl Draw {
    /// A number from `least` to `most`, inclusive.
    fn between(&mut self, least: i64, most: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        least + i64::try_from(mixed % u64::try_from(most - least + 1).unwrap()).unwrap()
    }
}
