//! The requests with an idempotency key that this process is answering.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;

/// The scopes of the requests that this process is answering.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Shared>);

#[derive(Default)]
struct Shared {
    scopes: Mutex<HashSet<[u8; 32]>>,
    /// Wakes those who wait whenever a request ends.
    ended: Notify,
}

/// Marks a request as running until it is dropped.
pub struct RunningGuard {
    running: Running,
    scope: [u8; 32],
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.running.0.scopes.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.scope);
        self.running.0.ended.notify_waiters();
    }
}

impl Running {
    /// Marks the request of that scope as running; `None` if it is already running.
    pub(crate) fn begin(&self, scope: [u8; 32]) -> Option<RunningGuard> {
        let fresh = self.0.scopes.lock().unwrap_or_else(PoisonError::into_inner).insert(scope);
        fresh.then(|| RunningGuard { running: self.clone(), scope })
    }

    /// Marks the request of that scope as running, after an equal one that is running has ended.
    pub(crate) async fn begin_after(&self, scope: [u8; 32]) -> RunningGuard {
        loop {
            // A future of `notified` sees every end after its creation, so none is missed before it is awaited.
            let ended = self.0.ended.notified();
            if let Some(guard) = self.begin(scope) {
                return guard;
            }
            ended.await;
        }
    }
}

#[cfg(test)]
mod tests {
    //! Which of two equal requests runs.

    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn an_equal_request_waits_until_the_first_has_ended() {
        let running = Running::default();
        let first = running.begin([1; 32]).unwrap();
        assert!(running.begin([1; 32]).is_none());
        let mut second = Box::pin(running.begin_after([1; 32]));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(running.begin_after([2; 32]).now_or_never().is_some(), "another request does not wait");
        assert!(second.as_mut().now_or_never().is_none(), "the end of another request is not its turn");
        drop(first);
        assert!(second.as_mut().now_or_never().is_some());
    }
}
