//! Events.

mod confirm;
mod create;
mod create_batch;
mod delete;
mod delete_by_id;
mod list;
mod list_of_agent;
mod move_event;
mod read;
mod read_by_id;
mod release;
mod search;
mod update;
mod update_by_id;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(create_batch::create_batch))
        .routes(routes!(list_of_agent::list_of_agent))
        .routes(routes!(search::search))
        .routes(routes!(read::read, update::update, delete::delete))
        .routes(routes!(read_by_id::read_by_id, update_by_id::update_by_id, delete_by_id::delete_by_id))
        .routes(routes!(move_event::move_event))
        .routes(routes!(confirm::confirm))
        .routes(routes!(release::release))
}
