//! The changes of a calendar in order: where a mirror of it stands, and what it is told next (ruling 4.14).
//!
//! Whatever writes an event raises the calendar's revision and stamps the event with it, in one transaction. Of
//! each event only its latest state is kept, under the revision of its last change; so a mirror that was told
//! everything up to a position finds everything else behind it, each event once.

use kalends_kernel::{CalendarId, EventId, Revision, SignedDuration, Span, Timestamp, base64url, from_base64url};
use uuid::Uuid;

use crate::{Event, Occurrence, bytes::take};

/// How long a deleted event is kept, so that mirrors hear of it; purged after that (ruling 4.3). Whoever purges
/// takes this number, since a token that is older is refused.
pub const DELETED_KEPT: SignedDuration = SignedDuration::days(30);

/// By how much the clocks of two nodes may differ, and how long a commit may take: what was deleted this long before
/// a page was read is certainly on it.
const SLACK: SignedDuration = SignedDuration::minutes(5);

/// Which database something was read from: random bytes that it got when it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseId(pub [u8; 16]);

impl DatabaseId {
    /// Enough of it to tell databases apart.
    fn mark(self) -> u64 {
        let mut mark = [0; 8];
        mark.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(mark)
    }
}

/// A place in the order of a calendar's changes: everything up to it, it included, was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The revision of the last change that was told.
    pub revision: Revision,
    /// Of several events with that revision, the last that was told.
    pub id: EventId,
}

impl Position {
    /// Before everything.
    pub const START: Self = Self { revision: Revision(0), id: EventId::from_uuid(Uuid::nil()) };

    /// After everything of that revision.
    pub const fn after(revision: Revision) -> Self {
        Self { revision, id: EventId::from_uuid(Uuid::max()) }
    }
}

/// What of a calendar's changes is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesQuery {
    /// Only what changed after this.
    pub after: Position,
    /// Of deleted events, only those deleted after this revision.
    pub deleted_after: Revision,
}

/// What an event has become.
#[derive(Debug, Clone, PartialEq)]
pub enum Changed {
    /// This, whatever it was before.
    Written(Box<Event>),
    /// Nothing: it was deleted.
    Deleted {
        /// The event.
        id: EventId,
        /// The occurrence that it was, if it was one.
        occurrence: Option<Occurrence>,
    },
}

impl Changed {
    /// The event's own identifier.
    pub const fn id(&self) -> EventId {
        match self {
            Self::Written(event) => event.id,
            Self::Deleted { id, .. } => *id,
        }
    }
}

/// Changes of a calendar as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangesRead {
    /// The database.
    pub database: DatabaseId,
    /// The calendar's revision: nothing above it was read.
    pub revision: Revision,
    /// The first of what changed, each with the revision of its last change, in order.
    pub changes: Vec<(Revision, Changed)>,
    /// Whether there is more than `changes` holds, because that would take too many bytes.
    pub more: bool,
}

impl ChangesRead {
    /// Keeps the first changes that together weigh at most `most`, one at least.
    pub fn keep_within(&mut self, most: usize, weigh: impl Fn(&Changed) -> usize) {
        let mut weight = 0_usize;
        let fits = self.changes.iter().take_while(|(_, changed)| {
            weight = weight.saturating_add(weigh(changed));
            weight <= most
        });
        let kept = fits.count().max(1);
        self.more |= kept < self.changes.len();
        self.changes.truncate(kept);
    }
}

/// What was written on a calendar since one of its revisions and takes part in a time.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedSince {
    /// The calendar's present revision.
    pub revision: Revision,
    /// Whether its availability rules were put or removed since.
    pub rules_changed: bool,
    /// Events written since that are neither deleted nor cancelled and reach into the time: those that overlap it,
    /// and series that began before its end and go on after its start, whether or not one of their occurrences lies
    /// in it. The oldest change first, at most [`CHANGED_SINCE_MAX`].
    pub events: Vec<Event>,
}

/// The most events of a [`ChangedSince`].
pub const CHANGED_SINCE_MAX: u32 = 1_000;

impl ChangedSince {
    /// Whether `event`, by its row alone, may take place in `time`.
    pub fn reaches_into(event: &Event, time: Span) -> bool {
        match event.repeating() {
            None => event.times.span.overlaps(time),
            Some(series) => {
                event.times.span.start() < time.end() && series.reaches().is_none_or(|end| end > time.start())
            }
        }
    }
}

/// One page of changes.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangesPage {
    /// The changes, to be applied in this order.
    pub changes: Vec<Changed>,
    /// Where the mirror stands once it has applied them.
    pub next: ChangesToken,
    /// Whether there was more.
    pub has_more: bool,
}

/// Where a mirror of a calendar stands.
///
/// Its text is opaque to callers: 65 bytes in base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesToken {
    database: u64,
    calendar: CalendarId,
    position: Position,
    /// The revision at which the mirror began: what was deleted up to there, it was never shown.
    begun_at: Revision,
    /// Every deletion until then was told, or was never of concern. Those between here and the position need not
    /// be there any more once this is older than [`DELETED_KEPT`].
    complete_until: Timestamp,
}

/// Why a mirror cannot go on from a token and has to begin anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Resync {
    /// It is no token.
    #[error("since is not a token of this endpoint; start again without since, from an empty copy")]
    Unknown,
    /// It is another calendar's.
    #[error("since is a token of another calendar; start again without since, from an empty copy")]
    OtherCalendar,
    /// It is another database's, or tells of changes that this one has lost.
    #[error(
        "since is a token of another database, or of a later state of it; start again without since, from an empty copy"
    )]
    OtherDatabase,
    /// What was deleted meanwhile may be forgotten.
    #[error(
        "since is older than {days} days, for which deletions are kept; start again without since, from an empty copy",
        days = DELETED_KEPT.as_seconds() / 86_400
    )]
    TooOld,
}

/// The first byte of a token: what the others mean.
const FORMAT: u8 = 1;
const TOKEN_BYTES: usize = 1 + 8 + 16 + 8 + 16 + 8 + 8;
const TOKEN_CHARACTERS: usize = (TOKEN_BYTES * 4).div_ceil(3);

impl ChangesToken {
    /// Reads a token of `calendar`.
    ///
    /// # Errors
    /// [`Resync::Unknown`], [`Resync::OtherCalendar`].
    pub fn parse(text: &str, calendar: CalendarId) -> Result<Self, Resync> {
        let token = Self::read(text).ok_or(Resync::Unknown)?;
        if token.calendar == calendar { Ok(token) } else { Err(Resync::OtherCalendar) }
    }

    fn read(text: &str) -> Option<Self> {
        if text.len() != TOKEN_CHARACTERS {
            return None;
        }
        let bytes = from_base64url(text)?;
        let (format, mut rest) = bytes.split_first()?;
        if *format != FORMAT {
            return None;
        }
        let token = Self {
            database: u64::from_be_bytes(take(&mut rest)?),
            calendar: CalendarId::from_uuid(Uuid::from_bytes(take(&mut rest)?)),
            position: Position {
                revision: revision(&mut rest)?,
                id: EventId::from_uuid(Uuid::from_bytes(take(&mut rest)?)),
            },
            begun_at: revision(&mut rest)?,
            complete_until: Timestamp::from_micros(i64::from_be_bytes(take(&mut rest)?)),
        };
        rest.is_empty().then_some(token)
    }

    /// The token as text.
    pub fn to_text(self) -> String {
        let mut bytes = Vec::with_capacity(TOKEN_BYTES);
        bytes.push(FORMAT);
        bytes.extend(self.database.to_be_bytes());
        bytes.extend(self.calendar.uuid().as_bytes());
        bytes.extend(self.position.revision.0.to_be_bytes());
        bytes.extend(self.position.id.uuid().as_bytes());
        bytes.extend(self.begun_at.0.to_be_bytes());
        bytes.extend(self.complete_until.as_micros().to_be_bytes());
        base64url(&bytes)
    }

    /// What to read for a mirror that stands at `since`; `None` is one that is empty.
    pub fn asks(since: Option<&Self>) -> ChangesQuery {
        match since {
            // What is deleted now was never shown to it.
            None => ChangesQuery { after: Position::START, deleted_after: Revision(i64::MAX) },
            Some(token) => ChangesQuery { after: token.position, deleted_after: token.begun_at },
        }
    }

    /// The page of at most `limit` changes for a mirror that stands at `since`, of what was read for
    /// [`asks(since)`](Self::asks): one more than `limit`, if there are so many. `now` is from before it was read.
    ///
    /// # Errors
    /// [`Resync::OtherDatabase`], [`Resync::TooOld`].
    pub fn page(
        since: Option<&Self>,
        calendar: CalendarId,
        read: ChangesRead,
        limit: u32,
        now: Timestamp,
    ) -> Result<ChangesPage, Resync> {
        let ChangesRead { database, revision, mut changes, more } = read;
        let fresh = now - SLACK;
        let (begun_at, complete_until) = match since {
            None => (revision, fresh),
            Some(token) => {
                token.goes_on(database, revision, now)?;
                (token.begun_at, token.complete_until)
            }
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = more || changes.len() > limit;
        changes.truncate(limit);
        let (position, complete_until) = match changes.last() {
            // What lies ahead may have been deleted long ago, while the mirror was away.
            Some((revision, last)) if has_more => (Position { revision: *revision, id: last.id() }, complete_until),
            _ => (Position::after(revision), complete_until.max(fresh)),
        };
        let next = Self { database: database.mark(), calendar, position, begun_at, complete_until };
        Ok(ChangesPage { changes: changes.into_iter().map(|(_, changed)| changed).collect(), next, has_more })
    }

    fn goes_on(&self, database: DatabaseId, revision: Revision, now: Timestamp) -> Result<(), Resync> {
        if self.database != database.mark() || self.position.revision.max(self.begun_at) > revision {
            return Err(Resync::OtherDatabase);
        }
        if now - self.complete_until > DELETED_KEPT { Err(Resync::TooOld) } else { Ok(()) }
    }
}

fn revision(bytes: &mut &[u8]) -> Option<Revision> {
    let revision = i64::from_be_bytes(take(bytes)?);
    (revision >= 0).then_some(Revision(revision))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_772_438_400_000_000);
    const HERE: DatabaseId = DatabaseId([7; 16]);

    fn calendar(number: u128) -> CalendarId {
        CalendarId::from_uuid(Uuid::from_u128(number))
    }

    fn gone(number: u128) -> Changed {
        Changed::Deleted { id: EventId::from_uuid(Uuid::from_u128(number)), occurrence: None }
    }

    fn read(revision: i64, changes: &[(i64, u128)]) -> ChangesRead {
        let changes = changes.iter().map(|(revision, number)| (Revision(*revision), gone(*number)));
        ChangesRead { database: HERE, revision: Revision(revision), changes: changes.collect(), more: false }
    }

    fn page(since: Option<&ChangesToken>, read: ChangesRead, limit: u32, now: Timestamp) -> ChangesPage {
        ChangesToken::page(since, calendar(1), read, limit, now).unwrap()
    }

    fn refused(since: &ChangesToken, read: ChangesRead, now: Timestamp) -> Resync {
        ChangesToken::page(Some(since), calendar(1), read, 9, now).unwrap_err()
    }

    #[test]
    fn a_mirror_goes_on_behind_what_it_was_told() {
        let empty = ChangesToken::asks(None);
        assert_eq!((empty.after, empty.deleted_after), (Position::START, Revision(i64::MAX)));
        let first = page(None, read(8, &[(2, 5), (4, 3), (4, 9)]), 2, NOW);
        assert_eq!((first.changes, first.has_more), (vec![gone(5), gone(3)], true));
        let asked = ChangesToken::asks(Some(&first.next));
        let at = Position { revision: Revision(4), id: gone(3).id() };
        assert_eq!((asked.after, asked.deleted_after), (at, Revision(8)), "what is deleted from now on is told");

        let last = page(Some(&first.next), read(11, &[(4, 9)]), 2, NOW);
        assert_eq!((last.changes, last.has_more), (vec![gone(9)], false));
        assert_eq!(ChangesToken::asks(Some(&last.next)).after, Position::after(Revision(11)));
        let nothing = page(Some(&last.next), read(11, &[]), 2, NOW);
        assert_eq!((nothing.changes, nothing.next, nothing.has_more), (Vec::new(), last.next, false));
        let full = page(Some(&last.next), read(12, &[(12, 1), (12, 2)]), 2, NOW);
        assert!(!full.has_more, "a page that is just full is the last one");
    }

    #[test]
    fn a_token_lasts_as_long_as_deletions() {
        let begun = page(None, read(8, &[(1, 1), (2, 2)]), 1, NOW).next;
        let kept = NOW - SLACK + DELETED_KEPT;
        let later = NOW + SignedDuration::days(20);
        let middle = page(Some(&begun), read(9, &[(2, 2), (3, 3)]), 1, later);
        assert!(middle.has_more);
        // What lies behind the middle may have been deleted at any time since the beginning.
        assert_eq!(refused(&middle.next, read(9, &[]), kept + SignedDuration::micros(1)), Resync::TooOld);
        let ended = page(Some(&middle.next), read(9, &[(3, 3)]), 1, later);
        assert!(!ended.has_more);
        page(Some(&ended.next), read(9, &[]), 1, later - SLACK + DELETED_KEPT);
        assert_eq!(refused(&ended.next, read(9, &[]), later + DELETED_KEPT), Resync::TooOld);
        // A clock that went back takes nothing from a mirror.
        let back = page(Some(&ended.next), read(9, &[]), 1, NOW);
        assert_eq!(back.next, ended.next);
    }

    #[test]
    fn a_token_is_of_one_calendar_in_one_database() {
        let token = page(None, read(8, &[]), 1, NOW).next;
        assert_eq!(ChangesToken::parse(&token.to_text(), calendar(1)), Ok(token));
        assert_eq!(ChangesToken::parse(&token.to_text(), calendar(2)), Err(Resync::OtherCalendar));
        let elsewhere = ChangesRead { database: DatabaseId([8; 16]), ..read(8, &[]) };
        assert_eq!(refused(&token, elsewhere, NOW), Resync::OtherDatabase);
        assert_eq!(refused(&token, read(7, &[]), NOW), Resync::OtherDatabase, "a backup was restored");
        // Also while the mirror is not yet where it began.
        let begun = page(None, read(8, &[(1, 1), (2, 2)]), 1, NOW).next;
        assert_eq!(refused(&begun, read(7, &[]), NOW), Resync::OtherDatabase);
    }

    #[test]
    fn what_is_no_token_is_unknown() {
        let token = page(None, read(8, &[]), 1, NOW).next.to_text();
        let mut other_format = from_base64url(&token).unwrap();
        other_format[0] = 2;
        let mut negative = from_base64url(&token).unwrap();
        negative[25] = 0xff;
        for text in [
            String::new(),
            "0".into(),
            token[1..].to_owned(),
            format!("{token}A"),
            token.replace(&token[..1], "*"),
            "é".repeat(TOKEN_CHARACTERS / 2) + "A",
            base64url(&other_format),
            base64url(&negative),
        ] {
            assert_eq!(ChangesToken::parse(&text, calendar(1)), Err(Resync::Unknown), "{text}");
        }
    }

    #[test]
    fn a_page_that_is_too_heavy_ends_early_and_the_next_one_goes_on() {
        let mut heavy = read(8, &[(2, 5), (4, 3), (4, 9)]);
        heavy.keep_within(20, |_| 10);
        let first = page(None, heavy, 9, NOW);
        assert_eq!((first.changes, first.has_more), (vec![gone(5), gone(3)], true));
        let at = Position { revision: Revision(4), id: gone(3).id() };
        assert_eq!(ChangesToken::asks(Some(&first.next)).after, at);
        let mut one = read(8, &[(4, 9)]);
        one.keep_within(5, |_| 10);
        let last = page(Some(&first.next), one, 9, NOW);
        assert_eq!((last.changes, last.has_more), (vec![gone(9)], false), "one change is always kept");
    }

    proptest! {
        #[test]
        fn tokens_are_read_as_written(
            database: u64, calendar: u128, revision in 0..i64::MAX, id: u128, begun in 0..i64::MAX, until: i64,
        ) {
            let token = ChangesToken {
                database,
                calendar: CalendarId::from_uuid(Uuid::from_u128(calendar)),
                position: Position { revision: Revision(revision), id: EventId::from_uuid(Uuid::from_u128(id)) },
                begun_at: Revision(begun),
                complete_until: Timestamp::from_micros(until),
            };
            prop_assert_eq!(ChangesToken::parse(&token.to_text(), token.calendar), Ok(token));
        }

        #[test]
        fn no_text_does_harm(bytes in prop::collection::vec(any::<u8>(), TOKEN_BYTES - 1..TOKEN_BYTES + 2), text: String) {
            let forged = base64url(&bytes);
            for text in [forged, text] {
                if let Some(token) = ChangesToken::read(&text) {
                    prop_assert_eq!(token.to_text(), text);
                    // Whatever it says, it is refused or read.
                    let _ = ChangesToken::page(Some(&token), token.calendar, read(3, &[(3, 1)]), 1, NOW);
                }
            }
        }
    }
}
