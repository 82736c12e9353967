//! Everything that repeats together: rules, dates, exceptions and overrides.

use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use crate::exceptions::Exceptions;
use crate::length::Length;
use crate::limits::HORIZON;
use crate::rule::Rule;
use crate::series::{Occurrences, Series, SeriesError};

/// The recurrence set of a calendar component (RFC 5545 section 3.8.5): rules (`RRULE`), dates (`RDATE`), exceptions
/// (`EXDATE`) and overrides (`RECURRENCE-ID`), which share a first start, a zone and a length.
///
/// An occurrence that several rules and dates give is one occurrence. The first start is an occurrence, unless an
/// exception removes it.
///
/// ```
/// use kalends_recurrence::{Length, RecurrenceSet, SignedDuration, Span, Timestamp, Zone};
///
/// let at = |text: &str| text.parse::<Timestamp>();
/// let hour = Length::elapsed(SignedDuration::hours(1))?;
/// let mut set = RecurrenceSet::new(at("2026-03-02T09:00:00Z")?, Zone::UTC, hour);
/// set.add_rule("FREQ=WEEKLY;COUNT=3".parse()?)?;
/// set.add_date(at("2026-03-20T12:00:00Z")?);
/// set.add_exception(at("2026-03-09T09:00:00Z")?);
/// set.add_override(at("2026-03-16T09:00:00Z")?, Span::new(at("2026-03-17T10:00:00Z")?, at("2026-03-17T12:00:00Z")?)?);
///
/// let starts: Vec<String> = set.after(at("2026-03-01T00:00:00Z")?).map(|one| one.span.start().to_string()).collect();
/// assert_eq!(starts, ["2026-03-02T09:00:00Z", "2026-03-17T10:00:00Z", "2026-03-20T12:00:00Z"]);
/// assert_eq!(set.previous_start_before(at("2026-03-20T12:00:00Z")?), Some(at("2026-03-17T10:00:00Z")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RecurrenceSet {
    first: Timestamp,
    zone: Zone,
    length: Length,
    rules: Vec<Series>,
    /// Sorted by start, without duplicates.
    dates: Vec<Span>,
    /// Sorted.
    exceptions: Vec<Timestamp>,
    /// Sorted by the start that they replace, without duplicates.
    overrides: Vec<(Timestamp, Span)>,
}

/// An occurrence of a [`RecurrenceSet`]. [`RecurrenceSet::between`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Occurrence {
    /// When it takes place.
    pub span: Span,
    /// The start that the set gives it, which identifies it (`RECURRENCE-ID`). Only an override starts at another time.
    pub original_start: Timestamp,
    /// Whether it is an override.
    pub is_override: bool,
}

impl RecurrenceSet {
    /// A set with a first start (`DTSTART`) and nothing else. [`RecurrenceSet`] has an example.
    pub const fn new(first: Timestamp, zone: Zone, length: Length) -> Self {
        Self {
            first,
            zone,
            length,
            rules: Vec::new(),
            dates: Vec::new(),
            exceptions: Vec::new(),
            overrides: Vec::new(),
        }
    }

    /// Adds a rule (`RRULE`). [`RecurrenceSet`] has an example.
    ///
    /// # Errors
    /// [`SeriesError`] if the rule and the first start do not make a series.
    pub fn add_rule(&mut self, rule: Rule) -> Result<(), SeriesError> {
        self.rules.push(Series::new(rule, self.first, self.zone, self.length)?);
        Ok(())
    }

    /// Adds an occurrence of the set's length (`RDATE`). [`RecurrenceSet`] has an example.
    pub fn add_date(&mut self, start: Timestamp) {
        if let Some(span) = self.length.span_from(start, self.zone) {
            self.add_period(span);
        }
    }

    /// Adds an occurrence with a length of its own (`RDATE;VALUE=PERIOD`). If the set has a date with the same start, the
    /// first one that was added counts.
    ///
    /// ```
    /// use kalends_recurrence::{Length, RecurrenceSet, SignedDuration, Span, Timestamp, Zone};
    ///
    /// let at = |text: &str| text.parse::<Timestamp>();
    /// let mut set = RecurrenceSet::new(at("2026-03-02T09:00:00Z")?, Zone::UTC, Length::elapsed(SignedDuration::hours(1))?);
    /// set.add_period(Span::new(at("2026-03-09T09:00:00Z")?, at("2026-03-09T12:00:00Z")?)?);
    /// let lengths = set.after(at("2026-03-01T00:00:00Z")?).map(|one| one.span.length());
    /// assert!(lengths.eq([SignedDuration::hours(1), SignedDuration::hours(3)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_period(&mut self, span: Span) {
        if let Err(at) = self.dates.binary_search_by_key(&span.start(), |span| span.start()) {
            self.dates.insert(at, span);
        }
    }

    /// Removes the occurrence that starts at this time (`EXDATE`). It has no effect if there is none. [`RecurrenceSet`]
    /// has an example.
    pub fn add_exception(&mut self, start: Timestamp) {
        if let Err(at) = self.exceptions.binary_search(&start) {
            self.exceptions.insert(at, start);
        }
    }

    /// Removes the occurrences that start at these times (`EXDATE`).
    ///
    /// ```
    /// use kalends_recurrence::{Exceptions, Length, RecurrenceSet, Timestamp, Zone};
    ///
    /// let at = |text: &str| text.parse::<Timestamp>();
    /// let mut set = RecurrenceSet::new(at("2026-03-02T00:00:00Z")?, Zone::UTC, Length::days(1)?);
    /// set.add_rule("FREQ=DAILY;COUNT=4".parse()?)?;
    /// set.add_exceptions(&Exceptions::from(vec![at("2026-03-02T00:00:00Z")?, at("2026-03-04T00:00:00Z")?]));
    /// assert_eq!(set.after(at("2026-01-01T00:00:00Z")?).count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_exceptions(&mut self, exceptions: &Exceptions) {
        self.exceptions.extend(exceptions.starts());
        self.exceptions.sort_unstable();
        self.exceptions.dedup();
    }

    /// Replaces the occurrence that starts at `original_start` (`RECURRENCE-ID`), even if an exception removes it. The
    /// last override of an occurrence counts. [`RecurrenceSet`] has an example.
    pub fn add_override(&mut self, original_start: Timestamp, span: Span) {
        match self.overrides.binary_search_by_key(&original_start, |(start, _)| *start) {
            Ok(at) => self.overrides[at].1 = span,
            Err(at) => self.overrides.insert(at, (original_start, span)),
        }
    }

    /// The occurrences that overlap a window, unclipped, in order of their starts. They can be read from either end.
    ///
    /// ```
    /// use kalends_recurrence::{Length, RecurrenceSet, SignedDuration, Span, Timestamp, Zone};
    ///
    /// let at = |text: &str| text.parse::<Timestamp>();
    /// let first = at("2026-03-02T09:00:00Z")?;
    /// let mut set = RecurrenceSet::new(first, Zone::UTC, Length::elapsed(SignedDuration::hours(1))?);
    /// set.add_rule("FREQ=WEEKLY".parse()?)?;
    /// let moved = Span::new(at("2026-03-10T14:00:00Z")?, at("2026-03-10T15:00:00Z")?)?;
    /// set.add_override(at("2026-03-09T09:00:00Z")?, moved);
    ///
    /// let march = Span::new(at("2026-03-03T00:00:00Z")?, at("2026-04-01T00:00:00Z")?)?;
    /// let found: Vec<_> = set.between(march).collect();
    /// assert_eq!((found[0].span, found[0].original_start, found[0].is_override), (moved, at("2026-03-09T09:00:00Z")?, true));
    /// assert_eq!(found.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn between(&self, window: Span) -> Between<'_> {
        let rules = self.rules.iter().map(|series| Ends::new(series.occurrences(window))).collect();
        self.selected(window, rules, |span| span.overlaps(window))
    }

    /// The occurrences that start in a window.
    fn starting(&self, window: Span) -> Between<'_> {
        let range = window.start()..window.end();
        let rules = self.rules.iter().map(|series| Ends::new(series.occurrences_from(range.clone()))).collect();
        self.selected(window, rules, |span| range.contains(&span.start()))
    }

    fn selected<'a>(
        &'a self,
        window: Span,
        rules: Vec<Ends<Occurrences<'a>>>,
        is_selected: impl Fn(Span) -> bool,
    ) -> Between<'a> {
        // A rule and a date give the first start too.
        let is_given =
            !self.rules.is_empty() || self.dates.binary_search_by_key(&self.first, |span| span.start()).is_ok();
        let first = (!is_given).then(|| self.length.span_from(self.first, self.zone)).flatten();
        let dates = self.dates.iter().copied().filter(|span| is_selected(*span));
        let mut once: Vec<Span> = dates.chain(first.filter(|span| is_selected(*span))).collect();
        once.sort_unstable();
        let mut replaced: Vec<Occurrence> = self
            .overrides
            .iter()
            .filter(|(_, span)| is_selected(*span))
            .map(|(start, span)| Occurrence { span: *span, original_start: *start, is_override: true })
            .collect();
        replaced.sort_unstable_by_key(|one| (one.span.start(), one.original_start));
        Between {
            set: self,
            window,
            rules,
            once: Ends::new(once.into_iter()),
            replaced: Ends::new(replaced.into_iter()),
        }
    }

    /// The occurrences that start at `from` or later, in order. Those of rules end with the year 2099.
    /// [`RecurrenceSet`] has an example.
    pub fn after(&self, from: Timestamp) -> impl Iterator<Item = Occurrence> + '_ {
        let window = Span::new(from, HORIZON.max(self.latest() + SignedDuration::micros(1)));
        window.ok().map(|window| self.starting(window)).into_iter().flatten()
    }

    /// The occurrences that start before `end`, the latest first.
    ///
    /// ```
    /// use kalends_recurrence::{Length, RecurrenceSet, Timestamp, Zone};
    ///
    /// let at = |text: &str| text.parse::<Timestamp>();
    /// let mut set = RecurrenceSet::new(at("2026-03-02T00:00:00Z")?, Zone::UTC, Length::days(1)?);
    /// set.add_rule("FREQ=DAILY".parse()?)?;
    /// let last = set.before(at("2076-03-02T00:00:00Z")?).next().map(|one| one.original_start);
    /// assert_eq!(last, Some(at("2076-03-01T00:00:00Z")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn before(&self, end: Timestamp) -> impl Iterator<Item = Occurrence> + '_ {
        let window = Span::new(self.earliest().min(end), end);
        window.ok().map(|window| self.starting(window)).into_iter().flat_map(|between| between.rev())
    }

    /// The earliest start after `instant`.
    ///
    /// ```
    /// use kalends_recurrence::{Length, RecurrenceSet, Timestamp, Zone};
    ///
    /// let at = |text: &str| text.parse::<Timestamp>();
    /// let mut set = RecurrenceSet::new(at("2026-03-02T00:00:00Z")?, Zone::UTC, Length::days(1)?);
    /// set.add_date(at("2026-05-01T00:00:00Z")?);
    /// assert_eq!(set.next_start_after(at("2026-03-02T00:00:00Z")?), Some(at("2026-05-01T00:00:00Z")?));
    /// assert_eq!(set.next_start_after(at("2026-05-01T00:00:00Z")?), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_start_after(&self, instant: Timestamp) -> Option<Timestamp> {
        self.after(instant + SignedDuration::micros(1)).next().map(|one| one.span.start())
    }

    /// The latest start before `instant`. [`RecurrenceSet`] has an example.
    pub fn previous_start_before(&self, instant: Timestamp) -> Option<Timestamp> {
        self.before(instant).next().map(|one| one.span.start())
    }

    /// A time that no occurrence starts before.
    fn earliest(&self) -> Timestamp {
        let overrides = self.overrides.iter().map(|(_, span)| span.start());
        self.dates.iter().map(|span| span.start()).chain(overrides).fold(self.first, Timestamp::min)
    }

    /// A time that no date or override starts after.
    fn latest(&self) -> Timestamp {
        let overrides = self.overrides.iter().map(|(_, span)| span.start());
        self.dates.iter().map(|span| span.start()).chain(overrides).fold(self.first, Timestamp::max)
    }

    /// Whether an occurrence that rules or dates give takes place as they give it.
    fn keeps(&self, start: Timestamp) -> bool {
        self.exceptions.binary_search(&start).is_err()
            && self.overrides.binary_search_by_key(&start, |(start, _)| *start).is_err()
    }
}

/// The occurrences of a [`RecurrenceSet`] in a window, from [`RecurrenceSet::between`]. [`RecurrenceSet::between`] has
/// an example.
#[derive(Debug, Clone)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct Between<'a> {
    set: &'a RecurrenceSet,
    window: Span,
    rules: Vec<Ends<Occurrences<'a>>>,
    /// Dates, and the first start if there is no rule.
    once: Ends<std::vec::IntoIter<Span>>,
    replaced: Ends<std::vec::IntoIter<Occurrence>>,
}

/// An iterator whose next items at both ends can be looked at.
#[derive(Debug, Clone)]
struct Ends<I: DoubleEndedIterator> {
    items: I,
    front: Option<I::Item>,
    back: Option<I::Item>,
}

impl<I: DoubleEndedIterator<Item: Copy>> Ends<I> {
    const fn new(items: I) -> Self {
        Self { items, front: None, back: None }
    }

    fn front(&mut self) -> Option<I::Item> {
        if self.front.is_none() {
            self.front = self.items.next().or_else(|| self.back.take());
        }
        self.front
    }

    fn back(&mut self) -> Option<I::Item> {
        if self.back.is_none() {
            self.back = self.items.next_back().or_else(|| self.front.take());
        }
        self.back
    }
}

impl Between<'_> {
    /// Removes the next occurrence of rules and dates at the front.
    fn pop_front(&mut self) -> Option<Span> {
        let fronts = self.rules.iter_mut().filter_map(Ends::front).chain(self.once.front());
        let next = fronts.min_by_key(|span| span.start())?;
        for rule in &mut self.rules {
            rule.front.take_if(|span| span.start() == next.start());
        }
        self.once.front.take_if(|span| span.start() == next.start());
        Some(next)
    }

    /// Removes the last occurrence of rules and dates at the back.
    fn pop_back(&mut self) -> Option<Span> {
        let backs = self.rules.iter_mut().filter_map(Ends::back).chain(self.once.back());
        let last = backs.max_by_key(|span| span.start())?;
        for rule in &mut self.rules {
            rule.back.take_if(|span| span.start() == last.start());
        }
        self.once.back.take_if(|span| span.start() == last.start());
        Some(last)
    }

    /// The occurrence that starts with `span`, if it takes place in the window as rules and dates give it.
    fn given(&self, span: Span) -> Option<Occurrence> {
        // A date with a length of its own comes before a rule's occurrence with the same start.
        let date = self.set.dates.binary_search_by_key(&span.start(), |span| span.start());
        let span = date.ok().and_then(|at| self.set.dates.get(at)).copied().unwrap_or(span);
        let takes_place = self.set.keeps(span.start()) && span.overlaps(self.window);
        takes_place.then_some(Occurrence { span, original_start: span.start(), is_override: false })
    }
}

impl Iterator for Between<'_> {
    type Item = Occurrence;

    fn next(&mut self) -> Option<Occurrence> {
        loop {
            let given =
                self.rules.iter_mut().filter_map(Ends::front).chain(self.once.front()).map(|span| span.start()).min();
            match (given, self.replaced.front()) {
                (Some(given), replaced) if replaced.is_none_or(|replaced| given <= replaced.span.start()) => {
                    let span = self.pop_front()?;
                    if let Some(occurrence) = self.given(span) {
                        return Some(occurrence);
                    }
                }
                _ => {
                    self.replaced.front()?;
                    return self.replaced.front.take();
                }
            }
        }
    }
}

impl DoubleEndedIterator for Between<'_> {
    fn next_back(&mut self) -> Option<Occurrence> {
        loop {
            let given =
                self.rules.iter_mut().filter_map(Ends::back).chain(self.once.back()).map(|span| span.start()).max();
            match (given, self.replaced.back()) {
                (Some(given), replaced) if replaced.is_none_or(|replaced| given > replaced.span.start()) => {
                    let span = self.pop_back()?;
                    if let Some(occurrence) = self.given(span) {
                        return Some(occurrence);
                    }
                }
                _ => {
                    self.replaced.back()?;
                    return self.replaced.back.take();
                }
            }
        }
    }
}

impl std::iter::FusedIterator for Between<'_> {}
