//! The source of this process's master keys.

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

/// Reads the key file on every call, so that a running server sees a rotation.
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

/// The configured master keys. On SQLite, if none are configured, they are read from the data directory. They are
/// generated only if the database has no data keys yet.
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
    // The order matters: a process that starts at the same time writes the file first, then its data keys.
    let has_data_keys = !table.data_keys().await?.is_empty();
    if has_data_keys && !file.exists() {
        // A fresh key could not open anything, and would hide that the file is missing.
        return Err(anyhow::anyhow!(
            "the database has encrypted data, but its master key file {} is missing: restore the file, or set KALENDS_MASTER_KEY",
            file.path().display()
        )
        .into());
    }
    file.read_or_generate(entropy)?;
    Ok(Arc::new(FileMasters(file)))
}

/// The key that signs sessions: configured, or generated on SQLite. On Postgres it must be configured, because the
/// consoles of all nodes share it.
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

/// Checks that both keys are configured on Postgres. This runs before anything else is tried.
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
        "{names} must be set for a Postgres database: 32 random bytes in base64 each, for example from `openssl rand -base64 32`"
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
    fn postgres_requires_both_keys() {
        let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        let postgres = ("KALENDS_DATABASE_URL", "postgres://localhost/kalends");
        let (master, session) = (("KALENDS_MASTER_KEY", key), ("KALENDS_SESSION_KEY", key));
        let error_text = |pairs: &[(&str, &str)]| match require_given(&config(pairs)) {
            Ok(()) => String::new(),
            Err(Failure::Configuration(lines)) if lines.len() == 1 => lines.concat(),
            Err(other) => panic!("{other:?}"),
        };
        assert!(error_text(&[postgres]).starts_with("KALENDS_MASTER_KEY and KALENDS_SESSION_KEY must be set"));
        assert!(error_text(&[postgres, master]).starts_with("KALENDS_SESSION_KEY must"));
        assert!(error_text(&[postgres, session]).starts_with("KALENDS_MASTER_KEY must"));
        assert_eq!(error_text(&[postgres, master, session]), "");
        assert_eq!(error_text(&[]), "");
    }
}
