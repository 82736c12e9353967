//! Edge cases of plan limits: the rate and the number of agents of a custom plan, the cost of a crash, and the start
//! of a new month.

use crate::on_both;
use std::time::Instant;

use chrono::Datelike as _;
use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database, Server, at};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::fixtures::{agent, agent_with_calendar, now};

async fn at_once(count: usize, api: &Client, path: &str) -> Vec<Answer> {
    join_all((0..count).map(|_| api.get(path).into_future())).await
}

#[apply(on_both)]
#[tokio::test]
async fn a_custom_plan_allows_200_requests_a_second(#[case] database: Database) {
    const RATE: usize = 200;
    // The rate limit admits this request, and its query is then refused. So the test measures little else, and the
    // client does not check the answers.
    const PATH: &str = "/v1/usage?x=1";
    let server = Server::start(database).await;
    let api = server.api(&server.planned_org("custom", &[]).await).impatient().undescribed();
    let began = Instant::now();
    let (mut admitted, mut refused) = (0_usize, Vec::new());
    // A machine that answers fewer requests in a second meets no limit.
    for round in 0..30 {
        for answer in at_once(RATE, &api, PATH).await {
            match answer.status {
                400 => admitted += 1,
                _ => refused.push(answer),
            }
        }
        assert!(round > 0 || refused.is_empty(), "one second's requests may come at once: {}", refused[0].describe());
        if !refused.is_empty() {
            break;
        }
    }
    let granted = u128::try_from(RATE).unwrap() * (1_000 + began.elapsed().as_millis()) / 1_000;
    assert!(u128::try_from(admitted).unwrap() <= granted, "{admitted} of {granted}");
    for answer in refused {
        let answer = answer.refused(429, "rate_limit_error");
        assert_eq!((answer.header("retry-after"), answer.header("x-service-plan")), ("1", "scale"));
        assert_eq!(answer.header("ratelimit-policy"), "\"burst\";q=200;w=1");
        assert_eq!(answer.header("ratelimit"), "\"burst\";r=0;t=1");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_custom_plan_allows_50_agents_in_a_query(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "custom").await;
    let agents = join_all((0..51).map(|_| agent(&api))).await;
    let across = |agents: &[String]| {
        let agents = agents.join(",");
        api.get(format!("/v1/availability?agents={agents}&start=2031-03-03T09:00:00Z&end=2031-03-03T10:00:00Z"))
    };
    let answer = across(&agents[..50]).await.expect(200);
    assert_eq!((&answer["agents"], answer["slots"].as_array().map(Vec::len)), (&json!(agents[..50]), Some(2)));
    across(&agents).await.refused(400, "bad_request").param("agents").mentions("50 agents");
    // An agent that is named twice counts once.
    across(&[&agents[..50], &agents[..1]].concat()).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_crash_charges_at_most_the_rest_of_a_block(#[case] database: Database) {
    const LIMIT: u64 = 200;
    const CRASHES: u64 = 3;
    // Between the ends of two blocks. A block is a sixteenth of what is left before the last 64 units, at first 8.
    const CALLS: u64 = 20;
    const BLOCK: u64 = 8;
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--limits", r#"{"api_calls":200}"#]).await;
    for _ in 0..CRASHES {
        let api = server.api(&org);
        for _ in 0..CALLS {
            api.get("/v1/agents").await.expect(200);
        }
        server.kill().await;
        server.start_again(&[]).await;
    }
    let api = server.api(&org);
    let calls = api.get("/v1/usage").await.expect(200)["api_calls"].clone();
    let admitted = CRASHES * CALLS + 1;
    let used = calls["used"].as_u64().unwrap();
    assert_eq!((&calls["limit"], &calls["remaining"]), (&json!(LIMIT), &json!(LIMIT - used)));
    let lost = used.checked_sub(admitted).unwrap_or_else(|| panic!("{used} are charged for {admitted}"));
    assert!((CRASHES..=CRASHES * BLOCK).contains(&lost), "{lost} units were lost with {CRASHES} blocks");

    // Only the rest is granted, and none of the last units is lost.
    let answers = at_once(250, &api, "/v1/agents").await;
    let more = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(admitted + u64::try_from(more).unwrap() + lost, LIMIT);
    for answer in answers {
        assert!([200, 429].contains(&answer.status), "{}", answer.describe());
    }
    server.kill().await;
    server.start_again(&[]).await;
    server.api(&org).get("/v1/agents").await.refused(429, "quota_exceeded").mentions("api_calls");
}

/// Requires that the month's availability queries are used up and that the answer names the start of the next month,
/// to the second. Returns the seconds until then.
async fn used_up(api: &Client, path: &str) -> i64 {
    let before = at(&now(api).await);
    let full = api.get(path).await.refused(429, "quota_exceeded").mentions("availability_queries");
    let after = at(&now(api).await);
    let (year, month) = if before.month() == 12 { (before.year() + 1, 1) } else { (before.year(), before.month() + 1) };
    let next = at(&format!("{year}-{month:02}-01T00:00:00Z"));
    let retry_after: i64 = full.header("retry-after").parse().unwrap();
    let (least, most) = ((next - after).num_seconds(), (next - before).num_seconds() + 1);
    assert!((least..=most).contains(&retry_after), "{retry_after} is not in {least}..={most}");
    // The quota's own headers name the same time.
    assert!(full.header("ratelimit").ends_with(&format!(";t={retry_after}")), "{}", full.describe());
    retry_after
}

#[apply(on_both)]
#[tokio::test]
async fn availability_queries_are_granted_again_each_month(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--limits", r#"{"availability_queries":2}"#]).await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/availability?start=2031-03-03T09:00:00Z&end=2031-03-03T10:00:00Z");
    for _ in 0..2 {
        api.get(&path).await.expect(200);
    }
    let left = used_up(&api, &path).await;
    // In the last minute of the month, unless that has begun already.
    if left > 120 {
        server.restart_at_offset(left - 60).await;
        assert!(used_up(&server.api(&org), &path).await <= 60);
    }
    server.restart_at_offset(left + 1).await;
    let api = server.api(&org);
    for _ in 0..2 {
        api.get(&path).await.expect(200);
    }
    used_up(&api, &path).await;
}
