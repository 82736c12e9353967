//! Copies of events: what they are copies of, and what is written.

use kalends_calendars::{Event, EventStatus, Repeats};
use kalends_kernel::{EventId, ExternalCalendarId};
use kalends_time::{CivilDate, Span, Timestamp, Zone};
use sha2::{Digest as _, Sha256};

/// The maximum number of characters of a copy's title.
pub const COPY_TITLE_MAX: usize = 255;
/// The maximum number of bytes of a copy's description.
pub const COPY_DESCRIPTION_MAX: usize = 32 * 1024;
/// The maximum number of characters of a copy's location.
pub const COPY_LOCATION_MAX: usize = 255;

/// What a copy is a copy of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CopyKey {
    /// The event, or the series of the occurrence.
    pub event: EventId,
    /// The original start of the occurrence; `None` for an event that does not repeat.
    pub original_start: Option<Timestamp>,
}

impl CopyKey {
    /// The key of an event's copy. A series is copied one occurrence at a time, so its row has no copy of its own.
    pub fn of(event: &Event) -> Self {
        match &event.repeats {
            Repeats::Instance(occurrence) => Self { event: occurrence.series, original_start: Some(occurrence.start) },
            Repeats::Once | Repeats::Series(_) => Self { event: event.id, original_start: None },
        }
    }
}

/// What is written of an event: nothing about the people in it, so that the provider invites nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyContent {
    /// The title, at most [`COPY_TITLE_MAX`] characters.
    pub title: String,
    /// The description, at most [`COPY_DESCRIPTION_MAX`] bytes. It ends with the address of the event's call.
    pub description: Option<String>,
    /// The location, at most [`COPY_LOCATION_MAX`] characters.
    pub location: Option<String>,
    /// The time.
    pub span: Span,
    /// Whether it takes whole days of the calendar's zone. The span then begins and ends at midnights of `zone`.
    pub all_day: bool,
    /// The zone of the calendar.
    pub zone: Zone,
    /// Whether it is tentative.
    pub tentative: bool,
    /// Whether it blocks no time.
    pub transparent: bool,
}

impl CopyContent {
    /// What is written of a one-off event or an instance of a series. `zone` is that of its calendar.
    pub fn of(event: &Event, zone: Zone) -> Self {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let address = event.conference_url.as_ref().map(|url| url.as_str().to_owned());
        let description = match (text(&event.description), address) {
            (Some(text), Some(address)) => {
                let room = COPY_DESCRIPTION_MAX.saturating_sub(address.len() + 2);
                Some(format!("{}\n\n{address}", first_bytes(&text, room)))
            }
            (Some(text), None) => Some(first_bytes(&text, COPY_DESCRIPTION_MAX).to_owned()),
            (None, address) => address,
        };
        let all_day = event.times.all_day;
        Self {
            title: first_characters(&one_line(&event.title), COPY_TITLE_MAX),
            description,
            location: text(&event.location).map(|text| first_characters(&one_line(&text), COPY_LOCATION_MAX)),
            span: if all_day { whole_days(event.times.span, zone) } else { event.times.span },
            all_day,
            zone,
            tentative: event.status == EventStatus::Tentative,
            transparent: event.transparent,
        }
    }

    /// SHA-256 of all fields. It changes if what is written changes.
    pub fn digest(&self) -> [u8; 32] {
        let mut fields = Fields::new("copy");
        fields.text(&self.title);
        fields.optional(self.description.as_deref());
        fields.optional(self.location.as_deref());
        fields.number(self.span.start().as_micros());
        fields.number(self.span.end().as_micros());
        fields.text(self.zone.name());
        fields.number(self.all_day.into());
        fields.number(self.tentative.into());
        fields.number(self.transparent.into());
        fields.finish()
    }

    /// SHA-256 of the fields by which a person's change is found: the title, the start and the end in whole seconds,
    /// whether it takes whole days, and whether it shows as free, tentative or busy.
    ///
    /// Providers write some text in another way, so spaces around and between words do not count.
    pub fn visible(&self) -> [u8; 32] {
        let shows_as = match (self.transparent, self.tentative) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        let mut fields = Fields::new("visible");
        fields.text(&one_line(&self.title));
        fields.number(self.span.start().as_unix_seconds());
        fields.number(self.span.end().as_unix_seconds());
        fields.number(self.all_day.into());
        fields.number(shows_as);
        fields.finish()
    }
}

/// The state of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyState {
    /// It is as we wrote it.
    Published,
    /// A person changed or deleted it. It is left alone.
    Diverged,
}

/// A copy that was written, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// What it is a copy of.
    pub key: CopyKey,
    /// The calendar to which it was written.
    pub target: ExternalCalendarId,
    /// The provider's identifier, at most 1024 bytes. Sealed at rest.
    pub reference: String,
    /// SHA-256 of everything that was written: [`CopyContent::digest`].
    pub digest: [u8; 32],
    /// SHA-256 of the fields by which a person's change is found: [`CopyContent::visible`].
    pub visible: [u8; 32],
    /// When the event ends. Copies of past events are forgotten and stay at the provider.
    pub ends_at: Timestamp,
    /// Whether a person changed it.
    pub state: CopyState,
}

impl Copy {
    /// The digest of a copy whose content is not known. No content has it, so the next plan writes the copy again.
    pub(crate) const UNKNOWN: [u8; 32] = [0; 32];
    /// The digest of a copy that may have been deleted. No content has it either.
    pub(crate) const DELETING: [u8; 32] = [1; 32];

    /// The copy after a person's change or deletion was found.
    #[must_use]
    pub fn diverged(&self) -> Self {
        Self { state: CopyState::Diverged, ..self.clone() }
    }
}

/// A copy that exists at a provider, found by the property that it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCopy {
    /// What it is a copy of.
    pub key: CopyKey,
    /// The provider's identifier.
    pub reference: String,
    /// [`CopyContent::visible`] of what we wrote, from its property.
    pub visible: [u8; 32],
    /// When it ends.
    pub ends_at: Timestamp,
    /// Whether a person has changed it since.
    pub changed: bool,
}

/// A hash of fields, none of which can be mistaken for a part of another.
struct Fields(Sha256);

impl Fields {
    fn new(kind: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.text(kind);
        fields
    }

    fn text(&mut self, text: &str) {
        self.number(i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.0.update(text.as_bytes());
    }

    fn optional(&mut self, text: Option<&str>) {
        self.number(text.is_some().into());
        self.text(text.unwrap_or_default());
    }

    fn number(&mut self, number: i64) {
        self.0.update(number.to_be_bytes());
    }

    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// The text with one space between its words. Titles and locations are written in one line.
fn one_line(text: &str) -> String {
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn first_characters(text: &str, most: usize) -> String {
    text.chars().take(most).collect::<String>().trim_end().to_owned()
}

/// The longest beginning that has at most `most` bytes and ends between two characters.
fn first_bytes(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// The days of `zone` that a span touches, from midnight to midnight.
fn whole_days(span: Span, zone: Zone) -> Span {
    let midnight = |date: CivilDate| zone.to_timestamp(date.midnight());
    let first = zone.to_civil(span.start()).date;
    let last = zone.to_civil(span.end()).date;
    let end = if midnight(last) == Some(span.end()) && last > first { last } else { last.plus_days(1) };
    let days = midnight(first).zip(midnight(end)).and_then(|(start, end)| Span::new(start, end).ok());
    days.unwrap_or(span)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Stand\tup\n now ", "Stand up now")]
    #[case("", "")]
    #[case("é", "é")]
    fn titles_are_written_in_one_line(#[case] text: &str, #[case] written: &str) {
        assert_eq!(one_line(text), written);
    }

    #[rstest]
    #[case("ééé", 6, "ééé")]
    #[case("ééé", 5, "éé")]
    #[case("ééé", 1, "")]
    #[case("", 4, "")]
    fn text_is_cut_between_characters(#[case] text: &str, #[case] most: usize, #[case] kept: &str) {
        assert_eq!(first_bytes(text, most), kept);
    }

    #[rstest]
    #[case::a_day(
        "UTC",
        "2026-05-01T00:00:00Z",
        "2026-05-02T00:00:00Z",
        "2026-05-01T00:00:00Z",
        "2026-05-02T00:00:00Z"
    )]
    #[case::other_zone(
        "Europe/Berlin",
        "2026-05-01T00:00:00Z",
        "2026-05-02T00:00:00Z",
        "2026-04-30T22:00:00Z",
        "2026-05-02T22:00:00Z"
    )]
    #[case::a_shorter_day(
        "Europe/Berlin",
        "2026-03-28T23:00:00Z",
        "2026-03-29T22:00:00Z",
        "2026-03-28T23:00:00Z",
        "2026-03-29T22:00:00Z"
    )]
    // A day that begins at 01:00 because its midnight is skipped.
    #[case::no_midnight(
        "America/Sao_Paulo",
        "2018-11-04T03:00:00Z",
        "2018-11-05T02:00:00Z",
        "2018-11-04T03:00:00Z",
        "2018-11-05T02:00:00Z"
    )]
    fn whole_days_begin_and_end_at_midnight(
        #[case] zone: &str,
        #[case] start: &str,
        #[case] end: &str,
        #[case] first: &str,
        #[case] last: &str,
    ) {
        let span = Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        let days = whole_days(span, zone.parse().unwrap());
        assert_eq!((days.start().to_string(), days.end().to_string()), (first.to_owned(), last.to_owned()));
    }
}
