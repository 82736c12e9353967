//! The HTTP client for outgoing calls, as configured by the operator.

use std::sync::Arc;

use kalends_egress::{Allowed, Egress, Settings, StartError, SystemResolver};

use crate::config::Config;

/// Builds the one client for addresses that come from outside: webhooks, feeds and providers.
///
/// # Errors
/// If TLS cannot be set up.
pub fn egress(config: &Config) -> Result<Egress, StartError> {
    client(config, Allowed::new(config.egress_allow.iter().map(|at| (at.host.clone(), at.port))))
}

/// Builds a client that reaches the public internet and what is `allowed`.
///
/// # Errors
/// If TLS cannot be set up.
pub(crate) fn client(config: &Config, allowed: Allowed) -> Result<Egress, StartError> {
    let settings = Settings {
        // Shows the operator at the other end where the call comes from.
        user_agent: concat!("Kalends/", env!("CARGO_PKG_VERSION")).to_owned(),
        per_host: config.egress_per_host,
    };
    Egress::new(allowed, Arc::new(SystemResolver::default()), &settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Given;

    #[tokio::test]
    async fn allowed_addresses_are_exempt_by_host_and_port() {
        let given = Given::of(&[("KALENDS_EGRESS_ALLOW", "LocalHost:9000, [::1]:80")], &[], "");
        let egress = egress(&Config::parse(&given).unwrap()).unwrap();
        assert!(egress.allowed().contains("localhost", 9_000) && egress.allowed().contains("::1", 80));
        assert!(!egress.allowed().contains("localhost", 80));
    }
}
