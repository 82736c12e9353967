//! The purge of imported events while another transaction holds rows.

use std::time::Duration;

use kalends_app::ChangeSet;
use kalends_calendars::{Event, EventSource};
use kalends_feeds::ports::ImportedItems as _;
use kalends_testkit::fixtures::{Compose as _, span};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::server::Bench;

/// A test that takes longer is stuck.
const DEADLINE: Duration = Duration::from_secs(60);

/// Rows that another transaction holds are skipped, and left to the next purge. Other events are purged.
#[tokio::test]
async fn a_purge_skips_locked_rows() {
    let bench = Bench::set().await;
    let mut gone = Vec::new();
    for org in [bench.organization().await, bench.organization().await] {
        let calendar = bench.calendar(org).await;
        for _ in 0..2 {
            let time = span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z");
            let event = Event { source: EventSource::ExternalIcal, ..bench.make.event(&calendar, time) };
            bench.commit(ChangeSet::new(org).create(&event)).await;
            bench.commit(ChangeSet::new(org).update(&event.gone(bench.make.tick()), event.version)).await;
            gone.push(event);
        }
    }
    let before = bench.make.tick();
    let mut plain = bench.scratch.options.connect().await.unwrap();
    let mut holding = plain.begin().await.unwrap();
    sqlx::query("SELECT id FROM events WHERE org_id = $1 AND id = $2 FOR UPDATE")
        .bind(gone[0].org.uuid())
        .bind(gone[0].id.uuid())
        .execute(&mut *holding)
        .await
        .unwrap();
    let purge = async || {
        let purging = bench.store.purge_imported_events(before, 10);
        tokio::time::timeout(DEADLINE, purging).await.expect("the purge does not wait").unwrap()
    };
    assert_eq!(purge().await, 3);
    holding.rollback().await.unwrap();
    assert_eq!((purge().await, purge().await), (1, 0));
}
