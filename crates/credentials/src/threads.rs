//! Dedicated threads for hashing.
//!
//! The allocator keeps freed memory for each thread. A hash takes 19 MiB, so only a few threads compute hashes: spread
//! over the runtime's threads, ten hashes kept 190 MiB permanently.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. They end when this value is dropped.
pub(crate) struct Threads(Sender<Job>);

/// The work panicked.
#[derive(Debug, thiserror::Error)]
#[error("the work panicked")]
pub(crate) struct Panicked;

impl Threads {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            thread::Builder::new().name("hashes".to_owned()).spawn(move || work(&queue))?;
        }
        Ok(Self(jobs))
    }

    /// Runs work on one of the threads. It runs to completion, even if its result is no longer awaited.
    ///
    /// # Errors
    /// [`Panicked`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let (result, awaited) = oneshot::channel();
        let job = move || {
            // The caller may have stopped waiting.
            let _ = result.send(work());
        };
        self.0.send(Box::new(job)).map_err(|_| Panicked)?;
        awaited.await.map_err(|_| Panicked)
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        // A panic drops the sender of the result, so the caller gets an error. The thread continues.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[tokio::test]
    async fn work_runs_only_on_these_threads() {
        let threads = Arc::new(Threads::start(2).unwrap());
        let all = (0..20).map(|_| {
            let threads = Arc::clone(&threads);
            tokio::spawn(async move { threads.run(|| thread::current().id()).await.unwrap() })
        });
        let mut ids = HashSet::new();
        for one in all.collect::<Vec<_>>() {
            ids.insert(one.await.unwrap());
        }
        assert!((1..=2).contains(&ids.len()), "{ids:?}");
    }

    #[tokio::test]
    async fn a_panic_does_not_end_the_thread() {
        let threads = Threads::start(1).unwrap();
        assert!(threads.run::<()>(|| panic!("of the test")).await.is_err());
        assert_eq!(threads.run(|| 7).await.unwrap(), 7);
    }
}
