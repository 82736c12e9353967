//! URLs that callers choose and the server connects to: webhook endpoints and feeds.

use std::fmt;

use url::{Host, Url};

use kalends_kernel::FieldError;

use crate::not_public;

/// A URL whose text passed the checks of [`RemoteUrl::parse`]. The address that its name resolves to is checked with
/// [`not_public`] when the server connects.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RemoteUrl(Url);

/// Names that never leave the machine or its network: those of RFC 6761, RFC 6762 (with its appendix G), RFC 8375 and
/// ICANN's `internal`; those that ICANN does not delegate because networks use them (`corp`, `home`); and those that
/// container platforms answer to (`svc`, `docker`, `consul`).
const LOCAL_NAMES: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "home.arpa",
    "localdomain",
    "lan",
    "intranet",
    "private",
    "corp",
    "home",
    "svc",
    "docker",
    "consul",
];

/// The first half of an error message: what is expected. What is wrong follows.
const WANTED: &str = "must be an https URL of the public internet";
/// How to allow an address on the server's own network.
const ALLOWED_BY: &str = "the operator can allow it, as host:port, in KALENDS_EGRESS_ALLOW";
const CREDENTIALS: &str = "it must not contain credentials; put a secret into the path or the query";

/// Refuses a text that is too long, or that contains a space, a control character or a backslash. A URL parser would
/// drop or replace these characters, so the stored URL would differ from the one that was sent.
fn check_text(param: &str, text: &str) -> Result<(), FieldError> {
    let length = text.chars().count();
    if length > RemoteUrl::MAX {
        let message = format!("must be at most {} characters long, got {length}", RemoteUrl::MAX);
        return Err(FieldError::new(param, message));
    }
    if text.chars().any(|char| char.is_control() || char.is_whitespace() || char == '\\') {
        let what = "it must not contain spaces, control characters or backslashes";
        return Err(FieldError::new(param, format!("{WANTED}: {what}")));
    }
    Ok(())
}

/// Whether a name never leaves the machine or its network.
fn is_local(name: &str) -> bool {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let local = |known: &str| bare.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !bare.contains('.') || LOCAL_NAMES.iter().any(|known| local(known))
}

/// The name without its trailing dot, if it is valid.
fn public_name(name: &str) -> Result<&str, &'static str> {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let valid = |label: &str| matches!(label.len(), 1..=63) && !label.starts_with('-') && label.bytes().all(letter);
    // No top-level domain begins with a digit. Some resolvers read a name that ends in such a label as an address.
    let top = bare.rsplit('.').next().is_some_and(|top| top.starts_with(|char: char| char.is_ascii_alphabetic()));
    if bare.len() > 253 || !top || !bare.split('.').all(valid) {
        return Err("the host is not a valid name");
    }
    Ok(bare)
}

impl RemoteUrl {
    /// The maximum number of characters.
    pub const MAX: usize = 2_048;

    /// Checks a URL. It must be https, have no credentials, and be at most [`Self::MAX`] characters long. Its host
    /// must not be a local name or a literal address outside the public internet. A fragment is dropped, because it
    /// is never sent.
    ///
    /// `exempt` returns whether the operator allows a host (lower case, IPv6 without brackets) and port
    /// (`KALENDS_EGRESS_ALLOW`). Such a destination may be private, and may use plain http.
    ///
    /// # Errors
    /// Names the field and what is wrong. The URL is not repeated, because it may carry a secret.
    pub fn parse(param: &str, text: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<Self, FieldError> {
        let wrong = |what: &str| FieldError::new(param, format!("{WANTED}: {what}"));
        check_text(param, text)?;
        let scheme_ok = ["https://", "http://"]
            .iter()
            .any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        if !scheme_ok {
            return Err(wrong("it must begin with https://"));
        }
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        // The parser drops an empty user name, but the `@` remains in the text.
        let authority = text.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or("");
        if authority.contains('@') {
            return Err(wrong(CREDENTIALS));
        }
        Self::admit(url, exempt).map_err(|what| wrong(&what))
    }

    /// Repeats the checks of [`Self::parse`], except those of the text. A stored URL may be older than the rules or
    /// than the operator's list.
    ///
    /// # Errors
    /// The same as [`Self::parse`].
    pub fn recheck(&self, param: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<Self, FieldError> {
        Self::admit(self.0.clone(), exempt).map_err(|what| FieldError::new(param, format!("{WANTED}: {what}")))
    }

    /// The target of a redirect from this URL. `location` is absolute or relative to this URL.
    ///
    /// # Errors
    /// The same as [`Self::parse`].
    pub fn join(&self, param: &str, location: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<Self, FieldError> {
        // A text that begins like a scheme is an absolute URL, or not a web address at all.
        let scheme = location.split_once(':').map_or("", |(scheme, _)| scheme);
        if !scheme.is_empty() && !scheme.contains(['/', '?', '#']) {
            return Self::parse(param, location, exempt);
        }
        let wrong = |what: &str| FieldError::new(param, format!("{WANTED}: {what}"));
        check_text(param, location)?;
        let url = self.0.join(location).map_err(|error| wrong(&error.to_string()))?;
        Self::admit(url, exempt).map_err(|what| wrong(&what))
    }

    /// Whether both URLs have the same scheme, host and port, so that data meant for one may be sent to the other.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.0.scheme() == other.0.scheme() && self.destination() == other.destination()
    }

    /// Checks all rules except those about the text.
    fn admit(mut url: Url, exempt: impl Fn(&str, u16) -> bool) -> Result<Self, String> {
        if !matches!(url.scheme(), "https" | "http") {
            return Err("it must begin with https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(CREDENTIALS.to_owned());
        }
        let port = url.port_or_known_default().filter(|port| *port != 0).ok_or("the port must not be 0")?;
        let host = url.host().ok_or("it needs a host")?.to_owned();
        let name = match &host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        if !exempt(&name, port) {
            // Checked before the scheme: someone who tries this out at home has neither a public address nor https.
            let refused = match &host {
                Host::Ipv4(address) => not_public((*address).into()),
                Host::Ipv6(address) => not_public((*address).into()),
                Host::Domain(name) => {
                    if is_local(name) {
                        return Err(format!("the host is a local name; {ALLOWED_BY}"));
                    }
                    let bare = public_name(name)?;
                    // A trailing dot keeps certificates from matching.
                    if bare.len() != name.len() {
                        url.set_host(Some(bare)).map_err(|error| error.to_string())?;
                    }
                    None
                }
            };
            if let Some(why) = refused {
                return Err(format!("the address {name} is {}; {ALLOWED_BY}", why.as_str()));
            }
            if url.scheme() != "https" {
                return Err("plain http is not allowed".to_owned());
            }
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// The URL from a store's text.
    ///
    /// # Errors
    /// The text is not a URL with a host.
    pub fn from_stored(text: &str) -> Result<Self, url::ParseError> {
        let url = Url::parse(text)?;
        if url.has_host() { Ok(Self(url)) } else { Err(url::ParseError::EmptyHost) }
    }

    /// The normalized text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed URL.
    pub const fn as_url(&self) -> &Url {
        &self.0
    }

    /// Whether nobody on the way can read or change what is sent: it is sent over https, or does not leave this machine.
    pub fn is_confidential(&self) -> bool {
        self.0.scheme() == "https"
            || match self.0.host() {
                Some(Host::Ipv4(address)) => address.is_loopback(),
                Some(Host::Ipv6(address)) => address.is_loopback(),
                Some(Host::Domain(name)) => name == "localhost",
                None => false,
            }
    }

    /// The host and port. Sending is limited per destination.
    pub fn destination(&self) -> (&str, u16) {
        (self.0.host_str().unwrap_or(""), self.0.port_or_known_default().unwrap_or(443))
    }
}

impl fmt::Debug for RemoteUrl {
    /// Shows only scheme, host and port: paths and queries carry secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = self.destination();
        write!(f, "{}://{host}:{port}/…", self.0.scheme())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn parse(text: &str) -> Result<RemoteUrl, FieldError> {
        RemoteUrl::parse("url", text, |_, _| false)
    }

    #[rstest]
    #[case("https://example.com", "https://example.com/")]
    #[case("HTTPS://Example.COM/Hook?x=%20#part", "https://example.com/Hook?x=%20")]
    #[case("https://example.com:8443/a", "https://example.com:8443/a")]
    #[case("https://example.com:443/a", "https://example.com/a")]
    #[case("https://example.com./a", "https://example.com/a")]
    #[case("https://bücher.example/", "https://xn--bcher-kva.example/")]
    #[case("https://1.1.1.1/", "https://1.1.1.1/")]
    #[case("https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/")]
    #[case("https://[64:ff9b::8.8.8.8]/", "https://[64:ff9b::808:808]/")]
    #[case("https://notlocalhost.example/", "https://notlocalhost.example/")]
    #[case("https://example.com/user@host", "https://example.com/user@host")]
    #[case("https://example.com?to=a@b.c", "https://example.com/?to=a@b.c")]
    fn accepts(#[case] text: &str, #[case] normalized: &str) {
        let url = parse(text).unwrap();
        assert_eq!(url.as_str(), normalized);
        assert_eq!(RemoteUrl::from_stored(url.as_str()), Ok(url));
    }

    #[rstest]
    #[case::plain_http_to_this_machine("http://localhost:9000/hook", true)]
    #[case::this_machine("https://127.0.0.1/hook", true)]
    #[case::a_private_network("http://192.168.1.5:8080/hook", true)]
    #[case::a_local_name("https://printer.local/", true)]
    #[case::plain_http_to_the_internet("http://example.com/hook", false)]
    #[case::no_host_name("https://exa%20mple.com/", false)]
    fn a_refusal_of_the_local_network_names_the_setting(#[case] text: &str, #[case] names: bool) {
        let message = parse(text).unwrap_err().message;
        assert_eq!(message.contains("KALENDS_EGRESS_ALLOW"), names, "{message}");
    }

    #[rstest]
    #[case::empty("", "begin with https")]
    #[case::relative("/hook", "begin with https")]
    #[case::no_scheme("example.com/hook", "begin with https")]
    #[case::plain("http://example.com/", "plain http")]
    #[case::ftp("ftp://example.com/", "begin with https")]
    #[case::file("file:///etc/passwd", "begin with https")]
    #[case::gopher("gopher://example.com:70/_", "begin with https")]
    #[case::data("data:text/plain,x", "begin with https")]
    #[case::opaque("https:example.com", "begin with https")]
    #[case::one_slash("https:/example.com", "begin with https")]
    #[case::credentials("https://ada:hunter2@example.com/", "credentials")]
    #[case::user_only("https://ada@example.com/", "credentials")]
    #[case::an_empty_user("https://@example.com/", "credentials")]
    #[case::an_empty_user_and_password("https://:@example.com/", "credentials")]
    #[case::an_encoded_host_trick("https://example.com%40127.0.0.1/", "must be an https URL")]
    #[case::backslash("https://example.com\\@127.0.0.1/", "backslashes")]
    #[case::a_tab("https://exa\tmple.com/", "spaces")]
    #[case::a_newline("https://example.com/\r\nHost: x", "spaces")]
    #[case::a_space_before(" https://example.com/", "spaces")]
    #[case::nul("https://example.com/\0", "control")]
    #[case::no_host("https:///path", "local name")]
    #[case::empty_host("https://", "empty host")]
    #[case::port_zero("https://example.com:0/", "port")]
    #[case::port_too_high("https://example.com:65536/", "port")]
    #[case::localhost("https://localhost/", "local name")]
    #[case::localhost_upper("https://LOCALHOST/", "local name")]
    #[case::localhost_dot("https://localhost./", "local name")]
    #[case::below_localhost("https://a.localhost/", "local name")]
    #[case::multicast_dns("https://printer.local/", "local name")]
    #[case::internal("https://metadata.google.internal/", "local name")]
    #[case::home("https://router.home.arpa/", "local name")]
    #[case::one_label("https://intranet/", "local name")]
    #[case::undelegated("https://wiki.corp/", "local name")]
    #[case::kubernetes("https://kubernetes.default.svc/", "local name")]
    #[case::kubernetes_fully_qualified("https://kubernetes.default.svc.cluster.local/", "local name")]
    #[case::containers("https://host.docker.internal/", "local name")]
    #[case::two_dots("https://example.com../", "valid name")]
    #[case::an_empty_label("https://example..com/", "valid name")]
    #[case::a_comma("https://127.0.0.1,example.com/", "valid name")]
    #[case::a_number_at_the_top("https://1.1.1.1e3/", "valid name")]
    #[case::a_sign("https://127.-1/", "valid name")]
    #[case::loopback("https://127.0.0.1/", "loopback")]
    #[case::loopback_short("https://127.1/", "loopback")]
    #[case::loopback_number("https://2130706433/", "loopback")]
    #[case::loopback_hex("https://0x7f000001/", "loopback")]
    #[case::loopback_hex_parts("https://0x7f.0.0.0x1/", "loopback")]
    #[case::loopback_octal("https://0177.0.0.1/", "loopback")]
    #[case::loopback_wide("https://１２７.0.0.1/", "loopback")]
    #[case::loopback_circled("https://①②⑦.0.0.1/", "loopback")]
    #[case::loopback_dot("https://127.0.0.1./", "loopback")]
    #[case::loopback_encoded("https://%31%32%37.0.0.1/", "loopback")]
    #[case::loopback_other_dots("https://127。0。0。1/", "loopback")]
    #[case::unspecified("https://0.0.0.0/", "unspecified")]
    #[case::unspecified_short("https://0/", "unspecified")]
    #[case::private("https://10.1.2.3/", "private")]
    #[case::metadata("https://169.254.169.254/latest/meta-data/", "link-local")]
    #[case::shared("https://100.64.0.1/", "shared")]
    #[case::broadcast("https://255.255.255.255/", "reserved")]
    #[case::loopback_v6("https://[::1]/", "loopback")]
    #[case::unspecified_v6("https://[::]/", "unspecified")]
    #[case::mapped("https://[::ffff:127.0.0.1]/", "loopback")]
    #[case::mapped_hex("https://[::ffff:7f00:1]/", "loopback")]
    #[case::compatible("https://[::127.0.0.1]/", "tunnel")]
    #[case::nat64("https://[64:ff9b::10.0.0.1]/", "private")]
    #[case::nat64_local("https://[64:ff9b:1::8.8.8.8]/", "tunnel")]
    #[case::six_to_four("https://[2002:7f00:1::]/", "tunnel")]
    #[case::teredo("https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "tunnel")]
    #[case::unique_local("https://[fd00:ec2::254]/", "private")]
    #[case::link_local("https://[fe80::1]/", "link-local")]
    #[case::a_zone("https://[fe80::1%25eth0]/", "must be an https URL")]
    #[case::unclosed("https://[::1/", "must be an https URL")]
    fn refuses(#[case] text: &str, #[case] part: &str) {
        let refused = parse(text).unwrap_err();
        assert!(refused.param == "url" && refused.message.contains(part), "{}", refused.message);
        assert!(!refused.message.contains("hunter2"), "the URL is not repeated");
    }

    #[test]
    fn length_is_bounded() {
        let base = "https://example.com/";
        let long = |length: usize| format!("{base}{}", "a".repeat(length - base.len()));
        assert!(parse(&long(RemoteUrl::MAX)).is_ok());
        assert!(parse(&long(RemoteUrl::MAX + 1)).unwrap_err().message.contains("at most 2048"));
        let label = |length: usize| format!("https://{}.example.com/", "a".repeat(length));
        assert!(parse(&label(63)).is_ok() && parse(&label(64)).is_err());
    }

    #[rstest]
    #[case("http://127.0.0.1:9000/hook", true)]
    #[case("https://127.0.0.1:9000/hook", true)]
    #[case("http://127.0.0.1:9001/hook", false)]
    #[case("http://localhost:80/", true)]
    #[case("http://localhost/", true)]
    #[case("https://localhost/", false)]
    #[case("http://[::1]:7/", true)]
    #[case("http://ada@127.0.0.1:9000/", false)]
    fn the_operator_can_allow_private_destinations(#[case] text: &str, #[case] allowed: bool) {
        let list = [("127.0.0.1", 9_000), ("localhost", 80), ("::1", 7)];
        let url = RemoteUrl::parse("url", text, |host, port| list.contains(&(host, port)));
        assert_eq!(url.is_ok(), allowed);
    }

    /// A stored URL may be older than a rule, or than the last change of the operator's list.
    #[rstest]
    #[case("http://127.0.0.1:9000/", "is loopback")]
    #[case("https://ada:hunter2@example.com/", "credentials")]
    #[case("https://10.0.0.1/", "private")]
    #[case("https://db.corp/", "local name")]
    #[case("ftp://example.com/", "begin with https")]
    fn a_stored_url_is_checked_again(#[case] text: &str, #[case] part: &str) {
        let refused = RemoteUrl::from_stored(text).unwrap().recheck("url", |_, _| false).unwrap_err();
        assert!(refused.message.contains(part) && !refused.message.contains("hunter2"), "{}", refused.message);
    }

    /// Percent-encoding can make a URL longer than the limit. It is still accepted.
    #[test]
    fn an_accepted_url_is_accepted_again() {
        let url = parse(&format!("https://example.com/{}", "ü".repeat(RemoteUrl::MAX - 20))).unwrap();
        assert!(url.as_str().len() > RemoteUrl::MAX);
        assert_eq!(url.recheck("url", |_, _| false), Ok(url));
    }

    #[rstest]
    #[case("/b?c", Ok("https://example.com/b?c"))]
    #[case("b", Ok("https://example.com/a/b"))]
    #[case("?q=a:b", Ok("https://example.com/a/?q=a:b"))]
    #[case("//other.example:8443/x#y", Ok("https://other.example:8443/x"))]
    #[case("https://other.example/", Ok("https://other.example/"))]
    #[case("http://other.example/", Err("plain http"))]
    #[case("//127.0.0.1/", Err("loopback"))]
    #[case("//ada@other.example/", Err("credentials"))]
    #[case("https://ada:hunter2@other.example/", Err("credentials"))]
    #[case("https://10.1/", Err("private"))]
    #[case("///0x7f.1/", Err("empty host"))]
    #[case("https:10.0.0.1", Err("begin with https"))]
    #[case("https:///10.0.0.1", Err("private"))]
    #[case("javascript:alert(1)", Err("begin with https"))]
    #[case("file:///etc/passwd", Err("begin with https"))]
    #[case("\\\\127.0.0.1\\", Err("backslashes"))]
    #[case("/a\r\nb", Err("control"))]
    fn redirects_are_checked(#[case] location: &str, #[case] expected: Result<&str, &str>) {
        let base = parse("https://example.com/a/#frag").unwrap();
        match (base.join("location", location, |_, _| false), expected) {
            (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
            (Err(refused), Err(part)) => assert!(refused.message.contains(part), "{}", refused.message),
            (got, expected) => panic!("{got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |a: &str, b: &str| parse(a).unwrap().same_origin(&parse(b).unwrap());
        assert!(same("https://example.com/a", "https://EXAMPLE.com:443/b"));
        assert!(!same("https://example.com/", "https://example.com:444/"));
        assert!(!same("https://example.com/", "https://www.example.com/"));
    }

    #[test]
    fn debug_output_hides_path_and_query() {
        let url = parse("https://example.com/hooks/secret?token=secret").unwrap();
        assert_eq!(format!("{url:?}"), "https://example.com:443/…");
        assert_eq!(url.destination(), ("example.com", 443));
        assert!(RemoteUrl::from_stored("mailto:ada@example.com").is_err());
    }

    #[test]
    fn plain_http_is_confidential_only_on_this_machine() {
        for (text, expected) in [
            ("https://example.com/", true),
            ("https://10.0.0.7/", true),
            ("http://127.0.0.1:9000/", true),
            ("http://[::1]:9000/", true),
            ("http://localhost:9000/", true),
            ("http://10.0.0.7:9000/", false),
            ("http://localhost.example.com/", false),
        ] {
            assert_eq!(RemoteUrl::from_stored(text).unwrap().is_confidential(), expected, "{text}");
        }
    }

    proptest! {
        /// An accepted URL is https to a public literal address or a name, and parses to itself.
        #[test]
        fn accepted_urls_are_safe(text in "https?://[a-z0-9.:@\\[\\]/%#?\\\\-]{0,40}") {
            if let Ok(url) = parse(&text) {
                prop_assert_eq!(url.as_url().scheme(), "https");
                prop_assert!(url.as_url().username().is_empty() && url.as_url().password().is_none());
                let public = match url.as_url().host() {
                    Some(Host::Domain(name)) => name.contains('.'),
                    Some(Host::Ipv4(address)) => not_public(address.into()).is_none(),
                    Some(Host::Ipv6(address)) => not_public(address.into()).is_none(),
                    None => false,
                };
                prop_assert!(public);
                prop_assert_eq!(parse(url.as_str()), Ok(url));
            }
        }
    }
}
