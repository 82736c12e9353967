//! Sign-in with a provider.

mod callback;
mod returning;
mod start;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(start::start)).routes(routes!(callback::callback))
}
