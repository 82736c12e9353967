//! A feed as another service might write it, of the largest allowed size.

use std::fmt::Write as _;

/// The number of events, which is the most that a feed may have.
pub(crate) const EVENTS: usize = kalends_feeds::limits::EVENTS_MAX;
/// The maximum length of the text. It is hardly shorter.
const BYTES: usize = kalends_feeds::limits::BYTES_MAX;

/// Two zones: one of the zone database, and one under a custom name.
const ZONES: [(&str, &str); 2] = [("Europe/Berlin", "Berlin"), ("Customized Time Zone", "")];
const WORDS: &str =
    "What was done\\, what comes next\\, and what stands in the way. Die Notizen für alle liegen am üblichen Platz. ";

/// Writes the feed. Seven in ten events are one-off events, two are series, and one is an all-day event. One in forty
/// series is outside the supported subset. All have a folded description, an attendee and an alarm.
pub(crate) fn feed() -> String {
    let mut text = String::with_capacity(BYTES);
    text.push_str("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Bench//EN\r\nX-WR-CALNAME:Everything\r\n");
    for (name, location) in ZONES {
        zone(&mut text, name, location);
    }
    for number in 0..EVENTS {
        let end = "END:VCALENDAR\r\n".len();
        let room = (BYTES - end - text.len()) / (EVENTS - number);
        event(&mut text, number, room);
    }
    text.push_str("END:VCALENDAR\r\n");
    text
}

fn zone(text: &mut String, name: &str, location: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "BEGIN:VTIMEZONE\r\nTZID:{name}\r\n");
    if !location.is_empty() {
        let _ = write!(text, "X-LIC-LOCATION:Europe/{location}\r\n");
    }
    text.push_str(
        "BEGIN:DAYLIGHT\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\nDTSTART:19700329T020000\r\n\
         RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nEND:DAYLIGHT\r\n\
         BEGIN:STANDARD\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\nDTSTART:19701025T030000\r\n\
         RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n",
    );
}

/// Adds an event of about `room` bytes, and never more.
fn event(text: &mut String, number: usize, room: usize) {
    let begins = text.len();
    let (zone, _) = ZONES[number / 2 % 2];
    let (year, month, day, hour) = (2024 + number % 3, number % 12 + 1, number % 28 + 1, number % 22);
    let _ = write!(text, "BEGIN:VEVENT\r\nUID:{number:08x}-4c1e-11ee@bench.example\r\nDTSTAMP:20260301T080000Z\r\n");
    let _ = write!(text, "SUMMARY:Weekly planning {number}\r\nSEQUENCE:1\r\nSTATUS:CONFIRMED\r\n");
    if number % 10 == 9 {
        let _ = write!(text, "DTSTART;VALUE=DATE:{year}{month:02}{day:02}\r\n");
    } else {
        let at = format!("{year}{month:02}{day:02}T{hour:02}");
        let _ = write!(text, "DTSTART;TZID={zone}:{at}0000\r\nDTEND;TZID={zone}:{at}4500\r\n");
    }
    if number % 10 < 2 {
        let hours = if number.is_multiple_of(200) { ";BYHOUR=9,15;COUNT=40" } else { "" };
        let _ = write!(text, "RRULE:FREQ=WEEKLY;BYDAY=MO,WE{hours}\r\n");
        if hours.is_empty() {
            let _ = write!(text, "EXDATE;TZID={zone}:{}0601T{hour:02}0000\r\n", year + 1);
        }
    }
    text.push_str("ATTENDEE;CN=\"Ada, of the team\":mailto:ada@bench.example\r\n");
    let alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT10M\r\nEND:VALARM\r\nEND:VEVENT\r\n";
    let name = "DESCRIPTION:";
    let used = text.len() - begins + name.len() + alarm.len() + 2;
    text.push_str(name);
    let (mut left, mut column) = (room.saturating_sub(used), name.len());
    for character in WORDS.chars().cycle() {
        // A fold takes three more bytes.
        if left < character.len_utf8() + 3 {
            break;
        }
        if column + character.len_utf8() > 75 {
            text.push_str("\r\n ");
            (left, column) = (left - 3, 1);
        }
        text.push(character);
        left -= character.len_utf8();
        column += character.len_utf8();
    }
    text.push_str("\r\n");
    text.push_str(alarm);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feed_has_the_largest_allowed_size() {
        let text = feed();
        assert!(text.len() <= BYTES && text.len() > BYTES - BYTES / 100, "{}", text.len());
        assert_eq!(text.matches("BEGIN:VEVENT").count(), EVENTS);
        assert!(text.lines().all(|line| line.len() <= 75));
    }
}
