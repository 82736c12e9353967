//! The key under which an IP address is counted.

use std::net::IpAddr;

/// The key under which an IP address is counted: a whole IPv4 address, or the /64 of an IPv6 address, because one caller
/// controls a /64. An IPv4-mapped IPv6 address counts as the IPv4 address.
///
/// ```
/// use std::net::IpAddr;
///
/// use kalends_quotas::IpKey;
///
/// let key = |text: &str| text.parse::<IpAddr>().map(IpKey::from);
/// assert_eq!(key("2001:db8:1:2::1")?, key("2001:db8:1:2:ffff::9")?);
/// assert_eq!(key("::ffff:203.0.113.7")?, key("203.0.113.7")?);
/// assert_ne!(key("203.0.113.7")?, key("203.0.113.8")?);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IpKey(Key);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    V4(u32),
    /// The upper half of the address.
    V6(u64),
}

impl From<IpAddr> for IpKey {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(Key::V4(address.to_bits())),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments().map(u64::from);
                Self(Key::V6(a << 48 | b << 32 | c << 16 | d))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::v4_every_bit("203.0.113.7", "203.0.113.8", false)]
    #[case::one_v4("203.0.113.7", "203.0.113.7", true)]
    #[case::mapped("203.0.113.7", "::ffff:203.0.113.7", true)]
    #[case::mapped_ones_differ("::ffff:203.0.113.7", "::ffff:203.0.113.8", false)]
    #[case::one_64("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true)]
    #[case::two_64s("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    #[case::compatible_is_v6("::203.0.113.7", "203.0.113.7", false)]
    #[case::zero("0.0.0.0", "::", false)]
    fn addresses_of_one_caller_are_counted_together(#[case] one: &str, #[case] other: &str, #[case] together: bool) {
        let key = |text: &str| IpKey::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(key(one) == key(other), together);
    }
}
