//! Lends the connections of a pool without testing each one when it is returned.
//!
//! The pool of sqlx pings each returned connection, which is a second round trip for every statement. A [`WarmPool`]
//! sits in front of the pool. If the work on a connection succeeded ([`WarmConnection::keep`]), the connection rests
//! here and is lent again as it is. After an error, or if the caller was dropped half-way, the connection goes back
//! to the pool, which tests or closes it.
//!
//! A reference to a [`WarmPool`] executes single statements, as a reference to a sqlx pool does.

mod executor;
mod rows;

use std::{
    collections::VecDeque,
    fmt,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

pub use rows::{RowsWithin, rows_within, sealed_weight};
use sqlx::{Connection as _, Database, Error, Pool, pool::PoolConnection};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout_at},
};

/// A connection that rested longer than this is pinged before it is lent. So a restart of the database server costs
/// at most the requests of this last second.
const TRUSTED_REST: Duration = Duration::from_secs(1);
/// A connection that rested longer than this, or was acquired from the pool longer ago than this, goes back to the
/// pool. The pool closes connections that are idle or too old.
const REST_MAX: Duration = Duration::from_secs(60);

/// Lends the connections of a pool, most recently returned first. Clones share the connections.
pub struct WarmPool<DB: Database>(Arc<Inner<DB>>);

struct Inner<DB: Database> {
    pool: Pool<DB>,
    /// One permit for each connection of the pool.
    places: Semaphore,
    /// The longest time to wait for a permit and a connection together.
    patience: Duration,
    /// The connections that are not lent, the most recently returned one at the back; `None` once closed.
    resting: Mutex<Option<VecDeque<Resting<DB>>>>,
}

struct Resting<DB: Database> {
    connection: PoolConnection<DB>,
    /// When the pool handed it out.
    acquired: Instant,
    since: Instant,
}

/// A connection while it is lent.
pub struct WarmConnection<'a, DB: Database> {
    connection: PoolConnection<DB>,
    acquired: Instant,
    inner: &'a Inner<DB>,
    _place: SemaphorePermit<'a>,
}

impl<DB: Database> WarmPool<DB> {
    /// Takes over `pool`. Do not acquire from `pool` directly afterwards: that could wait for a connection that rests
    /// here.
    pub fn new(pool: Pool<DB>) -> Self {
        let patience = pool.options().get_acquire_timeout();
        let places = usize::try_from(pool.options().get_max_connections()).unwrap_or(usize::MAX);
        let places = Semaphore::new(places.min(Semaphore::MAX_PERMITS));
        Self(Arc::new(Inner { pool, places, patience, resting: Mutex::new(Some(VecDeque::new())) }))
    }

    /// Lends a connection. Call [`WarmConnection::keep`] once its work succeeded.
    ///
    /// # Errors
    /// The errors of the pool; [`Error::PoolTimedOut`] if no connection became free within the pool's acquire
    /// timeout.
    pub async fn acquire(&self) -> Result<WarmConnection<'_, DB>, Error> {
        let inner = &*self.0;
        // One deadline for both waits: a caller that waited for a permit must not wait as long again for a
        // connection.
        let deadline = Instant::now() + inner.patience;
        let place = timeout_at(deadline, inner.places.acquire()).await.map_err(|_| Error::PoolTimedOut)?;
        let place = place.map_err(|_| Error::PoolClosed)?;
        while let Some(mut rested) = inner.last_returned() {
            // A connection that does not answer is dropped here, and the pool closes it.
            let trusted = rested.since.elapsed() <= TRUSTED_REST;
            let answers = trusted
                || timeout_at(deadline, rested.connection.ping()).await.map_err(|_| Error::PoolTimedOut)?.is_ok();
            if answers {
                let Resting { connection, acquired, .. } = rested;
                return Ok(WarmConnection { connection, acquired, inner, _place: place });
            }
        }
        let connection = timeout_at(deadline, inner.pool.acquire()).await.map_err(|_| Error::PoolTimedOut)??;
        Ok(WarmConnection { connection, acquired: Instant::now(), inner, _place: place })
    }

    /// Gives the resting connections back to the pool, waits for the lent ones and closes them all. Later calls to
    /// [`acquire`](Self::acquire) return [`Error::PoolClosed`].
    pub async fn close(&self) {
        self.0.places.close();
        let resting = self.0.resting().take();
        drop(resting);
        self.0.pool.close().await;
    }
}

impl<DB: Database> Inner<DB> {
    fn resting(&self) -> MutexGuard<'_, Option<VecDeque<Resting<DB>>>> {
        // A panic while the lock was held left nothing half-changed.
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_returned(&self) -> Option<Resting<DB>> {
        self.resting().as_mut()?.pop_back()
    }
}

impl<DB: Database> WarmConnection<'_, DB> {
    /// Gives the connection back to be lent again as it is. Its work must have succeeded, and nothing may be in
    /// progress on it, in particular no transaction.
    pub fn keep(self) {
        let Self { connection, acquired, inner, _place: place } = self;
        let now = Instant::now();
        if let Some(resting) = inner.resting().as_mut() {
            if now - acquired <= REST_MAX {
                resting.push_back(Resting { connection, acquired, since: now });
            }
            // The front is the oldest.
            if resting.front().is_some_and(|first| now - first.since > REST_MAX) {
                resting.pop_front();
            }
        }
        drop(place);
    }
}

impl<DB: Database> Deref for WarmConnection<'_, DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        &self.connection
    }
}

impl<DB: Database> DerefMut for WarmConnection<'_, DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        &mut self.connection
    }
}

impl<DB: Database> Clone for WarmPool<DB> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<DB: Database> fmt::Debug for WarmPool<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WarmPool").field("pool", &self.0.pool).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection as _, Sqlite, sqlite::SqlitePoolOptions};

    use super::*;

    /// A pool with that many connections, each to an empty database. A temporary table shows which connection it is.
    fn warm_pool(connections: u32) -> WarmPool<Sqlite> {
        patient(connections, Duration::from_secs(30))
    }

    fn patient(connections: u32, patience: Duration) -> WarmPool<Sqlite> {
        let options = SqlitePoolOptions::new().max_connections(connections).acquire_timeout(patience);
        WarmPool::new(options.connect_lazy("sqlite::memory:").unwrap())
    }

    async fn marked(connection: &mut sqlx::SqliteConnection) -> bool {
        let marks = "select count(*) from sqlite_temp_schema where name = 'mark'";
        sqlx::query_scalar::<_, i64>(marks).fetch_one(connection).await.unwrap() > 0
    }

    #[tokio::test]
    async fn a_kept_connection_is_lent_again() {
        let pool = warm_pool(2);
        let mut lent = pool.acquire().await.unwrap();
        sqlx::query("create temp table mark (id)").execute(&mut *lent).await.unwrap();
        lent.keep();
        let (mut first, mut second) = (pool.acquire().await.unwrap(), pool.acquire().await.unwrap());
        assert!(marked(&mut first).await && !marked(&mut second).await);
        second.keep();
        first.keep();
        assert!(marked(&mut pool.acquire().await.unwrap()).await, "the most recently returned connection comes first");
    }

    #[tokio::test]
    async fn statements_on_the_pool_keep_their_connection() {
        let pool = warm_pool(1);
        sqlx::query("create table mark (id)").execute(&pool).await.unwrap();
        for id in 0..3 {
            sqlx::query("insert into mark values (?)").bind(id).execute(&pool).await.unwrap();
        }
        let ids: Vec<i64> = sqlx::query_scalar("select id from mark order by id").fetch_all(&pool).await.unwrap();
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!(sqlx::query("select 1 where false").fetch_optional(&pool).await.unwrap().map(|_| ()), None);
        assert!(pool.0.resting().as_ref().is_some_and(|resting| resting.len() == 1));
    }

    #[tokio::test]
    async fn after_an_error_the_connection_goes_back_to_the_pool() {
        let pool = warm_pool(1);
        sqlx::query("no such statement").execute(&pool).await.unwrap_err();
        assert!(pool.0.resting().as_ref().is_some_and(VecDeque::is_empty));
        sqlx::query("select 1").execute(&pool).await.unwrap();
    }

    #[tokio::test]
    async fn a_dropped_transaction_leaves_nothing() {
        let pool = warm_pool(1);
        sqlx::query("create table mark (id)").execute(&pool).await.unwrap();
        {
            let mut lent = pool.acquire().await.unwrap();
            let mut transaction = lent.begin().await.unwrap();
            sqlx::query("insert into mark values (1)").execute(&mut *transaction).await.unwrap();
        }
        let mut lent = pool.acquire().await.unwrap();
        let mut transaction = lent.begin().await.unwrap();
        let left: i64 = sqlx::query_scalar("select count(*) from mark").fetch_one(&mut *transaction).await.unwrap();
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn a_caller_that_finds_no_free_connection_waits_and_times_out() {
        let pool = patient(1, Duration::from_millis(200));
        let lent = pool.acquire().await.unwrap();
        assert!(matches!(pool.acquire().await.map(|_| ()), Err(Error::PoolTimedOut)));
        lent.keep();
        pool.acquire().await.unwrap();
    }

    #[tokio::test]
    async fn closing_the_pool_waits_for_lent_connections() {
        let pool = warm_pool(2);
        sqlx::query("select 1").execute(&pool).await.unwrap();
        let lent = pool.acquire().await.unwrap();
        let closing = tokio::spawn({
            let pool = pool.clone();
            async move { pool.close().await }
        });
        while pool.0.resting().is_some() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(pool.acquire().await.map(|_| ()), Err(Error::PoolClosed)));
        lent.keep();
        closing.await.unwrap();
    }
}
