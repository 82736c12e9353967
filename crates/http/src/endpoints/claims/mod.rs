//! Claims of users on organizations that were made without an owner.

mod initiate;
mod list;
mod revoke;
mod verify;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(initiate::initiate))
        .routes(routes!(verify::verify))
        .routes(routes!(revoke::revoke))
        .routes(routes!(list::list))
}
