//! Limits on open connections, in total and for each address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kalends_plans::TrustedProxies;
use kalends_quotas::IpKey;

use crate::config::ConnectionLimits;

/// The limits and the open connections. IPv6 addresses count by their /64.
pub(super) struct Places {
    limits: ConnectionLimits,
    /// Proxies carry the connections of many clients, so only the total applies to them.
    trusted: TrustedProxies,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    /// Only addresses that have a connection have an entry.
    by_address: HashMap<IpKey, usize>,
}

/// The place of one connection, released on drop.
pub(super) struct Place {
    places: Arc<Places>,
    address: Option<IpKey>,
}

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Full {
    /// The service is at its total limit.
    #[error("the service has reached its limit of {0} connections")]
    Total(usize),
    /// The address is at its limit.
    #[error("this address has {0} connections, the limit for one address (KALENDS_MAX_CONNECTIONS)")]
    Address(usize),
}

impl Places {
    pub(super) fn new(limits: ConnectionLimits, trusted: TrustedProxies) -> Arc<Self> {
        Arc::new(Self { limits, trusted, open: Mutex::default() })
    }

    /// Takes a place for a connection from `peer`.
    ///
    /// # Errors
    /// [`Full`], with the limit that is reached.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr) -> Result<Place, Full> {
        let address = (!self.trusted.trusts(peer)).then(|| IpKey::from(peer));
        let mut open = self.open();
        if open.total >= self.limits.total {
            return Err(Full::Total(self.limits.total));
        }
        if let Some(address) = address {
            let taken = open.by_address.entry(address).or_default();
            if *taken >= self.limits.per_address {
                return Err(Full::Address(self.limits.per_address));
            }
            *taken += 1;
        }
        open.total += 1;
        Ok(Place { places: Arc::clone(self), address })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        open.total -= 1;
        if let Some(address) = self.address
            && let Some(taken) = open.by_address.get_mut(&address)
        {
            *taken -= 1;
            if *taken == 0 {
                open.by_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(total: usize, per_address: usize) -> Arc<Places> {
        let trusted = TrustedProxies::new(["10.0.0.0/8".parse().unwrap()]);
        Places::new(ConnectionLimits { total, per_address }, trusted)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_cannot_take_every_place() {
        let places = places(10, 2);
        let held: Vec<_> = (0..2).map(|_| places.take(ip("192.0.2.1")).unwrap()).collect();
        assert_eq!(places.take(ip("192.0.2.1")).err(), Some(Full::Address(2)));
        assert_eq!(places.take(ip("::ffff:192.0.2.1")).err(), Some(Full::Address(2)), "the same address");
        let other = places.take(ip("192.0.2.2")).unwrap();
        drop(held);
        let _again = places.take(ip("192.0.2.1")).unwrap();
        drop(other);
        assert_eq!(places.open().by_address.len(), 1, "an address without connections leaves no entry");
    }

    #[test]
    fn ipv6_addresses_of_one_network_count_together() {
        let places = places(10, 1);
        let _held = places.take(ip("2001:db8::1")).unwrap();
        assert_eq!(places.take(ip("2001:db8::2")).err(), Some(Full::Address(1)));
        places.take(ip("2001:db8:0:1::1")).unwrap();
    }

    #[test]
    fn a_trusted_proxy_is_bounded_by_the_total_alone() {
        let places = places(3, 1);
        let held: Vec<_> = (0..3).map(|_| places.take(ip("10.0.0.1")).unwrap()).collect();
        assert_eq!(places.take(ip("10.0.0.1")).err(), Some(Full::Total(3)));
        assert_eq!(places.take(ip("192.0.2.1")).err(), Some(Full::Total(3)));
        drop(held);
        assert_eq!(places.open().total, 0);
    }
}
