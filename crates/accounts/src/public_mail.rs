//! Mail domains at which anybody can open a mailbox.
//!
//! Sign-ups are limited by mail domain. At a public provider, strangers share the domain, so ten sign-ups by one of
//! them would lock out all others. There the limit is counted by domain and network together.

use std::net::IpAddr;

/// The public providers in the default list. `name.*` stands for the name below `com`, `net` or `org`, below any
/// country's top-level domain, and below `co` or `com` of one.
const KNOWN: &[&str] = &[
    "126.com",
    "163.com",
    "aol.com",
    "bluewin.ch",
    "btinternet.com",
    "comcast.net",
    "daum.net",
    "duck.com",
    "fastmail.com",
    "fastmail.fm",
    "foxmail.com",
    "free.fr",
    "freenet.de",
    "gmail.com",
    "gmx.*",
    "googlemail.com",
    "hanmail.net",
    "hey.com",
    "hotmail.*",
    "icloud.com",
    "laposte.net",
    "libero.it",
    "live.com",
    "live.co.uk",
    "live.de",
    "live.fr",
    "live.nl",
    "mac.com",
    "mail.com",
    "mail.ru",
    "mailbox.org",
    "me.com",
    "msn.com",
    "naver.com",
    "orange.fr",
    "outlook.com",
    "outlook.de",
    "outlook.es",
    "outlook.fr",
    "outlook.it",
    "pm.me",
    "posteo.de",
    "proton.me",
    "protonmail.com",
    "protonmail.ch",
    "qq.com",
    "rediffmail.com",
    "rocketmail.com",
    "seznam.cz",
    "sina.com",
    "t-online.de",
    "tuta.com",
    "tutanota.com",
    "verizon.net",
    "web.de",
    "wp.pl",
    "yahoo.*",
    "yandex.*",
    "ymail.com",
    "zoho.com",
    "zohomail.com",
];

/// The mail domains at which anybody can open a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicMailDomains(Vec<String>);

/// Why a text is not a list of mail domains. The message follows the name of the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be default, off, or a list of domains such as default,example.com,mail.*; {0:?} is not a domain in lower-case \
     ASCII"
)]
pub struct PublicMailDomainsError(String);

impl Default for PublicMailDomains {
    fn default() -> Self {
        Self(KNOWN.iter().map(|&domain| domain.to_owned()).collect())
    }
}

impl PublicMailDomains {
    /// Reads `default`, `off`, or a list of domains that replaces the default. A list that contains `default` adds to
    /// it.
    ///
    /// # Errors
    /// [`PublicMailDomainsError`] quotes the entry that is not a valid domain.
    pub fn parse(text: &str) -> Result<Self, PublicMailDomainsError> {
        if text.trim() == "off" {
            return Ok(Self(Vec::new()));
        }
        let mut domains = Vec::new();
        for entry in text.split(',').map(str::trim) {
            if entry == "default" {
                domains.extend(Self::default().0);
                continue;
            }
            let label = |label: &str| {
                let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                !label.is_empty() && label.len() <= 63 && label.bytes().all(plain)
            };
            let named = entry.strip_suffix(".*").unwrap_or(entry);
            let is_domain = named.split('.').all(label) && (named.len() < entry.len() || named.contains('.'));
            if !is_domain || entry.len() > 255 {
                return Err(PublicMailDomainsError(entry.chars().take(40).collect()));
            }
            domains.push(entry.to_owned());
        }
        Ok(Self(domains))
    }

    /// Whether anybody can open a mailbox at the domain, which must be normalized ([`crate::Email::domain`]).
    pub fn contains(&self, domain: &str) -> bool {
        self.0.iter().any(|known| match known.strip_suffix(".*") {
            Some(name) => {
                let suffix = domain.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
                suffix.is_some_and(is_registry)
            }
            None => known == domain,
        })
    }
}

/// Whether names directly below `suffix` are registered by their holders: `suffix` is a country's top-level domain,
/// `co` or `com` of one, or one of the oldest top-level domains. So `yahoo.evil.example` does not count as the
/// provider.
fn is_registry(suffix: &str) -> bool {
    let country = |label: &str| label.len() == 2 && label.bytes().all(|byte| byte.is_ascii_lowercase());
    match suffix.split_once('.') {
        None => country(suffix) || ["com", "net", "org"].contains(&suffix),
        Some((second, top)) => ["co", "com"].contains(&second) && country(top),
    }
}

/// The network of an address, in which sign-ups are counted together: the /24 of an IPv4 address, the /48 of an IPv6
/// address. An IPv4-mapped address counts as the IPv4 address. All unknown addresses share one network.
pub(crate) fn network(address: Option<IpAddr>) -> Vec<u8> {
    match address.map(|address| address.to_canonical()) {
        None => Vec::new(),
        Some(IpAddr::V4(address)) => address.octets().into_iter().take(3).collect(),
        Some(IpAddr::V6(address)) => address.octets().into_iter().take(6).collect(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("gmail.com", true)]
    #[case("yahoo.de", true)]
    #[case("yahoo.co.uk", true)]
    #[case("yahoo.com.br", true)]
    #[case("gmx.net", true)]
    #[case("hotmail.org", true)]
    #[case::a_subdomain("mail.gmail.com", false)]
    #[case::below_a_stranger("yahoo.evil.com", false)]
    #[case::below_a_long_top_level("yahoo.example", false)]
    #[case::longer_name("notyahoo.com", false)]
    #[case::no_suffix("yahoo", false)]
    #[case::a_company("example.com", false)]
    fn the_default_list_has_public_providers(#[case] domain: &str, #[case] public: bool) {
        assert_eq!(PublicMailDomains::default().contains(domain), public);
    }

    #[test]
    fn the_default_list_is_valid_as_a_setting() {
        assert_eq!(PublicMailDomains::parse(&KNOWN.join(",")), Ok(PublicMailDomains::default()));
        assert_eq!(PublicMailDomains::parse("default"), Ok(PublicMailDomains::default()));
    }

    #[test]
    fn a_list_replaces_the_default_or_adds_to_it() {
        let own = PublicMailDomains::parse("example.org, box.*").unwrap();
        assert!(own.contains("example.org") && own.contains("box.fr") && !own.contains("gmail.com"));
        let more = PublicMailDomains::parse("default,example.org").unwrap();
        assert!(more.contains("example.org") && more.contains("gmail.com"));
        assert!(!PublicMailDomains::parse("off").unwrap().contains("gmail.com"));
    }

    #[rstest]
    #[case("")]
    #[case("default,")]
    #[case("Example.com")]
    #[case("localhost")]
    #[case("*.com")]
    #[case("a..b")]
    #[case("bücher.example")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert!(PublicMailDomains::parse(text).is_err(), "{text}");
    }

    #[rstest]
    #[case::one_24("203.0.113.7", "203.0.113.250", true)]
    #[case::two_24s("203.0.113.7", "203.0.114.7", false)]
    #[case::mapped("203.0.113.7", "::ffff:203.0.113.9", true)]
    #[case::one_48("2001:db8:1:2::1", "2001:db8:1:ffff::9", true)]
    #[case::two_48s("2001:db8:1::1", "2001:db8:2::1", false)]
    fn networks_are_counted_together(#[case] one: &str, #[case] other: &str, #[case] together: bool) {
        let network = |text: &str| network(Some(text.parse().unwrap()));
        assert_eq!(network(one) == network(other), together);
    }
}
