//! The providers for sign-in and for human calendars.

use std::net::SocketAddr;

use kalends_accounts::oauth::Provider;
use kalends_remote::RemoteUrl;
use kalends_sign_in::OidcSettings;
use secrecy::SecretString;
use url::{Host, Url};

use super::{
    HostPort, keys,
    reader::Reader,
    values::{address_url, flag},
};

/// The maximum length of a client ID, a secret or an issuer.
const TEXT_MAX: usize = 512;
/// The maximum number of characters of the name of a provider.
const TITLE_MAX: usize = 40;

/// A configured provider.
#[derive(Debug, Clone)]
pub struct OauthProvider {
    /// The provider.
    pub provider: Provider,
    /// The client ID of this service at the provider.
    pub client_id: String,
    /// The client secret of this service at the provider.
    pub client_secret: SecretString,
    /// The authorization endpoint.
    pub authorize_url: Url,
    /// The token endpoint.
    pub token_url: RemoteUrl,
    /// The issuer of identity tokens.
    pub issuer: String,
    /// The addresses of its calendars, if people may connect them.
    pub calendars: Option<CalendarAddresses>,
}

/// The addresses of a provider's calendars.
#[derive(Debug, Clone)]
pub struct CalendarAddresses {
    /// The base URL of the calendar API.
    pub api: RemoteUrl,
    /// The endpoint that revokes a consent. `None` if the provider has none.
    pub revoke_url: Option<RemoteUrl>,
}

/// An OpenID Connect provider that the operator added. Its endpoints are not settings: they come from its discovery
/// document.
#[derive(Debug, Clone)]
pub struct OidcProvider {
    /// The name that people know.
    pub title: String,
    /// The issuer of identity tokens, as written.
    pub issuer: String,
    /// The address of the discovery document.
    pub discovery: RemoteUrl,
    /// The client ID of this service at the provider.
    pub client_id: String,
    /// The client secret of this service at the provider.
    pub client_secret: SecretString,
}

/// The settings of a provider.
struct Keys {
    provider: Provider,
    client_id: &'static keys::Key,
    client_secret: &'static keys::Key,
    authorize_url: &'static keys::Key,
    token_url: &'static keys::Key,
    issuer: &'static keys::Key,
    calendars: &'static keys::Key,
    calendar_url: &'static keys::Key,
    revoke_url: Option<&'static keys::Key>,
}

static PROVIDERS: [Keys; 2] = [
    Keys {
        provider: Provider::Google,
        client_id: &keys::OAUTH_GOOGLE_CLIENT_ID,
        client_secret: &keys::OAUTH_GOOGLE_CLIENT_SECRET,
        authorize_url: &keys::OAUTH_GOOGLE_AUTHORIZE_URL,
        token_url: &keys::OAUTH_GOOGLE_TOKEN_URL,
        issuer: &keys::OAUTH_GOOGLE_ISSUER,
        calendars: &keys::OAUTH_GOOGLE_CALENDARS,
        calendar_url: &keys::OAUTH_GOOGLE_CALENDAR_URL,
        revoke_url: Some(&keys::OAUTH_GOOGLE_REVOKE_URL),
    },
    Keys {
        provider: Provider::Microsoft,
        client_id: &keys::OAUTH_MICROSOFT_CLIENT_ID,
        client_secret: &keys::OAUTH_MICROSOFT_CLIENT_SECRET,
        authorize_url: &keys::OAUTH_MICROSOFT_AUTHORIZE_URL,
        token_url: &keys::OAUTH_MICROSOFT_TOKEN_URL,
        issuer: &keys::OAUTH_MICROSOFT_ISSUER,
        calendars: &keys::OAUTH_MICROSOFT_CALENDARS,
        calendar_url: &keys::OAUTH_MICROSOFT_CALENDAR_URL,
        revoke_url: None,
    },
];

impl Reader<'_> {
    /// The configured providers. A provider needs a client ID and a secret; only one of them is a mistake.
    pub(super) fn providers(&mut self, allowed: &[HostPort]) -> Vec<OauthProvider> {
        PROVIDERS.iter().filter_map(|keys| self.provider(keys, allowed)).collect()
    }

    fn provider(&mut self, keys: &Keys, allowed: &[HostPort]) -> Option<OauthProvider> {
        let exempt = |host: &str, port: u16| allowed.iter().any(|at| at.host == host && at.port == port);
        let client_id = self.optional(keys.client_id, text);
        let client_secret = self.optional(keys.client_secret, |secret| text(secret).map(SecretString::from));
        let authorize_url = self.read(keys.authorize_url, |text| remote(text, exempt).map(|url| url.as_url().clone()));
        let token_url = self.read(keys.token_url, |text| confidential(text, exempt));
        let issuer = self.read(keys.issuer, issuer);
        let connected = self.read(keys.calendars, flag);
        let api = self.read(keys.calendar_url, |text| remote(text, exempt));
        let revoke_url = keys.revoke_url.map(|key| self.read(key, |text| remote(text, exempt)));
        self.require_together(&[keys.client_id, keys.client_secret]);
        Some(OauthProvider {
            provider: keys.provider,
            client_id: client_id?,
            client_secret: client_secret?,
            authorize_url: authorize_url?,
            token_url: token_url?,
            issuer: issuer?,
            calendars: if connected? {
                Some(CalendarAddresses { api: api?, revoke_url: revoke_url.map_or(Some(None), |url| url.map(Some))? })
            } else {
                None
            },
        })
    }

    /// The operator's own provider. It needs an issuer, a client ID and a secret; only some of them are a mistake.
    pub(super) fn oidc(&mut self, allowed: &[HostPort]) -> Option<OidcProvider> {
        let exempt = |host: &str, port: u16| allowed.iter().any(|at| at.host == host && at.port == port);
        let issuer = self.optional(&keys::OIDC_ISSUER, |text| discovered_issuer(text, exempt));
        let client_id = self.optional(&keys::OIDC_CLIENT_ID, text);
        let client_secret = self.optional(&keys::OIDC_CLIENT_SECRET, |secret| text(secret).map(SecretString::from));
        let title = self.read(&keys::OIDC_NAME, title);
        self.require_together(&[&keys::OIDC_ISSUER, &keys::OIDC_CLIENT_ID, &keys::OIDC_CLIENT_SECRET]);
        let (issuer, discovery) = issuer?;
        Some(OidcProvider { title: title?, issuer, discovery, client_id: client_id?, client_secret: client_secret? })
    }

    /// Whether the stand-in is offered. Anybody who signs in can then draw busy times, so the service must not be
    /// public: its base URL has to be a loopback address.
    pub(super) fn standin(&mut self, base_url: Option<&str>, listen: Option<SocketAddr>) -> Option<bool> {
        let is_on = self.read(&keys::STANDIN_PROVIDER, flag)?;
        // A base URL that is given but not valid has been reported.
        let unknown = base_url.is_none() && self.given.find(&keys::BASE_URL).is_some();
        let address = base_url.map(str::to_owned).or_else(|| listen.map(address_url)).filter(|_| !unknown);
        if let Some(address) = address.filter(|address| is_on && !is_loopback(address)) {
            self.problems.push(format!(
                "{} may be true only if {} is a loopback address such as http://127.0.0.1:8080, got {address:?}",
                keys::STANDIN_PROVIDER.name,
                keys::BASE_URL.name,
            ));
        }
        Some(is_on)
    }

    /// Requires all of these settings if one is given.
    fn require_together(&mut self, all: &[&'static keys::Key]) {
        let given = self.given;
        let (given, missing): (Vec<&keys::Key>, Vec<_>) =
            all.iter().copied().partition(|key| given.find(key).is_some());
        let Some(one) = given.first() else { return };
        for other in missing {
            self.problems.push(format!("{} must be set, because {} is set", other.name, one.name));
        }
    }
}

/// Whether the URL is one of this machine.
fn is_loopback(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Printable ASCII, including spaces.
fn text(text: &str) -> Result<String, String> {
    let text = text.trim();
    let fits = (1..=TEXT_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if fits { Ok(text.to_owned()) } else { Err(format!("must be 1 to {TEXT_MAX} ASCII characters")) }
}

/// A URL that outgoing calls may reach.
fn remote(text: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<RemoteUrl, String> {
    RemoteUrl::parse("", text.trim(), exempt).map_err(|error| error.message)
}

/// A URL that outgoing calls may reach, and from which identities come. They are trusted because of TLS, so plain http
/// must not leave this machine.
fn confidential(text: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<RemoteUrl, String> {
    let url = remote(text, exempt)?;
    if url.is_confidential() { Ok(url) } else { Err("must be an https URL, except on this machine".to_owned()) }
}

/// An issuer has the form of a URL, but is compared as text.
fn issuer(text: &str) -> Result<String, String> {
    let text = text.trim();
    let fits = text.len() <= TEXT_MAX
        && ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme))
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { Ok(text.to_owned()) } else { Err(format!("must be an https URL of at most {TEXT_MAX} characters")) }
}

/// An issuer whose discovery document is fetched, and the address of the document. It has neither a query nor a
/// fragment (OpenID Connect Discovery 1.0, section 3).
fn discovered_issuer(text: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<(String, RemoteUrl), String> {
    let issuer = issuer(text)?;
    if issuer.contains(['?', '#']) {
        return Err("must be an https URL without a query or a fragment".to_owned());
    }
    let discovery = confidential(&OidcSettings::discovery_address(&issuer), exempt)?;
    Ok((issuer, discovery))
}

/// A name on pages and in emails.
fn title(text: &str) -> Result<String, String> {
    let text = text.trim();
    let fits = (1..=TITLE_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err(format!("must be 1 to {TITLE_MAX} characters, without line breaks")) }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::super::{Config, Given};
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<Vec<OauthProvider>, Vec<String>> {
        Config::parse(&Given::of(pairs, &[], "")).map(|config| config.oauth)
    }

    const ID: (&str, &str) = ("KALENDS_OAUTH_MICROSOFT_CLIENT_ID", "kalends");
    const SECRET: (&str, &str) = ("KALENDS_OAUTH_MICROSOFT_CLIENT_SECRET", "hush hush");

    #[test]
    fn a_provider_needs_both_client_id_and_secret() {
        assert!(parse(&[]).unwrap().is_empty());
        let [microsoft] = &parse(&[ID, SECRET]).unwrap()[..] else { panic!("one provider") };
        assert_eq!((microsoft.provider, microsoft.client_id.as_str()), (Provider::Microsoft, "kalends"));
        assert_eq!(microsoft.client_secret.expose_secret(), "hush hush");
        assert_eq!(microsoft.authorize_url.as_str(), "https://login.microsoftonline.com/common/oauth2/v2.0/authorize");
        assert_eq!(microsoft.token_url.as_str(), "https://login.microsoftonline.com/common/oauth2/v2.0/token");
        assert_eq!(microsoft.issuer, "https://login.microsoftonline.com/{tenantid}/v2.0");
        for half in [ID, SECRET] {
            let problems = parse(&[half]).unwrap_err();
            assert!(problems.len() == 1 && !problems[0].contains("hush"), "{problems:?}");
        }
    }

    #[test]
    fn calendars_are_off_unless_enabled() {
        assert!(parse(&[ID, SECRET]).unwrap()[0].calendars.is_none());
        let on = ("KALENDS_OAUTH_MICROSOFT_CALENDARS", "true");
        let microsoft = parse(&[ID, SECRET, on]).unwrap().remove(0).calendars.unwrap();
        assert_eq!(microsoft.api.as_str(), "https://graph.microsoft.com/v1.0");
        assert!(microsoft.revoke_url.is_none());
        let google = [
            ("KALENDS_OAUTH_GOOGLE_CLIENT_ID", "kalends"),
            ("KALENDS_OAUTH_GOOGLE_CLIENT_SECRET", "hush hush"),
            ("KALENDS_OAUTH_GOOGLE_CALENDARS", "true"),
        ];
        let google = parse(&google).unwrap().remove(0).calendars.unwrap();
        assert_eq!(google.api.as_str(), "https://www.googleapis.com/calendar/v3");
        assert_eq!(google.revoke_url.unwrap().as_str(), "https://oauth2.googleapis.com/revoke");
        assert_eq!(parse(&[ID, SECRET, (on.0, "perhaps")]).unwrap_err().len(), 1);
    }

    #[test]
    fn addresses_must_be_public_or_allowed() {
        for (key, value) in [
            ("KALENDS_OAUTH_GOOGLE_TOKEN_URL", "http://provider.example/token"),
            ("KALENDS_OAUTH_GOOGLE_TOKEN_URL", "https://127.0.0.1:9000/token"),
            ("KALENDS_OAUTH_GOOGLE_AUTHORIZE_URL", "javascript:alert(1)"),
            ("KALENDS_OAUTH_GOOGLE_AUTHORIZE_URL", "http://127.0.0.1:9001/authorize"),
            ("KALENDS_OAUTH_GOOGLE_ISSUER", "accounts.google.com"),
            ("KALENDS_OAUTH_GOOGLE_CALENDAR_URL", "http://127.0.0.1:9001/calendar"),
            ("KALENDS_OAUTH_GOOGLE_REVOKE_URL", "revoke"),
        ] {
            let problems = parse(&[(key, value), ("KALENDS_EGRESS_ALLOW", "127.0.0.1:9002")]).unwrap_err();
            assert!(problems.len() == 1 && problems[0].starts_with(key), "{problems:?}");
        }
        let local = ("KALENDS_OAUTH_MICROSOFT_TOKEN_URL", "http://127.0.0.1:9000/token");
        let allowed = parse(&[ID, SECRET, local, ("KALENDS_EGRESS_ALLOW", "127.0.0.1:9000")]).unwrap();
        assert_eq!(allowed[0].token_url.as_str(), local.1);
    }

    fn parse_oidc(pairs: &[(&str, &str)]) -> Result<Option<OidcProvider>, Vec<String>> {
        Config::parse(&Given::of(pairs, &[], "")).map(|config| config.oidc)
    }

    const OIDC: [(&str, &str); 3] = [
        ("KALENDS_OIDC_ISSUER", "https://id.example.com/realms/staff"),
        ("KALENDS_OIDC_CLIENT_ID", "kalends"),
        ("KALENDS_OIDC_CLIENT_SECRET", "hush hush"),
    ];

    #[test]
    fn an_own_provider_needs_an_issuer_and_a_client() {
        assert!(parse_oidc(&[]).unwrap().is_none());
        assert!(parse_oidc(&[("KALENDS_OIDC_NAME", "Example Login")]).unwrap().is_none());
        let own = parse_oidc(&OIDC).unwrap().unwrap();
        assert_eq!((own.title.as_str(), own.client_id.as_str()), ("single sign-on", "kalends"));
        assert_eq!(own.issuer, "https://id.example.com/realms/staff");
        let document = "https://id.example.com/realms/staff/.well-known/openid-configuration";
        assert_eq!((own.discovery.as_str(), own.client_secret.expose_secret()), (document, "hush hush"));
        assert!(parse(&OIDC).unwrap().is_empty(), "it is none of the others");
        for (missing, _) in OIDC {
            let rest: Vec<_> = OIDC.into_iter().filter(|(name, _)| *name != missing).collect();
            let problems = parse_oidc(&rest).unwrap_err();
            assert!(problems.len() == 1 && problems[0].starts_with(&format!("{missing} must be set")), "{problems:?}");
            let one = OIDC.into_iter().find(|(name, _)| *name == missing).unwrap();
            let problems = parse_oidc(&[one]).unwrap_err();
            assert!(problems.len() == 2 && !problems.concat().contains("hush"), "{problems:?}");
        }
    }

    #[test]
    fn the_issuer_of_an_own_provider_must_be_public_or_allowed() {
        let with = |issuer: &str| {
            let [_, id, secret] = OIDC;
            let allowed = ("KALENDS_EGRESS_ALLOW", "127.0.0.1:9000,10.0.0.7:9000");
            parse_oidc(&[("KALENDS_OIDC_ISSUER", issuer), id, secret, allowed])
        };
        for wrong in [
            "id.example.com",
            "http://id.example.com",
            "https://id.example.com?tenant=a",
            "https://id.example.com#a",
            "https://127.0.0.1/realms/staff",
            "http://127.0.0.1:9001",
            "http://10.0.0.7:9000",
            "https://user@id.example.com",
        ] {
            let problems = with(wrong).unwrap_err();
            assert!(problems.len() == 1 && problems[0].starts_with("KALENDS_OIDC_ISSUER"), "{wrong}: {problems:?}");
        }
        assert!(with("https://10.0.0.7:9000/").is_ok());
        let own = with("http://127.0.0.1:9000/").unwrap().unwrap();
        assert_eq!(own.issuer, "http://127.0.0.1:9000/", "it is compared as text");
        assert_eq!(own.discovery.as_str(), "http://127.0.0.1:9000/.well-known/openid-configuration");
    }

    #[test]
    fn the_name_of_an_own_provider_is_short() {
        let named = |name: &str| {
            let [issuer, id, secret] = OIDC;
            parse_oidc(&[issuer, id, secret, ("KALENDS_OIDC_NAME", name)]).map(|own| own.unwrap().title)
        };
        let longest = "é".repeat(40);
        assert_eq!(named(" Example Login "), Ok("Example Login".to_owned()));
        assert_eq!(named(&longest), Ok(longest.clone()));
        for wrong in [&*"é".repeat(41), "Example\nLogin"] {
            let problems = named(wrong).unwrap_err();
            assert!(problems.len() == 1 && problems[0].starts_with("KALENDS_OIDC_NAME"), "{problems:?}");
        }
    }
}
