//! Runs the Rust code of `docs/use/client.md`, which is in the function below, line by line as printed.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use kalends_client::{
    Client, Error,
    wire::{
        AgentType, ChangeEvent, CreateAgent, CreateCalendar, CreateEvent, ListEvents, ShowEvents, UpdateEvent,
        WaitForApproval,
    },
};
use kalends_e2e::{Database::Sqlite, Guide, Server};

/// The code of the page. Returns the number of listed events.
#[rustfmt::skip]
#[expect(clippy::disallowed_methods, reason = "the reader of the page has no port for the time")]
async fn guide(url: &str, key: &str) -> Result<u32, Error> {
    let mut listed = 0;
    // Such as "https://calendar.example.com" and "svc_sk_…".
    let client = Client::new(url, key)?;
    let ada = CreateAgent { name: "Ada".into(), r#type: AgentType::Ai, description: None, metadata: None };
    let ada = client.create_agent(&ada).await?;
    let work = CreateCalendar { name: "Work".into(), timezone: "Europe/Berlin".into(), ..Default::default() };
    let work = client.create_agent_calendar(ada.id, &work).await?;
    let standup = CreateEvent {
        title: "Standup".into(),
        start_time: "2099-03-02T09:00:00+01:00".into(),
        end_time: "2099-03-02T09:15:00+01:00".into(),
        recurrence_rule: Some("FREQ=WEEKLY;BYDAY=MO,WE".into()),
        recurrence_timezone: Some("Europe/Berlin".into()),
        ..Default::default()
    };
    let made = client.create_event(work.id, &ShowEvents::default(), &standup).send().await?;

    if let Some(etag) = &made.etag {
        let clear = UpdateEvent { description: Some(None), ..Default::default() };
        client.update_event(&made.value.id, &ChangeEvent::default(), &clear).if_match(etag).await?;
    }

    // 30 seconds to 15 minutes ahead.
    let soon = DateTime::<Utc>::from(SystemTime::now() + Duration::from_secs(300));
    let hold = CreateEvent {
        title: "Maybe".into(),
        start_time: "2099-03-03T09:00:00+01:00".into(),
        end_time: "2099-03-03T10:00:00+01:00".into(),
        hold_expires_at: Some(soon.to_rfc3339_opts(SecondsFormat::Secs, true)),
        ..Default::default()
    };
    match client.create_event(work.id, &ShowEvents::default(), &hold).await {
        Err(error) if error.code() == Some("slot_taken") => { /* error.body() has the nearest free times */ }
        other => { other?; }
    }

    let room = UpdateEvent { location: Some(Some("Room 1".into())), ..Default::default() };
    match client.update_event(&made.value.id, &ChangeEvent::default(), &room).await {
        Err(Error::AwaitsApproval(approval)) => {
            let wait = WaitForApproval { wait: Some(30) };
            let decided = client.get_approval(approval.id, &wait).await?; /* … */ let _ = decided.result;
        }
        other => { other?; }
    }

    client.create_event(work.id, &ShowEvents::default(), &standup).idempotency_key("standup-of-2099-03-02").await?;

    let mut query = ListEvents { limit: Some(200), ..Default::default() };
    loop {
        let page = client.list_calendar_events(work.id, &query).await?;
        for event in &page.data { /* … */ let _ = event; listed += 1; }
        let Some(offset) = page.next_offset() else { break };
        query.offset = Some(offset);
    }
    Ok(listed)
}

#[tokio::test]
async fn the_code_of_the_page_works() {
    let server = Server::start(Sqlite).await;
    let org = server.org("pro").await;
    assert_eq!(guide(server.base_url(), &org.key).await.unwrap(), 3);
}

#[test]
fn the_page_has_the_code_that_is_run() {
    let here = include_str!("client_guide.rs");
    let page = Guide::read("docs/use/client.md");
    let code = page.code("rust");
    assert!(code.len() >= 5, "{code:?}");
    for line in code.iter().flat_map(|block| block.lines()).map(str::trim).filter(|line| !line.is_empty()) {
        // What the page leaves to the reader is counted here.
        let line = line.split("/* … */").next().unwrap();
        assert!(here.contains(line), "the test does not run: {line}");
    }
}
