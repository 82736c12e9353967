//! An event as the calendar shows it.

use kalends_i18n::Translator;
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};

use super::days::clock;
use crate::time::offset_of_repeated;

/// An event of a calendar, or the time in which somebody is busy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventInView {
    /// The identifier. Empty for [`EventKind::Busy`], which has no page.
    pub id: String,
    /// The title.
    pub title: String,
    /// The name of the calendar.
    pub calendar: String,
    /// When it takes place.
    pub span: Span,
    /// The first and the last date, if it takes whole days.
    pub dates: Option<(CivilDate, CivilDate)>,
    /// What it is.
    pub kind: EventKind,
    /// Whether it is imported from a feed.
    pub is_imported: bool,
    /// The version that is shown. It has no meaning for [`EventKind::Busy`].
    pub version: i64,
    /// The version of its series, if it is an occurrence.
    pub series_version: Option<i64>,
}

/// What takes a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// An event that takes place.
    Confirmed,
    /// An event that may take place.
    Tentative,
    /// A hold that expires at that time.
    Hold(Timestamp),
    /// Something on a connected calendar.
    Busy,
}

/// What is said instead of a title about something on a connected calendar.
pub(crate) const BUSY: &str = "Busy (a connected calendar)";

impl EventInView {
    /// The dates of an event that takes whole days, and whose calendar is in that zone.
    pub fn whole_days(span: Span, zone: Zone) -> (CivilDate, CivilDate) {
        // The end is exclusive. An end after midnight is on the last day.
        let last = zone.to_civil(span.end() - SignedDuration::micros(1)).date;
        (zone.to_civil(span.start()).date, last)
    }

    /// Whether it can be moved to another time by hand. Events of whole days and of other calendars cannot.
    pub(crate) fn is_movable(&self) -> bool {
        !self.id.is_empty() && !self.is_imported && self.dates.is_none() && self.kind != EventKind::Busy
    }

    /// The classes of the event, beside `event`. Each has a look of its own, which does not depend on colors.
    pub(crate) const fn class(&self) -> &'static str {
        match (self.kind, self.is_imported) {
            (EventKind::Tentative, true) => "tentative imported",
            (EventKind::Tentative, false) => "tentative",
            (EventKind::Confirmed, true) => "imported",
            (EventKind::Confirmed, false) => "confirmed",
            (EventKind::Hold(_), _) => "hold",
            (EventKind::Busy, _) => "busy",
        }
    }

    pub(crate) fn title(&self) -> &str {
        if self.kind == EventKind::Busy { BUSY } else { &self.title }
    }

    /// The state in words.
    pub(crate) fn state(&self, now: Timestamp) -> String {
        let state = match (self.kind, self.is_imported) {
            (EventKind::Tentative, true) => "Imported, tentative",
            (EventKind::Tentative, false) => "Tentative",
            (EventKind::Confirmed, true) => "Imported",
            (EventKind::Confirmed, false) => "Confirmed",
            (EventKind::Busy, _) => "Busy",
            (EventKind::Hold(expires_at), _) => return format!("Hold, {}", left(expires_at - now)),
        };
        state.to_owned()
    }
}

/// How long a hold lasts, such as `12 min left`.
pub(crate) fn left(time: SignedDuration) -> String {
    let minutes = (time.as_seconds().max(0) + 59) / 60;
    match minutes {
        ..=1 => "1 min left".to_owned(),
        2..120 => format!("{minutes} min left"),
        120..2_880 => format!("{} h left", minutes / 60),
        _ => format!("{} days left", minutes / 1_440),
    }
}

/// When an event takes place, such as `Monday, 2 March 2026, 09:00–10:00`. `dates` are the first and the last date,
/// if it takes whole days. A time that the clock of the zone shows twice has its offset too.
pub fn event_time(span: Span, dates: Option<(CivilDate, CivilDate)>, zone: Zone) -> String {
    let words = Translator::english();
    if let Some((first, last)) = dates {
        return if first == last {
            format!("{}, all day", words.date(first))
        } else {
            format!("{} – {}, all day", words.date(first), words.date(last))
        };
    }
    let (start, end) = (zone.to_civil(span.start()).date, zone.to_civil(span.end()).date);
    let [from, to] =
        [span.start(), span.end()].map(|at| format!("{}{}", clock(at, zone), offset_of_repeated(zone, at)));
    if start == end {
        format!("{}, {from}–{to}", words.date(start))
    } else {
        format!("{}, {from} – {}, {to}", words.date(start), words.date(end))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(-5, "1 min left")]
    #[case(30, "1 min left")]
    #[case(61, "2 min left")]
    #[case(720, "12 min left")]
    #[case(7_200, "2 h left")]
    #[case(200_000, "2 days left")]
    fn holds_say_how_long_they_last(#[case] seconds: i64, #[case] text: &str) {
        assert_eq!(left(SignedDuration::seconds(seconds)), text);
    }

    #[rstest]
    #[case("2026-10-24T12:00:00Z", "2026-10-24T13:00:00Z", "Saturday, 24 October 2026, 14:00–15:00")]
    #[case("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "Sunday, 25 October 2026, 02:30 (UTC+2)–02:30 (UTC+1)")]
    fn a_time_that_occurs_twice_has_its_offset(#[case] start: &str, #[case] end: &str, #[case] text: &str) {
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        assert_eq!(event_time(span, None, "Europe/Berlin".parse().unwrap()), text);
    }

    #[rstest]
    #[case("2026-03-01T23:00:00Z", "2026-03-02T23:00:00Z", "2026-03-02", "2026-03-02")]
    #[case("2026-03-27T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-28", "2026-03-29")]
    #[case("2026-03-01T23:00:00Z", "2026-03-02T23:30:00Z", "2026-03-02", "2026-03-03")]
    fn whole_days_are_those_of_the_calendar(
        #[case] start: &str,
        #[case] end: &str,
        #[case] first: &str,
        #[case] last: &str,
    ) {
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        let dates = EventInView::whole_days(span, "Europe/Berlin".parse().unwrap());
        assert_eq!(dates, (first.parse().unwrap(), last.parse().unwrap()));
    }
}
