//! Runs: the writes of one task.

mod read;
mod undo;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read)).routes(routes!(undo::undo))
}
