//! The adapter against local stand-ins for the providers.

mod bounds;
mod caldav;
mod caldav_busy;
mod caldav_server;
mod google;
mod microsoft;
mod publishing;
mod stand_in;
mod tokens;

use std::{num::NonZeroUsize, sync::Arc};

use async_trait::async_trait;
use kalends_accounts::oauth::{Client, Provider};
use kalends_app::ports::AskedCalendar;
use kalends_bridge::{Access, Tokens};
use kalends_egress::{Allowed, Egress, Resolver, Settings};
use kalends_remote::RemoteUrl;
use kalends_time::{Span, Timestamp};
use secrecy::SecretString;
use stand_in::StandIn;
use url::Url;

use crate::{CalendarAccounts, ProviderSettings};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

/// Fails on any look-up: nothing here leaves the machine.
struct NoNames;

#[async_trait]
impl Resolver for NoNames {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        panic!("{host} was looked up");
    }
}

fn settings(provider: Provider, server: &StandIn) -> ProviderSettings {
    let at = |path: &str| RemoteUrl::parse("url", &server.url(path), |_, _| true).unwrap();
    ProviderSettings {
        client: Client {
            provider,
            authorization_endpoint: Url::parse("https://provider.example/authorize").unwrap(),
            issuer: "https://provider.example".into(),
            client_id: "kalends&co".into(),
            redirect_uri: "https://calendar.example.com/v1/human-calendars/callback".into(),
        },
        token_endpoint: at("/token"),
        client_secret: SecretString::from("s&=cret".to_owned()),
        api: at("/api/v3/"),
        revocation_endpoint: (provider == Provider::Google).then(|| at("/revoke")),
    }
}

/// Both providers, played by the same server.
fn accounts(server: &StandIn) -> CalendarAccounts {
    let allowed = Allowed::new([("127.0.0.1".to_owned(), server.port())]);
    let options = Settings { user_agent: "kalends-tests".into(), per_host: NonZeroUsize::MIN };
    let egress = Egress::new(allowed, Arc::new(NoNames), &options).unwrap();
    let configured = [Provider::Google, Provider::Microsoft].map(|provider| settings(provider, server));
    CalendarAccounts::new(Arc::new(egress), configured.into(), true)
}

fn tokens() -> Tokens {
    Tokens { access: "ya29.access".into(), access_until: NOW, refresh: "1//refresh".into(), publishing: false }
}

fn access() -> Access {
    Access::Consent(tokens())
}

fn span(start: &str, end: &str) -> Span {
    Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
}

fn references(names: &[&str]) -> Vec<AskedCalendar> {
    names.iter().map(|name| AskedCalendar { reference: (*name).to_owned(), known: None }).collect()
}
