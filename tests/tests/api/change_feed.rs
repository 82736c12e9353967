//! Programs that follow what changes in their organization.

use crate::on_both;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use kalends_e2e::{Answer, Call, Client, Database, Server, plain_http};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    console::{Human, PASSWORD},
    fixtures::{PATIENCE, agent, agent_with_calendar, event, has_exactly, shared_calendar},
};

pub(crate) const CHANGES: &str = "/v1/changes";
const START: &str = "2027-05-04T09:00:00Z";
const END: &str = "2027-05-04T10:00:00Z";
/// How many tasks write at once, how often each does, and how many read at the same time.
const WRITERS: usize = 32;
const EACH: usize = 4;
const READERS: usize = 20;

/// A request that waits: its answer, and how long it took.
pub(crate) type Waits = JoinHandle<(Answer, Duration)>;

async fn page(api: &Client, since: &str, more: &[(&str, &str)]) -> Answer {
    let query: Vec<(&str, &str)> = [("since", since)].into_iter().chain(more.iter().copied()).collect();
    let answer = api.get(CHANGES).query(&query).await.expect(200);
    has_exactly(&answer.json, &["data", "next", "has_more"]);
    answer
}

/// The present end.
async fn end(api: &Client) -> String {
    let answer = api.get(CHANGES).await.expect(200);
    assert_eq!((&answer["data"], &answer["has_more"]), (&json!([]), &json!(false)));
    next(&answer)
}

fn next(answer: &Answer) -> String {
    answer["next"].as_str().unwrap().to_owned()
}

/// Everything after a token, in pages.
async fn all(api: &Client, since: &str, limit: &str) -> Vec<Value> {
    let (mut since, mut read) = (since.to_owned(), Vec::new());
    loop {
        let answer = page(api, &since, &[("limit", limit)]).await;
        read.extend(answer.data());
        since = next(&answer);
        if answer["has_more"] == false {
            return read;
        }
    }
}

/// The types and the resources of entries.
fn seen(entries: &[Value]) -> Vec<(String, String)> {
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    entries.iter().map(|entry| (text(entry, "type"), text(entry, "resource_id"))).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_reader_sees_everything_in_order(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let before = agent(&api).await;
    let since = end(&api).await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let standup = event(&api, &calendar, START, END).await;
    api.patch(format!("/v1/events/{standup}")).json(json!({ "title": "Retro" })).await.expect(200);
    let rules = format!("/v1/calendars/{calendar}/availability-rules");
    let rules_id = api.put(&rules).json(json!({ "buffer_before_minutes": 5 })).await.expect(200).id();
    let made = api.post("/v1/booking-pages").json(json!({ "calendar_id": calendar, "title": "Talk" })).await;
    let page_id = made.expect(201).id();
    api.delete(format!("/v1/booking-pages/{page_id}")).await.expect(204);
    api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "name": "Lab" })).await.expect(200);
    api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    api.delete(format!("/v1/agents/{ada}")).await.expect(204);

    let entries = all(&api, &since, "3").await;
    let expected = [
        ("agent.created", &ada),
        ("calendar.created", &calendar),
        ("event.created", &standup),
        ("event.updated", &standup),
        ("availability_rules.updated", &rules_id),
        ("booking_page.created", &page_id),
        ("booking_page.deleted", &page_id),
        ("calendar.updated", &calendar),
        ("calendar.deleted", &calendar),
        ("agent.deleted", &ada),
    ];
    let expected: Vec<_> = expected.map(|(kind, id)| (kind.to_owned(), id.clone())).into();
    assert_eq!(seen(&entries), expected);
    assert_eq!(all(&api, &since, "200").await, entries);
    for entry in &entries {
        has_exactly(entry, &["type", "at", "resource_type", "resource_id", "version", "body"]);
        let kind = entry["type"].as_str().unwrap().split('.').next().unwrap();
        assert_eq!(entry["resource_type"], kind);
        assert!(!entry.to_string().contains(&before));
    }
    assert_eq!((&entries[3]["version"], &entries[3]["body"]["title"]), (&json!(2), &json!("Retro")));
    assert_eq!((&entries[7]["version"], &entries[7]["body"]["name"]), (&json!(2), &json!("Lab")));

    let only = page(&api, &since, &[("types", "event.*,calendar.deleted")]).await;
    let types: Vec<String> = only.column("type");
    assert_eq!(types, ["event.created", "event.updated", "calendar.deleted"]);
    assert_eq!(seen(&all(&api, &next(&only), "50").await), []);
}

#[apply(on_both)]
#[tokio::test]
async fn a_changed_occurrence_also_shows_its_series(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = "FREQ=DAILY;COUNT=3";
    let body = json!({ "title": "Standup", "start_time": START, "end_time": END, "recurrence_rule": rule });
    let series = api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id();
    let since = end(&api).await;
    let occurrence = format!("{series}_20270504T090000Z");
    api.patch(format!("/v1/events/{occurrence}")).json(json!({ "title": "Retro" })).await.expect(200);
    let entries = all(&api, &since, "9").await;
    let updated = |id: &String| ("event.updated".to_owned(), id.clone());
    assert_eq!(seen(&entries), [updated(&occurrence), updated(&series)]);
    let titles = entries.iter().map(|entry| entry["body"]["title"].as_str().unwrap());
    assert_eq!(titles.collect::<Vec<_>>(), ["Retro", "Standup"]);
    assert_eq!((&entries[1]["version"], &entries[1]["body"]["recurrenceRule"]), (&json!(2), &json!(rule)));
}

#[apply(on_both)]
#[tokio::test]
async fn nothing_secret_is_in_the_feed(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let since = end(&api).await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let shown = api.get(format!("/v1/calendars/{calendar}")).await.expect(200);
    let rotated = api.post(format!("/v1/calendars/{calendar}/ical-token/rotate")).await.expect(200);
    let made = api.post("/v1/booking-pages").json(json!({ "calendar_id": calendar, "title": "Talk" })).await;
    let slug = made.expect(201)["slug"].as_str().unwrap().to_owned();
    let url = "https://feeds.example.com/private-5a1e/basic.ics";
    let body = json!({ "calendar_id": calendar, "url": url, "label": "Private" });
    api.post(format!("/v1/agents/{ada}/ical-subscriptions")).json(body).await.expect(201);
    let hook = json!({ "url": "https://hooks.example.com/5ec2e7", "events": ["*"] });
    let hook = api.post("/v1/webhooks").json(hook).await.expect(201);
    let key = api.post("/v1/keys").json(json!({ "agent_id": ada })).await.expect(201);
    let text = json!(all(&api, &since, "50").await).to_string();
    assert!(text.contains("ical_subscription.created") && text.contains("booking_page.created"), "{text}");
    let token = |url: &Value| url.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    for secret in [
        token(&shown["ical_url"]),
        token(&rotated["ical_url"]),
        slug,
        "private-5a1e".to_owned(),
        "5ec2e7".to_owned(),
        hook["secret"].as_str().unwrap().to_owned(),
        key["key"].as_str().unwrap().to_owned(),
    ] {
        assert!(!text.contains(&secret), "{secret} is in {text}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn other_tokens_and_callers_are_refused(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let other = server.api(&server.org("pro").await);
    let (ours, theirs) = (end(&api).await, end(&other).await);
    let flipped: String = ours.chars().rev().collect();
    for since in [theirs.as_str(), "", "next", &flipped] {
        let refused = api.get(CHANGES).query(&[("since", since)]).await;
        refused.refused(410, "conflict").code("resync").param("since").mentions("without since");
    }
    let ada = agent(&api).await;
    let key = api.post("/v1/keys").json(json!({ "agent_id": ada })).await.expect(201);
    server.client(key["key"].as_str().unwrap()).get(CHANGES).await.refused(403, "forbidden");
    for (query, param) in [
        (("types", "event.creatd"), "types"),
        (("types", ""), "types"),
        (("wait", "61"), "wait"),
        (("wait", "-1"), "wait"),
        (("limit", "0"), "limit"),
        (("limit", "201"), "limit"),
        (("offset", "1"), "offset"),
    ] {
        api.get(CHANGES).query(&[query]).await.refused(400, "validation_error").param(param);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn old_changes_are_gone_after_a_week(#[case] database: Database) {
    let (mut server, api) = Server::with_org(database, "pro").await;
    let since = end(&api).await;
    shared_calendar(&api, "UTC").await;
    server.restart_at_offset(8 * 86_400).await;
    let api = api.moved_to(server.base_url());
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = api.get(CHANGES).query(&[("since", since.as_str())]).await;
        if answer.status == 410 {
            answer.code("resync").mentions("7 days");
            break;
        }
        assert!(Instant::now() < deadline, "the purge runs when the service starts");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let since = end(&api).await;
    let calendar = shared_calendar(&api, "UTC").await;
    assert_eq!(seen(&all(&api, &since, "9").await), [("calendar.created".to_owned(), calendar)]);
}

/// A request that waits once the key has a place for it, and how long it took. `call` makes a request for a number of
/// seconds.
fn waiting_reader(call: impl Fn(&str) -> Call + Send + 'static, seconds: &str) -> Waits {
    let seconds = seconds.to_owned();
    tokio::spawn(async move {
        loop {
            let (began, sent) = (Instant::now(), call(&seconds));
            let answer = sent.await;
            if answer.status != 429 {
                return (answer, began.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
}

/// `count` requests of one key that wait, once the key has no place left, and the refusal of another one. `call` makes a
/// request for a number of seconds.
pub(crate) async fn waiting_readers(
    call: impl Fn(&str) -> Call + Clone + Send + 'static,
    count: usize,
) -> (Vec<Waits>, Answer) {
    let readers = (0..count).map(|_| waiting_reader(call.clone(), "50")).collect();
    loop {
        // It takes the place of another one until all of them have one.
        let answer = call("1").await;
        if answer.at("/error/code") == "too_many_waits" {
            return (readers, answer);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asks for changes, and waits for a number of seconds.
fn changes_after(api: &Client, since: &str) -> impl Fn(&str) -> Call + Clone + Send + use<> {
    let (api, since) = (api.impatient(), since.to_owned());
    move |seconds: &str| api.get(CHANGES).query(&[("since", since.as_str()), ("wait", seconds)])
}

/// A request that waits for changes.
fn waiting(api: &Client, since: &str, seconds: &str) -> Waits {
    waiting_reader(changes_after(api, since), seconds)
}

/// Ten requests of one key that wait for changes, and the refusal of another one.
async fn ten_waiting(api: &Client, since: &str) -> (Vec<Waits>, Answer) {
    waiting_readers(changes_after(api, since), 10).await
}

#[apply(on_both)]
#[tokio::test]
async fn a_wait_ends_with_the_first_change(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let writer = match database {
        Database::Postgres => Some(server.another_node().await),
        Database::Sqlite => None,
    };
    let calendar = shared_calendar(&api, "UTC").await;
    let since = end(&api).await;
    let (nothing, took) = waiting(&api, &since, "1").await.unwrap();
    assert_eq!((nothing.expect(200).data(), took >= Duration::from_secs(1)), (vec![], true));

    let reader = waiting(&api, &since, "40");
    let made = event(&api, &calendar, START, END).await;
    let (answer, took) = reader.await.unwrap();
    let answer = answer.expect(200);
    assert_eq!(seen(&answer.data()), [("event.created".to_owned(), made)]);
    assert!(took < Duration::from_secs(20), "{took:?}");

    // A change by another node.
    if let Some(node) = writer {
        let reader = waiting(&api, &next(&answer), "40");
        let made = event(&api.moved_to(node.base_url()), &calendar, START, END).await;
        let (answer, took) = reader.await.unwrap();
        assert_eq!(seen(&answer.expect(200).data()), [("event.created".to_owned(), made)]);
        assert!(took < Duration::from_secs(20), "{took:?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_waits_in_ten_requests_at_most(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let since = end(&api).await;
    let (readers, refused) = ten_waiting(&api, &since).await;
    refused.error("rate_limit_error").code("too_many_waits").mentions("10 requests");
    page(&api, &since, &[]).await;
    let other = server.api(&server.org("pro").await);
    let theirs = end(&other).await;
    let (answer, _) = waiting(&other, &theirs, "1").await.unwrap();
    answer.expect(200);
    event(&api, &calendar, START, END).await;
    for reader in readers {
        assert_eq!(reader.await.unwrap().0.expect(200).data().len(), 1);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn waits_end_when_the_service_stops(#[case] database: Database) {
    let (mut server, api) = Server::with_org(database, "pro").await;
    let since = end(&api).await;
    let (readers, _) = ten_waiting(&api, &since).await;
    assert!(server.stop().await.success());
    for reader in readers {
        let (answer, took) = reader.await.unwrap();
        assert!(answer.expect(200).data().is_empty() && took < Duration::from_secs(40), "{took:?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn who_signed_out_gets_nothing_that_they_waited_for(#[case] database: Database) {
    const EMAIL: &str = "ada@example.com";
    let server = Server::start(database).await;
    let reader = server.client(&Human::sign_up(&server, EMAIL).await.token);
    let body = json!({ "email": EMAIL, "password": PASSWORD });
    let answer = server.anonymous().post("/v1/auth/signin").json(body).await.expect(200);
    let writer = server.client(answer["token"].as_str().unwrap());
    let since = end(&reader).await;
    let (readers, _) = ten_waiting(&reader, &since).await;
    reader.post("/v1/auth/signout").await.expect(204);
    shared_calendar(&writer, "UTC").await;
    for reader in readers {
        assert_eq!(reader.await.unwrap().0.status, 401);
    }
    assert_eq!(all(&writer, &since, "9").await.len(), 1);
}

/// The text of a stream up to the part that it waits for.
async fn read_until(stream: &mut reqwest::Response, part: &str) -> String {
    let mut text = String::new();
    while !text.contains(part) {
        let piece = tokio::time::timeout(Duration::from_secs(30), stream.chunk()).await.unwrap();
        let piece = piece.unwrap().unwrap_or_else(|| panic!("the stream ended after {text}"));
        text.push_str(std::str::from_utf8(&piece).unwrap());
    }
    text
}

#[apply(on_both)]
#[tokio::test]
async fn changes_are_sent_as_events(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let calendar = shared_calendar(&api, "UTC").await;
    let http = plain_http().build().unwrap();
    let url = format!("{}{CHANGES}", server.base_url());
    let open = async |last: Option<&str>| {
        let request = http.get(&url).bearer_auth(&org.key).header("accept", "text/event-stream");
        let request = match last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response
    };
    let mut stream = open(None).await;
    let begin = read_until(&mut stream, "\n\n").await;
    let since = begin.strip_prefix("id: ").unwrap().trim().to_owned();
    let first = event(&api, &calendar, START, END).await;
    let text = read_until(&mut stream, &first).await;
    assert!(text.starts_with("id: ") && text.contains("\nevent: event.created\ndata: {"), "{text}");
    drop(stream);

    // A client that comes back gets what it has missed, and nothing twice.
    let second = event(&api, &calendar, START, END).await;
    let mut again = open(Some(&since)).await;
    let text = read_until(&mut again, &second).await;
    assert!(text.contains(&first), "{text}");
    let id = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let mut again = open(Some(id)).await;
    let text = read_until(&mut again, &second).await;
    assert!(!text.contains(&first), "{text}");
    let refused = api.get(CHANGES).header("accept", "text/event-stream").query(&[("since", "x")]).await;
    refused.refused(410, "conflict").code("resync");
    assert!(server.stop().await.success(), "streams end with the service");
}

/// Reads until everything was seen. After each page, starts again from a token that it got before.
async fn follow(api: &Client, begin: &str, seed: usize) -> Vec<String> {
    // A key waits in ten requests on a node at most, and there may be only one node.
    let wait = if seed < 8 { "1" } else { "0" };
    let (mut tokens, mut seen, mut random) = (BTreeMap::from([(0, begin.to_owned())]), Vec::<String>::new(), seed);
    let mut from = 0;
    while seen.len() < WRITERS * EACH {
        let limit = (random % 9 + 1).to_string();
        let answer = page(api, &tokens[&from], &[("limit", &limit), ("wait", wait)]).await;
        let ids = answer.column("resource_id");
        for (index, id) in ids.iter().enumerate() {
            match seen.get(from + index) {
                Some(known) => assert_eq!(known, id, "the order has changed"),
                None => seen.push(id.clone()),
            }
        }
        tokens.insert(from + ids.len(), next(&answer));
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
        let places: Vec<usize> = tokens.keys().copied().collect();
        from = if random.is_multiple_of(4) { places[random % places.len()] } else { places[places.len() - 1] };
    }
    seen
}

/// 32 writers and 20 readers on several nodes.
#[apply(on_both)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_readers_on_all_nodes_see_one_sequence(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "custom").await;
    let nodes = match database {
        Database::Postgres => vec![server.another_node().await, server.another_node().await],
        Database::Sqlite => Vec::new(),
    };
    let mut clients = vec![api.clone()];
    clients.extend(nodes.iter().map(|node| api.moved_to(node.base_url())));
    let calendars = [shared_calendar(&api, "UTC").await, shared_calendar(&api, "UTC").await];
    let since = end(&api).await;
    let (clients, calendars) = (Arc::new(clients), Arc::new(calendars));
    let readers: Vec<_> = (0..READERS)
        .map(|index| {
            let (clients, since) = (Arc::clone(&clients), since.clone());
            tokio::spawn(async move { follow(&clients[index % clients.len()], &since, index).await })
        })
        .collect();
    let writers: Vec<_> = (0..WRITERS)
        .map(|index| {
            let (clients, calendars) = (Arc::clone(&clients), Arc::clone(&calendars));
            tokio::spawn(async move {
                let mut made = Vec::new();
                for round in 0..EACH {
                    let api = &clients[(index + round) % clients.len()];
                    made.push(if (index + round).is_multiple_of(4) {
                        agent(api).await
                    } else {
                        event(api, &calendars[index % calendars.len()], START, END).await
                    });
                }
                made
            })
        })
        .collect();
    let mut made = BTreeSet::new();
    for writer in writers {
        made.extend(writer.await.unwrap());
    }
    assert_eq!(made.len(), WRITERS * EACH);
    let mut sequences = BTreeSet::new();
    for reader in readers {
        sequences.insert(reader.await.unwrap());
    }
    assert_eq!(sequences.len(), 1, "all readers see the same");
    let sequence = sequences.into_iter().next().unwrap();
    assert_eq!(sequence.iter().cloned().collect::<BTreeSet<_>>(), made, "nothing is missing");
    assert_eq!(sequence.len(), made.len(), "nothing comes twice");
}

/// A booking has an event on each calendar, and a run deletes one of them. Each move of the booking keeps it gone.
#[apply(on_both)]
#[tokio::test]
async fn an_event_is_deleted_once_however_often_its_booking_moves(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let since = end(&api).await;
    let mut calendars = Vec::new();
    for _ in 0..2 {
        calendars.push(agent_with_calendar(&api).await.1);
    }
    let page = json!({
        "calendar_id": calendars[0], "calendars": [calendars[1]], "assignment": "collective", "title": "x"
    });
    let page = api.post("/v1/booking-pages").json(page).await.expect(201);
    let slug = page["slug"].as_str().unwrap();
    let guest = server.anonymous();
    let slots = guest.get(format!("/book/{slug}/slots")).await.expect(200);
    let start = |place: usize| &slots["slots"][20 + 2 * place]["start"];
    let path = |url: &Value| {
        let url = url.as_str().unwrap();
        url[url.find("/book/").unwrap()..].to_owned()
    };
    let booking = json!({ "name": "Ada", "email": "ada@example.com", "start": start(0) });
    let booked = guest.post(format!("/book/{slug}")).json(booking).await.expect(201);
    let on_second = api.get(format!("/v1/calendars/{}/events", calendars[1])).await.expect(200).column("id");
    let [gone] = on_second.as_slice() else { panic!("{on_second:?}") };
    api.delete(format!("/v1/events/{gone}")).header("kalends-run", "tidy-up").await.expect(204);
    for place in 1..=2 {
        let to = json!({ "start": start(place) });
        guest.post(path(&booked["reschedule_url"])).json(to).await.expect(200);
    }
    guest.post(path(&booked["cancel_url"])).await.expect(200);
    let entries = seen(&all(&api, &since, "50").await);
    let of_gone: Vec<&str> = entries.iter().filter(|(_, id)| id == gone).map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(of_gone, ["event.created", "event.deleted"], "{entries:?}");
    let undone = api.post("/v1/runs/tidy-up/undo").await.refused(409, "conflict");
    assert_eq!(undone.at("/error/in_the_way/0/reason"), "changed", "{}", undone.describe());
}
