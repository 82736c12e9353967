//! Work that goes on to its end, even if its caller stops waiting.

use kalends_kernel::StoreError;
use tracing::Instrument as _;

use crate::Refusal;

/// The task of the work ended without an outcome.
#[derive(Debug, thiserror::Error)]
#[error("the work ended early")]
struct EndedEarly(#[source] tokio::task::JoinError);

/// Does the work in a task of its own, and waits for its outcome. For work that commits more than once: a caller who hangs
/// up between two commits does not skip the second.
///
/// # Errors
/// Those of the work, and [`Refusal::Store`] if its task ends without an outcome.
pub(crate) async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Refusal>> + Send + 'static,
) -> Result<T, Refusal> {
    let ended = tokio::spawn(work.in_current_span()).await;
    ended.map_err(|error| StoreError::Failed(Box::new(EndedEarly(error))))?
}
