//! The client for outgoing calls, as the operator configures it.

use std::sync::Arc;

use kalends_egress::{Allowed, Egress, Settings, StartError, SystemResolver};

use crate::config::Config;

/// The one client through which the service reaches addresses that others name.
///
/// # Errors
/// TLS cannot be set up.
pub fn egress(config: &Config) -> Result<Egress, StartError> {
    let allowed = Allowed::new(config.egress_allow.iter().map(|at| (at.host.clone(), at.port)));
    let settings = Settings {
        // So that an operator at the other end knows whom to ask.
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
    async fn what_is_configured_may_be_reached() {
        let given = Given::of(&[("KALENDS_EGRESS_ALLOW", "LocalHost:9000, [::1]:80")], &[], "");
        let egress = egress(&Config::parse(&given).unwrap()).unwrap();
        assert!(egress.allowed().contains("localhost", 9_000) && egress.allowed().contains("::1", 80));
        assert!(!egress.allowed().contains("localhost", 80));
    }
}
