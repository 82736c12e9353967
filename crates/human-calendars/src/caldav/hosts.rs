//! The hosts that may receive a user's password. Everything here is a pure function.

use kalends_egress::Allowed;
use url::{Host, Url};

/// The port of https. Only the administrator of a machine can listen there.
const HTTPS_PORT: u16 = 443;

/// A host and a port.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// In lower case, in ASCII, without a trailing dot.
    host: String,
    port: u16,
    /// The domain that its owner registered. `None` for an address, a local name or a public suffix.
    domain: Option<String>,
}

impl Place {
    fn of(url: &Url) -> Option<Self> {
        let port = url.port_or_known_default()?;
        let (host, named) = match url.host()? {
            Host::Domain(name) => (name.to_ascii_lowercase(), true),
            Host::Ipv4(address) => (address.to_string(), false),
            Host::Ipv6(address) => (address.to_string(), false),
        };
        let host = host.strip_suffix('.').unwrap_or(&host).to_owned();
        let domain = if named { registrable(&host) } else { None };
        Some(Self { host, port, domain })
    }
}

/// The registrable domain of a name whose public suffix is on the list.
fn registrable(name: &str) -> Option<String> {
    // For a name that the list does not know, the last label would count as its suffix. Such names are local ones, or
    // the list is too old to know who may register there.
    psl::domain(name.as_bytes())?.suffix().typ()?;
    psl::domain_str(name).map(str::to_owned)
}

/// Whether the password for the server at `typed`, which the user entered, may be sent to `target`.
///
/// - https: to any host of the same registrable domain, at the port that the user entered or at 443. Another port may
///   belong to another user of that machine.
/// - An address, a local name, or a name without a known public suffix: only the same host and port.
/// - Plain http: only to the same host and port, if the operator allows it and the user entered http.
pub(crate) fn entrusted(typed: &Url, target: &Url, allowed: &Allowed) -> bool {
    let (Some(theirs), Some(place)) = (Place::of(typed), Place::of(target)) else { return false };
    if !target.username().is_empty() || target.password().is_some() {
        return false;
    }
    let same = theirs.host == place.host && theirs.port == place.port;
    match target.scheme() {
        "https" => {
            let port = place.port == theirs.port || place.port == HTTPS_PORT;
            same || (port && place.domain.is_some() && place.domain == theirs.domain)
        }
        "http" => same && typed.scheme() == "http" && allowed.contains(&place.host, place.port),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn may(typed: &str, target: &str) -> bool {
        let allowed = Allowed::new([("localhost".to_owned(), 5_232), ("dav.example.com".to_owned(), 80)]);
        entrusted(&Url::parse(typed).unwrap(), &Url::parse(target).unwrap(), &allowed)
    }

    #[rstest]
    #[case::itself("https://cloud.example.com/dav/", "https://cloud.example.com/x")]
    #[case::icloud("https://caldav.icloud.com/", "https://p12-caldav.icloud.com:443/1/calendars/")]
    #[case::the_parent("https://dav.example.co.uk", "https://example.co.uk/")]
    #[case::upper_case("https://DAV.Example.COM/", "HTTPS://www.EXAMPLE.com/")]
    #[case::a_trailing_dot("https://dav.example.com./", "https://www.example.com/")]
    #[case::another_trailing_dot("https://dav.example.com/", "https://dav.example.com./")]
    #[case::an_international_name("https://dav.bücher.example.com/", "https://xn--bcher-kva.example.com/")]
    #[case::an_international_suffix("https://www.食狮.公司.cn/", "https://dav.xn--85x722f.xn--55qx5d.cn/")]
    #[case::the_entered_port("https://example.com:8443/", "https://dav.example.com:8443/")]
    #[case::the_default_port("https://example.com:8443/", "https://dav.example.com/")]
    #[case::an_upgrade("http://dav.example.com/", "https://dav.example.com/")]
    #[case::an_allowed_name("http://localhost:5232/", "http://localhost:5232/ada/")]
    #[case::an_address("https://192.0.2.7:8443/", "https://192.0.2.7:8443/dav")]
    #[case::a_v6_address("https://[2001:db8::1]/", "https://[2001:db8:0::1]/dav")]
    #[case::a_public_suffix_itself("https://github.io/", "https://github.io/x")]
    fn passwords_go_there(#[case] typed: &str, #[case] target: &str) {
        assert!(may(typed, target));
    }

    #[rstest]
    #[case::another_domain("https://dav.example.com/", "https://dav.example.org/")]
    #[case::a_neighbour_below_a_suffix("https://ada.co.uk/", "https://bob.co.uk/")]
    #[case::a_neighbour_of_a_platform("https://ada.github.io/", "https://bob.github.io/")]
    #[case::a_neighbour_below_an_international_suffix("https://ada.公司.cn/", "https://bob.xn--55qx5d.cn/")]
    #[case::a_longer_name("https://example.com/", "https://example.com.evil.net/")]
    #[case::a_name_that_ends_alike("https://example.com/", "https://notexample.com/")]
    #[case::a_user_name("https://example.com/", "https://example.com@evil.net/")]
    #[case::credentials("https://example.com/", "https://ada:x@example.com/")]
    #[case::another_port("https://example.com/", "https://example.com:8443/")]
    #[case::another_port_of_a_sibling("https://example.com:8443/", "https://dav.example.com:9443/")]
    #[case::plain("https://example.com/", "http://example.com/")]
    #[case::plain_on_request("http://example.com/", "http://example.com/")]
    #[case::a_downgrade("https://dav.example.com:80/", "http://dav.example.com/")]
    #[case::plain_to_a_sibling("http://www.example.com/", "http://dav.example.com/")]
    #[case::a_local_port("http://localhost:5232/", "http://localhost:5233/")]
    #[case::a_local_port_with_tls("http://localhost:5232/", "https://localhost/")]
    #[case::another_local_name("https://dav.intern/", "https://www.dav.intern/")]
    #[case::another_address("https://192.0.2.7/", "https://192.0.2.8/")]
    #[case::an_address_with_another_port("https://192.0.2.7:8443/", "https://192.0.2.7/")]
    #[case::an_address_for_a_name("https://example.com/", "https://192.0.2.7/")]
    #[case::below_a_public_suffix("https://github.io/", "https://ada.github.io/")]
    #[case::another_scheme("https://example.com/", "ftp://example.com:443/")]
    fn passwords_do_not_go_there(#[case] typed: &str, #[case] target: &str) {
        assert!(!may(typed, target));
    }
}
