//! What is read from a feed.

use std::{collections::BTreeMap, sync::Arc};

use kalends_calendars::{EventStatus, Recurrence, Times};
use kalends_kernel::{Span, Timestamp, Zone};

use crate::limits::{BYTES_MAX, EVENTS_MAX};

/// What reading depends on besides the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The zone of the calendar onto which the feed is imported: of its whole days, and of times that have
    /// no zone of their own (ruling 8.3).
    pub calendar_zone: Zone,
    /// The present, around which series outside the subset are expanded.
    pub now: Timestamp,
}

/// What a feed says. Two readings of the same bytes at the same time are equal, and so are those of the
/// same components in another order.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The name of the calendar, if it has one: at most 255 characters.
    pub name: Option<String>,
    /// The zone that the feed names for all its events, where it is known.
    pub zone: Option<Zone>,
    /// The events, in the order of [`Item::key`], none with the key of another.
    pub items: Vec<Item>,
    /// The events of which the feed has not only single occurrences of a series that it does not have.
    pub editions: Editions,
    /// The first of the events that were skipped, at most [`crate::limits::TOLD_MAX`].
    pub skipped: Vec<Skipped>,
    /// How many were skipped in all.
    pub skipped_count: usize,
    /// How many events the feed has cancelled, itself or by `METHOD:CANCEL`. They are in none of the lists.
    pub cancelled_count: usize,
    /// The first of the warnings, at most [`crate::limits::TOLD_MAX`].
    pub warnings: Vec<Warning>,
    /// How many warnings there are in all.
    pub warning_count: usize,
    /// How much work it was, at most [`crate::limits::STEPS_MAX`].
    pub steps: u64,
}

/// The events that a feed tells of as a whole, by their `UID`. An event that was skipped is none of them.
pub type Editions = BTreeMap<Arc<str>, Edition>;

/// How a feed tells of an event as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Its items are all that there is of it.
    Whole,
    /// So are they, except for occurrences that were over before this instant: those of a rule outside the subset are
    /// told around the present.
    Since(Timestamp),
    /// It is cancelled, and has no items.
    Cancelled,
}

/// An event of a feed: what is stored as one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The event's `UID`, at most [`crate::limits::UID_MAX`] characters.
    pub uid: Arc<str>,
    /// Which of the events with this `UID` it is: `None` for an event that takes place once and for a series,
    /// else the start that the occurrence had in its series.
    pub recurrence_id: Option<Timestamp>,
    /// `SEQUENCE`.
    pub sequence: u32,
    /// 1 to 500 characters.
    pub title: Arc<str>,
    /// 1 to 20,000 characters, if any.
    pub description: Option<Arc<str>>,
    /// When it takes place; the first occurrence of a series. An event without a length lasts
    /// [`crate::limits::NO_LENGTH`] here.
    pub times: Times,
    /// [`EventStatus::Confirmed`] or [`EventStatus::Tentative`].
    pub status: EventStatus,
    /// Whether it takes its time from availability: neither transparent nor without a length (ruling 4.7).
    pub blocks: bool,
    /// Whether and how it repeats.
    pub what: What,
}

/// Whether and how an event of a feed repeats.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// It takes place once; as an occurrence of a series that cannot be kept as one, it has a
    /// [`Item::recurrence_id`].
    Once,
    /// It is a series of the subset, told without those occurrences that are items of their own.
    Series(Box<Recurrence>),
    /// It is an occurrence of a series that differs from it. The series is the item with the same `UID` that
    /// is a [`What::Series`] and has this [`Item::recurrence_id`].
    Override {
        /// The series' own [`Item::recurrence_id`].
        series: Option<Timestamp>,
    },
}

impl Item {
    /// What tells the items of a feed apart, and is the same whenever the feed is read: the `UID`, the
    /// start that the occurrence had, and whether it is a series.
    pub fn key(&self) -> (&str, Option<Timestamp>, bool) {
        (&self.uid, self.recurrence_id, matches!(self.what, What::Series(_)))
    }

    /// Adds the time that the item takes within `window`.
    fn add_busy(&self, window: Span, spans: &mut Vec<Span>) {
        if !self.blocks {
            return;
        }
        let What::Series(recurrence) = &self.what else {
            spans.extend(self.times.span.clip(window));
            return;
        };
        // A recurrence that was made of these times fits them.
        let Ok(series) = recurrence.series(self.times) else { return };
        let left_out = recurrence.left_out();
        spans.extend(series.occurrences(window).without(&left_out).filter_map(|span| span.clip(window)));
    }
}

impl Feed {
    /// The time that the feed's events take within `window`: ascending spans that neither overlap nor touch.
    pub fn busy(&self, window: Span) -> Vec<Span> {
        let mut spans = Vec::new();
        self.items.iter().for_each(|item| item.add_busy(window, &mut spans));
        spans.sort_unstable();
        let mut merged: Vec<Span> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start() <= last.end() => {
                    *last = Span::new(last.start(), last.end().max(span.end())).unwrap_or(*last);
                }
                _ => merged.push(span),
            }
        }
        merged
    }
}

/// An event that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its `UID`, where it was read so far.
    pub uid: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why an event was not taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SkipReason {
    /// No `DTSTART`.
    #[error("it has no DTSTART")]
    NoStart,
    /// A `DTSTART` that is no date.
    #[error("its DTSTART is no date or date-time")]
    Start,
    /// A `DTEND` or `DURATION` that is none.
    #[error("its DTEND or DURATION cannot be read")]
    End,
    /// A `RECURRENCE-ID` that is no date.
    #[error("its RECURRENCE-ID is no date or date-time")]
    RecurrenceId,
    /// An `RRULE` that RFC 5545 gives no meaning.
    #[error("its RRULE is not a rule of RFC 5545")]
    Rule,
    /// Ruling 8.3.
    #[error("it ends before it starts")]
    EndBeforeStart,
    /// Ruling 2.4.
    #[error("it lies outside the years 1970 to 2099")]
    Years,
    /// More dates than [`crate::limits::DATES_MAX`].
    #[error("it names more than {} dates", crate::limits::DATES_MAX)]
    Dates,
    /// A series that has ended before it begins, or whose dates are all excluded.
    #[error("it never takes place")]
    Never,
    /// More steps than [`crate::limits::EVENT_STEPS_MAX`], or than the feed has left.
    #[error("its dates take too much work to find")]
    Work,
    /// More occurrences than [`crate::limits::OCCURRENCES_IN_ALL_MAX`] with those of other events.
    #[error("the feed has too many occurrences of series outside the subset")]
    Occurrences,
    /// No `END:VEVENT`.
    #[error("it has no END:VEVENT")]
    Unclosed,
}

/// Something in a feed that was read as well as possible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Warning {
    /// A zone that is neither known nor described.
    #[error("the time zone {name:?} is unknown; its times were read in another")]
    UnknownZone {
        /// The first characters of its name.
        name: String,
    },
    /// Times without a zone.
    #[error("times without a time zone were read in {read_in}")]
    Floating {
        /// The zone in which they were read.
        read_in: String,
    },
    /// An `EXDATE` or `RDATE` that is no date.
    #[error("the event {uid:?} has an EXDATE or RDATE that cannot be read")]
    Date {
        /// The event.
        uid: String,
    },
    /// A series has more than [`crate::limits::OCCURRENCES_MAX`] occurrences.
    #[error("the event {uid:?} has more than {} occurrences; the first were taken", crate::limits::OCCURRENCES_MAX)]
    Shortened {
        /// The event.
        uid: String,
    },
    /// The descriptions of expanded series are longer than [`crate::limits::EXPANDED_TEXT_MAX`].
    #[error("the descriptions of some occurrences were left out")]
    Descriptions,
}

/// Why a feed cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// More than [`BYTES_MAX`] bytes.
    #[error("the feed is {bytes} bytes long, more than the {BYTES_MAX} allowed")]
    TooLarge {
        /// So many.
        bytes: usize,
    },
    /// Nothing at all.
    #[error("the feed is empty")]
    Empty,
    /// A web page.
    #[error("the address answers with a web page (HTML), not with an iCalendar feed")]
    Html,
    /// Something else without a `BEGIN:VCALENDAR`.
    #[error("the feed is not iCalendar: it has no BEGIN:VCALENDAR and begins with {begins:?}")]
    NotCalendar {
        /// Its first characters.
        begins: String,
    },
    /// No `END:VCALENDAR`.
    #[error("the feed is cut short: it has no END:VCALENDAR")]
    Truncated,
    /// More than [`EVENTS_MAX`] events.
    #[error("the feed has more than {EVENTS_MAX} events")]
    TooManyEvents,
}
