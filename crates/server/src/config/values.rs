//! Parsers for each kind of value. Errors say what is allowed, as a phrase that follows the name of the setting. They
//! never quote the value: the caller knows whether it may be shown.

use std::{
    fs::File,
    io::Read as _,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    num::NonZeroUsize,
    path::PathBuf,
    str::FromStr,
};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ipnet::IpNet;
use kalends_accounts::SignUps;
use kalends_calendars::RecurrenceDefault;
use kalends_plans::Plan;
use kalends_time::{CivilDate, SignedDuration};
use secrecy::SecretString;
use tracing_subscriber::EnvFilter;
use url::Url;
use zeroize::Zeroizing;

/// Padding is optional, because keys come from many kinds of tools.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// The minimum length of a key, in bytes.
const KEY: usize = 32;
/// The maximum length of a page's address, in characters.
const PAGE_MAX: usize = 2_000;
/// The maximum size of the text of the terms, in bytes.
const TERMS_MAX: u64 = 64 * 1024;
/// The minimum length of a token, in characters.
const TOKEN: usize = 16;
/// The most seconds by which the clock can be shifted: about a century.
const OFFSET: i64 = 100 * 366 * 86_400;

/// An IP address and a port.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.trim().parse().map_err(|_| "must be an IP address and a port such as 127.0.0.1:8080".to_owned())
}

/// The URL of a service that listens on `address`. If it listens on every address, this is the loopback address.
pub(super) fn address_url(mut address: SocketAddr) -> String {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    format!("http://{address}")
}

/// An http or https URL without a trailing slash.
pub(super) fn web_address(text: &str) -> Result<String, String> {
    let wrong = || "must be an http or https URL without user information, query or fragment".to_owned();
    let url = Url::parse(text.trim()).map_err(|_| wrong())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if plain { Ok(url.as_str().trim_end_matches('/').to_owned()) } else { Err(wrong()) }
}

/// The http or https URL of the service, without a trailing slash. It has no path.
pub(super) fn base_address(text: &str) -> Result<String, String> {
    let wrong = || {
        "must be an http or https URL without path, user information, query or fragment (pages and redirects begin at \
         the root)"
            .to_owned()
    };
    let address = web_address(text).map_err(|_| wrong())?;
    if Url::parse(&address).is_ok_and(|url| url.path() == "/") { Ok(address) } else { Err(wrong()) }
}

/// An origin, as browsers write it.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let wrong = || "must be comma-separated origins (scheme, host and port) such as https://app.example".to_owned();
    let url = Url::parse(&web_address(text).map_err(|_| wrong())?).map_err(|_| wrong())?;
    if url.path() == "/" { Ok(url.origin().ascii_serialization()) } else { Err(wrong()) }
}

/// The URL of a page for people, which may have a query.
pub(super) fn page(text: &str) -> Result<String, String> {
    let text = text.trim();
    let plain = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    };
    match Url::parse(text) {
        Ok(url) if plain(&url) && text.len() <= PAGE_MAX => Ok(url.into()),
        _ => Err(format!("must be an http or https URL without user information, at most {PAGE_MAX} characters long")),
    }
}

/// The plan of organizations that sign up.
pub(super) fn sign_up_plan(text: &str) -> Result<Plan, String> {
    match Plan::from_name(text.trim()) {
        Some(plan @ (Plan::Free | Plan::Pro | Plan::Custom)) => Ok(plan),
        Some(Plan::FreeAgent | Plan::FreeAgentUnverified) | None => Err("must be free, pro or custom".to_owned()),
    }
}

/// Who may sign up.
pub(super) fn sign_ups(text: &str) -> Result<SignUps, String> {
    SignUps::from_name(text.trim()).ok_or_else(|| "must be open, invited or closed".to_owned())
}

/// The zone of series that name none.
pub(super) fn recurrence_default(text: &str) -> Result<RecurrenceDefault, String> {
    RecurrenceDefault::from_name(text.trim()).ok_or_else(|| "must be utc or calendar".to_owned())
}

/// A Boolean.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// A number of connections.
pub(super) fn connections(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| (1..=1_000).contains(number));
    number.ok_or_else(|| "must be a whole number from 1 to 1000".to_owned())
}

/// A number of concurrent calls.
pub(super) fn calls(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.trim().parse().ok().filter(|number: &NonZeroUsize| number.get() <= 1_000);
    number.ok_or_else(|| "must be a whole number from 1 to 1000".to_owned())
}

/// A date.
pub(super) fn date(text: &str) -> Result<CivilDate, String> {
    text.trim().parse().map_err(|_| "must be a date such as 2026-01-01".to_owned())
}

/// An opaque version that fits into a header.
pub(super) fn terms_version(text: &str) -> Result<String, String> {
    let text = text.trim();
    let fits = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { Ok(text.to_owned()) } else { Err("must be 1 to 64 visible ASCII characters".to_owned()) }
}

/// The text of the terms, from the file at this path.
pub(super) fn terms_text(path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(TERMS_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("must be a file that the server can read ({error})"))?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|size| size <= TERMS_MAX);
    if !fits {
        return Err(format!("must be a file of at most {} KiB", TERMS_MAX / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "must be a file of UTF-8 text".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() { Err("must be a file that is not empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// A log filter.
pub(super) fn log_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text)
        .map(|_| text.to_owned())
        .map_err(|_| "must be a log filter such as info or warn,kalends_app=debug".to_owned())
}

/// The seconds by which the clock is shifted.
pub(super) fn clock_offset(text: &str) -> Result<SignedDuration, String> {
    let seconds = text.trim().parse().ok().filter(|seconds| (-OFFSET..=OFFSET).contains(seconds));
    seconds.map(SignedDuration::seconds).ok_or_else(|| format!("must be a whole number from -{OFFSET} to {OFFSET}"))
}

/// A network, or a single address.
pub(super) fn network(text: &str) -> Result<IpNet, String> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "must be comma-separated networks such as 10.0.0.0/8, or IP addresses".to_owned())
}

/// A comma-separated list.
pub(super) fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(parse).collect()
}

/// The key that signs sessions, kept as written.
pub(super) fn session_key(text: &str) -> Result<SecretString, String> {
    session_key_bytes(text).map(|_| SecretString::from(text.trim().to_owned()))
}

/// The bytes of a key that signs sessions.
pub(super) fn session_key_bytes(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let standard = Zeroizing::new(text.trim().replace('-', "+").replace('_', "/"));
    let bytes = BASE64.decode(standard.as_str()).map(Zeroizing::new);
    match bytes {
        Ok(bytes) if bytes.len() >= KEY => Ok(bytes),
        Ok(_) | Err(_) => Err(format!("must be at least {KEY} bytes in base64")),
    }
}

/// A bearer token.
pub(super) fn admin_token(text: &str) -> Result<SecretString, String> {
    let text = text.trim();
    if text.len() >= TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(SecretString::from(text.to_owned()))
    } else {
        Err(format!("must be at least {TOKEN} visible ASCII characters"))
    }
}

/// The database that a URL names.
#[derive(Debug, Clone)]
pub enum DatabaseUrl {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A Postgres server.
    Postgres(SecretString),
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || "must be sqlite://PATH or postgres://USER:PASSWORD@HOST/NAME".to_owned();
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            // Options and in-memory databases are not supported.
            let is_file = !path.is_empty() && !path.starts_with(':') && !path.contains('?') && !path.ends_with('/');
            return if is_file { Ok(Self::Sqlite(PathBuf::from(path))) } else { Err(wrong()) };
        }
        let url = Url::parse(text).map_err(|_| wrong())?;
        match url.scheme() {
            "postgres" | "postgresql" => Ok(Self::Postgres(SecretString::from(text.to_owned()))),
            _ => Err(wrong()),
        }
    }
}

/// A host and a port, as written in a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// A name in lower case, or an IP address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a comma-separated list of host:port".to_owned();
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
        let host = match url::Host::parse(host) {
            Ok(url::Host::Domain(name)) => name,
            Ok(url::Host::Ipv4(ip)) => ip.to_string(),
            Ok(url::Host::Ipv6(ip)) => ip.to_string(),
            Err(_) => return Err(wrong()),
        };
        Ok(Self { host, port })
    }
}

/// The limits on open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// In total.
    pub total: usize,
    /// From one address; IPv6 addresses count by their /64.
    pub per_address: usize,
}

impl ConnectionLimits {
    /// The default limit for one address.
    const PER_ADDRESS: usize = 256;
    /// The maximum of either limit.
    const MAX: usize = 1_000_000;
}

impl FromStr for ConnectionLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("must be a list such as total=4096,address=256, or only the total; each from 1 to {}", Self::MAX)
        };
        let (mut total, mut address) = (None, None);
        for part in text.split(',').map(str::trim) {
            let (name, number) = part.split_once('=').unwrap_or(("total", part));
            let number = number.trim().parse().ok().filter(|number| (1..=Self::MAX).contains(number));
            let place = match name.trim() {
                "total" => &mut total,
                "address" => &mut address,
                _ => return Err(wrong()),
            };
            if place.replace(number.ok_or_else(wrong)?).is_some() {
                return Err(wrong());
            }
        }
        let total = total.ok_or_else(wrong)?;
        Ok(Self { total, per_address: address.unwrap_or(Self::PER_ADDRESS).min(total) })
    }
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("must be text or json".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("sqlite://kalends.db", "kalends.db")]
    #[case("sqlite:///var/lib/kalends.db", "/var/lib/kalends.db")]
    #[case("sqlite:kalends.db", "kalends.db")]
    #[case("sqlite://a dir/kalends.db", "a dir/kalends.db")]
    fn sqlite_urls_name_a_file(#[case] url: &str, #[case] path: &str) {
        assert!(matches!(url.parse().unwrap(), DatabaseUrl::Sqlite(file) if file == std::path::Path::new(path)));
    }

    #[rstest]
    #[case("postgres://u:p@localhost:5432/kalends")]
    #[case("postgresql://localhost/kalends?sslmode=require")]
    #[case("postgres:///kalends?host=/var/run/postgresql")]
    #[case("postgres://u@%2Ftmp%2Fsocket/kalends")]
    fn postgres_urls_are_kept(#[case] url: &str) {
        assert!(matches!(url.parse().unwrap(), DatabaseUrl::Postgres(_)));
    }

    #[rstest]
    #[case("total=4096,address=256", Some((4096, 256)))]
    #[case("address = 5, total = 9", Some((9, 5)))]
    #[case("1000", Some((1000, 256)))]
    #[case("100", Some((100, 100)))]
    #[case("", None)]
    #[case("0", None)]
    #[case("address=5", None)]
    #[case("total=5,total=6", None)]
    #[case("total=5,host=6", None)]
    #[case("total=1000001", None)]
    fn connection_limits_are_a_list_or_the_total(#[case] text: &str, #[case] limits: Option<(usize, usize)>) {
        let limits = limits.map(|(total, per_address)| ConnectionLimits { total, per_address });
        assert_eq!(text.parse().ok(), limits);
    }

    #[rstest]
    #[case("")]
    #[case("sqlite:")]
    #[case("sqlite://")]
    #[case("sqlite::memory:")]
    #[case("sqlite://x.db?mode=ro")]
    #[case("kalends.db")]
    #[case("mysql://localhost/kalends")]
    fn other_urls_are_refused(#[case] url: &str) {
        assert!(url.parse::<DatabaseUrl>().is_err());
    }

    #[rstest]
    #[case("https://cal.example", Ok("https://cal.example"))]
    #[case("https://cal.example/base/", Ok("https://cal.example/base"))]
    #[case("http://127.0.0.1:8080/", Ok("http://127.0.0.1:8080"))]
    #[case("cal.example", Err(()))]
    #[case("ftp://cal.example", Err(()))]
    #[case("https://u:p@cal.example", Err(()))]
    #[case("https://cal.example/?a=b", Err(()))]
    fn web_addresses_are_normalized(#[case] text: &str, #[case] read: Result<&str, ()>) {
        assert_eq!(web_address(text).map_err(|_| ()), read.map(str::to_owned));
    }

    #[rstest]
    #[case("https://cal.example", Some("https://cal.example"))]
    #[case(" https://Cal.example:443/ ", Some("https://cal.example"))]
    #[case("http://127.0.0.1:8080/", Some("http://127.0.0.1:8080"))]
    #[case("http://[::1]:8080", Some("http://[::1]:8080"))]
    #[case("https://cal.example/base", None)]
    #[case("https://cal.example/base/", None)]
    #[case("https://cal.example/%20", None)]
    #[case("https://cal.example?a=b", None)]
    #[case("https://cal.example/?", None)]
    #[case("https://cal.example/#top", None)]
    #[case("https://ada@cal.example", None)]
    #[case("https://ada:secret@cal.example", None)]
    #[case("cal.example", None)]
    #[case("ftp://cal.example", None)]
    #[case("", None)]
    fn the_base_address_has_no_path(#[case] text: &str, #[case] read: Option<&str>) {
        assert_eq!(base_address(text).ok().as_deref(), read);
    }

    #[rstest]
    #[case("https://cal.example/plans?from=api#pro", true)]
    #[case("http://localhost:3000/plans", true)]
    #[case("mailto:ada@example.com", false)]
    #[case("https://ada:secret@cal.example/", false)]
    #[case("/plans", false)]
    #[case("", false)]
    fn pages_are_web_urls(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(page(text).ok().as_deref(), fits.then_some(text));
    }

    #[rstest]
    #[case("free", Some(Plan::Free))]
    #[case(" pro ", Some(Plan::Pro))]
    #[case("custom", Some(Plan::Custom))]
    #[case("free-agent", None)]
    #[case("free-agent-unverified", None)]
    #[case("scale", None)]
    #[case("", None)]
    fn sign_ups_can_have_only_some_plans(#[case] text: &str, #[case] plan: Option<Plan>) {
        assert_eq!(sign_up_plan(text).ok(), plan);
    }

    #[test]
    fn hosts_and_ports_are_normalized() {
        let of = |text: &str| text.parse::<HostPort>().map(|address| (address.host, address.port));
        assert_eq!(of("LocalHost:9000"), Ok(("localhost".to_owned(), 9000)));
        assert_eq!(of("10.0.0.1:80"), Ok(("10.0.0.1".to_owned(), 80)));
        assert_eq!(of("[::1]:80"), Ok(("::1".to_owned(), 80)));
        for wrong in ["localhost", "localhost:0", "localhost:99999", ":80", "a b:80", "::1:80"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[rstest]
    #[case("https://app.example", Some("https://app.example"))]
    #[case("https://APP.example:443/", Some("https://app.example"))]
    #[case("http://localhost:3000", Some("http://localhost:3000"))]
    #[case("https://bücher.example", Some("https://xn--bcher-kva.example"))]
    #[case("https://app.example/path", None)]
    #[case("https://app.example/?q", None)]
    #[case("app.example", None)]
    #[case("null", None)]
    #[case("*", None)]
    fn origins_are_normalized(#[case] text: &str, #[case] read: Option<&str>) {
        assert_eq!(origin(text).ok().as_deref(), read);
    }

    #[test]
    fn networks_and_addresses_are_read() {
        assert_eq!(network("10.0.0.0/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(network("::1").unwrap().to_string(), "::1/128");
        assert!(network("10.0.0.0/33").is_err());
        assert!(list("", network).unwrap().is_empty());
    }

    #[test]
    fn keys_and_tokens_have_a_minimum_length() {
        assert!(session_key("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=").is_ok());
        assert!(session_key("AQEB").is_err() && session_key("not base64").is_err());
        assert!(admin_token("0123456789abcdef").is_ok());
        assert!(admin_token("short").is_err() && admin_token("0123456789abc def").is_err());
    }

    #[test]
    fn the_terms_are_a_small_text_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("terms.md");
        let path = file.to_str().unwrap();
        let of = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            terms_text(path)
        };
        let full = "x".repeat(64 * 1024);
        assert_eq!(of("\u{feff}# Terms\n".as_bytes()), Ok("# Terms\n".to_owned()));
        assert_eq!(of(full.as_bytes()), Ok(full.clone()));
        assert_eq!(of(format!("{full}x").as_bytes()), Err("must be a file of at most 64 KiB".to_owned()));
        assert_eq!(of(b"caf\xe9"), Err("must be a file of UTF-8 text".to_owned()));
        assert_eq!(of(b" \n"), Err("must be a file that is not empty".to_owned()));
        for missing in [folder.path().to_str().unwrap(), &format!("{path}.old")] {
            assert!(
                terms_text(missing).is_err_and(|wrong| wrong.starts_with("must be a file that the server can read ("))
            );
        }
    }

    #[test]
    fn offsets_are_bounded() {
        assert_eq!(clock_offset("3600"), Ok(SignedDuration::hours(1)));
        assert!(clock_offset("9999999999999").is_err() && clock_offset("1.5").is_err());
    }

    #[test]
    fn numbers_of_calls_are_bounded() {
        assert_eq!(calls(" 1000 ").map(NonZeroUsize::get), Ok(1_000));
        assert!(calls("0").is_err() && calls("1001").is_err() && calls("-1").is_err() && calls("many").is_err());
    }

    #[test]
    fn log_filters_are_validated() {
        assert!(log_filter("warn,kalends_app=debug").is_ok());
        assert!(log_filter("kalends_app=loud").is_err());
    }
}
