//! Looking up a subscription by address, on a calendar with many subscriptions.

use kalends_app::ports::{FieldCipher as _, Place};
use kalends_feeds::ports::Subscriptions as _;
use kalends_feeds::{Confidential, LEFT_MAX, Neighbour, NewSubscription, Placement, Subscription};
use kalends_kernel::AgentId;
use kalends_remote::RemoteUrl;
use sqlx::ConnectOptions as _;

use crate::server::Bench;

const INSERTION: &str =
    "INSERT INTO ical_subscriptions (org_id, id, agent_id, calendar_id, content, host, paused, fence, failures, seen,
         version, created_at, updated_at, place, remains)
     SELECT $1, row.id, $2, $3, row.content, row.host, FALSE, 0, 0, '', 1, 0, 0, row.place,
         CASE WHEN row.place > 1 THEN 'kept' END
     FROM unnest($4::uuid[], $5::text[], $6::bytea[], $7::bigint[]) AS row (id, content, host, place)";

/// The calendar has more deleted subscriptions of the host than a store looks through, all newer than the live one.
/// Subscriptions of other hosts and items of syncs are not opened.
#[tokio::test]
async fn a_subscription_is_found_among_any_number_of_deleted_ones() {
    let bench = Bench::set().await;
    let (store, make) = (&bench.store, &bench.make);
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
    let mut rows = vec![live.clone()];
    for place in 2..=i64::from(LEFT_MAX) + 2 {
        rows.push(of("https://a.example/left.ics", place));
    }
    let seal = |row: &Subscription| {
        let place = Place { table: "ical_subscriptions", column: "content", id: row.id.uuid() };
        bench.cipher.seal(place, &Confidential::write(row))
    };
    let mut contents: Vec<String> = rows.iter().map(seal).collect();
    let last = i64::from(LEFT_MAX) + 3;
    rows.push(of("https://b.example/", last));
    contents.push("unreadable".to_owned());
    let mut plain = bench.scratch.options.connect().await.unwrap();
    sqlx::query(INSERTION)
        .bind(organization.id.uuid())
        .bind(agent.uuid())
        .bind(calendar.id.uuid())
        .bind(rows.iter().map(|row| row.id.uuid()).collect::<Vec<_>>())
        .bind(contents)
        .bind(rows.iter().map(|row| row.host().0.to_vec()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.place).collect::<Vec<_>>())
        .execute(&mut plain)
        .await
        .unwrap();
    let found = store.subscription_neighbours(organization.id, calendar.id, &live.url).await.unwrap();
    let expected = Neighbour { id: live.id, origin: live.id, place: 1, left: false };
    assert_eq!((found.last, found.same), (last, vec![expected]));
}
