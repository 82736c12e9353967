//! `kalends backup`.

use kalends_app::operators;
use kalends_time::Timestamp;
use serde::Serialize;

use super::{json_line, with_app};
use crate::{cli::BackupCommand, config::Config, failure::Failure};

/// The output for a backup that was recorded.
#[derive(Serialize)]
struct Recorded {
    made_at: Timestamp,
}

/// Runs one `kalends backup` command.
pub(crate) async fn backup(config: &Config, command: BackupCommand) -> Result<(), Failure> {
    with_app(config, |app| async move {
        match command {
            BackupCommand::Done => json_line(&Recorded { made_at: operators::record_backup(&app).await? }),
        }
    })
    .await
}
