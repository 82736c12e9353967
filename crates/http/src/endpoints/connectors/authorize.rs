//! `GET /oauth/authorize`

use axum::{
    extract::RawQuery,
    response::{IntoResponse as _, Response},
};
use url::form_urlencoded;

use crate::{
    console::{AUTHORIZATION_PARAMETERS, places::AUTHORIZE},
    reply::Elsewhere,
};

/// Leads the browser to the page of the console on which a person decides. Nothing is read or checked here: an error is
/// sent to a client only on behalf of somebody who is signed in, so this endpoint leads nobody to another site.
pub(super) async fn authorize(query: RawQuery) -> Response {
    let sent = query.0.unwrap_or_default();
    let mut known = form_urlencoded::Serializer::new(String::new());
    known.extend_pairs(
        form_urlencoded::parse(sent.as_bytes()).filter(|(name, _)| AUTHORIZATION_PARAMETERS.contains(&&**name)),
    );
    // The page on which a person signs in leads back to addresses without asterisks.
    let location = format!("{AUTHORIZE}?{}", known.finish().replace('*', "%2A"));
    Elsewhere { location, cookies: Vec::new() }.into_response()
}
