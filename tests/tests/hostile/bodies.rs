//! No request makes the server fail, and no refused request changes anything.

use std::{cell::RefCell, collections::BTreeMap, net::SocketAddr};

use kalends_e2e::{Client, Database, Server};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    description::{self, AGENT, CALENDAR, EVENT, Operation},
    generate::{Attack, FOREIGN_AGENT, KEY, attacks},
    raw,
};

/// The number of attacks on each operation, unless `PROPTEST_CASES` sets another. `cargo xtask full` sets more.
const CASES: u32 = 8;
/// The number of cases that proptest uses by default.
const PROPTEST_CASES_DEFAULT: u32 = 256;
/// The seed, unless `PROPTEST_RNG_SEED` sets another. With a fixed seed, a failure can be reproduced.
const SEED: u64 = 1;
/// The longest address that is read.
const ADDRESS_MAX: usize = 65_534;
/// The bytes of a head, with the empty line at its end, that are read at most.
const HEAD_MAX: usize = 65_535;
/// Enough to make a failure readable without a long wait.
const SHRINKS: u32 = 300;

#[rstest]
fn no_input_makes_the_server_fail(#[values(Database::Sqlite, Database::Postgres)] database: Database) {
    let runtime = Runtime::new().unwrap();
    let world = runtime.block_on(World::create(database));
    let operations = runtime.block_on(world.operations());
    for (index, operation) in (0u64..).zip(&operations) {
        runtime.block_on(world.renew());
        attack(&runtime, &world, operation, index);
        runtime.block_on(async { world.server.anonymous().get("/health").await.expect(200) });
    }
}

fn attack(runtime: &Runtime, world: &World, operation: &Operation, index: u64) {
    let mut config = Config { max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    if config.cases == PROPTEST_CASES_DEFAULT {
        config.cases = CASES;
    }
    // Each operation has its own seed, so that not all get the same attacks.
    let seed = if let RngSeed::Fixed(seed) = config.rng_seed { seed } else { SEED };
    config.rng_seed = RngSeed::Fixed(seed.wrapping_add(index));
    let mut answered: BTreeMap<u16, u32> = BTreeMap::new();
    let answers = RefCell::new(&mut answered);
    let outcome = TestRunner::new(config).run(&attacks(operation), |attack| {
        let status = runtime.block_on(world.withstands(operation, &attack)).map_err(TestCaseError::fail)?;
        *answers.borrow_mut().entry(status).or_default() += 1;
        Ok(())
    });
    match outcome {
        Ok(()) => println!("{operation:?}: {answered:?}"),
        Err(TestError::Fail(why, attack)) => panic!("{operation:?}\n{attack:?}\n=> {why}"),
        Err(TestError::Abort(why)) => panic!("{operation:?}: {why}"),
    }
}

/// The bytes of the head of a request, with the empty line at its end.
fn head_length(request: &[u8]) -> usize {
    const END: &[u8] = b"\r\n\r\n";
    request.windows(END.len()).position(|window| window == END).map_or(request.len(), |end| end + END.len())
}

/// A server with data that an attack could damage.
struct World {
    server: Server,
    address: SocketAddr,
    api: Client,
    key: String,
    foreign_agent: String,
    known: RefCell<Known>,
}

/// The identifiers and contents of the data.
#[derive(Clone, Default)]
struct Known {
    agent: String,
    calendar: String,
    event: String,
    /// Everything stored that a caller can see.
    stored: Vec<Value>,
}

impl World {
    async fn create(database: Database) -> Self {
        let server = Server::start_with(database, &[("KALENDS_IP_LIMITS", "off")]).await;
        // No request may be refused because of a limit.
        let limits = json!({ "agents": null, "calendars": null, "events": null, "api_calls": null,
            "availability_queries": null, "rate_per_second": 1_000_000 });
        let org = server.org_with("pro", &["--limits", &limits.to_string()]).await;
        let other = server.org("pro").await;
        let stranger = json!({ "name": "Stranger", "type": "ai" });
        let foreign_agent = server.api(&other).post("/v1/agents").json(stranger).await.expect(201).id();
        let (api, address) = (server.api(&org), server.address().parse().unwrap());
        Self { server, address, api, key: org.key, foreign_agent, known: RefCell::default() }
    }

    async fn operations(&self) -> Vec<Operation> {
        description::operations(&self.server.anonymous().get("/openapi.json").await.expect(200).json)
    }

    /// Begins with new data, so that there is little to compare.
    async fn renew(&self) {
        *self.known.borrow_mut() = Known::default();
        self.settle().await;
    }

    /// Recreates what an accepted request removed, and records everything that is stored.
    async fn settle(&self) {
        let mut known = self.known.borrow().clone();
        let active = self.api.get(format!("/v1/agents/{}", known.agent)).await;
        if active.at("/status") != "active" {
            let ada = json!({ "name": "Ada", "type": "ai", "metadata": { "level": 1 } });
            known.agent = self.api.post("/v1/agents").json(ada).await.expect(201).id();
        }
        let calendar = self.api.get(format!("/v1/calendars/{}", known.calendar)).await;
        if calendar.at("/agentId") != known.agent.as_str() {
            let work = json!({ "name": "Work", "timezone": "Europe/Berlin" });
            let path = format!("/v1/agents/{}/calendars", known.agent);
            known.calendar = self.api.post(path).json(work).await.expect(201).id();
        }
        let event = self.api.get(format!("/v1/calendars/{}/events/{}", known.calendar, known.event)).await;
        if event.status != 200 {
            let path = format!("/v1/calendars/{}/events", known.calendar);
            // The description's examples are on the same day, so they change the event without contradictions.
            let standup = json!({ "title": "Stand-up", "start_time": "2026-03-02T09:00:00Z",
                "end_time": "2026-03-02T09:15:00Z", "description": "Daily" });
            known.event = self.api.post(path).json(standup).await.expect(201).id();
        }
        known.stored = self.stored(&known).await;
        *self.known.borrow_mut() = known;
    }

    /// The lists of the data, each with its total.
    async fn stored(&self, known: &Known) -> Vec<Value> {
        let lists = [
            "/v1/agents?limit=200".to_owned(),
            "/v1/calendars?include=all&limit=200".to_owned(),
            format!("/v1/agents/{}/events?limit=200", known.agent),
            format!("/v1/calendars/{}", known.calendar),
        ];
        let mut stored = Vec::new();
        for list in lists {
            stored.push(self.api.get(list).await.expect(200).json);
        }
        stored
    }

    /// Sends the attack. Returns the status, or a description of what went wrong.
    async fn withstands(&self, operation: &Operation, attack: &Attack) -> Result<u16, String> {
        let known = self.known.borrow().clone();
        let request = self.request(attack, &known);
        let answer = match raw::send(self.address, &request).await {
            // A head of this length is refused before there is a request to answer.
            Some(answer) if answer.status == 431 && head_length(&request) >= HEAD_MAX => return Ok(431),
            Some(answer) => answer,
            // An address of this length is refused before there is a request to answer.
            None if request.split(|byte| *byte == b'\r').next().is_some_and(|line| line.len() > ADDRESS_MAX) => {
                return Ok(414);
            }
            None => return Err("no answer".to_owned()),
        };
        if let Some(fault) = answer.fault() {
            return Err(fault);
        }
        let refused = answer.status >= 400;
        if operation.keyed && !attack.authorized && !refused {
            return Err(format!("answered without a key: {answer:?}"));
        }
        if !operation.writes() {
            return Ok(answer.status);
        }
        if !refused {
            self.settle().await;
        } else if self.stored(&known).await != known.stored {
            return Err(format!("refused, and yet something changed: {answer:?}"));
        }
        Ok(answer.status)
    }

    fn request(&self, attack: &Attack, known: &Known) -> Vec<u8> {
        let marks: [(&str, &str); 5] = [
            (AGENT, &known.agent),
            (CALENDAR, &known.calendar),
            (EVENT, &known.event),
            (FOREIGN_AGENT, &self.foreign_agent),
            (KEY, &self.key),
        ];
        let filled = |text: &[u8]| filled(text, &marks);
        let mut request = [attack.method.as_bytes(), b" ", &filled(&attack.target), b" HTTP/1.1\r\n"].concat();
        let mut header = |name: &str, value: &[u8]| request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        if attack.headers.iter().all(|(name, _)| *name != "Host") {
            header("Host", b"localhost");
        }
        header("Connection", b"close");
        for (name, value) in &attack.headers {
            header(name, &filled(value));
        }
        let body = attack.body.as_deref().map(filled);
        if let Some(body) = &body {
            header("Content-Length", body.len().to_string().as_bytes());
        }
        request.extend(b"\r\n");
        request.extend(body.unwrap_or_default());
        request
    }
}

/// Replaces the marks with the real values in one pass, because bodies are long.
fn filled(text: &[u8], marks: &[(&str, &str)]) -> Vec<u8> {
    let mut parts = text.split(|byte| *byte == b'@').peekable();
    let mut filled = parts.next().unwrap_or_default().to_vec();
    while let Some(part) = parts.next() {
        let mark = marks.iter().find(|(mark, _)| mark.trim_matches('@').as_bytes() == part);
        match mark.filter(|_| parts.peek().is_some()) {
            Some((_, real)) => {
                filled.extend(real.as_bytes());
                filled.extend(parts.next().unwrap_or_default());
            }
            None => {
                filled.push(b'@');
                filled.extend(part);
            }
        }
    }
    filled
}

#[test]
fn marks_are_filled_in() {
    let marks = [("@a@", "1"), ("@b@", "2")];
    for (text, expected) in [("", ""), ("@a@", "1"), ("x@a@@b@y", "x12y"), ("a@", "a@"), ("@a", "@a"), ("@c@a@", "@c1")]
    {
        assert_eq!(filled(text.as_bytes(), &marks), expected.as_bytes(), "{text}");
    }
}
