//! `POST /oauth/token`

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::header;
use kalends_app::{CodeExchange, ConnectorTokens, GrantError, TokenRefresh};
use serde::Serialize;

use super::{
    failure::{Failure, UNCACHED},
    parameters::Parameters,
};
use crate::Service;

/// The answer of RFC 6749, section 5.1.
#[derive(Serialize)]
struct Tokens {
    access_token: String,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: String,
    /// Always there, since it can differ from what the client asked for. It may be empty.
    scope: String,
}

/// Exchanges an authorization code or a refresh token for an access token and a refresh token.
pub(super) async fn token(app: Service, request: Request) -> Result<Response, Failure> {
    let (called, sent) = Parameters::of(request).await?;
    let granted = match sent.required("grant_type")?.as_str() {
        "authorization_code" => {
            let exchange = CodeExchange {
                client_id: sent.required("client_id")?,
                code: sent.required("code")?,
                redirect_uri: sent.required("redirect_uri")?,
                code_verifier: sent.required("code_verifier")?,
                resource: sent.get("resource"),
            };
            app.exchange_code(&called, &exchange).await?
        }
        "refresh_token" => {
            let refresh = TokenRefresh {
                client_id: sent.required("client_id")?,
                refresh_token: sent.required("refresh_token")?,
                scope: sent.get("scope"),
                resource: sent.get("resource"),
            };
            app.refresh_tokens(&called, &refresh).await?
        }
        _ => {
            let description = "grant_type must be authorization_code or refresh_token";
            return Err(GrantError::new("unsupported_grant_type", description).into());
        }
    };
    let ConnectorTokens { access, refresh, lasts, scopes } = granted;
    let tokens = Tokens {
        access_token: access,
        token_type: "Bearer",
        expires_in: lasts.as_seconds(),
        refresh_token: refresh,
        scope: scopes.to_text(),
    };
    Ok(([(header::CACHE_CONTROL, UNCACHED)], axum::Json(tokens)).into_response())
}
