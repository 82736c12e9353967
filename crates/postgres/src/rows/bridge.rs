//! Connection links, connections, their calendars and grants.

use std::fmt::Display;

use kalends_accounts::{TokenHash, oauth::Provider};
use kalends_app::ports::FieldCipher;
use kalends_availability::{BusySet, HumanBusy, HumanSource};
use kalends_bridge::{
    Audience, Confidential, Connection, ConnectionLink, ExternalCalendar, Grant, LinkStatus, NewLink,
    PublicationPolicy, Reading, RefreshState, TheirCalendar, Tokens,
};
use kalends_kernel::{
    AgentId, CalendarId, ConnectionId, ConnectionLinkId, ExternalCalendarId, GrantId, OrgId, Revision, Span,
    StoreError, Timestamp, UserId, Version,
};
use uuid::Uuid;

use super::Located;
use crate::sealed::{connection_label, connection_tokens, external_content};

/// The columns of a connection link.
pub(crate) struct LinkRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) agent_id: Option<Uuid>,
    pub(crate) calendar_id: Uuid,
    pub(crate) secret_hash: Vec<u8>,
    pub(crate) publishing: bool,
    pub(crate) policy: String,
    pub(crate) state: String,
    pub(crate) human_id: Option<Uuid>,
    pub(crate) connection_id: Option<Uuid>,
    pub(crate) expires_at: i64,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl LinkRow {
    pub(crate) fn into_domain(self) -> Result<ConnectionLink, StoreError> {
        let id = ConnectionLinkId::from_uuid(self.id);
        let row = Located { table: "connection_links", id };
        Ok(ConnectionLink {
            id,
            org: OrgId::from_uuid(self.org_id),
            agent: self.agent_id.map(AgentId::from_uuid),
            calendar: CalendarId::from_uuid(self.calendar_id),
            secret: TokenHash(row.hash("secret_hash", &self.secret_hash)?),
            asked: NewLink {
                publishing: self.publishing,
                policy: row.named("policy", &self.policy, PublicationPolicy::from_name)?,
            },
            state: row.named("state", &self.state, LinkStatus::from_name)?,
            human: self.human_id.map(UserId::from_uuid),
            connection: self.connection_id.map(ConnectionId::from_uuid),
            expires_at: Timestamp::from_micros(self.expires_at),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// The columns of a connection.
pub(crate) struct ConnectionRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) human_id: Uuid,
    pub(crate) provider: String,
    pub(crate) label: Option<String>,
    pub(crate) tokens: String,
    pub(crate) paused: bool,
    pub(crate) lapsed: bool,
    pub(crate) refreshed_at: Option<i64>,
    pub(crate) last_error: Option<String>,
    pub(crate) failures: i64,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl ConnectionRow {
    pub(crate) fn open(self, cipher: &dyn FieldCipher) -> Result<Connection, StoreError> {
        let id = ConnectionId::from_uuid(self.id);
        let row = Located { table: "calendar_connections", id };
        let label = self.label.map(|label| {
            let plain = cipher.open(connection_label(id), &label).map_err(|error| row.corrupt("label", error))?;
            // The error does not repeat the bytes that failed to decode.
            String::from_utf8(plain).map_err(|error| row.corrupt("label", error.utf8_error()))
        });
        let tokens = cipher.open(connection_tokens(id), &self.tokens).map_err(|error| row.corrupt("tokens", error))?;
        Ok(Connection {
            id,
            org: OrgId::from_uuid(self.org_id),
            human: UserId::from_uuid(self.human_id),
            provider: row.named("provider", &self.provider, Provider::from_name)?,
            label: label.transpose()?,
            tokens: Tokens::read(&tokens).map_err(|error| row.corrupt("tokens", error))?,
            paused: self.paused,
            refresh: RefreshState {
                refreshed_at: self.refreshed_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: u32::try_from(self.failures).map_err(|error| row.corrupt("failures", error))?,
                lapsed: self.lapsed,
            },
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// The columns that determine when an external calendar is busy.
pub(crate) struct ReadingRow {
    pub(crate) id: Uuid,
    pub(crate) revision: i64,
    pub(crate) read_at: Option<i64>,
    pub(crate) covers_from: Option<i64>,
    pub(crate) covers_until: Option<i64>,
    pub(crate) spans: Option<Vec<u8>>,
}

impl ReadingRow {
    /// The last reading.
    fn reading(self) -> Result<Option<Reading>, StoreError> {
        let row = Located { table: "external_calendars", id: ExternalCalendarId::from_uuid(self.id) };
        let (read_at, from, until, spans) = match (self.read_at, self.covers_from, self.covers_until, self.spans) {
            (None, None, None, None) => return Ok(None),
            (Some(read_at), Some(from), Some(until), Some(spans)) => (read_at, from, until, spans),
            _ => return Err(row.corrupt("read_at", "a reading has a time, the span that it covers, and busy spans")),
        };
        let covers = Span::new(Timestamp::from_micros(from), Timestamp::from_micros(until));
        Ok(Some(Reading {
            read_at: Timestamp::from_micros(read_at),
            covers: covers.map_err(|error| row.corrupt("covers_until", error))?,
            spans: unpacked(&row, &spans)?,
        }))
    }

    /// The busy times in `window`, as in [`ExternalCalendar::busy`], without opening the sealed name.
    pub(crate) fn busy(self, window: Span) -> Result<HumanBusy, StoreError> {
        let (source, revision) = (HumanSource(self.id.as_u128()), Revision(self.revision));
        let reading = self.reading()?;
        Ok(HumanBusy {
            source,
            revision,
            read_at: reading.as_ref().map(|reading| reading.read_at),
            covers: reading.as_ref().map_or(window, |reading| reading.covers),
            spans: reading.map_or(BusySet::EMPTY, |reading| reading.spans.clip(window)),
        })
    }
}

/// The set as stored: 16 bytes per span, in order.
pub(crate) fn packed(spans: &BusySet) -> Vec<u8> {
    spans.spans().iter().flat_map(|span| <[u8; 16]>::from(*span)).collect()
}

fn unpacked<I: Display>(row: &Located<I>, bytes: &[u8]) -> Result<BusySet, StoreError> {
    let (packed, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(row.corrupt("spans", format!("{} bytes are not a whole number of spans", bytes.len())));
    }
    let spans = packed.iter().map(|span| Span::try_from(*span).map_err(|error| row.corrupt("spans", error)));
    let spans = spans.collect::<Result<Vec<Span>, _>>()?;
    if !spans.is_sorted_by(|before, after| before.end() < after.start()) {
        return Err(row.corrupt("spans", "the spans are not sorted and disjoint"));
    }
    Ok(BusySet::from_unsorted(spans))
}

/// The columns of an external calendar.
pub(crate) struct ExternalCalendarRow {
    pub(crate) org_id: Uuid,
    pub(crate) connection_id: Uuid,
    pub(crate) content: String,
    pub(crate) is_primary: bool,
    pub(crate) reading: ReadingRow,
}

impl ExternalCalendarRow {
    pub(crate) fn open(self, cipher: &dyn FieldCipher) -> Result<ExternalCalendar, StoreError> {
        let id = ExternalCalendarId::from_uuid(self.reading.id);
        let row = Located { table: "external_calendars", id };
        let plain = cipher.open(external_content(id), &self.content).map_err(|error| row.corrupt("content", error))?;
        let Confidential { reference, name } =
            Confidential::read(&plain).map_err(|error| row.corrupt("content", error))?;
        Ok(ExternalCalendar {
            id,
            org: OrgId::from_uuid(self.org_id),
            connection: ConnectionId::from_uuid(self.connection_id),
            theirs: TheirCalendar { reference, name, primary: self.is_primary },
            revision: Revision(self.reading.revision),
            reading: self.reading.reading()?,
        })
    }
}

/// The columns of a grant, and the keys of its sources and agents.
pub(crate) struct GrantRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) human_id: Uuid,
    pub(crate) audience: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    /// Sorted.
    pub(crate) sources: Vec<Uuid>,
    /// Sorted.
    pub(crate) agents: Vec<Uuid>,
}

impl GrantRow {
    pub(crate) fn into_domain(self) -> Result<Grant, StoreError> {
        let id = GrantId::from_uuid(self.id);
        let row = Located { table: "availability_grants", id };
        Ok(Grant {
            id,
            org: OrgId::from_uuid(self.org_id),
            human: UserId::from_uuid(self.human_id),
            sources: self.sources.into_iter().map(ExternalCalendarId::from_uuid).collect(),
            audience: row.named("audience", &self.audience, Audience::from_name)?,
            agents: self.agents.into_iter().map(AgentId::from_uuid).collect(),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
