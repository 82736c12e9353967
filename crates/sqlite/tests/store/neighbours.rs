//! Looking up a subscription by address, on a calendar with many subscriptions.

use kalends_app::ports::{FieldCipher as _, Place};
use kalends_feeds::{
    Confidential, LEFT_MAX, Neighbour, NewSubscription, Placement, Subscription, ports::Subscriptions as _,
};
use kalends_kernel::AgentId;
use kalends_remote::RemoteUrl;
use sqlx::Connection as _;

use crate::scratch::Scratch;

const INSERTION: &str =
    "insert into ical_subscriptions (org_id, id, agent_id, calendar_id, content, host, paused, fence, failures, seen,
        version, created_at, updated_at, place, remains)
     values (?1, ?2, ?3, ?4, ?5, ?6, false, 0, 0, '', 1, 0, 0, ?7, ?8)";

/// The calendar has more deleted subscriptions of the host than a store looks through, all newer than the live one.
/// Subscriptions of other hosts and items of syncs are not opened.
#[tokio::test]
async fn a_subscription_is_found_among_any_number_of_deleted_ones() {
    let scratch = Scratch::new().await;
    let (store, make) = (scratch.store(), &scratch.make);
    let organization = make.organization();
    let calendar = make.shared_calendar(organization.id);
    let agent = AgentId::new(make.tick(), &make.entropy);
    let of = |address: &str, place| {
        let url = RemoteUrl::from_stored(address).unwrap();
        let new = NewSubscription { url, label: None, busy_only: false };
        let placement = Placement { place, left: None };
        Subscription::create((organization.id, agent, calendar.id), new, placement, make.tick(), &make.entropy)
    };
    let live = of("https://a.example/live.ics", 1);
    let mut rows = vec![(live.clone(), None)];
    for place in 2..=i64::from(LEFT_MAX) + 2 {
        rows.push((of("https://a.example/left.ics", place), Some("kept")));
    }
    let mut plain = scratch.plain().await;
    let mut inserting = plain.begin().await.unwrap();
    let unreadable = of("https://b.example/", rows.last().unwrap().0.place + 1);
    for (row, remains) in rows.iter().chain([&(unreadable.clone(), Some("kept"))]) {
        let place = Place { table: "ical_subscriptions", column: "content", id: row.id.uuid() };
        let sealed = scratch.cipher.seal(place, &Confidential::write(row));
        sqlx::query(INSERTION)
            .bind(row.org.uuid())
            .bind(row.id.uuid())
            .bind(row.agent.uuid())
            .bind(row.calendar.uuid())
            .bind(if row.id == unreadable.id { "unreadable".to_owned() } else { sealed })
            .bind(row.host().0.to_vec())
            .bind(row.place)
            .bind(*remains)
            .execute(&mut *inserting)
            .await
            .unwrap();
    }
    inserting.commit().await.unwrap();
    let found = store.subscription_neighbours(organization.id, calendar.id, &live.url).await.unwrap();
    let expected = Neighbour { id: live.id, origin: live.id, place: 1, left: false };
    assert_eq!((found.last, found.same), (unreadable.place, vec![expected]));
}
