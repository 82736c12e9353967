//! Users in the console: their sessions, their account, and their organizations.

mod accept_terms;
mod change_password;
mod confirm_second_factor;
mod create_key;
mod delete_account;
mod export;
mod forgot_password;
mod me;
mod orgs;
mod regenerate_key;
mod remove_second_factor;
mod renew_recovery_codes;
mod resend_proof;
mod reset_password;
mod sign_in;
mod sign_out;
mod sign_up;
mod start_second_factor;
mod switch_org;
mod update_me;
mod update_org;
mod verify_email;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(sign_up::sign_up))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(sign_out::sign_out))
        .routes(routes!(me::me, update_me::update_me))
        .routes(routes!(change_password::change_password))
        .routes(routes!(forgot_password::forgot_password))
        .routes(routes!(reset_password::reset_password))
        .routes(routes!(verify_email::verify_email))
        .routes(routes!(resend_proof::resend_proof))
        .routes(routes!(start_second_factor::start_second_factor, remove_second_factor::remove_second_factor))
        .routes(routes!(confirm_second_factor::confirm_second_factor))
        .routes(routes!(renew_recovery_codes::renew_recovery_codes))
        .routes(routes!(orgs::orgs))
        .routes(routes!(switch_org::switch_org))
        .routes(routes!(update_org::update_org))
        .routes(routes!(accept_terms::accept_terms))
        .routes(routes!(export::export))
        .routes(routes!(delete_account::delete_account))
        .routes(routes!(regenerate_key::regenerate_key))
        .routes(routes!(create_key::create_key))
}
