//! The service itself.

mod health;
mod openapi;
mod plans;
mod ready;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    probes().routes(routes!(openapi::openapi)).routes(routes!(plans::plans))
}

/// Whether the process is running, and whether it reaches its database.
pub(crate) fn probes() -> Routes {
    Routes::new().routes(routes!(health::health)).routes(routes!(ready::ready))
}
