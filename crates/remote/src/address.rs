//! Which IP addresses belong to the public internet.
//!
//! Callers choose some of the hosts that the server connects to, such as webhook endpoints and feeds. The server
//! connects to an address, literal or resolved, only if [`not_public`] returns `None` for it at the moment of
//! dialling. The tables follow IANA's special-purpose registries. An address that is not known to be public is
//! refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not part of the public internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotPublic {
    /// The "this network" block, and the unspecified address.
    Unspecified,
    /// The machine itself.
    Loopback,
    /// A private network, including unique-local and site-local addresses.
    Private,
    /// Addresses shared behind carrier-grade NAT (RFC 6598).
    Shared,
    /// Link-local addresses, at which clouds serve their credentials.
    LinkLocal,
    /// Multicast groups.
    Multicast,
    /// Addresses reserved for examples in documentation.
    Documentation,
    /// Addresses reserved for benchmarks of network devices.
    Benchmarking,
    /// A tunnel or translation whose other end cannot be known: 6to4, Teredo, IPv4-compatible and IPv4-translated
    /// addresses, and local-use translation.
    Tunnel,
    /// A service of a cloud platform at an address of the public range.
    Platform,
    /// Protocol assignments, broadcast, and unassigned addresses.
    Reserved,
}

impl NotPublic {
    /// The reason, worded to follow "the address is" in an error message.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::LinkLocal => "link-local",
            Self::Multicast => "multicast",
            Self::Documentation => "for documentation",
            Self::Benchmarking => "for benchmarking",
            Self::Tunnel => "a tunnel or translation",
            Self::Platform => "a service of the platform",
            Self::Reserved => "reserved",
        }
    }
}

/// IPv4 networks that are not public: address, prefix length, reason.
const NETWORKS_V4: &[([u8; 4], u32, NotPublic)] = &[
    ([0, 0, 0, 0], 8, NotPublic::Unspecified),
    ([10, 0, 0, 0], 8, NotPublic::Private),
    ([100, 64, 0, 0], 10, NotPublic::Shared),
    ([127, 0, 0, 0], 8, NotPublic::Loopback),
    ([168, 63, 129, 16], 32, NotPublic::Platform),
    ([169, 254, 0, 0], 16, NotPublic::LinkLocal),
    ([172, 16, 0, 0], 12, NotPublic::Private),
    ([192, 0, 0, 0], 24, NotPublic::Reserved),
    ([192, 0, 2, 0], 24, NotPublic::Documentation),
    ([192, 88, 99, 0], 24, NotPublic::Tunnel),
    ([192, 168, 0, 0], 16, NotPublic::Private),
    ([198, 18, 0, 0], 15, NotPublic::Benchmarking),
    ([198, 51, 100, 0], 24, NotPublic::Documentation),
    ([203, 0, 113, 0], 24, NotPublic::Documentation),
    ([224, 0, 0, 0], 4, NotPublic::Multicast),
    ([240, 0, 0, 0], 4, NotPublic::Reserved),
];

/// IPv6 networks that are not public, most specific first: address, prefix length, reason.
const NETWORKS_V6: &[([u16; 8], u32, NotPublic)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, NotPublic::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, NotPublic::Loopback),
    // IPv4-compatible addresses. IPv4-mapped addresses never reach this table: they are judged as IPv4 addresses.
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, NotPublic::Tunnel),
    // IPv4-translated (RFC 2765).
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, NotPublic::Tunnel),
    // Local-use translation (RFC 8215).
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, NotPublic::Tunnel),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, NotPublic::Reserved),
    // Teredo.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, NotPublic::Tunnel),
    ([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, NotPublic::Benchmarking),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, NotPublic::Reserved),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, NotPublic::Documentation),
    // 6to4.
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, NotPublic::Tunnel),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, NotPublic::Documentation),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, NotPublic::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, NotPublic::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, NotPublic::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, NotPublic::Multicast),
];

/// The only range from which public IPv6 addresses are assigned.
const GLOBAL_V6: ([u16; 8], u32) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
/// Translation to IPv4 (RFC 6052): the last 32 bits are the IPv4 address that is reached.
const TRANSLATED_V6: ([u16; 8], u32) = ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// Why an address is not part of the public internet; `None` if it is public. IPv4-mapped addresses and those of
/// translators (NAT64) are judged by the IPv4 address inside.
pub fn not_public(address: IpAddr) -> Option<NotPublic> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<NotPublic> {
    let inside = |(network, prefix, _): &&([u8; 4], u32, NotPublic)| {
        (address.to_bits() ^ Ipv4Addr::from(*network).to_bits()).leading_zeros() >= *prefix
    };
    NETWORKS_V4.iter().find(inside).map(|(_, _, why)| *why)
}

fn not_public_v6(address: Ipv6Addr) -> Option<NotPublic> {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return not_public_v4(mapped);
    }
    let inside = |network: [u16; 8], prefix: u32| {
        (address.to_bits() ^ Ipv6Addr::from(network).to_bits()).leading_zeros() >= prefix
    };
    if inside(TRANSLATED_V6.0, TRANSLATED_V6.1) {
        return not_public_v4(last_four(address));
    }
    let known = NETWORKS_V6.iter().find(|(network, prefix, _)| inside(*network, *prefix)).map(|(_, _, why)| *why);
    let known = known.or_else(|| (!inside(GLOBAL_V6.0, GLOBAL_V6.1)).then_some(NotPublic::Reserved));
    // The interface identifier of an ISATAP address carries the IPv4 address that packets end up at.
    known.or_else(|| is_isatap(address).then(|| not_public_v4(last_four(address))).flatten())
}

const fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _])
}

const fn last_four(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::{NotPublic::*, *};

    /// The first and last address of every network, written independently of the tables above.
    #[rstest]
    #[case::this_network("0.0.0.0", "0.255.255.255", Unspecified)]
    #[case::ten("10.0.0.0", "10.255.255.255", Private)]
    #[case::carrier("100.64.0.0", "100.127.255.255", Shared)]
    #[case::loopback("127.0.0.0", "127.255.255.255", Loopback)]
    #[case::wire_server("168.63.129.16", "168.63.129.16", Platform)]
    #[case::link("169.254.0.0", "169.254.255.255", LinkLocal)]
    #[case::cloud_metadata("169.254.169.254", "169.254.169.254", LinkLocal)]
    #[case::cloud_metadata_shared("100.100.100.200", "100.100.100.200", Shared)]
    #[case::one_seven_two("172.16.0.0", "172.31.255.255", Private)]
    #[case::assignments("192.0.0.0", "192.0.0.255", Reserved)]
    #[case::test_net_1("192.0.2.0", "192.0.2.255", Documentation)]
    #[case::relays("192.88.99.0", "192.88.99.255", Tunnel)]
    #[case::one_nine_two("192.168.0.0", "192.168.255.255", Private)]
    #[case::benchmarks("198.18.0.0", "198.19.255.255", Benchmarking)]
    #[case::test_net_2("198.51.100.0", "198.51.100.255", Documentation)]
    #[case::test_net_3("203.0.113.0", "203.0.113.255", Documentation)]
    #[case::groups("224.0.0.0", "239.255.255.255", Multicast)]
    #[case::class_e("240.0.0.0", "255.255.255.254", Reserved)]
    #[case::broadcast("255.255.255.255", "255.255.255.255", Reserved)]
    #[case::unspecified("::", "::", Unspecified)]
    #[case::loopback_v6("::1", "::1", Loopback)]
    #[case::compatible("::2", "::ffff:ffff", Tunnel)]
    #[case::compatible_loopback("::127.0.0.1", "::127.0.0.1", Tunnel)]
    #[case::unassigned_low("::1:0:0", "::fffe:ffff:ffff", Reserved)]
    #[case::mapped_loopback("::ffff:127.0.0.0", "::ffff:127.255.255.255", Loopback)]
    #[case::mapped_private("::ffff:10.0.0.0", "::ffff:10.255.255.255", Private)]
    #[case::mapped_metadata("::ffff:169.254.169.254", "::ffff:169.254.169.254", LinkLocal)]
    #[case::mapped_unspecified("::ffff:0.0.0.0", "::ffff:0.0.0.0", Unspecified)]
    #[case::mapped_groups("::ffff:224.0.0.0", "::ffff:239.255.255.255", Multicast)]
    #[case::translated("::ffff:0:0:0", "::ffff:0:ffff:ffff", Tunnel)]
    #[case::nat64_loopback("64:ff9b::127.0.0.0", "64:ff9b::127.255.255.255", Loopback)]
    #[case::nat64_private("64:ff9b::10.0.0.0", "64:ff9b::10.255.255.255", Private)]
    #[case::nat64_metadata("64:ff9b::169.254.169.254", "64:ff9b::169.254.169.254", LinkLocal)]
    #[case::nat64_unspecified("64:ff9b::", "64:ff9b::ff:ffff", Unspecified)]
    #[case::nat64_beyond("64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::nat64_local("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Tunnel)]
    #[case::discard("100::", "100::ffff:ffff:ffff:ffff", Reserved)]
    #[case::teredo("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", Tunnel)]
    #[case::port_control("2001:1::1", "2001:1::2", Reserved)]
    #[case::benchmarks_v6("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmarking)]
    #[case::orchid("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::orchid_2("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::assignments_v6("2001:1ff::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::documentation_v6("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation)]
    #[case::six_to_four("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Tunnel)]
    #[case::six_to_four_private("2002:a00:1::1", "2002:a00:1::1", Tunnel)]
    #[case::documentation_2("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation)]
    #[case::unassigned_middle("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::segment_routing("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::unique_local("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private)]
    #[case::cloud_metadata_v6("fd00:ec2::254", "fd00:ec2::254", Private)]
    #[case::unassigned_high("fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved)]
    #[case::link_v6("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal)]
    #[case::site("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private)]
    #[case::groups_v6("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast)]
    #[case::isatap_private("2606:4700::5efe:10.0.0.1", "2606:4700::5efe:10.0.0.1", Private)]
    #[case::isatap_global_bit("2606:4700::200:5efe:127.0.0.1", "2606:4700::200:5efe:127.0.0.1", Loopback)]
    fn special_networks_are_not_public(#[case] first: &str, #[case] last: &str, #[case] why: NotPublic) {
        for address in [first, last] {
            assert_eq!(not_public(address.parse().unwrap()), Some(why), "{address}");
        }
    }

    #[rstest]
    #[case("1.0.0.0")]
    #[case("1.1.1.1")]
    #[case("8.8.8.8")]
    #[case("9.255.255.255")]
    #[case("11.0.0.0")]
    #[case("100.63.255.255")]
    #[case("100.128.0.0")]
    #[case("126.255.255.255")]
    #[case("128.0.0.0")]
    #[case("168.63.129.15")]
    #[case("168.63.129.17")]
    #[case("169.253.255.255")]
    #[case("169.255.0.0")]
    #[case("172.15.255.255")]
    #[case("172.32.0.0")]
    #[case("191.255.255.255")]
    #[case("192.0.1.0")]
    #[case("192.0.3.0")]
    #[case("192.88.98.255")]
    #[case("192.88.100.0")]
    #[case("192.167.255.255")]
    #[case("192.169.0.0")]
    #[case("198.17.255.255")]
    #[case("198.20.0.0")]
    #[case("198.51.99.255")]
    #[case("198.51.101.0")]
    #[case("203.0.112.255")]
    #[case("203.0.114.0")]
    #[case("223.255.255.255")]
    #[case("2000::")]
    #[case("2001:200::")]
    #[case("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff")]
    #[case("2001:db9::")]
    #[case("2001:4860:4860::8888")]
    #[case("2003::")]
    #[case("2606:4700:4700::1111")]
    #[case("2a00:1450::")]
    #[case("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff")]
    #[case("3fff:1000::")]
    #[case("::ffff:8.8.8.8")]
    #[case("64:ff9b::8.8.8.8")]
    #[case("2606:4700::5efe:8.8.8.8")]
    fn public_addresses_pass(#[case] address: &str) {
        assert_eq!(not_public(address.parse().unwrap()), None);
    }

    proptest! {
        /// Every IPv4 address that the standard library knows as not public is refused, for the same reason.
        #[test]
        fn agrees_with_the_standard_library(bits: u32) {
            let address = Ipv4Addr::from(bits);
            let why = not_public(address.into());
            let theirs = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_documentation()
                || address.is_unspecified();
            prop_assert!(!theirs || why.is_some());
            prop_assert_eq!(address.is_private(), why == Some(Private));
            prop_assert_eq!(address.is_loopback(), why == Some(Loopback));
            prop_assert_eq!(address.is_link_local(), why == Some(LinkLocal));
            prop_assert_eq!(address.is_multicast(), why == Some(Multicast));
            prop_assert_eq!(address.is_documentation(), why == Some(Documentation));
        }

        /// An IPv4 address that is written as an IPv6 address is refused if the IPv4 address is.
        #[test]
        fn every_form_of_an_address_is_judged_alike(bits: u32) {
            let address = Ipv4Addr::from(bits);
            let why = not_public(address.into());
            prop_assert_eq!(not_public(address.to_ipv6_mapped().into()), why);
            let [a, b, c, d] = address.octets().map(u16::from);
            let translated = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a << 8 | b, c << 8 | d);
            prop_assert_eq!(not_public(translated.into()), why);
            prop_assert!(not_public(address.to_ipv6_compatible().into()).is_some());
            prop_assert!(not_public(Ipv6Addr::new(0x2002, a << 8 | b, c << 8 | d, 0, 0, 0, 0, 1).into()).is_some());
        }

        /// A public IPv6 address is in the range that is assigned for global use.
        #[test]
        fn public_addresses_are_globally_assigned(bits: u128) {
            let address = Ipv6Addr::from(bits);
            if not_public(address.into()).is_none() {
                prop_assert!(address.segments()[0] >> 13 == 1, "inside 2000::/3, or mapped, which is rare");
                prop_assert!(!address.is_multicast() && !address.is_loopback() && !address.is_unique_local());
            }
        }
    }
}
