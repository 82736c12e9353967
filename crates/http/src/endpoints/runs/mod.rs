//! Runs: the writes of one task.

mod read;
mod undo;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read)).routes(routes!(undo::undo))
}
