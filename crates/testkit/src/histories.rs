//! Random histories of bookings and holds, replayed on the service and on a plain model of what it must do.
//!
//! A [`History`] is what a few callers do on four calendars within a few hours: they book, hold, confirm, release,
//! move, patch and delete, also what has ended already, while time passes and now and then ends exactly where a
//! hold does. [`check`] replays histories on the use cases of two nodes over one store and compares everything
//! after every operation: the outcome, what is shown, listed and busy, and the messages. Some operations are
//! overtaken by another one amidst, so that what was read is stale by the time it is written.
//!
//! The model is a list of things that is looked through; it shares nothing with the rules of the service.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this is a test, and fails by panicking"
)]

mod history;
mod model;
mod replay;
mod service;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestCaseError, TestError, TestRunner},
};

pub use self::history::{History, Operation, Pass, Pick, Status, Time, histories};
use crate::{conformance::StoreUnderTest, fixtures::Fixtures};

/// The variable that says how many histories are replayed.
const VARIABLE: &str = "KALENDS_HISTORIES";
/// How often a history that fails is made simpler.
const SHRINKS: u32 = 4_000;

/// How many histories to replay: what `KALENDS_HISTORIES` says, else `usual`.
///
/// # Panics
/// Where the variable is no number.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says it this way")]
pub fn count(usual: u32) -> u32 {
    std::env::var(VARIABLE).map_or(usual, |text| text.parse().expect("KALENDS_HISTORIES is a number"))
}

/// Which store a history is replayed on. Each has an organization of its own anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// A new one for each history: for stores that are made at once, and slower the fuller they are.
    OneEach,
    /// The same one for all.
    OneForAll,
}

/// Replays `count` random histories on what `empty_store` makes.
///
/// # Panics
/// Where a history differs from the model; the simplest such history that was found is told.
pub fn check(count: u32, stores: Stores, empty_store: impl AsyncFn() -> StoreUnderTest) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    // Stores let go of their connections in its context.
    let _context = runtime.enter();
    let one = (stores == Stores::OneForAll).then(|| runtime.block_on(empty_store()));
    let make = Fixtures::new();
    let replay = |history: &History| {
        runtime.block_on(async {
            match &one {
                Some(store) => replay::replay(store, &make, history).await,
                None => replay::replay(&empty_store().await, &make, history).await,
            }
        })
    };
    let config = Config { cases: count, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    let held =
        TestRunner::new(config).run(&histories().boxed(), |history| replay(&history).map_err(TestCaseError::fail));
    match held {
        Ok(()) => {}
        Err(TestError::Fail(_, history)) => {
            // Nothing that comes after the difference has a part in it.
            let beginnings = (1..=history.0.len()).map(|count| History(history.0[..count].to_vec()));
            for history in beginnings {
                if let Err(what) = replay(&history) {
                    panic!("{what}\n\nthe history:{history:?}");
                }
            }
            panic!("this differed, but does not any more:{history:?}");
        }
        Err(TestError::Abort(why)) => panic!("no histories: {why}"),
    }
}
