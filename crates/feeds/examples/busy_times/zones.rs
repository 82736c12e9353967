//! The zone names that feeds use, and the zones that they describe themselves.

use kalends_time::Zone;

use super::draw::Draw;
use super::times::Form;

/// A name, and the known zone with the same clocks, if any.
const NAMES: &[(&str, Option<&str>)] = &[
    ("Europe/Berlin", Some("Europe/Berlin")),
    ("Europe/London", Some("Europe/London")),
    ("America/New_York", Some("America/New_York")),
    ("America/Los_Angeles", Some("America/Los_Angeles")),
    ("America/St_Johns", Some("America/St_Johns")),
    ("America/Santiago", Some("America/Santiago")),
    ("America/Sao_Paulo", Some("America/Sao_Paulo")),
    ("America/Havana", Some("America/Havana")),
    ("Asia/Kolkata", Some("Asia/Kolkata")),
    ("Asia/Kathmandu", Some("Asia/Kathmandu")),
    ("Asia/Tokyo", Some("Asia/Tokyo")),
    ("Australia/Adelaide", Some("Australia/Adelaide")),
    ("Australia/Lord_Howe", Some("Australia/Lord_Howe")),
    ("Pacific/Auckland", Some("Pacific/Auckland")),
    ("Pacific/Chatham", Some("Pacific/Chatham")),
    ("Africa/Casablanca", Some("Africa/Casablanca")),
    ("W. Europe Standard Time", Some("Europe/Berlin")),
    ("Pacific Standard Time", Some("America/Los_Angeles")),
    ("Office clock", Some("Europe/Berlin")),
    ("Customized Time Zone 1", Some("America/New_York")),
    ("South", Some("Australia/Sydney")),
    ("Nepal", Some("Asia/Kathmandu")),
    ("Odd", None),
];

/// An offset, when it first applies, and the month and the rest of the yearly rule by which it applies again.
type Observance<'a> = (&'a str, &'a str, &'a str);

/// The described zones: the name, the standard time and the summer time. A zone without summer time has the same offset
/// in both.
const DESCRIBED: &[(&str, [Observance<'_>; 2])] = &[
    ("Office clock", [("+0100", "19701025T030000", "10;BYDAY=-1SU"), ("+0200", "19700329T020000", "3;BYDAY=-1SU")]),
    (
        "Customized Time Zone 1",
        [("-0500", "20071104T020000", "11;BYDAY=1SU"), ("-0400", "20070311T020000", "3;BYDAY=2SU")],
    ),
    ("South", [("+1000", "20080406T030000", "4;BYDAY=1SU"), ("+1100", "20081005T020000", "10;BYDAY=1SU")]),
    ("Nepal", [("+0545", "19700101T000000", ""), ("+0545", "", "")]),
    // Summer time begins on a Saturday evening and moves the clocks by half an hour.
    ("Odd", [("+0230", "19700905T230000", "9;BYDAY=1SA"), ("+0300", "19700328T220000", "3;BYDAY=-1SA")]),
];

/// Draws how an event writes its times.
pub(crate) fn form(draw: &mut Draw) -> Form {
    match draw.between(0, 15) {
        0..=3 => Form::Date,
        4 | 5 => Form::Utc,
        6 => Form::Floating,
        _ => zoned(draw),
    }
}

pub(crate) fn zoned(draw: &mut Draw) -> Form {
    let (name, zone) = draw.of(NAMES);
    Form::Zoned(name, zone.map(|zone| zone.parse::<Zone>().unwrap()))
}

/// The lines of the `VTIMEZONE`s of the described zones that `events` name.
pub(crate) fn described(events: &[String]) -> Vec<String> {
    let named = |name: &str| events.iter().any(|line| line.contains(&format!("TZID={name}:")));
    let mut lines = Vec::new();
    for (name, [standard, summer]) in DESCRIBED.iter().filter(|(name, _)| named(name)) {
        lines.extend(["BEGIN:VTIMEZONE".to_owned(), format!("TZID:{name}")]);
        for (part, from, (to, start, rule)) in [("STANDARD", summer.0, standard), ("DAYLIGHT", standard.0, summer)] {
            if start.is_empty() {
                continue;
            }
            lines.push(format!("BEGIN:{part}"));
            lines.push(format!("DTSTART:{start}"));
            lines.push(format!("TZOFFSETFROM:{from}"));
            lines.push(format!("TZOFFSETTO:{to}"));
            if !rule.is_empty() {
                lines.push(format!("RRULE:FREQ=YEARLY;BYMONTH={rule}"));
            }
            lines.push(format!("END:{part}"));
        }
        lines.push("END:VTIMEZONE".to_owned());
    }
    lines
}
