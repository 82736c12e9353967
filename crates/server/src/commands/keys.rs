//! `kalends keys`.

use std::sync::Arc;

use anyhow::{Context, bail};
use async_trait::async_trait;
use kalends_kernel::{Clock, Entropy};
use kalends_vault::{KeyRing, MasterKeys, Pause, RotationStep, SETTLE, rotate};
use zeroize::Zeroizing;

use crate::{
    ambient::{SystemClock, SystemEntropy},
    cli::KeysCommand,
    config::{Config, DatabaseUrl},
    data_dir::{DataDir, KeyFile, generate},
    failure::Failure,
    output,
    service::open_keys,
};

/// Runs one command on keys.
pub(crate) async fn keys(config: &Config, command: KeysCommand) -> Result<(), Failure> {
    match command {
        KeysCommand::RotateMaster => match &config.master_key {
            Some(masters) => rotate_given(config, masters).await,
            None => rotate_file(config).await,
        },
    }
}

/// Rotates to a key that the operator has put in front of the old one.
async fn rotate_given(config: &Config, masters: &MasterKeys) -> Result<(), Failure> {
    if !masters.is_rotating() {
        return Err(anyhow::anyhow!(
            "KALENDS_MASTER_KEY must be \"new,old\" to be rotated: put a new key (such as `openssl rand -base64 32` prints) \
             in front of the present one, restart every server with both, then run this again"
        )
        .into());
    }
    run(config).await?;
    output::line("the old key is no longer needed: KALENDS_MASTER_KEY may now be the new one alone")?;
    Ok(())
}

/// Rotates the key file. Servers that run read it again when they meet a data key under the new key.
async fn rotate_file(config: &Config) -> Result<(), Failure> {
    if matches!(config.database, DatabaseUrl::Postgres(_)) {
        return Err(Failure::Configuration(vec!["KALENDS_MASTER_KEY must be \"new,old\" to be rotated".to_owned()]));
    }
    let data = DataDir::make(&config.data_dir)?;
    let _lock = data.lock_rotation()?;
    let file = data.master_key();
    let new = prepare(&file)?;
    run(config).await?;
    file.replace(&new, &SystemEntropy)?;
    output::line(&format!("{} holds the new key alone", file.path().display()))?;
    Ok(())
}

/// Puts a new key in front of the one in the file, and returns it. A file that holds two keys is that
/// of a rotation which was interrupted: it goes on with the same new key.
fn prepare(file: &KeyFile) -> anyhow::Result<Zeroizing<String>> {
    let path = file.path().display();
    let text = file.read().with_context(|| format!("cannot read {path}, so there is no key to rotate"))?;
    let masters = MasterKeys::parse(&text).with_context(|| format!("the key file {path} is damaged"))?;
    if masters.is_rotating() {
        let Some((new, _)) = text.split_once(',') else { bail!("the key file {path} is damaged") };
        return Ok(Zeroizing::new(new.trim().to_owned()));
    }
    let new = generate(&SystemEntropy);
    file.replace(&Zeroizing::new(format!("{},{}", *new, *text)), &SystemEntropy)?;
    Ok(new)
}

async fn run(config: &Config) -> Result<(), Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new(config.clock_offset));
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let (database, ring) = open_keys(config, &clock, &entropy).await?;
    let resealer = database.resealer(Arc::<KeyRing>::clone(&ring));
    // What cannot be printed is no reason to stop half-way.
    let mut progress = |step: RotationStep| {
        let _ = output::line(&step.to_string());
    };
    let done = rotate(&ring, &*resealer, &Settle, &mut progress).await;
    drop(resealer);
    database.close().await;
    Ok(done?)
}

/// Real time passes.
struct Settle;

#[async_trait]
impl Pause for Settle {
    async fn pause(&self) {
        tokio::time::sleep(SETTLE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_rotation_goes_on_with_its_key() {
        let root = tempfile::tempdir().unwrap();
        let file = DataDir::make(root.path()).unwrap().master_key();
        assert!(prepare(&file).is_err(), "there is nothing to rotate");
        let old = file.read_or_generate(&SystemEntropy).unwrap();
        let new = prepare(&file).unwrap();
        assert_eq!(*file.read().unwrap(), format!("{},{}", *new, *old));
        assert_eq!(*prepare(&file).unwrap(), *new);
        assert_eq!(*file.read().unwrap(), format!("{},{}", *new, *old));
    }
}
