//! What waits for a decision, and the page of a proposal, by their forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims,
    console::Human,
    fixtures::calendar_of,
    holds::{hold_body, in_seconds},
    members::{self, invite, member},
    on_both,
    pages::{HOSTILE, Pages, hidden},
    proposals::{Team, counter, respond, slot, slot_id, time, weighted},
};

const WAITING: &str = "/console/waiting";
const PROPOSALS: &str = "/console/proposals";
const EVENTS: &str = "/console/calendar/events";
/// The plan has no limit of speed.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const NOTHING: &str = "Nothing waits for you.";
const RESERVED: &str = "The times are reserved until the proposal ends";
const GONE: &str = "There is no such proposal any more.";

/// The text as the HTML of a page contains it.
fn escaped(text: &str) -> String {
    text.replace('"', "&#34;").replace('<', "&#60;").replace('>', "&#62;")
}

/// A hold that expires in that many seconds.
pub(crate) async fn hold(api: &Client, calendar: &str, title: &str, clock: [&str; 2], seconds: i64) -> String {
    let mut body = hold_body(&time(clock[0]), &time(clock[1]), &in_seconds(api, seconds).await, 0);
    body["title"] = json!(title);
    api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id()
}

/// The status of an event.
pub(crate) async fn status(api: &Client, event: &str) -> Value {
    api.get(format!("/v1/events/{event}")).await.expect(200)["status"].clone()
}

#[apply(on_both)]
#[tokio::test]
async fn everything_that_waits_is_on_one_page(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.open(WAITING).await.leads_to("/console/sign-in?next=%2Fconsole%2Fwaiting");
    pages.sign_in(&ada.email).await;
    let empty = pages.open(WAITING).await.says(200, NOTHING);
    assert!(!empty.text.contains("<h2"), "{}", empty.text);

    let team = Team::of(&owner, 2).await;
    let later = hold(&owner, &team.calendar, "Later", ["12:00", "12:30"], 600).await;
    let soon = hold(&owner, &team.calendar, HOSTILE, ["10:00", "10:30"], 240).await;
    let proposal = team.propose(&owner, &[slot("14:00", "14:30")], json!({ "title": HOSTILE })).await.id();
    let shown = pages.open(WAITING).await.says(200, "ends in 4 minutes");
    assert!(shown.text.contains("3 March 2031, 10:00–10:30") && !shown.text.contains(NOTHING), "{}", shown.text);
    assert!(shown.text.find(&soon) < shown.text.find(&later), "the first to end is the first: {}", shown.text);
    assert!(shown.text.contains(&format!("href=\"{PROPOSALS}/{proposal}\">{}", escaped(HOSTILE))), "{}", shown.text);
    assert!(shown.text.contains("<dd>0 of 2</dd>"), "{}", shown.text);

    // A viewer sees the same without forms, and somebody else nothing of it.
    let (viewer, _) = member(&server, &owner, "viewer@example.com", "viewer").await;
    let mut theirs = Pages::new(&server);
    theirs.sign_in_to(&viewer.email, &ada.org).await;
    let seen = theirs.open(WAITING).await.says(200, &soon);
    assert!(!seen.text.contains("/confirm\"") && !seen.text.contains("/release\""), "{}", seen.text);
    let sent = [("org", &*ada.org), ("next", WAITING)];
    assert_eq!(theirs.send(&format!("{EVENTS}/{soon}/confirm"), &sent).await.status, 403);
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut others = Pages::new(&server);
    others.sign_in(&eve.email).await;
    others.open(WAITING).await.says(200, NOTHING);
    others.open(&format!("{PROPOSALS}/{proposal}")).await.says(404, GONE);

    // Each hold has a form of its own, which leads back here.
    let form = |text: &str| {
        let [org, once] = ["org", "once"].map(|name| hidden(text, name));
        [("org", org), ("once", once), ("next", WAITING.to_owned())]
    };
    let fields = form(&shown.text);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(pages.send_from(EVIL, &format!("{EVENTS}/{soon}/confirm"), &fields).await.status, 403);
    for _ in 0..2 {
        let confirmed = pages.send(&format!("{EVENTS}/{soon}/confirm"), &fields).await;
        confirmed.leads_to("/console/waiting?done=confirmed");
    }
    let rest = pages.open("/console/waiting?done=confirmed").await.says(200, "Confirmed.");
    assert!(!rest.text.contains(&soon) && rest.text.contains(&later), "{}", rest.text);
    let fields = form(&rest.text);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let released = pages.send(&format!("{EVENTS}/{later}/release"), &fields).await;
    released.leads_to("/console/waiting?done=released");
    assert_eq!((status(&owner, &soon).await, status(&owner, &later).await), (json!("confirmed"), json!("cancelled")));
    let over = pages.send(&format!("{EVENTS}/{later}/confirm"), &fields).await;
    assert!(over.status == 409 && over.text.contains("See what waits for you"), "{} {}", over.status, over.text);

    // What the browser has opened, what the organization has sent, and the user's claims.
    invite(&owner, "ben@example.com", "viewer").await.expect(201);
    pages.open(WAITING).await.says(200, "Open invitations to your organization: 1");
    let seen = theirs.open(WAITING).await.says(200, &proposal);
    assert!(!seen.text.contains("Open invitations"), "{}", seen.text);
    invite(&server.client(&eve.token), &ada.email, "admin").await.expect(201);
    let token = members::token(&server, &ada.email, 1).await;
    pages.send("/console/invitations", &[("token", &token)]).await.leads_to("/console/join");
    pages.open(WAITING).await.says(200, "as an admin.");
    pages.cookies.insert("service_invitation".to_owned(), "unknown".to_owned());
    pages.cookies.insert("service_connection_link".to_owned(), "unknown".to_owned());
    let opened = pages.open(WAITING).await.says(200, "href=\"/console/connect/offer\"");
    assert!(!opened.text.contains("/console/join"), "{}", opened.text);
    claims::agent(&server, claims::AGENT).await;
    let held = claims::held(&server, &owner, claims::AGENT).await;
    let waits = claims::initiate(&owner, "nobody@example.com").await;
    let claimed = pages.open(WAITING).await.says(200, "It takes effect at");
    let form = format!("href=\"/console/claims/{waits}\"");
    for part in [held.as_str(), &form, "It waits for the code from the email", "href=\"/console/claims\""] {
        assert!(claimed.text.contains(part), "no {part}: {}", claimed.text);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_proposal_is_answered_and_resolved_by_forms(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let team = Team::of(&owner, 3).await;
    let slots = [weighted("10:00", "10:30", 1.5), slot("14:00", "14:30")];
    let made = team.propose(&owner, &slots, json!({ "description": HOSTILE, "hold_slots": true })).await;
    let (id, second) = (made.id(), slot_id(&made, 1));
    let path = format!("{PROPOSALS}/{id}");
    let act = |way: &str| format!("{path}/{way}");

    let page = pages.open(&path).await.says(200, "Pending: it waits for answers");
    let texts = ["3 March 2031, 10:00–10:30", "<td>1.5</td>", "<td>no answer</td>", "30 minutes", RESERVED];
    for part in texts.into_iter().chain([&*escaped(HOSTILE)]) {
        assert!(page.text.contains(part), "no {part}: {}", page.text);
    }
    assert!(!page.text.contains(">Resolve</button>"), "nobody has answered: {}", page.text);
    pages.open(&format!("{path}?tz=Europe/Berlin")).await.says(200, "3 March 2031, 11:00–11:30");
    pages.open(&format!("{path}?tz=Nowhere")).await.says(200, "3 March 2031, 10:00–10:30");

    let (org, once) = (hidden(&page.text, "org"), hidden(&page.text, "once"));
    let fields = |once, agent, slot, message| {
        [("org", &*org), ("once", once), ("agent_id", agent), ("selected_slot_id", slot), ("message", message)]
    };
    let [first, other, third] = &team.participants[..] else { panic!("{:?}", team.participants) };
    let blank = pages.send(&act("respond"), &fields(&once, first, "", HOSTILE)).await;
    let blank = blank.says(400, "aria-invalid=\"true\" aria-describedby=\"selected_slot_id-problem\"");
    assert!(blank.text.contains(&escaped(HOSTILE)), "what was typed stays: {}", blank.text);
    assert!(blank.text.contains(&format!("<option value=\"{first}\" selected>")), "{}", blank.text);
    pages.send(&act("respond"), &fields(&once, "", &second, "")).await.says(400, "agent_id-problem");
    let stranger = fields(&once, &team.organizer, &second, "");
    pages.send(&act("respond"), &stranger).await.says(403, "This agent does not take part in the proposal.");
    let unknown = fields(&once, first, "slt_01jn8r6v9ke0bt3m5qz2c7xwdm", "");
    pages.send(&act("respond"), &unknown).await.says(400, "selected_slot_id-problem");
    let complete = fields(&once, first, &second, HOSTILE);
    assert_eq!(pages.send_from(EVIL, &act("respond"), &complete).await.status, 403);
    pages.send(&act("respond"), &complete[1..]).await.says(409, SWITCHED);
    pages.send(&act("resolve"), &complete[..1]).await.says(409, "Nobody has answered yet.");
    for _ in 0..2 {
        pages.send(&act("respond"), &complete).await.leads_to(&format!("{path}?done=answered"));
    }
    let page = pages.open(&format!("{path}?done=answered")).await.says(200, "Answered.");
    for part in ["1 of 3", "<td>accepted</td>", "<td>2</td>", "<strong>best now</strong>", &*escaped(HOSTILE)] {
        assert!(page.text.contains(part), "no {part}: {}", page.text);
    }
    let again = fields("another-key-that-nobody-guesses", first, "decline", "");
    pages.send(&act("respond"), &again).await.says(409, "This agent has answered before.");
    let mut counters = counter(other, None);
    counters["counter_slots"] = json!([slot("16:00", "17:00")]);
    respond(&owner, &id, counters).await.expect(200);
    pages.open(&path).await.says(200, "3 March 2031, 16:00–17:00");

    // Only the time that the page named is chosen.
    let key = hidden(&page.text, "once");
    assert_eq!(hidden(&page.text, "foreseen"), second);
    let before = slot_id(&made, 0);
    let resolved = |foreseen| [("org", &*org), ("once", &*key), ("tz", "Europe/Berlin"), ("foreseen", foreseen)];
    for unforeseen in [&*before, "decline", ""] {
        let stale = pages.send(&act("resolve"), &resolved(unforeseen)).await;
        stale.says(412, "Somebody has answered since you opened this page");
    }
    pages.open(&path).await.says(200, "Pending: it waits for answers");
    let resolved = resolved(&second);
    for _ in 0..2 {
        let sent = pages.send(&act("resolve"), &resolved).await;
        sent.leads_to(&format!("{path}?done=resolved&tz=Europe%2FBerlin"));
    }
    let page = pages.open(&path).await.says(200, "<dd>Confirmed</dd>");
    for part in ["<strong>chosen</strong>", "counter-proposal", "no answer", "href=\"/console/calendar/events/evt_"] {
        assert!(page.text.contains(part), "no {part}: {}", page.text);
    }
    assert!(!page.text.contains("/respond\"") && !page.text.contains("/cancel"), "nothing is left: {}", page.text);
    assert!(!page.text.contains(RESERVED), "{}", page.text);
    let listed = format!("href=\"{path}\"");
    pages.open(&format!("{PROPOSALS}?status=confirmed")).await.says(200, &listed);
    pages.open(PROPOSALS).await.says(200, &listed);
    pages.open(&format!("{PROPOSALS}?status=expired")).await.says(200, "There are no such proposals.");
    let late = fields("a-third-key-that-nobody-guesses", third, &second, "");
    pages.send(&act("respond"), &late).await.says(409, "The proposal has ended");
    pages.open(&act("cancel")).await.says(409, "The proposal has ended");
    for way in ["respond", "resolve"] {
        pages.open(&act(way)).await.leads_to(&path);
    }
    let waiting = pages.open(WAITING).await.says(200, NOTHING);
    assert!(waiting.text.contains("href=\"/console/proposals\""), "{}", waiting.text);
    pages.open(&format!("{PROPOSALS}/x")).await.says(404, GONE);

    // Everybody gets an event, and one of them has two calendars.
    let more = json!({ "placement": "all", "title": "Review" });
    let made = team.propose(&owner, &[slot("18:00", "18:30")], more).await;
    let (path, only) = (format!("{PROPOSALS}/{}", made.id()), slot_id(&made, 0));
    let mut calendars = Vec::new();
    for _ in 0..2 {
        calendars.push(calendar_of(&owner, first).await);
    }
    let page = pages.open(&path).await.says(200, "): Work");
    let once = hidden(&page.text, "once");
    let answer = |calendar| [&fields(&once, first, &only, "")[..], &[("calendar_id", calendar)]].concat();
    let asked = pages.send(&format!("{path}/respond"), &answer("")).await.says(400, "calendar_id-problem");
    assert!(asked.text.contains("because Ada (…"), "agents of the same name are distinguished: {}", asked.text);
    assert!(asked.text.contains("has several calendars"), "{}", asked.text);
    let sent = pages.send(&format!("{path}/respond"), &answer(&calendars[1])).await;
    sent.leads_to(&format!("{path}?done=answered"));
    for (agent, key) in [(other, "a-key-of-the-other-agent"), (third, "a-key-of-the-third-agent")] {
        let declined = fields(key, agent, "decline", "");
        pages.send(&format!("{path}/respond"), &declined).await.leads_to(&format!("{path}?done=answered"));
    }
    let page = pages.open(&path).await.says(200, "<dd>Confirmed</dd>");
    assert_eq!(page.text.matches("The event of Ada").count(), 2, "{}", page.text);
}

#[apply(on_both)]
#[tokio::test]
async fn each_role_decides_what_it_may(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let team = Team::of(&owner, 2).await;
    for role in ["admin", "member", "viewer"] {
        let made = team.propose(&owner, &[slot("10:00", "10:30")], json!({ "title": HOSTILE })).await;
        let (path, only) = (format!("{PROPOSALS}/{}", made.id()), slot_id(&made, 0));
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in_to(&human.email, &ada.org).await;
        let page = pages.open(&path).await.says(200, &escaped(HOSTILE));
        let offered = ["/respond\"", "/resolve\"", "/cancel?"].map(|way| page.text.contains(way));
        let asked = pages.open(&format!("{path}/cancel")).await;
        let [agent, _] = &team.participants[..] else { panic!("{:?}", team.participants) };
        let fields = [
            ("org", &*ada.org),
            ("once", "a-key-that-nobody-guesses"),
            ("agent_id", agent.as_str()),
            ("selected_slot_id", &*only),
        ];
        let answered = pages.send(&format!("{path}/respond"), &fields).await;
        let mut cancelled = Vec::new();
        for _ in 0..2 {
            cancelled.push(pages.send(&format!("{path}/cancel"), &fields[..2]).await);
        }
        let answers = [asked.status, answered.status, cancelled[0].status, cancelled[1].status];
        if role == "viewer" {
            assert_eq!((offered, answers), ([false; 3], [403; 4]), "{role}");
            asked.says(403, "Your role does not allow this.");
        } else {
            assert_eq!((offered, answers), ([true; 3], [200, 303, 303, 303]), "{role}");
            assert!(asked.text.contains("<dd>0 of 2</dd>"), "{}", asked.text);
            assert_eq!(cancelled[1].location, format!("{path}?done=cancelled"));
            pages.open(&path).await.says(200, "Cancelled by the organizer");
            let again = [("org", &*ada.org), ("once", "a-key-for-another-time")];
            pages.send(&format!("{path}/cancel"), &again).await.says(409, "The proposal has ended");
        }
    }
    let made = team.propose(&owner, &[slot("10:00", "10:30")], json!({})).await;
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut others = Pages::new(&server);
    others.sign_in(&eve.email).await;
    for way in ["respond", "resolve", "cancel"] {
        let path = format!("{PROPOSALS}/{}/{way}", made.id());
        others.send(&path, &[("org", &eve.org)]).await.says(404, GONE);
        others.send(&path, &[("org", &ada.org)]).await.says(409, SWITCHED);
    }

    // The largest proposal is one page.
    let team = Team::of(&owner, 50).await;
    let slots: Vec<_> = (0..20).map(|minute| slot(&format!("10:{minute:02}"), "11:00")).collect();
    let made = team.propose(&owner, &slots, json!({})).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let page = pages.open(&format!("{PROPOSALS}/{}", made.id())).await.says(200, "0 of 50");
    assert_eq!(page.text.matches("<td>no answer</td>").count(), 1_000);
}
