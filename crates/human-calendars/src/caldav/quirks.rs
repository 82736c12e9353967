//! What is known about servers, as data.

use kalends_remote::RemoteUrl;

/// A service with a rule of its own.
struct Service {
    /// Its domains. The rule also applies to names below them. An address of a rule is in the same domain, because the
    /// password is not sent to another one.
    domains: &'static [&'static str],
    rule: Rule,
}

/// The rule of a service.
enum Rule {
    /// Its CalDAV server has this address. Its website does not lead there.
    Starts(&'static str),
    /// No password opens calendars there, for this reason.
    Refuses(&'static str),
}

const SERVICES: &[Service] = &[
    // Apple lists `caldav.icloud.com`, which leads each user to a numbered host such as `p12-caldav.icloud.com`.
    Service { domains: &["icloud.com"], rule: Rule::Starts("https://caldav.icloud.com/") },
    // Fastmail documents `caldav.fastmail.com` for all its users.
    Service { domains: &["fastmail.com"], rule: Rule::Starts("https://caldav.fastmail.com/") },
    // Google's CalDAV documentation allows only OAuth 2.0.
    Service {
        domains: &["google.com", "gmail.com", "googlemail.com", "googleusercontent.com", "googleapis.com"],
        rule: Rule::Refuses(
            "must not be of Google, which accepts no passwords; connect the account with Google instead",
        ),
    },
    // Microsoft offers Graph and no CalDAV.
    Service {
        domains: &["outlook.com", "live.com", "hotmail.com", "office.com", "office365.com", "microsoft.com"],
        rule: Rule::Refuses(
            "must not be of Microsoft, which has no CalDAV; connect the account with Microsoft instead",
        ),
    },
];

/// The places of CalDAV below the address of a website whose administrator has not set up `/.well-known/caldav`.
const FOLDERS: &[&str] = &[
    // Nextcloud and ownCloud.
    "remote.php/dav/",
    // Baïkal.
    "dav.php/",
];

/// The address that leads to the CalDAV server of a host (RFC 6764 section 5).
const WELL_KNOWN: &str = "/.well-known/caldav";
/// The root of a host. Radicale answers there.
const ROOT: &str = "/";

/// The maximum number of addresses at which a server is looked for.
pub(crate) const STARTS_MAX: usize = 6;

/// Why no password opens calendars of the service at this address, if none does.
pub(crate) fn refusal(typed: &RemoteUrl) -> Option<&'static str> {
    match service(typed)?.rule {
        Rule::Refuses(reason) => Some(reason),
        Rule::Starts(_) => None,
    }
}

/// The addresses at which a server is looked for, in this order, each once: the one that the user entered, the
/// well-known one (RFC 6764 section 6), the root of the host, and the places of known servers. At most
/// [`STARTS_MAX`].
pub(crate) fn starts(typed: &RemoteUrl) -> Vec<RemoteUrl> {
    let join = |link: &str| typed.as_url().join(link).ok().and_then(|url| RemoteUrl::from_stored(url.as_str()).ok());
    let mut starts = Vec::new();
    // The user may have entered the address of the website.
    if let Some(Service { rule: Rule::Starts(url), .. }) = service(typed) {
        starts.extend(RemoteUrl::from_stored(url).ok());
    }
    starts.push(typed.clone());
    starts.extend([WELL_KNOWN, ROOT].into_iter().filter_map(join));
    // Only a folder has places below it.
    let folder = format!("{}/", typed.as_url().path().trim_end_matches('/'));
    starts.extend(FOLDERS.iter().filter_map(|place| join(&format!("{folder}{place}"))));
    let mut seen: Vec<RemoteUrl> = Vec::new();
    for start in starts {
        if !seen.contains(&start) {
            seen.push(start);
        }
    }
    seen.truncate(STARTS_MAX);
    seen
}

fn service(typed: &RemoteUrl) -> Option<&'static Service> {
    let (host, _) = typed.destination();
    let host = host.strip_suffix('.').unwrap_or(host);
    let below = |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    SERVICES.iter().find(|service| service.domains.iter().any(|domain| below(domain)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn url(text: &str) -> RemoteUrl {
        RemoteUrl::parse("url", text, |_, _| false).unwrap()
    }

    #[rstest]
    #[case::a_host("https://cloud.example.com", &[
        "https://cloud.example.com/",
        "https://cloud.example.com/.well-known/caldav",
        "https://cloud.example.com/remote.php/dav/",
        "https://cloud.example.com/dav.php/",
    ])]
    #[case::a_folder("https://example.com/cloud", &[
        "https://example.com/cloud",
        "https://example.com/.well-known/caldav",
        "https://example.com/",
        "https://example.com/cloud/remote.php/dav/",
        "https://example.com/cloud/dav.php/",
    ])]
    #[case::a_website("https://www.icloud.com/calendar", &[
        "https://caldav.icloud.com/",
        "https://www.icloud.com/calendar",
        "https://www.icloud.com/.well-known/caldav",
        "https://www.icloud.com/",
        "https://www.icloud.com/calendar/remote.php/dav/",
        "https://www.icloud.com/calendar/dav.php/",
    ])]
    fn servers_are_looked_for(#[case] typed: &str, #[case] expected: &[&str]) {
        let starts = starts(&url(typed));
        assert_eq!(starts.iter().map(RemoteUrl::as_str).collect::<Vec<_>>(), expected);
    }

    #[rstest]
    #[case("https://www.google.com/calendar/dav/ada@example.com/user", true)]
    #[case("https://apidata.googleusercontent.com/caldav/v2/", true)]
    #[case("https://outlook.office365.com/", true)]
    #[case("https://notgoogle.com/", false)]
    #[case("https://google.com.example.org/", false)]
    #[case("https://caldav.fastmail.com/", false)]
    fn some_services_accept_no_passwords(#[case] typed: &str, #[case] refused: bool) {
        assert_eq!(refusal(&url(typed)).is_some(), refused);
    }
}
