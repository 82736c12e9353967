//! Events of all kinds, as lines.

use kalends_feeds::read::{Context, What, read};
use kalends_time::{Span, Timestamp};

use super::draw::Draw;
use super::rules;
use super::times::{DAY, Defaults, Form, Local, MINUTE, utc_property};
use super::zones;

/// The time and the zones in which a feed is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    pub(crate) year: i64,
    pub(crate) now: Timestamp,
    pub(crate) defaults: Defaults,
    /// The window in which busy times are compared.
    pub(crate) window: Span,
}

/// The lines of an event, and of the events that override occurrences of it.
pub(crate) fn event(draw: &mut Draw, scene: &Scene, uid: &str) -> Vec<String> {
    let form = zones::form(draw);
    let repeats = draw.between(0, 3) > 0;
    let start = start(draw, scene, &form, repeats);
    let mut lines = head(draw, uid);
    lines.push(form.property("DTSTART", start));
    lines.extend(end(draw, scene, &form, start));
    lines.extend(described(draw));
    let dense = repeats && {
        let mut rule = rules::rule(draw, start, &form, scene.defaults);
        if rule.dense && scene.year * 366 * DAY - start.0 > 300 * DAY {
            // A rule with several occurrences a day must begin near the window.
            rule.text = "FREQ=DAILY".to_owned();
            rule.dense = false;
        }
        lines.push(format!("RRULE:{}", rule.text));
        rule.dense
    };
    if draw.one_in(if repeats { 5 } else { 12 }) {
        lines.extend(dates(draw, scene, &form));
    }
    if !lines.iter().any(|line| line.starts_with("RRULE") || line.starts_with("RDATE")) {
        return closed(lines);
    }
    let starts = starts(&closed(lines.clone()), scene);
    if draw.one_in(3) && !starts.is_empty() {
        lines.extend(exdates(draw, scene, &form, &starts, dense));
    }
    let mut lines = closed(lines);
    if draw.one_in(3) && !starts.is_empty() {
        let later = !dense && draw.one_in(5);
        let mut taken = Vec::new();
        for sequence in 1..=draw.between(1, 3) {
            let one = draw.of(&starts);
            // If two events override one occurrence, the later revision counts. With THISANDFUTURE, avoid that case: it
            // is not what is compared.
            if later && taken.contains(&one) {
                continue;
            }
            taken.push(one);
            lines.extend(closed(changed(draw, scene, &form, (uid, sequence), one, later && sequence == 1)));
        }
    }
    lines
}

fn head(draw: &mut Draw, uid: &str) -> Vec<String> {
    let long = "What was done, what comes next\\, and what stands in the way. ".repeat(3);
    let title = draw.of(&[
        "Planning",
        "Überprüfung der Entwürfe \u{1f4c5} mit allen\\, die daran arbeiten",
        "日本語の会議",
        &long,
    ]);
    vec![format!("UID:{uid}"), "DTSTAMP:20260101T000000Z".into(), format!("SUMMARY:{title}")]
}

fn closed(mut lines: Vec<String>) -> Vec<String> {
    lines.insert(0, "BEGIN:VEVENT".into());
    lines.push("END:VEVENT".into());
    lines
}

/// A start near a clock change or the like, mostly within the window.
fn start(draw: &mut Draw, scene: &Scene, form: &Form, repeats: bool) -> Local {
    let before = match draw.between(0, 9) {
        _ if !repeats => draw.between(-1, 1),
        0..=5 => draw.between(-1, 1),
        6..=8 => draw.between(1, 10),
        _ => draw.between(10, 40),
    };
    let earliest = if form.is_date() { 1_950 } else { 1_971 };
    let date = rules::date(draw, (scene.year - before).max(earliest));
    let times = [0, 0, 30, 90, 120, 135, 150, 165, 180, 540, 735, 1_080, 1_320, 1_410];
    let minutes = if draw.one_in(4) { draw.between(0, 1_439) } else { draw.of(&times) };
    Local::new(date, if form.is_date() { 0 } else { minutes })
}

/// The end or the length of an event, in one of the possible forms, or neither.
fn end(draw: &mut Draw, scene: &Scene, form: &Form, start: Local) -> Option<String> {
    if form.is_date() {
        return match draw.between(0, 5) {
            0 | 1 => None,
            2 => Some(format!("DURATION:{}", draw.of(&["P1D", "P3D", "P1W"]))),
            _ => Some(form.property("DTEND", start.plus(DAY * draw.between(1, 5)))),
        };
    }
    let length = MINUTE * draw.of(&[15, 30, 60, 60, 90, 240, 480, 1_440, 1_560, 4_320]);
    match draw.between(0, 13) {
        0 => None,
        1..=4 => {
            let lengths = ["PT30M", "PT1H30M", "PT5H", "P1D", "PT24H", "P1DT2H", "PT36H", "P2D", "PT0S", "P0DT0H45M0S"];
            Some(format!("DURATION:{}", draw.of(&lengths)))
        }
        5 if *form != Form::Floating => Some(Form::Utc.property("DTEND", form.utc(start, scene.defaults).plus(length))),
        6 if draw.one_in(6) => Some(form.property("DTEND", start.plus(-length))),
        _ => Some(form.property("DTEND", start.plus(length))),
    }
}

/// Properties that decide whether an event blocks.
fn described(draw: &mut Draw) -> Vec<String> {
    let lines = match draw.between(0, 19) {
        0 => vec!["TRANSP:TRANSPARENT"],
        1 | 2 => vec!["TRANSP:OPAQUE", "STATUS:CONFIRMED"],
        3 => vec!["STATUS:CANCELLED"],
        4 => vec!["STATUS:TENTATIVE"],
        5 => vec![
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            "DESCRIPTION:x",
            "TRIGGER:-PT10M",
            "DURATION:PT9H",
            "REPEAT:1",
            "END:VALARM",
        ],
        6 => vec!["ATTENDEE;CN=\"Ada: and; others\";PARTSTAT=DECLINED:mailto:ada@example.com"],
        _ => Vec::new(),
    };
    lines.into_iter().map(str::to_owned).collect()
}

/// The starts of a series in and around the window, computed by the reader under test. They only serve to place
/// exceptions on occurrences, which is not what is compared.
fn starts(lines: &[String], scene: &Scene) -> Vec<Timestamp> {
    // A cancelled series has starts too, which overrides may name.
    let lines: Vec<String> = lines.iter().filter(|line| *line != "STATUS:CANCELLED").cloned().collect();
    let text = super::calendar(&lines, None);
    let context = Context { calendar_zone: scene.defaults.dates, now: scene.now };
    let text = text.replace("VERSION:2.0", &format!("X-WR-TIMEZONE:{}", scene.defaults.times));
    let feed = read(text.as_bytes(), &context).unwrap();
    let mut starts = Vec::new();
    for item in &feed.items {
        match &item.what {
            What::Series(recurrence) => {
                let series = recurrence.series(item.times).unwrap();
                starts.extend(series.starts(scene.window.start()..scene.window.end()).take(40));
            }
            _ if scene.window.contains(item.times.span.start()) => starts.push(item.times.span.start()),
            _ => {}
        }
    }
    starts.truncate(60);
    starts
}

fn dates(draw: &mut Draw, scene: &Scene, form: &Form) -> Vec<String> {
    let mut lines = Vec::new();
    for minutes in [90, 600, 1_410].into_iter().take(usize::try_from(draw.between(1, 3)).unwrap()) {
        let date = rules::date(draw, scene.year);
        if form.is_date() {
            lines.push(form.property("RDATE", Local::new(date, 0)));
            continue;
        }
        let local = Local::new(date, minutes + draw.of(&[0, 30, 60]));
        lines.push(match draw.between(0, 4) {
            0 if *form != Form::Floating => Form::Utc.property("RDATE", form.utc(local, scene.defaults)),
            1 => {
                let ends = if draw.one_in(2) { "PT3H".to_owned() } else { period_end(form, local) };
                // If the rule had the same start with another length, it would be undefined which one counts. One
                // minute more makes that unlikely.
                let local = local.plus(MINUTE);
                let plain = form.property("RDATE", local);
                format!("{}/{ends}", plain.replacen("RDATE", "RDATE;VALUE=PERIOD", 1))
            }
            _ => form.property("RDATE", local),
        });
    }
    lines
}

fn period_end(form: &Form, start: Local) -> String {
    let text = start.plus(150 * MINUTE).text();
    if *form == Form::Utc { format!("{text}Z") } else { text }
}

fn exdates(draw: &mut Draw, scene: &Scene, form: &Form, starts: &[Timestamp], dense: bool) -> Vec<String> {
    // An occurrence without a zone cannot be named by an instant.
    let local_only = form.is_date() || *form == Form::Floating;
    let mut lines = Vec::new();
    for _ in 0..draw.between(1, 3) {
        let start = draw.of(starts);
        lines.push(match draw.between(0, 7) {
            0 | 1 if !local_only => utc_property("EXDATE", start),
            2 if !dense => Form::Date.property("EXDATE", form.shows(start, scene.defaults)),
            3 => form.property_at("EXDATE", start + kalends_time::SignedDuration::days(1), scene.defaults),
            4 => {
                let other = form.property_at("EXDATE", draw.of(starts), scene.defaults);
                let value = other.rsplit_once(':').unwrap().1;
                format!("{},{value}", form.property_at("EXDATE", start, scene.defaults))
            }
            _ => form.property_at("EXDATE", start, scene.defaults),
        });
    }
    lines
}

/// An event that overrides one occurrence, or that one and all later ones.
fn changed(
    draw: &mut Draw,
    scene: &Scene,
    form: &Form,
    (uid, sequence): (&str, i64),
    at: Timestamp,
    later: bool,
) -> Vec<String> {
    let mut lines = head(draw, uid);
    lines.push(format!("SEQUENCE:{sequence}"));
    let id = if !form.is_date() && *form != Form::Floating && draw.one_in(4) {
        utc_property("RECURRENCE-ID", at)
    } else {
        form.property_at("RECURRENCE-ID", at, scene.defaults)
    };
    lines.push(if later { id.replacen("RECURRENCE-ID", "RECURRENCE-ID;RANGE=THISANDFUTURE", 1) } else { id });
    let by = if form.is_date() {
        DAY * draw.between(-3, 3)
    } else {
        MINUTE * draw.of(&[0, 0, 15, 60, 150, -30, -120, 1_440, 2_880, -1_440])
    };
    let start = form.shows(at, scene.defaults).plus(by);
    let start = if form.is_date() { Local::new(start.date(), 0) } else { start };
    // If no known zone has these clocks, write the instant in UTC.
    let unknown = matches!(form, Form::Zoned(_, None));
    let form = if unknown { &Form::Utc } else { form };
    lines.push(form.property("DTSTART", start));
    lines.extend(end(draw, scene, form, start));
    lines.extend(described(draw));
    lines
}
