//! The configured sign-in providers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, IdentityClaims, Provider, TokenRequest};
use kalends_app::ports::{ExchangeError, SignInProviders};
use kalends_egress::{Egress, Exchange, HeaderValue, Method, header};
use kalends_remote::RemoteUrl;
use secrecy::{ExposeSecret as _, SecretString};
use url::form_urlencoded;

use crate::answer;

/// How long a provider may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// The maximum length of a provider's answer, in bytes.
const ANSWER_MAX: usize = 64 << 10;

/// The settings of a provider, including the OAuth client of this service.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The OAuth client at the provider.
    pub client: Client,
    /// The provider's token endpoint.
    pub token_endpoint: RemoteUrl,
    /// The secret of the OAuth client.
    pub client_secret: SecretString,
}

/// The configured providers, reached through the guarded client.
pub struct Providers {
    egress: Arc<Egress>,
    configured: Vec<ProviderSettings>,
}

impl Providers {
    /// Creates the set of providers. Each provider may occur only once.
    pub const fn new(egress: Arc<Egress>, configured: Vec<ProviderSettings>) -> Self {
        Self { egress, configured }
    }

    fn of(&self, provider: Provider) -> Option<&ProviderSettings> {
        self.configured.iter().find(|configured| configured.client.provider == provider)
    }
}

/// The request, as a form (RFC 6749 section 4.1.3, with PKCE).
fn form(settings: &ProviderSettings, request: &TokenRequest) -> String {
    form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "authorization_code")
        .append_pair("code", &request.code)
        .append_pair("redirect_uri", &request.redirect_uri)
        .append_pair("code_verifier", &request.code_verifier)
        .append_pair("client_id", &settings.client.client_id)
        .append_pair("client_secret", settings.client_secret.expose_secret())
        .finish()
}

#[async_trait]
impl SignInProviders for Providers {
    fn client(&self, provider: Provider) -> Option<&Client> {
        self.of(provider).map(|settings| &settings.client)
    }

    async fn exchange(&self, provider: Provider, request: TokenRequest) -> Result<IdentityClaims, ExchangeError> {
        let settings = self.of(provider).ok_or_else(|| ExchangeError::Unavailable("it is not configured".into()))?;
        let mut exchange = Exchange::new(Method::POST, settings.token_endpoint.clone(), DEADLINE, ANSWER_MAX);
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        exchange.headers.insert(header::CONTENT_TYPE, form_type);
        exchange.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        exchange.body = form(settings, &request).into();
        let reply = self.egress.send(exchange).await.map_err(|error| ExchangeError::Unavailable(Box::new(error)))?;
        answer::read(provider, reply.status.as_u16(), &reply.body)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use url::Url;

    use super::*;

    #[test]
    fn the_exchange_sends_every_parameter() {
        let settings = ProviderSettings {
            client: Client {
                provider: Provider::Google,
                authorization_endpoint: Url::parse("https://provider.example/authorize").unwrap(),
                issuer: "https://provider.example".into(),
                client_id: "kalends&co".into(),
                redirect_uri: "https://calendar.example.com/v1/auth/oauth/google/callback".into(),
            },
            token_endpoint: RemoteUrl::parse("url", "https://provider.example/token", |_, _| false).unwrap(),
            client_secret: SecretString::from("s&=cret".to_owned()),
        };
        let request = TokenRequest {
            code: "4/0+a b".into(),
            code_verifier: "verifier".into(),
            redirect_uri: settings.client.redirect_uri.clone(),
        };
        let body = form(&settings, &request);
        let pairs: HashMap<_, _> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        for (name, value) in [
            ("grant_type", "authorization_code"),
            ("code", "4/0+a b"),
            ("redirect_uri", "https://calendar.example.com/v1/auth/oauth/google/callback"),
            ("code_verifier", "verifier"),
            ("client_id", "kalends&co"),
            ("client_secret", "s&=cret"),
        ] {
            assert_eq!(pairs.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(pairs.len(), 6);
        assert!(!format!("{settings:?}").contains("cret\""), "debug output has no secret");
    }
}
