//! Lends the connections of a pool without a test at every return.
//!
//! The pool of sqlx asks each connection that is given back whether it still works, which is a second
//! round trip for every statement. A [`Lender`] stands before the pool: a connection whose work went
//! well ([`Lent::keep`]) rests here and is lent again as it is; any other one, after an error or with a
//! caller that was dropped half-way, goes back to the pool, which tests it or closes it.
//!
//! A reference to a lender executes single statements, as a reference to a pool does.

mod executor;

use std::{
    collections::VecDeque,
    fmt,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sqlx::{Connection as _, Database, Error, Pool, pool::PoolConnection};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

/// A connection that rested longer is tried before it is lent: a server that was restarted meanwhile
/// costs at most the requests of this last moment.
const TRUSTED_REST: Duration = Duration::from_secs(1);
/// A connection that rested longer goes back to the pool, and so does one that has been away from it
/// for so long: the pool closes what is idle or too old.
const REST_MAX: Duration = Duration::from_secs(60);

/// Lends the connections of a pool, the last returned first. Clones share them.
pub struct Lender<DB: Database>(Arc<Inner<DB>>);

struct Inner<DB: Database> {
    pool: Pool<DB>,
    /// As many as the pool has connections.
    places: Semaphore,
    /// How long anybody waits for a place.
    patience: Duration,
    /// What nobody uses at present, the last returned at the back; `None` once closed.
    resting: Mutex<Option<VecDeque<Resting<DB>>>>,
}

struct Resting<DB: Database> {
    connection: PoolConnection<DB>,
    /// When the pool gave it out.
    acquired: Instant,
    since: Instant,
}

/// A connection while it is lent.
pub struct Lent<'a, DB: Database> {
    connection: PoolConnection<DB>,
    acquired: Instant,
    lender: &'a Inner<DB>,
    _place: SemaphorePermit<'a>,
}

impl<DB: Database> Lender<DB> {
    /// Takes over `pool`: whoever asked it directly from now on could wait for what rests here.
    pub fn new(pool: Pool<DB>) -> Self {
        let patience = pool.options().get_acquire_timeout();
        let places = usize::try_from(pool.options().get_max_connections()).unwrap_or(usize::MAX);
        let places = Semaphore::new(places.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Inner { pool, places, patience, resting: Mutex::new(Some(VecDeque::new())) }))
    }

    /// A connection, of which [`Lent::keep`] should be said once its work went well.
    ///
    /// # Errors
    /// Those of the pool; [`Error::PoolTimedOut`] where none became free in the pool's own time.
    pub async fn lend(&self) -> Result<Lent<'_, DB>, Error> {
        let lender = &*self.0;
        let place = timeout(lender.patience, lender.places.acquire()).await.map_err(|_| Error::PoolTimedOut)?;
        let place = place.map_err(|_| Error::PoolClosed)?;
        while let Some(mut rested) = lender.last_returned() {
            // One that does not answer is dropped here, and the pool closes it.
            if rested.since.elapsed() <= TRUSTED_REST || rested.connection.ping().await.is_ok() {
                let Resting { connection, acquired, .. } = rested;
                return Ok(Lent { connection, acquired, lender, _place: place });
            }
        }
        let connection = lender.pool.acquire().await?;
        Ok(Lent { connection, acquired: Instant::now(), lender, _place: place })
    }

    /// Gives everything back to the pool, waits for what is lent and closes it all. Whoever comes
    /// later is told that it is closed.
    pub async fn close(&self) {
        self.0.places.close();
        let resting = self.0.resting().take();
        drop(resting);
        self.0.pool.close().await;
    }
}

impl<DB: Database> Inner<DB> {
    fn resting(&self) -> MutexGuard<'_, Option<VecDeque<Resting<DB>>>> {
        // Whoever panicked while holding it changed nothing half-way.
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_returned(&self) -> Option<Resting<DB>> {
        self.resting().as_mut()?.pop_back()
    }
}

impl<DB: Database> Lent<'_, DB> {
    /// Gives the connection back to be lent again as it is: its work went well, and nothing is under
    /// way on it, no transaction either.
    pub fn keep(self) {
        let Self { connection, acquired, lender, _place: place } = self;
        let now = Instant::now();
        if let Some(resting) = lender.resting().as_mut() {
            if now - acquired <= REST_MAX {
                resting.push_back(Resting { connection, acquired, since: now });
            }
            // The others are fresher than the front.
            if resting.front().is_some_and(|first| now - first.since > REST_MAX) {
                resting.pop_front();
            }
        }
        drop(place);
    }
}

impl<DB: Database> Deref for Lent<'_, DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        &self.connection
    }
}

impl<DB: Database> DerefMut for Lent<'_, DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.connection
    }
}

impl<DB: Database> Clone for Lender<DB> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<DB: Database> fmt::Debug for Lender<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lender").field("pool", &self.0.pool).finish_non_exhaustive()
    }
}
