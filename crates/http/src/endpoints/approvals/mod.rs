//! Approvals: writes that wait until a person allows them.

mod approve;
mod cancel;
mod deny;
mod list;
mod read;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list::list))
        .routes(routes!(read::read))
        .routes(routes!(approve::approve))
        .routes(routes!(deny::deny))
        .routes(routes!(cancel::cancel))
}
