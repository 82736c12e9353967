//! A database that is unreachable and a full disk cause errors, but nothing is lost, duplicated or half-written.

use std::{
    collections::BTreeMap,
    fs::File,
    net::SocketAddr,
    path::Path,
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use kalends_e2e::{Answer, Client, Database, Server};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::{sleep, timeout},
};

use crate::{proxy::Proxy, raw};
use kalends_e2e::binary;

/// The number of concurrent writers.
const WRITERS: usize = 8;
/// The longest time on a busy machine for the service to notice an outage or to recover.
const SOON: Duration = Duration::from_secs(30);

/// The log of a service on a small disk, in its data directory.
const SMALL_LOG: &str = "small-disk.log";

/// The outcomes of the writes.
#[derive(Default)]
struct Ledger {
    /// The titles of the acknowledged events, by identifier.
    acknowledged: BTreeMap<String, String>,
    /// The titles of the other events, with the status of each answer.
    refused: Vec<(String, u16)>,
    /// The requests of the refused events, where they are known.
    requests: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_postgres_is_waited_for() {
    let mut server = Server::start(Database::Postgres).await;
    let org = server.org("pro").await;
    let direct = server.postgres_url().unwrap();
    let (proxy, url) = Proxy::before_database_of(&server).await;
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_DATABASE_URL", &url)]).await;

    let api = server.api(&org);
    let calendar = api.post("/v1/calendars").json(json!({ "name": "Work", "timezone": "UTC" })).await.expect(201).id();
    let path = format!("/v1/calendars/{calendar}/events");
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    // Messages are stored only if there is a webhook, of whatever type.
    let listener = json!({ "url": "https://kalends.invalid/", "events": ["webhook.deactivated"] });
    api.post("/v1/webhooks").json(listener).await.expect(201);
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(api.clone(), path.clone(), writer, Arc::clone(&ledger), Arc::clone(&stop))))
        .collect();

    for round in 1..=3 {
        wait_for_progress(&ledger).await;
        proxy.cut().await;
        is_away(&server, &api, &calendar).await;
        proxy.repair();
        is_back(&server, &api, &calendar, round).await;
    }
    // A cut that is so short that only running requests notice it.
    for _ in 0..5 {
        wait_for_progress(&ledger).await;
        proxy.cut().await;
        proxy.repair();
    }
    wait_for_progress(&ledger).await;
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }

    let ledger = std::mem::take(&mut *ledger.lock().unwrap());
    for (title, status) in &ledger.refused {
        assert_eq!(*status, 503, "{title}");
    }
    let stored = all_events(&api, &path).await;
    let count = i64::try_from(stored.len()).unwrap();
    nothing_lost_or_doubled(&ledger, &stored);

    // Every event has its message, its audit entry and its place in the count, or none of them.
    let mut connection = PgConnection::connect(&direct).await.unwrap();
    for halves in [
        "select count(*) from events",
        "select count(*) from outbox where event_type = 'event.created'",
        "select count(*) from audit_log where action = 'event.create'",
        "select sum(used)::bigint from usage_counters where metric = 'events'",
    ] {
        let found: i64 = sqlx::query_scalar(halves).fetch_one(&mut connection).await.unwrap();
        assert_eq!(found, count, "{halves}");
    }
    connection.close().await.unwrap();
}

/// Writes until `stop` is set. Each title is sent once.
async fn write(api: Client, path: String, writer: usize, ledger: Arc<Mutex<Ledger>>, stop: Arc<AtomicBool>) {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let title = format!("Writer {writer}, event {number}");
        let answer = api.post(&path).json(event(&title, "")).await;
        let mut ledger = ledger.lock().unwrap();
        if answer.status == 201 {
            ledger.acknowledged.insert(answer.id(), title);
        } else {
            ledger.refused.push((title, answer.status));
        }
    }
}

fn event(title: &str, description: &str) -> Value {
    json!({ "title": title, "description": description,
        "start_time": "2027-03-15T09:00:00Z", "end_time": "2027-03-15T10:00:00Z" })
}

/// Waits until more writes have been acknowledged.
async fn wait_for_progress(ledger: &Mutex<Ledger>) {
    let acknowledged = || ledger.lock().unwrap().acknowledged.len();
    let (before, began) = (acknowledged(), Instant::now());
    while acknowledged() < before + 3 * WRITERS {
        assert!(began.elapsed() < 2 * SOON, "the writers make no progress");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Requires that everything that needs the database fails soon, while the service itself runs.
async fn is_away(server: &Server, api: &Client, calendar: &str) {
    let away = |answer: Answer, began: Instant| {
        let answer = answer.refused(503, "internal_error").mentions("database");
        assert!(answer.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds >= 1), "{}", answer.describe());
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    };
    let began = Instant::now();
    let everything = tokio::join!(
        api.get(format!("/v1/calendars/{calendar}")).into_future(),
        api.post(format!("/v1/calendars/{calendar}/events")).json(event("Nobody comes", "")).into_future(),
        api.post("/v1/agents").json(json!({ "name": "Nobody", "type": "ai" })).into_future(),
        api.get(format!("/v1/calendars/{calendar}/availability?start=2027-03-15T00:00:00Z&end=2027-03-16T00:00:00Z"))
            .into_future(),
        api.delete(format!("/v1/calendars/{calendar}")).into_future(),
        server.anonymous().get("/ready").into_future(),
    );
    let (read, create, agent, availability, delete, ready) = everything;
    for answer in [read, create, agent, availability, delete, ready] {
        away(answer, began);
    }
    server.anonymous().get("/health").await.expect(200);
}

/// Requires that everything works again, without any intervention.
async fn is_back(server: &Server, api: &Client, calendar: &str, round: u32) {
    let began = Instant::now();
    while server.anonymous().get("/ready").await.status != 200 {
        assert!(began.elapsed() < SOON, "not ready again");
        sleep(Duration::from_millis(20)).await;
    }
    api.get(format!("/v1/calendars/{calendar}")).await.expect(200);
    // None of the refused requests had an effect. The writers' requests are checked by their titles.
    let agents = api.get("/v1/agents").await.expect(200);
    assert_eq!(agents.at("/total"), 0, "round {round}");
}

async fn all_events(api: &Client, path: &str) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let page = api.get(format!("{path}?limit=200&offset={}", events.len())).await.expect(200);
        let data = page.data();
        if data.is_empty() {
            assert_eq!(page.at("/total"), events.len());
            return events;
        }
        events.extend(data);
    }
}

fn nothing_lost_or_doubled(ledger: &Ledger, stored: &[Value]) {
    let titles: BTreeMap<&str, &str> =
        stored.iter().map(|event| (event["id"].as_str().unwrap(), event["title"].as_str().unwrap())).collect();
    for (id, title) in &ledger.acknowledged {
        assert_eq!(titles.get(id.as_str()), Some(&title.as_str()), "acknowledged and lost");
    }
    let mut once: Vec<_> = titles.values().collect();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), stored.len(), "an event is stored twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_nothing() {
    let mut server = Server::start(Database::Sqlite).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let calendar = api.post("/v1/calendars").json(json!({ "name": "Work", "timezone": "UTC" })).await.expect(201).id();
    let path = format!("/v1/calendars/{calendar}/events");
    assert!(server.stop().await.success());

    let room = largest_file(&server.data_dir()) / 1024 + 600;
    let small = OnSmallDisk::start(&server, room).await;
    let mut ledger = Ledger::default();
    for batch in 0..200 {
        small.write(&org.key, &path, batch, &mut ledger).await;
        if ledger.refused.len() >= 4 * WRITERS {
            break;
        }
    }
    assert!(ledger.refused.len() >= 4 * WRITERS, "the disk did not fill up: {}", ledger.acknowledged.len());
    assert!(!ledger.acknowledged.is_empty());

    // A load balancer must send requests elsewhere.
    let ready = raw::call(small.address, &org.key, "GET", "/ready", None).await;
    assert_eq!((ready.status, ready.header("retry-after")), (503, "1"), "{ready:?}");

    // Reads still work.
    let list = raw::call(small.address, &org.key, "GET", &format!("{path}?limit=1"), None).await;
    assert_eq!((list.status, list.json()["total"].as_u64()), (200, Some(ledger.acknowledged.len() as u64)));
    for id in ledger.acknowledged.keys() {
        let read = raw::call(small.address, &org.key, "GET", &format!("/v1/events/{id}"), None).await;
        assert_eq!(read.status, 200);
    }
    let health = raw::call(small.address, &org.key, "GET", "/health", None).await;
    assert_eq!(health.status, 200);

    // Once there is room, writes work again.
    small.make_room().await;
    let refused = ledger.refused.len();
    small.write(&org.key, &path, 1_000, &mut ledger).await;
    assert_eq!(ledger.refused.len(), refused, "refused although there is room: {:?}", ledger.refused.last());
    let ready = raw::call(small.address, &org.key, "GET", "/ready", None).await;
    assert_eq!(ready.status, 200, "{ready:?}");
    small.stop().await;
    // The log names the requests of the batches that were lost.
    let log = std::fs::read_to_string(server.data_dir().join(SMALL_LOG)).unwrap();
    let batches = log.lines().filter(|line| line.contains("a batch of changes was not committed"));
    let lost: Vec<&str> = batches
        .filter_map(|line| line.split_once("requests=")?.1.split_whitespace().next())
        .flat_map(|requests| requests.split(','))
        .collect();
    assert!(!lost.is_empty(), "{log}");
    assert!(lost.iter().all(|lost| ledger.requests.iter().any(|request| request == lost)), "{lost:?}");

    server.start_again(&[]).await;
    let api = server.api(&org);
    let stored = all_events(&api, &path).await;
    nothing_lost_or_doubled(&ledger, &stored);
    assert_eq!(stored.len(), ledger.acknowledged.len(), "a refused event is stored");
    assert!(stored.iter().all(|event| event["description"].as_str().is_some_and(|text| text.len() == LONG)));
    api.post(&path).json(event("Afterwards", "")).await.expect(201);
}

/// The length of a description that fills the disk quickly.
const LONG: usize = 15_000;

fn largest_file(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    files.max().unwrap()
}

/// The service with a limit on the size of the files that it writes. Beyond it a write fails as it does on a full
/// disk.
struct OnSmallDisk {
    process: Child,
    address: SocketAddr,
}

impl OnSmallDisk {
    async fn start(server: &Server, kibibytes: u64) -> Self {
        // The signal would end the process before the write could fail. An ignored signal stays ignored across exec.
        let script = format!("trap '' XFSZ; ulimit -S -f {kibibytes}; exec \"$0\"");
        let mut process = Command::new("bash")
            .args(["-c".into(), script.into(), binary().into_os_string()])
            .env_clear()
            .envs(server.environment())
            .current_dir(server.data_dir())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(server.data_dir().join(SMALL_LOG)).unwrap())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = timeout(Duration::from_secs(30), lines.next_line()).await.unwrap().unwrap().unwrap();
        let address = line.strip_prefix("kalends listening on http://").unwrap().parse().unwrap();
        Self { process, address }
    }

    /// Sends one request of each writer at once.
    async fn write(&self, key: &str, path: &str, batch: usize, ledger: &mut Ledger) {
        let writes = (0..WRITERS).map(|writer| {
            let (address, key, path) = (self.address, key.to_owned(), path.to_owned());
            let title = format!("Batch {batch}, event {writer}");
            tokio::spawn(async move {
                let body = event(&title, &"x".repeat(LONG));
                (title, raw::call(address, &key, "POST", &path, Some(&body)).await)
            })
        });
        for write in writes.collect::<Vec<_>>() {
            let (title, answer) = write.await.unwrap();
            let body = answer.json();
            if answer.status == 201 {
                ledger.acknowledged.insert(body["id"].as_str().unwrap().to_owned(), title);
            } else {
                assert_eq!((answer.status, answer.header("retry-after")), (503, "1"), "{answer:?}");
                assert_eq!(body["error"]["type"], "internal_error", "{answer:?}");
                assert_eq!(body["error"]["request_id"], answer.header("x-request-id"), "{answer:?}");
                ledger.requests.push(answer.header("x-request-id").to_owned());
                ledger.refused.push((title, answer.status));
            }
        }
    }

    async fn make_room(&self) {
        let pid = self.process.id().unwrap().to_string();
        let made = Command::new("prlimit").args(["--fsize=unlimited:", "--pid", &pid]).status().await.unwrap();
        assert!(made.success());
    }

    async fn stop(mut self) {
        let pid = self.process.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
        assert!(timeout(Duration::from_secs(30), self.process.wait()).await.unwrap().unwrap().success());
    }
}
