//! Random histories of events, holds, series and proposals, replayed on the service and on a plain model of its rules.
//!
//! A [`History`] is what a few callers do on four calendars within a few hours: they book, hold, confirm, release,
//! move, patch, split, propose and delete, sometimes things that have ended already. Time passes in between, and
//! sometimes stops exactly at the expiry of a hold. [`check`] replays histories on the use cases of two nodes over one
//! store. After every operation it compares everything: the outcome, what is returned, listed and busy, and the messages. Some
//! operations are overtaken by another one, so that what they have read is stale by the time they write.
//!
//! The model is a plain list that is searched from start to end. It shares no code with the rules of the service.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this is a test and fails by panicking"
)]

mod history;
mod model;
mod offers;
mod replay;
mod service;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestCaseError, TestError, TestRunner},
};

pub use self::history::{History, Operation, Pass, Pick, Status, Time, histories};
use crate::{conformance::StoreUnderTest, fixtures::Fixtures};

/// The environment variable with the number of histories.
const VARIABLE: &str = "KALENDS_HISTORIES";
/// How many attempts are made to simplify a failing history.
const SHRINKS: u32 = 4_000;

/// How many histories to replay: the value of `KALENDS_HISTORIES`, or else `usual`.
///
/// # Panics
/// If the variable is not a number.
#[expect(clippy::disallowed_methods, reason = "the person who runs the tests sets it this way")]
pub fn count(usual: u32) -> u32 {
    std::env::var(VARIABLE).map_or(usual, |text| text.parse().expect("KALENDS_HISTORIES is a number"))
}

/// The store that each history is replayed on. Each history has an organization of its own in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// A new store for each history: for stores that are quick to create, and slow down as they fill.
    OneEach,
    /// One store for all histories.
    OneForAll,
}

/// Replays `count` random histories on the stores that `empty_store` makes.
///
/// # Panics
/// If a history differs from the model. The message shows the simplest such history that was found.
pub fn check(count: u32, stores: Stores, empty_store: impl AsyncFn() -> StoreUnderTest) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    // Stores drop their connections in the context of the runtime.
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
    for history in history::once_wrong() {
        if let Err(what) = replay(&history) {
            panic!("{what}\n\nthe history, which has failed before:{history:?}");
        }
    }
    let config = Config { cases: count, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    let held =
        TestRunner::new(config).run(&histories().boxed(), |history| replay(&history).map_err(TestCaseError::fail));
    match held {
        Ok(()) => {}
        Err(TestError::Fail(_, history)) => {
            // Operations after the difference do not matter.
            let beginnings = (1..=history.0.len()).map(|count| History(history.0[..count].to_vec()));
            for history in beginnings {
                if let Err(what) = replay(&history) {
                    panic!("{what}\n\nthe history:{history:?}");
                }
            }
            panic!("the history differed at first, but not when replayed:{history:?}");
        }
        Err(TestError::Abort(why)) => panic!("no histories were generated: {why}"),
    }
}
