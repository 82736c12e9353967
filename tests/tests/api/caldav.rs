//! A user connects an account at a CalDAV server with a password, and agents see its busy times.

use crate::on_both;

use chrono::{DateTime, TimeDelta, Utc};
use kalends_e2e::{Answer, CaldavServer, Client, Database, FeedServer, Playing, Receiver, Serving, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    connecting::{Connecting, busy_of, path_of, until},
    fixtures::{event, has_exactly, is_id, rows},
    members::member,
    secrecy::{holds, kept},
};

const CONNECTIONS: &str = "/v1/calendar-connections";
const ROUTE: &str = "/v1/calendar-connections/caldav";
const GRANTS: &str = "/v1/availability-grants";
/// The field that names the connection link.
const LINK: &str = "link_id";

const USER: &str = "planted-user@caldav.example";
const PASSWORD: &str = "planted-app:password/1";
/// The user's own address, as the server writes it.
const OWN: &str = "mailto:Planted.Ada@Caldav.example";
/// The calendars: the segment of the path, and the name.
const CALENDARS: [(&str, &str); 2] = [("planted%20life", "A planted life"), ("planted-team", "B planted team & more")];
const TITLE: &str = "Planted operation";
const PLACE: &str = "Planted clinic";
const GUEST: &str = "planted-surgeon@clinic.example";

/// The most attempts of a user in an hour.
const ATTEMPTS: usize = 20;

/// A service that can connect an account at a CalDAV server.
struct Caldav {
    it: Connecting,
    server: CaldavServer,
}

impl Caldav {
    async fn new(database: Database) -> Self {
        Self::with(database, &[], &[]).await
    }

    /// Like [`Self::new`]. The service may also reach these addresses, and has these variables.
    async fn with(database: Database, reached: &[&str], variables: &[(&str, &str)]) -> Self {
        let server = CaldavServer::start().await;
        server.account(USER, PASSWORD, &[OWN, "/dav/principals/planted-user@caldav.example/"]);
        for (id, name) in CALENDARS {
            server.calendar(USER, id, name);
        }
        let reached = [&[server.address()][..], reached].concat().join(",");
        let variables = [&[("KALENDS_EGRESS_ALLOW", reached.as_str())][..], variables].concat();
        let it = Connecting::with(database, &variables).await;
        Self { it, server }
    }

    /// Connects with this password.
    async fn attempt(&self, password: &str, link: Option<&str>) -> Answer {
        let mut body = json!({ "url": self.server.url(), "username": USER, "password": password });
        if let Some(link) = link {
            body[LINK] = link.into();
        }
        self.it.console.post(ROUTE).json(body).await
    }

    /// Connects the account, and waits for the first refresh. No other refresh is due then.
    async fn connected(&self, link: Option<&str>) -> String {
        let connection = self.attempt(PASSWORD, link).await.expect(201).id();
        self.it.wait_until(&connection, "refreshed", |read| !read["last_refreshed_at"].is_null()).await;
        connection
    }

    /// Connects the account, grants the first calendar to the agent, and waits until it is read. No other refresh is
    /// due then.
    async fn granted(&self) -> String {
        let connection = self.connected(None).await;
        self.it.grant(&connection, &[0], &self.it.to_agent()).await;
        self.until_read(&connection).await;
        connection
    }

    /// Waits until the first calendar has been read.
    async fn until_read(&self, connection: &str) {
        let calendars = format!("{}/external-calendars", path_of(connection));
        let ask = || async { self.it.console.get(&calendars).await.expect(200) };
        until("read", ask, |known| known.at("/data/0/data") == "fresh").await;
    }

    /// Writes an event of some minutes of the day to the first calendar.
    fn put(&self, name: &str, from: i64, to: i64) {
        self.write(name, &vevent(name, self.it.time(from), self.it.time(to), &[]));
    }

    /// Writes a resource with these components to the first calendar.
    fn write(&self, name: &str, components: &str) {
        self.server.put(USER, CALENDARS[0].0, name, &ics(components));
    }

    /// The busy times of the agent's calendar from the day on.
    async fn busy_for(&self, days: i64) -> Vec<(String, String)> {
        let (start, end) = (iso(self.it.day), iso(self.it.day + TimeDelta::days(days)));
        let window = [("start", start.as_str()), ("end", end.as_str()), ("include_busy", "true")];
        let path = format!("/v1/calendars/{}/availability", self.it.calendar);
        let known = self.it.api.get(path).query(&window).await.expect(200);
        assert_eq!(known["availability_state"], "complete", "{}", known.describe());
        busy_of(&known)
    }

    /// The number of requests of a method.
    fn count(&self, method: &str) -> usize {
        self.server.paths(method).len()
    }

    /// Requires that every request was as the standards want it.
    #[track_caller]
    fn has_no_faults(&self) {
        assert_eq!(self.server.faults(), [""; 0]);
    }
}

/// A time as iCalendar writes it.
fn utc(time: DateTime<Utc>) -> String {
    time.format("%Y%m%dT%H%M%SZ").to_string()
}

fn date(time: DateTime<Utc>) -> String {
    time.format("%Y%m%d").to_string()
}

/// A calendar of these components.
fn ics(components: &str) -> String {
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n{components}END:VCALENDAR\r\n")
}

/// An event with these further properties.
fn vevent(uid: &str, start: DateTime<Utc>, end: DateTime<Utc>, more: &[&str]) -> String {
    let times = [format!("DTSTART:{}", utc(start)), format!("DTEND:{}", utc(end))];
    let times: Vec<&str> = times.iter().map(String::as_str).collect();
    component(uid, &[&times[..], more].concat())
}

/// An event with these properties and everything that no one may see.
fn component(uid: &str, properties: &[&str]) -> String {
    let properties: String = properties.iter().map(|property| format!("{property}\r\n")).collect();
    format!(
        "BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:{TITLE}\r\nLOCATION:{PLACE}\r\n\
         ATTENDEE;CN={GUEST};PARTSTAT=ACCEPTED:mailto:{GUEST}\r\n{properties}END:VEVENT\r\n"
    )
}

#[apply(on_both)]
#[tokio::test]
async fn an_account_is_connected(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    caldav.put("two%20three.ics", 10 * 60, 10 * 60 + 30);
    let other = ics(&vevent("other", it.time(16 * 60), it.time(17 * 60), &[]));
    caldav.server.put(USER, CALENDARS[1].0, "other.ics", &other);

    let made = caldav.attempt(PASSWORD, None).await.expect(201);
    let connection = made.id();
    is_id(&made["id"], "con_");
    assert_eq!((&made["provider"], &made["label"]), (&json!("caldav"), &Value::Null));
    for secret in [USER, PASSWORD, caldav.server.address()] {
        assert!(!made.text().contains(secret), "{secret}: {}", made.describe());
    }
    it.wait_until(&connection, "refreshed", |read| !read["last_refreshed_at"].is_null()).await;
    assert_eq!(caldav.count("REPORT"), 0, "no calendar counts yet");

    // Collections that are not calendars of events are left out.
    let listed = it.external(&connection).await;
    let names: Vec<_> = listed.iter().map(|known| known["name"].clone()).collect();
    assert_eq!(names, CALENDARS.map(|(_, name)| name));
    assert_eq!(it.busy(&it.calendar).await, []);

    it.grant(&connection, &[0], &it.to_agent()).await;
    it.until_busy(&[(9 * 60, 10 * 60 + 30)]).await;
    assert!(!it.available(&it.calendar).await.text().contains("lanted"), "availability has no titles");
    let read = it.console.get(path_of(&connection)).await.expect(200);
    assert_eq!((&read["status"], &read["data"]), (&json!("active"), &json!("fresh")));
    assert!(read["next_refresh_at"].is_string(), "{}", read.describe());
    // Only the calendar that counts is read.
    let of = format!("/dav/calendars/{USER}/{}/", CALENDARS[0].0);
    assert!(caldav.server.paths("REPORT").iter().all(|path| *path == of), "{:?}", caldav.server.paths("REPORT"));
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn an_account_is_connected_for_a_link(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let link = it.opened().await;
    let poll = async || it.api.get(format!("/v1/connection-links/{link}")).await.expect(200);
    let connection = caldav.connected(Some(&link)).await;
    let known = poll().await;
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("in_progress"), &json!(connection)));
    let audience = json!({ "audience": "selected", "agent_ids": [it.agent], "connection_link_id": link });
    it.grant(&connection, &[0], &audience).await;
    assert_eq!(poll().await["status"], "completed");
    it.until_busy(&[(9 * 60, 10 * 60)]).await;

    // The same account is the same connection, for another link and by another address that leads to it.
    let next = it.opened().await;
    assert_eq!(caldav.attempt(PASSWORD, Some(&next)).await.expect(200).id(), connection);
    let known = it.api.get(format!("/v1/connection-links/{next}")).await.expect(200);
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("in_progress"), &json!(connection)));
    let url = format!("{}dav/principals/{USER}/", caldav.server.url());
    let body = json!({ "url": url, "username": USER, "password": PASSWORD });
    assert_eq!(it.console.post(ROUTE).json(body).await.expect(200).id(), connection);

    // A link that is over or that does not exist connects nothing.
    caldav.attempt(PASSWORD, Some(&link)).await.refused(409, "conflict").code("link_over");
    let missing = caldav.attempt(PASSWORD, Some("cln_00000000000000000000000000")).await;
    missing.refused(404, "not_found").code("connection_link_not_found");
    assert_eq!(it.console.get(CONNECTIONS).await.expect(200)["total"], 1);
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn requests_are_validated(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    let right = json!({ "url": caldav.server.url(), "username": USER, "password": PASSWORD });
    for (field, value) in [
        ("url", json!("")),
        ("url", json!("caldav.example")),
        ("url", json!("ftp://caldav.example/")),
        ("url", json!(format!("https://caldav.example/{}", "x".repeat(2_048)))),
        ("url", json!("https://ada:secret@caldav.example/")),
        ("username", json!("")),
        ("username", json!("x".repeat(256))),
        ("password", json!("")),
        ("password", json!("x".repeat(1_025))),
        ("password", json!(7)),
        ("label", json!("x")),
    ] {
        let mut body = right.clone();
        body[field] = value.clone();
        let refused = it.console.post(ROUTE).json(body).await.refused(400, "validation_error");
        assert_eq!(refused.at("/error/param"), field, "{value}: {}", refused.describe());
    }
    for field in ["url", "username", "password"] {
        let mut body = right.clone();
        body.as_object_mut().unwrap().remove(field);
        it.console.post(ROUTE).json(body).await.refused(400, "validation_error").param(field);
    }
    assert!(caldav.server.requests().is_empty(), "{:?}", caldav.server.requests());
    assert_eq!(rows(&it.server, "calendar_connections").await, 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_wrong_password_stores_nothing(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    let link = it.opened().await;
    let refused = caldav.attempt("planted-wrong-password", Some(&link)).await;
    let refused = refused.refused(400, "validation_error").param("password");
    assert!(!refused.text().contains("lanted"), "{}", refused.describe());
    assert_eq!(caldav.server.answered(401), 1, "it is sent once: {:?}", caldav.server.requests());
    assert_eq!(rows(&it.server, "calendar_connections").await, 0);
    assert_eq!(it.console.get(CONNECTIONS).await.expect(200)["total"], 0);
    let known = it.api.get(format!("/v1/connection-links/{link}")).await.expect(200);
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("in_progress"), &Value::Null));

    // The same link still works.
    caldav.connected(Some(&link)).await;
    caldav.has_no_faults();
}

/// Each attempt sends a password to a server of the user's choice.
#[apply(on_both)]
#[tokio::test]
async fn attempts_are_limited(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    for _ in 0..ATTEMPTS {
        caldav.attempt("planted-wrong-password", None).await.refused(400, "validation_error");
    }
    let before = caldav.server.requests().len();
    let refused = caldav.attempt(PASSWORD, None).await.refused(429, "rate_limit_error");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|after| after > 0), "{}", refused.describe());
    assert_eq!(caldav.server.requests().len(), before);
    // Another user may still connect.
    let (_, bob) = member(&caldav.it.server, &caldav.it.console, "bob@example.com", "admin").await;
    let body = json!({ "url": caldav.server.url(), "username": USER, "password": PASSWORD });
    bob.post(ROUTE).json(body).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn an_address_without_calendars_is_refused(#[case] database: Database) {
    let (feeds, unreached) = (FeedServer::start().await, CaldavServer::start().await);
    feeds.serve("/old/", Serving::Status(405));
    feeds.serve("/gone/", Serving::Status(410));
    let caldav = Caldav::with(database, &[feeds.address()], &[]).await;
    let it = &caldav.it;
    caldav.server.account("empty", PASSWORD, &[]);
    unreached.account(USER, PASSWORD, &[]);
    let post = |url: &str, username: &str| {
        it.console.post(ROUTE).json(json!({ "url": url, "username": username, "password": PASSWORD }))
    };
    for url in [
        // No CalDAV server.
        feeds.url("/"),
        feeds.url("/old/"),
        feeds.url("/gone/"),
        // Not allowed.
        unreached.url(),
        "http://caldav.invalid/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "https://10.0.0.1/".to_owned(),
        "https://169.254.169.254/".to_owned(),
        "https://[::1]/".to_owned(),
    ] {
        let refused = post(&url, USER).await.refused(400, "validation_error");
        assert_eq!(refused.at("/error/param"), "url", "{url}: {}", refused.describe());
        assert!(!refused.text().contains(PASSWORD), "{}", refused.describe());
    }
    assert!(unreached.requests().is_empty(), "{:?}", unreached.requests());
    // An account without calendars.
    post(&caldav.server.url(), "empty").await.refused(400, "validation_error").param("url");
    assert_eq!(rows(&it.server, "calendar_connections").await, 0);
    caldav.has_no_faults();
}

/// What another server received must contain nothing of the account.
#[track_caller]
fn received_nothing(other: &CaldavServer) {
    for request in other.requests() {
        assert_eq!(request.authorization, None, "{request:?}");
        assert!(!request.path.contains("lanted"), "{request:?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn credentials_do_not_leave_the_domain(#[case] database: Database) {
    // The same machine by another name is another domain.
    let other = CaldavServer::start().await;
    other.account(USER, PASSWORD, &[]);
    other.calendar(USER, "planted", "Planted");
    let elsewhere = format!("localhost:{}", other.port());
    let caldav = Caldav::with(database, &[elsewhere.as_str(), other.address()], &[]).await;
    let it = &caldav.it;
    let connection = caldav.granted().await;
    let url = format!("http://{elsewhere}/");

    // A connected account's server leads elsewhere.
    caldav.server.plays(Playing::Redirects(url.clone()));
    it.ask_refresh(&connection).await;
    it.wait_until(&connection, "refused", |read| read["status"] != "active").await;
    received_nothing(&other);

    // So does the server of a new account, from the beginning or by its home.
    caldav.attempt(PASSWORD, None).await.refused(400, "validation_error").param("url").mentions("domain");
    received_nothing(&other);
    caldav.server.plays(Playing::Answers);
    caldav.server.home_at(&format!("{url}dav/calendars/{USER}/"));
    caldav.attempt(PASSWORD, None).await.refused(400, "validation_error").param("url").mentions("domain");
    received_nothing(&other);
    assert_eq!(it.console.get(CONNECTIONS).await.expect(200)["total"], 1);
    caldav.has_no_faults();
}

/// The messages of a type at the receiver.
fn sent(receiver: &Receiver, event_type: &str) -> Vec<Value> {
    let messages = receiver.received("/hook").into_iter().filter(|message| message.event_type() == event_type);
    messages.map(|message| message.json()).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_password_that_stops_working_is_tried_once(#[case] database: Database) {
    const ATTENTION: &str = "connection.needs_attention";
    let receiver = Receiver::start().await;
    let caldav = Caldav::with(database, &[receiver.address()], &[]).await;
    let it = &caldav.it;
    let hook = json!({ "url": receiver.url("/hook"), "events": ["*"] });
    it.api.post("/v1/webhooks").json(hook).await.expect(201);
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let connection = caldav.granted().await;
    it.console.patch(path_of(&connection)).json(json!({ "label": "Planted label" })).await.expect(200);
    let (grants, calendars) = (it.console.get(GRANTS).await.expect(200), it.external(&connection).await);
    assert!(sent(&receiver, ATTENTION).is_empty());

    caldav.server.password(USER, "planted-app:password/2");
    caldav.put("two.ics", 11 * 60, 12 * 60);
    let before = caldav.server.requests().len();
    it.ask_refresh(&connection).await;
    let lapsed = "reauthorization_required";
    let read = it.wait_until(&connection, "lapsed", |read| read["status"] == lapsed).await;
    assert!(read.at("/next_refresh_at").is_null(), "{}", read.describe());
    let message = receiver.wait_for_type("/hook", ATTENTION).await.json();
    assert_eq!(message, json!({ "connection_id": connection, "provider": "caldav", "status": lapsed }));
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]), "what was read still counts");
    it.console.post(format!("{}/refresh", path_of(&connection))).await.refused(409, "conflict").code(lapsed);
    let requests = caldav.server.requests();
    assert_eq!((requests.len(), caldav.server.answered(401)), (before + 1, 1), "{:?}", &requests[before..]);

    // The old password is refused, and changes nothing.
    caldav.attempt(PASSWORD, None).await.refused(400, "validation_error").param("password");
    it.is(&connection, lapsed).await;

    // The new one renews the same connection, with all choices.
    let renewed = caldav.attempt("planted-app:password/2", None).await.expect(200);
    assert_eq!((renewed.id(), &renewed["label"]), (connection.clone(), &json!("Planted label")));
    it.until_busy(&[(9 * 60, 10 * 60), (11 * 60, 12 * 60)]).await;
    it.is(&connection, "active").await;
    assert_eq!(it.console.get(CONNECTIONS).await.expect(200)["total"], 1);
    assert_eq!(it.console.get(GRANTS).await.expect(200).data(), grants.data());
    let ids = |calendars: &[Value]| calendars.iter().map(|known| known["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&it.external(&connection).await), ids(&calendars));

    // One message in all: a later one of another type has arrived.
    event(&it.api, &it.calendar, &iso(it.time(600)), &iso(it.time(660))).await;
    receiver.wait_for_type("/hook", "event.created").await;
    assert_eq!(sent(&receiver, ATTENTION).len(), 1);
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn an_unchanged_calendar_is_not_read_again(#[case] database: Database) {
    for with_sync_tokens in [true, false] {
        let caldav = Caldav::new(database).await;
        let it = &caldav.it;
        if !with_sync_tokens {
            caldav.server.without_sync_tokens();
        }
        caldav.put("one.ics", 9 * 60, 10 * 60);
        let connection = caldav.granted().await;
        let counts = || (caldav.count("REPORT"), caldav.count("PROPFIND"));
        let (reports, propfinds) = counts();
        assert_eq!(reports, 1, "{:?}", caldav.server.requests());
        let before = it.external(&connection).await[0]["last_read_at"].clone();

        it.refresh(&connection).await;
        let (again, asked) = counts();
        assert_eq!(again, reports, "{:?}", caldav.server.requests());
        assert!(asked > propfinds);
        assert_ne!(it.external(&connection).await[0]["last_read_at"], before, "the times are known to be current");
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]));

        caldav.put("two.ics", 12 * 60, 13 * 60);
        it.refresh(&connection).await;
        assert_eq!(caldav.count("REPORT"), reports + 1);
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60), (12 * 60, 13 * 60)]));
        caldav.server.remove(USER, CALENDARS[0].0, "one.ics");
        it.refresh(&connection).await;
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(12 * 60, 13 * 60)]));
        caldav.has_no_faults();
    }
}

#[apply(on_both)]
#[tokio::test]
async fn every_kind_of_event_counts_as_it_should(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    let at = |day: i64, minutes: i64| it.time(day * 24 * 60 + minutes);

    // Every day from 8:00 for half an hour, five times: the second is moved, the third is left out.
    let excluded = format!("EXDATE:{}", utc(at(2, 480)));
    let series = vevent("series", at(0, 480), at(0, 510), &["RRULE:FREQ=DAILY;COUNT=5", &excluded]);
    let moved = format!("RECURRENCE-ID:{}", utc(at(1, 480)));
    caldav.write("series.ics", &(series + &vevent("series", at(1, 600), at(1, 660), &[&moved])));
    // 9:00 in Tokyo is midnight in UTC.
    let zone = "BEGIN:VTIMEZONE\r\nTZID:Asia/Tokyo\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n\
                TZOFFSETFROM:+0900\r\nTZOFFSETTO:+0900\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    let start = format!("DTSTART;TZID=Asia/Tokyo:{}T090000", date(at(1, 0)));
    caldav.write("tokyo.ics", &format!("{zone}{}", component("tokyo", &[&start, "DURATION:PT15M"])));
    // A whole day, busy and free.
    let whole = [format!("DTSTART;VALUE=DATE:{}", date(at(5, 0))), format!("DTEND;VALUE=DATE:{}", date(at(6, 0)))];
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    caldav.write("whole.ics", &component("whole", &[&whole[..], &["TRANSP:OPAQUE"]].concat()));
    let birthday = format!("DTSTART;VALUE=DATE:{}", date(at(6, 0)));
    caldav.write("birthday.ics", &component("birthday", &[&birthday, "TRANSP:TRANSPARENT"]));
    // Events that do not block.
    caldav.write("transparent.ics", &vevent("transparent", at(0, 720), at(0, 780), &["TRANSP:TRANSPARENT"]));
    caldav.write("cancelled.ics", &vevent("cancelled", at(0, 720), at(0, 780), &["STATUS:CANCELLED"]));
    let declined = "ATTENDEE;PARTSTAT=DECLINED:MAILTO:planted.ADA@caldav.example";
    caldav.write("declined.ics", &vevent("declined", at(0, 720), at(0, 780), &[declined]));
    // Events that block: someone else declined, the user has not decided, and nothing is said.
    let other = "ATTENDEE;PARTSTAT=DECLINED:mailto:someone@else.example";
    let undecided = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:planted.ada@caldav.example";
    caldav.write("other.ics", &vevent("other", at(0, 840), at(0, 870), &[other, undecided]));
    caldav.write("tentative.ics", &vevent("tentative", at(0, 900), at(0, 930), &["STATUS:TENTATIVE"]));
    // One of a series is declined, and one is cancelled.
    let weekly = vevent("weekly", at(0, 960), at(0, 990), &["RRULE:FREQ=DAILY;COUNT=3"]);
    let first = format!("RECURRENCE-ID:{}", utc(at(0, 960)));
    let second = format!("RECURRENCE-ID:{}", utc(at(1, 960)));
    let first = vevent("weekly", at(0, 960), at(0, 990), &[&first, declined]);
    let second = vevent("weekly", at(1, 960), at(1, 990), &[&second, "STATUS:CANCELLED"]);
    caldav.write("weekly.ics", &(weekly + &first + &second));
    // Before and after what is read.
    caldav.write("past.ics", &vevent("past", at(-400, 0), at(-399, 0), &[]));
    caldav.write("far.ics", &vevent("far", at(4_000, 0), at(4_001, 0), &[]));

    let connection = caldav.granted().await;
    let expected = [
        (at(0, 480), at(0, 510)),
        (at(0, 840), at(0, 870)),
        (at(0, 900), at(0, 930)),
        (at(1, 0), at(1, 15)),
        (at(1, 600), at(1, 660)),
        (at(2, 960), at(2, 990)),
        (at(3, 480), at(3, 510)),
        (at(4, 480), at(4, 510)),
        (at(5, 0), at(6, 0)),
    ];
    let expected: Vec<_> = expected.iter().map(|(start, end)| (iso(*start), iso(*end))).collect();
    assert_eq!(caldav.busy_for(8).await, expected);
    let read = it.console.get(path_of(&connection)).await.expect(200);
    assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null), "{}", read.describe());
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn a_broken_resource_is_counted(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let start = format!("DTSTART:{}", utc(it.time(11 * 60)));
    caldav.write("broken.ics", &component("broken", &["DTSTART:99999999T999999Z", "DURATION:PT1H"]));
    caldav.put("two.ics", 14 * 60, 15 * 60);
    let connection = caldav.granted().await;
    let read = it.wait_until(&connection, "partial", |read| read["status"] == "error").await;
    let last_error = read["last_error"].as_str().unwrap();
    assert!(last_error.starts_with("1 event could"), "{last_error}");
    assert!(!last_error.contains("broken") && !last_error.contains("lanted"), "{last_error}");
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60), (14 * 60, 15 * 60)]));

    // What could not be read is tried again, although the calendar is unchanged.
    let reports = caldav.count("REPORT");
    it.refresh(&connection).await;
    assert_eq!(caldav.count("REPORT"), reports + 1);
    // A text that is not a calendar at all is one more.
    caldav.server.put(USER, CALENDARS[0].0, "nothing.ics", "Planted nonsense");
    let read = it.refresh(&connection).await;
    assert!(read["last_error"].as_str().unwrap().starts_with("2 events"), "{}", read.describe());
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60), (14 * 60, 15 * 60)]));

    caldav.server.remove(USER, CALENDARS[0].0, "nothing.ics");
    caldav.write("broken.ics", &component("broken", &[&start, "DURATION:PT1H"]));
    let read = it.refresh(&connection).await;
    assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null));
    let expected = it.spans(&[(9 * 60, 10 * 60), (11 * 60, 12 * 60), (14 * 60, 15 * 60)]);
    assert_eq!(it.busy(&it.calendar).await, expected);
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn a_failing_server_changes_nothing(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let connection = caldav.granted().await;
    let calendars = it.external(&connection).await;
    for playing in [Playing::Status(500), Playing::Status(404), Playing::Bomb, Playing::Endless] {
        caldav.server.plays(playing.clone());
        it.ask_refresh(&connection).await;
        let failed = it.wait_until(&connection, "failed", |read| read["status"] != "active").await;
        assert_eq!(failed["status"], "error", "{playing:?}: {}", failed.describe());
        let last_error = failed["last_error"].as_str().unwrap();
        assert!(last_error.len() <= 255 && !last_error.contains("lanted"), "{last_error}");
        assert_eq!(failed["data"], "fresh");
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]));
        caldav.server.plays(Playing::Answers);
        let read = it.refresh(&connection).await;
        assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null));
        assert_eq!(it.external(&connection).await.len(), calendars.len(), "{playing:?}");
    }
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn a_server_that_answers_nonsense_cannot_be_connected(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    for playing in [Playing::Status(500), Playing::Status(503), Playing::Bomb, Playing::Endless] {
        caldav.server.plays(playing.clone());
        let refused = caldav.attempt(PASSWORD, None).await.expect(502);
        let code = refused.at("/error/code");
        assert!(code.is_string(), "{playing:?}: {}", refused.describe());
        assert!(!refused.text().contains("lanted") && !refused.text().contains("boom"), "{}", refused.describe());
    }
    assert_eq!(rows(&it.server, "calendar_connections").await, 0);
    caldav.server.plays(Playing::Answers);
    caldav.connected(None).await;
}

/// The new access ends a refresh that waits for the server with the old one.
#[apply(on_both)]
#[tokio::test]
async fn an_account_is_connected_again_during_a_refresh(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let connection = caldav.granted().await;
    caldav.server.plays(Playing::Silent);
    let before = caldav.server.requests().len();
    it.ask_refresh(&connection).await;
    caldav.server.wait_for(before + 1).await;
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]), "nobody waits for the server");

    caldav.server.plays(Playing::Answers);
    caldav.put("two.ics", 11 * 60, 12 * 60);
    assert_eq!(caldav.attempt(PASSWORD, None).await.expect(200).id(), connection);
    it.until_busy(&[(9 * 60, 10 * 60), (11 * 60, 12 * 60)]).await;
    it.is(&connection, "active").await;
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn calendars_are_listed_again_at_each_refresh(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let other = ics(&vevent("other", it.time(16 * 60), it.time(17 * 60), &[]));
    caldav.server.put(USER, CALENDARS[1].0, "other.ics", &other);
    let connection = caldav.connected(None).await;
    it.grant(&connection, &[0, 1], &it.to_agent()).await;
    it.until_busy(&[(9 * 60, 10 * 60), (16 * 60, 17 * 60)]).await;
    let before = it.external(&connection).await;

    caldav.server.calendar(USER, CALENDARS[0].0, "A renamed life");
    caldav.server.calendar(USER, "new", "C new");
    caldav.server.remove_calendar(USER, CALENDARS[1].0);
    it.refresh(&connection).await;
    let after = it.external(&connection).await;
    let names: Vec<_> = after.iter().map(|known| known["name"].clone()).collect();
    assert_eq!(names, ["A renamed life", "C new"]);
    assert_eq!((&after[0]["id"], &after[1]["counts"]), (&before[0]["id"], &json!(false)));
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]));
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn a_deleted_connection_is_forgotten(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let connection = caldav.granted().await;
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]));
    // It needs nothing from the server.
    caldav.server.plays(Playing::Silent);
    let before = caldav.server.requests().len();
    it.console.delete(path_of(&connection)).await.expect(204);
    assert_eq!(caldav.server.requests().len(), before);
    assert_eq!(it.busy(&it.calendar).await, []);
    let missing = it.console.get(path_of(&connection)).await.refused(404, "not_found");
    missing.code("calendar_connection_not_found");
    assert_eq!(it.console.get(GRANTS).await.expect(200)["total"], 0);
    for table in ["calendar_connections", "external_calendars"] {
        assert_eq!(rows(&it.server, table).await, 0, "{table}");
    }
    // The account is new again.
    caldav.server.plays(Playing::Answers);
    assert_ne!(caldav.connected(None).await, connection);
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn nobody_else_sees_a_connection(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    let connection = caldav.granted().await;
    let (_, bob) = member(&it.server, &it.console, "bob@example.com", "admin").await;
    assert_eq!(bob.get(CONNECTIONS).await.expect(200)["total"], 0);
    for what in ["", "/external-calendars"] {
        let missing = bob.get(format!("{}{what}", path_of(&connection))).await.refused(404, "not_found");
        missing.code("calendar_connection_not_found");
    }
    bob.post(format!("{}/refresh", path_of(&connection))).await.refused(404, "not_found");
    bob.delete(path_of(&connection)).await.refused(404, "not_found");
    // The same account of another member is another connection.
    let body = json!({ "url": caldav.server.url(), "username": USER, "password": PASSWORD });
    let own = bob.post(ROUTE).json(body.clone()).await.expect(201).id();
    assert_ne!(own, connection);
    it.console.get(path_of(&own)).await.refused(404, "not_found");

    let key = it.api.post("/v1/keys").json(json!({ "agent_id": it.agent })).await.expect(201);
    let agent = it.server.client(key["key"].as_str().unwrap());
    let before = caldav.server.requests().len();
    for caller in [&it.api, &agent, &it.server.anonymous()] {
        caller.post(ROUTE).json(body.clone()).await.expect(401);
        caller.get(path_of(&connection)).await.expect(401);
        caller.get(CONNECTIONS).await.expect(401);
    }
    // Bob's own connection may be refreshed too, but nobody else's credentials are tried.
    assert_eq!(caldav.server.answered(401), 0, "{:?}", &caldav.server.requests()[before..]);
    caldav.has_no_faults();
}

/// The answers to a key about the agent and its calendar.
async fn answers_to(caller: &Client, it: &Connecting) -> Vec<Answer> {
    let (start, end) = (iso(it.time(0)), iso(it.time(24 * 60)));
    let when = format!("start={start}&end={end}");
    let (agent, calendar) = (&it.agent, &it.calendar);
    let mut answers = Vec::new();
    for path in [
        format!("/v1/calendars/{calendar}/availability?{when}&include_busy=true"),
        format!("/v1/agents/{agent}/availability?{when}&include_busy=true"),
        format!("/v1/availability/explain?calendar={calendar}&{when}"),
        format!("/v1/calendars/{calendar}"),
        format!("/v1/calendars/{calendar}/events"),
        format!("/v1/calendars/{calendar}/context"),
        format!("/v1/calendars/{calendar}/changes"),
        format!("/v1/calendars/{calendar}/export.ics"),
        format!("/v1/agents/{agent}"),
        "/v1/usage".to_owned(),
    ] {
        answers.push(caller.get(path).await.expect(200));
    }
    answers
}

#[apply(on_both)]
#[tokio::test]
async fn planted_words_are_found_nowhere(#[case] database: Database) {
    const NEXT: &str = "planted-app:password/2";
    const WRONG: &str = "planted-wrong:password";
    let receiver = Receiver::start().await;
    let caldav = Caldav::with(database, &[receiver.address()], &[("KALENDS_LOG", "trace")]).await;
    let it = &caldav.it;
    let hook = json!({ "url": receiver.url("/hook"), "events": ["*"] });
    it.api.post("/v1/webhooks").json(hook).await.expect(201);
    let key = it.api.post("/v1/keys").json(json!({ "agent_id": it.agent })).await.expect(201);
    let agent = it.server.client(key["key"].as_str().unwrap());
    caldav.put("one.ics", 9 * 60, 10 * 60);
    caldav.write("broken.ics", &component("broken", &["DTSTART:99999999T999999Z"]));

    // Everything that can go right and wrong.
    let mut answers = vec![caldav.attempt(WRONG, None).await.refused(400, "validation_error")];
    caldav.server.plays(Playing::Status(500));
    answers.push(caldav.attempt(PASSWORD, None).await.expect(502));
    caldav.server.plays(Playing::Answers);
    let link = it.opened().await;
    let connection = caldav.connected(Some(&link)).await;
    let audience = json!({ "audience": "all", "connection_link_id": link });
    it.grant(&connection, &[0, 1], &audience).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    caldav.server.plays(Playing::Status(500));
    it.ask_refresh(&connection).await;
    let failed = |read: &Answer| read["last_error"].as_str().is_some_and(|error| !error.contains("event"));
    answers.push(it.wait_until(&connection, "failed", failed).await);
    caldav.server.plays(Playing::Answers);
    it.refresh(&connection).await;
    caldav.server.password(USER, NEXT);
    it.ask_refresh(&connection).await;
    receiver.wait_for_type("/hook", "connection.needs_attention").await;
    caldav.attempt(NEXT, None).await.expect(200);
    it.wait_until(&connection, "refreshed", |read| read["status"] != "reauthorization_required").await;
    event(&it.api, &it.calendar, &iso(it.time(600)), &iso(it.time(660))).await;
    receiver.wait_for_type("/hook", "event.created").await;

    for caller in [&it.api, &agent] {
        answers.extend(answers_to(caller, it).await);
        answers.push(caller.get(format!("/v1/connection-links/{link}")).await.expect(200));
        answers.push(caller.get(CONNECTIONS).await.expect(401));
    }
    for path in ["/v1/agents", "/v1/audit-log?limit=200", "/v1/webhooks", "/v1/keys"] {
        answers.push(it.api.get(path).await.expect(200));
    }
    answers.push(it.console.get(path_of(&connection)).await.expect(200));
    let export = it.console.get("/v1/auth/export").await.expect(200);

    let basic = caldav.server.requests().into_iter().filter_map(|request| request.authorization);
    let mut secrets: Vec<String> = basic.map(|value| value.trim_start_matches("Basic ").to_owned()).collect();
    secrets.sort_unstable();
    secrets.dedup();
    assert!(secrets.len() >= 3, "the credentials with each password: {secrets:?}");
    let planted = [USER, PASSWORD, NEXT, WRONG, TITLE, PLACE, GUEST, "Planted.Ada", "planted.ada"];
    secrets.extend(planted.into_iter().chain(CALENDARS.into_iter().flat_map(<[&str; 2]>::from)).map(str::to_owned));
    let (log, kept) = (it.server.log(), kept(&it.server).await);
    for secret in &secrets {
        for answer in &answers {
            assert!(!answer.text().contains(secret), "{secret} is in an answer: {}", answer.describe());
        }
        for message in receiver.received("/hook") {
            assert!(!String::from_utf8_lossy(&message.body).contains(secret), "{secret} is sent");
        }
        assert!(!holds(&kept, secret), "{secret} is stored in clear");
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    for secret in [PASSWORD, NEXT, TITLE, PLACE, GUEST] {
        assert!(!export.text().contains(secret), "{secret} is exported");
    }
    assert!(log.contains("DEBUG sqlx::query"), "the log is not at trace level");
    assert!(holds(&kept, "caldav"), "the search covers the stored data");
    caldav.has_no_faults();
}

#[apply(on_both)]
#[tokio::test]
async fn a_paused_account_is_not_asked(#[case] database: Database) {
    let caldav = Caldav::new(database).await;
    let it = &caldav.it;
    caldav.put("one.ics", 9 * 60, 10 * 60);
    let connection = caldav.granted().await;
    let shown = it.console.get(path_of(&connection)).await.expect(200);
    has_exactly(
        &it.console.get(CONNECTIONS).await.expect(200).data()[0],
        &[
            "id",
            "provider",
            "label",
            "status",
            "last_refreshed_at",
            "next_refresh_at",
            "data",
            "last_error",
            "created_at",
            "updated_at",
        ],
    );
    assert_eq!(shown["provider"], "caldav");
    it.console.post(format!("{}/pause", path_of(&connection))).await.expect(200);
    let before = caldav.server.requests().len();
    caldav.put("two.ics", 11 * 60, 12 * 60);
    assert_eq!(it.busy(&it.calendar).await, []);
    it.console
        .post(format!("{}/refresh", path_of(&connection)))
        .await
        .refused(409, "conflict")
        .code("connection_paused");
    assert_eq!(caldav.server.requests().len(), before);
    it.console.post(format!("{}/resume", path_of(&connection))).await.expect(200);
    it.until_busy(&[(9 * 60, 10 * 60), (11 * 60, 12 * 60)]).await;
    caldav.has_no_faults();
}
