//! Decisions on approvals while others decide or write, approvals expire, or keys are revoked, on three nodes.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database::Postgres, Receiver, Server, shifted};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    approvals::{APPROVALS, LOG, asking, asking_key, decided, events, path, text, waiting},
    bookings::{booking, starts},
    change_feed::CHANGES,
    fixtures::{PATIENCE, agent_with_calendar, event_body},
    holds::{hold_body, in_seconds},
    proposal_races::{at_once, hour},
    proposals::key_of,
    webhooks::{hook, with_receiver},
};

/// How many nodes share the database.
const NODES: usize = 3;

/// What a feed entry or a message shows: its type, and the identifier and the status of its resource.
type Fact = (String, String, String);

/// Three nodes, and an agent with a calendar.
struct Nodes {
    server: Server,
    others: [Server; NODES - 1],
    api: Client,
    receiver: Receiver,
    agent: String,
    calendar: String,
    /// The place in the change feed after which everything happens.
    since: String,
}

impl Nodes {
    /// Starts the nodes. The last one also gets these variables.
    async fn start(last: &[(&str, &str)]) -> Self {
        let (server, api, receiver) = with_receiver(Postgres, "custom").await;
        let others = [server.another_node().await, server.another_node_with(&[], last).await];
        let (agent, calendar) = agent_with_calendar(&api).await;
        hook(&api, &receiver, "/", &["approval.decided", "event.created"]).await;
        let since = text(&api.get(CHANGES).await.expect(200)["next"]);
        Self { server, others, api, receiver, agent, calendar, since }
    }

    /// The same client on the node whose turn it is.
    fn on(&self, number: usize, client: &Client) -> Client {
        let node = match number % NODES {
            0 => &self.server,
            other => &self.others[other - 1],
        };
        client.moved_to(node.base_url())
    }

    /// A client of the organization on the node whose turn it is.
    fn api(&self, number: usize) -> Client {
        self.on(number, &self.api)
    }

    /// Asks on a node for an event in the hour of a round.
    async fn ask(&self, number: usize, own: &Client, round: usize) -> Value {
        let (start, end) = hour(round);
        let body = event_body("Kick-off", &start, &end);
        waiting(self.on(number, own).post(events(&self.calendar)).json(body).await)
    }

    /// Requires that nothing blocks the hour of a round, and takes it.
    async fn is_free(&self, round: usize) {
        let (start, end) = hour(round);
        let mut body = event_body("Other", &start, &end);
        body["if_free"] = json!(true);
        self.api(round).post(events(&self.calendar)).json(body).await.expect(201);
    }

    /// The approvals as they are in the end, in their order. Requires that every node shows the same, that each
    /// approved write was made once and nothing else, and that the feed, the messages and the log have each decision
    /// once.
    async fn ended(&self, asked: &[Value]) -> Vec<Value> {
        let (mut ended, mut expected) = (Vec::<Value>::new(), Vec::<Fact>::new());
        let (mut made, mut logged) = (BTreeSet::new(), BTreeMap::new());
        for approval in asked {
            let shown = self.outcome(approval).await;
            let (id, status) = (text(&approval["id"]), text(&shown["status"]));
            if status == "approved" {
                let event = text(&shown["result"]["body"]["id"]);
                expected.push(("event.created".to_owned(), event.clone(), "confirmed".to_owned()));
                made.insert(event);
            }
            let action = match status.as_str() {
                "approved" | "failed" => Some("approval.approve"),
                "denied" => Some("approval.deny"),
                "cancelled" => Some("approval.cancel"),
                "expired" => None,
                _ => panic!("{shown:#}"),
            };
            logged.extend(action.map(|action| (id.clone(), action.to_owned())));
            expected.push(("approval.decided".to_owned(), id, status));
            ended.push(shown);
        }
        expected.sort();
        let listed = self.api.get(events(&self.calendar)).query(&[("limit", "200")]).await.expect(200);
        assert_eq!(listed.column("id").into_iter().collect::<BTreeSet<_>>(), made);
        assert_eq!(self.fed().await, expected, "the feed");
        assert_eq!(self.announced(expected.len()).await, expected, "the messages");
        let log = self.api.get(LOG).query(&[("limit", "200")]).await.expect(200).data();
        let decisions: Vec<(String, String)> = log
            .iter()
            .filter(|entry| text(&entry["action"]).starts_with("approval."))
            .map(|entry| (text(&entry["resource"]), text(&entry["action"])))
            .collect();
        assert_eq!(decisions.len(), logged.len(), "{decisions:#?}");
        assert_eq!(decisions.into_iter().collect::<BTreeMap<_, _>>(), logged);
        let created = log.iter().filter(|entry| entry["action"] == "event.create" && entry["status"] == 201);
        assert_eq!(created.count(), made.len(), "{log:#?}");
        ended
    }

    /// An approval that is decided. Requires that every node shows the same.
    async fn outcome(&self, approval: &Value) -> Value {
        // Each node names its own address in `decide_url`.
        let facts = |shown: &Value| ["status", "decided_at", "decided_by", "result"].map(|field| shown[field].clone());
        let mut shown = Vec::new();
        for node in 0..NODES {
            shown.push(self.api(node).get(path(approval)).await.expect(200).json);
        }
        assert!(shown.iter().all(|one| facts(one) == facts(&shown[0])), "{shown:#?}");
        shown.swap_remove(0)
    }

    /// The decisions and new events in the feed, sorted.
    async fn fed(&self) -> Vec<Fact> {
        let query = [("since", self.since.as_str()), ("types", "approval.decided,event.created"), ("limit", "200")];
        let page = self.api.get(CHANGES).query(&query).await.expect(200);
        assert_eq!(page["has_more"], json!(false));
        let mut facts: Vec<_> = page.data().iter().map(|entry| fact(&text(&entry["type"]), &entry["body"])).collect();
        facts.sort();
        facts
    }

    /// The messages, sorted, once there are this many. A message that was delivered twice counts once.
    async fn announced(&self, count: usize) -> Vec<Fact> {
        let began = Instant::now();
        loop {
            let received = self.receiver.received("/");
            let messages: BTreeMap<_, _> = received
                .iter()
                .map(|one| (one.header("x-delivery-id").to_owned(), fact(one.event_type(), &one.json())))
                .collect();
            if messages.len() >= count {
                let mut facts: Vec<_> = messages.into_values().collect();
                facts.sort();
                return facts;
            }
            assert!(began.elapsed() < PATIENCE, "{} of {count} messages: {messages:#?}", messages.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn fact(kind: &str, body: &Value) -> Fact {
    (kind.to_owned(), text(&body["id"]), text(&body["status"]))
}

/// Whether a decision was accepted. Requires that it came too late otherwise.
#[track_caller]
fn is_accepted(answer: Answer) -> bool {
    if answer.status == 200 {
        return true;
    }
    answer.refused(409, "conflict").code("approval_decided");
    false
}

#[tokio::test]
async fn of_three_deciders_on_three_nodes_one_decides() {
    const ROUNDS: usize = 9;
    let nodes = Nodes::start(&[]).await;
    let own = asking(&nodes.server, &nodes.api, &nodes.agent, json!("writes")).await;
    let mut asked = Vec::new();
    for round in 0..ROUNDS {
        let approval = nodes.ask(round, &own, round).await;
        let mut ways = ["approve", "approve", "deny"];
        let turned = round % ways.len();
        ways.rotate_left(turned);
        let decisions = ways.iter().enumerate().map(|(number, how)| {
            let (by, approval) = (nodes.api(number + round / NODES), &approval);
            async move { (*how, decided(&by, approval, how).await) }
        });
        let answers = join_all(decisions).await;
        let status = text(&nodes.outcome(&approval).await["status"]);
        let mut accepted = BTreeSet::new();
        for (how, answer) in answers {
            if is_accepted(answer) {
                accepted.insert(how);
            }
        }
        let counts = if status == "approved" { "approve" } else { "deny" };
        assert_eq!(accepted, BTreeSet::from([counts]), "{status}");
        asked.push(approval);
    }
    let ended = nodes.ended(&asked).await;
    for (round, approval) in ended.iter().enumerate() {
        if approval["status"] == "denied" {
            nodes.is_free(round).await;
        }
    }
}

#[tokio::test]
async fn a_time_is_asked_for_or_taken_or_held_or_booked() {
    const ROUNDS: usize = 8;
    let nodes = Nodes::start(&[]).await;
    let own = asking(&nodes.server, &nodes.api, &nodes.agent, json!("writes")).await;
    let plain = key_of(&nodes.server, &nodes.api, &nodes.agent).await;
    let guest = nodes.server.anonymous();
    let body = json!({ "calendar_id": nodes.calendar, "title": "Talk", "duration_minutes": 60, "window_days": 7 });
    let page = nodes.api.post("/v1/booking-pages").json(body).await.expect(201);
    let book = format!("/book/{}", text(&page["slug"]));
    let shows = format!("{book}/slots");
    let offered = async |number: usize| starts(&nodes.on(number, &guest).get(&shows).await.expect(200));
    let slots = offered(0).await;
    let until = in_seconds(&nodes.api, 890).await;
    let all = events(&nodes.calendar);
    let mut asked = 0;
    for round in 0..ROUNDS {
        let start = slots[10 + 2 * round].as_str();
        let end = shifted(start, 60);
        let mut free = event_body("Kick-off", start, &end);
        free["if_free"] = json!(true);
        let mut guests = booking(start);
        guests["email"] = json!(format!("guest-{round}@example.com"));
        let mut calls = vec![
            nodes.on(round, &own).post(&all).json(free.clone()),
            nodes.on(round + 1, &nodes.api).post(&all).json(free),
            nodes.on(round + 2, &plain).post(&all).json(hold_body(start, &end, &until, 0)),
            nodes.on(round / NODES, &guest).post(&book).json(guests),
        ];
        let count = calls.len();
        calls.rotate_left(round % count);
        let answers = at_once(calls).await.into_iter();
        let (mut taken, refused): (Vec<_>, Vec<_>) = answers.partition(|answer| answer.status < 300);
        assert_eq!((taken.len(), refused.len()), (1, count - 1), "{taken:#?}\n{refused:#?}");
        for answer in refused {
            answer.expect(409).code("slot_taken");
        }
        let winner = taken.remove(0);
        if winner.status == 202 {
            // Nothing has taken the time since.
            let approved = decided(&nodes.api(round + 1), &waiting(winner), "approve").await.expect(200);
            assert_eq!(approved["status"], "approved", "{}", approved.describe());
            asked += 1;
        } else {
            winner.expect(201);
        }
        for node in 0..NODES {
            assert!(!offered(node).await.iter().any(|slot| slot == start), "node {node} offers {start}");
        }
        // Each round has another time, so that no two events overlap.
        assert_eq!(nodes.api(round).get(&all).await.expect(200)["total"], round + 1);
    }
    eprintln!("{asked} of {ROUNDS} times were asked for first");
    assert_eq!(nodes.api.get(format!("{APPROVALS}?status=approved")).await.expect(200)["total"], asked);
}

#[tokio::test]
async fn an_approval_is_decided_or_expires_on_a_node_whose_clock_is_ahead() {
    const ASKED: usize = 40;
    const WAITING: usize = 10;
    /// The node for which approvals of ten minutes have expired as soon as they are asked for.
    const AHEAD: usize = 2;
    let nodes = Nodes::start(&[("KALENDS_CLOCK_OFFSET_SECONDS", "700")]).await;
    let body = json!({ "agent_id": nodes.agent, "requires_approval": "writes", "approval_expires_in_minutes": 10 });
    let own = nodes.server.client(&text(&nodes.api.post("/v1/keys").json(body).await.expect(201)["key"]));
    let (mut pending, mut asked, mut expected) = (VecDeque::new(), Vec::new(), Vec::new());
    // One is approved at once. The node that is ahead may be faster, but not each time.
    while !expected.contains(&"approved") {
        assert!(asked.len() < WAITING, "none can be approved: {asked:#?}");
        let approval = nodes.ask(0, &own, asked.len()).await;
        let is_approved = is_accepted(decided(&nodes.api(0), &approval, "approve").await);
        expected.push(if is_approved { "approved" } else { "expired" });
        asked.push(approval);
    }
    let first = asked.len();
    for number in 0..ASKED {
        pending.push_back(nodes.ask(number % AHEAD, &own, first + number).await);
        // Each of them waits while others are asked for, and the node that is ahead looks for expired ones.
        if pending.len() <= WAITING {
            continue;
        }
        let approval = pending.pop_front().unwrap();
        let (here, there) = (nodes.api(number % AHEAD), nodes.api(AHEAD));
        let (here, there) = tokio::join!(decided(&here, &approval, "approve"), decided(&there, &approval, "approve"));
        let (here, there) = (is_accepted(here), is_accepted(there));
        assert!(here || !there, "{approval:#}");
        expected.push(if here { "approved" } else { "expired" });
        asked.push(approval);
    }
    // Nobody decides the others.
    for approval in pending {
        let began = Instant::now();
        while nodes.api.get(path(&approval)).await.expect(200)["status"] != "expired" {
            assert!(began.elapsed() < PATIENCE, "{approval:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        expected.push("expired");
        asked.push(approval);
    }
    let approved = expected.iter().filter(|status| **status == "approved").count();
    assert!(approved > 0 && approved < expected.len(), "{expected:?}");
    eprintln!("{approved} of {} were approved before they expired", expected.len() - WAITING);
    let ended = nodes.ended(&asked).await;
    assert_eq!(ended.iter().map(|one| text(&one["status"])).collect::<Vec<_>>(), expected);
    for (number, status) in expected.iter().enumerate() {
        if *status == "expired" {
            nodes.is_free(number).await;
        }
    }
}

#[tokio::test]
async fn the_write_of_a_revoked_key_is_made_before_the_revocation_is_answered_or_never() {
    const KEYS: usize = 12;
    /// The node that revokes.
    const REVOKES: usize = 1;
    let nodes = Nodes::start(&[]).await;
    let mut keys = Vec::new();
    for number in 0..KEYS {
        let key = asking_key(&nodes.api, &nodes.agent, json!("writes")).await;
        let own = nodes.server.client(&text(&key["key"]));
        let approval = nodes.ask(number, &own, number).await;
        keys.push((key.id(), own, approval));
    }
    let races = keys.iter().enumerate().map(|(number, (key, own, approval))| {
        let nodes = &nodes;
        async move {
            let (approver, revoker) = (nodes.api(2 * (number % 2)), nodes.api(REVOKES));
            let approve = async || decided(&approver, approval, "approve").await;
            let revoke = async || {
                revoker.delete(format!("/v1/keys/{key}")).await.expect(204);
                text(&nodes.api(number).get(path(approval)).await.expect(200)["status"])
            };
            match number % 3 {
                // One after the other.
                0 => (approve().await, revoke().await),
                // At once.
                1 => tokio::join!(approve(), revoke()),
                // When the key is revoked, and other nodes may still accept it.
                _ => {
                    let late = async {
                        let own = nodes.on(REVOKES, own);
                        let began = Instant::now();
                        while own.get(APPROVALS).await.status != 401 {
                            assert!(began.elapsed() < PATIENCE, "the key {number} is in force");
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                        approve().await
                    };
                    tokio::join!(late, revoke())
                }
            }
        }
    });
    let outcomes = join_all(races).await;
    let asked: Vec<Value> = keys.iter().map(|(_, _, approval)| approval.clone()).collect();
    let ended = nodes.ended(&asked).await;
    let mut counts = BTreeMap::<String, usize>::new();
    for (number, ((answer, when_revoked), approval)) in outcomes.into_iter().zip(&ended).enumerate() {
        let status = text(&approval["status"]);
        assert_eq!(when_revoked, status, "nothing is decided after the answer to the revocation");
        assert_eq!(is_accepted(answer), ["approved", "failed"].contains(&status.as_str()), "{approval:#}");
        match status.as_str() {
            "approved" => {}
            "failed" => assert_eq!(approval["result"]["status"], 401, "{approval:#}"),
            _ => assert_eq!(status, "cancelled", "{approval:#}"),
        }
        match number % 3 {
            0 => assert_eq!(status, "approved", "{approval:#}"),
            1 => {}
            _ => assert_ne!(status, "approved", "{approval:#}"),
        }
        if status != "approved" {
            nodes.is_free(number).await;
        }
        nodes.on(number, &keys[number].1).get(APPROVALS).await.refused(401, "unauthorized");
        *counts.entry(status).or_default() += 1;
    }
    eprintln!("{counts:?}");
}
