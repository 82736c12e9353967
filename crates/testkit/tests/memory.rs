//! The reference store passes the suite.

use std::sync::Arc;

use kalends_testkit::{MemoryStore, conformance::StoreUnderTest};

async fn empty_store() -> StoreUnderTest {
    let store = MemoryStore::new();
    StoreUnderTest { store: Arc::new(store.clone()), inspect: Arc::new(store), guard: Box::new(()) }
}

kalends_testkit::conformance_suite!(empty_store);
