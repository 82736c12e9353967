//! Every page that the console leads to, as each kind of visitor: addresses lead to pages, roles hold, and nobody of
//! another organization sees anything.

use std::collections::BTreeSet;

use kalends_e2e::{Behaviour, Client, Database, Receiver, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::Human,
    fixtures::{event_body, now, wait_for},
    holds::in_seconds,
    members::{invite, member},
    on_both,
    pages::Pages,
    proposals::{PROPOSALS, slot},
    subscriber::NOWHERE,
};

/// In each name that the owner gives, so that no page of another organization can have it by chance.
const MARK: &str = "Zwirbelkopf";
const START: &str = "/console";
/// More addresses than the pages have.
const ADDRESSES_MAX: usize = 500;

/// The addresses on this server in the attributes of a page with that name, without their fragments.
fn addresses(text: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    let values = text.split(&begin).skip(1).map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
    let local = values.filter(|value| value.starts_with('/') && !value.starts_with("//"));
    local.map(|value| value.split('#').next().unwrap().to_owned()).collect()
}

/// Everything that an owner can have.
async fn furnish(server: &Server, owner: &Client, receiver: &Receiver) {
    let agent = owner.post("/v1/agents").json(json!({ "name": MARK, "type": "ai" })).await.expect(201).id();
    let calendar = json!({ "name": MARK, "timezone": "Europe/Berlin" });
    let calendar = owner.post(format!("/v1/agents/{agent}/calendars")).json(calendar).await.expect(201).id();
    // Events can move there.
    owner.post("/v1/calendars").json(json!({ "name": MARK, "timezone": "UTC" })).await.expect(201);
    let events = format!("/v1/calendars/{calendar}/events");
    let rules = json!({ "buffer_after_minutes": 15, "overrides": [{ "date": "2027-12-24", "working_hours": null }] });
    owner.put(format!("/v1/calendars/{calendar}/availability-rules")).json(rules).await.expect(200);
    // The calendar shows this week, in whichever zone.
    let began = now(owner).await;
    let event = |more: Value| {
        let mut event = event_body(MARK, &shifted(&began, 0), &shifted(&began, 30));
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        owner.post(&events).json(event)
    };
    event(json!({})).await.expect(201);
    event(json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" })).await.expect(201);
    let key = json!({ "agent_id": agent, "label": MARK, "requires_approval": "writes" });
    let key = owner.post("/v1/auth/keys/scoped").json(key).await.expect(201);
    let asking = server.client(key["key"].as_str().unwrap());
    receiver.always(&format!("/{MARK}"), Behaviour::Answer(500));
    let webhook = json!({ "url": receiver.url(&format!("/{MARK}")), "events": ["*"] });
    let webhook = owner.post("/v1/webhooks").json(webhook).await.expect(201).id();
    event(json!({})).await.expect(201);
    let write = event_body(MARK, &shifted(&began, 60), &shifted(&began, 90));
    asking.post(&events).json(write).await.expect(202);
    let deliveries = format!("/v1/webhooks/{webhook}/deliveries");
    wait_for(async || owner.get(&deliveries).await, |known| !known.data().is_empty()).await;
    let subscription = json!({ "calendar_id": calendar, "url": NOWHERE, "label": MARK });
    owner.post(format!("/v1/agents/{agent}/ical-subscriptions")).json(subscription).await.expect(201);
    invite(owner, "invited@example.com", "viewer").await.expect(201);
    owner.post("/v1/auth/claim/initiate").json(json!({ "email": "claimed@example.com" })).await.expect(200);
    // After the last occurrence of the series, at whatever hour the test runs.
    let mut hold = event_body(MARK, &in_seconds(owner, 864_000).await, &in_seconds(owner, 865_800).await);
    hold["status"] = json!("hold");
    hold["hold_expires_at"] = json!(in_seconds(owner, 840).await);
    owner.post(&events).json(hold).await.expect(201);
    let guest = owner.post("/v1/agents").json(json!({ "name": MARK, "type": "ai" })).await.expect(201).id();
    let proposal = json!({
        "title": MARK, "organizer_agent_id": agent, "participant_agent_ids": [guest], "calendar_id": calendar,
        "slots": [slot("10:00", "10:30")],
    });
    owner.post(PROPOSALS).json(proposal).await.expect(201);
    let question = json!({ "id": "topic", "label": MARK, "type": "text" });
    let page = json!({ "calendar_id": calendar, "title": MARK, "slug": "crawled", "questions": [question] });
    owner.post("/v1/booking-pages").json(page).await.expect(201);
    let slots = owner.get("/book/crawled/slots").await.expect(200);
    let booking = json!({
        "name": MARK, "email": "guest@example.com", "answers": { "topic": MARK },
        "start": slots["slots"].as_array().unwrap().last().unwrap()["start"]
    });
    owner.post("/book/crawled").json(booking).await.expect(201);
}

/// The calendar leads to other dates without end, and to a form from every hour, and a drawing to other weeks. Some of
/// them stand for all.
const DATES: usize = 20;

/// Opens every page to which the pages of the visitor lead. Returns the paths of the pages, and of the forms on them.
async fn crawl(pages: &mut Pages<'_>) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut opened, mut forms) = (BTreeSet::<String>::new(), BTreeSet::new());
    let mut waiting = vec![START.to_owned()];
    while let Some(path) = waiting.pop() {
        // Files can be downloaded only a few times an hour.
        if path.split('?').next().is_some_and(|path| path.ends_with("/file")) {
            continue;
        }
        let enough =
            |time: &str| path.contains(time) && opened.iter().filter(|path| path.contains(time)).count() >= DATES;
        let seen_enough = enough("date=") || enough("start=") || enough("week=");
        if seen_enough || !opened.insert(path.clone()) {
            continue;
        }
        assert!(opened.len() < ADDRESSES_MAX, "the pages lead to ever more addresses: {opened:#?}");
        let seen = pages.open(&path).await;
        // The question whether the last owner leaves says that this is not possible.
        assert!([200, 409].contains(&seen.status), "{path} is {} {}", seen.status, seen.text);
        if !path.starts_with(START) {
            continue;
        }
        waiting.extend(addresses(&seen.text, "href"));
        for form in seen.text.split("<form ").skip(1).filter(|form| form.starts_with("method=\"post\"")) {
            let form = format!(" {}", form.split("</form>").next().unwrap());
            forms.extend(addresses(&form, "action").into_iter().chain(addresses(&form, "formaction")));
        }
    }
    (opened.into_iter().filter(|path| path.starts_with(START)).collect(), forms)
}

/// The forms that change only what is the user's own, whatever the role.
fn is_own(form: &str) -> bool {
    ["sign-", "forgot", "reset", "invitations", "orgs/", "claims", "account", "security", "connect", "verify"]
        .iter()
        .any(|own| form.strip_prefix("/console/").is_some_and(|form| form.starts_with(own)))
}

/// What the forms could change.
async fn state(owner: &Client) -> Vec<Value> {
    let mut state = Vec::new();
    for path in ["/v1/agents", "/v1/calendars", "/v1/keys", "/v1/webhooks", "/v1/auth/members", "/v1/auth/me"] {
        state.push(owner.get(path).await.expect(200).json);
    }
    let pages = owner.get("/v1/booking-pages").await.expect(200);
    for id in pages.column("id") {
        state.push(owner.get(format!("/v1/booking-pages/{id}/bookings")).await.expect(200).json);
    }
    state.push(pages.json);
    state
}

#[apply(on_both)]
#[tokio::test]
async fn every_address_leads_to_a_page_that_minds_the_role(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let settings = [("KALENDS_EGRESS_ALLOW", receiver.address()), ("KALENDS_SIGNUP_PLAN", "custom")];
    let server = Server::start_with(database, &settings).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    furnish(&server, &owner, &receiver).await;
    let mut visitors = Vec::new();
    for role in ["admin", "member", "viewer"] {
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        visitors.push((role, human));
    }
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let (opened, forms) = crawl(&mut pages).await;
    for part in [
        "agents/agt_",
        "keys",
        "keys/replace",
        "console/calendars/cal_",
        "waiting",
        "approvals/apr_",
        "proposals/spr_",
        "webhooks/whk_",
        "calendar/events/evt_",
        "feeds/calendars/cal_",
        "feeds/subscriptions/isub_",
        "availability/cal_",
        "availability/test",
        "booking-pages/bkp_",
        "bookings/bkg_",
        "activity",
        "usage",
        "members",
        "export",
        "orgs",
        "claims/clm_",
    ] {
        assert!(opened.iter().any(|path| path.contains(part)), "no page of {part}: {opened:#?}");
    }
    let before = state(&owner).await;

    for (role, human) in visitors {
        let mut pages = Pages::new(&server);
        pages.sign_in_to(&human.email, &ada.org).await;
        // What is offered is allowed.
        let (offered, _) = crawl(&mut pages).await;
        assert!(offered.len() > 10, "{role} sees {offered:#?}");
        for path in &opened {
            let seen = pages.open(path).await;
            assert!([200, 303, 403, 409].contains(&seen.status), "{role}: {path} is {} {}", seen.status, seen.text);
        }
        if role == "viewer" {
            // Everybody may leave.
            for form in forms.iter().filter(|form| !is_own(form) && !form.contains(&human.user)) {
                let seen = pages.send(form, &[("org", &*ada.org)]).await;
                assert_eq!(seen.status, 403, "{form} by a viewer: {}", seen.text);
            }
        }
    }

    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut theirs = Pages::new(&server);
    theirs.sign_in(&eve.email).await;
    let mut nobody = Pages::new(&server);
    for path in &opened {
        let seen = theirs.open(path).await;
        assert!([200, 303, 404].contains(&seen.status), "{path} is {} {}", seen.status, seen.text);
        assert!(!seen.text.contains(MARK), "{path}: {}", seen.text);
        let seen = nobody.open(path).await;
        assert!(!seen.text.contains(MARK) && [200, 303].contains(&seen.status), "{path} is {}", seen.status);
    }
    for form in forms.iter().filter(|form| !form.starts_with("/console/sign-out")) {
        for org in [&ada.org, &eve.org] {
            let seen = theirs.send(form, &[("org", org)]).await;
            assert!(seen.status < 500 && !seen.text.contains(MARK), "{form} is {} {}", seen.status, seen.text);
        }
        let seen = nobody.send(form, &[("org", &*ada.org)]).await;
        assert!(seen.status < 500 && !seen.text.contains(MARK), "{form} is {}", seen.status);
    }
    assert_eq!(state(&owner).await, before, "nobody changed anything");
}
