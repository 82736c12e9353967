//! Streams of changes, with time that passes at once.

use http::StatusCode;
use http_body_util::BodyExt as _;
use kalends_accounts::Change;
use kalends_app::{ChangeSet, ports::Commit as _};
use kalends_plans::Plan;
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures},
};

use super::{app, ask, reading};

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_key_is_revoked_although_nothing_changes() {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
    let org = organization.id;
    let key = make.key(org);
    store.commit(ChangeSet::new(org).create(&organization).create(&key.key)).await.unwrap();
    let service = crate::router(app(&store, &make), None);
    let request = reading("/v1/changes").header("accept", "text/event-stream");
    let response = ask(&service, request.header("authorization", format!("Bearer {}", key.text))).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut parts = response.into_body();
    for _ in 0..2 {
        let part = parts.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(part.starts_with(b"id: "), "{part:?}");
    }
    let mut changes = ChangeSet::new(org);
    changes.accounts.push(Change::RevokeKey { org, key: key.key.id, at: make.tick() });
    store.commit(changes).await.unwrap();
    assert!(parts.frame().await.is_none());
}
