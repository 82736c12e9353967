//! The changes of a calendar in order, so that a client can keep a mirror of it.
//!
//! Every write of an event increments the calendar's revision and stamps the event with it, in one transaction. Only
//! the latest state of each event is kept, under the revision of its last change. So a mirror that has read everything
//! up to a position finds everything else after it, each event once. An event that moves to another calendar counts as
//! deleted on the one that it leaves.

use kalends_kernel::{CalendarId, EventId, Revision, base64url, from_base64url};
use kalends_time::{SignedDuration, Span, Timestamp};
use uuid::Uuid;

use crate::{Event, Occurrence, bytes::take};

/// How long a deleted event is kept for mirrors before it is purged. The purge must use this constant, because a token
/// is refused if it is older.
pub const DELETED_KEPT: SignedDuration = SignedDuration::days(30);

/// The maximum difference between the clocks of two nodes, plus the maximum time of a commit. A page certainly includes
/// every deletion that is older than this when the page is read.
const SLACK: SignedDuration = SignedDuration::minutes(5);

/// Identifies a database: random bytes that were generated when it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseId(pub [u8; 16]);

impl DatabaseId {
    /// A part of the identifier that is long enough to distinguish databases.
    fn mark(self) -> u64 {
        let mut mark = [0; 8];
        mark.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(mark)
    }
}

/// A position in the order of a calendar's changes. Everything up to and including it was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The revision of the last change that was returned.
    pub revision: Revision,
    /// The last event with that revision that was returned.
    pub id: EventId,
}

impl Position {
    /// Before every change.
    pub const START: Self = Self { revision: Revision(0), id: EventId::from_uuid(Uuid::nil()) };

    /// After every change of that revision.
    pub const fn after(revision: Revision) -> Self {
        Self { revision, id: EventId::from_uuid(Uuid::max()) }
    }
}

/// A query for the changes of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesSince {
    /// Only changes after this position.
    pub after: Position,
    /// Only deletions after this revision.
    pub deleted_after: Revision,
}

/// The present state of a changed event.
#[derive(Debug, Clone, PartialEq)]
pub enum Changed {
    /// The event was created or changed.
    Written(Box<Event>),
    /// The event was deleted, or moved to another calendar.
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

/// Changes of a calendar, as read from the store.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangesRead {
    /// The database.
    pub database: DatabaseId,
    /// The calendar's revision. No change above it was read.
    pub revision: Revision,
    /// The first changes in order, each with its revision.
    pub changes: Vec<(Revision, Changed)>,
    /// Whether further changes were left out because they would take too many bytes.
    pub more: bool,
}

impl ChangesRead {
    /// Adds the events that moved to another calendar, and keeps the first `limit` changes. `moved` has at least the
    /// first `limit` of them. What follows a change that was left out is left out too.
    #[must_use]
    pub fn with_moved(mut self, moved: Vec<(Revision, Changed)>, limit: u32) -> Self {
        if moved.is_empty() {
            return self;
        }
        let position = |(revision, changed): &(Revision, Changed)| Position { revision: *revision, id: changed.id() };
        let last = if self.more { self.changes.last().map(position) } else { None };
        self.changes.extend(moved);
        self.changes.sort_by_key(position);
        if let Some(last) = last {
            self.changes.retain(|change| position(change) <= last);
        }
        self.changes.truncate(limit.try_into().unwrap_or(usize::MAX));
        self
    }

    /// Keeps the first changes whose total weight is at most `most`, but at least one.
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

/// The writes that affect a window of a calendar, since one of its revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedSince {
    /// The calendar's present revision.
    pub revision: Revision,
    /// Whether its availability rules were written or removed since.
    pub rules_changed: bool,
    /// Events that were written since, are neither deleted nor cancelled, and reach into the window. These are the
    /// events that overlap it, and the series that begin before its end and continue after its start, even if none of
    /// their occurrences is in it. Oldest change first, at most [`CHANGED_SINCE_MAX`].
    pub events: Vec<Event>,
}

/// The maximum number of events in a [`ChangedSince`].
pub const CHANGED_SINCE_MAX: u32 = 1_000;

impl ChangedSince {
    /// Whether `event` may take place in `time`, judging by its row alone.
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
    /// The token of the mirror once it has applied them.
    pub next: ChangesToken,
    /// Whether there are further changes.
    pub has_more: bool,
}

/// The progress of a mirror of a calendar.
///
/// The text form is opaque to callers: 65 bytes in base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesToken {
    database: u64,
    calendar: CalendarId,
    position: Position,
    /// The revision at which the mirror began. The mirror never saw the events that were deleted up to that revision.
    begun_at: Revision,
    /// The mirror has every deletion up to this time that concerns it. Once this is older than [`DELETED_KEPT`], later
    /// deletions may have been purged before the mirror read them.
    complete_until: Timestamp,
}

/// Why a mirror cannot continue from a token and must start again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Resync {
    /// The text is not a token.
    #[error("since is not a token of this endpoint; start again without since, from an empty copy")]
    Unknown,
    /// The token belongs to another calendar.
    #[error("since is a token of another calendar; start again without since, from an empty copy")]
    OtherCalendar,
    /// The token belongs to another database, or to changes that this one has lost.
    #[error(
        "since is a token of another database, or of a later state of it; start again without since, from an empty copy"
    )]
    OtherDatabase,
    /// Deletions since the token may have been purged.
    #[error(
        "since is older than {days} days, for which deletions are kept; start again without since, from an empty copy",
        days = DELETED_KEPT.as_seconds() / 86_400
    )]
    TooOld,
}

/// The first byte of a token, which identifies the format.
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

    /// The text form.
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

    /// The query for a mirror at `since`; `None` is an empty mirror.
    pub fn asks(since: Option<&Self>) -> ChangesSince {
        match since {
            // An empty mirror has never seen the events that are deleted now.
            None => ChangesSince { after: Position::START, deleted_after: Revision(i64::MAX) },
            Some(token) => ChangesSince { after: token.position, deleted_after: token.begun_at },
        }
    }

    /// The page of at most `limit` changes for a mirror at `since`. `read` is the result of the query
    /// [`asks(since)`](Self::asks), with up to one change more than `limit`. `now` is a time before the read.
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
            // Changes that follow may include deletions made long ago, while the mirror was away.
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
    fn a_mirror_continues_after_the_last_change_that_it_got() {
        let empty = ChangesToken::asks(None);
        assert_eq!((empty.after, empty.deleted_after), (Position::START, Revision(i64::MAX)));
        let first = page(None, read(8, &[(2, 5), (4, 3), (4, 9)]), 2, NOW);
        assert_eq!((first.changes, first.has_more), (vec![gone(5), gone(3)], true));
        let parsed = ChangesToken::asks(Some(&first.next));
        let at = Position { revision: Revision(4), id: gone(3).id() };
        assert_eq!((parsed.after, parsed.deleted_after), (at, Revision(8)), "deletions from now on are returned");

        let last = page(Some(&first.next), read(11, &[(4, 9)]), 2, NOW);
        assert_eq!((last.changes, last.has_more), (vec![gone(9)], false));
        assert_eq!(ChangesToken::asks(Some(&last.next)).after, Position::after(Revision(11)));
        let nothing = page(Some(&last.next), read(11, &[]), 2, NOW);
        assert_eq!((nothing.changes, nothing.next, nothing.has_more), (Vec::new(), last.next, false));
        let full = page(Some(&last.next), read(12, &[(12, 1), (12, 2)]), 2, NOW);
        assert!(!full.has_more, "a page that is just full is the last one");
    }

    #[test]
    fn a_token_is_valid_as_long_as_deletions_are_kept() {
        let begun = page(None, read(8, &[(1, 1), (2, 2)]), 1, NOW).next;
        let kept = NOW - SLACK + DELETED_KEPT;
        let later = NOW + SignedDuration::days(20);
        let middle = page(Some(&begun), read(9, &[(2, 2), (3, 3)]), 1, later);
        assert!(middle.has_more);
        // Events after the middle may have been deleted at any time since the beginning.
        assert_eq!(refused(&middle.next, read(9, &[]), kept + SignedDuration::micros(1)), Resync::TooOld);
        let ended = page(Some(&middle.next), read(9, &[(3, 3)]), 1, later);
        assert!(!ended.has_more);
        page(Some(&ended.next), read(9, &[]), 1, later - SLACK + DELETED_KEPT);
        assert_eq!(refused(&ended.next, read(9, &[]), later + DELETED_KEPT), Resync::TooOld);
        // A clock that goes back does not shorten the validity of a token.
        let back = page(Some(&ended.next), read(9, &[]), 1, NOW);
        assert_eq!(back.next, ended.next);
    }

    #[test]
    fn a_token_belongs_to_one_calendar_in_one_database() {
        let token = page(None, read(8, &[]), 1, NOW).next;
        assert_eq!(ChangesToken::parse(&token.to_text(), calendar(1)), Ok(token));
        assert_eq!(ChangesToken::parse(&token.to_text(), calendar(2)), Err(Resync::OtherCalendar));
        let elsewhere = ChangesRead { database: DatabaseId([8; 16]), ..read(8, &[]) };
        assert_eq!(refused(&token, elsewhere, NOW), Resync::OtherDatabase);
        assert_eq!(refused(&token, read(7, &[]), NOW), Resync::OtherDatabase, "a backup was restored");
        // Also while the mirror has not yet reached the revision at which it began.
        let begun = page(None, read(8, &[(1, 1), (2, 2)]), 1, NOW).next;
        assert_eq!(refused(&begun, read(7, &[]), NOW), Resync::OtherDatabase);
    }

    #[test]
    fn a_malformed_token_is_unknown() {
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
    fn a_page_that_is_too_heavy_ends_early_and_the_next_one_continues() {
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

    #[test]
    fn events_that_moved_are_in_order_with_other_changes() {
        let moved = || vec![(Revision(3), gone(7)), (Revision(5), gone(1))];
        let shown = |read: ChangesRead| -> Vec<i64> { read.changes.iter().map(|(revision, _)| revision.0).collect() };
        assert_eq!(shown(read(8, &[(2, 5), (4, 9)]).with_moved(moved(), 9)), [2, 3, 4, 5]);
        assert_eq!(shown(read(8, &[(2, 5), (4, 9)]).with_moved(moved(), 3)), [2, 3, 4]);
        // The page ended early, so whatever comes after its last change must wait.
        let early = ChangesRead { more: true, ..read(8, &[(2, 5), (4, 9)]) }.with_moved(moved(), 9);
        assert!(early.more);
        assert_eq!(shown(early), [2, 3, 4]);
        assert_eq!(shown(read(8, &[]).with_moved(moved(), 1)), [3]);
    }

    proptest! {
        /// Every token of the changes of a calendar is read back from its text.
        #[test]
        fn tokens_round_trip(
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

        /// Any text is refused as a token of changes, or is the only text of the one that is read.
        #[test]
        fn any_text_is_refused_or_canonical(
            bytes in prop::collection::vec(any::<u8>(), TOKEN_BYTES - 1..TOKEN_BYTES + 2), text: String,
        ) {
            let forged = base64url(&bytes);
            for text in [forged, text] {
                if let Some(token) = ChangesToken::read(&text) {
                    prop_assert_eq!(token.to_text(), text);
                    // Must not panic, whatever the token says.
                    let _ = ChangesToken::page(Some(&token), token.calendar, read(3, &[(3, 1)]), 1, NOW);
                }
            }
        }
    }
}
