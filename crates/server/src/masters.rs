//! Where this process has its master keys from.

use std::sync::Arc;

use async_trait::async_trait;
use kalends_app::ports::KeyTable;
use kalends_kernel::Entropy;
use kalends_vault::{MasterKeys, MasterSource, MasterSourceError};
use secrecy::ExposeSecret as _;
use zeroize::Zeroizing;

use crate::{
    config::{Config, DatabaseUrl},
    data_dir::{DataDir, KeyFile},
    failure::Failure,
};

/// Reads the key file each time it is asked, so that a rotation beside a running server is heeded.
pub(crate) struct FileMasters(pub(crate) KeyFile);

#[async_trait]
impl MasterSource for FileMasters {
    async fn masters(&self) -> Result<MasterKeys, MasterSourceError> {
        let path = self.0.path().display();
        let text = self
            .0
            .read()
            .map_err(|error| MasterSourceError { what: format!("cannot read {path}"), source: Some(error.into()) })?;
        MasterKeys::parse(&text).map_err(|error| MasterSourceError {
            what: format!("the key file {path} is damaged"),
            source: Some(error.into()),
        })
    }
}

/// The master keys as configured: given, or with SQLite in the data directory, where they are generated
/// for a database that has no data keys yet.
pub(crate) async fn source(
    config: &Config,
    table: &dyn KeyTable,
    entropy: &dyn Entropy,
) -> Result<Arc<dyn MasterSource>, Failure> {
    if let Some(masters) = &config.master_key {
        return Ok(Arc::new(masters.clone()));
    }
    if matches!(config.database, DatabaseUrl::Postgres(_)) {
        return Err(missing("KALENDS_MASTER_KEY"));
    }
    let file = DataDir::make(&config.data_dir)?.master_key();
    // In this order: a process that starts at the same time writes the file first, and then its data keys.
    let has_data_keys = !table.data_keys().await?.is_empty();
    if has_data_keys && !file.exists() {
        // A fresh key would open nothing, and hide what is really missing.
        return Err(anyhow::anyhow!(
            "the database has encrypted data, but its master key {} is missing: put the file back, or set KALENDS_MASTER_KEY",
            file.path().display()
        )
        .into());
    }
    file.read_or_generate(entropy)?;
    Ok(Arc::new(FileMasters(file)))
}

/// The key to sign sessions with: given, or with SQLite generated. Consoles of several nodes share it, so with
/// Postgres it must be given.
pub(crate) fn session_key(config: &Config, entropy: &dyn Entropy) -> Result<Zeroizing<Vec<u8>>, Failure> {
    if let Some(given) = &config.session_key {
        let bytes = crate::config::session_key_bytes(given.expose_secret());
        return Ok(bytes.map_err(|wrong| anyhow::anyhow!("KALENDS_SESSION_KEY {wrong}"))?);
    }
    if matches!(config.database, DatabaseUrl::Postgres(_)) {
        return Err(missing("KALENDS_SESSION_KEY"));
    }
    let file = DataDir::make(&config.data_dir)?.session_key();
    let text = file.read_or_generate(entropy)?;
    let bytes = crate::config::session_key_bytes(&text)
        .map_err(|wrong| anyhow::anyhow!("the key file {} {wrong}", file.path().display()))?;
    Ok(bytes)
}

/// Both keys, where the database needs them given: told before anything else is tried.
pub(crate) fn require_given(config: &Config) -> Result<(), Failure> {
    let DatabaseUrl::Postgres(_) = config.database else { return Ok(()) };
    match (&config.master_key, &config.session_key) {
        (None, None) => Err(missing("KALENDS_MASTER_KEY and KALENDS_SESSION_KEY")),
        (None, Some(_)) => Err(missing("KALENDS_MASTER_KEY")),
        (Some(_), None) => Err(missing("KALENDS_SESSION_KEY")),
        (Some(_), Some(_)) => Ok(()),
    }
}

fn missing(names: &str) -> Failure {
    Failure::Configuration(vec![format!(
        "{names} must be set for a Postgres database: 32 random bytes in base64 each, such as `openssl rand -base64 32` prints"
    )])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Given;

    fn config(pairs: &[(&str, &str)]) -> Config {
        Config::parse(&Given::of(pairs, &[], "")).unwrap()
    }

    #[test]
    fn postgres_needs_keys_that_all_nodes_share() {
        let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        let postgres = ("KALENDS_DATABASE_URL", "postgres://localhost/kalends");
        let (master, session) = (("KALENDS_MASTER_KEY", key), ("KALENDS_SESSION_KEY", key));
        let said = |pairs: &[(&str, &str)]| match require_given(&config(pairs)) {
            Ok(()) => String::new(),
            Err(Failure::Configuration(lines)) if lines.len() == 1 => lines.concat(),
            Err(other) => panic!("{other:?}"),
        };
        assert!(said(&[postgres]).starts_with("KALENDS_MASTER_KEY and KALENDS_SESSION_KEY must be set"));
        assert!(said(&[postgres, master]).starts_with("KALENDS_SESSION_KEY must"));
        assert!(said(&[postgres, session]).starts_with("KALENDS_MASTER_KEY must"));
        assert_eq!(said(&[postgres, master, session]), "");
        assert_eq!(said(&[]), "");
    }
}
