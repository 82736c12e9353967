//! The result of reading a feed.

use std::{collections::BTreeMap, sync::Arc};

use kalends_calendars::{ConferenceUrl, EventStatus, Recurrence, Times};
use kalends_time::{Span, Timestamp, Zone};

use crate::limits::{BYTES_MAX, EVENTS_MAX};

/// The inputs of reading besides the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The zone of the calendar into which the feed is imported. It applies to whole days, and to times without a zone
    /// of their own.
    pub calendar_zone: Zone,
    /// The present, around which series that are not kept are expanded.
    pub now: Timestamp,
}

/// The content of a feed. Reading the same bytes at the same time gives the same result, and so does reading the same
/// components in another order.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The name of the calendar, if it has one: at most 255 characters.
    pub name: Option<String>,
    /// The zone that the feed names for all its events, if it is known.
    pub zone: Option<Zone>,
    /// The events, in the order of [`Item::key`], with distinct keys.
    pub items: Vec<Item>,
    /// The events that the feed contains as a whole. An event is not among them if the feed contains only overrides of
    /// it, without the series.
    pub editions: Editions,
    /// The first skipped events, at most [`crate::limits::REPORTED_MAX`].
    pub skipped: Vec<Skipped>,
    /// The number of all skipped events.
    pub skipped_count: usize,
    /// The number of events and single occurrences that are cancelled, by their status or by `METHOD:CANCEL`. They have
    /// no items, and do not count as skipped.
    pub cancelled_count: usize,
    /// The first warnings, at most [`crate::limits::REPORTED_MAX`].
    pub warnings: Vec<Warning>,
    /// The number of all warnings.
    pub warning_count: usize,
    /// The steps that it took, at most [`crate::limits::STEPS_MAX`].
    pub steps: u64,
}

/// The events that a feed contains as a whole, by their `UID`. Skipped events are left out.
pub type Editions = BTreeMap<Arc<str>, Edition>;

/// How much of an event a feed contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Its items are the complete event.
    Full,
    /// Its items are the complete event, except for occurrences that were over before this instant. A series that
    /// is not kept is expanded only around the present.
    Since(Timestamp),
    /// It is cancelled, and has no items.
    Cancelled,
}

/// An event of a feed, to be stored as one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The event's `UID`, at most [`crate::limits::UID_MAX`] characters.
    pub uid: Arc<str>,
    /// The start that the occurrence had in its series; `None` for an event that takes place once and for a series. An
    /// override of all later occurrences can begin a second series. For that series, this is the start that its first
    /// occurrence had in the original series. This field distinguishes the events with the same `UID`.
    pub recurrence_id: Option<Timestamp>,
    /// `SEQUENCE`.
    pub sequence: u32,
    /// 1 to 500 characters.
    pub title: Arc<str>,
    /// 1 to 20,000 characters, if any.
    pub description: Option<Arc<str>>,
    /// 1 to 500 characters, if any.
    pub location: Option<Arc<str>>,
    /// The address of its call, if any.
    pub conference_url: Option<Arc<ConferenceUrl>>,
    /// The times of the event, or of the first occurrence of a series. An event without a length lasts
    /// [`crate::limits::NO_LENGTH`].
    pub times: Times,
    /// [`EventStatus::Confirmed`] or [`EventStatus::Tentative`].
    pub status: EventStatus,
    /// Whether it blocks its time: it is not transparent and has a length.
    pub blocks: bool,
    /// Whether and how it repeats.
    pub what: What,
}

/// Whether and how an event of a feed repeats.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// It takes place once. If it is an occurrence of a series that cannot be kept as a series, it has an
    /// [`Item::recurrence_id`].
    Once,
    /// It is a series that is kept, without the occurrences that are items of their own.
    Series(Box<Recurrence>),
    /// It is an override. Its series is the item with the same `UID` that is a [`What::Series`] and has this
    /// [`Item::recurrence_id`].
    Override {
        /// The series' own [`Item::recurrence_id`].
        series: Option<Timestamp>,
    },
}

impl Item {
    /// The key of an item within its feed, which is the same whenever the feed is read: the `UID`, the start that the
    /// occurrence had, and whether it is a series.
    pub fn key(&self) -> (&str, Option<Timestamp>, bool) {
        (&self.uid, self.recurrence_id, matches!(self.what, What::Series(_)))
    }

    /// Adds the time that the item blocks within `window`.
    fn add_busy(&self, window: Span, spans: &mut Vec<Span>) {
        if !self.blocks {
            return;
        }
        let What::Series(recurrence) = &self.what else {
            spans.extend(self.times.span.clip(window));
            return;
        };
        // The recurrence was made from these times, so this does not fail.
        let Ok(series) = recurrence.series(self.times) else { return };
        let left_out = recurrence.left_out();
        spans.extend(series.occurrences(window).without(&left_out).filter_map(|span| span.clip(window)));
    }
}

/// The title of all events of which only the time is imported.
pub const BUSY: &str = "Busy";

impl Feed {
    /// The feed without what its author wrote: titles, descriptions, locations, addresses of calls, names, and the
    /// `UID`s in reports. The times of the events stay, how they repeat, and whether they block. The `UID`s of items stay
    /// to identify them; only digests of those are stored.
    #[must_use]
    pub fn busy_only(self) -> Self {
        let title: Arc<str> = BUSY.into();
        let bare = |item: Item| Item {
            title: Arc::clone(&title),
            description: None,
            location: None,
            conference_url: None,
            ..item
        };
        let unnamed = |skipped: Skipped| Skipped { uid: String::new(), ..skipped };
        // Other warnings name zones or events as the feed does.
        let is_bare = |warning: &Warning| matches!(warning, Warning::Floating { .. } | Warning::Descriptions);
        Self {
            name: None,
            items: self.items.into_iter().map(bare).collect(),
            skipped: self.skipped.into_iter().map(unnamed).collect(),
            warnings: self.warnings.into_iter().filter(is_bare).collect(),
            ..self
        }
    }

    /// The time that the feed's events block within `window`: ascending spans that neither overlap nor touch.
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

/// An event that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its `UID`, if that was read.
    pub uid: String,
    /// The reason.
    pub reason: SkipReason,
}

/// Why an event was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SkipReason {
    /// No `DTSTART`.
    #[error("it has no DTSTART")]
    NoStart,
    /// A `DTSTART` that is not a date.
    #[error("its DTSTART is not a date or date-time")]
    Start,
    /// A `DTEND` or `DURATION` that cannot be read.
    #[error("its DTEND or DURATION cannot be read")]
    End,
    /// A `RECURRENCE-ID` that is not a date.
    #[error("its RECURRENCE-ID is not a date or date-time")]
    RecurrenceId,
    /// An `RRULE` or `EXRULE` that RFC 5545 does not define, or too many of them.
    #[error("its RRULE is not a rule of RFC 5545")]
    Rule,
    /// The end is before the start.
    #[error("it ends before it starts")]
    EndBeforeStart,
    /// Times outside the supported years.
    #[error("it is outside the years 1970 to 2099")]
    Years,
    /// More dates than [`crate::limits::DATES_MAX`].
    #[error("it names more than {} dates", crate::limits::DATES_MAX)]
    Dates,
    /// A series that ends before it begins.
    #[error("it never takes place")]
    Never,
    /// More steps than [`crate::limits::EVENT_STEPS_MAX`], or than the feed has left.
    #[error("its dates take too many steps to compute")]
    Work,
    /// Together with those of other events, more occurrences than [`crate::limits::OCCURRENCES_IN_ALL_MAX`].
    #[error("the feed has too many occurrences of series that are not kept")]
    Occurrences,
    /// No `END:VEVENT`.
    #[error("it has no END:VEVENT")]
    Unclosed,
}

/// Something in a feed that was read only approximately.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Warning {
    /// A zone that is neither known nor described.
    #[error("the time zone {name:?} is unknown; its times were read in another time zone")]
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
    /// An `EXDATE` or `RDATE` that is not a date.
    #[error("the event {uid:?} has an EXDATE or RDATE that cannot be read")]
    Date {
        /// The event.
        uid: String,
    },
    /// A series has more than [`crate::limits::OCCURRENCES_MAX`] occurrences.
    #[error("the event {uid:?} has more than {} occurrences; only the first were kept", crate::limits::OCCURRENCES_MAX)]
    Shortened {
        /// The event.
        uid: String,
    },
    /// The texts of expanded series are longer than [`crate::limits::EXPANDED_TEXT_MAX`].
    #[error("the descriptions and places of some occurrences were left out")]
    Descriptions,
}

/// Why a feed cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// More than [`BYTES_MAX`] bytes.
    #[error("the feed is {bytes} bytes long, more than the {BYTES_MAX} allowed")]
    TooLarge {
        /// The number of bytes.
        bytes: usize,
    },
    /// No content.
    #[error("the feed is empty")]
    Empty,
    /// A web page.
    #[error("the address returns a web page (HTML), not an iCalendar feed")]
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

impl ReadError {
    /// The error without what the text begins with.
    #[must_use]
    pub fn busy_only(self) -> Self {
        match self {
            Self::NotCalendar { .. } => Self::NotCalendar { begins: "…".to_owned() },
            other => other,
        }
    }
}
