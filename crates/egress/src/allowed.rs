//! The private addresses that the operator allows.

use std::collections::HashSet;

/// Hosts and ports that may be reached whatever they resolve to, also over plain http (`KALENDS_EGRESS_ALLOW`). Empty
/// by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(HashSet<(String, u16)>);

impl Allowed {
    /// Allows only the public internet.
    pub fn none() -> Self {
        Self::default()
    }

    /// Allows these hosts and ports. Names must be in lower case. Literal addresses must be in their normal form, with
    /// or without brackets.
    pub fn new(list: impl IntoIterator<Item = (String, u16)>) -> Self {
        Self(list.into_iter().map(|(host, port)| (bare(&host).to_owned(), port)).collect())
    }

    /// Whether a host, with or without brackets, and port are on the list.
    pub fn contains(&self, host: &str, port: u16) -> bool {
        // The list is nearly always empty, so avoid copying the name.
        !self.0.is_empty() && self.0.contains(&(bare(host).to_owned(), port))
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_only_at_its_port() {
        let allowed = Allowed::new([("localhost".to_owned(), 9_000), ("[::1]".to_owned(), 80)]);
        assert!(allowed.contains("localhost", 9_000) && allowed.contains("::1", 80) && allowed.contains("[::1]", 80));
        assert!(!allowed.contains("localhost", 9_001) && !allowed.contains("a.localhost", 9_000));
        assert!(!Allowed::none().contains("localhost", 9_000));
    }
}
