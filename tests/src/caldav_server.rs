//! A strict CalDAV server (RFC 4791) on its own port. It notes as a fault every request that a real server may refuse.
//!
//! Its accounts have calendars with iCalendar resources. It also lists collections that are not calendars of events,
//! and answers with prefixes, relative addresses and properties in several forms, as servers do.

mod elements;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{
        HeaderMap, Method, StatusCode, Uri,
        header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, VARY, WWW_AUTHENTICATE},
    },
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::{StreamExt as _, stream};

use self::elements::{CALDAV, CALENDAR_SERVER, DAV, Element, elements, escaped};

/// The longest wait for an expected request on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where the well-known address leads.
const CONTEXT: &str = "/dav/";
const WELL_KNOWN: &str = "/.well-known/caldav";
/// How often each entity of a bomb names the one before.
const BOMB_WIDTH: usize = 10;
/// The number of entities of a bomb. All of them are far larger than every limit.
const BOMB_DEPTH: usize = 9;

/// How the server answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Playing {
    /// As a CalDAV server.
    #[default]
    Answers,
    /// With this status, whatever is asked.
    Status(u16),
    /// With a redirect (307) to this address.
    Redirects(String),
    /// With a multistatus that never ends.
    Endless,
    /// With a document whose entities grow without bound.
    Bomb,
    /// Not at all.
    Silent,
}

/// A request as received.
#[derive(Debug, Clone)]
pub struct CaldavRequest {
    /// The method.
    pub method: String,
    /// The requested path and query.
    pub path: String,
    /// The header `Authorization`, if there is one.
    pub authorization: Option<String>,
    /// The status of the answer, or 0 if there was none.
    pub answered: u16,
}

#[derive(Debug)]
struct Calendar {
    id: String,
    name: String,
    /// The resources by their names.
    resources: BTreeMap<String, String>,
    /// The number of changes so far.
    changes: usize,
}

#[derive(Debug)]
struct Account {
    username: String,
    password: String,
    addresses: Vec<String>,
    calendars: Vec<Calendar>,
}

#[derive(Default)]
struct Desk {
    accounts: Vec<Account>,
    playing: Playing,
    /// Where the home is, if it is not here.
    home: Option<String>,
    without_sync_tokens: bool,
    requests: Vec<CaldavRequest>,
    faults: Vec<String>,
}

/// A CalDAV server. It ends with the test.
#[derive(Clone)]
pub struct CaldavServer {
    address: String,
    desk: Arc<Mutex<Desk>>,
}

impl CaldavServer {
    /// Starts a server without accounts.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let server = Self { address, desk: Arc::default() };
        let router = Router::new().fallback(serve).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// `127.0.0.1:PORT`. The service must be allowed to reach it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The port.
    pub fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap_or_default()
    }

    /// The address that users enter.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    fn desk<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds an account without calendars. The addresses are those of its owner.
    pub fn account(&self, username: &str, password: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| (*address).to_owned()).collect();
        let (username, password) = (username.to_owned(), password.to_owned());
        self.desk(|desk| desk.accounts.push(Account { username, password, addresses, calendars: Vec::new() }));
    }

    /// Sets the password of an account.
    pub fn password(&self, username: &str, password: &str) {
        self.desk(|desk| password.clone_into(&mut desk.account(username).password));
    }

    /// Adds a calendar, or renames it. The identifier is a segment of a path, percent-encoded.
    pub fn calendar(&self, username: &str, id: &str, name: &str) {
        self.desk(|desk| {
            let calendars = &mut desk.account(username).calendars;
            match calendars.iter_mut().find(|known| known.id == id) {
                Some(known) => name.clone_into(&mut known.name),
                None => calendars.push(Calendar {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    resources: BTreeMap::new(),
                    changes: 0,
                }),
            }
        });
    }

    /// Removes a calendar.
    pub fn remove_calendar(&self, username: &str, id: &str) {
        self.desk(|desk| desk.account(username).calendars.retain(|known| known.id != id));
    }

    /// Writes a resource of a calendar. The name is a segment of a path, percent-encoded.
    pub fn put(&self, username: &str, calendar: &str, name: &str, text: &str) {
        self.change(username, calendar, |resources| {
            resources.insert(name.to_owned(), text.to_owned());
        });
    }

    /// Removes a resource of a calendar.
    pub fn remove(&self, username: &str, calendar: &str, name: &str) {
        self.change(username, calendar, |resources| {
            resources.remove(name);
        });
    }

    fn change(&self, username: &str, calendar: &str, change: impl FnOnce(&mut BTreeMap<String, String>)) {
        self.desk(|desk| {
            let calendars = &mut desk.account(username).calendars;
            let known = calendars.iter_mut().find(|known| known.id == calendar).expect("a calendar of the account");
            change(&mut known.resources);
            known.changes += 1;
        });
    }

    /// Sets how every request is answered from now on.
    pub fn plays(&self, playing: Playing) {
        self.desk(|desk| desk.playing = playing);
    }

    /// Names another address as the home of every account.
    pub fn home_at(&self, url: &str) {
        self.desk(|desk| desk.home = Some(url.to_owned()));
    }

    /// Takes the sync tokens away, so that calendars have only a `getctag`.
    pub fn without_sync_tokens(&self) {
        self.desk(|desk| desk.without_sync_tokens = true);
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<CaldavRequest> {
        self.desk(|desk| desk.requests.clone())
    }

    /// The paths of the requests of a method so far.
    pub fn paths(&self, method: &str) -> Vec<String> {
        let requests = self.requests().into_iter().filter(|request| request.method == method);
        requests.map(|request| request.path).collect()
    }

    /// The number of requests that were answered with a status.
    pub fn answered(&self, status: u16) -> usize {
        self.requests().iter().filter(|request| request.answered == status).count()
    }

    /// Waits until this many requests have come.
    pub async fn wait_for(&self, count: usize) {
        let began = tokio::time::Instant::now();
        while self.requests().len() < count {
            assert!(began.elapsed() < PATIENCE, "{} of {count} requests", self.requests().len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// What was wrong with requests.
    pub fn faults(&self) -> Vec<String> {
        self.desk(|desk| desk.faults.clone())
    }
}

impl Desk {
    fn account(&mut self, username: &str) -> &mut Account {
        self.accounts.iter_mut().find(|known| known.username == username).expect("an account")
    }

    /// The account whose credentials a request has.
    fn admitted(&self, headers: &HeaderMap) -> Option<&Account> {
        let basic = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
        let decoded = String::from_utf8(BASE64_STANDARD.decode(basic).ok()?).ok()?;
        let (username, password) = decoded.split_once(':')?;
        self.accounts.iter().find(|known| (known.username.as_str(), known.password.as_str()) == (username, password))
    }
}

/// A request with everything that decides its answer.
struct Asked<'a> {
    method: &'a str,
    path: &'a str,
    headers: &'a HeaderMap,
    body: &'a str,
}

async fn serve(
    State(server): State<CaldavServer>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let authorization = headers.get(AUTHORIZATION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let body = String::from_utf8_lossy(&body).into_owned();
    let asked = Asked { method: method.as_str(), path: &path, headers: &headers, body: &body };
    let (answer, place) = server.desk(|desk| {
        let request = CaldavRequest { method: method.to_string(), path: path.clone(), authorization, answered: 0 };
        desk.requests.push(request);
        (played(desk, &asked), desk.requests.len() - 1)
    });
    let Some(answer) = answer else { return std::future::pending().await };
    server.desk(|desk| {
        if let Some(request) = desk.requests.get_mut(place) {
            request.answered = answer.status().as_u16();
        }
    });
    answer
}

/// The answer; `None` if there is none.
fn played(desk: &mut Desk, asked: &Asked<'_>) -> Option<Response> {
    let answer = match &desk.playing {
        Playing::Answers => match answered(desk, asked) {
            Ok(answer) => answer,
            Err(fault) => {
                desk.faults.push(format!("{} {}: {fault}", asked.method, asked.path));
                StatusCode::BAD_REQUEST.into_response()
            }
        },
        Playing::Status(status) => StatusCode::from_u16(*status).expect("a status").into_response(),
        Playing::Redirects(to) => (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, to.clone())]).into_response(),
        Playing::Endless => {
            let begin = r#"<?xml version="1.0"?><multistatus xmlns="DAV:">"#;
            let begin = stream::iter([Ok::<_, Infallible>(Bytes::from_static(begin.as_bytes()))]);
            let more = "<response><href>/x</href><status>HTTP/1.1 404 Not Found</status></response>".repeat(500);
            let more = stream::repeat(Bytes::from(more)).map(Ok);
            multistatus(Body::from_stream(begin.chain(more)))
        }
        Playing::Bomb => multistatus(Body::from(bomb())),
        Playing::Silent => return None,
    };
    Some(answer)
}

fn multistatus(body: Body) -> Response {
    let headers = [(CONTENT_TYPE, "application/xml; charset=utf-8"), (VARY, "Depth")];
    (StatusCode::MULTI_STATUS, headers, body).into_response()
}

/// A document of a few hundred bytes that is a gigabyte once its entities are replaced.
fn bomb() -> String {
    let entities = (1..=BOMB_DEPTH).map(|level| {
        let value = format!("&e{};", level - 1).repeat(BOMB_WIDTH);
        format!(r#"<!ENTITY e{level} "{value}">"#)
    });
    let entities: String = entities.collect();
    format!(
        r#"<?xml version="1.0"?><!DOCTYPE multistatus [<!ENTITY e0 "boom">{entities}]>
<multistatus xmlns="DAV:"><response><href>&e{BOMB_DEPTH};</href></response></multistatus>"#
    )
}

/// The answer to a request, or what is wrong with it.
fn answered(desk: &Desk, asked: &Asked<'_>) -> Result<Response, String> {
    if asked.path == WELL_KNOWN {
        // A redirect needs no credentials (RFC 6764 section 5).
        return match asked.method {
            "PROPFIND" | "GET" => Ok((StatusCode::MOVED_PERMANENTLY, [(LOCATION, CONTEXT)]).into_response()),
            _ => Err("the method".to_owned()),
        };
    }
    if !asked.headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes().starts_with(b"Basic ")) {
        return Err("no Basic credentials".to_owned());
    }
    let Some(account) = desk.admitted(asked.headers) else {
        let challenge = [(WWW_AUTHENTICATE, r#"Basic realm="calendars", charset="UTF-8""#)];
        return Ok((StatusCode::UNAUTHORIZED, challenge).into_response());
    };
    let media_type = asked.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !["application/xml", "text/xml"].contains(&essence) {
        return Err(format!("the content type {media_type:?}"));
    }
    let depth = asked.headers.get("depth").and_then(|value| value.to_str().ok()).unwrap_or("absent");
    let body = elements(asked.body).map_err(|wrong| format!("{wrong}: {}", asked.body))?;
    match (asked.method, depth) {
        ("PROPFIND", "0" | "1") => found(desk, account, asked.path, depth == "1", &body),
        ("REPORT", "1") => reported(account, asked.path, &body),
        ("PROPFIND" | "REPORT", depth) => Err(format!("the depth {depth}")),
        _ => Err("the method".to_owned()),
    }
}

/// A property: its namespace, its name, and its value in XML.
type Property = (&'static str, &'static str, String);

/// A resource or a collection, with its properties.
struct Found {
    href: String,
    properties: Vec<Property>,
}

const COLLECTION: &str = "<D:collection/>";

/// Answers a PROPFIND.
fn found(desk: &Desk, account: &Account, path: &str, deep: bool, body: &[Element]) -> Result<Response, String> {
    let [root, rest @ ..] = body else { return Err("no document".to_owned()) };
    if !root.is(DAV, "propfind") || !rest.first().is_some_and(|first| first.is(DAV, "prop")) {
        return Err("no propfind of prop".to_owned());
    }
    let wanted: Vec<&Element> = rest.iter().filter(|element| element.depth == 2).collect();
    if wanted.is_empty() {
        return Err("no properties".to_owned());
    }
    let home = format!("/dav/calendars/{}/", account.username);
    let principal = format!("/dav/principals/{}/", account.username);
    let own = ("DAV:", "current-user-principal", format!("<D:href>{principal}</D:href>"));
    let named = |name: &str| (DAV, "displayname", escaped(name));
    let kind = |kind: &str| (DAV, "resourcetype", format!("{COLLECTION}{kind}"));
    let mut results = Vec::new();
    if path == "/" || path == CONTEXT {
        results.push(Found { href: path.to_owned(), properties: vec![kind(""), own] });
    } else if path == principal {
        let at = desk.home.clone().unwrap_or_else(|| home.clone());
        let addresses = account.addresses.iter().map(|address| format!("<D:href>{}</D:href>", escaped(address)));
        let properties = vec![
            kind("<D:principal/>"),
            named(&account.username),
            own,
            (CALDAV, "calendar-home-set", format!("<D:href>{}</D:href>", escaped(&at))),
            (CALDAV, "calendar-user-address-set", addresses.collect()),
        ];
        results.push(Found { href: principal, properties });
    } else if path == home {
        results.push(Found { href: home.clone(), properties: vec![kind(""), own, named("Home")] });
        if deep {
            let inbox = vec![kind("<C:schedule-inbox/>"), named("Inbox")];
            results.push(Found { href: format!("{home}inbox/"), properties: inbox });
            let tasks = vec![kind("<C:calendar/>"), named("Tasks"), components("VTODO")];
            results.push(Found { href: format!("{home}tasks/"), properties: tasks });
            results.extend(account.calendars.iter().map(|known| described(desk, &home, known)));
        }
    } else if let Some(known) = calendar_at(account, path) {
        results.push(described(desk, &home, known));
    } else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    }
    let responses = results.iter().map(|result| result.response(&wanted));
    Ok(document(&responses.collect::<String>()))
}

fn components(name: &str) -> Property {
    (CALDAV, "supported-calendar-component-set", format!(r#"<C:comp name="{name}"/>"#))
}

fn described(desk: &Desk, home: &str, known: &Calendar) -> Found {
    let Calendar { id, name, changes, .. } = known;
    let mut properties = vec![
        (DAV, "resourcetype", format!("{COLLECTION}<C:calendar/>")),
        (DAV, "displayname", escaped(name)),
        components("VEVENT"),
        (CALENDAR_SERVER, "getctag", format!("&quot;{id}-{changes}&quot;")),
    ];
    if !desk.without_sync_tokens {
        properties.push((DAV, "sync-token", format!("http://tokens.example/{id}/{changes}")));
    }
    Found { href: format!("{home}{id}/"), properties }
}

/// The calendar at a path.
fn calendar_at<'a>(account: &'a Account, path: &str) -> Option<&'a Calendar> {
    let rest = path.strip_prefix("/dav/calendars/")?.strip_prefix(&account.username)?.strip_prefix('/')?;
    account.calendars.iter().find(|known| rest.strip_suffix('/') == Some(known.id.as_str()))
}

/// Answers a REPORT with every resource of the calendar: a server may return more than what overlaps.
fn reported(account: &Account, path: &str, body: &[Element]) -> Result<Response, String> {
    let [root, rest @ ..] = body else { return Err("no document".to_owned()) };
    if !root.is(CALDAV, "calendar-query") {
        return Err("no calendar-query".to_owned());
    }
    let one = |namespace: &str, name: &str, depth: usize| {
        let found = rest.iter().find(|element| element.is(namespace, name) && element.depth == depth);
        found.ok_or_else(|| format!("no {name} at depth {depth}"))
    };
    one(DAV, "prop", 1)?;
    one(CALDAV, "filter", 1)?;
    one(CALDAV, "calendar-data", 2)?;
    let filtered = |name: &str, depth: usize| {
        let found = rest.iter().find(|element| element.is(CALDAV, "comp-filter") && element.depth == depth);
        match found {
            Some(filter) if filter.attribute("name") == name => Ok(()),
            _ => Err(format!("no comp-filter for {name}")),
        }
    };
    filtered("VCALENDAR", 2)?;
    filtered("VEVENT", 3)?;
    let range = one(CALDAV, "time-range", 4)?;
    let (start, end) = (range.attribute("start"), range.attribute("end"));
    if !is_utc(start) || !is_utc(end) || start >= end {
        return Err(format!("the time-range from {start:?} to {end:?}"));
    }
    let Some(known) = calendar_at(account, path) else { return Ok(StatusCode::NOT_FOUND.into_response()) };
    let wanted: Vec<&Element> = rest.iter().filter(|element| element.depth == 2 && element.within_prop).collect();
    let results = known.resources.iter().map(|(name, text)| Found {
        href: format!("{path}{name}"),
        properties: vec![
            (DAV, "getetag", format!("&quot;{name}-{}&quot;", text.len())),
            (CALDAV, "calendar-data", escaped(text)),
        ],
    });
    Ok(document(&results.map(|result| result.response(&wanted)).collect::<String>()))
}

/// Whether this is a time such as `20260301T000000Z`.
fn is_utc(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 16
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            8 => *byte == b'T',
            15 => *byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}

fn document(responses: &str) -> Response {
    let text = format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="{DAV}" xmlns:C="{CALDAV}" xmlns:CS="{CALENDAR_SERVER}">{responses}</D:multistatus>"#
    );
    multistatus(Body::from(text))
}

impl Found {
    /// The part of a multistatus about this resource: the wanted properties that it has, and those that it has not.
    fn response(&self, wanted: &[&Element]) -> String {
        let (mut has, mut lacks) = (String::new(), String::new());
        for wanted in wanted {
            let value = self.properties.iter().find(|(namespace, name, _)| wanted.is(namespace, name));
            match value {
                // The same namespace by default instead of by a prefix.
                Some((CALENDAR_SERVER, name, value)) => {
                    has += &format!(r#"<{name} xmlns="{CALENDAR_SERVER}">{value}</{name}>"#);
                }
                Some((CALDAV, name, value)) => has += &format!("<C:{name}>\n  {value}</C:{name}>\n"),
                Some((_, name, value)) => has += &format!("<D:{name}>{value}</D:{name}>\n"),
                None => lacks += &format!(r#"<x:{} xmlns:x="{}"/>"#, wanted.name, escaped(&wanted.namespace)),
            }
        }
        let stats = [(has, "200 OK"), (lacks, "404 Not Found")];
        let stats = stats.iter().filter(|(properties, _)| !properties.is_empty()).map(|(properties, status)| {
            format!("<D:propstat><D:prop>{properties}</D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat>")
        });
        format!("<D:response><D:href>{}</D:href>{}</D:response>\n", escaped(&self.href), stats.collect::<String>())
    }
}
