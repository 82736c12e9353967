//! Rows of `calendar_connections` and `external_calendars`.

use kalends_accounts::oauth::Provider;
use kalends_app::ports::{FieldCipher, Place};
use kalends_availability::{BusySet, HumanBusy, HumanSource};
use kalends_bridge::{Confidential, Connection, ExternalCalendar, Reading, RefreshState, TheirCalendar, Tokens};
use kalends_kernel::{ConnectionId, ExternalCalendarId, OrgId, Revision, Span, StoreError, Timestamp, UserId, Version};

use super::{Row, row_id};

/// Where the sealed tokens of a connection are stored.
pub(crate) const fn tokens_place(id: ConnectionId) -> Place {
    Place { table: "calendar_connections", column: "tokens", id: id.uuid() }
}

/// Where the sealed label of a connection is stored.
pub(crate) const fn label_place(id: ConnectionId) -> Place {
    Place { table: "calendar_connections", column: "label", id: id.uuid() }
}

/// Where the sealed part of an external calendar is stored.
pub(crate) const fn content_place(id: ExternalCalendarId) -> Place {
    Place { table: "external_calendars", column: "content", id: id.uuid() }
}

pub(crate) struct ConnectionRow {
    pub(crate) org_id: Vec<u8>,
    pub(crate) id: Vec<u8>,
    pub(crate) human_id: Vec<u8>,
    pub(crate) provider: String,
    pub(crate) label: Option<String>,
    pub(crate) tokens: String,
    pub(crate) paused: bool,
    pub(crate) lapsed: bool,
    pub(crate) fence: i64,
    pub(crate) refreshed_at: Option<i64>,
    pub(crate) last_error: Option<String>,
    pub(crate) failures: i64,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl ConnectionRow {
    pub(crate) fn read(self, cipher: &dyn FieldCipher) -> Result<Connection, StoreError> {
        let id = ConnectionId::from_uuid(row_id("calendar_connections", "id", &self.id)?);
        let row = Row { table: "calendar_connections", id: &id };
        let tokens = row.read("tokens", cipher.open(tokens_place(id), &self.tokens))?;
        let label = self.label.map(|label| {
            let plain = row.read("label", cipher.open(label_place(id), &label))?;
            row.read("label", String::from_utf8(plain).map_err(|error| error.utf8_error()))
        });
        Ok(Connection {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            human: UserId::from_uuid(row.uuid("human_id", &self.human_id)?),
            provider: row.named("provider", Provider::from_name, &self.provider)?,
            label: label.transpose()?,
            tokens: row.read("tokens", Tokens::read(&tokens))?,
            paused: self.paused,
            refresh: RefreshState {
                refreshed_at: self.refreshed_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: row.read("failures", u32::try_from(self.failures))?,
                lapsed: self.lapsed,
            },
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// A reading as columns: `read_at`, `covers_from`, `covers_until` and `spans`.
pub(crate) struct ReadingColumns {
    pub(crate) read_at: Option<i64>,
    pub(crate) covers_from: Option<i64>,
    pub(crate) covers_until: Option<i64>,
    pub(crate) spans: Option<Vec<u8>>,
}

impl ReadingColumns {
    pub(crate) fn of(reading: Option<&Reading>) -> Self {
        Self {
            read_at: reading.map(|reading| reading.read_at.as_micros()),
            covers_from: reading.map(|reading| reading.covers.start().as_micros()),
            covers_until: reading.map(|reading| reading.covers.end().as_micros()),
            spans: reading.map(|reading| pack(&reading.spans)),
        }
    }

    fn read(self, row: Row<'_>) -> Result<Option<Reading>, StoreError> {
        match (self.read_at, self.covers_from, self.covers_until, self.spans) {
            (None, None, None, None) => Ok(None),
            (Some(read_at), Some(from), Some(until), Some(spans)) => {
                let covers = Span::new(Timestamp::from_micros(from), Timestamp::from_micros(until));
                Ok(Some(Reading {
                    read_at: Timestamp::from_micros(read_at),
                    covers: row.read("covers_until", covers)?,
                    spans: unpack(&spans)
                        .ok_or_else(|| row.corrupt("spans", "the spans are not sorted and disjoint"))?,
                }))
            }
            _ => Err(row.corrupt("read_at", "a reading has a time, the span that it covers, and busy spans")),
        }
    }
}

/// Packs the spans one after the other, 16 bytes each.
fn pack(spans: &BusySet) -> Vec<u8> {
    spans.spans().iter().flat_map(|span| <[u8; 16]>::from(*span)).collect()
}

/// Unpacks such bytes. `None` if they are not spans, or are not ordered and disjoint as in a set.
fn unpack(bytes: &[u8]) -> Option<BusySet> {
    let (packed, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return None;
    }
    let spans: Vec<Span> = packed.iter().map(|bytes| Span::try_from(*bytes).ok()).collect::<Option<_>>()?;
    spans.is_sorted_by(|one, next| one.end() < next.start()).then(|| BusySet::from_unsorted(spans))
}

pub(crate) struct ExternalCalendarRow {
    pub(crate) id: Vec<u8>,
    pub(crate) connection_id: Vec<u8>,
    pub(crate) content: String,
    pub(crate) is_primary: bool,
    pub(crate) revision: i64,
    pub(crate) reading: ReadingColumns,
}

impl ExternalCalendarRow {
    pub(crate) fn read(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<ExternalCalendar, StoreError> {
        let id = ExternalCalendarId::from_uuid(row_id("external_calendars", "id", &self.id)?);
        let row = Row { table: "external_calendars", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), &self.content))?;
        let Confidential { reference, name } = row.read("content", Confidential::read(&plain))?;
        Ok(ExternalCalendar {
            id,
            org,
            connection: ConnectionId::from_uuid(row.uuid("connection_id", &self.connection_id)?),
            theirs: TheirCalendar { reference, name, primary: self.is_primary },
            revision: Revision(self.revision),
            reading: self.reading.read(row)?,
        })
    }
}

/// The busy times of an external calendar, without its name.
pub(crate) struct BusyRow {
    pub(crate) id: Vec<u8>,
    pub(crate) revision: i64,
    pub(crate) reading: ReadingColumns,
}

impl BusyRow {
    /// Same as [`ExternalCalendar::busy`], which would need the sealed part too.
    pub(crate) fn read(self, window: Span) -> Result<HumanBusy, StoreError> {
        let id = ExternalCalendarId::from_uuid(row_id("external_calendars", "id", &self.id)?);
        let reading = self.reading.read(Row { table: "external_calendars", id: &id })?;
        Ok(HumanBusy {
            source: HumanSource(id.uuid().as_u128()),
            revision: Revision(self.revision),
            read_at: reading.as_ref().map(|reading| reading.read_at),
            covers: reading.as_ref().map_or(window, |reading| reading.covers),
            spans: reading.map_or(BusySet::EMPTY, |reading| reading.spans.clip(window)),
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
}
