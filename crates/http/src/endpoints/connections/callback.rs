//! `GET /v1/calendar-connections/oauth/{provider}/callback`

use kalends_app::ConsentEnded;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, FromProvider, PathOf},
    reply::{Elsewhere, cookies},
};

/// Receives a browser that returns from a calendar provider.
///
/// Redirects the browser to the console's page `/connections`. On success, the address has `?connected=` with the
/// connection, and `&link=` if a link asked for it. On failure, it has `?error=` with one of `oauth_state` (the attempt
/// is unknown, used, expired or of another browser: start again), `oauth_declined`, `oauth_failed`,
/// `provider_unavailable`, `link_over`, `other_account` or `connection_gone`. Additional parameters of the provider are
/// ignored.
#[utoipa::path(
    get,
    path = "/v1/calendar-connections/oauth/{provider}/callback",
    operation_id = "endCalendarConnection",
    tag = "Human calendars",
    params(("provider" = String, Path, description = "The provider: `google` or `microsoft`."), wire::SignInAnswer),
    responses((status = 302, description = "A redirect to the console."))
)]
pub(crate) async fn callback(
    app: Service,
    request: Anonymous,
    provider: PathOf<String>,
    answer: FromProvider,
) -> Result<Elsewhere, ApiError> {
    let console = &app.settings().console_url;
    let location = match app.end_connection(&request.0, &provider.0, answer.callback()).await? {
        ConsentEnded::Connected { connection, link: Some(link) } => {
            format!("{console}/connections?connected={connection}&link={link}")
        }
        ConsentEnded::Connected { connection, link: None } => format!("{console}/connections?connected={connection}"),
        ConsentEnded::Failed(failure) => format!("{console}/connections?error={}", failure.as_str()),
    };
    let state = answer.is_ours().then(|| cookies(&app).clear_state());
    Ok(Elsewhere { location, cookies: state.into_iter().collect() })
}
