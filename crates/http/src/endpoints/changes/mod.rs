//! What changes in an organization.

mod list;
mod stream;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(list::list))
}
