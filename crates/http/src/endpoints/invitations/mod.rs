//! Invitations for attendees. The address is the credential.

mod reply;
mod show;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(show::show, reply::reply))
}
