//! The addresses of the console's pages.

use axum::response::Response;
use url::form_urlencoded;

use crate::reply::see_other;

/// The first page.
pub(crate) const HOME: &str = "/console";
/// The page on which a user signs in.
pub(crate) const SIGN_IN: &str = "/console/sign-in";
pub(crate) const SIGN_UP: &str = "/console/sign-up";
pub(crate) const SIGN_OUT: &str = "/console/sign-out";
pub(crate) const RESEND: &str = "/console/verify/resend";
pub(crate) const SWITCH: &str = "/console/orgs/{id}/switch";

/// The answer to somebody who is not signed in: the page on which they sign in, which leads back to `path`.
pub(crate) fn to_sign_in(path: &str, query: Option<&str>) -> Response {
    let mut to = form_urlencoded::Serializer::new(format!("{SIGN_IN}?"));
    let next = continued(path);
    if next != HOME {
        to.append_pair("next", next);
    }
    // A failed sign-in with a provider.
    let failed = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).find(|(name, _)| name == "error");
    if let Some((name, code)) = failed {
        to.append_pair(&name, &code);
    }
    see_other(to.finish().trim_end_matches('?'), None)
}

/// The pages that a sign-in can lead to.
const CONTINUED: [&str; 5] =
    [HOME, "/console/connect", "/console/connections", "/console/invitations", "/console/plans"];

/// The page that a sign-in leads to: the wanted one, or the first one if it is none of these.
pub(crate) fn continued(wanted: &str) -> &'static str {
    CONTINUED.into_iter().find(|page| *page == wanted).unwrap_or(HOME)
}
