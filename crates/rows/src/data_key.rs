//! A row of `data_keys`.

use kalends_app::ports::{DataKeyState, WrappedDataKey};
use kalends_kernel::{DataKeyId, StoreError};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a data key.
    pub struct DataKeyRow<K> {
        id: K,
        master: String,
        wrapped: String,
        state: String,
        created_at: i64,
        resealed_at: Option<i64>,
    }
}

/// The name of a state in the table.
pub const fn state_name(state: DataKeyState) -> &'static str {
    match state {
        DataKeyState::Reading => "reading",
        DataKeyState::Writing => "writing",
    }
}

fn state_from_name(name: &str) -> Option<DataKeyState> {
    [DataKeyState::Reading, DataKeyState::Writing].into_iter().find(|state| state_name(*state) == name)
}

impl<K: Key> DataKeyRow<K> {
    /// The data key, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<WrappedDataKey, StoreError> {
        let id = DataKeyId::from_uuid(row_id("data_keys", "id", &self.id)?);
        let row = Located { table: "data_keys", id: &id };
        Ok(WrappedDataKey {
            id,
            master: self.master,
            wrapped: self.wrapped,
            state: row.named("state", &self.state, state_from_name)?,
            created_at: Timestamp::from_micros(self.created_at),
            resealed_at: self.resealed_at.map(Timestamp::from_micros),
        })
    }
}
