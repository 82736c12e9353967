//! Grants: the agents for which human calendars count as busy.

mod create;
mod delete;
mod list;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(create::create, list::list)).routes(routes!(delete::delete))
}
