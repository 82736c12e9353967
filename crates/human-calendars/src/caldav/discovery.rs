//! Finding the calendars of an account: the principal of the user (RFC 5397), the collection with the user's calendars
//! (RFC 4791 section 6.2.1), and the calendars in it.

use kalends_app::ports::{CaldavLogin, DiscoveryError, ProviderError};
use kalends_bridge::{ADDRESSES_MAX, CaldavAccount, REFERENCE_MAX, TheirCalendar};
use kalends_egress::Egress;
use kalends_remote::RemoteUrl;
use percent_encoding::percent_decode_str;

use super::{
    dav::{Answer, Fault, Question, Server},
    quirks,
    xml::{Props, Response},
};

/// The maximum length of one of the user's own addresses, in bytes.
const ADDRESS_MAX: usize = 512;

/// Asks what a resource is, and where its user's calendars are.
const WHO: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>
<D:resourcetype/><D:displayname/><D:current-user-principal/>
<C:calendar-home-set/><C:calendar-user-address-set/><C:supported-calendar-component-set/>
</D:prop></D:propfind>"#;

/// Asks for the calendars in a collection.
const LIST: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>
<D:resourcetype/><D:displayname/>
<C:supported-calendar-component-set/><C:schedule-default-calendar-URL/>
</D:prop></D:propfind>"#;

/// What was found at an address.
struct Found {
    /// A collection with calendars, or one calendar.
    home: RemoteUrl,
    calendars: Vec<TheirCalendar>,
    /// The user's own addresses, as the server lists them.
    addresses: Vec<String>,
}

/// Finds the calendars of an account.
pub(crate) async fn discover(
    egress: &Egress,
    login: &CaldavLogin,
) -> Result<(CaldavAccount, Vec<TheirCalendar>), DiscoveryError> {
    let server = Server::new(egress, &login.url, &login.username, &login.password)?;
    if let Some(reason) = quirks::refusal(server.typed()) {
        return Err(DiscoveryError::NotAllowed(reason.to_owned()));
    }
    let Found { home, calendars, addresses } = find(&server).await?;
    let account = CaldavAccount {
        server: server.typed().as_str().to_owned(),
        home: home.as_str().to_owned(),
        username: login.username.clone(),
        password: login.password.clone(),
        addresses: own_addresses(addresses, &login.username),
    };
    Ok((account, calendars))
}

/// Lists the calendars of an account.
pub(crate) async fn calendars(egress: &Egress, account: &CaldavAccount) -> Result<Vec<TheirCalendar>, ProviderError> {
    let server = Server::new(egress, &account.server, &account.username, &account.password)?;
    let home = RemoteUrl::from_stored(&account.home).map_err(|error| ProviderError::Malformed(Box::new(error)))?;
    // To list the members of a calendar would list all its events, so first find out whether it is one.
    let answer = server.ask(&home, &Question::props(0, WHO)).await?;
    match own(&answer) {
        Some(props) if is_calendar(props) => Ok(calendar(&answer.at, props).into_iter().collect()),
        _ => Ok(list(&server, &home).await?),
    }
}

/// Looks for the account at one address after another.
async fn find(server: &Server<'_>) -> Result<Found, DiscoveryError> {
    // The first reason that says more than that there is no server.
    let mut reason: Option<Fault> = None;
    // A collection without a principal. It may be the collection with the calendars.
    let mut folder = None;
    for start in quirks::starts(server.typed()) {
        let answer = match server.ask(&start, &Question::props(0, WHO)).await {
            Ok(answer) => answer,
            Err(fault) if fault.is_of_address() => {
                if reason.is_none() && is_reason(&fault) {
                    reason = Some(fault);
                }
                continue;
            }
            Err(fault) => return Err(fault.into()),
        };
        if let Some(found) = found_at(server, &answer).await? {
            return Ok(found);
        }
        if folder.is_none() && own(&answer).is_some_and(|props| props.collection) {
            folder = Some(answer.at);
        }
    }
    if let Some(home) = folder {
        let calendars = list(server, &home).await?;
        if !calendars.is_empty() {
            return Ok(Found { home, calendars, addresses: Vec::new() });
        }
    }
    Err(reason.map_or(DiscoveryError::NoServer, DiscoveryError::from))
}

/// Whether it says more than that the address is a website that does not speak CalDAV.
const fn is_reason(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Elsewhere
            | Fault::Redirect(_)
            | Fault::TooLarge
            | Fault::Malformed(_)
            | Fault::Status(429 | 500 | 502..=599)
    )
}

/// The account that an answer leads to, if it leads to one.
async fn found_at(server: &Server<'_>, answer: &Answer) -> Result<Option<Found>, DiscoveryError> {
    let Some(props) = own(answer) else { return Ok(None) };
    let link = props.principal.as_deref().and_then(|link| server.join(&answer.at, link).ok());
    let principal = match link.filter(|principal| *principal != answer.at) {
        Some(principal) => match server.ask(&principal, &Question::props(0, WHO)).await {
            Ok(answer) => Some(answer),
            // Another address of the server may lead to another principal.
            Err(Fault::Status(_)) => None,
            Err(fault) => return Err(fault.into()),
        },
        None => None,
    };
    let of_principal = principal.as_ref().and_then(|answer| Some((answer, own(answer)?)));
    let addresses = match &of_principal {
        Some((_, principal)) if !principal.addresses.is_empty() => principal.addresses.clone(),
        _ => props.addresses.clone(),
    };
    if is_calendar(props) {
        let calendars = calendar(&answer.at, props).into_iter().collect();
        return Ok(Some(Found { home: answer.at.clone(), calendars, addresses }));
    }
    let home = of_principal
        .and_then(|(answer, principal)| Some((&answer.at, principal.homes.first()?)))
        .or_else(|| Some((&answer.at, props.homes.first()?)));
    let Some((base, link)) = home else { return Ok(None) };
    let home = server.join(base, link).map_err(|refused| {
        DiscoveryError::NotAllowed(format!("leads to a calendar whose address {}", refused.message))
    })?;
    let calendars = list(server, &home).await?;
    Ok(Some(Found { home, calendars, addresses }))
}

/// The calendars in a collection.
async fn list(server: &Server<'_>, home: &RemoteUrl) -> Result<Vec<TheirCalendar>, Fault> {
    let answer = server.ask(home, &Question::props(1, LIST)).await?;
    // Calendars that are not listed would look removed.
    if answer.is_cut() {
        return Err(Fault::TooLarge);
    }
    // So would those about which the server cannot answer now.
    if let Some(status) = answer.responses.iter().find_map(|found| found.status.filter(|at| matches!(at, 429 | 503))) {
        return Err(Fault::Status(status));
    }
    Ok(listing(server, &answer))
}

fn listing(server: &Server<'_>, answer: &Answer) -> Vec<TheirCalendar> {
    let join = |link: &str| server.join(&answer.at, link).ok();
    let default = answer.responses.iter().find_map(|response| join(response.props.default_calendar.as_deref()?));
    let calendars = answer.responses.iter().filter(|response| is_calendar(&response.props));
    let calendars = calendars.filter_map(|Response { href, props, .. }| {
        // Calendars at another domain could never be read.
        let url = join(href).filter(|url| server.trusts(url))?;
        let primary = default.as_ref() == Some(&url);
        Some(TheirCalendar { primary, ..calendar(&url, props)? })
    });
    calendars.collect()
}

/// The properties of the resource itself. With a depth of 0, there is no other.
fn own(answer: &Answer) -> Option<&Props> {
    answer.responses.first().map(|response| &response.props)
}

/// Whether it is a calendar that may contain events. Servers that list a subscribed feed without making it a calendar
/// (`subscribed` in `http://calendarserver.org/ns/`) do not have its events. If they do have them, it counts like
/// every calendar that the user sees.
fn is_calendar(props: &Props) -> bool {
    let events = |components: &Vec<String>| components.iter().any(|name| name == "VEVENT");
    props.calendar && !props.mailbox && props.components.as_ref().is_none_or(events)
}

/// A calendar. `None` if its address is too long to be kept.
fn calendar(url: &RemoteUrl, props: &Props) -> Option<TheirCalendar> {
    let reference = url.as_str().to_owned();
    if reference.len() > REFERENCE_MAX {
        return None;
    }
    let last = url.as_url().path_segments().and_then(|mut segments| segments.rfind(|segment| !segment.is_empty()));
    let last = last.map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned());
    Some(TheirCalendar { reference, name: props.name.clone().or(last).unwrap_or_default(), primary: false })
}

/// The user's own addresses in lower case, each once. A user name that is an e-mail address is one of them.
fn own_addresses(listed: Vec<String>, username: &str) -> Vec<String> {
    let by_name = Some(format!("mailto:{username}")).filter(|_| username.contains('@'));
    let mut addresses = Vec::new();
    for address in by_name.into_iter().chain(listed) {
        // Each is compared with those before it, so the number is limited first.
        if addresses.len() == ADDRESSES_MAX {
            break;
        }
        let address = address.trim().to_lowercase();
        if !address.is_empty() && address.len() <= ADDRESS_MAX && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_lower_case_and_bounded() {
        let listed = vec!["mailto:Ada@Example.com".to_owned(), " /principals/Ada/ ".into(), String::new()];
        let expected = ["mailto:ada@example.com", "/principals/ada/"];
        assert_eq!(own_addresses(listed.clone(), "ADA@example.com"), expected);
        assert_eq!(own_addresses(listed, "ada"), expected);
        let many = (0..2 * ADDRESSES_MAX).map(|number| format!("mailto:{number}@example.com")).collect();
        assert_eq!(own_addresses(many, "ada").len(), ADDRESSES_MAX);
        assert!(own_addresses(vec!["x".repeat(ADDRESS_MAX + 1)], "ada").is_empty());
    }

    #[test]
    fn only_calendars_with_events_count() {
        let with = |components: Option<&[&str]>| Props {
            calendar: true,
            components: components.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            ..Props::default()
        };
        assert!(is_calendar(&with(None)) && is_calendar(&with(Some(&["VTODO", "VEVENT"]))));
        assert!(!is_calendar(&with(Some(&["VTODO"]))) && !is_calendar(&with(Some(&[]))));
        assert!(!is_calendar(&Props { mailbox: true, ..with(None) }) && !is_calendar(&Props::default()));
    }

    #[test]
    fn a_calendar_without_a_name_is_called_like_its_address() {
        let url = RemoteUrl::from_stored("https://dav.example.com/ada/B%C3%BCro/").unwrap();
        assert_eq!(calendar(&url, &Props::default()).unwrap().name, "Büro");
        let long = RemoteUrl::from_stored(&format!("https://dav.example.com/{}/", "x".repeat(REFERENCE_MAX))).unwrap();
        assert_eq!(calendar(&long, &Props::default()), None);
    }
}
