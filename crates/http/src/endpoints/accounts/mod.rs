//! Sign-up, the waiting list, terms, and feedback.

mod accept_terms;
mod feedback;
mod join_waitlist;
mod sign_up;
mod terms;
mod verify;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(sign_up::sign_up))
        .routes(routes!(verify::verify))
        .routes(routes!(terms::terms))
        .routes(routes!(accept_terms::accept_terms))
        .routes(routes!(join_waitlist::join_waitlist))
        .routes(routes!(feedback::feedback))
}
