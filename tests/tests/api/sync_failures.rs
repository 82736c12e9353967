//! Syncs that fail: each failure is reported and changes no event.

use crate::on_both;
use kalends_e2e::{Database, FeedServer, Server, Serving};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent, calendar_of},
    subscriber::{Subscriber, meeting, meetings, vcalendar},
};

/// Every answer that is not a valid feed, and a part of the error for it.
fn bad(feeds: &FeedServer) -> Vec<(Serving, &'static str)> {
    let one = vcalendar(&meetings("z", 1));
    let many: Vec<_> = (0..=20_000).map(|number| meeting(&format!("{number}"), "z", 3, 9)).collect();
    let private = |to: &str| Serving::Redirect(to.to_owned());
    // Four redirects in a row.
    for number in 1..4 {
        feeds.serve(&format!("/{number}"), Serving::Redirect(format!("/{}", number + 1)));
    }
    feeds.serve("/4", Serving::calendar(&one));
    let redirects = "that the server redirects to";
    vec![
        (Serving::Status(500), "answered 500"),
        (Serving::Status(404), "answered 404"),
        (Serving::Status(401), "answered 401"),
        (Serving::page("<!doctype html><title>Sign in</title>"), "web page (HTML)"),
        (Serving::calendar(""), "empty"),
        (Serving::calendar("Hello"), "not iCalendar"),
        (Serving::calendar(one.replace("END:VCALENDAR\r\n", "")), "cut short"),
        (Serving::calendar(&one[..one.len() / 2]), "cut short"),
        (Serving::BreaksOff(one[..one.len() / 2].to_owned()), "ended too early"),
        (Serving::BreaksOff(one.clone()), "ended too early"),
        (Serving::calendar(format!("{one}{}", " ".repeat(10 << 20))), "longer than 10485760 bytes"),
        (Serving::Endless, "longer than 10485760 bytes"),
        (Serving::bomb(), "longer than 10485760 bytes"),
        (Serving::calendar(vcalendar(&many)), "more than 20000 events"),
        (private("/1"), "redirects more than 3 times"),
        (private("https://10.0.0.1/a.ics"), redirects),
        (private("https://169.254.169.254/latest/meta-data"), redirects),
        (private("https://localhost/a.ics"), redirects),
        (private("http://example.com/a.ics"), redirects),
        (private("file:///etc/passwd"), redirects),
    ]
}

#[apply(on_both)]
#[tokio::test]
async fn a_failed_sync_is_reported_and_changes_no_event(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let good = || Serving::calendar(vcalendar(&meetings("a", 5))).tagged("\"good\"");
    let path = it.subscribed("/a.ics", good()).await;
    let (events, place) = (it.events().await, it.place().await);
    for (serving, reason) in bad(&it.feeds) {
        let before = it.api.get(&path).await.expect(200);
        assert_eq!(before["status"], "active");
        it.feeds.serve("/a.ics", serving);
        it.api.post(format!("{path}/sync")).await.expect(202);
        let failed = it.until(&path, reason, |read| read["status"] == "error").await;
        let last_error = failed["last_error"].as_str().unwrap_or_default();
        assert!(last_error.contains(reason), "{reason}: {last_error}");
        for field in ["last_synced_at", "last_sync", "updated_at"] {
            assert_eq!(failed[field], before[field], "{field}: {reason}");
        }
        assert_eq!(it.events().await, events, "{reason}");
        // A good answer ends the error. The request is conditional, and the feed has not changed.
        it.feeds.serve("/a.ics", good());
        let read = it.synced(&path).await;
        assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null), "{reason}");
        let last = it.feeds.requests("/a.ics").pop().unwrap();
        assert_eq!((last.header("if-none-match"), last.answered), ("\"good\"", 304), "{reason}");
    }
    assert_eq!(it.events().await, events);
    assert_eq!(it.changed_since(&place).await, [] as [Value; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn three_redirects_are_followed(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    it.feeds.serve("/1", Serving::Redirect("/2".to_owned()));
    it.feeds.serve("/2", Serving::Redirect(it.feeds.url("/3")));
    it.feeds.serve("/3", Serving::calendar(vcalendar(&meetings("a", 2))).tagged("\"x\""));
    let path = it.subscribed("/a.ics", Serving::Redirect("/1".to_owned())).await;
    assert_eq!(it.titles().await, ["a1", "a2"]);
    let read = it.synced(&path).await;
    assert_eq!(read["url"], it.feeds.url("/a.ics"), "the subscription keeps its own address");
    let last = it.feeds.requests("/3").pop().unwrap();
    assert_eq!((last.header("if-none-match"), last.answered), ("\"x\"", 304));
}

/// Nobody listens at one address, and the other one is no longer allowed.
#[apply(on_both)]
#[tokio::test]
async fn unreachable_addresses_are_reported(#[case] database: Database) {
    let feeds = FeedServer::start().await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let allowed = format!("{},{nobody}", feeds.address());
    let mut server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", &allowed)]).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let agent = agent(&api).await;
    let calendar = calendar_of(&api, &agent).await;
    let it = Subscriber { server, api, feeds, agent, calendar };
    // On the first sync.
    let made = it.subscribe_to(&format!("http://{nobody}/a.ics")).await.expect(201);
    let first = format!("/v1/ical-subscriptions/{}", made.id());
    let failed = it.until(&first, "in error", |read| read["status"] == "error").await;
    assert_eq!((&failed["last_synced_at"], &failed["last_sync"]), (&Value::Null, &Value::Null));
    assert!(failed["last_error"].as_str().unwrap().contains("cannot connect to the server"), "{}", failed.describe());
    it.feeds.serve("/a.ics", Serving::calendar(vcalendar(&meetings("a", 2))));
    it.api.patch(&first).json(json!({ "url": it.feeds.url("/a.ics") })).await.expect(200);
    it.until(&first, "synced", |read| read["status"] == "active" && read["last_sync"]["created"] == 2).await;
    // After a successful sync.
    it.api.patch(&first).json(json!({ "url": format!("http://{nobody}/b.ics") })).await.expect(200);
    it.until(&first, "in error", |read| read["status"] == "error").await;
    assert_eq!(it.titles().await, ["a1", "a2"]);
    it.api.patch(&first).json(json!({ "url": it.feeds.url("/a.ics") })).await.expect(200);
    it.until(&first, "synced", |read| read["last_sync"]["untouched"] == 2).await;

    // The operator's current list applies to each fetch.
    let Subscriber { server: running, feeds, agent, calendar, .. } = it;
    server = running;
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_EGRESS_ALLOW", &nobody)]).await;
    let requests_before = feeds.count("/a.ics");
    let it = Subscriber { api: server.api(&org), server, feeds, agent, calendar };
    it.api.post(format!("{first}/sync")).await.expect(202);
    let failed = it.until(&first, "in error", |read| read["status"] == "error").await;
    assert!(failed["last_error"].is_string(), "{}", failed.describe());
    assert_eq!(
        (it.feeds.count("/a.ics"), it.titles().await.len()),
        (requests_before, 2),
        "the server was not contacted"
    );
}
