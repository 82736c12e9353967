//! Invitations for attendees. The address is the credential.

mod reply;
mod show;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(show::show, reply::reply))
}
