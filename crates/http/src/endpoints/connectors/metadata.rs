//! `GET /.well-known/oauth-protected-resource`, with and without `/mcp`, and `GET /.well-known/oauth-authorization-server`

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use kalends_accounts::Scope;
use kalends_app::{App, operations};
use serde::Serialize;

use crate::Service;

/// How long the answers may be cached. They change with the configuration.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// The page that explains connectors.
const GUIDE: &str = "/docs/use/connectors";

/// The metadata of the tools as a protected resource (RFC 9728).
#[derive(Serialize)]
struct ProtectedResource {
    resource: String,
    authorization_servers: [String; 1],
    scopes_supported: [&'static str; 3],
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'static str,
    resource_documentation: String,
}

/// The metadata of the authorization server (RFC 8414).
#[derive(Serialize)]
struct AuthorizationServer {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: String,
    revocation_endpoint: String,
    scopes_supported: [&'static str; 3],
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
    code_challenge_methods_supported: [&'static str; 1],
    token_endpoint_auth_methods_supported: [&'static str; 1],
    revocation_endpoint_auth_methods_supported: [&'static str; 1],
    authorization_response_iss_parameter_supported: bool,
    service_documentation: String,
}

fn cached(document: impl Serialize) -> Response {
    ([(header::CACHE_CONTROL, CACHE)], axum::Json(document)).into_response()
}

fn guide(app: &App) -> String {
    format!("{}{GUIDE}", app.settings().base_url)
}

/// Answers what the tools are, and who grants access to them.
pub(super) async fn of_tools(app: Service) -> Response {
    cached(ProtectedResource {
        resource: app.tools_address(),
        authorization_servers: [app.settings().base_url.clone()],
        scopes_supported: Scope::ALL.map(Scope::as_str),
        bearer_methods_supported: ["header"],
        resource_name: "Kalends",
        resource_documentation: guide(&app),
    })
}

/// Answers which endpoints there are, and what they support.
pub(super) async fn of_server(app: Service) -> Response {
    let issuer = app.settings().base_url.clone();
    let at = |path: &str| format!("{issuer}{path}");
    cached(AuthorizationServer {
        authorization_endpoint: at(operations::AUTHORIZE_CONNECTOR.path),
        token_endpoint: at(operations::CONNECTOR_TOKEN.path),
        registration_endpoint: at(operations::REGISTER_CONNECTOR.path),
        revocation_endpoint: at(operations::REVOKE_CONNECTOR_TOKEN.path),
        scopes_supported: Scope::ALL.map(Scope::as_str),
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        revocation_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
        service_documentation: guide(&app),
        issuer,
    })
}
