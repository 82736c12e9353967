//! A row of `data_keys`.

use kalends_app::ports::{DataKeyState, WrappedDataKey};
use kalends_kernel::{DataKeyId, StoreError, Timestamp};

use super::{Row, row_id};

pub(crate) struct DataKeyRow {
    pub(crate) id: Vec<u8>,
    pub(crate) master: String,
    pub(crate) wrapped: String,
    pub(crate) state: String,
    pub(crate) created_at: i64,
}

/// The name of a state in the table.
pub(crate) const fn state_name(state: DataKeyState) -> &'static str {
    match state {
        DataKeyState::Reading => "reading",
        DataKeyState::Writing => "writing",
    }
}

fn state_from_name(name: &str) -> Option<DataKeyState> {
    [DataKeyState::Reading, DataKeyState::Writing].into_iter().find(|state| state_name(*state) == name)
}

impl DataKeyRow {
    pub(crate) fn read(self) -> Result<WrappedDataKey, StoreError> {
        let id = DataKeyId::from_uuid(row_id("data_keys", "id", &self.id)?);
        let row = Row { table: "data_keys", id: &id };
        Ok(WrappedDataKey {
            id,
            master: self.master,
            wrapped: self.wrapped,
            state: row.named("state", state_from_name, &self.state)?,
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
