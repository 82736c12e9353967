//! Humans in the console: their sessions, who they are, what they own.

mod change_password;
mod me;
mod orgs;
mod sign_in;
mod sign_out;
mod sign_up;
mod switch_org;
mod update_me;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(sign_up::sign_up))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(sign_out::sign_out))
        .routes(routes!(me::me, update_me::update_me))
        .routes(routes!(change_password::change_password))
        .routes(routes!(orgs::orgs))
        .routes(routes!(switch_org::switch_org))
}
