//! The requests with an idempotency key that this process is answering.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

/// The scopes of the requests that this process is answering.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashSet<[u8; 32]>>>);

/// Marks a request as running until it is dropped.
pub struct RunningGuard {
    running: Running,
    scope: [u8; 32],
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.scope);
    }
}

impl Running {
    /// Marks the request of that scope as running; `None` if it is already running.
    pub(crate) fn begin(&self, scope: [u8; 32]) -> Option<RunningGuard> {
        let fresh = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(scope);
        fresh.then(|| RunningGuard { running: self.clone(), scope })
    }
}
