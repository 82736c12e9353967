//! Limits the concurrent exchanges with one destination.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Host and port.
type Destination = (String, u16);

/// One lane for each destination in use. Other destinations take no memory.
pub(crate) struct Lanes {
    width: usize,
    open: Mutex<HashMap<Destination, Arc<Semaphore>>>,
}

impl Lanes {
    pub(crate) fn new(width: NonZeroUsize) -> Arc<Self> {
        Arc::new(Self { width: width.get().min(Semaphore::MAX_PERMITS), open: Mutex::default() })
    }

    /// Waits for a seat, first come, first served. Cancelling the wait is safe.
    pub(crate) async fn enter(self: &Arc<Self>, (host, port): (&str, u16)) -> Seat {
        let destination = (host.to_owned(), port);
        let lane = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(open.entry(destination.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.width))))
        };
        let mut seat = Seat { lanes: Arc::clone(self), destination, lane: Some(lane), permit: None };
        // The semaphores are never closed.
        seat.permit = match &seat.lane {
            Some(lane) => Arc::clone(lane).acquire_owned().await.ok(),
            None => None,
        };
        seat
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap().len()
    }
}

/// A place in a lane or in its queue, released on drop.
pub(crate) struct Seat {
    lanes: Arc<Lanes>,
    destination: Destination,
    lane: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.lanes.open.lock().unwrap_or_else(PoisonError::into_inner);
        self.permit = None;
        self.lane = None;
        // The table holds the last reference, so the lane is empty. Nobody can enter it while the table is locked.
        if open.get(&self.destination).is_some_and(|lane| Arc::strong_count(lane) == 1) {
            open.remove(&self.destination);
        }
    }
}
