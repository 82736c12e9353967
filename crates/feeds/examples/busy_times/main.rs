//! Writes random feeds with the busy times that are read from them, for `cargo xtask interop feed-reading`.
//!
//! One line of JSON for each feed: `{"number": ..., "feed": "...", "zone": "...", "from": ..., "to": ..., "busy":
//! [[start, end], ...], "events": {"<UID>": [[start, end], ...]}, "skipped": {"<UID>": "<reason>"}}`, with times in
//! seconds since 1970. The arguments are the seed and the number of feeds.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests, which fails this way")]

mod draw;
mod events;
mod rules;
mod times;
mod zones;

use std::collections::BTreeMap;

use kalends_feeds::read::{Context, Feed, read};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use draw::Draw;
use events::Scene;
use times::{Defaults, Local};

/// The zones of the calendars onto which feeds are imported.
const CALENDARS: &[&str] =
    &["Europe/Berlin", "America/New_York", "Asia/Tokyo", "America/Santiago", "Australia/Lord_Howe", "UTC"];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap());
    let (seed, count) = (arguments.next().unwrap_or(1), arguments.next().unwrap_or(1_500));
    for number in 0..count {
        println!("{}", line(&mut Draw::new(seed << 32 | number), number));
    }
}

fn line(draw: &mut Draw, number: u64) -> serde_json::Value {
    let scene = scene(draw);
    let events: Vec<String> = (0..draw.between(3, 7))
        .flat_map(|event| events::event(draw, &scene, &format!("{number}-{event}@example.com")))
        .collect();
    let text = calendar(&events, Some((draw, &scene)));
    let context = Context { calendar_zone: scene.defaults.dates, now: scene.now };
    let feed = read(text.as_bytes(), &context).unwrap();
    let seconds = |span: &Span| [span.start().as_unix_seconds(), span.end().as_unix_seconds()];
    let [from, to] = seconds(&scene.window);
    let busy = |feed: &Feed| feed.busy(scene.window).iter().map(seconds).collect::<Vec<_>>();
    let mut of_events: BTreeMap<String, Vec<[i64; 2]>> = BTreeMap::new();
    for item in &feed.items {
        if !of_events.contains_key(&*item.uid) {
            let items = feed.items.iter().filter(|other| other.uid == item.uid).cloned().collect();
            of_events.insert(item.uid.to_string(), busy(&Feed { items, ..feed.clone() }));
        }
    }
    serde_json::json!({
        "number": number, "feed": text, "zone": scene.defaults.dates.name(), "from": from, "to": to,
        "busy": busy(&feed), "events": of_events,
        "skipped": feed.skipped.iter().map(|skipped| (&skipped.uid, skipped.reason.to_string())).collect::<BTreeMap<_, _>>(),
    })
}

fn scene(draw: &mut Draw) -> Scene {
    let dates: Zone = draw.of(CALENDARS).parse().unwrap();
    let times = if draw.one_in(4) { draw.of(CALENDARS).parse().unwrap() } else { dates };
    let year = draw.between(2012, 2032);
    let begins = Local::new(rules::date(draw, year), 0).0;
    let now = Timestamp::from_micros(begins * 1_000_000);
    // Within the range around `now` in which series that are not kept are expanded.
    let from = now - SignedDuration::days(draw.between(0, 300));
    let window = Span::new(from, now + SignedDuration::days(draw.between(60, 600))).unwrap();
    Scene { year, now, defaults: Defaults { dates, times }, window }
}

/// A calendar with these event lines. If `written` is given, the lines are folded, and the calendar names the scene's
/// default zone if it needs one.
fn calendar(events: &[String], written: Option<(&mut Draw, &Scene)>) -> String {
    let mut lines: Vec<String> = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tests//EN"].map(str::to_owned).into();
    let zones = zones::described(events);
    let Some((draw, Scene { defaults, .. })) = written else {
        let end = ["END:VCALENDAR".to_owned()];
        return lines.iter().chain(&zones).chain(events).chain(&end).map(|line| format!("{line}\r\n")).collect();
    };
    if defaults.times.name() != defaults.dates.name() {
        lines.push(format!("X-WR-TIMEZONE:{}", defaults.times));
    }
    let (first, second) = if draw.one_in(6) { (events, zones.as_slice()) } else { (zones.as_slice(), events) };
    lines.extend(first.iter().chain(second).cloned());
    lines.push("END:VCALENDAR".into());
    let ending = if draw.one_in(10) { "\n" } else { "\r\n" };
    let width = draw.of(&[20, 40, 74, 74, 74]);
    lines.iter().map(|line| folded(line, width, ending)).collect()
}

/// Folds a line into lines of at most `width` bytes, between characters.
fn folded(line: &str, width: usize, ending: &str) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for character in line.chars() {
        if length + character.len_utf8() > width {
            text.push_str(ending);
            text.push(' ');
            length = 1;
        }
        text.push(character);
        length += character.len_utf8();
    }
    text + ending
}
