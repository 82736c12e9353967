//! Operations for the holder of the operator's token.

mod activate;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(activate::activate))
}
