//! The configured sign-in providers.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, IdentityClaims, Provider, TokenRequest};
use kalends_app::ports::{ExchangeError, Exchanged, OfferedProvider, SignInProviders};
use kalends_egress::{Egress, Exchange, Reply, header};
use kalends_remote::RemoteUrl;
use kalends_time::Clock;
use secrecy::SecretString;

use crate::{
    answer,
    discovery::{self, Authentication, Discovered, Document, Undiscovered},
    requests::{self, Registration},
    userinfo,
};

/// The settings of Google or Microsoft, including the OAuth client of this service.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The OAuth client at the provider.
    pub client: Client,
    /// The provider's token endpoint.
    pub token_endpoint: RemoteUrl,
    /// The secret of the OAuth client.
    pub client_secret: SecretString,
}

/// The settings of an operator's own OpenID Connect provider. Its endpoints come from its discovery document.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// The name that people know.
    pub title: String,
    /// The issuer, exactly as the provider writes it.
    pub issuer: String,
    /// The address of its discovery document ([`Self::discovery_address`]).
    pub discovery: RemoteUrl,
    /// The service's client identifier there.
    pub client_id: String,
    /// The secret of the OAuth client.
    pub client_secret: SecretString,
    /// The URL that the provider sends the user back to.
    pub redirect_uri: String,
}

impl OidcSettings {
    /// The address of the discovery document of `issuer`, a URL without query and fragment (OpenID Connect Discovery
    /// 1.0, section 4).
    pub fn discovery_address(issuer: &str) -> String {
        discovery::address(issuer)
    }
}

/// An operator's own provider.
struct Own {
    settings: OidcSettings,
    discovered: Discovered,
}

impl Own {
    fn registration(&self, document: &Document) -> Registration {
        let OidcSettings { issuer, client_id, client_secret, redirect_uri, .. } = self.settings.clone();
        Registration {
            client: Client {
                provider: Provider::Oidc,
                authorization_endpoint: document.authorization_endpoint.clone(),
                issuer,
                client_id,
                redirect_uri,
            },
            client_secret,
            authentication: document.authentication,
            token_endpoint: document.token_endpoint.clone(),
            userinfo_endpoint: document.userinfo_endpoint.clone(),
        }
    }
}

/// The configured providers, reached through the guarded client.
pub struct Providers {
    egress: Arc<Egress>,
    clock: Arc<dyn Clock>,
    configured: Vec<ProviderSettings>,
    own: Option<Own>,
    offered: Vec<OfferedProvider>,
}

impl Providers {
    /// Creates the set of providers. Each provider may occur only once, and [`Provider::Oidc`] only as `own`. The clock
    /// determines when a discovery document is fetched again.
    pub fn new(
        egress: Arc<Egress>,
        clock: Arc<dyn Clock>,
        configured: Vec<ProviderSettings>,
        own: Option<OidcSettings>,
    ) -> Self {
        let is_configured = |provider: Provider| configured.iter().any(|settings| settings.client.provider == provider);
        let title = |provider: Provider| match provider {
            Provider::Oidc => own.as_ref().map(|own| own.title.clone()),
            Provider::Google | Provider::Microsoft => is_configured(provider).then(|| provider.title().to_owned()),
        };
        let offer = |provider: Provider| title(provider).map(|title| OfferedProvider { provider, title });
        let offered = Provider::ALL.into_iter().filter_map(offer).collect();
        let own = own.map(|settings| Own { settings, discovered: Discovered::default() });
        Self { egress, clock, configured, own, offered }
    }

    /// The endpoints of a provider; `None` if it is not configured.
    async fn registration(&self, provider: Provider) -> Result<Option<Registration>, ExchangeError> {
        if provider == Provider::Oidc {
            let Some(own) = &self.own else { return Ok(None) };
            let document = own.discovered.document(self.clock.now(), self.fetch(&own.settings)).await;
            let document = document.map_err(|error| ExchangeError::Unavailable(Box::new(error)))?;
            return Ok(Some(own.registration(&document)));
        }
        let settings = self.configured.iter().find(|configured| configured.client.provider == provider);
        Ok(settings.cloned().map(|ProviderSettings { client, token_endpoint, client_secret }| Registration {
            client,
            client_secret,
            authentication: Authentication::Post,
            token_endpoint,
            userinfo_endpoint: None,
        }))
    }

    /// Fetches the discovery document.
    async fn fetch(&self, settings: &OidcSettings) -> Result<Document, Undiscovered> {
        let exchange = requests::discovery(settings.discovery.clone());
        let reply = self.egress.send(exchange).await.map_err(Undiscovered::Unreached)?;
        let exempt = |host: &str, port: u16| self.egress.allowed().contains(host, port);
        discovery::read(&settings.issuer, reply.status.as_u16(), &reply.body, exempt)
    }

    /// Asks the UserInfo endpoint for the claims that the identity token lacks.
    async fn with_userinfo(
        &self,
        claims: IdentityClaims,
        endpoint: RemoteUrl,
        access_token: &SecretString,
    ) -> Result<IdentityClaims, ExchangeError> {
        let reply = self.send(requests::userinfo(endpoint, access_token)?).await?;
        let media_type = reply.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        userinfo::added(claims, reply.status.as_u16(), media_type.unwrap_or_default(), &reply.body)
    }

    async fn send(&self, exchange: Exchange) -> Result<Reply, ExchangeError> {
        self.egress.send(exchange).await.map_err(|error| ExchangeError::Unavailable(Box::new(error)))
    }
}

#[async_trait]
impl SignInProviders for Providers {
    fn offered(&self) -> &[OfferedProvider] {
        &self.offered
    }

    async fn client(&self, provider: Provider) -> Result<Option<Client>, ExchangeError> {
        Ok(self.registration(provider).await?.map(|registration| registration.client))
    }

    async fn exchange(&self, provider: Provider, request: TokenRequest) -> Result<Exchanged, ExchangeError> {
        let registration = self.registration(provider).await?;
        let registration = registration.ok_or_else(|| ExchangeError::Unavailable("it is not configured".into()))?;
        let reply = self.send(requests::token(&registration, &request)?).await?;
        let answer = answer::read(provider, reply.status.as_u16(), &reply.body)?;
        let claims = answer.claims;
        let (Some(endpoint), Some(access_token), true) =
            (registration.userinfo_endpoint, answer.access_token, claims.email.is_none())
        else {
            return Ok(Exchanged { claims, incomplete: None });
        };
        Ok(match self.with_userinfo(claims.clone(), endpoint, &access_token).await {
            Ok(claims) => Exchanged { claims, incomplete: None },
            Err(error) => Exchanged { claims, incomplete: Some(error) },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use kalends_egress::{Allowed, Settings, SystemResolver};
    use kalends_time::Timestamp;
    use url::Url;

    use super::*;

    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp::EPOCH
        }
    }

    fn google() -> ProviderSettings {
        ProviderSettings {
            client: Client {
                provider: Provider::Google,
                authorization_endpoint: Url::parse("https://provider.example/authorize").unwrap(),
                issuer: "https://provider.example".into(),
                client_id: "kalends".into(),
                redirect_uri: "https://calendar.example.com/v1/auth/oauth/google/callback".into(),
            },
            token_endpoint: RemoteUrl::parse("url", "https://provider.example/token", |_, _| false).unwrap(),
            client_secret: SecretString::from("s&=cret".to_owned()),
        }
    }

    fn own() -> OidcSettings {
        let issuer = "https://id.example.com/";
        let discovery = OidcSettings::discovery_address(issuer);
        OidcSettings {
            title: "Example Login".into(),
            issuer: issuer.into(),
            discovery: RemoteUrl::parse("url", &discovery, |_, _| false).unwrap(),
            client_id: "kalends".into(),
            client_secret: SecretString::from("s&=cret".to_owned()),
            redirect_uri: "https://calendar.example.com/v1/auth/oauth/oidc/callback".into(),
        }
    }

    fn providers(configured: Vec<ProviderSettings>, own: Option<OidcSettings>) -> Providers {
        let options = Settings { user_agent: "kalends-tests".into(), per_host: NonZeroUsize::MIN };
        let egress = Egress::new(Allowed::none(), Arc::new(SystemResolver::default()), &options).unwrap();
        Providers::new(Arc::new(egress), Arc::new(Stopped), configured, own)
    }

    #[tokio::test]
    async fn the_offered_providers_have_titles() {
        let titles = |providers: &Providers| -> Vec<(Provider, String)> {
            providers.offered().iter().map(|offered| (offered.provider, offered.title.clone())).collect()
        };
        assert!(providers(Vec::new(), None).offered().is_empty());
        let (google_s, own_s) = ((Provider::Google, "Google".to_owned()), (Provider::Oidc, "Example Login".to_owned()));
        let both = [google_s, own_s];
        assert_eq!(titles(&providers(vec![google()], None)), both[..1]);
        assert_eq!(titles(&providers(vec![google()], Some(own()))), both);
    }

    #[tokio::test]
    async fn an_unconfigured_provider_has_no_client() {
        let providers = providers(vec![google()], None);
        assert_eq!(providers.client(Provider::Google).await.unwrap(), Some(google().client));
        for provider in [Provider::Microsoft, Provider::Oidc] {
            assert_eq!(providers.client(provider).await.unwrap(), None);
        }
    }

    #[test]
    fn debug_output_has_no_secret() {
        assert!(!format!("{:?}{:?}", google(), own()).contains("cret\""));
    }
}
