//! An organization's usage.

mod read;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read))
}
