//! Tests of the store on SQLite: the suite that every store must pass, and what only this store can get wrong.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking, in their helpers too")]

mod at_rest;
mod batches;
mod connections;
mod corruption;
mod deletion;
mod feed_tokens;
mod files;
mod histories;
mod inspect;
mod keys;
mod neighbours;
mod plans;
mod publishing;
mod purge;
mod scratch;
mod statements;

use std::sync::Arc;

use kalends_testkit::conformance::StoreUnderTest;

use crate::{inspect::SqliteInspect, scratch::Scratch};

async fn empty_store() -> StoreUnderTest {
    let scratch = Scratch::new().await;
    let inspect = SqliteInspect::new(scratch.plain().await, scratch.cipher.clone());
    StoreUnderTest { store: Arc::new(scratch.store()), inspect: Arc::new(inspect), guard: Box::new(scratch) }
}

kalends_testkit::conformance_suite!(empty_store);
