//! The console's pages about feeds, files and subscriptions, by their forms.

use kalends_e2e::{Client, Database, FeedServer, Server, Serving};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::Human,
    fixtures::{agent, calendar_of},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
    subscriber::{NOWHERE, Subscriber, meeting, vcalendar, vevent},
};

const FEEDS: &str = "/console/feeds";
const SUBSCRIPTIONS: &str = "/console/feeds/subscriptions";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
/// A key that no other form has.
const ONCE: &str = "a-key-that-nobody-guesses";

/// The text as the HTML of a page contains it.
fn escaped(text: &str) -> String {
    text.replace('"', "&#34;").replace('<', "&#60;").replace('>', "&#62;")
}

/// A server that may reach a feed server, and an owner with an agent and its calendar.
async fn furnished(database: Database) -> (Subscriber, Human) {
    let feeds = FeedServer::start().await;
    let settings = [("KALENDS_EGRESS_ALLOW", feeds.address()), ("KALENDS_SIGNUP_PLAN", "custom")];
    let server = Server::start_with(database, &settings).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let api = server.client(&ada.token);
    let agent = agent(&api).await;
    let calendar = calendar_of(&api, &agent).await;
    (Subscriber { server, api, feeds, agent, calendar }, ada)
}

async fn address(owner: &Client, calendar: &str) -> String {
    text(&owner.get(format!("/v1/calendars/{calendar}")).await.expect(200)["ical_url"])
}

#[apply(on_both)]
#[tokio::test]
async fn the_feed_of_a_calendar_has_a_page(#[case] database: Database) {
    let (it, ada) = furnished(database).await;
    let (owner, calendar) = (&it.api, &it.calendar);
    let shared = json!({ "name": HOSTILE, "timezone": "Europe/Rome" });
    let shared = owner.post("/v1/calendars").json(shared).await.expect(201).id();
    let mut pages = Pages::new(&it.server);
    pages.open(FEEDS).await.leads_to("/console/sign-in?next=%2Fconsole%2Ffeeds");
    pages.sign_in(&ada.email).await;
    let list = pages.open(FEEDS).await.says(200, "No calendar is subscribed to a feed yet.");
    for part in [&*escaped(HOSTILE), "Shared by the organization", "Europe/Rome", calendar] {
        assert!(list.text.contains(part), "{part}: {}", list.text);
    }
    let none = pages.open(&format!("{FEEDS}/calendars/{shared}")).await.says(200, &escaped(HOSTILE));
    assert!(none.text.contains("Only a calendar of an agent"), "{}", none.text);
    let agent = pages.open(&format!("/console/agents/{}", it.agent)).await;
    agent.says(200, &format!("href=\"{FEEDS}/calendars/{calendar}\""));

    let shown = format!("{FEEDS}/calendars/{calendar}");
    let old = address(owner, calendar).await;
    pages.open(&shown).await.says(200, &format!("value=\"{old}\" readonly"));
    let event = json!({ "title": "Dentist", "start_time": "2031-03-03T09:00:00Z", "end_time": "2031-03-03T10:00:00Z" });
    owner.post(format!("/v1/calendars/{calendar}/events")).json(event).await.expect(201);
    let file = pages.open(&format!("{shown}/file")).await.says(200, "BEGIN:VCALENDAR");
    assert!(file.text.contains("SUMMARY:Dentist"), "{}", file.text);

    let rotate = format!("{shown}/rotate");
    let asked = pages.open(&rotate).await.says(200, "The old address stops working at once");
    let (org, once) = (hidden(&asked.text, "org"), hidden(&asked.text, "once"));
    let form = [("org", &*org), ("once", &*once)];
    assert_eq!(pages.send_from(EVIL, &rotate, &form).await.status, 403);
    pages.send(&rotate, &form[1..]).await.says(409, SWITCHED);
    assert_eq!(address(owner, calendar).await, old);
    // A double click.
    let mut addresses = Vec::new();
    for _ in 0..2 {
        pages.send(&rotate, &form).await.leads_to(&format!("{shown}?done=address"));
        addresses.push(address(owner, calendar).await);
    }
    assert!(addresses[0] != old && addresses[0] == addresses[1], "{old} {addresses:?}");
    pages.open(&format!("{shown}?done=address")).await.says(200, "The old one no longer works.");
    let (_, token) = old.rsplit_once("/ical/").unwrap();
    assert_eq!(pages.open(&format!("/ical/{token}")).await.status, 404);
    for below in ["", "/rotate", "/file", "/import"] {
        let missing = format!("{FEEDS}/calendars/cal_01jn8r6v9ke0bt3m5qz2c7xwdh{below}");
        pages.open(&missing).await.says(404, "There is no such calendar any more.");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_file_is_checked_before_it_is_imported(#[case] database: Database) {
    let (it, ada) = furnished(database).await;
    let (owner, calendar) = (&it.api, &it.calendar);
    let mut pages = Pages::new(&it.server);
    pages.sign_in(&ada.email).await;
    let form = format!("{FEEDS}/calendars/{calendar}/import");
    let check = format!("{form}/check");
    let org = hidden(&pages.open(&form).await.says(200, "Check the file").text, "org");
    pages.open(&check).await.leads_to(&form);

    for (wrong, beside, why) in [
        ("", "file-hint file-problem", "Choose a file, or paste its text."),
        (HOSTILE, "body-problem", "it has no BEGIN:VCALENDAR"),
    ] {
        let refused = pages.send(&check, &[("org", &*org), ("body", wrong)]).await;
        let refused = refused.says(400, &format!("aria-describedby=\"{beside}\""));
        assert!(refused.text.contains(why) && refused.text.contains(&escaped(wrong)), "{}", refused.text);
    }
    // Each of these bytes takes three in a form.
    let long = "x".repeat(400_000);
    for path in [&check, &form] {
        pages.send(path, &[("org", &org), ("body", &long)]).await.says(413, "The file or text is too long for a form");
    }

    let series = ["SUMMARY:Standup", "DTSTART:20310304T090000Z", "DURATION:PT30M", "RRULE:FREQ=DAILY;COUNT=3"];
    let broken = vevent("broken@example.com", &["SUMMARY:When"]);
    let mut events = vec![meeting("a@example.com", HOSTILE, 3, 9), vevent("b@example.com", &series), broken];
    let whole = vcalendar(&events);
    let pasted = [("org", &*org), ("body", &*whole)];
    assert_eq!(pages.send_from(EVIL, &check, &pasted).await.status, 403);
    pages.send(&check, &pasted[1..]).await.says(409, SWITCHED);
    let checked = pages.send(&check, &pasted).await.says(200, "What the import would do");
    for part in ["2 (1 series)", "it has no DTSTART", "Standup", "Created, a series", &escaped(HOSTILE)] {
        assert!(checked.text.contains(part), "{part}: {}", checked.text);
    }
    let all = format!("/v1/calendars/{calendar}/events");
    assert_eq!(owner.get(&all).await.expect(200)["total"], 0, "nothing is written yet");

    let once = hidden(&checked.text, "once");
    let send = [("org", &*org), ("once", &*once), ("body", &*whole)];
    assert_eq!(pages.send_from(EVIL, &form, &send).await.status, 403);
    // A double click shows the same result, and has its effect once.
    for _ in 0..2 {
        let done = pages.send(&form, &send).await.says(200, "The file is imported");
        assert!(done.text.contains("<dt>Created</dt><dd>2</dd>"), "{}", done.text);
    }
    assert_eq!(owner.get(&all).await.expect(200)["total"], 2);
    let log = owner.get("/v1/audit-log?action=event.create").await.expect(200).data();
    assert_eq!(log.len(), 1, "only the import is in the log: {log:?}");

    let again = pages.send(&check, &pasted).await.says(200, "There is nothing more to import now;");
    assert!(again.text.contains("<dt>Unchanged</dt><dd>2</dd>"), "{}", again.text);
    events[0] = meeting("a@example.com", "Dentist", 3, 10);
    let changed = pages.send(&check, &[("org", &org), ("body", &vcalendar(&events))]).await;
    changed.says(200, "<dt>Changed</dt><dd>1</dd>");

    // A calendar that refuses conflicts.
    let body = json!({ "name": "Desk", "timezone": "UTC", "conflicts": "refuse" });
    let strict = owner.post(format!("/v1/agents/{}/calendars", it.agent)).json(body).await.expect(201).id();
    let form = format!("{FEEDS}/calendars/{strict}/import");
    pages.open(&form).await.says(200, "This calendar refuses conflicts");
    let twice = vcalendar(&[meeting("c@example.com", "One", 3, 9), meeting("d@example.com", "Two", 3, 9)]);
    let checked = pages.send(&format!("{form}/check"), &[("org", &org), ("body", &twice)]).await;
    let checked = checked.says(200, "<dt>Refused</dt><dd>1</dd>").says(200, "An event takes the time: ");
    let once = hidden(&checked.text, "once");
    let done = pages.send(&form, &[("org", &org), ("once", &once), ("body", &twice)]).await;
    done.says(200, "Refused, because the time is taken");
    assert_eq!(owner.get(format!("/v1/calendars/{strict}/events")).await.expect(200)["total"], 1);
    let second = vcalendar(&[meeting("d@example.com", "Two", 3, 9)]);
    let refused = pages.send(&format!("{form}/check"), &[("org", &org), ("body", &second)]).await;
    refused.says(200, "Nothing in the file can be imported now; see what is left out.");
    let first = vcalendar(&[meeting("c@example.com", "One", 3, 9)]);
    let idle = pages.send(&format!("{form}/check"), &[("org", &org), ("body", &first)]).await;
    idle.says(200, "There is nothing to import.");
}

#[apply(on_both)]
#[tokio::test]
async fn a_file_is_uploaded(#[case] database: Database) {
    let (it, ada) = furnished(database).await;
    let (owner, calendar) = (&it.api, &it.calendar);
    let mut pages = Pages::new(&it.server);
    pages.sign_in(&ada.email).await;
    let form = format!("{FEEDS}/calendars/{calendar}/import");
    let check = format!("{form}/check");
    let shown = pages.open(&form).await.says(200, "enctype=\"multipart/form-data\"");
    let (org, once) = (hidden(&shown.text, "org"), hidden(&shown.text, "once"));
    let fields = [("org", &*org), ("once", &*once), ("body", "")];
    let whole = vcalendar(&[meeting("a@example.com", HOSTILE, 3, 9), meeting("b@example.com", "K\u{e4}se", 3, 11)]);
    let latin_1: Vec<u8> = whole.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let utf_16: Vec<u8> = format!("\u{feff}{whole}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (medium, large) = ("x".repeat((1 << 20) - 2_000), "x".repeat(1_200_000));
    for (file, status, why) in [
        (None, 400, "Choose a file, or paste its text."),
        (Some(&b""[..]), 400, "The file is empty."),
        (Some(&b"\xef\xbb\xbf"[..]), 400, "The file is empty."),
        (Some(&*latin_1), 400, "The file is not text in UTF-8."),
        (Some(&*utf_16), 400, "The file is not text in UTF-8."),
        (Some(HOSTILE.as_bytes()), 400, "it has no BEGIN:VCALENDAR"),
        (Some(medium.as_bytes()), 400, "The file or text is too long for a form"),
        (Some(large.as_bytes()), 413, "The file or text is too long for a form"),
    ] {
        for path in [&check, &form] {
            let refused = pages.upload(path, &fields, file.map(|file| ("a.ics", file))).await.says(status, why);
            // Nothing of a form that is too long is read, so nobody knows which field it is.
            let beside = match status {
                413 => "<p class=\"problem\" role=\"alert\">The file or text",
                _ => "aria-describedby=\"file-hint file-problem\" aria-invalid=\"true\"",
            };
            assert!(refused.text.contains(beside), "{why}: {}", refused.text);
        }
    }
    let chosen = Some(("a.ics", whole.as_bytes()));
    let both = [fields[0], fields[1], ("body", "BEGIN:VCALENDAR")];
    let refused = pages.upload(&check, &both, chosen).await.says(400, "Choose a file or paste a text, not both.");
    assert!(refused.text.contains("\nBEGIN:VCALENDAR</textarea>"), "what was pasted stays: {}", refused.text);
    let nameless = "x".repeat(10_240);
    pages.upload(&check, &fields, Some((&*nameless, whole.as_bytes()))).await.says(400, "<h1");
    assert_eq!(pages.upload(&check, &[fields[0]; 60], chosen).await.status, 400);
    for path in [&check, &form] {
        assert_eq!(pages.upload_from(EVIL, path, &fields, chosen).await.status, 403);
        // Another organization. The page cannot keep the file.
        let other = [("org", "org_01jn8r6v9ke0bt3m5qz2c7xwdh"), fields[2]];
        let lost = pages.upload(path, &other, chosen).await.says(409, "This page cannot keep a file or a long text.");
        let reopened = format!("<a class=\"quiet\" href=\"{path}\">Open the form</a>");
        assert!(lost.text.contains(&reopened) && !lost.text.contains("<form"), "{}", lost.text);
    }
    let all = format!("/v1/calendars/{calendar}/events");
    assert_eq!(owner.get(&all).await.expect(200)["total"], 0);

    // The check carries the text on, without the mark at its beginning.
    let marked = format!("\u{feff}{whole}");
    let checked = pages.upload(&check, &fields, Some(("C:\\a.ics", marked.as_bytes()))).await;
    let checked = checked.says(200, "What the import would do").says(200, &escaped(HOSTILE));
    assert!(checked.text.contains("name=\"body\" value=\"BEGIN:VCALENDAR"), "{}", checked.text);
    assert!(checked.text.contains("enctype=\"multipart/form-data\""), "{}", checked.text);
    let once = hidden(&checked.text, "once");
    let send = [("org", &*org), ("once", &*once), ("body", &*whole)];
    // A double click: each body separates its parts in another way.
    for _ in 0..2 {
        pages.upload(&form, &send, None).await.says(200, "<dt>Created</dt><dd>2</dd>");
    }
    let events = owner.get(&all).await.expect(200);
    assert_eq!(events["total"], 2);
    assert!(events.column("title").contains(&"K\u{e4}se".to_owned()), "{}", events.describe());
    // A form that was kept has no parts.
    pages.send(&form, &send).await.says(200, "<dt>Created</dt><dd>2</dd>");
    let others = [send[0], send[1], ("body", "BEGIN:VCALENDAR\r\nEND:VCALENDAR")];
    pages.upload(&form, &others, None).await.says(422, "This form was sent before, with other content.");

    // The session ends.
    pages.send("/console/sign-out", &[]).await;
    for content in [whole.as_bytes(), medium.as_bytes()] {
        let lost = pages.upload(&check, &fields, Some(("a.ics", content))).await;
        let lost = lost.says(401, "Your session has ended").says(401, "This page cannot keep a file or a long text.");
        assert!(!lost.text.contains("<form") && lost.text.contains("/console/signed-in"), "{}", lost.text);
    }
    let pasted = "x".repeat(300_000);
    let long = [send[0], send[1], ("body", &*pasted)];
    let reopens = pages.upload(&form, &long, None).await.says(401, "This page cannot keep a file or a long text.");
    assert!(reopens.text.contains(&format!("href=\"{form}\">Open the form</a>")), "{}", reopens.text);
    let kept = pages.upload(&check, &send, None).await.says(401, "This page keeps what you sent");
    assert!(kept.text.contains("name=\"body\" value=\"BEGIN:VCALENDAR"), "{}", kept.text);
    pages.upload_from(EVIL, &check, &fields, chosen).await.asks_to_sign_in();
}

#[apply(on_both)]
#[tokio::test]
async fn an_owner_manages_subscriptions_by_forms(#[case] database: Database) {
    let (it, ada) = furnished(database).await;
    let (owner, calendar) = (&it.api, &it.calendar);
    let broken = vevent("broken@example.com", &["SUMMARY:When"]);
    it.feeds.serve("/work.ics", Serving::calendar(vcalendar(&[meeting("a@example.com", "Board", 3, 9), broken])));
    let url = it.feeds.url("/work.ics");
    let mut pages = Pages::new(&it.server);
    pages.sign_in(&ada.email).await;
    pages.open(SUBSCRIPTIONS).await.says(200, "There are no such subscriptions.");
    let form = pages.open(&format!("{SUBSCRIPTIONS}/new?calendar={calendar}")).await;
    let form = form.says(200, &format!("<option value=\"{calendar}\" selected>Work (Ada)</option>"));
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let fields = |once, url, label| {
        [("org", &*org), ("once", once), ("calendar_id", calendar.as_str()), ("url", url), ("label", label)]
    };
    let wrong = pages.send(SUBSCRIPTIONS, &fields(&once, "ftp://x", HOSTILE)).await;
    let wrong = wrong.says(400, "aria-describedby=\"url-problem\"");
    assert!(wrong.text.contains(&escaped(HOSTILE)), "what was typed stays: {}", wrong.text);
    let complete = fields(&once, &url, HOSTILE);
    assert_eq!(pages.send_from(EVIL, SUBSCRIPTIONS, &complete).await.status, 403);
    pages.send(SUBSCRIPTIONS, &complete[1..]).await.says(409, SWITCHED);
    // A double click.
    let mut created = Vec::new();
    for _ in 0..2 {
        created.push(pages.send(SUBSCRIPTIONS, &complete).await.location);
    }
    let listed = owner.get(it.all()).await.expect(200);
    let id = text(&listed.data()[0]["id"]);
    let shown = format!("{SUBSCRIPTIONS}/{id}");
    assert_eq!((&listed["total"], created), (&json!(1), vec![format!("{shown}?done=created"); 2]));
    let other = fields("another-key-that-nobody-guesses", &url, "");
    pages.send(SUBSCRIPTIONS, &other).await.says(409, "The calendar is subscribed to this address already.");
    let shared = json!({ "name": "Shared", "timezone": "UTC" });
    let shared = owner.post("/v1/calendars").json(shared).await.expect(201).id();
    let mut of_shared = other;
    of_shared[2].1 = &shared;
    pages.send(SUBSCRIPTIONS, &of_shared).await.says(400, "Belongs to no agent; choose a calendar of an agent.");

    let api = format!("/v1/ical-subscriptions/{id}");
    it.until(&api, "synced", |read| read["last_synced_at"].is_string()).await;
    let page = pages.open(&shown).await.says(200, "less than a minute ago");
    for part in ["1 created, 0 updated", "1 skipped", "it has no DTSTART", "About 15 minutes after", &url] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    pages.open(FEEDS).await.says(200, &escaped(HOSTILE)).says(200, "All (1)");

    for (way, status) in [("pause", "paused"), ("resume", "active")] {
        let act = format!("{shown}/{way}");
        assert_eq!(pages.send_from(EVIL, &act, &[("org", &org)]).await.status, 403);
        for _ in 0..2 {
            pages.send(&act, &[("org", &org)]).await.leads_to(&format!("{shown}?done={way}d"));
        }
        assert_eq!(owner.get(&api).await.expect(200)["status"], status);
        pages.open(&act).await.leads_to(&shown);
    }
    it.feeds.serve("/work.ics", Serving::Status(503));
    let syncing = format!("{shown}?done=syncing");
    for _ in 0..2 {
        pages.send(&format!("{shown}/sync"), &[("org", &org), ("once", ONCE)]).await.leads_to(&syncing);
    }
    it.until(&api, "in error", |read| read["status"] == "error").await;
    pages.open(&shown).await.says(200, "Error: the last sync failed").says(200, "failed in a row");
    pages.open(&format!("{SUBSCRIPTIONS}?status=error")).await.says(200, &shown).says(200, "Error (1)");
    let of_agent = format!("{SUBSCRIPTIONS}?agent={}&status=paused", it.agent);
    let none = pages.open(&of_agent).await.says(200, "There are no such subscriptions.");
    none.says(200, "Subscriptions of Ada").says(200, "Error (1)");
    pages.open(&format!("{SUBSCRIPTIONS}?agent=x")).await.says(404, "There is no such agent any more.");

    // Two tabs: the second one sees what the first one changed, and decides.
    let tab = |page: &str, label: &str| {
        let hidden = ["org", "once", "version", "was_url"].map(|name| (name, hidden(page, name)));
        let was = ("was_label", HOSTILE.to_owned());
        [&hidden[..], &[was, ("url", url.clone()), ("label", label.to_owned())]].concat()
    };
    let (first, second) = (pages.open(&shown).await.text, pages.open(&shown).await.text);
    let sent = tab(&first, "Work");
    let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, &**value)).collect();
    for _ in 0..2 {
        pages.send(&shown, &sent).await.leads_to(&format!("{shown}?done=saved"));
    }
    let now = owner.get(&api).await.expect(200);
    assert_eq!((&now["label"], &now["url"]), (&json!("Work"), &json!(url)));
    let sent = tab(&second, "Mine");
    let sent: Vec<_> = sent.iter().map(|(name, value)| (*name, &**value)).collect();
    let stale = pages.send(&shown, &sent).await.says(412, "The subscription has changed since you opened this page.");
    assert!(stale.text.contains("<h1>Work</h1>") && stale.text.contains("value=\"Mine\""), "{}", stale.text);

    let delete = format!("{shown}/delete");
    let asked = pages.open(&delete).await.says(200, "the calendar had 1 event from it");
    let version = hidden(&asked.text, "version");
    pages.send(&delete, &[("org", &org), ("version", "1"), ("events", "delete")]).await.says(412, "has changed since");
    let form = [("org", &*org), ("version", &*version), ("events", "delete")];
    pages.send(&delete, &form).await.leads_to(&format!("{SUBSCRIPTIONS}?done=deleted"));
    pages.send(&delete, &form).await.leads_to(&format!("{SUBSCRIPTIONS}?done=gone"));
    it.until(&format!("/v1/calendars/{calendar}/events"), "empty", |read| read["total"] == 0).await;
    for missing in [shown, delete] {
        pages.open(&missing).await.says(404, "There is no such subscription any more.");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn each_role_sees_what_it_may_do_with_feeds(#[case] database: Database) {
    let (it, ada) = furnished(database).await;
    let id = it.subscribe_to(NOWHERE).await.expect(201).id();
    let (feed, subscription) = (format!("{FEEDS}/calendars/{}", it.calendar), format!("{SUBSCRIPTIONS}/{id}"));
    let forms = [
        format!("{feed}/import"),
        format!("{feed}/import/check"),
        format!("{feed}/rotate"),
        SUBSCRIPTIONS.to_owned(),
        subscription.clone(),
        format!("{subscription}/sync"),
        format!("{subscription}/pause"),
        format!("{subscription}/delete"),
    ];
    let questions = [format!("{feed}/import"), format!("{feed}/rotate"), format!("{subscription}/delete")];
    for role in ["member", "viewer"] {
        let (human, _) = member(&it.server, &it.api, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&it.server);
        pages.sign_in_to(&human.email, &ada.org).await;
        let (list, page) = (pages.open(FEEDS).await, pages.open(&feed).await.says(200, "readonly"));
        let one = pages.open(&subscription).await.says(200, NOWHERE);
        let offered = [
            list.text.contains("/subscriptions/new\""),
            page.text.contains("/rotate\""),
            page.text.contains("/import\""),
            one.text.contains("/delete\""),
        ];
        assert_eq!(offered, [role == "member"; 4], "{role}");
        for question in &questions {
            let status = if role == "member" { 200 } else { 403 };
            assert_eq!(pages.open(question).await.status, status, "{role}: {question}");
        }
        if role == "viewer" {
            for form in &forms {
                assert_eq!(pages.send(form, &[("org", &*ada.org)]).await.status, 403, "{form}");
            }
        }
        pages.open(&format!("{feed}/file")).await.says(200, "BEGIN:VCALENDAR");
    }
    // Somebody of another organization finds none of it.
    let eve = Human::sign_up(&it.server, "eve@example.com").await;
    let mut pages = Pages::new(&it.server);
    pages.sign_in(&eve.email).await;
    pages.open(FEEDS).await.says(200, "There are no calendars yet.");
    for path in [&feed, &subscription] {
        assert_eq!(pages.open(path).await.status, 404, "{path}");
    }
    for form in &forms {
        let form_of = |org| [("org", org), ("body", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"), ("version", "1")];
        pages.send(form, &form_of(&*ada.org)).await.says(409, SWITCHED);
        let status = pages.send(form, &form_of(&*eve.org)).await.status;
        assert!([400, 404].contains(&status) || (status == 303 && form.ends_with("/delete")), "{form}: {status}");
    }
    let read = it.api.get(format!("/v1/ical-subscriptions/{id}")).await.expect(200);
    assert_eq!((&read["url"], &read["label"]), (&json!(NOWHERE), &Value::Null));
}

#[apply(on_both)]
#[tokio::test]
async fn a_box_of_the_form_imports_only_times(#[case] database: Database) {
    let (it, ada) = furnished(database).await;
    it.feeds.serve("/work.ics", Serving::calendar(vcalendar(&[meeting("a@example.com", "Zebra", 3, 9)])));
    let url = it.feeds.url("/work.ics");
    let mut pages = Pages::new(&it.server);
    pages.sign_in(&ada.email).await;
    let form = pages.open(&format!("{SUBSCRIPTIONS}/new?calendar={}", it.calendar)).await;
    let form = form.says(200, "name=\"busy_only\" id=\"busy_only\" value=\"true\">");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let fields = [
        ("org", &*org),
        ("once", &*once),
        ("calendar_id", it.calendar.as_str()),
        ("url", &*url),
        ("label", ""),
        ("busy_only", "true"),
    ];
    pages.send(SUBSCRIPTIONS, &fields).await;
    let listed = it.api.get(it.all()).await.expect(200);
    let id = text(&listed.data()[0]["id"]);
    assert_eq!(listed.data()[0]["busy_only"], true);
    let (api, shown) = (format!("/v1/ical-subscriptions/{id}"), format!("{SUBSCRIPTIONS}/{id}"));
    it.until(&api, "synced", |read| read["last_synced_at"].is_string()).await;
    assert_eq!(it.titles().await, ["Busy"]);
    let page = pages.open(&shown).await.says(200, "Only the times of events, without any text");
    let page = page.says(200, "value=\"true\" checked>");
    assert!(!page.text.contains("Zebra"), "{}", page.text);

    // Without its mark, the box imports the texts again.
    let kept = ["org", "once", "version", "was_url", "was_busy_only"].map(|name| (name, hidden(&page.text, name)));
    let mut sent: Vec<(&str, &str)> = kept.iter().map(|(name, value)| (*name, &**value)).collect();
    sent.extend([("url", &*url), ("label", "")]);
    pages.send(&shown, &sent).await.leads_to(&format!("{shown}?done=saved"));
    assert_eq!(it.api.get(&api).await.expect(200)["busy_only"], Value::Null);
    it.until(&api, "synced", |read| read["last_sync"].is_object()).await;
    assert_eq!(it.titles().await, ["Zebra"]);
}
