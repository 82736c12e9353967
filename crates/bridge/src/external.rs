//! The human calendars of a connected account, and their busy times.

use std::collections::{BTreeMap, BTreeSet};

use crate::HumanBusy;
use kalends_availability::BusySet;
use kalends_kernel::HumanSource;
use kalends_kernel::{CalendarId, ConnectionId, Entropy, ExternalCalendarId, OrgId, Revision};
use kalends_time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

/// The maximum number of calendars of an account that are kept: the first ones that the provider lists.
pub const CALENDARS_MAX: usize = 100;
/// The maximum number of bytes of the provider's identifier of a calendar.
pub const REFERENCE_MAX: usize = 1_024;
/// The maximum number of characters of a calendar's name that are kept.
pub const NAME_MAX: usize = 255;

/// A calendar as its provider lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TheirCalendar {
    /// The provider's identifier, 1-1024 bytes.
    pub reference: String,
    /// The user's name for it, at most 255 characters.
    pub name: String,
    /// Whether it is the primary calendar of the account.
    pub primary: bool,
}

/// The busy times of a calendar, as read from the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// When they were read.
    pub read_at: Timestamp,
    /// The window that was read.
    pub covers: Span,
    /// The busy times in it, without those of copies: starts and ends, and nothing else.
    pub spans: BusySet,
    /// The busy times in it of copies that Kalends published, each with the calendar of the event, in order. They block
    /// nothing for that calendar's agent, for which the event itself blocks.
    pub copies: Vec<(CalendarId, Span)>,
    /// A digest of the provider's tag for the state that was read, if it has one (a sync token, RFC 6578, or a CTag).
    /// While the tag stays the same, the busy times in `covers` do too.
    pub tag: Option<[u8; 32]>,
}

impl Reading {
    /// The busy times of copies in `window`, in order.
    pub fn copies_in(&self, window: Span) -> Vec<(CalendarId, Span)> {
        self.copies.iter().filter_map(|(calendar, span)| Some((*calendar, span.clip(window)?))).collect()
    }
}

/// A calendar of a connected account, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalCalendar {
    /// The identifier.
    pub id: ExternalCalendarId,
    /// The organization.
    pub org: OrgId,
    /// The connection of its account.
    pub connection: ConnectionId,
    /// The fields from the provider. The reference and the name are sealed at rest, and are never shown to an agent's
    /// key.
    pub theirs: TheirCalendar,
    /// Incremented whenever the busy times, those of copies, or the window differ from the previous reading.
    pub revision: Revision,
    /// The last reading; `None` before the first one, and while the calendar counts for nobody.
    pub reading: Option<Reading>,
}

impl ExternalCalendar {
    /// The calendar with a new reading.
    #[must_use]
    pub fn read(&self, reading: Reading) -> Self {
        let same = self.reading.as_ref().is_some_and(|last| {
            (&last.covers, &last.spans, &last.copies) == (&reading.covers, &reading.spans, &reading.copies)
        });
        let revision = if same { self.revision } else { Revision(self.revision.0 + 1) };
        Self { revision, reading: Some(reading), ..self.clone() }
    }

    /// The tag of the last reading, if that reading covers exactly `window`: while the provider's tag stays the same,
    /// the busy times need not be read again.
    pub fn known_tag(&self, window: Span) -> Option<[u8; 32]> {
        self.reading.as_ref().filter(|reading| reading.covers == window).and_then(|reading| reading.tag)
    }

    /// The calendar whose busy times were found unchanged at `now`.
    #[must_use]
    pub fn unchanged(&self, now: Timestamp) -> Self {
        let reading = self.reading.clone().map(|reading| Reading { read_at: now, ..reading });
        Self { reading, ..self.clone() }
    }

    /// The calendar without a reading, because it counts for nobody.
    #[must_use]
    pub fn unread(&self) -> Self {
        let revision = if self.reading.is_some() { Revision(self.revision.0 + 1) } else { self.revision };
        Self { revision, reading: None, ..self.clone() }
    }

    /// Its identifier as a source of busy times for availability.
    pub const fn source(&self) -> HumanSource {
        HumanSource(self.id.uuid().as_u128())
    }

    /// Its busy times in `window`, for availability. `read_at` is `None` if it has no reading.
    pub fn busy(&self, window: Span) -> HumanBusy {
        HumanBusy {
            source: self.source(),
            revision: self.revision,
            read_at: self.reading.as_ref().map(|reading| reading.read_at),
            covers: self.reading.as_ref().map_or(window, |reading| reading.covers),
            spans: self.reading.as_ref().map_or(BusySet::EMPTY, |reading| reading.spans.clip(window)),
            copies: self.reading.as_ref().map_or_else(Vec::new, |reading| reading.copies_in(window)),
        }
    }
}

/// The calendars of an account, after its provider listed them again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The present calendars: known ones with their identifiers and new names, and new ones.
    pub present: Vec<ExternalCalendar>,
    /// The calendars that are gone.
    pub gone: Vec<ExternalCalendarId>,
}

/// Compares the provider's list with the known calendars. Duplicates and calendars beyond [`CALENDARS_MAX`] are left
/// out. A known calendar is never left out in favour of a new one.
pub fn listing(
    (org, connection): (OrgId, ConnectionId),
    known: &[ExternalCalendar],
    theirs: Vec<TheirCalendar>,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Listing {
    let mut by_reference: BTreeMap<&str, &ExternalCalendar> =
        known.iter().map(|calendar| (calendar.theirs.reference.as_str(), calendar)).collect();
    let mut seen = BTreeSet::new();
    let mut fresh = Vec::new();
    let mut present = Vec::new();
    for theirs in theirs {
        if !seen.insert(theirs.reference.clone()) {
            continue;
        }
        match by_reference.remove(theirs.reference.as_str()) {
            Some(known) => present.push(ExternalCalendar { theirs, ..known.clone() }),
            None => fresh.push(theirs),
        }
    }
    let gone = by_reference.into_values().map(|calendar| calendar.id).collect();
    let room = CALENDARS_MAX.saturating_sub(present.len());
    present.extend(fresh.into_iter().take(room).map(|theirs| ExternalCalendar {
        id: ExternalCalendarId::new(now, entropy),
        org,
        connection,
        theirs,
        revision: Revision(0),
        reading: None,
    }));
    Listing { present, gone }
}

/// The fields of a calendar that stores seal, as one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidential {
    /// The provider's identifier.
    pub reference: String,
    /// The user's name for it.
    pub name: String,
}

/// The document does not contain the fields of a calendar. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of an external calendar")]
pub struct ConfidentialError;

impl Confidential {
    /// Writes the document.
    pub fn write(theirs: &TheirCalendar) -> Vec<u8> {
        let plain = Self { reference: theirs.reference.clone(), name: theirs.name.clone() };
        // Serializing two strings cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`ConfidentialError`].
    pub fn read(document: &[u8]) -> Result<Self, ConfidentialError> {
        serde_json::from_slice(document).map_err(|_| ConfidentialError)
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
    const TAG: [u8; 32] = [7; 32];

    fn hours(from: i64, to: i64) -> Span {
        Span::new(NOW + SignedDuration::hours(from), NOW + SignedDuration::hours(to)).unwrap()
    }

    fn calendar(reading: Option<Reading>) -> ExternalCalendar {
        ExternalCalendar {
            id: ExternalCalendarId::from_uuid(Uuid::from_u128(3)),
            org: OrgId::from_uuid(Uuid::from_u128(1)),
            connection: ConnectionId::from_uuid(Uuid::from_u128(2)),
            theirs: TheirCalendar { reference: "c".into(), name: "Private".into(), primary: true },
            revision: Revision(4),
            reading,
        }
    }

    fn reading(tag: Option<[u8; 32]>) -> Reading {
        let copies = vec![(CalendarId::from_uuid(Uuid::from_u128(9)), hours(5, 6))];
        let spans = BusySet::from_unsorted(vec![hours(1, 2)]);
        Reading { read_at: NOW, covers: hours(0, 24), spans, copies, tag }
    }

    #[rstest]
    #[case::same_window(Some(reading(Some(TAG))), hours(0, 24), Some(TAG))]
    #[case::later_window(Some(reading(Some(TAG))), hours(1, 25), None)]
    #[case::wider_window(Some(reading(Some(TAG))), hours(0, 25), None)]
    #[case::narrower_window(Some(reading(Some(TAG))), hours(0, 23), None)]
    #[case::no_tag(Some(reading(None)), hours(0, 24), None)]
    #[case::never_read(None, hours(0, 24), None)]
    fn a_tag_is_known_for_the_window_that_was_read(
        #[case] reading: Option<Reading>,
        #[case] window: Span,
        #[case] known: Option<[u8; 32]>,
    ) {
        assert_eq!(calendar(reading).known_tag(window), known);
    }

    #[test]
    fn an_unchanged_calendar_is_only_read_later() {
        let (before, later) = (calendar(Some(reading(Some(TAG)))), NOW + SignedDuration::minutes(2));
        let after = before.unchanged(later);
        let expected = Reading { read_at: later, ..reading(Some(TAG)) };
        assert_eq!(after, ExternalCalendar { reading: Some(expected), ..before });
        assert_eq!(calendar(None).unchanged(later), calendar(None), "nothing was read before");
    }

    #[test]
    fn another_tag_alone_is_no_new_revision() {
        let before = calendar(Some(reading(Some(TAG))));
        let after = before.read(reading(Some([8; 32])));
        assert_eq!((after.revision, after.known_tag(hours(0, 24))), (before.revision, Some([8; 32])));
        let moved = before.read(Reading { spans: BusySet::from_unsorted(vec![hours(2, 3)]), ..reading(Some(TAG)) });
        assert_eq!(moved.revision, Revision(5));
    }

    #[test]
    fn a_calendar_that_counts_for_nobody_forgets_its_tag() {
        assert_eq!(calendar(Some(reading(Some(TAG)))).unread().known_tag(hours(0, 24)), None);
    }
}
