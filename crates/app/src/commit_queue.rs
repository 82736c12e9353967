//! A queue in front of a store's writer. Change-sets that wait together are committed together.
//!
//! While one batch is being written, the next one fills. There is no timer. If a caller stops waiting, its change-set
//! is still committed.
//!
//! A batch has a tracing span of its own, which follows from the tracing spans in which its change-sets were queued.

use std::{future::Future, sync::Arc};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tracing::{Instrument as _, Span};

use crate::{ChangeSet, ports::CommitError};

/// The maximum number of change-sets in one batch. It bounds how long the first of them waits for the last.
pub const BATCH_MAX: usize = 256;
/// The most change-sets that may wait. Further callers wait for a place.
const WAITING_MAX: usize = 4_096;
/// The most text that may wait or be in progress, in KiB. Further callers wait for room.
const WAITING_KIB_MAX: u32 = 32 << 10;

/// A store's writer.
pub trait ApplyBatch: Send + Sync + 'static {
    /// Applies the change-sets of a batch durably and returns an outcome for each, in order.
    fn apply(&self, batch: Vec<Arc<ChangeSet>>) -> impl Future<Output = Vec<Result<(), CommitError>>> + Send;
}

/// The requests that these change-sets are for, separated by commas, for the log. At most [`BATCH_MAX`] of them.
pub fn requests_of<'a>(changes: impl IntoIterator<Item = &'a ChangeSet>) -> String {
    let requests = changes.into_iter().filter_map(|changes| changes.request).take(BATCH_MAX);
    requests.map(|request| request.to_string()).collect::<Vec<_>>().join(",")
}

struct Waiting {
    changes: Arc<ChangeSet>,
    /// The tracing span of the caller, such as that of its request.
    span: Span,
    outcome: oneshot::Sender<Result<(), CommitError>>,
    /// Released when the change-set is done, even if the caller no longer waits for it.
    _room: OwnedSemaphorePermit,
}

/// The queue. When the last handle is dropped, the writer finishes what is queued and ends.
#[derive(Clone)]
pub struct CommitQueue {
    sender: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// The writer has ended: the process is shutting down, or the writer panicked.
#[derive(Debug, thiserror::Error)]
#[error("the writer has stopped")]
struct WriterStopped;

impl CommitQueue {
    /// Starts the task that feeds `writer`.
    pub fn spawn(writer: impl ApplyBatch) -> Self {
        let (sender, mut receiver) = mpsc::channel::<Waiting>(WAITING_MAX);
        tokio::spawn(async move {
            let mut gathered = Vec::with_capacity(BATCH_MAX);
            while receiver.recv_many(&mut gathered, BATCH_MAX).await > 0 {
                let batch = gathered.iter().map(|waiting| Arc::clone(&waiting.changes)).collect();
                let span = tracing::error_span!(parent: None, "commit", change_sets = gathered.len());
                for waiting in &gathered {
                    span.follows_from(&waiting.span);
                }
                let outcomes = writer.apply(batch).instrument(span).await;
                for (waiting, outcome) in gathered.drain(..).zip(outcomes) {
                    // The caller may be gone, and then needs no outcome.
                    let _ = waiting.outcome.send(outcome);
                }
            }
        });
        Self { sender, room: Arc::new(Semaphore::new(WAITING_KIB_MAX as usize)) }
    }

    /// Queues `changes` and waits for their outcome.
    ///
    /// # Errors
    /// The outcome from the writer; [`CommitError::Store`] if the writer has stopped.
    pub async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let stopped = || CommitError::Store(kalends_kernel::StoreError::Unavailable(Box::new(WriterStopped)));
        let (outcome, answer) = oneshot::channel();
        let kib = u32::try_from(changes.weight() >> 10).unwrap_or(WAITING_KIB_MAX).clamp(1, WAITING_KIB_MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(kib).await.map_err(|_| stopped())?;
        let waiting = Waiting { changes: Arc::new(changes), span: Span::current(), outcome, _room: room };
        self.sender.send(waiting).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{OrgId, RequestId};

    use super::*;

    #[test]
    fn requests_are_listed_without_background_work() {
        let of = |request| ChangeSet { request, ..ChangeSet::new(OrgId::from_bytes([1; 16])) };
        let [first, second] = [2, 3].map(|byte| RequestId::from_bytes([byte; 16]));
        let batch = [of(Some(first)), of(None), of(Some(second))];
        assert_eq!(requests_of(&batch), format!("{first},{second}"));
        assert_eq!(requests_of(&[of(None)]), "");
    }
}
