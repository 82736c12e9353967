//! Keys that are scoped to one agent.

mod create;
mod delete;
mod list;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(create::create, list::list)).routes(routes!(delete::delete))
}
