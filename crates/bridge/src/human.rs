//! The busy times of connected human calendars. Their age decides how far Kalends relies on them.

use std::fmt;

use kalends_availability::BusySet;
use kalends_kernel::{CalendarId, HumanSource, Revision};
use kalends_time::{SignedDuration, Span, Timestamp};

/// Busy times older than this are stale.
pub const STALE_AFTER: SignedDuration = SignedDuration::hours(1);

/// Busy times older than this are not used.
pub const UNAVAILABLE_AFTER: SignedDuration = SignedDuration::hours(24);

/// The busy times of one source, as it was last read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HumanBusy {
    /// The source.
    pub source: HumanSource,
    /// Incremented whenever `spans`, `copies` or `covers` differ from the previous reading.
    pub revision: Revision,
    /// When it was last read in full; `None` before the first reading.
    pub read_at: Option<Timestamp>,
    /// The range that was read. Nothing is known outside it.
    pub covers: Span,
    /// The busy time inside [`covers`](Self::covers). It has no meaning before the first reading.
    pub spans: BusySet,
    /// The busy time inside [`covers`](Self::covers) of copies that Kalends published, each with the calendar of the
    /// event.
    pub copies: Vec<(CalendarId, Span)>,
}

impl HumanBusy {
    /// The busy time inside `window`, except copies of events of the calendars `own`.
    fn busy(&self, own: &[CalendarId], window: Span) -> BusySet {
        let spans = self.spans.clip(window);
        let others = self.copies.iter().filter(|(calendar, _)| !own.contains(calendar));
        let others: Vec<Span> = others.filter_map(|(_, span)| span.clip(window)).collect();
        if others.is_empty() { spans } else { spans.union(&BusySet::from_unsorted(others)) }
    }
}

/// How much is known of the human busy times behind a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AvailabilityState {
    /// Everything is known, and none of it is older than [`STALE_AFTER`]. This is also the state if no human calendar
    /// is connected.
    Complete,
    /// Everything is known, but some of it is older than [`STALE_AFTER`].
    Stale,
    /// The busy times of some source are not known for all of the range.
    Partial,
    /// Sources are connected, but none has usable data for any part of the range.
    Unavailable,
}

impl AvailabilityState {
    /// The name that responses show.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Stale => "stale",
            Self::Partial => "partial",
            Self::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for AvailabilityState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A warning that the human busy times behind a response are stale or incomplete.
///
/// Displayed as a sentence that counts connected human calendars but names neither them nor accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Warning {
    /// The kind.
    pub about: WarningKind,
    /// The number of connected calendars that it concerns; at least one.
    pub calendars: usize,
    /// Whether the time in question is offered anyway, because the request set `allow_stale`.
    pub allowed: bool,
}

/// The kinds of warnings about human busy times, in the order in which they are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningKind {
    /// They have never been read.
    Unread,
    /// They are older than [`UNAVAILABLE_AFTER`].
    Unavailable,
    /// They are older than [`STALE_AFTER`].
    Stale,
    /// They are usable, but not known for all of the range.
    Uncovered,
}

impl WarningKind {
    const ALL: [Self; 4] = [Self::Unread, Self::Unavailable, Self::Stale, Self::Uncovered];
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (many, s) = if self.calendars == 1 { ("has", "") } else { ("have", "s") };
        write!(f, "{} connected human calendar{s} ", self.calendars)?;
        match self.about {
            WarningKind::Unread => write!(f, "{many} not been read yet")?,
            WarningKind::Unavailable => write!(f, "{many} not been read for more than 24 hours")?,
            WarningKind::Stale => write!(f, "{many} not been read for more than 1 hour")?,
            WarningKind::Uncovered => write!(f, "{many} not been read for all of the range")?,
        }
        f.write_str(match (self.about, self.allowed) {
            (_, false) => ": that time is not offered, unless allow_stale=true",
            (WarningKind::Stale, true) => ": the last known busy times are used",
            (_, true) => ": that time is offered as if it were free",
        })
    }
}

/// The combined human busy times of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanTime {
    /// The time within the range that is not offered, because it is busy or not known well enough.
    pub blocked: BusySet,
    /// How much is known.
    pub state: AvailabilityState,
    /// Why the busy times are stale or incomplete; at most one warning of each kind.
    pub warnings: Vec<Warning>,
    /// From this instant on, the result differs even if nothing is read, because a source becomes stale or
    /// too old. `None` if no source will age further.
    pub valid_until: Option<Timestamp>,
}

impl HumanTime {
    /// Combines the busy times of all sources in `window` as of `now`.
    ///
    /// A source blocks according to its age. A source that is exactly [`STALE_AFTER`] old is still fresh,
    /// and one that is exactly [`UNAVAILABLE_AFTER`] old is still stale:
    ///
    /// | | without `allow_stale` | with `allow_stale` |
    /// |---|---|---|
    /// | fresh | its spans block | its spans block |
    /// | stale | the whole window blocks | its spans block |
    /// | never read, or too old | the whole window blocks | nothing blocks |
    /// | the time outside `covers` | blocks | does not block |
    ///
    /// A source that is too old is treated as one that was never read. A source read in the future, by
    /// another clock, is fresh. Without sources, everything is known.
    ///
    /// Copies of events of the calendars `own` do not block: on those calendars, the events themselves do. Copies of
    /// other events block like all busy times. What is known does not depend on copies.
    #[must_use]
    pub fn of(sources: &[HumanBusy], own: &[CalendarId], window: Span, now: Timestamp, allow_stale: bool) -> Self {
        let looks: Vec<Look> = sources.iter().map(|source| Look::at(source, window, now)).collect();
        let blocked: Vec<BusySet> =
            sources.iter().zip(&looks).map(|(source, look)| look.blocks(source, own, window, allow_stale)).collect();
        Self {
            blocked: BusySet::union_all(&blocked),
            state: state(&looks),
            warnings: warnings(&looks, allow_stale),
            valid_until: sources.iter().zip(&looks).filter_map(|(source, look)| look.ages_at(source)).min(),
        }
    }
}

/// How far one source can be used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Unread,
    Unavailable,
    Usable { stale: bool, covered: Covered },
}

/// How much of a window is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    All,
    Some,
    Nothing,
}

impl Look {
    fn at(source: &HumanBusy, window: Span, now: Timestamp) -> Self {
        let Some(read_at) = source.read_at else { return Self::Unread };
        let age = now - read_at;
        if age > UNAVAILABLE_AFTER {
            return Self::Unavailable;
        }
        let covered = match source.covers.clip(window) {
            Some(known) if known == window => Covered::All,
            Some(_) => Covered::Some,
            None => Covered::Nothing,
        };
        Self::Usable { stale: age > STALE_AFTER, covered }
    }

    /// The time of the window that the source blocks.
    fn blocks(self, source: &HumanBusy, own: &[CalendarId], window: Span, allow_stale: bool) -> BusySet {
        match self {
            Self::Usable { stale, .. } if allow_stale || !stale => {
                let known = source.covers.clip(window);
                let busy = known.map_or(BusySet::EMPTY, |known| source.busy(own, known));
                if allow_stale { busy } else { busy.union(&BusySet::from(source.covers).complement(window)) }
            }
            _ if allow_stale => BusySet::EMPTY,
            _ => window.into(),
        }
    }

    fn is(self, kind: WarningKind) -> bool {
        match (kind, self) {
            (WarningKind::Unread, Self::Unread) | (WarningKind::Unavailable, Self::Unavailable) => true,
            (WarningKind::Stale, Self::Usable { stale, .. }) => stale,
            (WarningKind::Uncovered, Self::Usable { covered, .. }) => covered != Covered::All,
            _ => false,
        }
    }

    /// When the source becomes stale or, if it is stale already, unavailable.
    fn ages_at(self, source: &HumanBusy) -> Option<Timestamp> {
        /// A source ages one microsecond after it reaches a limit.
        const TICK: SignedDuration = SignedDuration::micros(1);
        let Self::Usable { stale, .. } = self else { return None };
        source.read_at.map(|read_at| read_at + if stale { UNAVAILABLE_AFTER } else { STALE_AFTER } + TICK)
    }
}

fn state(looks: &[Look]) -> AvailabilityState {
    let is_partly_known = |look: &Look| matches!(look, Look::Usable { covered: Covered::All | Covered::Some, .. });
    let is_fully_known = |look: &Look| matches!(look, Look::Usable { covered: Covered::All, .. });
    if !looks.is_empty() && !looks.iter().any(is_partly_known) {
        AvailabilityState::Unavailable
    } else if !looks.iter().all(is_fully_known) {
        AvailabilityState::Partial
    } else if looks.iter().any(|look| look.is(WarningKind::Stale)) {
        AvailabilityState::Stale
    } else {
        AvailabilityState::Complete
    }
}

fn warnings(looks: &[Look], allowed: bool) -> Vec<Warning> {
    let count = |kind| looks.iter().filter(|look| look.is(kind)).count();
    let warning = |about| Warning { about, calendars: count(about), allowed };
    WarningKind::ALL.into_iter().map(warning).filter(|warning| warning.calendars > 0).collect()
}

#[cfg(test)]
mod tests {
    use kalends_availability::testing::{MINUTES, at, busy_set, minutes, span};
    use proptest::prelude::*;
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_772_323_200_000_000 + 100 * 3_600_000_000);

    /// Read `age` before now, covering the minutes `covers`, busy from 20 to 30.
    fn source(age: Option<SignedDuration>, covers: (i64, i64)) -> HumanBusy {
        HumanBusy {
            source: HumanSource(7),
            revision: Revision(1),
            read_at: age.map(|age| NOW - age),
            covers: minutes(covers.0, covers.1),
            spans: minutes(20, 30).into(),
            copies: Vec::new(),
        }
    }

    fn calendar(number: u8) -> CalendarId {
        CalendarId::from_uuid(Uuid::from_u128(number.into()))
    }

    fn kinds(time: &HumanTime) -> Vec<(WarningKind, usize)> {
        time.warnings.iter().map(|warning| (warning.about, warning.calendars)).collect()
    }

    const MINUTE: SignedDuration = SignedDuration::minutes(1);
    const TICK: SignedDuration = SignedDuration::micros(1);
    const HOUR_AND: SignedDuration = SignedDuration::micros(3_600_000_001);
    const DAY_AND: SignedDuration = SignedDuration::micros(86_400_000_001);
    use AvailabilityState::{Complete, Partial, Stale, Unavailable};
    use WarningKind as Kind;

    /// One source and the window of minutes 0 to 60: the blocked time without and with `allow_stale`.
    #[rstest]
    #[case::fresh(Some(MINUTE), (0, 60), Complete, &[], &[(20, 30)], &[(20, 30)])]
    #[case::read_in_the_future(Some(SignedDuration::minutes(-1)), (0, 60), Complete, &[], &[(20, 30)], &[(20, 30)])]
    #[case::exactly_an_hour(Some(STALE_AFTER), (0, 60), Complete, &[], &[(20, 30)], &[(20, 30)])]
    #[case::over_an_hour(Some(HOUR_AND), (0, 60), Stale, &[Kind::Stale], &[(0, 60)], &[(20, 30)])]
    #[case::exactly_a_day(Some(UNAVAILABLE_AFTER), (0, 60), Stale, &[Kind::Stale], &[(0, 60)], &[(20, 30)])]
    #[case::over_a_day(Some(DAY_AND), (0, 60), Unavailable, &[Kind::Unavailable], &[(0, 60)], &[])]
    #[case::never(None, (0, 60), Unavailable, &[Kind::Unread], &[(0, 60)], &[])]
    #[case::covers_more(Some(MINUTE), (-60, 120), Complete, &[], &[(20, 30)], &[(20, 30)])]
    #[case::covers_a_part(Some(MINUTE), (10, 25), Partial, &[Kind::Uncovered], &[(0, 10), (20, 60)], &[(20, 25)])]
    #[case::covers_nothing(Some(MINUTE), (60, 90), Unavailable, &[Kind::Uncovered], &[(0, 60)], &[])]
    #[case::stale_and_a_part(Some(HOUR_AND), (0, 59), Partial, &[Kind::Stale, Kind::Uncovered], &[(0, 60)], &[(20, 30)])]
    #[case::too_old_to_cover_a_part(Some(DAY_AND), (0, 59), Unavailable, &[Kind::Unavailable], &[(0, 60)], &[])]
    fn one_source(
        #[case] age: Option<SignedDuration>,
        #[case] covers: (i64, i64),
        #[case] state: AvailabilityState,
        #[case] warned: &[WarningKind],
        #[case] strict: &[(i64, i64)],
        #[case] lenient: &[(i64, i64)],
    ) {
        for (allow_stale, blocked) in [(false, strict), (true, lenient)] {
            let time = HumanTime::of(&[source(age, covers)], &[], minutes(0, 60), NOW, allow_stale);
            let blocked: BusySet = blocked.iter().map(|(start, end)| minutes(*start, *end)).collect();
            assert_eq!((time.state, &time.blocked), (state, &blocked));
            assert_eq!(kinds(&time), warned.iter().map(|kind| (*kind, 1)).collect::<Vec<_>>());
            assert!(time.warnings.iter().all(|warning| warning.allowed == allow_stale));
        }
    }

    #[rstest]
    #[case::none(&[], Complete, &[])]
    #[case::all_fresh(&[Some(MINUTE), Some(MINUTE)], Complete, &[])]
    #[case::one_stale(&[Some(MINUTE), Some(HOUR_AND)], Stale, &[(Kind::Stale, 1)])]
    #[case::all_stale(&[Some(HOUR_AND), Some(HOUR_AND)], Stale, &[(Kind::Stale, 2)])]
    #[case::one_missing(&[Some(MINUTE), None], Partial, &[(Kind::Unread, 1)])]
    #[case::one_too_old(&[Some(MINUTE), Some(DAY_AND)], Partial, &[(Kind::Unavailable, 1)])]
    #[case::one_stale_one_missing(&[Some(HOUR_AND), None], Partial, &[(Kind::Unread, 1), (Kind::Stale, 1)])]
    #[case::none_usable(&[None, Some(DAY_AND), None], Unavailable, &[(Kind::Unread, 2), (Kind::Unavailable, 1)])]
    fn several_sources(
        #[case] ages: &[Option<SignedDuration>],
        #[case] state: AvailabilityState,
        #[case] warned: &[(WarningKind, usize)],
    ) {
        let sources: Vec<HumanBusy> = ages.iter().map(|age| source(*age, (0, 60))).collect();
        let time = HumanTime::of(&sources, &[], minutes(0, 60), NOW, false);
        assert_eq!((time.state, kinds(&time)), (state, warned.to_vec()));
        assert_eq!(time.blocked.is_empty(), sources.is_empty());
    }

    #[test]
    fn without_sources_nothing_ages_and_nothing_blocks() {
        let time = HumanTime::of(&[], &[], minutes(0, 60), NOW, false);
        assert_eq!((time.blocked, time.valid_until), (BusySet::EMPTY, None));
    }

    /// A source that is busy from 20 to 30, with a copy of an event of the first calendar from 40 to 50.
    #[rstest]
    #[case::own(&[1], &[(20, 30)])]
    #[case::another(&[2], &[(20, 30), (40, 50)])]
    #[case::own_and_another(&[2, 1], &[(20, 30)])]
    #[case::none(&[], &[(20, 30), (40, 50)])]
    fn only_copies_of_other_calendars_block(#[case] own: &[u8], #[case] blocked: &[(i64, i64)]) {
        let own: Vec<CalendarId> = own.iter().copied().map(calendar).collect();
        let copied = HumanBusy { copies: vec![(calendar(1), minutes(40, 50))], ..source(Some(MINUTE), (0, 60)) };
        for allow_stale in [false, true] {
            let time = HumanTime::of(std::slice::from_ref(&copied), &own, minutes(0, 60), NOW, allow_stale);
            let expected: BusySet = blocked.iter().map(|(start, end)| minutes(*start, *end)).collect();
            assert_eq!((time.state, time.blocked), (Complete, expected));
        }
    }

    #[rstest]
    #[case::fresh(&[Some(MINUTE)], Some(NOW - MINUTE + STALE_AFTER + TICK))]
    #[case::about_to_be_stale(&[Some(STALE_AFTER)], Some(NOW + TICK))]
    #[case::stale(&[Some(HOUR_AND)], Some(NOW - HOUR_AND + UNAVAILABLE_AFTER + TICK))]
    #[case::gone(&[Some(DAY_AND), None], None)]
    #[case::the_next_of_two(&[Some(HOUR_AND), Some(MINUTE), None], Some(NOW - MINUTE + STALE_AFTER + TICK))]
    fn valid_until(#[case] ages: &[Option<SignedDuration>], #[case] until: Option<Timestamp>) {
        let sources: Vec<HumanBusy> = ages.iter().map(|age| source(*age, (0, 60))).collect();
        assert_eq!(HumanTime::of(&sources, &[], minutes(0, 60), NOW, false).valid_until, until);
    }

    #[rstest]
    #[case(
        Kind::Unread,
        1,
        false,
        "1 connected human calendar has not been read yet: that time is not offered, unless allow_stale=true"
    )]
    #[case(
        Kind::Unavailable,
        2,
        true,
        "2 connected human calendars have not been read for more than 24 hours: that time is offered as if it were free"
    )]
    #[case(
        Kind::Stale,
        2,
        true,
        "2 connected human calendars have not been read for more than 1 hour: the last known busy times are used"
    )]
    #[case(
        Kind::Uncovered,
        1,
        true,
        "1 connected human calendar has not been read for all of the range: that time is offered as if it were free"
    )]
    fn warnings_are_sentences(
        #[case] about: Kind,
        #[case] calendars: usize,
        #[case] allowed: bool,
        #[case] expected: &str,
    ) {
        assert_eq!(Warning { about, calendars, allowed }.to_string(), expected);
    }

    #[test]
    fn states_have_their_names() {
        let names = [Complete, Stale, Partial, Unavailable].map(|state| state.to_string());
        assert_eq!(names, ["complete", "stale", "partial", "unavailable"]);
    }

    fn sources() -> impl Strategy<Value = Vec<HumanBusy>> {
        let age = prop_oneof![Just(None), (-60..30 * 60i64).prop_map(|minutes| Some(SignedDuration::minutes(minutes)))];
        let covers = prop_oneof![Just(minutes(0, MINUTES)), span()];
        let copies = prop::collection::vec(((0..4u8).prop_map(calendar), span()), 0..4);
        let source = (age, covers, busy_set(), copies).prop_map(|(age, covers, spans, copies)| HumanBusy {
            source: HumanSource(1),
            revision: Revision(1),
            read_at: age.map(|age| NOW - age),
            covers,
            spans,
            copies,
        });
        prop::collection::vec(source, 0..5)
    }

    fn own() -> impl Strategy<Value = Vec<CalendarId>> {
        prop::collection::vec((0..4u8).prop_map(calendar), 0..3)
    }

    proptest! {
        /// A copy of an event of an own calendar never blocks, and a copy of another event blocks like a busy time.
        #[test]
        fn copies_of_own_calendars_never_block(sources in sources(), own in own(), window in span(), allow: bool) {
            let without = |source: &HumanBusy| {
                let others = source.copies.iter().filter(|(calendar, _)| !own.contains(calendar)).map(|(_, span)| *span);
                let spans = source.spans.union(&BusySet::from_unsorted(others.collect()));
                HumanBusy { spans, copies: Vec::new(), ..source.clone() }
            };
            let merged: Vec<HumanBusy> = sources.iter().map(without).collect();
            let time = HumanTime::of(&sources, &own, window, NOW, allow);
            prop_assert_eq!(time, HumanTime::of(&merged, &[], window, NOW, allow));
        }

        /// How much is known of human busy times does not depend on copies.
        #[test]
        fn what_is_known_does_not_depend_on_copies(sources in sources(), own in own(), window in span(), allow: bool) {
            let bare: Vec<HumanBusy> =
                sources.iter().map(|source| HumanBusy { copies: Vec::new(), ..source.clone() }).collect();
            let time = HumanTime::of(&sources, &own, window, NOW, allow);
            let expected = HumanTime::of(&bare, &[], window, NOW, allow);
            prop_assert_eq!((time.state, time.valid_until), (expected.state, expected.valid_until));
            prop_assert_eq!(time.warnings, expected.warnings);
        }

        /// The busy time of human calendars stays the same up to `valid_until`, and changes then.
        #[test]
        fn the_result_changes_exactly_at_valid_until(sources in sources(), window in span(), allow: bool, part in 0..1_000i64) {
            let time = HumanTime::of(&sources, &[], window, NOW, allow);
            let far = NOW + SignedDuration::days(400);
            let until = time.valid_until.unwrap_or(far);
            prop_assert!(until > NOW);
            let between = NOW + SignedDuration::micros((until - NOW).as_micros() / 1_000 * part);
            for later in [between, until - TICK] {
                let then = HumanTime::of(&sources, &[], window, later, allow);
                prop_assert_eq!(&then, &time);
            }
            if let Some(until) = time.valid_until {
                prop_assert_ne!(HumanTime::of(&sources, &[], window, until, allow), time);
            }
        }

        /// Allowing stale calendars offers no less time, and reports the same state.
        #[test]
        fn allow_stale_offers_no_less_and_keeps_the_state(sources in sources(), window in span()) {
            let strict = HumanTime::of(&sources, &[], window, NOW, false);
            let lenient = HumanTime::of(&sources, &[], window, NOW, true);
            prop_assert_eq!(lenient.blocked.union(&strict.blocked), strict.blocked.clone());
            prop_assert_eq!(&strict.blocked.clip(window), &strict.blocked);
            prop_assert_eq!(strict.state, lenient.state);
            prop_assert_eq!(strict.state == Complete, strict.warnings.is_empty());
            if strict.state == Complete {
                prop_assert_eq!(strict.blocked, lenient.blocked);
            }
        }

        /// A minute is blocked exactly if the busy times of a human calendar, or its age, block it.
        #[test]
        fn each_minute_is_blocked_iff_a_source_blocks_it(sources in sources(), own in own(), allow: bool) {
            let window = minutes(0, MINUTES);
            let blocked = HumanTime::of(&sources, &own, window, NOW, allow).blocked;
            for minute in 0..MINUTES {
                let instant = at(minute);
                let blocks = |source: &HumanBusy| {
                    let copies = source.copies.iter().filter(|(calendar, _)| !own.contains(calendar));
                    let mut spans = source.spans.spans().iter().chain(copies.map(|(_, span)| span));
                    let busy = spans.any(|span| span.contains(instant));
                    let known = source.covers.contains(instant);
                    match source.read_at.map(|read_at| NOW - read_at) {
                        Some(age) if age <= STALE_AFTER => if known { busy } else { !allow },
                        Some(age) if age <= UNAVAILABLE_AFTER && allow => known && busy,
                        _ => !allow,
                    }
                };
                prop_assert_eq!(blocked.overlaps(minutes(minute, minute + 1)), sources.iter().any(blocks));
            }
        }
    }
}
