//! The calendar object of one event (RFC 4791 section 4.1): the times that it blocks.

use kalends_feeds::read::{Context, read, zone_named};
use kalends_time::{Span, Zone};

use super::xml::Props;

/// The properties of an event that determine its times and whether it blocks them. All others are dropped before the
/// event is read.
pub(crate) const NEEDED: &[&str] = &[
    "UID",
    "DTSTART",
    "DTEND",
    "DURATION",
    "RRULE",
    "EXRULE",
    "RDATE",
    "EXDATE",
    "RECURRENCE-ID",
    "STATUS",
    "TRANSP",
    "SEQUENCE",
    "DTSTAMP",
    "LAST-MODIFIED",
    "X-MICROSOFT-CDO-BUSYSTATUS",
];

/// The times of an event.
pub(crate) struct Times {
    /// When it blocks.
    pub(crate) busy: Vec<Span>,
    /// The number of parts of it that cannot be read.
    pub(crate) unread: usize,
    /// The work that it took, in steps of [`kalends_feeds::limits::STEPS_MAX`].
    pub(crate) steps: u64,
}

/// The times of an event within `window`. Times without a zone, and whole days, are in `zone`. Where the user with
/// these addresses declined the invitation, the event does not block. `None` if it is not iCalendar text.
pub(crate) fn times(data: &str, addresses: &[String], zone: Zone, window: Span) -> Option<Times> {
    let context = Context { calendar_zone: zone, now: window.start() };
    let feed = read(needed(data, addresses).as_bytes(), &context).ok()?;
    Some(Times { busy: feed.busy(window), unread: feed.skipped_count, steps: feed.steps })
}

/// The zone of a calendar, if it names one that is known. Otherwise UTC.
pub(crate) fn zone(props: &Props) -> Zone {
    let named = props.timezone_id.as_deref().and_then(zone_named);
    let described = || {
        unfolded(props.timezone.as_deref().unwrap_or_default()).find_map(|line| {
            let name = name(&line);
            let is_name = name.eq_ignore_ascii_case("TZID") || name.eq_ignore_ascii_case("X-LIC-LOCATION");
            let (_, zone) = line.split_once(':').filter(|_| is_name)?;
            zone_named(zone.trim())
        })
    };
    named.or_else(described).unwrap_or(Zone::UTC)
}

/// Where a line is.
enum Place {
    /// In a calendar or a zone, whose lines are all kept.
    Kept,
    /// In an event, how many components are open in it, and whether the user declined it.
    Event { open: usize, declined: bool },
    /// In another component, whose name this is.
    Dropped(String),
}

/// The text with only the needed properties. An event that the user declined is marked as transparent.
fn needed(data: &str, addresses: &[String]) -> String {
    let mut kept = String::with_capacity(data.len().min(64 << 10));
    let mut place = Place::Kept;
    for line in unfolded(data) {
        let name = name(&line);
        let begins = name.eq_ignore_ascii_case("BEGIN");
        let ends = name.eq_ignore_ascii_case("END");
        let component = if begins || ends { value(&line).trim().to_ascii_uppercase() } else { String::new() };
        let keep = match &mut place {
            Place::Kept => match component.as_str() {
                "VEVENT" if begins => {
                    place = Place::Event { open: 0, declined: false };
                    true
                }
                "" | "VCALENDAR" | "VTIMEZONE" | "STANDARD" | "DAYLIGHT" => true,
                _ => {
                    if begins {
                        place = Place::Dropped(component);
                    }
                    false
                }
            },
            Place::Event { declined, .. } if ends && component == "VEVENT" => {
                if *declined {
                    kept.push_str("TRANSP:TRANSPARENT\r\n");
                }
                place = Place::Kept;
                true
            }
            // The event before it has no end, and is counted as one that cannot be read.
            Place::Event { .. } if begins && component == "VEVENT" => {
                place = Place::Event { open: 0, declined: false };
                true
            }
            Place::Event { .. } if component == "VCALENDAR" => true,
            Place::Event { open, declined } => {
                if begins {
                    *open += 1;
                } else if ends {
                    *open = open.saturating_sub(1);
                }
                let own = *open == 0 && component.is_empty();
                *declined |= own && is_declined(&line, addresses);
                own && NEEDED.iter().any(|needed| name.eq_ignore_ascii_case(needed))
            }
            Place::Dropped(dropped) => {
                if ends && component == *dropped {
                    place = Place::Kept;
                }
                false
            }
        };
        if keep {
            kept.push_str(&line);
            kept.push_str("\r\n");
        }
    }
    kept
}

/// The content lines, without folds (RFC 5545 section 3.1), one after another: a text may have millions of short ones.
fn unfolded(text: &str) -> impl Iterator<Item = String> {
    let mut physical = text.split(['\r', '\n']).filter(|line| !line.is_empty()).peekable();
    std::iter::from_fn(move || {
        let mut line = physical.next()?.trim_start().to_owned();
        while let Some(fold) = physical.next_if(|next| next.starts_with([' ', '\t'])) {
            line.push_str(fold.get(1..).unwrap_or_default());
        }
        Some(line)
    })
}

/// The name of a property, as written.
fn name(line: &str) -> &str {
    line.split([':', ';']).next().unwrap_or_default().trim()
}

/// The places in a text at which a letter is outside quotes.
fn outside_quotes(text: &str, wanted: char) -> impl Iterator<Item = usize> {
    let mut quoted = false;
    text.char_indices().filter_map(move |(at, letter)| {
        quoted ^= letter == '"';
        (letter == wanted && !quoted).then_some(at)
    })
}

/// The value of a property.
fn value(line: &str) -> &str {
    // An unclosed quote must not swallow the value.
    let colon = outside_quotes(line, ':').next().or_else(|| line.find(':'));
    colon.and_then(|colon| line.get(colon + 1..)).unwrap_or_default()
}

/// Whether it is the line of an attendee with one of these addresses, who declined.
fn is_declined(line: &str, addresses: &[String]) -> bool {
    if !name(line).eq_ignore_ascii_case("ATTENDEE") {
        return false;
    }
    let head = line.get(..line.len() - value(line).len()).unwrap_or_default();
    let mut address = vec![value(line).trim().to_lowercase()];
    let mut declined = false;
    let ends = outside_quotes(head, ';').chain([head.len()]);
    let mut from = 0;
    for end in ends {
        let param = head.get(from..end).unwrap_or_default().trim_end_matches(':');
        from = end + 1;
        let Some((name, value)) = param.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        if name.trim().eq_ignore_ascii_case("PARTSTAT") {
            declined = value.eq_ignore_ascii_case("DECLINED");
        } else if name.trim().eq_ignore_ascii_case("EMAIL") {
            // The address of an attendee whose value is not an e-mail address (RFC 7986 section 6.2).
            address.push(format!("mailto:{}", value.to_lowercase()));
        }
    }
    declined && address.iter().any(|address| addresses.contains(address))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn span(start: &str, end: &str) -> Span {
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    fn week() -> Span {
        span("2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z")
    }

    fn ada() -> Vec<String> {
        vec!["mailto:ada@example.com".to_owned(), "/principals/ada/".to_owned()]
    }

    fn calendar(events: &[&str]) -> String {
        let events = events.iter().map(|lines| format!("BEGIN:VEVENT\r\nUID:x\r\n{lines}\r\nEND:VEVENT\r\n"));
        format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}END:VCALENDAR\r\n", events.collect::<String>())
    }

    fn busy(data: &str, zone: &str) -> Vec<Span> {
        times(data, &ada(), zone.parse().unwrap(), week()).unwrap().busy
    }

    const MORNING: &str = "DTSTART:20260302T090000Z\r\nDTEND:20260302T100000Z";

    #[rstest]
    #[case::plain("ATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com", true)]
    #[case::upper_case("attendee;partstat=declined:MAILTO:Ada@Example.com", true)]
    #[case::quoted("ATTENDEE;CN=\"A: B; C\";PARTSTAT=\"DECLINED\":mailto:ada@example.com", true)]
    #[case::folded("ATTENDEE;PARTSTAT=DECL\r\n INED;CN=Ada:mailto:ada@ex\r\n\tample.com", true)]
    #[case::by_its_email("ATTENDEE;PARTSTAT=DECLINED;EMAIL=ada@example.com:/1/principal/", true)]
    #[case::by_its_principal("ATTENDEE;PARTSTAT=DECLINED:/principals/ada/", true)]
    #[case::accepted("ATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.com", false)]
    #[case::no_answer("ATTENDEE:mailto:ada@example.com", false)]
    #[case::another("ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com", false)]
    #[case::in_a_name("ATTENDEE;CN=\"PARTSTAT=DECLINED\":mailto:ada@example.com", false)]
    #[case::the_organizer("ORGANIZER;PARTSTAT=DECLINED:mailto:ada@example.com", false)]
    #[case::in_an_alarm("BEGIN:VALARM\r\nATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com\r\nEND:VALARM", false)]
    fn declined_events_do_not_block(#[case] line: &str, #[case] declined: bool) {
        let data = calendar(&[&format!("{MORNING}\r\n{line}")]);
        assert_eq!(busy(&data, "UTC").is_empty(), declined);
    }

    #[test]
    fn one_occurrence_may_be_declined() {
        let data = calendar(&[
            "DTSTART:20260302T090000Z\r\nDTEND:20260302T100000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\n\
             ATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.com",
            "RECURRENCE-ID:20260303T090000Z\r\nDTSTART:20260303T090000Z\r\nDTEND:20260303T100000Z\r\n\
             ATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com",
        ]);
        let expected = [
            span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
            span("2026-03-04T09:00:00Z", "2026-03-04T10:00:00Z"),
        ];
        assert_eq!(busy(&data, "UTC"), expected);
    }

    #[test]
    fn one_occurrence_of_a_declined_series_may_be_accepted() {
        let data = calendar(&[
            "DTSTART:20260302T090000Z\r\nDTEND:20260302T100000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\n\
             ATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com",
            "RECURRENCE-ID:20260303T090000Z\r\nDTSTART:20260303T110000Z\r\nDTEND:20260303T120000Z\r\n\
             ATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.com",
        ]);
        assert_eq!(busy(&data, "UTC"), [span("2026-03-03T11:00:00Z", "2026-03-03T12:00:00Z")]);
    }

    #[test]
    fn whole_days_are_in_the_zone_of_the_calendar() {
        let data = calendar(&["DTSTART;VALUE=DATE:20260303\r\nDTEND;VALUE=DATE:20260304"]);
        assert_eq!(busy(&data, "Pacific/Kiritimati"), [span("2026-03-02T10:00:00Z", "2026-03-03T10:00:00Z")]);
        assert_eq!(busy(&data, "UTC"), [span("2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z")]);
    }

    #[rstest]
    #[case::transparent("TRANSP:TRANSPARENT")]
    #[case::free("X-MICROSOFT-CDO-BUSYSTATUS:FREE")]
    #[case::cancelled("STATUS:CANCELLED")]
    fn some_events_do_not_block(#[case] line: &str) {
        assert!(busy(&calendar(&[&format!("{MORNING}\r\n{line}")]), "UTC").is_empty());
    }

    #[test]
    fn zones_of_the_event_are_kept() {
        let zone = "BEGIN:VTIMEZONE\r\nTZID:Somewhere\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n\
                    TZOFFSETFROM:+0530\r\nTZOFFSETTO:+0530\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
        let event =
            "BEGIN:VEVENT\r\nUID:x\r\nDTSTART;TZID=Somewhere:20260302T090000\r\nDURATION:PT1H\r\nEND:VEVENT\r\n";
        let data = format!("BEGIN:VCALENDAR\r\n{zone}{event}END:VCALENDAR\r\n");
        assert_eq!(busy(&data, "UTC"), [span("2026-03-02T03:30:00Z", "2026-03-02T04:30:00Z")]);
    }

    #[test]
    fn texts_are_dropped() {
        let data = calendar(&[&format!(
            "{MORNING}\r\nSUMMARY:Dent\r\n ist\r\nDESCRIPTION:Dentist\r\nLOCATION:Dentist\r\nX-A:Dentist\r\n\
             BEGIN:VALARM\r\nDESCRIPTION:Dentist\r\nEND:VALARM"
        )]);
        let todo = "BEGIN:VTODO\r\nSUMMARY:Dentist\r\nEND:VTODO\r\nEND:VCALENDAR";
        let kept = needed(&data.replace("END:VCALENDAR", todo), &ada());
        let expected = format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:x\r\n{MORNING}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        );
        assert_eq!(kept, expected);
    }

    #[rstest]
    #[case::empty("")]
    #[case::html("<html>Dentist</html>")]
    #[case::cut_short("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:x\r\nDTSTART:20260302T090000Z")]
    fn other_texts_are_not_read(#[case] data: &str) {
        assert!(times(data, &ada(), Zone::UTC, week()).is_none());
    }

    #[test]
    fn a_text_that_is_cut_anywhere_is_read_or_refused() {
        let data = calendar(&[&format!("{MORNING}\r\nATTENDEE;CN=\"A: B;PARTSTAT=DECLINED:mailto:ada@example.com")]);
        let ends = (0..data.len()).filter(|end| data.is_char_boundary(*end));
        let read = ends.filter(|end| times(&data[..*end], &ada(), Zone::UTC, week()).is_some()).count();
        // Only line breaks may be missing.
        assert!((1..=2).contains(&read), "{read}");
    }

    #[test]
    fn events_that_cannot_be_read_are_counted() {
        let data = calendar(&["DTSTART:yesterday", MORNING]);
        let times = times(&data, &ada(), Zone::UTC, week()).unwrap();
        assert_eq!((times.busy.len(), times.unread), (1, 1));
    }

    #[rstest]
    #[case::none(None, None, "UTC")]
    #[case::by_identifier(Some("Europe/Berlin"), None, "Europe/Berlin")]
    #[case::by_description(None, Some("TZID:America/New_York"), "America/New_York")]
    #[case::by_location(None, Some("TZID:My zone\r\nX-LIC-LOCATION:Asia/Tokyo"), "Asia/Tokyo")]
    #[case::folded(None, Some("TZID:Europe/B\r\n erlin"), "Europe/Berlin")]
    #[case::unknown(Some("Mars/Olympus"), Some("TZID:My zone"), "UTC")]
    fn calendars_have_zones(#[case] id: Option<&str>, #[case] description: Option<&str>, #[case] expected: &str) {
        let description = description.map(|lines| {
            format!("BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\n{lines}\r\nEND:VTIMEZONE\r\nEND:VCALENDAR\r\n")
        });
        let props = Props { timezone_id: id.map(str::to_owned), timezone: description, ..Props::default() };
        assert_eq!(zone(&props).name(), expected);
    }
}
