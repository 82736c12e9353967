//! The resources of the server's process during an attack.

use std::time::Duration;

use anyhow::Result;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::service::{Process, Usage};

/// The sampling interval. The kernel records the peak memory, but not the peak of open files.
const LOOK: Duration = Duration::from_millis(20);

/// The measurements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// Resident memory in KiB, before the attack and at its peak.
    pub(crate) memory_before: u64,
    pub(crate) memory: u64,
    /// Open files, including connections.
    pub(crate) files_before: usize,
    pub(crate) files: usize,
}

/// A task that samples the process.
pub(crate) struct Watch {
    end: oneshot::Sender<()>,
    looking: JoinHandle<Result<Seen>>,
}

impl Watch {
    pub(crate) fn begin(server: &Process) -> Result<Self> {
        let usage = server.usage();
        let (end, mut ended) = oneshot::channel();
        let (memory_before, files_before) = (usage.resident()?, usage.open_files()?);
        let looking = tokio::spawn(async move {
            let mut files = files_before;
            loop {
                let over = tokio::time::timeout(LOOK, &mut ended).await.is_ok();
                files = files.max(usage.open_files()?);
                if over {
                    return Ok(Seen { memory_before, memory: most(&usage)?, files_before, files });
                }
            }
        });
        Ok(Self { end, looking })
    }

    pub(crate) async fn end(self) -> Result<Seen> {
        // If this does not arrive, the task has failed, which is reported below.
        let _ = self.end.send(());
        self.looking.await?
    }
}

fn most(usage: &Usage) -> Result<u64> {
    Ok(usage.most_resident()?.max(usage.resident()?))
}

/// Converts KiB to MiB.
pub(crate) fn mebibytes(kibibytes: u64) -> String {
    kibibytes.div_ceil(1 << 10).to_string()
}
