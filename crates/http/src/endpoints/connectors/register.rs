//! `POST /oauth/register`

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use kalends_accounts::ConnectorClient;
use kalends_app::{GrantError, NotGranted, Refusal};
use serde::{Deserialize, Serialize};

use super::failure::{Failure, UNCACHED};
use crate::{Service, error::ApiError, extract::read_up_to};

/// The maximum size of a body, in bytes. The addresses to return to can have 4,000 together.
const BODY_MAX: usize = 32 << 10;
/// How much of the message of the parser an error repeats, in characters.
const MESSAGE_MAX: usize = 200;

/// The metadata of a client (RFC 7591, section 2). Members with other names have no effect.
#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
}

/// The metadata of a client as it is registered. All clients are public, whatever they ask for: none is given a secret.
#[derive(Serialize)]
struct Registered {
    client_id: String,
    client_id_issued_at: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    client_name: String,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: &'static str,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
}

impl From<ConnectorClient> for Registered {
    fn from(client: ConnectorClient) -> Self {
        Self {
            client_id: client.id.to_string(),
            client_id_issued_at: client.created_at.as_micros().div_euclid(1_000_000),
            client_name: client.name,
            redirect_uris: client.redirects,
            token_endpoint_auth_method: "none",
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
        }
    }
}

/// Registers a client. Its address to return to is not fetched, and nothing that it says about itself is verified.
pub(super) async fn register(app: Service, request: Request) -> Result<Response, Failure> {
    let wrong = |description: String| GrantError::new("invalid_client_metadata", description);
    let body = match read_up_to(request.into_body(), BODY_MAX).await {
        Ok(body) => body,
        Err(ApiError::TooLarge(most)) => {
            return Err(wrong(format!("the body must be at most {most} bytes long")).into());
        }
        Err(error) => return Err(error.into()),
    };
    let asked: Asked = serde_json::from_slice(&body).map_err(|error| {
        let message: String = error.to_string().chars().take(MESSAGE_MAX).collect();
        wrong(format!("the body must be a JSON object with redirect_uris: {message}"))
    })?;
    match app.register_connector(asked.client_name.as_deref(), asked.redirect_uris).await {
        Ok(client) => {
            let body = axum::Json(Registered::from(client));
            Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, UNCACHED)], body).into_response())
        }
        Err(NotGranted::Refused(Refusal::Invalid(errors))) => {
            let about_addresses = errors.iter().any(|error| error.param.starts_with("redirect_uris"));
            let code = if about_addresses { "invalid_redirect_uri" } else { "invalid_client_metadata" };
            let named: Vec<_> = errors.iter().map(|error| format!("{} {}", error.param, error.message)).collect();
            Err(GrantError::new(code, named.join("; ")).into())
        }
        Err(other) => Err(other.into()),
    }
}
