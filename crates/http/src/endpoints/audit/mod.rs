//! The audit log.

mod list;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(list::list))
}
