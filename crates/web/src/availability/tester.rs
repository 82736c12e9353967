//! What is offered to somebody who asks for a time, and why not more.

use askama::Template;
use kalends_i18n::Translator;
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};

use crate::{
    calendar::{Day, WhyNot, clock, event_time},
    english::in_english,
    field::Field,
    numbers::grouped,
    problems::Problems,
    shell::Shell,
    time::offset_label,
    zones::ZoneField,
};

/// The fields of the form.
pub const TEST_FIELDS: [&str; 7] = ["who", "minutes", "step", "start_time", "end_time", "at", "timezone"];
/// The largest number of agents and calendars that can be chosen together.
pub const CHOSEN_MAX: usize = 20;
/// The longest time that can be tested, in days of 24 hours.
pub const TEST_DAYS_MAX: i64 = 14;
/// The largest number of slots that are shown.
const SLOTS_MAX: usize = 200;
/// The largest number of reasons that are shown of a day.
pub const TEST_REASONS_MAX: usize = 10;

/// An agent or a calendar to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// Whether it is an agent, and stands for all of its calendars.
    pub is_agent: bool,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// What was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestGiven<'a> {
    /// The length of a slot, in minutes.
    pub minutes: &'a str,
    /// The minutes from the start of one slot to that of the next; empty if it is the length.
    pub step: &'a str,
    /// The start, as [`clock_text`](crate::clock_text) writes it.
    pub start: &'a str,
    /// The end, likewise.
    pub end: &'a str,
    /// The start of a slot to ask about, likewise; empty if there is none.
    pub at: &'a str,
}

/// Something that keeps a time from being offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hindrance {
    /// The name of the agent or calendar; empty if only one is chosen.
    pub who: String,
    /// What it is.
    pub why: WhyNot,
}

impl Hindrance {
    fn sentence(&self, span: Span, zone: Zone) -> String {
        let sentence = WhyNot { span, ..self.why }.sentence(zone);
        if self.who.is_empty() { sentence } else { format!("{}: {sentence}", self.who) }
    }
}

/// A time that somebody asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedTime {
    /// The time.
    pub span: Span,
    /// Why it is not offered; empty if all of it is free.
    pub hindrances: Vec<Hindrance>,
    /// Whether there are more reasons.
    pub has_more: bool,
}

/// What is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The time that was tested: at most [`TEST_DAYS_MAX`] days.
    pub window: Span,
    /// The length of a slot, in minutes.
    pub minutes: u16,
    /// The minutes from the start of one slot to that of the next.
    pub step: u16,
    /// The starts of the slots that everybody who is chosen offers, in order.
    pub slots: Vec<Timestamp>,
    /// What keeps time on the days without slots from being offered.
    pub hindrances: Vec<Hindrance>,
    /// The spans of such days in which there may be more hindrances.
    pub incomplete: Vec<Span>,
    /// What is not known, as sentences without a full stop.
    pub warnings: Vec<String>,
    /// The time that was asked about, if there is one.
    pub at: Option<AskedTime>,
}

/// The days of a zone that a window touches, each with its part of the window. The window should be short: each of its
/// days is listed.
pub fn days_of(window: Span, zone: Zone) -> Vec<(CivilDate, Span)> {
    let date = |at| zone.to_civil(at).date.as_days();
    // When clocks go back over midnight, they show a date again after the next one has begun.
    let dates = date(window.start()) - 1..=date(window.end()) + 1;
    let part = |date| Some((date, Day::of(date, zone)?.span.clip(window)?));
    dates.map(CivilDate::from_days).filter_map(part).collect()
}

/// A day of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestedDay {
    /// The date, such as `Thursday, 5 March 2026`.
    pub name: String,
    /// The slots: the start, and both times as clocks show them.
    pub slots: Vec<(Timestamp, String)>,
    /// Why no slot is offered.
    pub reasons: Vec<String>,
    /// The number of other reasons.
    pub more: usize,
    /// Whether there are no more reasons than these.
    pub is_explained: bool,
}

impl Tested {
    /// The days, up to the one with the last slot that is shown.
    fn days(&self, zone: Zone) -> Vec<TestedDay> {
        let mut left = SLOTS_MAX;
        let mut days = Vec::new();
        for (date, part) in days_of(self.window, zone) {
            let own: Vec<Timestamp> = self.slots.iter().copied().filter(|slot| part.contains(*slot)).collect();
            if left == 0 && !own.is_empty() {
                break;
            }
            let name = Translator::english().date(date);
            // A clock that goes back shows some times twice.
            let changes = Day::of(date, zone).is_some_and(|day| day.change().is_some());
            let text = |slot: Timestamp| match (self.slot_text(slot, zone), changes) {
                (text, true) => format!("{text} ({})", offset_label(zone.offset_at(slot))),
                (text, false) => text,
            };
            let slots: Vec<_> = own.iter().take(left).map(|slot| (*slot, text(*slot))).collect();
            left -= slots.len();
            let (reasons, more) = if own.is_empty() { self.reasons(part, zone) } else { (Vec::new(), 0) };
            let is_explained = !self.incomplete.iter().any(|span| span.overlaps(part));
            days.push(TestedDay { name, slots, reasons, more, is_explained });
        }
        days
    }

    /// What keeps time in that part of a day from being offered, and the number of other reasons.
    fn reasons(&self, part: Span, zone: Zone) -> (Vec<String>, usize) {
        let found = self.hindrances.iter().filter_map(|hindrance| Some((hindrance, hindrance.why.span.clip(part)?)));
        let more = found.clone().count().saturating_sub(TEST_REASONS_MAX);
        let first = found.take(TEST_REASONS_MAX);
        (first.map(|(hindrance, span)| hindrance.sentence(span, zone)).collect(), more)
    }

    fn slot_text(&self, start: Timestamp, zone: Zone) -> String {
        let end = start + SignedDuration::minutes(self.minutes.into());
        format!("{}–{}", clock(start, zone), clock(end, zone))
    }

    fn summary(&self) -> String {
        let number = self.slots.len();
        match number {
            0 => "No slot is offered.".to_owned(),
            1 => "1 slot is offered.".to_owned(),
            _ => format!("{} slots are offered.", grouped(u64::try_from(number).unwrap_or(u64::MAX))),
        }
    }

    fn is_cut(&self) -> bool {
        self.slots.len() > SLOTS_MAX
    }

    /// Why a time that is free is not in the list.
    fn note(&self, at: &AskedTime, zone: Zone) -> Option<String> {
        if !at.hindrances.is_empty() || self.slots.binary_search(&at.span.start()).is_ok() {
            return None;
        }
        let first = event_time(self.window, None, zone);
        Some(format!(
            "It is not in the list: the slots there are within the time asked for ({first}), and one begins every {} \
             minutes from its start.",
            self.step
        ))
    }
}

/// The page that tests what is offered.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "availability_test.html")]
pub struct TesterPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The agents and calendars to choose from.
    pub candidates: &'a [Candidate],
    /// Whether there are more than these.
    pub has_more: bool,
    /// The zone of the times.
    pub zone: Zone,
    /// When the page is shown, for the offsets of the zones.
    pub now: Timestamp,
    /// What was typed.
    pub given: TestGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
    /// The answer, if something was asked.
    pub tested: Option<&'a Tested>,
}

impl<'a> TesterPage<'a> {
    fn agents(&self) -> Vec<&'a Candidate> {
        self.candidates.iter().filter(|candidate| candidate.is_agent).collect()
    }

    fn calendars(&self) -> Vec<&'a Candidate> {
        self.candidates.iter().filter(|candidate| !candidate.is_agent).collect()
    }

    fn who_problem(&self) -> Option<&'a str> {
        self.problems.of("who")
    }

    fn minutes(&self) -> Field<'a> {
        self.number("minutes", "Length of a slot in minutes", self.given.minutes)
    }

    fn step(&self) -> Field<'a> {
        let field = self.number("step", "Minutes from one slot to the next", self.given.step);
        Field { required: false, ..field }
    }

    fn number(&self, name: &'static str, label: &'static str, value: &'a str) -> Field<'a> {
        Field { kind: "number", max: None, ..Field::text(name, label, value, 0) }.checked(self.problems)
    }

    fn start(&self) -> Field<'a> {
        self.time("start_time", "From", self.given.start)
    }

    fn end(&self) -> Field<'a> {
        self.time("end_time", "To", self.given.end)
    }

    fn at(&self) -> Field<'a> {
        let field = self.time("at", "Explain the slot at", self.given.at);
        Field { required: false, hint: Some("If a clock shows this time twice, the first one counts."), ..field }
    }

    fn time(&self, name: &'static str, label: &'static str, value: &'a str) -> Field<'a> {
        Field { kind: "datetime-local", max: None, ..Field::text(name, label, value, 0) }.checked(self.problems)
    }

    fn zone_field(&self) -> ZoneField<'a> {
        ZoneField::new(Some(self.zone.name()), self.now, self.problems.of("timezone"))
    }

    fn when(&self, span: &Span) -> String {
        event_time(*span, None, self.zone)
    }

    fn days(&self, tested: &Tested) -> Vec<TestedDay> {
        tested.days(self.zone)
    }

    fn sentences(&self, at: &AskedTime) -> Vec<String> {
        let first = at.hindrances.iter().take(TEST_REASONS_MAX);
        first.map(|hindrance| hindrance.sentence(hindrance.why.span, self.zone)).collect()
    }

    fn are_more(&self, at: &AskedTime) -> bool {
        at.has_more || at.hindrances.len() > TEST_REASONS_MAX
    }

    fn note(&self, tested: &Tested, at: &AskedTime) -> Option<String> {
        tested.note(at, self.zone)
    }

    fn slots_max(&self) -> usize {
        SLOTS_MAX
    }

    fn chosen_max(&self) -> usize {
        CHOSEN_MAX
    }

    fn days_max(&self) -> i64 {
        TEST_DAYS_MAX
    }
}

in_english!(TesterPage<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::calendar::Obstacle;

    fn span(start: &str, end: &str) -> Span {
        Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
    }

    fn tested(window: Span, slots: Vec<Timestamp>, hindrances: Vec<Hindrance>) -> Tested {
        let (incomplete, warnings) = (Vec::new(), Vec::new());
        Tested { window, minutes: 30, step: 30, slots, hindrances, incomplete, warnings, at: None }
    }

    #[rstest]
    #[case::usual("2026-03-02T09:00:00Z", "2026-03-04T09:00:00Z", "Europe/Berlin", 3)]
    #[case::until_midnight("2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z", "UTC", 1)]
    #[case::midnight_is_repeated("2026-10-31T12:00:00Z", "2026-11-02T12:00:00Z", "America/Havana", 3)]
    #[case::a_date_is_skipped("2011-12-29T10:00:00Z", "2011-12-31T10:00:00Z", "Pacific/Apia", 2)]
    fn a_window_has_the_days_that_it_touches(
        #[case] start: &str,
        #[case] end: &str,
        #[case] zone: &str,
        #[case] days: usize,
    ) {
        let window = span(start, end);
        let parts = days_of(window, zone.parse().unwrap());
        assert_eq!(parts.len(), days, "{parts:?}");
        assert_eq!((parts[0].1.start(), parts[days - 1].1.end()), (window.start(), window.end()));
        assert!(parts.windows(2).all(|pair| pair[0].1.end() == pair[1].1.start()), "{parts:?}");
    }

    #[test]
    fn a_day_without_slots_says_why() {
        let window = span("2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z");
        let closed = span("2026-03-01T17:00:00Z", "2026-03-04T09:00:00Z");
        let why = WhyNot { obstacle: Obstacle::ClosedHours, span: closed };
        let hindrances = vec![Hindrance { who: "Room 4".to_owned(), why }; 12];
        let slot = "2026-03-03T23:45:00Z".parse().unwrap();
        let days = tested(window, vec![slot], hindrances).days(Zone::UTC);
        let [monday, tuesday] = days.as_slice() else { panic!("{days:?}") };
        assert_eq!((monday.slots.len(), monday.reasons.len(), monday.more), (0, 10, 2));
        let reason = "Room 4: The time is outside the working hours: Monday, 2 March 2026, 00:00 – Tuesday, 3 March \
                      2026, 00:00.";
        assert_eq!(monday.reasons[0], reason);
        assert_eq!(tuesday.slots, [(slot, "23:45–00:15".to_owned())]);
        assert!(tuesday.reasons.is_empty());
    }

    #[test]
    fn a_day_whose_reasons_are_cut_says_so() {
        let window = span("2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z");
        let incomplete = vec![span("2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z")];
        let found = Tested { incomplete, ..tested(window, Vec::new(), Vec::new()) };
        let known: Vec<bool> = found.days(Zone::UTC).iter().map(|day| day.is_explained).collect();
        assert_eq!(known, [true, false]);
    }

    #[test]
    fn slots_of_a_repeated_hour_have_their_offsets() {
        let window = span("2026-10-25T00:00:00Z", "2026-10-26T10:00:00Z");
        let slots = ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-26T08:00:00Z"];
        let slots = slots.map(|slot| slot.parse().unwrap()).to_vec();
        let days = tested(window, slots, Vec::new()).days("Europe/Berlin".parse().unwrap());
        let texts: Vec<&str> = days.iter().flat_map(|day| &day.slots).map(|(_, text)| &**text).collect();
        assert_eq!(texts, ["02:00–02:30 (UTC+2)", "02:00–02:30 (UTC+1)", "09:00–09:30"]);
    }

    #[test]
    fn only_the_first_slots_are_shown() {
        let window = span("2026-03-02T00:00:00Z", "2026-03-16T00:00:00Z");
        let at = |half: i64| window.start() + SignedDuration::minutes(30 * half);
        let found = tested(window, (0..14 * 48).map(at).collect(), Vec::new());
        let days = found.days(Zone::UTC);
        let numbers: Vec<usize> = days.iter().map(|day| day.slots.len()).collect();
        assert_eq!((numbers, found.is_cut()), (vec![48, 48, 48, 48, 8], true));
        assert_eq!(found.summary(), "672 slots are offered.");
        let fits = tested(window, (0..200).map(at).collect(), Vec::new());
        assert_eq!((fits.is_cut(), fits.days(Zone::UTC).len()), (false, 14), "days without slots are listed too");
    }

    #[test]
    fn a_free_time_that_is_no_slot_is_explained() {
        let window = span("2026-03-02T09:00:00Z", "2026-03-02T12:00:00Z");
        let found = tested(window, vec![window.start()], Vec::new());
        let free = |span| AskedTime { span, hindrances: Vec::new(), has_more: false };
        let note = |start, end| found.note(&free(span(start, end)), Zone::UTC);
        assert_eq!(note("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z"), None);
        let note = note("2026-03-02T09:10:00Z", "2026-03-02T09:40:00Z").unwrap();
        assert!(note.contains("Monday, 2 March 2026, 09:00–12:00") && note.contains("every 30 minutes"), "{note}");
    }
}
