//! The purge of imported events while another statement deletes rows.

use kalends_app::{ChangeSet, ports::Commit as _};
use kalends_calendars::{Event, EventSource};
use kalends_testkit::fixtures::Compose as _;
use kalends_time::Timestamp;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use crate::{plans::statements, scratch::Scratch};

/// Between the search and the deletion, an account may be deleted, and other events may reuse its rowids.
#[tokio::test]
async fn a_row_that_reuses_a_rowid_is_not_purged() {
    let scratch = Scratch::new().await;
    let store = scratch.store();
    let calendar = scratch.calendar(&store).await;
    let imported = || Event { source: EventSource::ExternalIcal, ..scratch.event(&calendar) };
    let (kept, gone, native) = (imported(), imported(), scratch.event(&calendar));
    for event in [&kept, &gone, &native] {
        store.commit(ChangeSet::new(event.org).create(event)).await.unwrap();
    }
    for event in [&gone, &native] {
        let deleted = event.gone(scratch.make.tick());
        store.commit(ChangeSet::new(event.org).update(&deleted, event.version)).await.unwrap();
    }
    let mut plain = scratch.plain().await;
    let ids = |rows: Vec<sqlx::sqlite::SqliteRow>| rows.iter().map(|row| row.get::<Vec<u8>, _>(0)).collect::<Vec<_>>();
    let rows = sqlx::query("select json_group_array(rowid) from events").fetch_one(&mut plain).await.unwrap();
    let rows: String = rows.get(0);
    let mut deletions = statements();
    deletions.retain(|statement| statement.starts_with("delete from events where rowid in (select value"));
    let [deletion] = deletions.as_slice() else { panic!("{} statements purge", deletions.len()) };
    let purge = async |plain: &mut SqliteConnection, before: Timestamp| {
        let deletion = sqlx::query(AssertSqlSafe(deletion.clone())).bind(rows.clone()).bind(before.as_micros());
        deletion.execute(plain).await.unwrap().rows_affected()
    };
    assert_eq!(purge(&mut plain, gone.updated_at).await, 0, "nothing was deleted by then");
    assert_eq!(purge(&mut plain, scratch.make.tick()).await, 1);
    let left = sqlx::query("select id from events order by id").fetch_all(&mut plain).await.unwrap();
    assert_eq!(ids(left), [kept, native].map(|event| event.id.uuid().as_bytes().to_vec()));
}
