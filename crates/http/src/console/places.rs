//! The addresses of the console's pages.

use axum::response::Response;
use kalends_web::Next;
use url::form_urlencoded;

use crate::reply::see_other;

/// The first page.
pub(crate) const HOME: &str = "/console";
/// The page on which a user signs in.
pub(crate) const SIGN_IN: &str = "/console/sign-in";
pub(crate) const SIGN_UP: &str = "/console/sign-up";
pub(crate) const SIGN_OUT: &str = "/console/sign-out";
pub(crate) const RESEND: &str = "/console/verify/resend";
/// The page on which a user asks for an email that sets the password.
pub(crate) const FORGOT: &str = "/console/forgot";
/// The page on which a user sets the password with the code from that email.
pub(crate) const RESET: &str = "/console/reset";
/// The page to which the link of an invitation leads.
pub(crate) const INVITATIONS: &str = "/console/invitations";
/// The page on which a user accepts the invitation.
pub(crate) const JOIN: &str = "/console/join";
pub(crate) const SWITCH: &str = "/console/orgs/{id}/switch";

/// The answer to somebody who is not signed in: the page on which they sign in. It leads back to
/// `path`, if that is one of [`Next`].
pub(crate) fn to_sign_in(path: &str, query: Option<&str>) -> Response {
    let mut to = form_urlencoded::Serializer::new(String::new());
    let next = Next::of(path);
    if next != Next::Home {
        to.append_pair("next", next.path());
    }
    // A failed sign-in with a provider.
    let failed = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).find(|(name, _)| name == "error");
    if let Some((name, code)) = failed {
        to.append_pair(&name, &code);
    }
    let query = to.finish();
    see_other(&if query.is_empty() { SIGN_IN.to_owned() } else { format!("{SIGN_IN}?{query}") }, None)
}
