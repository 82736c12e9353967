//! `kalends keys`.

use std::sync::Arc;

use anyhow::{Context, bail};
use async_trait::async_trait;
use kalends_kernel::Entropy;
use kalends_time::Clock;
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

/// Runs one `kalends keys` command.
pub(crate) async fn keys(config: &Config, command: KeysCommand) -> Result<(), Failure> {
    match command {
        KeysCommand::RotateMaster => match &config.master_key {
            Some(masters) => rotate_given(config, masters).await,
            None => rotate_file(config).await,
        },
    }
}

/// Rotates to the key that the operator put in front of the old one.
async fn rotate_given(config: &Config, masters: &MasterKeys) -> Result<(), Failure> {
    if !masters.is_rotating() {
        return Err(anyhow::anyhow!(
            "KALENDS_MASTER_KEY must be \"new,old\" for a rotation: put a new key (for example from `openssl rand -base64 32`) \
             in front of the current one, restart every server with both, then run this command again"
        )
        .into());
    }
    run(config).await?;
    output::line("done: the old key is no longer needed; set KALENDS_MASTER_KEY to the new key alone")?;
    Ok(())
}

/// Rotates the key in the key file. Running servers read the file again when they meet a data key that is wrapped by
/// the new key.
async fn rotate_file(config: &Config) -> Result<(), Failure> {
    if matches!(config.database, DatabaseUrl::Postgres(_)) {
        return Err(Failure::Configuration(vec!["KALENDS_MASTER_KEY must be \"new,old\" for a rotation".to_owned()]));
    }
    let data = DataDir::make(&config.data_dir)?;
    let _lock = data.lock_rotation()?;
    let file = data.master_key();
    let new = prepare(&file)?;
    run(config).await?;
    file.replace(&new, &SystemEntropy)?;
    output::line(&format!("done: {} holds only the new key", file.path().display()))?;
    Ok(())
}

/// Puts a new key in front of the one in the file, and returns it. If the file holds two keys, a rotation was
/// interrupted: it continues with the same new key.
fn prepare(file: &KeyFile) -> anyhow::Result<Zeroizing<String>> {
    let path = file.path().display();
    let text = file.read().with_context(|| format!("there is no key to rotate: cannot read {path}"))?;
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
    // A closed standard output must not stop a rotation halfway.
    let mut progress = |step: RotationStep| {
        let _ = output::line(&step.to_string());
    };
    let done = rotate(&ring, &*resealer, &Settle, &mut progress).await;
    drop(resealer);
    database.close().await;
    Ok(done?)
}

/// Waits in real time.
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
    fn an_interrupted_rotation_continues_with_the_same_key() {
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
