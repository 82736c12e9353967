//! The console's pages about booking pages, by their forms.

use kalends_e2e::{Answer, Client, Database, Mail, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::Human,
    fixtures::agent_with_calendar,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
};

const LIST: &str = "/console/booking-pages";
const NEW: &str = "/console/booking-pages/new";
const PREVIEW: &str = "/console/booking-pages/preview";
/// The plan has no limit of speed, and lets the organization write to guests.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom"), ("KALENDS_MAIL_LIMITS", "off")];
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const NO_PAGE: &str = "There is no such booking page any more.";

/// The text as the HTML of a page contains it.
fn escaped(text: &str) -> String {
    text.replace('"', "&#34;").replace('<', "&#60;").replace('>', "&#62;")
}

async fn made(owner: &Client) -> Answer {
    owner.get("/v1/booking-pages").await.expect(200)
}

/// A page of that calendar with a question, by the API.
async fn page(owner: &Client, calendar: &str) -> Answer {
    let question = json!({ "id": "topic", "label": "Topic?", "type": "text", "required": true });
    let body = json!({
        "calendar_id": calendar, "title": "Intro", "slug": "intro-call", "embed_origins": ["https://www.example.com"],
        "questions": [question]
    });
    owner.post("/v1/booking-pages").json(body).await.expect(201)
}

/// Books the last slot of that page, whose question is `topic`.
async fn book(owner: &Client, name: &str) {
    let slots = owner.get("/book/intro-call/slots").await.expect(200);
    let start = &slots["slots"].as_array().unwrap().last().unwrap()["start"];
    let body = json!({
        "name": name, "email": "guest@example.com", "notes": HOSTILE, "answers": { "topic": HOSTILE }, "start": start
    });
    owner.post("/book/intro-call").json(body).await.expect(201);
}

/// Every hidden field of the form, so that it is sent as a browser does.
fn all_hidden(seen: &Seen) -> Vec<(String, String)> {
    let inputs = seen.text.split("<input type=\"hidden\" name=\"").skip(1);
    let field = |input: &str| {
        let (name, rest) = input.split_once("\" value=\"").unwrap();
        let value = rest.split('"').next().unwrap();
        let value = value.replace("&#34;", "\"").replace("&#60;", "<").replace("&#62;", ">").replace("&#38;", "&");
        (name.to_owned(), value)
    };
    inputs.map(field).collect()
}

/// The form of a page as it was opened, with these fields typed over.
fn typed_over<'a>(hidden: &'a [(String, String)], fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let was = hidden.iter().filter_map(|(name, value)| Some((name.strip_prefix("was_")?, value.as_str())));
    let kept = was.filter(|(name, _)| {
        !["questions", "calendars", "calendar_id"].contains(name) && fields.iter().all(|(field, _)| field != name)
    });
    let all = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.chain(kept).chain(fields.iter().copied()).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_page_is_created_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    for path in [LIST, NEW] {
        pages.open(path).await.asks_to_sign_in();
    }
    pages.sign_in(&ada.email).await;
    pages.open(LIST).await.says(200, "There are no booking pages yet.");
    pages.open(NEW).await.says(200, "There are no calendars yet.");
    let (_, calendar) = agent_with_calendar(&owner).await;
    let (_, second) = agent_with_calendar(&owner).await;
    let form = pages.open(NEW).await.says(200, "Create the booking page");
    assert!(form.text.contains("name=\"availability_constraints.fri.end\" type=\"time\" value=\"17:00\""));
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let base = [("org", &*org), ("once", &*once), ("calendar_id", &*calendar), ("duration_minutes", "45")];
    let question = [
        ("questions[0].label", "Whom?"),
        ("questions[0].type", "select"),
        ("questions[0].options", "Sales\r\n\r\nSupport"),
        ("questions[0].required", "true"),
        ("questions[1].label", ""),
        ("questions[1].type", "text"),
    ];

    // What is wrong is beside its field, and what was typed stays.
    let wrong = [
        ("title", " "),
        ("description", HOSTILE),
        ("slug", "Intro Call"),
        ("embed_origins", "https://a.example\r\nftp://b.example"),
        ("notify_emails", "nobody"),
        ("seats", "many"),
        ("availability_constraints.mon.start", "17:00"),
        ("availability_constraints.mon.end", "09:00"),
        ("questions[0].label", "Which?"),
        ("questions[0].type", "select"),
        ("assignment", "collective"),
    ];
    let refused = pages.send(LIST, &[&base[..], &wrong].concat()).await.says(400, "<title>Error: New booking page");
    let beside = [
        "title",
        "slug",
        "embed_origins",
        "notify_emails",
        "seats",
        "availability_constraints.mon.end",
        "questions[0].options",
        "calendars",
    ];
    for field in beside {
        assert!(refused.text.contains(&format!("id=\"{field}-problem\"")), "{field}: {}", refused.text);
    }
    assert!(refused.text.contains("Entry 2 must be the origin of a site"), "{}", refused.text);
    for kept in [&*escaped(HOSTILE), "value=\"Intro Call\"", "value=\"Which?\"", "value=\"many\""] {
        assert!(refused.text.contains(kept), "no {kept} in {}", refused.text);
    }
    // Room for another question changes nothing.
    let more = pages.send(LIST, &[&base[..], &question, &[("more", "true")]].concat()).await;
    let more = more.says(200, "name=\"questions[2].label\"");
    assert!(more.text.contains("value=\"Whom?\"") && !more.text.contains("questions[3]"), "{}", more.text);

    let good = [
        ("title", HOSTILE),
        ("slug", "intro-call"),
        ("location", "Room 2"),
        ("embed_origins", "https://www.example.com"),
        ("notify_emails", "ada@example.com"),
        ("guest_reminders", "60\r\n1440"),
        ("assignment", "round_robin"),
        ("calendars", &*second),
        ("availability_constraints.mon.start", "09:00"),
        ("availability_constraints.mon.end", "00:00"),
        ("timezone", "Europe/Rome"),
    ];
    let complete = [&base[..], &good, &question].concat();
    assert_eq!(pages.send_from(EVIL, LIST, &complete).await.status, 403);
    pages.send(LIST, &complete[1..]).await.says(409, SWITCHED);
    assert_eq!(made(&owner).await["total"], 0);
    // A double click.
    let mut created = Vec::new();
    for _ in 0..2 {
        created.push(pages.send(LIST, &complete).await.location);
    }
    let listed = made(&owner).await.data();
    let id = text(&listed[0]["id"]);
    let shown = format!("{LIST}/{id}");
    assert_eq!((listed.len(), created), (1, vec![format!("{shown}?done=created"); 2]));
    let expected = json!({
        "title": HOSTILE, "location": "Room 2", "duration_minutes": 45, "seats": 1, "timezone": "Europe/Rome",
        "embed_origins": ["https://www.example.com"], "guest_reminders": [1440, 60], "assignment": "round_robin",
        "calendars": [calendar, second], "availability_constraints": { "mon": { "start": "09:00", "end": "24:00" } },
        "questions": [{
            "id": "whom", "label": "Whom?", "type": "select", "required": true, "options": ["Sales", "Support"]
        }]
    });
    let mut stored = listed[0].clone();
    let identifier = stored["questions"][0]["id"].take();
    assert!(text(&identifier).strip_prefix("whom-").is_some_and(|random| random.len() == 6), "{identifier}");
    stored["questions"][0]["id"] = json!("whom");
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&stored[field], value, "{field}");
    }
    let page = pages.open(&format!("{shown}?done=created")).await.says(200, "Created.");
    let address = format!("{}/book/intro-call", server.base_url());
    let (title, link) = (escaped(HOSTILE), "href=\"/book/intro-call\"");
    for part in [&*title, &*address, link, "&#60;iframe src=&#34;", "Monday 09:00–24:00"] {
        assert!(page.text.contains(part), "no {part} in {}", page.text);
    }
    pages.open(LIST).await.says(200, "Work and 1 more");
    // Another page has this address.
    let fresh = pages.open(NEW).await;
    let once = hidden(&fresh.text, "once");
    let again = [&base[..1], &[("once", &*once)], &base[2..], &good, &question].concat();
    pages.send(LIST, &again).await.says(409, "id=\"slug-problem\"");
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_page_is_edited_switched_and_deleted(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (_, calendar) = agent_with_calendar(&owner).await;
    let id = page(&owner, &calendar).await.id();
    let (api, shown) = (format!("/v1/booking-pages/{id}"), format!("{LIST}/{id}"));
    let edit = format!("{shown}/edit");
    // Nothing limits the hours of the page, and a form that saves it says so.
    let saved = format!("{shown}?done=saved-nights");
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;

    let topic = [("questions[0].id", "topic"), ("questions[0].label", "Topic?"), ("questions[0].type", "text")];
    let asked = [&topic[..], &[("questions[0].required", "true")]].concat();
    // Nothing was typed over, so nothing changes.
    let form = pages.open(&edit).await.says(200, "<h1>Edit Intro</h1>");
    let fields = all_hidden(&form);
    let version = owner.get(&api).await.expect(200).header("etag").to_owned();
    pages.send(&edit, &typed_over(&fields, &asked[1..])).await.leads_to(&format!("{shown}?done=saved"));
    assert_eq!(owner.get(&api).await.expect(200).header("etag"), version);

    // Two tabs: what the second one does not touch stays what the first has made it.
    let (first, second) = (pages.open(&edit).await, pages.open(&edit).await);
    let (first, second) = (all_hidden(&first), all_hidden(&second));
    let change = [&asked[1..], &[("title", "Demo"), ("max_per_day", "3")]].concat();
    assert_eq!(pages.send_from(EVIL, &edit, &typed_over(&first, &change)).await.status, 403);
    for _ in 0..2 {
        pages.send(&edit, &typed_over(&first, &change)).await.leads_to(&saved);
    }
    pages.open(&saved).await.says(200, "Guests can book at night");
    let now = owner.get(&api).await.expect(200);
    assert_eq!((&now["title"], &now["max_per_day"], &now["slug"]), (&json!("Demo"), &json!(3), &json!("intro-call")));
    let change = [&asked[1..], &[("description", "Mine"), ("accent_color", "red")]].concat();
    let refused = pages.send(&edit, &typed_over(&second, &change)).await.says(400, "id=\"accent_color-problem\"");
    assert!(refused.text.contains(">\nMine</textarea>"), "{}", refused.text);
    let second = all_hidden(&refused);
    let change = [&asked[1..], &[("description", "Mine"), ("accent_color", "#102a6b")]].concat();
    let stale = pages.send(&edit, &typed_over(&second, &change)).await;
    let stale = stale.says(412, "The booking page has changed since you opened this form.");
    let title = "name=\"title\" type=\"text\" value=\"Demo\"";
    for part in [title, ">\nMine</textarea>", "value=\"#102a6b\"", "value=\"3\""] {
        assert!(stale.text.contains(part), "no {part} in {}", stale.text);
    }
    let third = all_hidden(&stale);
    pages.send(&edit, &typed_over(&third, &change)).await.leads_to(&saved);
    let now = owner.get(&api).await.expect(200);
    assert_eq!((&now["title"], &now["description"]), (&json!("Demo"), &json!("Mine")));
    assert_eq!((&now["max_per_day"], &now["accent_color"]), (&json!(3), &json!("#102a6b")));
    assert_eq!(now["questions"][0]["id"], "topic");

    // A question whose text is gone is refused, and one that is to be removed stays so if the form is refused.
    let fields = all_hidden(&pages.open(&edit).await);
    let blank = [("questions[0].label", ""), ("questions[0].type", "text")];
    let refused = pages.send(&edit, &typed_over(&fields, &blank)).await.says(400, "Must not be blank.");
    assert!(refused.text.contains("id=\"questions[0].label-problem\""), "{}", refused.text);
    let wrong = [&asked[1..], &[("questions[0].remove", "true"), ("seats", "many")]].concat();
    let refused = pages.send(&edit, &typed_over(&fields, &wrong)).await.says(400, "id=\"seats-problem\"");
    assert!(refused.text.contains("name=\"questions[0].remove\" value=\"true\" checked"), "{}", refused.text);
    assert!(!refused.text.contains("must contain at least one of"), "{}", refused.text);

    // A question is removed, and another one added.
    let fields = all_hidden(&pages.open(&edit).await);
    let change = [("questions[0].remove", "true"), ("questions[1].label", "Phone?"), ("questions[1].type", "phone")];
    let change = [&asked[1..], &change].concat();
    pages.send(&edit, &typed_over(&fields, &change)).await.leads_to(&saved);
    let asked_now = owner.get(&api).await.expect(200)["questions"].clone();
    assert_eq!(asked_now.as_array().unwrap().len(), 1);
    assert!(text(&asked_now[0]["id"]).starts_with("phone-"), "{asked_now}");

    // All days can be closed.
    let fields = all_hidden(&pages.open(&edit).await);
    let closed = [("questions[0].label", "Phone?"), ("questions[0].type", "phone"), ("hours", "these")];
    pages.send(&edit, &typed_over(&fields, &closed)).await.leads_to(&format!("{shown}?done=saved"));
    pages.open(&shown).await.says(200, "Closed on every weekday");

    let org = [("org", &*ada.org)];
    for (way, active) in [("off", false), ("on", true)] {
        for _ in 0..2 {
            let done = format!("{shown}?done=switched-{way}");
            pages.send(&format!("{shown}/{way}"), &org).await.leads_to(&done);
        }
        assert_eq!(owner.get(&api).await.expect(200)["active"], active);
        pages.open(&format!("{shown}/{way}")).await.leads_to(&shown);
    }
    let delete = format!("{shown}/delete");
    let asked = all_hidden(&pages.open(&delete).await.says(200, "Made: 0. To come: 0."));
    owner.patch(&api).json(json!({ "title": "Talk" })).await.expect(200);
    let stale = pages.send(&delete, &typed_over(&asked, &[])).await.says(412, "has changed since you opened");
    let asked = all_hidden(&stale);
    for _ in 0..2 {
        pages.send(&delete, &typed_over(&asked, &[])).await.leads_to(&format!("{LIST}?done=deleted"));
    }
    assert_eq!(made(&owner).await["total"], 0);
    for gone in [&shown, &edit, &delete] {
        pages.open(gone).await.says(404, NO_PAGE);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_preview_shows_what_is_typed_and_stores_nothing(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (_, calendar) = agent_with_calendar(&owner).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    let base = [("org", &*ada.org), ("calendar_id", &*calendar)];
    let whole = [("title", HOSTILE), ("host_name", "Grace"), ("accent_color", "#102a6b"), ("window_days", "30")];
    let question = [("questions[0].label", "What about?"), ("questions[0].type", "textarea")];
    let typed = [&base[..], &whole, &question].concat();
    let times = pages.send(PREVIEW, &typed).await.says(200, "Preview. Nothing is saved");
    for part in [&*escaped(HOSTILE), "Grace", "class=\"time\"", "--fill:#102a6b"] {
        assert!(times.text.contains(part), "no {part} in {}", times.text);
    }
    assert!(!times.text.contains("<script"), "{}", times.text);
    let form = pages.send(PREVIEW, &[&typed[..], &[("step", "form")]].concat()).await.says(200, "What about?");
    assert!(form.text.contains("<button class=\"primary\" disabled>"), "{}", form.text);
    // What is not right yet is left out.
    let wrong = [&base[..], &[("title", ""), ("seats", "x"), ("host_name", "Grace"), ("slug", "?")]].concat();
    pages.send(PREVIEW, &wrong).await.says(200, "What is not right yet is left out.");
    pages.send(PREVIEW, &base[..1]).await.says(200, "There is no such calendar any more.");
    pages.open(PREVIEW).await.says(200, "This is only a preview.");
    assert_eq!(pages.send_from(EVIL, PREVIEW, &typed).await.status, 403);
    pages.send(PREVIEW, &typed[1..]).await.says(409, SWITCHED);
    assert_eq!(made(&owner).await["total"], 0);
    // Only the form may show it in a frame.
    let cookies: Vec<_> = pages.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let policy = async |path: &str| {
        let request = crate::front::http().get(format!("{}{path}", server.base_url()));
        let answer = request.header("accept", "text/html").header("cookie", cookies.join("; ")).send().await.unwrap();
        answer.headers()["content-security-policy"].to_str().unwrap().to_owned()
    };
    let (new, shown, list) = (policy(NEW).await, policy(PREVIEW).await, policy(LIST).await);
    assert!(new.contains("frame-src 'self'") && new.contains("frame-ancestors 'none'"), "{new}");
    assert!(shown.contains("frame-ancestors 'self'") && !shown.contains("frame-src"), "{shown}");
    assert!(list.contains("frame-ancestors 'none'") && !list.contains("frame-src"), "{list}");
    // It may also show why there is no preview.
    let request = crate::front::http().post(format!("{}{PREVIEW}", server.base_url())).form(&typed[1..]);
    let origin = server.base_url().to_owned();
    let answer = request.header("origin", origin).header("cookie", cookies.join("; ")).send().await.unwrap();
    let framed = answer.headers()["content-security-policy"].to_str().unwrap().contains("frame-ancestors 'self'");
    assert_eq!((answer.status().as_u16(), framed), (409, true));
}

/// The only booking of the page.
async fn booking(owner: &Client, page: &str) -> Value {
    let listed = owner.get(format!("/v1/booking-pages/{page}/bookings")).await.expect(200).data();
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed[0].clone()
}

#[apply(on_both)]
#[tokio::test]
async fn a_host_sees_and_cancels_bookings(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (_, calendar) = agent_with_calendar(&owner).await;
    let id = page(&owner, &calendar).await.id();
    let list = format!("{LIST}/{id}/bookings");
    let mut pages = Pages::new(&server);
    pages.sign_in(&ada.email).await;
    pages.open(&list).await.says(200, "There are no bookings.");
    book(&owner, HOSTILE).await;
    let made = booking(&owner, &id).await;
    let cancel = format!("{list}/{}/cancel", text(&made["id"]));
    for path in [&list, &format!("{LIST}/{id}")] {
        let seen = pages.open(path).await.says(200, &cancel);
        for part in [&*escaped(HOSTILE), "Topic?", "guest@example.com", "Confirmed"] {
            assert!(seen.text.contains(part), "no {part} in {}", seen.text);
        }
    }
    pages.open(&format!("{list}?status=confirmed&from=2026-01-01")).await.says(200, &cancel);
    // The way to the question and back keeps the filter.
    let filtered = pages.open(&format!("{list}?status=confirmed&from=2026-01-01")).await;
    filtered.says(200, &format!("{cancel}?status=confirmed&#38;from=2026-01-01"));
    let asked = pages.open(&format!("{cancel}?status=confirmed&from=2026-01-01&offset=50")).await;
    let asked = asked.says(200, &format!("{list}?status=confirmed&#38;from=2026-01-01&#38;offset=50"));
    assert_eq!(["status", "from", "offset"].map(|name| hidden(&asked.text, name)), ["confirmed", "2026-01-01", "50"]);
    pages.open(&format!("{list}?status=cancelled")).await.says(200, "There are no such bookings.");
    pages.open(&format!("{list}?from=2099-01-01")).await.says(200, "There are no such bookings.");
    pages.open(&format!("{list}?from=soon")).await.says(400, "id=\"from-problem\"");
    pages.open(&format!("{list}?status=x")).await.says(400, "id=\"status-problem\"");

    let asked = pages.open(&cancel).await.says(200, "an email to the guest is written");
    let (org, once) = (hidden(&asked.text, "org"), hidden(&asked.text, "once"));
    let reason = |reason| [("org", &*org), ("once", &*once), ("reason", reason)];
    let long = "x".repeat(501);
    let refused = pages.send(&cancel, &reason(&long)).await.says(400, "id=\"reason-problem\"");
    assert!(refused.text.contains(&long), "what was typed stays");
    assert_eq!(pages.send_from(EVIL, &cancel, &reason("Ill")).await.status, 403);
    pages.send(&cancel, &reason("Ill")[1..]).await.says(409, SWITCHED);
    assert_eq!(booking(&owner, &id).await["status"], "confirmed");
    // A double click.
    let sent = [&reason("Ill today")[..], &[("status", "confirmed"), ("offset", "50")]].concat();
    for _ in 0..2 {
        let back = format!("{list}?done=cancelled&status=confirmed&offset=50");
        pages.send(&cancel, &sent).await.leads_to(&back);
    }
    let now = booking(&owner, &id).await;
    assert_eq!((&now["status"], &now["cancelled_by"]), (&json!("cancelled"), &json!("host")));
    pages.open(&list).await.says(200, "Cancelled by the host");
    pages.open(&cancel).await.says(200, "It can no longer be cancelled.");
    pages.open(&format!("{list}/bkg_01jn8r6v9ke0bt3m5qz2c7xwdh/cancel")).await.says(404, "There is no such booking");
    let with_reason = |mails: &[Mail]| mails.iter().filter(|mail| mail.text.contains("Ill today")).count();
    let mut mails = server.mails();
    while with_reason(&mails) == 0 {
        mails = server.wait_for_mails(mails.len() + 1).await;
    }
    assert_eq!(with_reason(&mails), 1, "{mails:#?}");
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_of_all_pages_are_in_one_list_also_those_of_a_deleted_page(#[case] database: Database) {
    const ALL: &str = "/console/bookings";
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (_, calendar) = agent_with_calendar(&owner).await;
    let mut pages = Pages::new(&server);
    pages.open(ALL).await.asks_to_sign_in();
    pages.sign_in(&ada.email).await;
    pages.open(LIST).await.says(200, &format!("href=\"{ALL}\""));
    pages.open(ALL).await.says(200, "There are no upcoming bookings.");
    let gone = page(&owner, &calendar).await.id();
    book(&owner, "Grace").await;
    let booked = booking(&owner, &gone).await;
    let cancel = format!("{ALL}/{}/cancel", text(&booked["id"]));
    pages.open(&format!("{ALL}?page={gone}&status=all")).await.says(200, &cancel);
    // Another page gets the slug of the deleted one.
    owner.delete(format!("/v1/booking-pages/{gone}")).await.expect(204);
    let second = page(&owner, &calendar).await.id();
    book(&owner, "Hedy").await;
    let seen = pages.open(ALL).await.says(200, "2 found");
    for part in ["Intro (deleted)", "Grace", "Hedy", &*escaped(HOSTILE), &format!("href=\"{LIST}/{second}\""), &*cancel]
    {
        assert!(seen.text.contains(part), "no {part} in {}", seen.text);
    }
    // A page that was deleted after it was chosen stays chosen.
    let (of_gone, of_second) = (format!("page={gone}"), format!("page={second}&time=all"));
    pages.open(&format!("{ALL}?{of_gone}")).await.says(200, "<h1>Bookings: Intro (deleted)</h1>");
    for (query, shown, other) in
        [("page=deleted", "Grace", "Hedy"), (&*of_gone, "Grace", "Hedy"), (&*of_second, "Hedy", "Grace")]
    {
        let seen = pages.open(&format!("{ALL}?{query}")).await.says(200, shown);
        assert!(seen.text.contains("1 found") && !seen.text.contains(other), "{}", seen.text);
    }
    for query in ["time=past", "status=cancelled"] {
        pages.open(&format!("{ALL}?{query}")).await.says(200, "There are no such bookings.");
    }
    for (query, field) in [("page", "x"), ("status", "x"), ("time", "soon")] {
        pages.open(&format!("{ALL}?{query}={field}")).await.says(400, &format!("id=\"{query}-problem\""));
    }

    // The way to the question and back keeps the filter. A double click has one effect.
    let asked = pages.open(&format!("{cancel}?page=deleted&time=all")).await;
    let asked = asked.says(200, &format!("{ALL}?page=deleted&#38;time=all"));
    let (org, once) = (hidden(&asked.text, "org"), hidden(&asked.text, "once"));
    let sent = [("org", &*org), ("once", &*once), ("reason", "Ill"), ("page", "deleted"), ("time", "all")];
    assert_eq!(pages.send_from(EVIL, &cancel, &sent).await.status, 403);
    pages.send(&cancel, &sent[1..]).await.says(409, SWITCHED);
    for _ in 0..2 {
        pages.send(&cancel, &sent).await.leads_to(&format!("{ALL}?done=cancelled&page=deleted&time=all"));
    }
    let seen = pages.open(&format!("{ALL}?page=deleted&status=all")).await.says(200, "Cancelled by the host");
    assert!(seen.text.contains("<dt>Cancelled</dt>") && !seen.text.contains(&cancel), "{}", seen.text);
    pages.open(ALL).await.says(200, "1 found");
    pages.open(&cancel).await.says(200, "It can no longer be cancelled.");
    pages.open(&format!("{ALL}/bkg_01jn8r6v9ke0bt3m5qz2c7xwdh/cancel")).await.says(404, "There is no such booking");

    let (viewer, _) = member(&server, &owner, "viewer@example.com", "viewer").await;
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let second = format!("{ALL}/{}/cancel", text(&booking(&owner, &second).await["id"]));
    let mut pages = Pages::new(&server);
    pages.sign_in_to(&viewer.email, &ada.org).await;
    let seen = pages.open(ALL).await.says(200, "1 found");
    assert!(!seen.text.contains(&second), "{}", seen.text);
    assert_eq!(pages.open(&second).await.status, 403);
    let mut pages = Pages::new(&server);
    pages.sign_in(&eve.email).await;
    pages.open(ALL).await.says(200, "There are no upcoming bookings.");
    pages.open(&second).await.says(404, "There is no such booking");
    pages.send(&second, &[("org", &*eve.org)]).await.says(404, "There is no such booking");
}

#[apply(on_both)]
#[tokio::test]
async fn each_role_sees_what_it_may_do(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (_, calendar) = agent_with_calendar(&owner).await;
    let id = page(&owner, &calendar).await.id();
    book(&owner, "Grace").await;
    let (shown, list) = (format!("{LIST}/{id}"), format!("{LIST}/{id}/bookings"));
    let cancel = format!("{list}/{}/cancel", text(&booking(&owner, &id).await["id"]));
    for role in ["admin", "member", "viewer"] {
        let (human, _) = member(&server, &owner, &format!("{role}@example.com"), role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in_to(&human.email, &ada.org).await;
        let (all, one) = (pages.open(LIST).await, pages.open(&shown).await.says(200, "Intro"));
        let bookings = pages.open(&list).await.says(200, "Grace");
        let offered = [
            all.text.contains(NEW),
            one.text.contains("/edit\""),
            one.text.contains("/delete\""),
            bookings.text.contains(&cancel),
        ];
        let mut answers = Vec::new();
        for path in [NEW.to_owned(), format!("{shown}/edit"), format!("{shown}/delete"), cancel.clone()] {
            answers.push(pages.open(&path).await.status);
        }
        let fields = [("org", &*ada.org), ("calendar_id", &*calendar), ("title", "Preview")];
        answers.push(pages.send(PREVIEW, &fields).await.status);
        answers.push(pages.send(&format!("{shown}/off"), &fields[..1]).await.status);
        if role == "viewer" {
            assert_eq!((offered, answers), ([false; 4], vec![403; 6]), "{role}");
        } else {
            assert_eq!((offered, answers), ([true; 4], vec![200, 200, 200, 200, 200, 303]), "{role}");
        }
    }
    // Somebody of another organization finds none of it.
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut pages = Pages::new(&server);
    pages.sign_in(&eve.email).await;
    pages.open(LIST).await.says(200, "There are no booking pages yet.");
    for path in [&shown, &list, &cancel, &format!("{shown}/edit")] {
        pages.open(path).await.says(404, NO_PAGE);
    }
    let theirs = [("org", &*eve.org), ("calendar_id", &*calendar), ("title", "Preview")];
    pages.send(PREVIEW, &theirs).await.says(200, "There is no such calendar any more.");
    pages.send(&cancel, &theirs).await.says(404, NO_PAGE);
    pages.send(&format!("{shown}/on"), &theirs).await.says(404, NO_PAGE);
    pages.send(&format!("{shown}/on"), &[("org", &ada.org)]).await.says(409, SWITCHED);
    assert_eq!(booking(&owner, &id).await["status"], "confirmed");
}
