//! The connected calendars of a user, and the forms about them.

use std::collections::BTreeSet;

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::{HeaderMap, StatusCode};
use kalends_app::{Actor, App, Refusal};
use kalends_kernel::{ConnectionId, ConnectionLinkId, LIMIT_MAX, Listed, Page};
use kalends_time::Timestamp;
use kalends_web::{Account, Connections, Disconnect, Done, Grant, NothingConnected, Place};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once, opened_link},
    frame::shell,
    places::CONNECTIONS,
    shown::{account, after_removal, consent, page, provider_title, refused, sentence, takes_copies},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// The list, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_LIST: (&str, &str) = (CONNECTIONS, "See what is connected");
/// The entries that the page shows at most, the oldest first.
const ALL: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The connection that a consent made or renewed.
    #[serde(default)]
    connected: String,
    /// The link that asked for it.
    #[serde(default)]
    link: String,
    /// Why a consent connected nothing.
    #[serde(default)]
    error: String,
    /// The form that was just sent.
    #[serde(default)]
    done: String,
}

/// `GET /console/connections`. A provider returns the browser here, with the outcome in the query.
pub(super) async fn list(
    app: Service,
    caller: Caller,
    headers: HeaderMap,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, ApiError> {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    if !asked.error.is_empty() {
        let has_link = opened_link(&headers).is_some();
        return Ok(page(StatusCode::OK, NothingConnected { code: &asked.error, has_link }.html()));
    }
    if let Ok(connection) = asked.connected.parse::<ConnectionId>() {
        let link =
            asked.link.parse::<ConnectionLinkId>().map_or_else(|_| String::new(), |link| format!("?link={link}"));
        return Ok(see_other(&format!("{CONNECTIONS}/{connection}/calendars{link}"), None));
    }
    render(&app, &caller.0, &asked.done, opened_link(&headers).is_some()).await
}

async fn render(app: &App, caller: &Actor, done: &str, has_link: bool) -> Result<Response, ApiError> {
    let shell = shell(caller, Place::Connections)?;
    let Listed { data: connections, total: accounts_total } = app.list_connections(caller, ALL).await?;
    let Listed { data: grants, total: grants_total } = app.list_grants(caller, ALL).await?;
    let granted: BTreeSet<_> = grants.iter().flat_map(|grant| grant.external_calendar_ids.iter().copied()).collect();
    let names = app.external_calendar_names(caller, &granted).await?;
    let now = app.now();
    let accounts: Vec<_> = connections.iter().map(|connection| shown_account(connection, now)).collect();
    let providers: Vec<_> = app.offered_providers().into_iter().map(|name| (name, provider_title(name))).collect();
    let grants: Vec<_> = grants
        .into_iter()
        .map(|grant| {
            let named =
                grant.external_calendar_ids.iter().map(|id| names.get(id).map_or("a removed calendar", |name| name));
            Grant {
                id: grant.id.to_string(),
                calendars: named.collect::<Vec<_>>().join(", "),
                audience: grant.audience,
                agents: grant.agent_ids.as_ref().map_or(0, Vec::len),
                created_at: grant.created_at,
            }
        })
        .collect();
    let connections = Connections {
        shell: &shell,
        done: Done::named(done),
        has_link,
        once: &new_once(app.entropy()),
        providers: &providers,
        accounts: &accounts,
        accounts_total,
        grants: &grants,
        grants_total,
    };
    Ok(page(StatusCode::OK, connections.html()))
}

fn shown_account(connection: &wire::CalendarConnection, now: Timestamp) -> Account {
    Account {
        id: connection.id.to_string(),
        provider: connection.provider,
        name: account(connection),
        status: connection.status,
        data: connection.data,
        read_at: connection.last_refreshed_at,
        next_at: connection.next_refresh_at,
        connected_at: connection.created_at,
        last_error: connection.last_error.as_deref().map(sentence),
        takes_copies: takes_copies(connection.provider),
        now,
    }
}

/// Somebody reloads the address of a form.
pub(super) async fn again() -> Response {
    see_other(CONNECTIONS, None)
}

/// The answer to a form: the list, which says what was done.
fn after<T>(outcome: Result<T, Refusal>, done: &str) -> Result<Response, ApiError> {
    match outcome {
        Ok(_) => Ok(see_other(&format!("{CONNECTIONS}?done={done}"), None)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// `POST /console/connections/{id}/refresh`
pub(super) async fn refresh(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    after(app.ask_refresh(&form.caller, &id.0).await, "refreshing")
}

/// `POST /console/connections/{id}/pause`
pub(super) async fn pause(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    after(app.pause_connection(&form.caller, &id.0, true).await, "paused")
}

/// `POST /console/connections/{id}/resume`
pub(super) async fn resume(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    after(app.pause_connection(&form.caller, &id.0, false).await, "resumed")
}

/// `POST /console/connections/{id}/reauthorize`
pub(super) async fn reauthorize(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let connection = match app.connection(&form.caller, &id.0).await {
        Ok(connection) => connection,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    // Without the field, the consent stays as wide as it is.
    let publishing = (form.fields.get("publishing") == "true").then_some(true);
    match app.begin_reauthorization(&form.caller, &id.0, publishing).await {
        Ok(begun) => consent(&app, provider_title(connection.provider), begun),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// `GET /console/connections/{id}/disconnect`
pub(super) async fn ask(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    let connection = match app.connection(&caller.0, &id.0).await {
        Ok(connection) => connection,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let shell = shell(&caller.0, Place::Connections)?;
    let asks = Disconnect { shell: &shell, id: &connection.id.to_string(), name: &account(&connection) };
    Ok(page(StatusCode::OK, asks.html()))
}

/// `POST /console/connections/{id}/disconnect`
pub(super) async fn disconnect(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    after_removal(app.delete_connection(&form.caller, &id.0).await, "disconnected", TO_LIST)
}

/// `POST /console/grants/{id}/revoke`
pub(super) async fn revoke(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    after_removal(app.delete_grant(&form.caller, &id.0).await, "revoked", TO_LIST)
}

#[cfg(test)]
mod tests {
    use kalends_app::ConsentFailure;
    use kalends_web::CONSENT_ERRORS;

    #[test]
    fn every_consent_failure_has_a_message() {
        assert_eq!(ConsentFailure::ALL.map(ConsentFailure::as_str), CONSENT_ERRORS.map(|(code, _)| code));
    }
}
