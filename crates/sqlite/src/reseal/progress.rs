//! How far the search for values to seal again has come.

use std::sync::Mutex;

use kalends_rows::SealedColumn;

/// Where the last search ended, so that a long table is not read from its beginning each time. This is only a hint:
/// "nothing is left" is reported only after a search of everything.
#[derive(Default)]
pub(crate) struct Progress(Mutex<[i64; SealedColumn::ALL.len()]>);

impl Progress {
    pub(super) fn of(&self, column: SealedColumn) -> i64 {
        self.0.lock().map_or(0, |places| places[column as usize])
    }

    pub(super) fn set(&self, column: SealedColumn, place: i64) {
        if let Ok(mut places) = self.0.lock() {
            places[column as usize] = place;
        }
    }
}
