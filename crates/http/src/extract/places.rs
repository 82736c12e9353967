//! Places for large bodies. They limit the number of large bodies that the process holds at once. An organization has
//! at most one place.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kalends_kernel::OrgId;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{error::ApiError, limits::PLACES};

/// How long an upload waits for a place.
const WAITS: Duration = Duration::from_secs(5);

/// The places of this process.
pub(super) static OF_PROCESS: Places = Places::new(PLACES);

/// Places for large bodies.
pub(super) struct Places {
    free: Semaphore,
    /// The organizations that are sending a large body, or whose body is still held.
    sending: Mutex<BTreeSet<OrgId>>,
}

/// An organization's turn to send a large body. While it lasts, no other upload of the organization gets one.
pub(super) struct Turn {
    places: &'static Places,
    org: OrgId,
}

/// A place for a large body. Keep it for as long as the body.
pub(super) struct Place {
    _turn: Turn,
    _permit: SemaphorePermit<'static>,
}

impl Places {
    /// Creates this many places.
    pub(super) const fn new(places: usize) -> Self {
        Self { free: Semaphore::const_new(places), sending: Mutex::new(BTreeSet::new()) }
    }

    fn sending(&self) -> MutexGuard<'_, BTreeSet<OrgId>> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the turn of an organization.
    ///
    /// # Errors
    /// [`ApiError::Uploading`] if another upload of the organization has the turn.
    pub(super) fn turn(&'static self, org: OrgId) -> Result<Turn, ApiError> {
        if self.sending().insert(org) { Ok(Turn { places: self, org }) } else { Err(ApiError::Uploading) }
    }
}

impl Turn {
    /// Takes a place. If none is free, waits for a short time.
    ///
    /// # Errors
    /// [`ApiError::NoPlace`] if no place becomes free in that time.
    pub(super) async fn place(self) -> Result<Place, ApiError> {
        match timeout(WAITS, self.places.free.acquire()).await {
            Ok(Ok(permit)) => Ok(Place { _turn: self, _permit: permit }),
            // The semaphore is never closed.
            Ok(Err(_)) | Err(_) => Err(ApiError::NoPlace),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.places.sending().remove(&self.org);
    }
}

#[cfg(test)]
mod tests {
    use kalends_testkit::fixtures::Fixtures;
    use tokio::task::yield_now;

    use super::*;

    fn places(count: usize) -> &'static Places {
        Box::leak(Box::new(Places::new(count)))
    }

    fn orgs() -> (OrgId, OrgId) {
        let make = Fixtures::new();
        (make.organization().id, make.organization().id)
    }

    #[tokio::test]
    async fn an_organization_has_one_turn_at_a_time() {
        let (places, (one, other)) = (places(2), orgs());
        let turn = places.turn(one).unwrap();
        assert!(matches!(places.turn(one), Err(ApiError::Uploading)));
        let place = turn.place().await.unwrap();
        assert!(matches!(places.turn(one), Err(ApiError::Uploading)), "its body is still held");
        assert!(places.turn(other).is_ok());
        drop(place);
        assert!(places.turn(one).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_without_a_free_place_is_refused_after_a_wait() {
        let (places, (one, other)) = (places(1), orgs());
        let held = places.turn(one).unwrap().place().await.unwrap();
        assert!(matches!(places.turn(other).unwrap().place().await, Err(ApiError::NoPlace)));
        assert!(places.turn(other).is_ok(), "a refused upload keeps no turn");
        drop(held);
        assert!(places.turn(other).unwrap().place().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_upload_gets_the_next_free_place() {
        let (places, (one, other)) = (places(1), orgs());
        let held = places.turn(one).unwrap().place().await.unwrap();
        let waiting = tokio::spawn(places.turn(other).unwrap().place());
        yield_now().await;
        drop(held);
        assert!(waiting.await.unwrap().is_ok());
    }
}
