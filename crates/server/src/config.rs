//! The configuration: one table of settings, read from the environment, `.env` and `kalends.toml`.
//!
//! [`keys`] is the table, and everything else is derived from it. [`Given`] holds the value and source of each
//! setting. [`Config`] is the parsed result. All problems are reported at once.

mod given;
pub mod keys;
mod listing;
mod oauth;
mod reader;
mod values;

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf};

use ipnet::IpNet;
use kalends_accounts::{PublicMailDomains, SignUps};
use kalends_app::ListedSetting;
use kalends_calendars::RecurrenceDefault;
use kalends_mail::{MailTransport, Sender};
use kalends_plans::{IpLimits, MailLimits, Plan};
use kalends_time::{CivilDate, SignedDuration};
use kalends_vault::MasterKeys;
use secrecy::SecretString;
use url::Url;
use zeroize::Zeroizing;

pub use given::{Given, Source};
pub(crate) use listing::list;
pub use oauth::{CalendarAddresses, OauthProvider, OidcProvider};
use reader::Reader;
pub use values::{ConnectionLimits, DatabaseUrl, HostPort, LogFormat};

/// The configuration, parsed.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The directory of generated keys and mail files, and of the SQLite file by default.
    pub data_dir: PathBuf,
    /// The database.
    pub database: DatabaseUrl,
    /// The size of the connection pool. On SQLite, the number of readers.
    pub database_connections: u32,
    /// Whether missing migrations are applied at start.
    pub migrate: bool,
    /// The public address, if it differs from the listening address.
    base_url: Option<String>,
    console_url: Option<String>,
    /// How mail is sent.
    pub mail: MailTransport,
    /// The sender of mail; `None` is an address at the host of the base URL.
    pub mail_from: Option<Sender>,
    /// The master key, or two while rotating.
    pub master_key: Option<MasterKeys>,
    /// The key that signs console sessions.
    pub session_key: Option<SecretString>,
    /// The bearer token of the administration routes. Without it they do not exist.
    pub admin_token: Option<SecretString>,
    /// The version of the terms of service.
    pub terms_version: String,
    /// Whether organizations that accepted another version, or none, are notified.
    pub terms_material: bool,
    terms_url: Option<String>,
    /// The operator's text of the terms, in Markdown.
    pub terms_text: Option<String>,
    /// The date from which those terms apply.
    pub terms_effective_at: CivilDate,
    /// The plan of organizations that sign up by themselves, once their email address is verified.
    pub sign_up_plan: Plan,
    /// Who may sign up.
    pub sign_ups: SignUps,
    /// Whether users who sign up in the console must prove their address.
    pub email_proof: bool,
    /// The page on which callers choose or ask for another plan.
    pub upgrade_url: Option<String>,
    /// The private addresses that outgoing calls may reach anyway.
    pub egress_allow: Vec<HostPort>,
    /// The maximum number of concurrent outgoing calls to one destination.
    pub egress_per_host: NonZeroUsize,
    /// The providers that users can sign in with, in addition to passwords.
    pub oauth: Vec<OauthProvider>,
    /// The OpenID Connect provider that the operator added.
    pub oidc: Option<OidcProvider>,
    /// Whether users may connect calendars that they draw.
    pub standin_provider: bool,
    /// The rates for each caller's IP address.
    pub ip_limits: IpLimits,
    /// The limits on open connections.
    pub max_connections: ConnectionLimits,
    /// The limits on email to people outside an organization.
    pub mail_limits: MailLimits,
    /// The zone of series that name none, on calendars without a default of their own.
    pub recurrence_default: RecurrenceDefault,
    /// The mail domains at which anybody can get a mailbox.
    pub public_mail_domains: PublicMailDomains,
    /// The networks whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// The origins whose pages may read every answer.
    pub cors_origins: Vec<String>,
    /// How far the service's clock is shifted.
    pub clock_offset: SignedDuration,
    /// The address that serves metrics.
    pub metrics_listen: Option<SocketAddr>,
    /// The log filter, in the syntax of `RUST_LOG`.
    pub log: String,
    /// Whether the operator set the log filter.
    pub log_is_chosen: bool,
    /// The format of log lines.
    pub log_format: LogFormat,
    /// Whether each request has a line in the log.
    pub log_requests: bool,
    /// The collector that spans are sent to, without a trailing slash.
    pub otlp_endpoint: Option<String>,
    /// Every setting with its value and its source, without secrets.
    pub listing: Vec<ListedSetting>,
}

impl Config {
    /// Parses the given values.
    ///
    /// # Errors
    /// One sentence for each problem.
    pub fn parse(given: &Given) -> Result<Self, Vec<String>> {
        let mut problems = given.problems().to_vec();
        let mut reader = Reader { given, problems: &mut problems };

        let listen = reader.read(&keys::LISTEN, values::address);
        let data_dir = reader.read(&keys::DATA_DIR, |text| Ok(PathBuf::from(text)));
        let database = reader.read(&keys::DATABASE_URL, str::parse);
        let database_connections = reader.read(&keys::DATABASE_CONNECTIONS, values::connections);
        let migrate = reader.read(&keys::MIGRATE, values::flag);
        let base_url = reader.optional(&keys::BASE_URL, values::base_address);
        let console_url = reader.optional(&keys::CONSOLE_URL, values::web_address);
        let mail = reader.read(&keys::MAIL, |text| MailTransport::parse(text).map_err(|error| error.to_string()));
        let mail_from = reader.optional(&keys::MAIL_FROM, Sender::parse);
        let master_key =
            reader.optional(&keys::MASTER_KEY, |text| MasterKeys::parse(text).map_err(|error| error.to_string()));
        let session_key = reader.optional(&keys::SESSION_KEY, values::session_key);
        let admin_token = reader.optional(&keys::ADMIN_TOKEN, values::admin_token);
        let terms_version = reader.read(&keys::TERMS_VERSION, values::terms_version);
        let terms_material = reader.read(&keys::TERMS_MATERIAL, values::flag);
        let terms_url = reader.optional(&keys::TERMS_URL, values::web_address);
        let terms_text = reader.optional(&keys::TERMS_FILE, values::terms_text);
        let terms_effective_at = reader.read(&keys::TERMS_EFFECTIVE_AT, values::date);
        let sign_up_plan = reader.read(&keys::SIGNUP_PLAN, values::sign_up_plan);
        let sign_ups = reader.read(&keys::SIGNUP, values::sign_ups);
        let email_proof = reader.read(&keys::EMAIL_PROOF, values::flag);
        let upgrade_url = reader.optional(&keys::UPGRADE_URL, values::page);
        let egress_allow = reader.optional(&keys::EGRESS_ALLOW, |text| values::list(text, str::parse));
        let egress_per_host = reader.read(&keys::EGRESS_PER_HOST, values::calls);
        let oauth = reader.providers(egress_allow.as_deref().unwrap_or_default());
        let oidc = reader.oidc(egress_allow.as_deref().unwrap_or_default());
        let standin_provider = reader.standin(base_url.as_deref(), listen);
        let ip_limits = reader.read(&keys::IP_LIMITS, |text| IpLimits::parse(text).map_err(|wrong| wrong.to_string()));
        let max_connections = reader.read(&keys::MAX_CONNECTIONS, str::parse);
        let mail_limits =
            reader.read(&keys::MAIL_LIMITS, |text| MailLimits::parse(text).map_err(|wrong| wrong.to_string()));
        let recurrence_default = reader.read(&keys::RECURRENCE_DEFAULT, values::recurrence_default);
        let public_mail_domains = reader
            .read(&keys::PUBLIC_MAIL_DOMAINS, |text| PublicMailDomains::parse(text).map_err(|wrong| wrong.to_string()));
        let trusted_proxies = reader.optional(&keys::TRUSTED_PROXIES, |text| values::list(text, values::network));
        let cors_origins = reader.optional(&keys::CORS_ORIGINS, |text| values::list(text, values::origin));
        let clock_offset = reader.read(&keys::CLOCK_OFFSET_SECONDS, values::clock_offset);
        let metrics_listen = reader.optional(&keys::METRICS_LISTEN, values::address);
        let log = reader.read(&keys::LOG, values::log_filter);
        let log_format = reader.read(&keys::LOG_FORMAT, str::parse);
        let log_requests = reader.read(&keys::LOG_REQUESTS, values::flag);
        let otlp_endpoint = reader.optional(&keys::OTLP_ENDPOINT, values::web_address);

        let config = || {
            Some(Self {
                listen: listen?,
                data_dir: data_dir?,
                database: database?,
                database_connections: database_connections?,
                migrate: migrate?,
                base_url,
                console_url,
                mail: mail?,
                mail_from,
                master_key,
                session_key,
                admin_token,
                terms_version: terms_version?,
                terms_material: terms_material?,
                terms_url,
                terms_text,
                terms_effective_at: terms_effective_at?,
                sign_up_plan: sign_up_plan?,
                sign_ups: sign_ups?,
                email_proof: email_proof?,
                upgrade_url,
                egress_allow: egress_allow.unwrap_or_default(),
                egress_per_host: egress_per_host?,
                oauth,
                oidc,
                standin_provider: standin_provider?,
                ip_limits: ip_limits?,
                max_connections: max_connections?,
                mail_limits: mail_limits?,
                recurrence_default: recurrence_default?,
                public_mail_domains: public_mail_domains?,
                trusted_proxies: trusted_proxies.unwrap_or_default(),
                cors_origins: cors_origins.unwrap_or_default(),
                clock_offset: clock_offset?,
                metrics_listen,
                log: log?,
                log_is_chosen: given.find(&keys::LOG).is_some(),
                log_format: log_format?,
                log_requests: log_requests?,
                otlp_endpoint,
                listing: listing::listed(given),
            })
        };
        match config() {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(problems),
        }
    }

    /// The public address of the service, without a trailing slash: the configured one, or else the address on which
    /// the service listens (`bound`, once it is known). If it listens on every address, this is the loopback address.
    pub fn base_url(&self, bound: Option<SocketAddr>) -> String {
        self.base_url.clone().unwrap_or_else(|| values::address_url(bound.unwrap_or(self.listen)))
    }

    /// The address of the console, without a trailing slash.
    pub fn console_url(&self, base_url: &str) -> String {
        self.console_url.clone().unwrap_or_else(|| format!("{base_url}/console"))
    }

    /// The address of the terms of service.
    pub fn terms_url(&self, base_url: &str) -> String {
        self.terms_url.clone().unwrap_or_else(|| format!("{base_url}/terms"))
    }
}

/// The host of an address that [`values::web_address`] has checked.
pub(crate) fn host_of(base_url: &str) -> String {
    Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// The bytes of the key that signs sessions, from a text in the form of [`keys::SESSION_KEY`].
pub(crate) fn session_key_bytes(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    values::session_key_bytes(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        Config::parse(&Given::of(pairs, &[], ""))
    }

    #[test]
    fn every_setting_is_optional() {
        let config = parse(&[]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.data_dir, PathBuf::from("kalends-data"));
        assert!(matches!(&config.database, DatabaseUrl::Sqlite(path) if path.ends_with("kalends-data/kalends.db")));
        assert_eq!(config.mail, MailTransport::File);
        assert!(config.migrate && config.terms_material && config.log_requests);
        assert_eq!(config.terms_version, "2026-01-01");
        assert_eq!(config.terms_effective_at.to_string(), "2026-01-01");
        assert_eq!(config.base_url(None), "http://127.0.0.1:8080");
        assert_eq!(config.base_url(Some("127.0.0.1:4711".parse().unwrap())), "http://127.0.0.1:4711");
        assert_eq!(config.console_url("http://x"), "http://x/console");
        assert_eq!(config.ip_limits, IpLimits::default());
        assert_eq!(config.mail_limits, MailLimits::default());
        assert_eq!(config.recurrence_default, RecurrenceDefault::Utc);
        assert_eq!(config.public_mail_domains, PublicMailDomains::default());
        assert!(config.admin_token.is_none() && config.metrics_listen.is_none() && config.otlp_endpoint.is_none());
        assert_eq!(config.egress_per_host.get(), 8);
        assert!(config.cors_origins.is_empty());
        assert_eq!((config.sign_up_plan, config.upgrade_url), (Plan::Free, None));
        assert_eq!(config.sign_ups, SignUps::Open);
        assert!(!config.email_proof, "no mail leaves the server");
        assert!(config.egress_allow.is_empty() && config.trusted_proxies.is_empty() && !config.standin_provider);
    }

    #[test]
    fn every_setting_takes_effect() {
        let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        let config = parse(&[
            ("KALENDS_LISTEN", "[::]:0"),
            ("KALENDS_DATA_DIR", "/var/lib/kalends"),
            ("KALENDS_DATABASE_URL", "postgres://u:p@db/kalends"),
            ("KALENDS_DATABASE_CONNECTIONS", "40"),
            ("KALENDS_MIGRATE", "false"),
            ("KALENDS_BASE_URL", "https://cal.example/"),
            ("KALENDS_CONSOLE_URL", "https://console.example"),
            ("KALENDS_MAIL", "smtp://u:p@mail.example"),
            ("KALENDS_MAIL_FROM", "Bookings <bookings@cal.example>"),
            ("KALENDS_MASTER_KEY", key),
            ("KALENDS_SESSION_KEY", key),
            ("KALENDS_ADMIN_TOKEN", "a-long-enough-token"),
            ("KALENDS_TERMS_VERSION", "2027-02-03"),
            ("KALENDS_TERMS_MATERIAL", "no"),
            ("KALENDS_TERMS_URL", "https://cal.example/tos"),
            ("KALENDS_SIGNUP_PLAN", "pro"),
            ("KALENDS_SIGNUP", "invited"),
            ("KALENDS_EMAIL_PROOF", "off"),
            ("KALENDS_UPGRADE_URL", "https://cal.example/plans?from=api"),
            ("KALENDS_EGRESS_ALLOW", "localhost:9000, 10.0.0.1:80"),
            ("KALENDS_EGRESS_PER_HOST", "2"),
            ("KALENDS_IP_LIMITS", "feed=600,booking=100"),
            ("KALENDS_MAX_CONNECTIONS", "total=100, address=10"),
            ("KALENDS_MAIL_LIMITS", "org=7,recipient=off"),
            ("KALENDS_RECURRENCE_DEFAULT", "calendar"),
            ("KALENDS_PUBLIC_MAIL_DOMAINS", "mail.example"),
            ("KALENDS_TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
            ("KALENDS_CORS_ORIGINS", "https://App.example:443/, http://localhost:3000"),
            ("KALENDS_CLOCK_OFFSET_SECONDS", "-60"),
            ("KALENDS_METRICS_LISTEN", "127.0.0.1:9090"),
            ("KALENDS_LOG", "info,kalends_app=debug"),
            ("KALENDS_LOG_FORMAT", "json"),
            ("KALENDS_LOG_REQUESTS", "false"),
            ("KALENDS_OTLP_ENDPOINT", "http://localhost:4318/"),
        ])
        .unwrap();
        assert!(matches!(config.database, DatabaseUrl::Postgres(_)));
        assert_eq!(config.database_connections, 40);
        assert_eq!(config.mail_from, Some(Sender::parse("Bookings <bookings@cal.example>").unwrap()));
        assert!(!config.migrate && !config.terms_material && !config.log_requests);
        assert_eq!(config.otlp_endpoint.as_deref(), Some("http://localhost:4318"));
        assert_eq!(config.base_url(None), "https://cal.example");
        assert_eq!(config.console_url("x"), "https://console.example");
        assert_eq!(config.terms_url("x"), "https://cal.example/tos");
        // If the version is a date, the terms apply from that date.
        assert_eq!(config.terms_effective_at.to_string(), "2027-02-03");
        assert_eq!((config.sign_up_plan, config.sign_ups), (Plan::Pro, SignUps::Invited));
        assert!(!config.email_proof);
        assert_eq!(config.upgrade_url.as_deref(), Some("https://cal.example/plans?from=api"));
        assert_eq!((config.egress_allow.len(), config.egress_per_host.get()), (2, 2));
        assert_eq!(config.mail_limits, MailLimits { org: Some(7), recipient: None });
        assert_eq!(config.recurrence_default, RecurrenceDefault::Calendar);
        assert!(
            config.public_mail_domains.contains("mail.example") && !config.public_mail_domains.contains("gmail.com")
        );
        assert_eq!(config.trusted_proxies.len(), 2);
        assert_eq!(config.max_connections, ConnectionLimits { total: 100, per_address: 10 });
        assert_eq!(config.cors_origins, ["https://app.example", "http://localhost:3000"]);
        assert_eq!(config.clock_offset, SignedDuration::seconds(-60));
        assert_eq!(config.log_format, LogFormat::Json);
    }

    #[test]
    fn all_problems_are_reported_without_secrets() {
        let problems = parse(&[
            ("KALENDS_LISTEN", "8080"),
            ("KALENDS_MASTER_KEY", "hunter2"),
            ("KALENDS_DATABASE_URL", "mysql://u:hunter2@db"),
            ("KALENDS_MAIL", "ftp://u:hunter2@mail"),
            ("KALENDS_MAIL_FROM", "bookings"),
            ("KALENDS_MIGRATE", "perhaps"),
        ])
        .unwrap_err();
        assert_eq!(problems.len(), 6, "{problems:?}");
        assert!(problems.iter().all(|problem| !problem.contains("hunter2")), "{problems:?}");
        assert_eq!(
            problems[0],
            "KALENDS_LISTEN (environment): must be an IP address and a port such as 127.0.0.1:8080, got \"8080\""
        );
    }

    #[test]
    fn a_file_of_terms_that_cannot_be_read_is_named() {
        let problems = parse(&[("KALENDS_TERMS_FILE", "nowhere/terms.md")]).unwrap_err();
        let begins = "KALENDS_TERMS_FILE (environment): must be a file that the server can read (";
        assert!(problems.len() == 1 && problems[0].starts_with(begins), "{problems:?}");
        assert!(problems[0].ends_with("), got \"nowhere/terms.md\""), "{problems:?}");
    }

    #[test]
    fn a_base_url_with_a_path_is_refused() {
        assert_eq!(
            parse(&[("KALENDS_BASE_URL", "https://cal.example/kalends")]).unwrap_err(),
            ["KALENDS_BASE_URL (environment): must be an http or https URL without path, user information, query or \
              fragment (pages and redirects begin at the root), got \"https://cal.example/kalends\""]
        );
        let console = parse(&[("KALENDS_CONSOLE_URL", "https://cal.example/console/")]).unwrap();
        assert_eq!(console.console_url("x"), "https://cal.example/console", "a console of your own may have a path");
    }

    #[test]
    fn the_stand_in_is_for_a_loopback_address_only() {
        let on = ("KALENDS_STANDIN_PROVIDER", "true");
        for local in ["http://127.0.0.1:8080", "https://127.1.2.3", "http://[::1]:8080", "http://localhost:8080"] {
            assert!(parse(&[on, ("KALENDS_BASE_URL", local)]).unwrap().standin_provider, "{local}");
        }
        assert!(parse(&[on]).unwrap().standin_provider);
        assert!(parse(&[on, ("KALENDS_LISTEN", "0.0.0.0:8080")]).unwrap().standin_provider);
        for public in ["https://cal.example", "http://10.0.0.1:8080", "http://localhost.example", "http://[::2]"] {
            let problems = parse(&[on, ("KALENDS_BASE_URL", public)]).unwrap_err();
            let [problem] = &problems[..] else { panic!("{problems:?}") };
            assert!(
                problem.starts_with("KALENDS_STANDIN_PROVIDER may be true only if KALENDS_BASE_URL is"),
                "{problem}"
            );
            assert!(parse(&[("KALENDS_BASE_URL", public)]).is_ok(), "{public}");
        }
        assert!(parse(&[on, ("KALENDS_LISTEN", "10.0.0.1:8080")]).is_err());
        assert_eq!(parse(&[on, ("KALENDS_BASE_URL", "nowhere")]).unwrap_err().len(), 1, "only the address is wrong");
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let printed = format!(
            "{:?}",
            parse(&[
                ("KALENDS_DATABASE_URL", "postgres://u:hunter2@db/kalends"),
                ("KALENDS_MAIL", "smtps://u:hunter2@mail.example"),
                ("KALENDS_ADMIN_TOKEN", "hunter2hunter2hunter2"),
            ])
        );
        assert!(!printed.contains("hunter2"), "{printed}");
    }

    #[test]
    fn a_service_on_every_address_has_a_loopback_base_url() {
        let config = parse(&[("KALENDS_LISTEN", "0.0.0.0:8080")]).unwrap();
        assert_eq!(config.base_url(None), "http://127.0.0.1:8080");
        assert_eq!(config.base_url(Some("[::]:80".parse().unwrap())), "http://[::1]:80");
    }
}
