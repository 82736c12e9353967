//! The table of settings. Parsing, listing, help texts and errors are derived from it.

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// The name in the environment and in `.env`. In `kalends.toml` it is lower case, without the prefix.
    pub name: &'static str,
    /// How much of the value may be shown.
    pub visibility: Visibility,
    /// The value if none is given.
    pub default: Default,
    /// The purpose, in a sentence or two.
    pub help: &'static str,
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Plain,
    /// All but a password in it.
    Address,
    /// Nothing.
    Secret,
}

/// The value of a setting that is not given.
#[derive(Debug)]
pub enum Default {
    /// This value.
    Text(&'static str),
    /// A value derived from the texts of other settings.
    Derived(fn(&TextOf<'_>) -> String),
    /// No value. The text says what that means.
    Unset(&'static str),
}

/// Returns the text of a setting, which is empty if the setting is unset.
pub type TextOf<'a> = dyn Fn(&Key) -> String + 'a;

/// The prefix of all names.
pub const PREFIX: &str = "KALENDS_";

macro_rules! keys {
    ($($constant:ident, $visibility:ident, $default:expr, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub static $constant: Key = Key {
                name: concat!("KALENDS_", stringify!($constant)),
                visibility: Visibility::$visibility,
                default: $default,
                help: $help,
            };
        )*

        /// Every setting, in the order of the listing.
        pub static ALL: &[&Key] = &[$(&$constant),*];
    };
}

keys! {
    LISTEN, Plain, Default::Text("127.0.0.1:8080"),
        "The IP address and port to listen on. Port 0 picks a free port.";
    DATA_DIR, Plain, Default::Text("kalends-data"),
        "The directory for the SQLite file, the generated keys and mail that is kept as files.";
    DATABASE_URL, Address, Default::Derived(|text_of| format!("sqlite://{}/kalends.db", text_of(&DATA_DIR))),
        "The database: sqlite://PATH or postgres://USER:PASSWORD@HOST/NAME.";
    DATABASE_CONNECTIONS, Plain, Default::Derived(|text_of| {
        if text_of(&DATABASE_URL).starts_with("postgres") { "16" } else { "4" }.to_owned()
    }),
        "The maximum number of database connections, 1 to 1000. On SQLite, the number of readers.";
    MIGRATE, Plain, Default::Text("true"),
        "Whether to apply missing migrations at start. If false, missing migrations are an error; run `kalends migrate`.";
    BASE_URL, Plain, Default::Derived(|text_of| {
        text_of(&LISTEN).parse().map_or_else(|_| String::new(), super::values::address_url)
    }),
        "The public URL of the service, as callers reach it: scheme, host and port, without a path.";
    CONSOLE_URL, Plain, Default::Derived(|text_of| format!("{}/console", text_of(&BASE_URL))),
        "The URL of the console, where users sign in.";
    MAIL, Address, Default::Text("file"),
        "How mail is sent: smtp://USER:PASSWORD@HOST:PORT or smtps://... sends it; `file` sends nothing and writes each message to DATA_DIR/mail/*.eml.";
    MAIL_FROM, Plain, Default::Unset("no-reply at the host of the base URL"),
        "The sender of mail, such as `Bookings <bookings@example.com>`. The mail server must accept it.";
    MASTER_KEY, Secret, Default::Unset("generated on SQLite; required on Postgres"),
        "The key that wraps the data keys, which encrypt stored fields: 32 bytes in base64, or \"new,old\" during a rotation. On SQLite it is generated into DATA_DIR/master.key.";
    SESSION_KEY, Secret, Default::Unset("generated on SQLite; required on Postgres"),
        "The key that signs console sessions: at least 32 bytes in base64. On SQLite it is generated into DATA_DIR/session.key.";
    ADMIN_TOKEN, Secret, Default::Unset("/v1/admin/* and /console/operator are disabled"),
        "The bearer token for /v1/admin/*, which also opens the pages below /console/operator, at least 16 visible ASCII characters.";
    TERMS_VERSION, Plain, Default::Text("2026-01-01"),
        "The version of the terms of service.";
    TERMS_MATERIAL, Plain, Default::Text("true"),
        "Whether answers announce this version to organizations that have not accepted it.";
    TERMS_URL, Plain, Default::Derived(|text_of| format!("{}/terms", text_of(&BASE_URL))),
        "The URL of the terms of service.";
    TERMS_FILE, Plain, Default::Unset("/terms has no text"),
        "A file with the text of your terms, in Markdown or plain text, at most 64 KiB, for the page /terms. If the text changes, set another KALENDS_TERMS_VERSION.";
    TERMS_EFFECTIVE_AT, Plain, Default::Derived(|text_of| {
        let version = text_of(&TERMS_VERSION);
        if super::values::date(&version).is_ok() { version } else { "2026-01-01".to_owned() }
    }),
        "The date from which the terms apply, such as 2026-01-01.";
    SIGNUP_PLAN, Plain, Default::Text("free"),
        "The plan of organizations that sign up by themselves, once their email address is verified: free, pro or custom.";
    SIGNUP, Plain, Default::Text("open"),
        "Who may sign up: open (everybody, agents too), invited (people whom an organization invited), or closed (nobody).";
    EMAIL_PROOF, Plain, Default::Derived(|text_of| if text_of(&MAIL).trim() == "file" { "off" } else { "on" }.to_owned()),
        "Whether users who sign up in the console must prove their address by email (on or off). Until then, the address is not theirs, and their organization has the limits of a sandbox. The default is off while KALENDS_MAIL is file, because no mail leaves such a server.";
    UPGRADE_URL, Plain, Default::Unset("answers contain no link"),
        "The page on which callers choose or ask for another plan. It becomes upgrade_url in 403 plan_required and contact_url in GET /v1/plans.";
    EGRESS_ALLOW, Plain, Default::Unset("none"),
        "Private addresses (host:port, comma-separated) that outgoing calls may reach, also over plain http: receivers in your own network, or in tests.";
    EGRESS_PER_HOST, Plain, Default::Text("8"),
        "The maximum number of concurrent outgoing calls to one host and port, 1 to 1000. Further calls wait.";
    OAUTH_GOOGLE_CLIENT_ID, Plain, Default::Unset("sign-in with Google is off"),
        "The OAuth client ID at Google. Register the redirect URI BASE_URL/v1/auth/oauth/google/callback for it.";
    OAUTH_GOOGLE_CLIENT_SECRET, Secret, Default::Unset("sign-in with Google is off"),
        "The OAuth client secret at Google.";
    OAUTH_GOOGLE_AUTHORIZE_URL, Plain, Default::Text("https://accounts.google.com/o/oauth2/v2/auth"),
        "Google's authorization endpoint.";
    OAUTH_GOOGLE_TOKEN_URL, Plain, Default::Text("https://oauth2.googleapis.com/token"),
        "Google's token endpoint.";
    OAUTH_GOOGLE_ISSUER, Plain, Default::Text("https://accounts.google.com"),
        "The issuer of Google's identity tokens.";
    OAUTH_GOOGLE_CALENDARS, Plain, Default::Text("false"),
        "Whether people may connect their Google calendars. Uses the same client; register the redirect URI BASE_URL/v1/calendar-connections/oauth/google/callback for it.";
    OAUTH_GOOGLE_CALENDAR_URL, Plain, Default::Text(kalends_human_calendars::defaults::GOOGLE_API_URL),
        "The base URL of Google's calendar API.";
    OAUTH_GOOGLE_REVOKE_URL, Plain, Default::Text(kalends_human_calendars::defaults::GOOGLE_REVOKE_URL),
        "Google's token revocation endpoint.";
    OAUTH_MICROSOFT_CLIENT_ID, Plain, Default::Unset("sign-in with Microsoft is off"),
        "The OAuth client ID at Microsoft. Register the redirect URI BASE_URL/v1/auth/oauth/microsoft/callback for it.";
    OAUTH_MICROSOFT_CLIENT_SECRET, Secret, Default::Unset("sign-in with Microsoft is off"),
        "The OAuth client secret at Microsoft.";
    OAUTH_MICROSOFT_AUTHORIZE_URL, Plain, Default::Text("https://login.microsoftonline.com/common/oauth2/v2.0/authorize"),
        "Microsoft's authorization endpoint.";
    OAUTH_MICROSOFT_TOKEN_URL, Plain, Default::Text("https://login.microsoftonline.com/common/oauth2/v2.0/token"),
        "Microsoft's token endpoint.";
    OAUTH_MICROSOFT_ISSUER, Plain, Default::Text("https://login.microsoftonline.com/{tenantid}/v2.0"),
        "The issuer of Microsoft's identity tokens; {tenantid} matches any tenant.";
    OAUTH_MICROSOFT_CALENDARS, Plain, Default::Text("false"),
        "Whether people may connect their Microsoft calendars. Uses the same client; register the redirect URI BASE_URL/v1/calendar-connections/oauth/microsoft/callback for it.";
    OAUTH_MICROSOFT_CALENDAR_URL, Plain, Default::Text(kalends_human_calendars::defaults::MICROSOFT_API_URL),
        "The base URL of Microsoft Graph.";
    OIDC_ISSUER, Plain, Default::Unset("sign-in with an OpenID Connect provider is off"),
        "The issuer of an OpenID Connect provider of your own, an https URL exactly as the provider writes it. Its endpoints come from ISSUER/.well-known/openid-configuration.";
    OIDC_CLIENT_ID, Plain, Default::Unset("sign-in with an OpenID Connect provider is off"),
        "The client ID at this provider. Register the redirect URI BASE_URL/v1/auth/oauth/oidc/callback for it.";
    OIDC_CLIENT_SECRET, Secret, Default::Unset("sign-in with an OpenID Connect provider is off"),
        "The client secret at this provider.";
    OIDC_NAME, Plain, Default::Text(kalends_accounts::oauth::Provider::Oidc.title()),
        "The name of this provider on pages and in emails, 1 to 40 characters: `Continue with NAME`.";
    STANDIN_PROVIDER, Plain, Default::Text("false"),
        "Whether users may connect example calendars, whose busy times they draw, to try connected calendars without an account anywhere. For a machine of your own: it may be true only if KALENDS_BASE_URL is a loopback address such as http://127.0.0.1:8080.";
    IP_LIMITS, Plain, Default::Text("default"),
        "The maximum requests per minute from one IP address: `default`, `off`, or a list such as feed=600,booking=100 (feed, plans, booking_page, booking, rsvp, waitlist, sign_in, sign_up, operator, connector_registration, connector_token).";
    MAX_CONNECTIONS, Plain, Default::Text("total=4096,address=256"),
        "The maximum number of open connections, in total and from one IP address: a list such as total=4096,address=256, or only the total. Only the total applies to trusted proxies.";
    MAIL_LIMITS, Plain, Default::Text("org=200,recipient=5"),
        "The maximum messages per hour to guests and attendees: `default`, `off`, or a list such as org=1000,recipient=off (org: from one organization; recipient: to one address, from all organizations). Mail about sign-in and security does not count.";
    RECURRENCE_DEFAULT, Plain, Default::Text("utc"),
        "The zone of a series whose request and calendar name none: `utc`, or `calendar` for the zone of its calendar.";
    PUBLIC_MAIL_DOMAINS, Plain, Default::Text("default"),
        "The mail domains at which anybody can get a mailbox; their sign-ups are limited by domain and network together: `default`, `off`, or a list such as default,example.com,mail.* (a list without `default` replaces the built-in one).";
    TRUSTED_PROXIES, Plain, Default::Unset("none"),
        "The networks whose X-Forwarded-For is trusted, comma-separated, such as 10.0.0.0/8.";
    CORS_ORIGINS, Plain, Default::Unset("public reads only"),
        "The origins (scheme, host and port), comma-separated, whose pages may call the API with a key. Cookies are never allowed.";
    CLOCK_OFFSET_SECONDS, Plain, Default::Text("0"),
        "For tests only: the number of seconds to shift the service's clock by, to try out expiry, reminders and ends of months.";
    METRICS_LISTEN, Plain, Default::Unset("off"),
        "The IP address and port that serve GET /metrics in Prometheus text format.";
    LOG, Plain, Default::Text("info,rmcp=error"),
        "The log filter, such as `info` or `warn,kalends_app=debug`. Logs go to standard error. `rmcp=error` hides mistakes that clients of /mcp make.";
    LOG_FORMAT, Plain, Default::Text("text"),
        "The format of log lines: `text` or `json`.";
    LOG_REQUESTS, Plain, Default::Text("true"),
        "Whether each request gets a line in the log, at the level info under the target kalends::requests. Health checks are at debug.";
    OTLP_ENDPOINT, Plain, Default::Unset("no spans are sent"),
        "The base URL of an OpenTelemetry collector, such as http://127.0.0.1:4318. The spans of requests and of background work are sent to its path /v1/traces (OTLP over HTTP, protobuf).";
}

impl Key {
    /// The name in `kalends.toml`.
    pub fn in_file(&self) -> String {
        self.name.trim_start_matches(PREFIX).to_ascii_lowercase()
    }
}

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    ALL.iter().copied().find(|key| key.name == name)
}

/// The setting whose name is closest to `name`, to suggest it after a typo.
pub fn nearest(name: &str) -> &'static Key {
    let distance = |key: &&&Key| strsim::damerau_levenshtein(key.name, name);
    ALL.iter().min_by_key(distance).copied().unwrap_or(&LISTEN)
}

/// Every setting with its help, for the command line.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Settings are read from the environment, from .env and from kalends.toml, in this order; the first value wins.\n\
         In kalends.toml the names are lower case, without the prefix.\n",
    );
    for key in ALL {
        let default = match key.default {
            Default::Text(default) => format!(" [default: {default}]"),
            Default::Derived(_) => String::new(),
            Default::Unset(meaning) => format!(" [unset: {meaning}]"),
        };
        text.push_str(&format!("\n  {}\n      {}{default}\n", key.name, key.help));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::Given, *};

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(LISTEN.in_file(), "listen");
        assert_eq!(CLOCK_OFFSET_SECONDS.name, "KALENDS_CLOCK_OFFSET_SECONDS");
    }

    #[test]
    fn the_nearest_name_is_found() {
        assert_eq!(nearest("KALENDS_LISTN").name, "KALENDS_LISTEN");
        assert_eq!(nearest("KALENDS_DATBASE_URL").name, "KALENDS_DATABASE_URL");
    }

    const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run/configure.md");
    const BEGIN: &str = "<!-- The table of settings is written by a test. -->\n";
    const END: &str = "<!-- The end of the table. -->\n";
    const RENEW: &str = "KALENDS_RENEW_EXAMPLES=1 cargo test -p kalends-server --lib the_docs_list_every_setting";

    fn table() -> String {
        let row = |key: &&Key| {
            let default = match (&key.default, Given::default().effective(key)) {
                (Default::Unset("none"), _) => "none".to_owned(),
                (Default::Unset(meaning), _) => format!("none: {meaning}"),
                (_, Some((text, _))) => format!("`{text}`"),
                (_, None) => String::new(),
            };
            format!("| `{}` | {default} | {} |\n", key.name, key.help.replace('|', "\\|"))
        };
        let rows: String = ALL.iter().map(row).collect();
        format!("\n| setting | default | purpose |\n|---|---|---|\n{rows}\n")
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may read a variable that controls it")]
    fn the_docs_list_every_setting() {
        let text = std::fs::read_to_string(DOCS).unwrap();
        let (before, rest) = text.split_once(BEGIN).unwrap();
        let (written, after) = rest.split_once(END).unwrap();
        if std::env::var("KALENDS_RENEW_EXAMPLES").is_ok_and(|value| value == "1") {
            return std::fs::write(DOCS, [before, BEGIN, &table(), END, after].concat()).unwrap();
        }
        assert_eq!(written, table(), "docs/run/configure.md lists other settings; update its table with\n    {RENEW}");
    }
}
