//! Finds the client's address behind proxies (`KALENDS_TRUSTED_PROXIES`).

use std::net::{IpAddr, SocketAddr};

use ipnet::{IpNet, Ipv4Net};

/// The maximum number of `X-Forwarded-For` entries to read, from the right.
const HOPS_MAX: usize = 32;

/// The networks whose `X-Forwarded-For` is trusted. There are none by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Trusts these networks. IPv4-mapped networks count as IPv4 networks, as addresses do.
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().map(canonical_network).collect())
    }

    /// Whether an `X-Forwarded-For` from this address is trusted.
    pub fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The client's address: the nearest hop of the request that is not trusted.
    ///
    /// `peer` is the other end of the connection. `forwarded` has the values of all `X-Forwarded-For` headers in the
    /// order in which they arrived. Each trusted hop appended the address that it saw, so the list is read from the
    /// right, and only as far as the hops are trusted: an untrusted address may have written anything to its left. An
    /// entry that is not an address ends the walk, and the last known hop is the result.
    pub fn client<'a, I>(&self, peer: IpAddr, forwarded: I) -> IpAddr
    where
        I: IntoIterator<Item = &'a str>,
        I::IntoIter: DoubleEndedIterator,
    {
        let mut nearest = peer.to_canonical();
        if !self.trusts(nearest) {
            return nearest;
        }
        let entries = forwarded.into_iter().rev().flat_map(|value| value.rsplit(','));
        for entry in entries.take(HOPS_MAX) {
            let Some(hop) = address(entry.trim_matches([' ', '\t'])) else { break };
            nearest = hop.to_canonical();
            if !self.trusts(nearest) {
                break;
            }
        }
        nearest
    }
}

/// Parses an address as proxies write it: bare, in brackets, or with a port.
fn address(entry: &str) -> Option<IpAddr> {
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || entry.parse::<SocketAddr>().ok().filter(|_| !entry.contains('%')).map(|socket| socket.ip());
    entry.parse().ok().or_else(bracketed).or_else(with_port)
}

fn canonical_network(network: IpNet) -> IpNet {
    match network {
        IpNet::V6(v6) if v6.prefix_len() >= 96 => match v6.addr().to_ipv4_mapped() {
            Some(v4) => Ipv4Net::new(v4, v6.prefix_len() - 96).map_or(network, IpNet::V4),
            None => network,
        },
        IpNet::V4(_) | IpNet::V6(_) => network,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// `networks` are separated by spaces; `forwarded` has one header per line.
    fn client(networks: &str, peer: &str, forwarded: &str) -> IpAddr {
        let networks = networks.split_whitespace().map(|network| network.parse::<IpNet>().unwrap());
        TrustedProxies::new(networks).client(ip(peer), forwarded.lines())
    }

    #[rstest]
    #[case::nothing_forwarded("", "203.0.113.7", "", "203.0.113.7")]
    #[case::nobody_is_trusted("", "10.0.0.1", "198.51.100.9", "10.0.0.1")]
    #[case::an_untrusted_peer_is_not_believed("10.0.0.0/8", "203.0.113.7", "10.0.0.1", "203.0.113.7")]
    #[case::an_untrusted_peer_forges_a_chain("10.0.0.0/8", "203.0.113.7", "1.1.1.1, 10.0.0.1", "203.0.113.7")]
    #[case::one_proxy("10.0.0.0/8", "10.0.0.1", "198.51.100.9", "198.51.100.9")]
    #[case::a_trusted_peer_that_forwards_nothing("10.0.0.0/8", "10.0.0.1", "", "10.0.0.1")]
    #[case::two_proxies("10.0.0.0/8", "10.0.0.1", "198.51.100.9, 10.0.0.2", "198.51.100.9")]
    #[case::the_client_forged_the_left_entry("10.0.0.0/8", "10.0.0.1", "1.2.3.4, 198.51.100.9", "198.51.100.9")]
    #[case::the_client_poses_as_a_proxy("10.0.0.0/8", "10.0.0.1", "1.2.3.4, 10.0.0.9, 198.51.100.9", "198.51.100.9")]
    #[case::the_client_sent_its_own_header("10.0.0.0/8", "10.0.0.1", "1.2.3.4\n198.51.100.9", "198.51.100.9")]
    #[case::several_headers_are_one_list("10.0.0.0/8", "10.0.0.1", "198.51.100.9\n10.0.0.3, 10.0.0.2", "198.51.100.9")]
    #[case::all_are_trusted("10.0.0.0/8", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3")]
    #[case::two_networks("10.0.0.0/8 192.0.2.0/24", "10.0.0.1", "198.51.100.9, 192.0.2.5", "198.51.100.9")]
    #[case::at_the_edge_of_a_network("10.0.0.0/30", "10.0.0.3", "198.51.100.9", "198.51.100.9")]
    #[case::beyond_the_edge("10.0.0.0/30", "10.0.0.4", "198.51.100.9", "10.0.0.4")]
    #[case::a_word_ends_the_walk("10.0.0.0/8", "10.0.0.1", "198.51.100.9, unknown, 10.0.0.2", "10.0.0.2")]
    #[case::a_word_at_the_right("10.0.0.0/8", "10.0.0.1", "198.51.100.9, unknown", "10.0.0.1")]
    #[case::an_empty_entry("10.0.0.0/8", "10.0.0.1", "198.51.100.9,, 10.0.0.2", "10.0.0.2")]
    #[case::a_comma_at_the_end("10.0.0.0/8", "10.0.0.1", "198.51.100.9,", "10.0.0.1")]
    #[case::spaces_and_tabs("10.0.0.0/8", "10.0.0.1", "  198.51.100.9\t ,\t10.0.0.2 ", "198.51.100.9")]
    #[case::other_white_space("10.0.0.0/8", "10.0.0.1", "198.51.100.9\u{a0}", "10.0.0.1")]
    #[case::a_port("10.0.0.0/8", "10.0.0.1", "198.51.100.9:4711", "198.51.100.9")]
    #[case::a_port_too_high("10.0.0.0/8", "10.0.0.1", "198.51.100.9:70000", "10.0.0.1")]
    #[case::an_octal_form("10.0.0.0/8", "10.0.0.1", "0198.51.100.9", "10.0.0.1")]
    #[case::a_number("10.0.0.0/8", "10.0.0.1", "3325256713", "10.0.0.1")]
    #[case::a_short_form("10.0.0.0/8", "10.0.0.1", "198.51.9", "10.0.0.1")]
    #[case::a_network("10.0.0.0/8", "10.0.0.1", "198.51.100.0/24", "10.0.0.1")]
    #[case::a_name("10.0.0.0/8", "10.0.0.1", "localhost", "10.0.0.1")]
    #[case::quoted("10.0.0.0/8", "10.0.0.1", "\"198.51.100.9\"", "10.0.0.1")]
    #[case::v6("2001:db8::/32", "2001:db8::1", "2001:470::9", "2001:470::9")]
    #[case::v6_in_brackets("10.0.0.0/8", "10.0.0.1", "[2001:470::9]", "2001:470::9")]
    #[case::v6_with_a_port("10.0.0.0/8", "10.0.0.1", "[2001:470::9]:443", "2001:470::9")]
    #[case::v6_half_bracketed("10.0.0.0/8", "10.0.0.1", "[2001:470::9", "10.0.0.1")]
    #[case::v4_in_brackets("10.0.0.0/8", "10.0.0.1", "[198.51.100.9]", "10.0.0.1")]
    #[case::a_zone("10.0.0.0/8", "10.0.0.1", "fe80::1%eth0", "10.0.0.1")]
    #[case::a_zone_with_a_port("10.0.0.0/8", "10.0.0.1", "[fe80::1%1]:443", "10.0.0.1")]
    #[case::a_mapped_peer("10.0.0.0/8", "::ffff:10.0.0.1", "198.51.100.9", "198.51.100.9")]
    #[case::a_mapped_hop("10.0.0.0/8", "10.0.0.1", "198.51.100.9, ::ffff:10.0.0.2", "198.51.100.9")]
    #[case::a_mapped_client("10.0.0.0/8", "10.0.0.1", "::ffff:198.51.100.9", "198.51.100.9")]
    #[case::a_mapped_network("::ffff:10.0.0.0/104", "10.0.0.1", "198.51.100.9", "198.51.100.9")]
    #[case::all_of_v6_is_not_v4("::/0", "10.0.0.1", "198.51.100.9", "10.0.0.1")]
    #[case::everybody_is_trusted("0.0.0.0/0", "203.0.113.7", "1.2.3.4, 198.51.100.9", "1.2.3.4")]
    fn the_nearest_untrusted_hop_is_the_client(
        #[case] networks: &str,
        #[case] peer: &str,
        #[case] forwarded: &str,
        #[case] counts: &str,
    ) {
        assert_eq!(client(networks, peer, forwarded), ip(counts));
    }

    #[test]
    fn a_long_list_is_read_only_up_to_the_maximum() {
        let forged = vec!["10.0.0.7"; 10_000].join(",");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", &format!("198.51.100.9,{forged}")), ip("10.0.0.7"));
        let bearable = vec!["10.0.0.7"; HOPS_MAX - 1].join(",");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", &format!("198.51.100.9,{bearable}")), ip("198.51.100.9"));
    }

    proptest! {
        /// Whatever a client sends, the result is the address that the nearest trusted proxy saw.
        #[test]
        fn a_client_cannot_choose_its_address(sent in "[0-9a-f:., \\[\\]x-]{0,60}", client in any::<u32>()) {
            let client = IpAddr::V4(client.into());
            let proxies = TrustedProxies::new(["10.0.0.0/8".parse().unwrap()]);
            prop_assume!(!proxies.trusts(client));
            let seen = client.to_string();
            prop_assert_eq!(proxies.client(ip("10.0.0.1"), [sent.as_str(), seen.as_str()]), client);
            let appended = format!("{sent},{seen}, 10.0.0.2");
            prop_assert_eq!(proxies.client(ip("10.0.0.1"), [appended.as_str()]), client);
        }

        /// Any text that a client sends as its forwarded addresses gives an address in canonical form.
        #[test]
        fn no_text_makes_the_walk_panic(sent in "\\PC{0,80}", peer in any::<u128>()) {
            let peer = IpAddr::V6(peer.into());
            let all = TrustedProxies::new(["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]);
            let client = all.client(peer, [sent.as_str()]);
            prop_assert_eq!(client, client.to_canonical());
        }
    }
}
