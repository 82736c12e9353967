//! The table of keys. What is read, listed, explained and refused derives from it.

use super::Given;

/// A key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Its name in the environment and in `.env`; in `kalends.toml` it is lower case, without the prefix.
    pub name: &'static str,
    /// How much of its value may be shown.
    pub shown: Visibility,
    /// What holds where nothing is given.
    pub default: Default,
    /// What it is for, in a sentence or two.
    pub help: &'static str,
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Plain,
    /// All but the password that it may contain.
    Address,
    /// Nothing.
    Secret,
}

/// What holds where nothing is given.
#[derive(Debug)]
pub enum Default {
    /// This value.
    Text(&'static str),
    /// A value that follows from others.
    Derived(fn(&Given) -> String),
    /// Nothing, which means this.
    Unset(&'static str),
}

/// What all names begin with.
pub const PREFIX: &str = "KALENDS_";

macro_rules! keys {
    ($($constant:ident, $shown:ident, $default:expr, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub static $constant: Key = Key {
                name: concat!("KALENDS_", stringify!($constant)),
                shown: Visibility::$shown,
                default: $default,
                help: $help,
            };
        )*

        /// Every key, in the order in which they are listed.
        pub static ALL: &[&Key] = &[$(&$constant),*];
    };
}

keys! {
    LISTEN, Plain, Default::Text("127.0.0.1:8080"),
        "The address to listen on. Port 0 takes a free one.";
    DATA_DIR, Plain, Default::Text("kalends-data"),
        "The directory of the SQLite file, the generated keys and the file mailbox.";
    DATABASE_URL, Address, Default::Derived(|given| format!("sqlite://{}/kalends.db", given.text(&DATA_DIR))),
        "The database: sqlite://PATH or postgres://USER:PASSWORD@HOST/NAME.";
    DATABASE_CONNECTIONS, Plain, Default::Derived(|given| {
        if given.text(&DATABASE_URL).starts_with("postgres") { "16" } else { "4" }.to_owned()
    }),
        "The most connections to the database; with SQLite, those that read.";
    MIGRATE, Plain, Default::Text("true"),
        "Whether missing migrations are applied at start. If not, they are an error; see `kalends migrate`.";
    BASE_URL, Plain, Default::Derived(|given| {
        given.text(&LISTEN).parse().map_or_else(|_| String::new(), super::values::address_url)
    }),
        "Where the service is reached from outside.";
    CONSOLE_URL, Plain, Default::Derived(|given| format!("{}/console", given.text(&BASE_URL))),
        "Where humans sign in.";
    MAIL, Address, Default::Text("file"),
        "How mail leaves: `file` keeps each message as DATA_DIR/mail/*.eml; smtp://USER:PASSWORD@HOST:PORT or smtps://... sends it.";
    MASTER_KEY, Secret, Default::Unset("generated; required with Postgres"),
        "The key that wraps the keys which encrypt fields at rest: 32 bytes in base64, or \"new,old\" while rotating. With SQLite it is generated into DATA_DIR/master.key.";
    SESSION_KEY, Secret, Default::Unset("generated; required with Postgres"),
        "The key that signs console sessions: at least 32 bytes in base64. With SQLite it is generated into DATA_DIR/session.key.";
    ADMIN_TOKEN, Secret, Default::Unset("/v1/admin/* does not exist"),
        "The bearer token of /v1/admin/*, at least 16 characters.";
    TERMS_VERSION, Plain, Default::Text("2026-01-01"),
        "The version of the terms of service.";
    TERMS_MATERIAL, Plain, Default::Text("true"),
        "Whether organizations that accepted another version are told so.";
    TERMS_URL, Plain, Default::Derived(|given| format!("{}/terms", given.text(&BASE_URL))),
        "Where the terms can be read.";
    TERMS_EFFECTIVE_AT, Plain, Default::Derived(|given| {
        let version = given.text(&TERMS_VERSION);
        if super::values::date(&version).is_ok() { version } else { "2026-01-01".to_owned() }
    }),
        "The day since which the terms hold.";
    SIGNUP_PLAN, Plain, Default::Text("free"),
        "The plan of organizations that sign themselves up, once their address is proved: free, pro or custom.";
    UPGRADE_URL, Plain, Default::Unset("answers link to no such page"),
        "The page where callers choose or ask for another plan: upgrade_url of 403 plan_required and contact_url of GET /v1/plans.";
    EGRESS_ALLOW, Plain, Default::Unset("none"),
        "For development and tests: host:port, comma-separated, that outgoing calls may reach although private, and over plain http.";
    EGRESS_PER_HOST, Plain, Default::Text("8"),
        "How many outgoing calls run with one host and port at once, 1 to 1000; the others wait.";
    OAUTH_GOOGLE_CLIENT_ID, Plain, Default::Unset("nobody signs in with Google"),
        "The service's client identifier at Google. Its redirect address there is BASE_URL/v1/auth/oauth/google/callback.";
    OAUTH_GOOGLE_CLIENT_SECRET, Secret, Default::Unset("nobody signs in with Google"),
        "The client's secret at Google.";
    OAUTH_GOOGLE_AUTHORIZE_URL, Plain, Default::Text("https://accounts.google.com/o/oauth2/v2/auth"),
        "Where humans are sent to sign in with Google.";
    OAUTH_GOOGLE_TOKEN_URL, Plain, Default::Text("https://oauth2.googleapis.com/token"),
        "Where Google exchanges codes for identities.";
    OAUTH_GOOGLE_ISSUER, Plain, Default::Text("https://accounts.google.com"),
        "What Google's identity tokens name as their issuer.";
    OAUTH_GOOGLE_CALENDARS, Plain, Default::Text("false"),
        "Whether humans may connect calendars of Google, with the same client. Its redirect address for that is BASE_URL/v1/calendar-connections/oauth/google/callback.";
    OAUTH_GOOGLE_CALENDAR_URL, Plain, Default::Text(kalends_human_calendars::defaults::GOOGLE_API_URL),
        "The base of Google's calendar API.";
    OAUTH_GOOGLE_REVOKE_URL, Plain, Default::Text(kalends_human_calendars::defaults::GOOGLE_REVOKE_URL),
        "Where Google is asked to forget a consent.";
    OAUTH_MICROSOFT_CLIENT_ID, Plain, Default::Unset("nobody signs in with Microsoft"),
        "The service's client identifier at Microsoft. Its redirect address there is BASE_URL/v1/auth/oauth/microsoft/callback.";
    OAUTH_MICROSOFT_CLIENT_SECRET, Secret, Default::Unset("nobody signs in with Microsoft"),
        "The client's secret at Microsoft.";
    OAUTH_MICROSOFT_AUTHORIZE_URL, Plain, Default::Text("https://login.microsoftonline.com/common/oauth2/v2.0/authorize"),
        "Where humans are sent to sign in with Microsoft.";
    OAUTH_MICROSOFT_TOKEN_URL, Plain, Default::Text("https://login.microsoftonline.com/common/oauth2/v2.0/token"),
        "Where Microsoft exchanges codes for identities.";
    OAUTH_MICROSOFT_ISSUER, Plain, Default::Text("https://login.microsoftonline.com/{tenantid}/v2.0"),
        "What Microsoft's identity tokens name as their issuer; {tenantid} stands for any tenant.";
    OAUTH_MICROSOFT_CALENDARS, Plain, Default::Text("false"),
        "Whether humans may connect calendars of Microsoft, with the same client. Its redirect address for that is BASE_URL/v1/calendar-connections/oauth/microsoft/callback.";
    OAUTH_MICROSOFT_CALENDAR_URL, Plain, Default::Text(kalends_human_calendars::defaults::MICROSOFT_API_URL),
        "The base of Microsoft's API.";
    IP_LIMITS, Plain, Default::Text("default"),
        "The requests a minute of one address: `default`, `off`, or a list such as feed=600,booking=100 (feed, plans, booking_page, booking, waitlist, sign_in, sign_up).";
    MAX_CONNECTIONS, Plain, Default::Text("total=4096,address=256"),
        "The most connections, in total and from one address: a list such as total=4096,address=256, or the total alone. Trusted proxies are bounded by the total alone.";
    MAIL_LIMITS, Plain, Default::Text("org=200,recipient=5"),
        "The mails an hour to people outside an organization: `default`, `off`, or a list such as org=1000,recipient=off (org: of one organization; recipient: to one address, from all). Mail about sign-in and security is not counted.";
    PUBLIC_MAIL_DOMAINS, Plain, Default::Text("default"),
        "The mail domains at which anybody gets a mailbox, so that the limit of sign-ups counts by domain and network together: `default`, `off`, or a list such as default,example.com,mail.* (without `default` it replaces the known ones).";
    TRUSTED_PROXIES, Plain, Default::Unset("none"),
        "The networks, comma-separated, whose X-Forwarded-For is believed.";
    CORS_ORIGINS, Plain, Default::Unset("public reads only"),
        "The origins (scheme, host and port), comma-separated, whose pages may call the API with a key; never with cookies.";
    CLOCK_OFFSET_SECONDS, Plain, Default::Text("0"),
        "Shifts the service's clock, to try expiry, reminders and month ends.";
    METRICS_LISTEN, Plain, Default::Unset("off"),
        "The address on which GET /metrics answers in Prometheus text.";
    LOG, Plain, Default::Text("info,rmcp=error"),
        "What is logged to standard error, such as `info` or `warn,kalends_app=debug`; `rmcp=error` leaves out what clients of the tools get wrong.";
    LOG_FORMAT, Plain, Default::Text("text"),
        "How it is written: `text` or `json`.";
}

impl Key {
    /// The name in `kalends.toml`.
    pub fn in_file(&self) -> String {
        self.name.trim_start_matches(PREFIX).to_ascii_lowercase()
    }
}

/// The key of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    ALL.iter().copied().find(|key| key.name == name)
}

/// The key whose name is most like `name`, for whoever mistyped it.
pub fn nearest(name: &str) -> &'static Key {
    let distance = |key: &&&Key| strsim::damerau_levenshtein(key.name, name);
    ALL.iter().min_by_key(distance).copied().unwrap_or(&LISTEN)
}

/// Every key with its help, for the command line.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Keys, in the environment or in a file .env; in kalends.toml their names are lower case, without the prefix:\n",
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
    use super::*;

    #[test]
    fn names_are_written_once_each() {
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
}
