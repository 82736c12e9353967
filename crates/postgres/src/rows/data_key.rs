//! A row of `data_keys`.

use kalends_app::ports::{DataKeyState, WrappedDataKey};
use kalends_kernel::{DataKeyId, StoreError, Timestamp};
use uuid::Uuid;

use super::Located;

/// The columns of a data key.
pub(crate) struct DataKeyRow {
    pub(crate) id: Uuid,
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

impl DataKeyRow {
    pub(crate) fn into_domain(self) -> Result<WrappedDataKey, StoreError> {
        let id = DataKeyId::from_uuid(self.id);
        let state = |name: &str| {
            [DataKeyState::Reading, DataKeyState::Writing].into_iter().find(|state| state_name(*state) == name)
        };
        Ok(WrappedDataKey {
            id,
            state: Located { table: "data_keys", id }.named("state", &self.state, state)?,
            master: self.master,
            wrapped: self.wrapped,
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
