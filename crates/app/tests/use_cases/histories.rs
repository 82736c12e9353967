//! Random histories of bookings and holds, compared with a simple model, on the in-memory store.

use std::sync::Arc;

use kalends_testkit::{
    MemoryStore,
    conformance::StoreUnderTest,
    histories::{Stores, check, count},
};

async fn empty_store() -> StoreUnderTest {
    let store = MemoryStore::new();
    StoreUnderTest { store: Arc::new(store.clone()), inspect: Arc::new(store), guard: Box::new(()) }
}

/// Runs half of the histories. The other half runs in parallel.
fn half() {
    check(count(500).div_ceil(2), Stores::OneEach, empty_store);
}

#[test]
fn histories_are_as_the_model_says() {
    half();
}

#[test]
fn other_histories_are_as_the_model_says() {
    half();
}
