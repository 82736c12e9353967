//! Why a time is not offered.

use kalends_time::Span;

use crate::{BusySet, Rules, rules::Outside};

/// One busy time, without buffers. `B` is the caller's kind of busy time, such as event or hold. [`explain`] has an
/// example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block<B> {
    /// The kind.
    pub kind: B,
    /// The time that it takes.
    pub span: Span,
}

/// The rules and the busy times of one calendar. `K` is the caller's key of a calendar, such as a number or a name.
/// [`explain`] has an example.
#[derive(Debug, Clone, Copy)]
pub struct CalendarTime<'a, K, B> {
    /// The calendar.
    pub calendar: K,
    /// Its rules.
    pub rules: &'a Rules,
    /// Everything that blocks within [`Rules::reads`] of the time in question, in any order.
    pub blocks: &'a [Block<B>],
}

/// Why a time is not offered. [`explain`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasonKind<B> {
    /// A block of this kind overlaps it.
    Block(B),
    /// It is within the buffer before or after something that blocks.
    Buffer,
    /// It is outside the hours of the weekday.
    OutsideWorkingHours,
    /// An override closes it, although the hours of the weekday would not.
    Override,
    /// It is outside the range in which anything is offered.
    OutsideRange,
}

/// One reason why a time is not offered. [`explain`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reason<K, B> {
    /// The calendar whose rules or blocks are the reason; `None` if the time is outside the range.
    pub calendar: Option<K>,
    /// The kind.
    pub kind: ReasonKind<B>,
    /// For a block, its whole span. For every other kind, the part inside the time in question.
    pub span: Span,
}

/// Every reason why `query` is not offered as a slot, ordered by start and then by calendar. Empty if it
/// is offered.
///
/// `query` is offered if it is inside `allowed` and free on all calendars by the rules of each. `allowed` is the range
/// of a query, or the time that the notice and the window of a booking page leave. The slot grid is not considered.
/// Duplicate reasons are returned once.
///
/// Takes *O*(*b* log *b* + *d*) for *b* blocks and the *d* days of `query`.
///
/// ```
/// use kalends_availability::{Block, CalendarTime, ReasonKind, Rules, SignedDuration, Span, Timestamp, Zone, explain};
///
/// let minutes = |start, end| {
///     let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
///     Span::new(at(start), at(end))
/// };
/// let rules = Rules::new(Zone::UTC).with_buffers(SignedDuration::ZERO, SignedDuration::minutes(15))?;
/// let meeting = Block { kind: "meeting", span: minutes(60, 90)? };
/// let time = CalendarTime { calendar: "Ada", rules: &rules, blocks: &[meeting] };
///
/// let reasons = explain(&[time], minutes(80, 125)?, minutes(0, 120)?);
/// let reasons: Vec<_> = reasons.iter().map(|reason| (reason.calendar, reason.kind, reason.span)).collect();
/// assert_eq!(
///     reasons,
///     [
///         (Some("Ada"), ReasonKind::Block("meeting"), minutes(60, 90)?),
///         (Some("Ada"), ReasonKind::Buffer, minutes(90, 105)?),
///         (None, ReasonKind::OutsideRange, minutes(120, 125)?),
///     ]
/// );
/// assert!(explain(&[time], minutes(105, 120)?, minutes(0, 120)?).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain<K: Copy + Ord, B: Copy + Ord>(
    calendars: &[CalendarTime<'_, K, B>],
    query: Span,
    allowed: Span,
) -> Vec<Reason<K, B>> {
    let mut reasons: Vec<Reason<K, B>> =
        reasons(None, ReasonKind::OutsideRange, &BusySet::from(allowed).complement(query)).collect();
    for time in calendars {
        for block in time.blocks {
            reasons.extend(time.because_of(*block, query));
        }
        let Outside { by_weekday, by_override } = time.rules.outside_by_cause(query);
        reasons.extend(time.closed(ReasonKind::OutsideWorkingHours, &by_weekday));
        reasons.extend(time.closed(ReasonKind::Override, &by_override));
    }
    reasons.sort_unstable_by_key(|reason| (reason.span.start(), reason.calendar, reason.kind, reason.span.end()));
    reasons.dedup();
    reasons
}

impl<K: Copy, B: Copy> CalendarTime<'_, K, B> {
    /// The block itself and its buffers, as far as they meet `query`.
    fn because_of(&self, block: Block<B>, query: Span) -> impl Iterator<Item = Reason<K, B>> + use<K, B> {
        let Block { kind, span } = block;
        let buffers = [
            Span::new(span.start() - self.rules.buffer_before(), span.start()),
            Span::new(span.end(), span.end() + self.rules.buffer_after()),
        ];
        let calendar = Some(self.calendar);
        let itself = span.overlaps(query).then_some(Reason { calendar, kind: ReasonKind::Block(kind), span });
        // A buffer of zero is not a span.
        let buffers = buffers.into_iter().filter_map(move |buffer| buffer.ok()?.clip(query));
        itself.into_iter().chain(buffers.map(move |span| Reason { calendar, kind: ReasonKind::Buffer, span }))
    }

    fn closed<'b>(
        &self,
        kind: ReasonKind<B>,
        closed: &'b BusySet,
    ) -> impl Iterator<Item = Reason<K, B>> + use<'b, K, B> {
        reasons(Some(self.calendar), kind, closed)
    }
}

fn reasons<K: Copy, B: Copy>(
    calendar: Option<K>,
    kind: ReasonKind<B>,
    spans: &BusySet,
) -> impl Iterator<Item = Reason<K, B>> + use<'_, K, B> {
    spans.spans().iter().map(move |span| Reason { calendar, kind, span: *span })
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::span_near;
    use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{
        Hours, Override, Week, count_free_slots,
        testing::{rules_and_moment, rules_window_blocks},
    };

    /// Kinds of busy times, in the order in which they are declared.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Kind {
        Event,
        Hold,
        Imported,
        Elsewhere,
    }

    type Reason = super::Reason<u8, Kind>;
    type Block = super::Block<Kind>;

    fn span(text: &str) -> Span {
        let (start, end) = text.split_once('-').unwrap();
        let instant = |text: &str| {
            let (day, time) = text.split_once('T').unwrap();
            format!("2026-03-{day}T{time}:00Z").parse::<Timestamp>().unwrap()
        };
        Span::new(instant(start), instant(end)).unwrap()
    }

    fn lines(reasons: &[Reason]) -> Vec<String> {
        let show = |at: Timestamp| at.to_string()[8..16].to_owned();
        let one = |reason: &Reason| {
            let calendar = reason.calendar.map_or("-".to_owned(), |number| number.to_string());
            let kind = match reason.kind {
                ReasonKind::Block(kind) => format!("{kind:?}").to_lowercase(),
                other => format!("{other:?}"),
            };
            format!("{calendar} {kind} {}-{}", show(reason.span.start()), show(reason.span.end()))
        };
        reasons.iter().map(one).collect()
    }

    /// Buffers of 10 and 20 minutes, Mondays and Tuesdays 09:00 to 17:00 UTC; Tuesday 3 March closed,
    /// Wednesday 4 March 12:00 to 13:00.
    fn office() -> Rules {
        let day = Hours::new(9 * 60, 17 * 60);
        let date = |day| CivilDate::new(2026, 3, day).unwrap();
        Rules::new(Zone::UTC)
            .with_buffers(SignedDuration::minutes(10), SignedDuration::minutes(20))
            .unwrap()
            .with_working_hours(Week { mon: day, tue: day, ..Week::default() })
            .with_overrides([
                Override { date: date(3), hours: None },
                Override { date: date(4), hours: Hours::new(12 * 60, 13 * 60) },
            ])
    }

    #[rstest]
    #[case::offered("02T12:30-02T13:00", &[])]
    #[case::at_the_edge_of_the_buffers("02T10:20-02T11:50", &[])]
    #[case::inside_an_event("02T09:30-02T09:45", &["1 event 02T09:00-02T10:00"])]
    #[case::event_and_buffer("02T09:30-02T10:10", &["1 event 02T09:00-02T10:00", "1 Buffer 02T10:00-02T10:10"])]
    #[case::buffer_alone("02T10:05-02T10:30", &["1 Buffer 02T10:05-02T10:20"])]
    #[case::around_a_hold("02T11:00-02T13:00", &["1 Buffer 02T11:50-02T12:00", "1 hold 02T12:00-02T12:05", "1 Buffer 02T12:05-02T12:25"])]
    #[case::the_other_calendar_too("02T16:30-02T17:30", &["2 elsewhere 02T16:00-02T16:45", "2 imported 02T16:40-02T16:50", "1 OutsideWorkingHours 02T17:00-02T17:30"])]
    #[case::an_early_start("02T08:00-02T08:30", &["1 OutsideWorkingHours 02T08:00-02T08:30"])]
    #[case::closed_by_an_override("03T16:30-03T17:30", &["1 Override 03T16:30-03T17:00", "1 OutsideWorkingHours 03T17:00-03T17:30"])]
    #[case::opened_by_an_override("04T12:00-04T13:00", &[])]
    #[case::past_the_end_of_an_override("04T12:30-04T13:30", &["1 OutsideWorkingHours 04T13:00-04T13:30"])]
    #[case::beyond_the_range("09T15:45-09T16:15", &["- OutsideRange 09T16:00-09T16:15"])]
    #[case::before_the_range("01T23:00-02T00:30", &["- OutsideRange 01T23:00-02T00:00", "1 OutsideWorkingHours 01T23:00-02T00:30"])]
    fn reasons_of_two_calendars(#[case] query: &str, #[case] expected: &[&str]) {
        let block = |kind, text| Block { kind, span: span(text) };
        let ours = [
            block(Kind::Hold, "02T12:00-02T12:05"),
            block(Kind::Event, "02T09:00-02T10:00"),
            block(Kind::Event, "02T09:00-02T10:00"),
        ];
        let theirs = [block(Kind::Imported, "02T16:40-02T16:50"), block(Kind::Elsewhere, "02T16:00-02T16:45")];
        let (strict, open) = (office(), Rules::default());
        let calendars = [
            CalendarTime { calendar: 2, rules: &open, blocks: &theirs },
            CalendarTime { calendar: 1, rules: &strict, blocks: &ours },
        ];
        assert_eq!(lines(&explain(&calendars, span(query), span("02T00:00-09T16:00"))), expected);
    }

    #[test]
    fn without_calendars_only_the_range_matters() {
        let none: &[CalendarTime<'_, u8, Kind>] = &[];
        assert_eq!(explain(none, span("02T10:00-02T11:00"), span("02T10:00-02T11:00")), []);
        let beyond = explain(none, span("02T10:00-02T11:00"), span("02T10:15-02T10:45"));
        assert_eq!(lines(&beyond), ["- OutsideRange 02T10:00-02T10:15", "- OutsideRange 02T10:45-02T11:00"]);
    }

    fn kind() -> impl Strategy<Value = Kind> {
        prop::sample::select(vec![Kind::Event, Kind::Hold, Kind::Imported, Kind::Elsewhere])
    }

    type Drawn = (Rules, Vec<Block>);

    /// Up to three calendars, a time to ask about, and a range around a moment.
    fn question() -> impl Strategy<Value = (Vec<Drawn>, Span, Span)> {
        let one = move |moment: Timestamp| {
            let rules = rules_and_moment().prop_map(|(rules, _)| rules);
            let open = Just(Rules::default());
            let short = (span_near(moment), 1..=180i64, kind()).prop_map(|(span, length, kind)| Block {
                kind,
                span: Span::new(span.start(), span.start() + SignedDuration::minutes(length)).unwrap(),
            });
            (prop_oneof![rules, open], prop::collection::vec(short, 0..8))
        };
        rules_window_blocks().prop_flat_map(move |(rules, window, _)| {
            let first = (Just(rules), one(window.start()).prop_map(|(_, blocks)| blocks));
            let others = prop::collection::vec(one(window.start()), 0..2);
            let query = (-30..2_900i64, 1..=240i64).prop_map(move |(start, length)| {
                let start = window.start() + SignedDuration::minutes(start);
                Span::new(start, start + SignedDuration::minutes(length)).unwrap()
            });
            let calendars = (first, others).prop_map(|(first, mut others)| {
                others.push(first);
                others
            });
            (calendars, query, Just(window))
        })
    }

    proptest! {
        /// A time has a reason against it exactly if it is not offered, and the reasons cover exactly the part that is
        /// taken.
        #[test]
        fn there_is_a_reason_iff_the_slot_is_not_offered((drawn, query, allowed) in question()) {
            let calendars: Vec<CalendarTime<'_, u8, Kind>> = (0u8..)
                .zip(&drawn)
                .map(|(number, (rules, blocks))| CalendarTime { calendar: number, rules, blocks })
                .collect();
            let reasons = explain(&calendars, query, allowed);

            // The time that a query for the whole range would treat as taken.
            let taken = |time: &CalendarTime<'_, u8, Kind>| {
                let blocking: BusySet = time.blocks.iter().map(|block| block.span).collect();
                time.rules.apply(&blocking, allowed)
            };
            let taken: Vec<BusySet> = calendars.iter().map(taken).collect();
            let taken = BusySet::union_all(&taken);
            let inside = query.clip(allowed) == Some(query);
            let length = query.length();
            let offered = inside && count_free_slots(query, &taken, length, length) == 1;
            prop_assert_eq!(reasons.is_empty(), offered, "{:?}", reasons);

            // Together, the reasons cover exactly the part of the asked time that is not offered.
            let explained: BusySet = reasons.iter().filter_map(|reason| reason.span.clip(query)).collect();
            if inside {
                prop_assert_eq!(explained, taken.clip(query));
            }
            prop_assert!(reasons.iter().all(|reason| reason.span.overlaps(query)));
            let order = |reason: &Reason| (reason.span.start(), reason.calendar);
            prop_assert!(reasons.windows(2).all(|pair| order(&pair[0]) <= order(&pair[1]) && pair[0] != pair[1]));
        }
    }
}
