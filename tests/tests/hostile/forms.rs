//! Forms that no browser sends: bodies in parts, to the form of the console that takes a file, and forms about things
//! whose identifiers no address has.

use kalends_e2e::{Client, Database, Server};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner},
};
use rstest::rstest;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::raw::{self, Connection};

/// The number of damaged bodies, unless `PROPTEST_CASES` sets another.
const CASES: u32 = 60;
/// The number of cases that proptest uses by default.
const PROPTEST_CASES_DEFAULT: u32 = 256;
/// With a fixed seed, a failure can be reproduced.
const SEED: u64 = 1;

const TYPE: &str = "multipart/form-data; boundary=x";
const FILE: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:one\r\nDTSTAMP:20270101T000000Z\r\n\
                    DTSTART:20270301T090000Z\r\nDTEND:20270301T100000Z\r\nSUMMARY:One\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

/// A user who is signed in, and the calendar into which they import.
struct World {
    server: Server,
    api: Client,
    token: String,
    org: String,
    calendar: String,
}

impl World {
    async fn create(database: Database) -> Self {
        let settings = [("KALENDS_IP_LIMITS", "off"), ("KALENDS_SIGNUP_PLAN", "custom")];
        let server = Server::start_with(database, &settings).await;
        let ada = json!({ "email": "ada@example.com", "password": "correct horse battery staple", "name": "Ada",
            "org_name": "Engines", "tos_version": "2026-01-01" });
        let made = server.anonymous().post("/v1/auth/signup").json(ada).await.expect(201);
        let cookie = made.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        let token = cookie.strip_prefix("service_session=").expect("a session").to_owned();
        let api = server.client(&token);
        let work = json!({ "name": "Work", "timezone": "UTC" });
        let calendar = api.post("/v1/calendars").json(work).await.expect(201).id();
        let org = made.at("/org/id").as_str().expect("an organization").to_owned();
        Self { server, api, token, org, calendar }
    }

    /// Sends the body to the form that checks a file, or to the one that imports it. Returns the status, or what is
    /// wrong with the answer.
    async fn send(&self, imports: bool, media_type: &[u8], body: &[u8]) -> Result<u16, String> {
        let check = if imports { "" } else { "/check" };
        self.send_to(&format!("/console/feeds/calendars/{}/import{check}", self.calendar), media_type, body).await
    }

    /// [`World::send`], for the form at any path.
    async fn send_to(&self, path: &str, media_type: &[u8], body: &[u8]) -> Result<u16, String> {
        let head = self.head(path, body.len()).replace("Host:", "Connection: close\r\nHost:");
        let request = [head.as_bytes(), media_type, b"\r\n\r\n", body].concat();
        let address = self.server.address().parse().expect("an address");
        let answer = raw::send(address, &request).await.ok_or("no answer")?;
        answer.fault().map_or(Ok(answer.status), Err)
    }

    /// The head of a form with a body of this length, up to its media type.
    fn head(&self, path: &str, length: usize) -> String {
        let (address, token, origin) = (self.server.address(), &self.token, self.server.base_url());
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nCookie: service_session={token}\r\nOrigin: {origin}\r\n\
             Content-Length: {length}\r\nContent-Type: "
        )
    }

    async fn total(&self) -> serde_json::Value {
        self.api.get(format!("/v1/calendars/{}/events", self.calendar)).await.expect(200).at("/total")
    }

    /// A complete form with this file.
    fn form(&self, file: &str) -> Vec<u8> {
        parts(&[("name=\"org\"", &self.org), ("name=\"body\"", ""), ("name=\"file\"; filename=\"a.ics\"", file)])
    }
}

fn parts(parts: &[(&str, &str)]) -> Vec<u8> {
    let part = |(names, content): &(&str, &str)| {
        format!("--x\r\nContent-Disposition: form-data; {names}\r\n\r\n{content}\r\n")
    };
    parts.iter().map(part).chain(["--x--\r\n".to_owned()]).collect::<String>().into_bytes()
}

/// Bytes to put over others: at which place, how many, and which.
type Damage = (Index, usize, Vec<u8>);

fn damage() -> impl Strategy<Value = (Vec<Damage>, Index)> {
    let piece = prop_oneof![
        4 => select(vec![
            "\r\n--x\r\n", "--x--", "--", "\r\n\r\n", "\r\n", "\n", "\r", "\"", "\\", ";", "=", "name=", "filename=", "\0",
            "filename*=UTF-8''%ff", "Content-Type: text/plain; charset=utf-16\r\n", "Content-Transfer-Encoding: base64\r\n",
            "Content-Disposition: attachment\r\n", ":", " ", "BEGIN:VEVENT\r\n", "\u{feff}",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..40),
        1 => (1_000usize..100_000).prop_map(|length| vec![b'a'; length]),
    ];
    (vec((any::<Index>(), 0usize..60, piece), 1..5), any::<Index>())
}

fn damaged(mut body: Vec<u8>, (damage, end): &(Vec<Damage>, Index)) -> Vec<u8> {
    for (at, over, piece) in damage {
        let at = at.index(body.len() + 1);
        let until = (at + over).min(body.len());
        drop(body.splice(at..until, piece.iter().copied()));
    }
    // Half of the bodies are cut off.
    body.truncate(end.index(2 * body.len() + 1));
    body
}

#[rstest]
fn no_form_with_a_file_makes_the_server_fail(#[values(Database::Sqlite, Database::Postgres)] database: Database) {
    let runtime = Runtime::new().unwrap();
    let world = runtime.block_on(World::create(database));
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.cases == PROPTEST_CASES_DEFAULT {
        config.cases = CASES;
    }
    if !matches!(config.rng_seed, RngSeed::Fixed(_)) {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let whole = world.form(FILE);
    let outcome = TestRunner::new(config).run(&(damage(), any::<bool>()), |(damage, imports)| {
        let body = damaged(whole.clone(), &damage);
        runtime.block_on(world.send(imports, TYPE.as_bytes(), &body)).map(|_| ()).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, attack)) => panic!("{attack:?}\n=> {why}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    runtime.block_on(async { world.server.anonymous().get("/health").await.expect(200) });
}

#[rstest]
#[tokio::test]
async fn a_refused_form_with_a_file_imports_nothing(
    #[values(Database::Sqlite, Database::Postgres)] database: Database,
) {
    let world = World::create(database).await;
    let whole = world.form(FILE);
    let org = ("name=\"org\"", &*world.org);
    let (long, file) = ("n".repeat(10_240), "name=\"file\"; filename=\"a.ics\"");
    let long = format!("name=\"file\"; filename=\"{long}\"");
    let mut many = vec![org];
    many.resize(1_000, ("name=\"a\"", "b"));
    let large = format!("{FILE}{}", "x".repeat(1 << 20));
    // A form that is far too long is read to its end, so that a browser sees the answer.
    let far_too_large = world.form(&"x".repeat(3 << 20));
    let mut connection = Connection::open(world.server.address()).await;
    let path = format!("/console/feeds/calendars/{}/import/check", world.calendar);
    connection.send(world.head(&path, far_too_large.len())).await;
    connection.send([TYPE.as_bytes(), b"\r\n\r\n", &far_too_large[..]].concat()).await;
    let answer = connection.answer().await.expect("an answer");
    assert_eq!((answer.status, answer.header("connection")), (413, ""), "{:?}", answer.fault());
    for (media_type, body, status) in [
        (&b"multipart/form-data"[..], whole.clone(), 400),
        (&b"multipart/form-data; boundary="[..], whole.clone(), 400),
        (&b"multipart/form-data; boundary=y"[..], whole.clone(), 400),
        (TYPE.as_bytes(), Vec::new(), 400),
        (TYPE.as_bytes(), whole[..whole.len() - 6].to_vec(), 400),
        (TYPE.as_bytes(), parts(&many), 400),
        (TYPE.as_bytes(), parts(&[org, (&long, FILE)]), 400),
        (TYPE.as_bytes(), parts(&[org, (file, "")]), 400),
        (TYPE.as_bytes(), parts(&[org, (file, "BEGIN:VCALENDAR\0")]), 400),
        (TYPE.as_bytes(), parts(&[org, ("name=\"body\"", FILE), (file, FILE)]), 400),
        (TYPE.as_bytes(), parts(&[org, ("name=\"file\"", FILE)]), 400),
        (TYPE.as_bytes(), parts(&[(file, FILE)]), 409),
        (TYPE.as_bytes(), world.form(&large), 413),
        // Nothing in it is a field: the media type is unreadable, or the one of other forms.
        (&b"multipart/form-data; boundary=\xff"[..], whole.clone(), 409),
        (&b"application/x-www-form-urlencoded"[..], whole.clone(), 409),
    ] {
        for imports in [false, true] {
            let answered = world.send(imports, media_type, &body).await;
            assert_eq!(answered, Ok(status), "{} {imports}", media_type.escape_ascii());
        }
    }
    assert_eq!(world.total().await, 0);
    assert_eq!(world.send(true, TYPE.as_bytes(), &whole).await, Ok(200), "the whole form is accepted");
    assert_eq!(world.total().await, 1);
}

/// The paths of forms about one thing, below `/console`, with `ID` for its identifier.
const OF_ONE: [&str; 16] = [
    "webhooks/ID",
    "webhooks/ID/test",
    "webhooks/ID/rotate",
    "webhooks/ID/delete",
    "webhooks/ID/deliveries/ID/retry",
    "agents/ID",
    "agents/ID/pause",
    "agents/ID/resume",
    "agents/ID/calendars/new",
    "calendars/ID",
    "feeds/subscriptions/ID",
    "feeds/subscriptions/ID/sync",
    "feeds/subscriptions/ID/pause",
    "feeds/calendars/ID/rotate",
    "feeds/calendars/ID/import",
    "feeds/calendars/ID/import/check",
];

#[rstest]
#[tokio::test]
async fn no_identifier_in_an_address_makes_the_server_fail(
    #[values(Database::Sqlite, Database::Postgres)] database: Database,
) {
    let world = World::create(database).await;
    let form = format!("org={}", world.org);
    for path in OF_ONE {
        for id in ["%0A", "%0D%0AX-Evil%3A%20yes", "%00", "%C3%BC", "%2E%2E%2F", "x"] {
            let path = format!("/console/{}", path.replace("ID", id));
            let answered = world.send_to(&path, b"application/x-www-form-urlencoded", form.as_bytes()).await;
            let is_refused = matches!(answered, Ok(400 | 404)) || (answered == Ok(303) && path.ends_with("/delete"));
            assert!(is_refused, "{path}: {answered:?}");
        }
    }
    for thing in ["webhooks", "agents", "calendars", "feeds/subscriptions"] {
        let path = format!("/console/{thing}/%0A");
        let answered = world.send_to(&path, b"application/x-www-form-urlencoded", form.as_bytes()).await;
        assert_eq!(answered, Ok(404), "nothing was typed: {thing}");
    }
    // A form that had its effect has the same answer at another address.
    let ada = world.api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201).id();
    let renames = format!("{form}&once=a-key-that-nobody-guesses&name=Lovelace&was_name=Ada&version=1");
    for id in [&*ada, "%0A"] {
        let path = format!("/console/agents/{id}");
        let answered = world.send_to(&path, b"application/x-www-form-urlencoded", renames.as_bytes()).await;
        assert_eq!(answered, Ok(303), "{path}");
    }
}
