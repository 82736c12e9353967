//! Rows of `publication_destinations` and `publication_copies`.

use kalends_app::ports::FieldCipher;
use kalends_bridge::{Copy, CopyKey, CopyState, Destination, PublicationPolicy, PublishState};
use kalends_kernel::{CalendarId, ConnectionId, EventId, ExternalCalendarId, OrgId, StoreError, UserId, Version};
use kalends_time::Timestamp;

use crate::{
    Key, Located,
    places::{self, copy_id},
    row_id,
};

/// The original start in a row of an event that does not repeat. Columns of a key are never null.
const NO_ORIGINAL_START: i64 = i64::MIN;

columns! {
    $ macro destination_row;
    /// The columns of a destination.
    pub struct DestinationRow<K> {
        org_id: K,
        calendar_id: K,
        human_id: K,
        connection_id: K,
        target_id: K,
        policy: String,
        ending: bool,
        published_at: Option<i64>,
        last_error: Option<String>,
        failures: i64,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> DestinationRow<K> {
    /// The destination, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Destination, StoreError> {
        let calendar = CalendarId::from_uuid(row_id("publication_destinations", "calendar_id", &self.calendar_id)?);
        let row = Located { table: "publication_destinations", id: &calendar };
        Ok(Destination {
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            calendar,
            human: UserId::from_uuid(row.uuid("human_id", &self.human_id)?),
            connection: ConnectionId::from_uuid(row.uuid("connection_id", &self.connection_id)?),
            target: ExternalCalendarId::from_uuid(row.uuid("target_id", &self.target_id)?),
            policy: row.named("policy", &self.policy, PublicationPolicy::from_name)?,
            ending: self.ending,
            state: PublishState {
                published_at: self.published_at.map(Timestamp::from_micros),
                last_error: self.last_error,
                failures: row.read("failures", u32::try_from(self.failures))?,
            },
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

columns! {
    /// The columns of a copy of an event.
    pub struct CopyRow<K> {
        event_id: K,
        /// As [`original_start`] writes it.
        original_start: i64,
        target_id: K,
        content: String,
        digest: Vec<u8>,
        visible: Vec<u8>,
        ends_at: i64,
        state: String,
    }
}

impl<K: Key> CopyRow<K> {
    /// The copy of an event of `calendar`, or an error that names the corrupt column.
    pub fn open(self, calendar: CalendarId, cipher: &dyn FieldCipher) -> Result<Copy, StoreError> {
        let event = EventId::from_uuid(row_id("publication_copies", "event_id", &self.event_id)?);
        let start = (self.original_start != NO_ORIGINAL_START).then(|| Timestamp::from_micros(self.original_start));
        let key = CopyKey { event, original_start: start };
        let id = copy_id(calendar, &key);
        let row = Located { table: "publication_copies", id };
        Ok(Copy {
            key,
            target: ExternalCalendarId::from_uuid(row.uuid("target_id", &self.target_id)?),
            reference: row.open_text(places::copy_content(id), &self.content, cipher)?,
            digest: row.digest("digest", &self.digest)?,
            visible: row.digest("visible", &self.visible)?,
            ends_at: Timestamp::from_micros(self.ends_at),
            state: row.named("state", &self.state, state_from_name)?,
        })
    }
}

/// The column `original_start` of a copy: microseconds, or the minimum if the event does not repeat.
pub fn original_start(key: &CopyKey) -> i64 {
    key.original_start.map_or(NO_ORIGINAL_START, Timestamp::as_micros)
}

/// The column `state` of a copy: `published` or `diverged`.
pub const fn copy_state_name(state: CopyState) -> &'static str {
    match state {
        CopyState::Published => "published",
        CopyState::Diverged => "diverged",
    }
}

fn state_from_name(name: &str) -> Option<CopyState> {
    [CopyState::Published, CopyState::Diverged].into_iter().find(|state| copy_state_name(*state) == name)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn names_of_states_are_read_as_written() {
        for state in [CopyState::Published, CopyState::Diverged] {
            assert_eq!(state_from_name(copy_state_name(state)), Some(state));
        }
        assert_eq!(state_from_name("gone"), None);
    }

    #[test]
    fn an_event_that_does_not_repeat_differs_from_each_occurrence() {
        let event = EventId::from_uuid(Uuid::from_u128(7));
        let key = |micros: Option<i64>| CopyKey { event, original_start: micros.map(Timestamp::from_micros) };
        let calendar = CalendarId::from_uuid(Uuid::from_u128(8));
        assert_eq!(original_start(&key(None)), i64::MIN);
        assert_eq!(original_start(&key(Some(-5))), -5);
        let ids = [None, Some(0), Some(1)].map(|micros| copy_id(calendar, &key(micros)));
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
        assert_ne!(copy_id(CalendarId::from_uuid(Uuid::from_u128(9)), &key(None)), ids[0], "another calendar");
    }
}
