//! Calendars.

mod changes;
mod context;
mod create;
mod create_for_agent;
mod delete;
mod list;
mod list_of_agent;
mod read;
mod rotate_feed_token;
mod update;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(create_for_agent::create_for_agent, list_of_agent::list_of_agent))
        .routes(routes!(read::read, update::update, delete::delete))
        .routes(routes!(context::context))
        .routes(routes!(changes::changes))
        .routes(routes!(rotate_feed_token::rotate_feed_token))
}
