//! The console's pages about availability, by their forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::Human,
    fixtures::event,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const LIST: &str = "/console/availability";
const TESTER: &str = "/console/availability/test";
/// The plan has no limit of speed.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];
const EVIL: &str = "https://evil.example";
const CHANGED: &str = "The rules have changed since you opened this page.";
/// The fields of the form of the buffers and the working hours.
const FIELDS: [&str; 11] = [
    "buffer_before_minutes",
    "buffer_after_minutes",
    "working_hours",
    "timezone",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
];

async fn agent(owner: &Client, name: &str) -> String {
    owner.post("/v1/agents").json(json!({ "name": name, "type": "resource" })).await.expect(201).id()
}

async fn calendar(owner: &Client, agent: &str, name: &str) -> String {
    let body = json!({ "name": name, "timezone": "Europe/Berlin" });
    owner.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id()
}

fn api(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/availability-rules")
}

async fn rules(owner: &Client, calendar: &str) -> Value {
    owner.get(api(calendar)).await.expect(200).json
}

/// The part of the page with the form that is sent to this address.
fn form<'a>(text: &'a str, action: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("action=\"{action}\"")).unwrap();
    rest.split("</form>").next().unwrap()
}

/// What a browser sends from the form of the rules, in which these fields were typed over.
fn sent(page: &str, action: &str, typed: &[(&'static str, &str)]) -> Vec<(String, String)> {
    let form = form(page, action);
    let mut fields: Vec<(String, String)> =
        ["org", "once", "version"].map(|name| (name.to_owned(), hidden(form, name))).into();
    for name in FIELDS {
        let was = hidden(form, &format!("was_{name}"));
        let text = typed.iter().find(|(typed, _)| *typed == name).map_or(&*was, |(_, text)| *text);
        fields.push((name.to_owned(), text.to_owned()));
        fields.push((format!("was_{name}"), was));
    }
    fields
}

fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn rules_are_changed_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.open(LIST).await.leads_to("/console/sign-in?next=%2Fconsole%2Favailability");
    pages.sign_in(&ada.email).await;
    pages.open(LIST).await.says(200, "There are no calendars yet.");
    let agent = agent(&owner, HOSTILE).await;
    let calendar = calendar(&owner, &agent, HOSTILE).await;
    pages.open(LIST).await.says(200, "No working hours: every time that is free is offered.");
    pages.open(&format!("/console/agents/{agent}")).await.says(200, &format!("href=\"{LIST}/{calendar}\""));

    let shown = format!("{LIST}/{calendar}");
    let page = pages.open(&shown).await.says(200, "Change the rules");
    let week = [("working_hours", "hours"), ("mon", "9-17"), ("tue", "09:00-17:00"), ("buffer_before_minutes", "15")];
    // What is wrong is beside its field, and what was typed stays.
    let typed = [("buffer_before_minutes", "121"), ("working_hours", "hours"), ("mon", "17-9"), ("tue", "9-12, 13-17")];
    let wrong = pages.send(&shown, &borrowed(&sent(&page.text, &shown, &typed))).await;
    let wrong = wrong.says(400, "aria-describedby=\"mon-problem\"").says(400, "aria-describedby=\"tue-problem\"");
    let wrong = wrong.says(400, "Must end after it starts").says(400, "buffer_before_minutes-problem");
    assert!(wrong.text.contains("value=\"9-12, 13-17\"") && wrong.text.contains("<title>Error: "), "{}", wrong.text);
    let unused = pages.send(&shown, &borrowed(&sent(&page.text, &shown, &[("mon", "9-17")]))).await;
    unused.says(400, "working_hours-problem");
    owner.get(api(&calendar)).await.refused(404, "not_found");

    // Two tabs that saw no rules: the second one does not replace what the first one made.
    let (first, second) = (sent(&page.text, &shown, &week), pages.open(&shown).await);
    assert_eq!(pages.send_from(EVIL, &shown, &borrowed(&first)).await.status, 403);
    for _ in 0..2 {
        pages.send(&shown, &borrowed(&first)).await.leads_to(&format!("{shown}?done=saved"));
    }
    let day = json!({ "start": "09:00", "end": "17:00" });
    let now = rules(&owner, &calendar).await;
    assert_eq!(now["working_hours"], json!({ "mon": day, "tue": day }));
    assert_eq!((&now["buffer_before_minutes"], &now["timezone"]), (&json!(15), &json!("Europe/Berlin")));
    let typed = sent(&second.text, &shown, &[("working_hours", "hours"), ("sat", "10-12")]);
    let stale = pages.send(&shown, &borrowed(&typed)).await.says(412, CHANGED);
    assert!(stale.text.contains("value=\"10-12\"") && stale.text.contains("value=\"09:00-17:00\""), "{}", stale.text);
    pages.open(&shown).await.says(200, "Mon–Tue 09:00–17:00; 15 minutes free before events.");
    pages.open(LIST).await.says(200, "Mon–Tue 09:00–17:00; 15 minutes free before events.");
    // Sent again from the page that shows the current state, it changes only what was typed over.
    let typed = sent(&stale.text, &shown, &[("sat", "10-12")]);
    pages.send(&shown, &borrowed(&typed)).await.leads_to(&format!("{shown}?done=saved"));
    let now = rules(&owner, &calendar).await;
    let saturday = json!({ "start": "10:00", "end": "12:00" });
    assert_eq!(now["working_hours"], json!({ "mon": day, "tue": day, "sat": saturday }));
    assert_eq!(now["buffer_before_minutes"], 15);
    pages.send(&shown, &borrowed(&typed)[1..]).await.says(409, "You switched to another organization in another tab");
    let missing = format!("{LIST}/cal_01jn8r7d2xe9tvn4a6k8m0pqrs");
    pages.open(&missing).await.says(404, "There is no such calendar any more.");
}

#[apply(on_both)]
#[tokio::test]
async fn dates_get_other_hours_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let agent = agent(&owner, "Room").await;
    let calendar = calendar(&owner, &agent, "Desk").await;
    let (shown, dates) = (format!("{LIST}/{calendar}"), format!("{LIST}/{calendar}/dates"));
    let (take, remove) = (format!("{dates}/remove"), format!("{shown}/remove"));
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let dated = |page: &str, date: &str, hours: &str| -> Vec<(String, String)> {
        let form = form(page, &dates);
        let typed = [("date".to_owned(), date.to_owned()), ("hours".to_owned(), hours.to_owned())];
        let kept = ["org", "once", "version"].map(|name| (name.to_owned(), hidden(form, name)));
        kept.into_iter().chain(typed).collect()
    };
    let page = pages.open(&shown).await.says(200, "There are none: every date has the hours of its weekday.");
    let wrong = pages.send(&dates, &borrowed(&dated(&page.text, "2100-01-01", HOSTILE))).await;
    let wrong = wrong.says(400, "date-problem").says(400, "hours-problem");
    assert!(wrong.text.contains("value=\"2100-01-01\""), "{}", wrong.text);
    pages.send(&dates, &borrowed(&dated(&page.text, "2099-12-24", ""))).await.says(400, "Must be hours such as");
    let closed = dated(&page.text, "2099-12-24", "closed");
    for _ in 0..2 {
        pages.send(&dates, &borrowed(&closed)).await.leads_to(&format!("{shown}?done=saved"));
    }
    let expected = |hours| json!([{ "date": "2099-12-24", "working_hours": hours }]);
    assert_eq!(rules(&owner, &calendar).await["overrides"], expected(Value::Null));
    // The page is old now.
    let mut late = dated(&page.text, "2099-12-25", "closed");
    late.iter_mut().filter(|(name, _)| name == "once").for_each(|(_, once)| once.clear());
    let stale = pages.send(&dates, &borrowed(&late)).await.says(412, CHANGED);
    assert!(stale.text.contains("value=\"2099-12-25\""), "what was typed stays: {}", stale.text);
    let page = pages.open(&shown).await.says(200, "Thursday, 24 December 2099");
    let replaced = dated(&page.text, "2099-12-24", "10-14");
    pages.send(&dates, &borrowed(&replaced)).await.leads_to(&format!("{shown}?done=saved"));
    assert_eq!(rules(&owner, &calendar).await["overrides"], expected(json!({ "start": "10:00", "end": "14:00" })));

    let taken = |version: &str| {
        let fields = [("org", &*ada.org), ("version", version), ("date", "2099-12-24")];
        fields.map(|(name, text)| (name.to_owned(), text.to_owned()))
    };
    pages.send(&take, &borrowed(&taken("1"))).await.says(412, CHANGED);
    let version = hidden(form(&pages.open(&shown).await.text, &take), "version");
    pages.send(&take, &borrowed(&taken(&version))).await.leads_to(&format!("{shown}?done=removed"));
    pages.send(&take, &borrowed(&taken(&version))).await.leads_to(&format!("{shown}?done=gone"));
    assert_eq!(rules(&owner, &calendar).await["overrides"], json!([]));
    for reloaded in [&dates, &take] {
        pages.open(reloaded).await.leads_to(&shown);
    }

    let question = pages.open(&remove).await.says(200, "Its events stay.");
    let fields = |version: &str| -> Vec<(String, String)> {
        [("org", &*ada.org), ("version", version)].map(|(name, text)| (name.to_owned(), text.to_owned())).into()
    };
    owner.put(api(&calendar)).json(json!({ "buffer_after_minutes": 5 })).await.expect(200);
    let seen = hidden(&question.text, "version");
    let stale = pages.send(&remove, &borrowed(&fields(&seen))).await;
    let asked = stale.says(412, "5 minutes free after events.");
    let current = fields(&hidden(&asked.text, "version"));
    for _ in 0..2 {
        pages.send(&remove, &borrowed(&current)).await.leads_to(&format!("{shown}?done=removed"));
    }
    owner.get(api(&calendar)).await.refused(404, "not_found");
    pages.open(&remove).await.says(404, "The calendar has no rules any more.");
    let log = owner.get("/v1/audit-log?action=availability_rules.delete").await.expect(200).data();
    assert_eq!(log.len(), 1, "{log:?}");
    // Other rules that were made since have the same number, and are kept.
    owner.put(api(&calendar)).json(json!({ "buffer_after_minutes": 1 })).await.expect(200);
    let first = rules_version(&owner, &calendar).await;
    owner.delete(api(&calendar)).await.expect(204);
    owner.put(api(&calendar)).json(json!({ "buffer_after_minutes": 2 })).await.expect(200);
    let second = rules_version(&owner, &calendar).await;
    let number = |version: &str| version.rsplit('.').next().map(str::to_owned);
    assert_eq!(number(&first), number(&second));
    pages.send(&remove, &borrowed(&fields(&first))).await.says(412, "2 minutes free after events.");
}

#[apply(on_both)]
#[tokio::test]
async fn the_tester_shows_slots_and_says_why_not(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (one, two) = (agent(&owner, "Room one").await, agent(&owner, "Room two").await);
    let (desk, board) = (calendar(&owner, &one, "Desk").await, calendar(&owner, &two, "Board").await);
    let hours = json!({ "start": "09:00", "end": "12:00" });
    owner.put(api(&desk)).json(json!({ "working_hours": { "mon": hours } })).await.expect(200);
    // 11:00 in Berlin.
    event(&owner, &board, "2027-03-01T10:00:00Z", "2027-03-01T11:00:00Z").await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let asked = |who: &[&str], rest: &str| {
        let who: String = who.iter().map(|who| format!("who={who}&")).collect();
        format!("{TESTER}?{who}timezone=Europe/Berlin&minutes=60&{rest}")
    };
    let monday = "start_time=2027-03-01T08:00&end_time=2027-03-03T08:00";
    let form = pages.open(&format!("{TESTER}?who={desk}")).await.says(200, "What to test");
    assert!(form.text.contains(&format!("value=\"{desk}\" checked")), "{}", form.text);

    let found = pages.open(&asked(&[&desk], monday)).await.says(200, "3 slots are offered.");
    assert!(found.text.contains("09:00–10:00") && found.text.contains("11:00–12:00"), "{}", found.text);
    let tuesday = "outside the working hours: Tuesday, 2 March 2027, 00:00 – Wednesday, 3 March 2027, 00:00.";
    assert!(found.text.contains(tuesday), "{}", found.text);
    // Both together: the agent stands for its calendars.
    let both = pages.open(&asked(&[&desk, &two], &format!("{monday}&at=2027-03-01T11:30"))).await;
    let both = both.says(200, "2 slots are offered.");
    for said in [
        "Room two: An event takes the time: Monday, 1 March 2027, 11:00–12:00.",
        "Desk: The time is outside the working hours",
    ] {
        assert!(both.text.contains(said), "{said}: {}", both.text);
    }
    let free = pages.open(&asked(&[&desk], &format!("{monday}&at=2027-03-01T09:15"))).await;
    free.says(200, "All of this time is free.").says(200, "It is not in the list");
    let many = pages.open(&asked(&[&board], "step=5&start_time=2027-03-01T00:00&end_time=2027-03-02T00:00")).await;
    many.says(200, "The first 200 slots are shown.");

    for (who, rest, field) in [
        (vec![], monday, "who-problem"),
        (vec![&*desk], "start_time=2027-03-01T08:00&end_time=2027-03-15T08:01", "end_time-problem"),
        (vec![&*desk], "start_time=soon&end_time=2027-03-15T08:01", "start_time-problem"),
        (vec![&*desk], "step=4&start_time=2027-03-01T08:00&end_time=2027-03-02T08:00", "step-problem"),
        (vec![&*desk], "at=x&start_time=2027-03-01T08:00&end_time=2027-03-02T08:00", "at-problem"),
    ] {
        pages.open(&asked(&who, rest)).await.says(400, field);
    }
    let nowhere = format!("{TESTER}?who={desk}&minutes=60&timezone=Mars&{monday}");
    pages.open(&nowhere).await.says(400, "timezone-problem").says(400, "Must be an IANA time zone");
    // The zone of the rules of what is chosen is suggested.
    owner.put(api(&board)).json(json!({ "timezone": "Asia/Tokyo" })).await.expect(200);
    for (who, zone) in [(&desk, "Europe/Berlin"), (&board, "Asia/Tokyo"), (&two, "Asia/Tokyo")] {
        pages.open(&format!("{TESTER}?who={who}")).await.says(200, &format!("value=\"{zone}\" selected"));
    }
    let missing = "cal_01jn8r7d2xe9tvn4a6k8m0pqrs";
    pages.open(&asked(&[missing], monday)).await.says(404, "There is no such calendar any more.");
    let crowd: Vec<String> = (0..21).map(|number| format!("cal_{number}")).collect();
    let crowd: Vec<&str> = crowd.iter().map(String::as_str).collect();
    pages.open(&asked(&crowd, monday)).await.says(400, "Must be at most 20 agents and calendars.");
}

#[apply(on_both)]
#[tokio::test]
async fn roles_decide_who_changes_rules(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let agent = agent(&owner, "Room").await;
    let calendar = calendar(&owner, &agent, "Desk").await;
    let shown = format!("{LIST}/{calendar}");
    owner.put(api(&calendar)).json(json!({ "buffer_after_minutes": 5 })).await.expect(200);
    let window = "start_time=2027-03-01T08:00&end_time=2027-03-01T09:00";
    let test = format!("{TESTER}?who={calendar}&minutes=30&timezone=UTC&{window}");
    for role in ["admin", "member", "viewer"] {
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in_to(&human.email, &ada.org).await;
        pages.open(LIST).await.says(200, "5 minutes free after events.");
        pages.open(&test).await.says(200, "2 slots are offered.");
        let page = pages.open(&shown).await.says(200, "5 minutes free after events.");
        let offered = [page.text.contains("Save the rules"), page.text.contains(&format!("{shown}/remove"))];
        let version = rules_version(&owner, &calendar).await;
        let fields = [("org", &*ada.org), ("version", &*version), ("date", "2099-12-24"), ("hours", "closed")];
        let date = pages.send(&format!("{shown}/dates"), &fields).await;
        let version = rules_version(&owner, &calendar).await;
        let fields = [("org", &*ada.org), ("version", &*version), ("date", "2099-12-24")];
        let taken = pages.send(&format!("{shown}/dates/remove"), &fields).await;
        let question = pages.open(&format!("{shown}/remove")).await;
        let answers = [date.status, taken.status, question.status];
        if role == "viewer" {
            assert_eq!((offered, answers), ([false; 2], [403; 3]), "{role}");
            assert_eq!(pages.send(&shown, &fields).await.status, 403);
            assert_eq!(pages.send(&format!("{shown}/remove"), &fields).await.status, 403);
        } else {
            assert_eq!((offered, answers), ([true; 2], [303, 303, 200]), "{role}: {}", date.text);
        }
    }
    // Somebody of another organization finds none of it.
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&eve.email).await;
    pages.open(LIST).await.says(200, "There are no calendars yet.");
    for path in [&shown, &format!("{shown}/remove"), &test] {
        pages.open(path).await.says(404, "There is no such calendar any more.");
    }
    let form = [("org", &*eve.org), ("version", "1"), ("date", "2099-12-24"), ("hours", "closed")];
    for path in [&shown, &format!("{shown}/dates"), &format!("{shown}/remove")] {
        pages.send(path, &form).await.says(404, "There is no such calendar any more.");
    }
    assert_eq!(rules(&owner, &calendar).await["buffer_after_minutes"], 5);
}

/// The version of the rules, as forms have it.
async fn rules_version(owner: &Client, calendar: &str) -> String {
    let answer = owner.get(api(calendar)).await.expect(200);
    format!("{}.{}", answer.id(), answer.header("etag").trim_matches('"'))
}
