//! How far the walk over the sealed values has come.

use std::sync::{Mutex, PoisonError};

use kalends_rows::SealedColumn;
use uuid::Uuid;

/// How far this process has come.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<(String, Position)>);

impl Progress {
    /// Where to continue; at the beginning if the writing key has changed.
    pub(super) fn position(&self, prefix: &str) -> Position {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.0 == prefix { guard.1.clone() } else { Position::default() }
    }

    pub(super) fn set(&self, prefix: &str, position: Position) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (prefix.to_owned(), position);
    }
}

/// A sealed column, and the key after which the walk continues.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Position {
    pub(super) column: SealedColumn,
    pub(super) org: Uuid,
    pub(super) id: Uuid,
    /// The key in the table of stored answers, which has no organization and no identifier.
    pub(super) scope: Vec<u8>,
}

impl Default for Position {
    fn default() -> Self {
        let [first, ..] = SealedColumn::ALL;
        Self::start(first)
    }
}

impl Position {
    /// The start of a column.
    pub(super) const fn start(column: SealedColumn) -> Self {
        Self { column, org: Uuid::nil(), id: Uuid::nil(), scope: Vec::new() }
    }

    /// The start of the next column.
    pub(super) fn next_column(&self) -> Option<Self> {
        let mut columns = SealedColumn::ALL.into_iter().skip_while(|column| *column != self.column);
        columns.nth(1).map(Self::start)
    }
}
