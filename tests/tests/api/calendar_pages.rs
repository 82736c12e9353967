//! The calendar of the console, by its pages and forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    connecting::{ACCOUNT, CALENDARS, Connecting, HUMAN, ORG},
    console::{Human, owner},
    fixtures::{event_body, shared_calendar},
    holds::{hold_body, in_seconds},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
};

const CALENDAR: &str = "/console/calendar";
const EVENTS: &str = "/console/calendar/events";
const ZONE: &str = "Europe/Berlin";
const SWITCHED: &str = "You switched to another organization in another tab";
/// The hidden fields of the form that edits an event.
const HIDES: [&str; 11] = [
    "org",
    "once",
    "version",
    "tz",
    "was_title",
    "was_start_time",
    "was_end_time",
    "was_status",
    "was_location",
    "was_conference_url",
    "was_description",
];
const EVIL: &str = "https://evil.example";

/// An organization with a shared calendar in [`ZONE`], and its owner [`HUMAN`].
struct Desk {
    server: Server,
    api: Client,
    console: Client,
    org: String,
    calendar: String,
}

impl Desk {
    async fn new(database: Database) -> Self {
        let server = Server::start(database).await;
        let org = server.org_with("pro", &["--email", ORG]).await;
        let api = server.api(&org);
        let console = owner(&server, ORG).await;
        let calendar = shared_calendar(&api, ZONE).await;
        Self { server, api, console, org: org.id, calendar }
    }

    /// A browser in which the owner is signed in.
    async fn signed_in(&self) -> Pages<'_> {
        let mut pages = Pages::new(&self.server);
        pages.sign_in(HUMAN).await;
        pages
    }

    /// A browser of a new member with that role, who works in the organization.
    async fn browser_of(&self, email: &str, role: &str) -> Pages<'_> {
        let (human, _) = member(&self.server, &self.console, email, role).await;
        let mut pages = Pages::new(&self.server);
        pages.sign_in_to(&human.email, &self.org).await;
        pages
    }

    /// Creates an event over the API.
    async fn event(&self, title: &str, start: &str, end: &str) -> String {
        let path = format!("/v1/calendars/{}/events", self.calendar);
        self.api.post(path).json(event_body(title, start, end)).await.expect(201).id()
    }

    async fn read(&self, id: &str) -> Value {
        self.api.get(format!("/v1/events/{id}")).await.expect(200).json
    }

    /// What takes place in March 2027: the day, the time and the title.
    async fn taking_place(&self) -> Vec<String> {
        let window =
            [("expand", "true"), ("start_after", "2027-03-01T00:00:00Z"), ("start_before", "2027-04-01T00:00:00Z")];
        let path = format!("/v1/calendars/{}/events", self.calendar);
        let listed = self.api.get(path).query(&window).await.expect(200);
        let shown = listed.data().into_iter().map(|event| {
            let text = |field: &str| event[field].as_str().unwrap().to_owned();
            format!("{} {}", &text("startTime")[8..16], text("title"))
        });
        shown.collect()
    }

    /// The address of the calendar.
    fn view(&self, view: &str, zone: &str) -> String {
        format!("{CALENDAR}?view={view}&date=2027-03-01&tz={zone}&cal={}", self.calendar)
    }
}

/// A form with the fields that its page hides.
struct Filled(Vec<(&'static str, String)>);

impl Filled {
    fn of(page: &Seen, hides: &[&'static str], typed: &[(&'static str, &str)]) -> Self {
        let hides = hides.iter().map(|name| (*name, hidden(&page.text, name)));
        Self(hides.chain(typed.iter().map(|(name, value)| (*name, (*value).to_owned()))).collect())
    }

    /// The same form with other values.
    fn but(&self, typed: &[(&'static str, &str)]) -> Self {
        let kept = self.0.iter().filter(|(name, _)| typed.iter().all(|(other, _)| other != name)).cloned();
        Self(kept.chain(typed.iter().map(|(name, value)| (*name, (*value).to_owned()))).collect())
    }

    async fn send(&self, pages: &mut Pages<'_>, path: &str) -> Seen {
        let fields: Vec<_> = self.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pages.send(path, &fields).await
    }
}

/// The identifier of the event to whose page an answer leads.
fn event_of(answer: &Seen) -> String {
    let path = answer.location.split('?').next().unwrap();
    path.strip_prefix(&format!("{EVENTS}/")).unwrap_or_else(|| panic!("{} {}", answer.status, answer.text)).to_owned()
}

/// The form that creates an event, with what most tests type.
async fn new_event(it: &Desk, pages: &mut Pages<'_>) -> Filled {
    let page = pages.open(&format!("{CALENDAR}/new?cal={}&tz={ZONE}&start=2027-03-01T09:00", it.calendar)).await;
    let page = page.says(200, "value=\"2027-03-01T10:00\"");
    let typed = [
        ("calendar", &*it.calendar),
        ("title", "Planning"),
        ("start_time", "2027-03-01T09:00"),
        ("end_time", "2027-03-01T10:00"),
        ("status", "confirmed"),
        ("if_free", "allow"),
        ("location", "Room 2"),
        ("conference_url", "https://meet.example.com/planning"),
        ("description", "One\r\nTwo"),
    ];
    Filled::of(&page, &["org", "once", "tz"], &typed)
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_created_and_shown_in_every_view(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut pages = Pages::new(&it.server);
    pages.open(CALENDAR).await.asks_to_sign_in();
    pages.sign_in(HUMAN).await;
    pages.open(CALENDAR).await.says(200, "New event");
    let form = new_event(&it, &mut pages).await;

    let wrong = form.but(&[("title", ""), ("end_time", "soon"), ("description", HOSTILE), ("status", HOSTILE)]);
    let again = wrong.send(&mut pages, EVENTS).await.says(400, "Must be a date and a time of day");
    for part in
        ["id=\"title-problem\"", "id=\"end_time-problem\"", "id=\"status-problem\"", "alert(1)", "value=\"Room 2\""]
    {
        assert!(again.text.contains(part), "no {part} in {}", again.text);
    }
    let backwards = form.but(&[("end_time", "2027-03-01T08:00")]);
    backwards.send(&mut pages, EVENTS).await.says(400, "id=\"end_time-problem\"");
    form.but(&[("calendar", "cal_x")]).send(&mut pages, EVENTS).await.says(404, "There is no such calendar any more.");
    form.but(&[("org", "org_x")]).send(&mut pages, EVENTS).await.says(409, SWITCHED);
    assert_eq!(pages.send_from(EVIL, EVENTS, &[("org", &*it.org)]).await.status, 403);
    assert_eq!(it.taking_place().await, Vec::<String>::new());

    // A double click.
    let made = form.send(&mut pages, EVENTS).await;
    let id = event_of(&made);
    assert_eq!(form.send(&mut pages, EVENTS).await.leads_to(&made.location).status, 303);
    assert_eq!(it.taking_place().await, ["01T08:00 Planning"]);
    let stored = it.read(&id).await;
    assert_eq!((&stored["description"], &stored["location"]), (&json!("One\nTwo"), &json!("Room 2")));
    let page = pages.open(&made.location).await.says(200, "Created.");
    for part in ["09:00–10:00", "Europe/Berlin (UTC+1)", "Shared", "Room 2", "https://meet.example.com/planning"] {
        assert!(page.text.contains(part), "no {part} in {}", page.text);
    }
    pages.open(EVENTS).await.leads_to(CALENDAR);
    pages.open(&format!("{EVENTS}/%0A/confirm")).await.leads_to(&format!("{EVENTS}/%0A"));

    it.event(HOSTILE, "2027-03-03T12:00:00Z", "2027-03-03T13:00:00Z").await;
    for view in ["week", "list", "day", "month"] {
        let page = pages.open(&it.view(view, ZONE)).await.says(200, "<strong>Planning</strong>");
        assert!(
            page.text.contains("09:00–10:00") && page.text.contains(&format!("{EVENTS}/{id}?tz=")),
            "{}",
            page.text
        );
        assert_eq!(page.text.contains("alert(1)"), view != "day", "{view}");
        let tokyo = format!("{}&tz2={ZONE}", it.view(view, "Asia/Tokyo"));
        pages.open(&tokyo).await.says(200, "17:00–18:00");
        let other = pages.open(&format!("{CALENDAR}?view={view}&date=2027-05-10&tz={ZONE}")).await;
        let other = other.says(200, "May 2027");
        assert!(!other.text.contains("Planning"), "{}", other.text);
    }
    // What cannot be read says nothing.
    let nonsense = format!("{CALENDAR}?view=x&date=9999-01-01&tz=Mars&tz2=Mars&cal=x&done=x");
    pages.open(&nonsense).await.says(200, "<p class=\"lead\">Times are in Europe/Berlin (");
    for date in ["1970-01-01", "2099-12-31"] {
        pages.open(&format!("{CALENDAR}?view=month&date={date}")).await.says(200, date);
    }

    // Events that must have their time alone.
    let second = new_event(&it, &mut pages).await;
    let taken = second.but(&[("if_free", "refuse")]);
    taken.send(&mut pages, EVENTS).await.says(409, "Something else is at that time");
    // The clocks skip half past two.
    let night = [("start_time", "2027-03-28T02:30"), ("end_time", "2027-03-28T04:00"), ("title", "Night")];
    let night = event_of(&second.but(&night).send(&mut pages, EVENTS).await);
    assert_eq!(it.read(&night).await["startTime"], "2027-03-28T01:30:00Z");
    let week = format!("{CALENDAR}?view=week&date=2027-03-28&tz={ZONE}");
    pages.open(&week).await.says(200, "this day has 23 hours").says(200, "03:30–04:00");
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_edited_in_two_tabs(#[case] database: Database) {
    let it = Desk::new(database).await;
    let id = it.event("Standup", "2027-03-01T08:00:30Z", "2027-03-01T08:15:30Z").await;
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/edit");
    let page = pages.open(&format!("{path}?tz={ZONE}")).await.says(200, "value=\"2027-03-01T09:00\"");
    let typed = [
        ("title", "Standup"),
        ("start_time", "2027-03-01T09:00"),
        ("end_time", "2027-03-01T09:15"),
        ("status", "confirmed"),
        ("if_free", "allow"),
        ("location", ""),
        ("conference_url", ""),
        ("description", ""),
    ];
    let form = Filled::of(&page, &HIDES, &typed);
    // The other tab.
    let page = pages.open(&format!("{path}?tz={ZONE}")).await;
    let other = Filled::of(&page, &HIDES, &typed);
    let saved = format!("{EVENTS}/{id}?done=saved&tz=Europe%2FBerlin");
    // Nothing was typed over, so nothing changes.
    let before = it.read(&id).await;
    form.send(&mut pages, &path).await.leads_to(&saved);
    assert_eq!(it.read(&id).await, before);

    let wrong = form.but(&[("title", ""), ("start_time", "x"), ("conference_url", "x")]).send(&mut pages, &path).await;
    let wrong = wrong.says(400, "id=\"start_time-problem\"");
    for field in ["title", "conference_url"] {
        assert!(wrong.text.contains(&format!("id=\"{field}-problem\"")), "no {field}: {}", wrong.text);
    }
    form.but(&[("org", "org_x"), ("title", "x")]).send(&mut pages, &path).await.says(409, SWITCHED);
    // A side that was left as it is keeps its seconds.
    let first = form.but(&[("title", "Retro"), ("end_time", "2027-03-01T10:00"), ("status", "tentative")]);
    first.send(&mut pages, &path).await.leads_to(&saved);
    // A double click.
    first.send(&mut pages, &path).await.leads_to(&saved);
    let now = it.read(&id).await;
    assert_eq!((&now["title"], &now["status"]), (&json!("Retro"), &json!("tentative")));
    let times = (&now["startTime"], &now["endTime"]);
    assert_eq!(times, (&json!("2027-03-01T08:00:30Z"), &json!("2027-03-01T09:00:00Z")));
    pages.open(&saved).await.says(200, "Saved.").says(200, "Tentative");

    // The other tab still shows the earlier version.
    let other = other.but(&[("title", "Other"), ("location", HOSTILE)]);
    let stale = other.send(&mut pages, &path).await.says(412, "The event has changed since you opened this page.");
    // It shows the event as it is now, what was typed, and the other fields as they are now.
    for part in ["<dd>Retro</dd>", "<dd>Tentative</dd>", "value=\"Other\"", "value=\"2027-03-01T10:00\""] {
        assert!(stale.text.contains(part), "no {part} in {}", stale.text);
    }
    assert_eq!(it.read(&id).await, now);
    let typed = [("title", "Other"), ("end_time", "2027-03-01T10:00"), ("status", "tentative"), ("location", HOSTILE)];
    let again = Filled::of(&stale, &HIDES, &[("if_free", "allow"), ("conference_url", ""), ("description", "")]);
    let again = again.but(&[("start_time", "2027-03-01T09:00")]).but(&typed);
    again.send(&mut pages, &path).await.leads_to(&saved);
    let after = it.read(&id).await;
    assert_eq!((&after["title"], &after["location"]), (&json!("Other"), &json!(HOSTILE)));
    assert_eq!((&after["startTime"], &after["endTime"]), times, "the change of the other tab stays");
    assert_eq!(after["status"], "tentative");
    // A form with what its first page showed leaves these fields alone too.
    let version = hidden(&pages.open(&path).await.text, "version");
    let late = other.but(&[("version", version.as_str()), ("title", "Late"), ("location", "")]);
    late.send(&mut pages, &path).await.leads_to(&saved);
    let after = it.read(&id).await;
    assert_eq!((&after["title"], &after["status"]), (&json!("Late"), &json!("tentative")));
    assert_eq!((&after["startTime"], &after["endTime"]), times);

    // It is cancelled once.
    let cancel = format!("{EVENTS}/{id}/cancel");
    let asks = pages.open(&cancel).await.says(200, "This cannot be undone.");
    let form = Filled::of(&asks, &["org", "once", "version", "tz"], &[]);
    form.but(&[("version", "1")]).send(&mut pages, &cancel).await.says(412, "The event has changed since");
    form.send(&mut pages, &cancel).await.leads_to("/console/calendar?done=cancelled");
    pages.open("/console/calendar?done=cancelled").await.says(200, "Cancelled.");
    // A double click.
    form.send(&mut pages, &cancel).await.leads_to("/console/calendar?done=cancelled");
    form.but(&[("once", "")]).send(&mut pages, &cancel).await.says(404, "There is no such event any more.");
    pages.open(&path).await.says(404, "There is no such event any more.");
    assert_eq!(it.taking_place().await, Vec::<String>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_are_changed_alone_from_one_on_or_all(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut body = event_body("Standup", "2027-03-01T08:00:00Z", "2027-03-01T08:15:00Z");
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=6");
    let path = format!("/v1/calendars/{}/events", it.calendar);
    let series = it.api.post(path).json(body).await.expect(201).id();
    let mut pages = it.signed_in().await;
    let occurrence = |series: &str, day: u8| format!("{EVENTS}/{series}_202703{day:02}T080000Z");
    let second = occurrence(&series, 2);
    pages.open(&it.view("week", ZONE)).await.says(200, &format!("href=\"{second}?tz="));
    pages.open(&second).await.says(200, &format!("{EVENTS}/{series}?tz="));
    pages.open(&format!("{EVENTS}/{series}")).await.says(200, "FREQ=DAILY;COUNT=6");
    let all = pages.open(&format!("{EVENTS}/{series}/edit")).await.says(200, "This changes all occurrences.");
    assert!(all.text.contains("FREQ=DAILY;COUNT=6"), "{}", all.text);
    let all = pages.open(&format!("{EVENTS}/{series}/cancel")).await;
    let all = all.says(200, "All occurrences of this series are deleted.");
    assert!(all.text.contains("FREQ=DAILY;COUNT=6"), "{}", all.text);

    let cancel = async |pages: &mut Pages<'_>, of: &str, scope: &str| {
        let asks = pages.open(&format!("{of}/cancel")).await.says(200, "Which occurrences?");
        let form = Filled::of(&asks, &["org", "once", "version", "tz"], &[("scope", scope)]);
        form.send(pages, &format!("{of}/cancel")).await
    };
    cancel(&mut pages, &second, "").await.says(400, "id=\"scope-problem\"");
    assert_eq!(it.taking_place().await.len(), 6);
    cancel(&mut pages, &second, "this").await.leads_to("/console/calendar?done=cancelled");
    let left = ["01T08:00 Standup", "03T08:00 Standup", "04T08:00 Standup", "05T08:00 Standup", "06T08:00 Standup"];
    assert_eq!(it.taking_place().await, left);
    cancel(&mut pages, &occurrence(&series, 6), "following").await.leads_to("/console/calendar?done=cancelled");
    assert_eq!(it.taking_place().await, left[..4]);

    let edit = async |pages: &mut Pages<'_>, of: &str, typed: &[(&'static str, &str)]| {
        let page = pages.open(&format!("{of}/edit?tz={ZONE}")).await.says(200, "Which occurrences?");
        let day = &of[of.len() - 10..of.len() - 8];
        let (start, end) = (format!("2027-03-{day}T09:00"), format!("2027-03-{day}T09:15"));
        let as_shown = [
            ("title", "Standup"),
            ("start_time", &*start),
            ("end_time", &*end),
            ("status", "confirmed"),
            ("if_free", "allow"),
            ("location", ""),
            ("conference_url", ""),
            ("description", ""),
        ];
        let form = Filled::of(&page, &HIDES, &as_shown);
        form.but(typed).send(pages, &format!("{of}/edit")).await
    };
    let third = occurrence(&series, 3);
    let wrong = edit(&mut pages, &third, &[("title", ""), ("end_time", "x")]).await.says(400, "id=\"scope-problem\"");
    assert!(wrong.text.contains("id=\"title-problem\""), "{}", wrong.text);
    assert!(wrong.text.contains("id=\"end_time-problem\""), "{}", wrong.text);
    let noon = [("scope", "this"), ("start_time", "2027-03-03T13:00"), ("end_time", "2027-03-03T13:30")];
    event_of(&edit(&mut pages, &third, &noon).await);
    let shown = ["01T08:00 Standup", "03T12:00 Standup", "04T08:00 Standup", "05T08:00 Standup"];
    assert_eq!(it.taking_place().await, shown);
    // All get the title, and keep their times.
    event_of(&edit(&mut pages, &occurrence(&series, 4), &[("scope", "all"), ("title", "Daily")]).await);
    let shown = ["01T08:00 Daily", "03T12:00 Daily", "04T08:00 Daily", "05T08:00 Daily"];
    assert_eq!(it.taking_place().await, shown);
    // The later ones become a series of their own.
    let later = [("scope", "following"), ("title", "Later")];
    let new = event_of(&edit(&mut pages, &occurrence(&series, 4), &later).await);
    assert_ne!(new, series);
    assert_eq!(it.taking_place().await, ["01T08:00 Daily", "03T12:00 Daily", "04T08:00 Later", "05T08:00 Later"]);
    cancel(&mut pages, &occurrence(&new, 5), "all").await.leads_to("/console/calendar?done=cancelled");
    assert_eq!(it.taking_place().await, ["01T08:00 Daily", "03T12:00 Daily"]);
}

#[apply(on_both)]
#[tokio::test]
async fn holds_are_confirmed_and_released(#[case] database: Database) {
    let it = Desk::new(database).await;
    let until = in_seconds(&it.api, 600).await;
    let path = format!("/v1/calendars/{}/events", it.calendar);
    let hold = async |start: &str, end: &str| {
        it.api.post(path.as_str()).json(hold_body(start, end, &until, 0)).await.expect(201).id()
    };
    let first = hold("2027-03-01T08:00:00Z", "2027-03-01T09:00:00Z").await;
    let second = hold("2027-03-01T10:00:00Z", "2027-03-01T11:00:00Z").await;
    let third = hold("2027-03-08T10:00:00Z", "2027-03-08T11:00:00Z").await;
    let mut pages = it.signed_in().await;
    let week = pages.open(&it.view("week", ZONE)).await.says(200, " min left");
    assert!(week.text.contains("class=\"event hold\""), "{}", week.text);
    let page = pages.open(&format!("{EVENTS}/{first}")).await.says(200, "Hold, ");
    let form = Filled::of(&page, &["org", "once", "tz"], &[]);
    for (id, way, done, status) in
        [(&first, "confirm", "Confirmed.", "confirmed"), (&second, "release", "Released.", "cancelled")]
    {
        let path = format!("{EVENTS}/{id}/{way}");
        form.but(&[("org", "org_x")]).send(&mut pages, &path).await.says(409, SWITCHED);
        pages.open(&path).await.leads_to(&format!("{EVENTS}/{id}"));
        let ended = form.send(&mut pages, &path).await;
        let said = if way == "confirm" { "confirmed" } else { "released" };
        let ended = ended.leads_to(&format!("{EVENTS}/{id}?done={said}&tz=Europe%2FBerlin"));
        pages.open(&ended.location).await.says(200, done);
        assert_eq!(it.read(id).await["status"], status);
        // A double click.
        form.send(&mut pages, &path).await.leads_to(&ended.location);
        form.but(&[("once", "")]).send(&mut pages, &path).await.says(409, "not a live hold");
    }
    for form in ["edit", "cancel"] {
        let path = format!("{EVENTS}/{second}/{form}");
        pages.open(&path).await.says(400, "is cancelled, so the event cannot be changed");
    }
    let week = pages.open(&it.view("week", ZONE)).await.says(200, "<strong>Maybe</strong>");
    assert!(!week.text.contains("min left") && week.text.matches("<strong>Maybe").count() == 1, "{}", week.text);

    let third = format!("{EVENTS}/{third}");
    pages.open(&third).await.says(200, ">Confirm</button>");
    it.server.cli(&["org", "set-plan", &it.org, "free"]).await.succeeded();
    let page = it.signed_in().await.open(&third).await.says(200, "Hold, ");
    assert!(!page.text.contains(">Confirm</button>"), "the plan has no holds: {}", page.text);
}

#[apply(on_both)]
#[tokio::test]
async fn only_some_roles_change_events(#[case] database: Database) {
    let it = Desk::new(database).await;
    let id = it.event("Standup", "2027-03-01T08:00:00Z", "2027-03-01T08:15:00Z").await;
    let (event, edit, cancel) =
        (format!("{EVENTS}/{id}"), format!("{EVENTS}/{id}/edit"), format!("{EVENTS}/{id}/cancel"));
    for (email, role) in [("adm@example.com", "admin"), ("mem@example.com", "member")] {
        let mut pages = it.browser_of(email, role).await;
        pages.open(&it.view("week", ZONE)).await.says(200, "New event");
        pages.open(&event).await.says(200, "/edit?tz=");
        event_of(&new_event(&it, &mut pages).await.but(&[("title", role)]).send(&mut pages, EVENTS).await);
    }

    let mut viewer = it.browser_of("vic@example.com", "viewer").await;
    let week = viewer.open(&it.view("week", ZONE)).await.says(200, "<strong>Standup</strong>");
    assert!(!week.text.contains("New event"), "{}", week.text);
    let page = viewer.open(&event).await.says(200, "Standup");
    assert!(!page.text.contains("/edit") && !page.text.contains("/cancel"), "{}", page.text);
    for path in [&*format!("{CALENDAR}/new"), &edit, &cancel] {
        viewer.open(path).await.says(403, "Your role does not allow this.");
    }
    let before = it.taking_place().await;
    for path in [EVENTS, &edit, &cancel, &format!("{event}/confirm"), &format!("{event}/release")] {
        let fields = [("org", &*it.org), ("title", "x"), ("version", "1")];
        assert_eq!(viewer.send(path, &fields).await.status, 403, "{path}");
    }
    assert_eq!(it.taking_place().await, before);

    // A user of another organization finds nothing.
    let eve = Human::sign_up(&it.server, "eve@example.com").await;
    // Without holds in the plan, confirming one would be refused before the event is looked up.
    it.server.cli(&["org", "set-plan", &eve.org, "custom"]).await.succeeded();
    let mut others = Pages::new(&it.server);
    others.sign_in(&eve.email).await;
    let week = others.open(&it.view("week", ZONE)).await.says(200, "There are no calendars yet.");
    assert!(!week.text.contains("Standup"), "{}", week.text);
    for path in [&event, &edit, &cancel] {
        others.open(path).await.says(404, "There is no such event any more.");
    }
    let fields = [("org", &*eve.org), ("title", "x"), ("version", "1"), ("calendar", &*it.calendar)];
    for path in [&edit, &cancel, &format!("{event}/confirm")] {
        others.send(path, &fields).await.says(404, "There is no such event any more.");
    }
    others.send(&edit, &[("org", &*it.org)]).await.says(409, SWITCHED);

    let mut nobody = Pages::new(&it.server);
    for path in [&event, &edit, &cancel, &format!("{CALENDAR}/new"), &format!("{CALENDAR}/explain")] {
        nobody.open(path).await.asks_to_sign_in();
    }
    assert_eq!(it.taking_place().await, before);
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_explains_why_a_time_is_not_free(#[case] database: Database) {
    let it = Desk::new(database).await;
    it.event(HOSTILE, "2027-03-01T08:00:00Z", "2027-03-01T09:00:00Z").await;
    let mut pages = it.signed_in().await;
    let explain = format!("{CALENDAR}/explain");
    let empty = format!("{explain}?cal={}&tz={ZONE}&date=2027-03-01", it.calendar);
    pages.open(&empty).await.says(200, "value=\"2027-03-01T09:00\"");
    let asked = |start: &str, end: &str| {
        format!("{explain}?cal={}&tz={ZONE}&start_time=2027-03-01T{start}&end_time=2027-03-01T{end}", it.calendar)
    };
    let taken = pages.open(&asked("09:30", "10:30")).await.says(200, "An event takes the time");
    assert!(taken.text.contains("09:00–10:00") && !taken.text.contains("alert(1)"), "{}", taken.text);
    pages.open(&asked("10:00", "11:00")).await.says(200, "All of this time is free.");
    pages.open(&asked("10:00", "x")).await.says(400, "id=\"end_time-problem\"");
    pages.open(&asked("10:00", "09:00")).await.says(400, "id=\"end_time-problem\"");
    let unknown = asked("10:00", "11:00").replace(&it.calendar, "cal_x");
    pages.open(&unknown).await.says(404, "There is no such calendar any more.");
}

#[apply(on_both)]
#[tokio::test]
async fn cancelled_events_do_not_hide_others(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut cancelled = event_body("Cancelled", "2027-03-01T08:00:00Z", "2027-03-01T09:00:00Z");
    cancelled["status"] = json!("cancelled");
    let path = format!("/v1/calendars/{}/events/batch", it.calendar);
    for _ in 0..3 {
        it.api.post(path.as_str()).json(json!({ "events": vec![cancelled.clone(); 100] })).await.expect(201);
    }
    it.event("Late", "2027-03-04T08:00:00Z", "2027-03-04T09:00:00Z").await;
    let mut pages = it.signed_in().await;
    for view in ["week", "list", "month"] {
        let page = pages.open(&it.view(view, ZONE)).await.says(200, "<strong>Late</strong>");
        assert!(!page.text.contains("<strong>Cancelled"), "{}", page.text);
        assert!(!page.text.contains("There are more than") && !page.text.contains("too many events"), "{}", page.text);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn line_breaks_in_an_event_are_no_change(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut body = event_body("Stand\nup", "2027-03-01T08:00:00Z", "2027-03-01T08:15:00Z");
    body["location"] = json!("Room\n2");
    body["description"] = json!("One\rTwo");
    let id = it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201).id();
    let before = it.read(&id).await;
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/edit");
    let page = pages.open(&path).await.says(200, "name=\"was_title\" value=\"Standup\"");
    // What a browser sends if nothing was typed.
    let typed = [
        ("title", "Standup"),
        ("start_time", "2027-03-01T09:00"),
        ("end_time", "2027-03-01T09:15"),
        ("status", "confirmed"),
        ("if_free", "allow"),
        ("location", "Room2"),
        ("conference_url", ""),
        ("description", "One\r\nTwo"),
    ];
    Filled::of(&page, &HIDES, &typed).send(&mut pages, &path).await;
    assert_eq!(it.read(&id).await, before);
}

#[apply(on_both)]
#[tokio::test]
async fn a_refused_cancellation_keeps_what_was_chosen(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut body = event_body("Standup", "2027-03-01T08:00:00Z", "2027-03-01T08:15:00Z");
    body["attendees"] = json!([{ "email": "guest@example.com" }]);
    let id = it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201).id();
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/cancel");
    let box_of = |checked: &str| format!("id=\"send\" value=\"true\"{checked}>");
    let asks = pages.open(&path).await.says(200, &box_of(""));
    let form = Filled::of(&asks, &["org", "once", "tz"], &[("version", "99"), ("send_invitations", "true")]);
    form.send(&mut pages, &path).await.says(412, &box_of(" checked"));
}

#[apply(on_both)]
#[tokio::test]
async fn what_connected_calendars_take_is_shown_without_titles(#[case] database: Database) {
    const NOT_KNOWN: &str = "Some connected calendars are not up to date, so busy times may be missing.";
    let mut it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let (viewer, _) = member(&it.server, &it.console, "vic@example.com", "viewer").await;
    let day = it.day.date_naive();
    for email in [HUMAN, &*viewer.email] {
        let mut pages = Pages::new(&it.server);
        pages.sign_in_to(email, &it.org.id).await;
        for view in ["day", "list", "month"] {
            let path = format!("{CALENDAR}?view={view}&date={day}&tz=UTC");
            let page = pages.open(&path).await.says(200, "<strong>Busy (a connected calendar)</strong>");
            assert!(page.text.contains("09:00–10:00"), "{}", page.text);
            private(&page);
            assert!(view != "day" || !page.text.contains(NOT_KNOWN), "{}", page.text);
        }
        let times = format!("start_time={day}T09:00&end_time={day}T10:00");
        let why = pages.open(&format!("{CALENDAR}/explain?cal={}&tz=UTC&{times}", it.calendar)).await;
        private(&why.says(200, "09:00–10:00"));
    }

    // Nothing can be read for more than an hour.
    it.google.fails(Some(503));
    it.restart_at_offset(3_605).await;
    let mut pages = Pages::new(&it.server);
    pages.sign_in_to(HUMAN, &it.org.id).await;
    let page = pages.open(&format!("{CALENDAR}?view=day&date={day}&tz=UTC")).await.says(200, NOT_KNOWN);
    assert!(page.text.contains("09:00–10:00"), "{}", page.text);
}

/// Requires that a page shows nothing of the account: neither its address nor names of calendars and events.
#[track_caller]
fn private(page: &Seen) {
    assert!(!page.text.contains(ACCOUNT), "{}", page.text);
    assert!(!page.text.to_lowercase().contains("planted"), "{}", page.text);
}
