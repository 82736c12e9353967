//! A server that goes away and comes back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kalends_app::ChangeSet;
use kalends_app::ports::{Commit as _, CommitError, Readiness as _};
use kalends_kernel::StoreError;
use kalends_postgres::{Database, PostgresStore};
use kalends_testkit::TestCipher;
use kalends_testkit::fixtures::{Compose as _, Fixtures, span};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::server::Scratch;

/// A proxy to the server that can be cut.
struct Line {
    address: SocketAddr,
    server: String,
    carrying: JoinHandle<()>,
}

impl Line {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { address, carrying: Self::carry(listener, server.clone()), server }
    }

    fn carry(listener: TcpListener, server: String) -> JoinHandle<()> {
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                let mut far = TcpStream::connect(&server).await.unwrap();
                connections.spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
            }
        })
    }

    /// Cuts all connections, and refuses new ones.
    async fn cut(&mut self) {
        self.carrying.abort();
        let _ = (&mut self.carrying).await;
    }

    async fn reconnect(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.carrying = Self::carry(listener, self.server.clone());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_outage_is_reported_soon_and_survived() {
    let scratch = Scratch::migrated().await;
    let options = &scratch.options;
    let mut line = Line::to(format!("{}:{}", options.get_host(), options.get_port())).await;
    let url = format!("postgres://{}@{}/{}", options.get_username(), line.address, options.get_database().unwrap());
    let store = PostgresStore::new(Database::open(&url, 4).await.unwrap(), Arc::new(TestCipher::default()));
    let make = Fixtures::new();
    let organization = make.organization();
    let org = organization.id;
    let calendar = make.shared_calendar(org);
    store.commit(ChangeSet::new(org).create(&organization).create(&calendar)).await.unwrap();
    let addition =
        || ChangeSet::new(org).create(&make.event(&calendar, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")));
    store.commit(addition()).await.unwrap();

    line.cut().await;
    let began = Instant::now();
    let (ready, queued, own, opened) = tokio::join!(
        store.ready(),
        store.commit(addition()),
        store.commit(ChangeSet::new(org).create(&make.agent(org))),
        Database::open(&url, 4),
    );
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(matches!(ready, Err(StoreError::Unavailable(_))), "{ready:?}");
    for outcome in [queued, own] {
        assert!(matches!(outcome, Err(CommitError::Store(StoreError::Unavailable(_)))), "{outcome:?}");
    }
    assert!(matches!(opened, Err(StoreError::Unavailable(_))));

    line.reconnect().await;
    store.ready().await.unwrap();
    store.commit(addition()).await.unwrap();
    store.commit(ChangeSet::new(org).create(&make.agent(org))).await.unwrap();
}

#[tokio::test]
async fn a_wrong_address_is_not_an_outage() {
    assert!(matches!(Database::open("postgres://:not-a-port", 4).await, Err(StoreError::Failed(_))));
    let scratch = Scratch::empty().await;
    let nowhere = scratch.options.clone().database("kalends_no_such_database");
    let url = sqlx::ConnectOptions::to_url_lossy(&nowhere).to_string();
    assert!(matches!(Database::open(&url, 4).await, Err(StoreError::Failed(_))));
}
