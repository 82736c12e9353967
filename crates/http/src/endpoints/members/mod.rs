//! The members of an organization, and invitations to become one.

mod accept;
mod delete;
mod invite;
mod list;
mod update;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list::list, invite::invite))
        .routes(routes!(update::update, delete::delete))
        .routes(routes!(accept::accept))
}
