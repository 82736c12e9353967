//! Rows of `calendar_connections` and `external_calendars`.

use kalends_app::ports::FieldCipher;
use kalends_availability::BusySet;
use kalends_bridge::HumanBusy;
use kalends_bridge::{
    Access, CalendarProvider, Confidential, Connection, ExternalCalendar, ListedConnection, Reading, RefreshState,
    TheirCalendar, UnreadableConnection,
};
use kalends_kernel::HumanSource;
use kalends_kernel::{CalendarId, ConnectionId, ExternalCalendarId, OrgId, Revision, StoreError, UserId, Version};
use kalends_time::{Span, Timestamp};
use uuid::Uuid;

use crate::{Key, Located, places, row_id};

columns! {
    $ macro connection_row;
    /// The columns of a connection.
    pub struct ConnectionRow<K> {
        org_id: K,
        id: K,
        human_id: K,
        provider: String,
        label: Option<String>,
        tokens: String,
        paused: bool,
        lapsed: bool,
        refreshed_at: Option<i64>,
        last_error: Option<String>,
        failures: i64,
        due_at: Option<i64>,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> ConnectionRow<K> {
    /// The connection, or an error that names the corrupt column.
    pub fn open(self, cipher: &dyn FieldCipher) -> Result<Connection, StoreError> {
        let id = ConnectionId::from_uuid(row_id("calendar_connections", "id", &self.id)?);
        let row = Located { table: "calendar_connections", id: &id };
        let tokens = row.open(places::connection_tokens(id), &self.tokens, cipher)?;
        let label = self.label.as_deref();
        let label = label.map(|label| row.open_text(places::connection_label(id), label, cipher));
        let provider = row.named("provider", &self.provider, CalendarProvider::from_name)?;
        Ok(Connection {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            human: UserId::from_uuid(row.uuid("human_id", &self.human_id)?),
            provider,
            label: label.transpose()?,
            access: row.read("tokens", Access::read(provider, &tokens))?,
            paused: self.paused,
            refresh: RefreshState {
                refreshed_at: self.refreshed_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: row.read("failures", u32::try_from(self.failures))?,
                lapsed: self.lapsed,
            },
            due_at: self.due_at.map(Timestamp::from_micros),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }

    /// The connection, or what an entry of a list shows of one that is corrupt. The error names the column if even that
    /// is corrupt.
    pub fn listed(self, cipher: &dyn FieldCipher) -> Result<ListedConnection, StoreError> {
        let id = ConnectionId::from_uuid(row_id("calendar_connections", "id", &self.id)?);
        let row = Located { table: "calendar_connections", id: &id };
        let provider = row.named("provider", &self.provider, CalendarProvider::from_name)?;
        let refreshed_at = self.refreshed_at.map(Timestamp::from_micros);
        let [created_at, updated_at] = [self.created_at, self.updated_at].map(Timestamp::from_micros);
        match self.open(cipher) {
            Err(StoreError::Corrupt(cause)) => {
                Ok(Err(UnreadableConnection { id, provider, refreshed_at, created_at, updated_at, cause }))
            }
            opened => opened.map(Ok),
        }
    }
}

columns! {
    $ macro reading_row;
    /// The columns that determine when an external calendar is busy.
    pub struct ReadingRow<K> {
        id: K,
        revision: i64,
        read_at: Option<i64>,
        covers_from: Option<i64>,
        covers_until: Option<i64>,
        spans: Option<Vec<u8>>,
        /// Null if there are none.
        copies: Option<Vec<u8>>,
        /// Null if the provider has no tag.
        tag: Option<Vec<u8>>,
    }
}

impl<K: Key> ReadingRow<K> {
    fn id(&self) -> Result<ExternalCalendarId, StoreError> {
        row_id("external_calendars", "id", &self.id).map(ExternalCalendarId::from_uuid)
    }

    /// The last reading.
    fn reading(self, row: &Located<ExternalCalendarId>) -> Result<Option<Reading>, StoreError> {
        match (self.read_at, self.covers_from, self.covers_until, self.spans, (self.copies, self.tag)) {
            // A node of an older release that removes a reading leaves its tag.
            (None, None, None, None, (None, _)) => Ok(None),
            (Some(read_at), Some(from), Some(until), Some(spans), (copies, tag)) => {
                let covers = Span::new(Timestamp::from_micros(from), Timestamp::from_micros(until));
                Ok(Some(Reading {
                    read_at: Timestamp::from_micros(read_at),
                    covers: row.read("covers_until", covers)?,
                    spans: unpack(&spans)
                        .ok_or_else(|| row.corrupt("spans", "the spans are not sorted and disjoint"))?,
                    copies: read_copies(copies.as_deref().unwrap_or_default())
                        .ok_or_else(|| row.corrupt("copies", "must be calendars and spans, 32 bytes each"))?,
                    tag: tag.map(|tag| row.read("tag", <[u8; 32]>::try_from(tag.as_slice()))).transpose()?,
                }))
            }
            _ => Err(row.corrupt("read_at", "a reading has a time, the span that it covers, and busy spans")),
        }
    }

    /// The busy times in `window`, as in [`ExternalCalendar::busy`], without opening the sealed name.
    pub fn busy(self, window: Span) -> Result<HumanBusy, StoreError> {
        let (id, revision) = (self.id()?, Revision(self.revision));
        let reading = self.reading(&Located { table: "external_calendars", id })?;
        Ok(HumanBusy {
            source: HumanSource(id.uuid().as_u128()),
            revision,
            read_at: reading.as_ref().map(|reading| reading.read_at),
            covers: reading.as_ref().map_or(window, |reading| reading.covers),
            spans: reading.as_ref().map_or(BusySet::EMPTY, |reading| reading.spans.clip(window)),
            copies: reading.map_or_else(Vec::new, |reading| clipped(reading.copies, window)),
        })
    }
}

/// Packs the spans one after the other, 16 bytes each.
pub fn pack(spans: &BusySet) -> Vec<u8> {
    spans.spans().iter().flat_map(|span| <[u8; 16]>::from(*span)).collect()
}

/// Unpacks spans that [`pack`] has packed. `None` if the bytes are not spans, or if the spans are not ordered and
/// disjoint.
fn unpack(bytes: &[u8]) -> Option<BusySet> {
    let (packed, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return None;
    }
    let spans: Vec<Span> = packed.iter().map(|bytes| Span::try_from(*bytes).ok()).collect::<Option<_>>()?;
    spans.is_sorted_by(|one, next| one.end() < next.start()).then(|| BusySet::from_unsorted(spans))
}

/// Packs the busy times of copies one after the other, 32 bytes each: the calendar and the span. `None` if there are
/// none.
pub fn write_copies(copies: &[(CalendarId, Span)]) -> Option<Vec<u8>> {
    if copies.is_empty() {
        return None;
    }
    let each = copies.iter().map(|(calendar, span)| [*calendar.uuid().as_bytes(), <[u8; 16]>::from(*span)]);
    Some(each.flatten().flatten().collect())
}

/// Unpacks what [`write_copies`] has packed. `None` if the bytes are not calendars with spans.
fn read_copies(bytes: &[u8]) -> Option<Vec<(CalendarId, Span)>> {
    let (packed, rest) = bytes.as_chunks::<16>();
    let (pairs, odd) = packed.as_chunks::<2>();
    if !rest.is_empty() || !odd.is_empty() {
        return None;
    }
    let each = pairs.iter().map(|[calendar, span]| {
        let calendar = CalendarId::from_uuid(Uuid::from_bytes(*calendar));
        Span::try_from(*span).ok().map(|span| (calendar, span))
    });
    each.collect()
}

/// The parts of the busy times of copies that are in `window`.
fn clipped(copies: Vec<(CalendarId, Span)>, window: Span) -> Vec<(CalendarId, Span)> {
    copies.into_iter().filter_map(|(calendar, span)| Some((calendar, span.clip(window)?))).collect()
}

columns! {
    /// The columns of an external calendar.
    pub struct ExternalCalendarRow<K> {
        connection_id: K,
        content: String,
        is_primary: bool,
        reading: ReadingRow<K>,
    }
}

impl<K: Key> ExternalCalendarRow<K> {
    /// The external calendar, or an error that names the corrupt column.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<ExternalCalendar, StoreError> {
        let id = self.reading.id()?;
        let row = Located { table: "external_calendars", id };
        let plain = row.open(places::external_content(id), &self.content, cipher)?;
        let Confidential { reference, name } = row.read("content", Confidential::read(&plain))?;
        Ok(ExternalCalendar {
            id,
            org,
            connection: ConnectionId::from_uuid(row.uuid("connection_id", &self.connection_id)?),
            theirs: TheirCalendar { reference, name, primary: self.is_primary },
            revision: Revision(self.reading.revision),
            reading: self.reading.reading(&row)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> Span {
        Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).unwrap()
    }

    #[test]
    fn spans_are_read_as_written() {
        let spans = BusySet::from_unsorted(vec![span(-9, -5), span(0, 1), span(1_772_323_200_000_001, i64::MAX)]);
        assert_eq!(unpack(&pack(&spans)), Some(spans));
        assert_eq!(unpack(b""), Some(BusySet::EMPTY));
        let packed = |spans: &[Span]| spans.iter().flat_map(|span| <[u8; 16]>::from(*span)).collect::<Vec<u8>>();
        for broken in [&[span(5, 6), span(1, 2)][..], &[span(1, 3), span(2, 4)], &[span(1, 2), span(2, 3)]] {
            assert_eq!(unpack(&packed(broken)), None, "{broken:?}");
        }
        assert_eq!(unpack(&packed(&[span(1, 2)])[1..]), None);
        assert_eq!(unpack(&[0; 16]), None, "an empty span");
    }

    #[test]
    fn copies_are_read_as_written_and_clipped() {
        let [one, two] = [1, 2].map(|id| CalendarId::from_uuid(Uuid::from_u128(id)));
        let copies = vec![(two, span(-9, -5)), (one, span(0, 10)), (one, span(5, i64::MAX))];
        let packed = write_copies(&copies).unwrap();
        assert_eq!(packed.len(), 3 * 32);
        assert_eq!(read_copies(&packed).as_deref(), Some(&*copies));
        assert_eq!(clipped(copies, span(-5, 8)), [(one, span(0, 8)), (one, span(5, 8))]);
        assert_eq!((write_copies(&[]), read_copies(&[])), (None, Some(Vec::new())));
        assert_eq!((read_copies(&packed[1..]), read_copies(&packed[16..])), (None, None), "half of one");
        assert_eq!(read_copies(&[0; 32]), None, "an empty span");
    }
}
