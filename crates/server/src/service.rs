//! The wiring of the service.

use std::sync::Arc;

use anyhow::Context;
use kalends_accounts::{
    AdminToken, Terms,
    oauth::{Client, Provider},
};
use kalends_app::{App, Deployment, MemoryRateLimiter, Parts, Settings};
use kalends_credentials::{Argon2Hasher, JwtTokens};
use kalends_human_calendars::CalendarAccounts;
use kalends_ical_fetch::EgressFetcher;
use kalends_kernel::Entropy;
use kalends_mail::{Letterhead, MailTransport};
use kalends_plans::TrustedProxies;
use kalends_sign_in::{OidcSettings, ProviderSettings, Providers};
use kalends_time::Clock;
use kalends_vault::KeyRing;
use kalends_webhook_delivery::EgressSender;
use secrecy::ExposeSecret as _;

use crate::{
    ambient::{SystemClock, SystemEntropy},
    config::{Config, OauthProvider, OidcProvider, host_of},
    database::Database,
    failure::Failure,
    masters, outgoing,
};

/// The application, its open database and its key ring.
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) ring: Arc<KeyRing>,
    pub(crate) database: Database,
}

impl Service {
    /// Opens the database, its keys and the mail transport, and builds the application. `base_url` is the public
    /// address of the service. `session_key` signs console sessions.
    pub(crate) async fn open(config: &Config, base_url: String, session_key: &[u8]) -> Result<Self, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new(config.clock_offset));
        let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
        let started_at = clock.now();
        let (database, ring) = open_keys(config, &clock, &entropy).await?;

        let letterhead = Letterhead::new(&host_of(&base_url), Arc::clone(&clock), Arc::clone(&entropy));
        let letterhead = match config.mail_from.clone() {
            Some(sender) => letterhead.sent_by(sender),
            None => letterhead,
        };
        let mailer =
            config.mail.open(&config.data_dir.join("mail"), letterhead).context("cannot open the mail transport")?;
        let settings = Settings {
            admin_token: config.admin_token.as_ref().map(|token| AdminToken::new(token.expose_secret())),
            console_url: config.console_url(&base_url),
            terms: Terms {
                version: config.terms_version.clone(),
                effective_at: config.terms_effective_at,
                url: config.terms_url(&base_url),
                material: config.terms_material,
            },
            terms_text: config.terms_text.clone(),
            ip_limits: config.ip_limits,
            cors_origins: config.cors_origins.clone(),
            mail_limits: config.mail_limits,
            recurrence_default: config.recurrence_default,
            public_mail_domains: config.public_mail_domains.clone(),
            trusted_proxies: TrustedProxies::new(config.trusted_proxies.iter().copied()),
            sign_up_plan: config.sign_up_plan,
            sign_ups: config.sign_ups,
            email_proof: config.email_proof,
            upgrade_url: config.upgrade_url.clone(),
            deployment: Deployment {
                version: env!("CARGO_PKG_VERSION"),
                database: database.name(),
                schema: database.schema(),
                started_at,
                keeps_mail: config.mail == MailTransport::File,
                settings: config.listing.clone(),
            },
            base_url,
        };
        let store = database.store(Arc::<KeyRing>::clone(&ring));
        let limiter = Arc::new(MemoryRateLimiter::default());
        let passwords =
            Arc::new(Argon2Hasher::new(Arc::clone(&entropy)).context("cannot set up the hashing of passwords")?);
        let tokens = Arc::new(JwtTokens::new(session_key).context("cannot set up the signing of sessions")?);
        let egress = Arc::new(outgoing::egress(config).context("cannot set up outgoing calls")?);
        let sender = Arc::new(EgressSender::new(Arc::clone(&egress)));
        let fetcher = Arc::new(EgressFetcher::new(Arc::clone(&egress)));
        let configured = calendar_providers(config, &settings.base_url);
        let accounts = CalendarAccounts::new(Arc::clone(&egress), configured, config.standin_provider);
        let calendar_providers = Arc::new(accounts);
        let own = config.oidc.as_ref().map(|configured| own_provider(configured, &settings.base_url));
        let providers = providers(config, &settings.base_url);
        let providers = Arc::new(Providers::new(egress, Arc::clone(&clock), providers, own));
        let parts = Parts {
            store,
            clock,
            entropy,
            mailer,
            calendar_providers,
            limiter,
            passwords,
            tokens,
            providers,
            sender,
            fetcher,
            settings,
        };
        let app = App::new(parts);
        Ok(Self { app, ring, database })
    }
}

/// The redirect address of a provider. It is always below `path`, whatever a request says.
fn redirect_uri(base_url: &str, path: &str, provider: Provider) -> String {
    format!("{base_url}{path}/oauth/{}/callback", provider.as_str())
}

/// Our OAuth client at a provider.
fn client(configured: &OauthProvider, base_url: &str, path: &str) -> Client {
    Client {
        provider: configured.provider,
        authorization_endpoint: configured.authorize_url.clone(),
        issuer: configured.issuer.clone(),
        client_id: configured.client_id.clone(),
        redirect_uri: redirect_uri(base_url, path, configured.provider),
    }
}

/// The providers that users can sign in with.
fn providers(config: &Config, base_url: &str) -> Vec<ProviderSettings> {
    let settings = |configured: &OauthProvider| ProviderSettings {
        client: client(configured, base_url, "/v1/auth"),
        token_endpoint: configured.token_url.clone(),
        client_secret: configured.client_secret.clone(),
    };
    config.oauth.iter().map(settings).collect()
}

/// The OpenID Connect provider that the operator added.
fn own_provider(configured: &OidcProvider, base_url: &str) -> OidcSettings {
    let OidcProvider { title, issuer, discovery, client_id, client_secret } = configured.clone();
    let redirect_uri = redirect_uri(base_url, "/v1/auth", Provider::Oidc);
    OidcSettings { title, issuer, discovery, client_id, client_secret, redirect_uri }
}

/// The providers whose calendars users can connect.
fn calendar_providers(config: &Config, base_url: &str) -> Vec<kalends_human_calendars::ProviderSettings> {
    let settings = |configured: &OauthProvider| {
        let addresses = configured.calendars.clone()?;
        Some(kalends_human_calendars::ProviderSettings {
            client: client(configured, base_url, "/v1/calendar-connections"),
            token_endpoint: configured.token_url.clone(),
            client_secret: configured.client_secret.clone(),
            api: addresses.api,
            revocation_endpoint: addresses.revoke_url,
        })
    };
    config.oauth.iter().filter_map(settings).collect()
}

/// Opens the database and the key ring over its data keys.
pub(crate) async fn open_keys(
    config: &Config,
    clock: &Arc<dyn Clock>,
    entropy: &Arc<dyn Entropy>,
) -> Result<(Database, Arc<KeyRing>), Failure> {
    let database = Database::open_migrated(config).await?;
    let table = database.key_table();
    let source = masters::source(config, &*table, &**entropy).await?;
    let ring = KeyRing::open(table, source, Arc::clone(clock), Arc::clone(entropy)).await?;
    Ok((database, ring))
}
