//! The calendars of a connected account, and when they are busy (ruling 9.3).

use std::collections::{BTreeMap, BTreeSet};

use kalends_availability::{BusySet, HumanBusy, HumanSource};
use kalends_kernel::{ConnectionId, Entropy, ExternalCalendarId, OrgId, Revision, Span, Timestamp};
use serde::{Deserialize, Serialize};

/// The most calendars of an account that are known: the first ones that the provider tells.
pub const CALENDARS_MAX: usize = 100;
/// The most bytes of the name under which a provider knows a calendar.
pub const REFERENCE_MAX: usize = 1_024;
/// The most characters that are kept of what a human calls a calendar.
pub const NAME_MAX: usize = 255;

/// A calendar as its provider tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TheirCalendar {
    /// Under which name the provider knows it, 1-1024 bytes.
    pub reference: String,
    /// What its human calls it, at most 255 characters.
    pub name: String,
    /// Whether it is the account's own.
    pub primary: bool,
}

/// When a calendar was busy, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// When.
    pub read_at: Timestamp,
    /// For which time it was asked.
    pub covers: Span,
    /// What was busy in it: nothing but start and end.
    pub spans: BusySet,
}

/// A calendar of a connected account, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalCalendar {
    /// The identifier.
    pub id: ExternalCalendarId,
    /// The organization.
    pub org: OrgId,
    /// The account.
    pub connection: ConnectionId,
    /// What the provider tells of it. The reference and the name are sealed at rest, and no agent's key ever sees them.
    pub theirs: TheirCalendar,
    /// Raised whenever what is busy, or the time for which it was asked, differs from what was read before.
    pub revision: Revision,
    /// What was read last; `None` before the first time, and while nobody wants to know.
    pub reading: Option<Reading>,
}

impl ExternalCalendar {
    /// The calendar with what was read of it now.
    #[must_use]
    pub fn read(&self, reading: Reading) -> Self {
        let same =
            self.reading.as_ref().is_some_and(|last| (&last.covers, &last.spans) == (&reading.covers, &reading.spans));
        let revision = if same { self.revision } else { Revision(self.revision.0 + 1) };
        Self { revision, reading: Some(reading), ..self.clone() }
    }

    /// The calendar without what was read of it: it counts for nobody.
    #[must_use]
    pub fn unread(&self) -> Self {
        let revision = if self.reading.is_some() { Revision(self.revision.0 + 1) } else { self.revision };
        Self { revision, reading: None, ..self.clone() }
    }

    /// As what it counts in answers about availability.
    pub const fn source(&self) -> HumanSource {
        HumanSource(self.id.uuid().as_u128())
    }

    /// What it says there of `window`; `None` while it has not been read.
    pub fn busy(&self, window: Span) -> HumanBusy {
        HumanBusy {
            source: self.source(),
            revision: self.revision,
            read_at: self.reading.as_ref().map(|reading| reading.read_at),
            covers: self.reading.as_ref().map_or(window, |reading| reading.covers),
            spans: self.reading.as_ref().map_or(BusySet::EMPTY, |reading| reading.spans.clip(window)),
        }
    }
}

/// The calendars of an account, after its provider told of them again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Those that there are: known ones under their identifiers, as they are called now, and new ones.
    pub present: Vec<ExternalCalendar>,
    /// Those that are gone.
    pub gone: Vec<ExternalCalendarId>,
}

/// Holds what a provider tells against what is known. What it tells twice, and what goes beyond [`CALENDARS_MAX`], is left
/// out; a calendar that is known is never left out for one that is not.
pub fn listing(
    (org, connection): (OrgId, ConnectionId),
    known: &[ExternalCalendar],
    theirs: Vec<TheirCalendar>,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Listing {
    let mut by_reference: BTreeMap<&str, &ExternalCalendar> =
        known.iter().map(|calendar| (calendar.theirs.reference.as_str(), calendar)).collect();
    let mut told = BTreeSet::new();
    let mut fresh = Vec::new();
    let mut present = Vec::new();
    for theirs in theirs {
        if !told.insert(theirs.reference.clone()) {
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

/// What of a calendar stores seal: one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidential {
    /// Under which name the provider knows it.
    pub reference: String,
    /// What its human calls it.
    pub name: String,
}

/// The document is not one that was written here. What it says is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of an external calendar")]
pub struct ConfidentialError;

impl Confidential {
    /// The document.
    pub fn write(theirs: &TheirCalendar) -> Vec<u8> {
        let plain = Self { reference: theirs.reference.clone(), name: theirs.name.clone() };
        // Two texts cannot fail to be written.
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
