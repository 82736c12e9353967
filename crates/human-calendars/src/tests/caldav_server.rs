//! A strict CalDAV server: it checks every request before it answers.

use std::{num::NonZeroUsize, sync::Arc};

use kalends_app::ports::CaldavLogin;
use kalends_bridge::{Access, CaldavAccount};
use kalends_egress::{Allowed, Egress, Settings};
use quick_xml::{
    NsReader,
    events::Event,
    name::{Namespace, ResolveResult},
};

use super::{
    NoNames,
    stand_in::{ReceivedRequest, StandIn, StubAnswer, reply},
};
use crate::CalendarAccounts;

pub(crate) const USERNAME: &str = "ada";
pub(crate) const PASSWORD: &str = "s&=cret";
/// `ada:s&=cret`
const AUTHORIZATION: &str = "Basic YWRhOnMmPWNyZXQ=";

/// A request that passed all checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) depth: String,
    /// Whether a report asks for whole events.
    pub(crate) whole: bool,
    /// The start and end of a report.
    pub(crate) window: Option<(String, String)>,
}

impl Asked {
    /// The method, the depth and the path.
    pub(crate) fn short(&self) -> String {
        format!("{} {} {}", self.method, self.depth, self.path)
    }
}

/// The elements of a document as `{namespace}name`, each with its attributes `name`, `start` and `end`.
fn elements(body: &str) -> Vec<(String, Vec<String>)> {
    let mut reader = NsReader::from_str(body);
    reader.config_mut().expand_empty_elements = true;
    let mut found = Vec::new();
    loop {
        let (space, event) = reader.read_resolved_event().unwrap();
        match event {
            Event::Start(start) => {
                let ResolveResult::Bound(Namespace(space)) = space else { panic!("an element without a namespace") };
                let attribute = |name: &str| {
                    let mut all = start.attributes().flatten();
                    all.find(|attribute| attribute.key.0 == name).map(|attribute| attribute.value.to_string())
                };
                let attributes = ["name", "start", "end"].iter().filter_map(|name| attribute(name)).collect();
                let name = start.local_name();
                let name: &str = name.as_ref();
                found.push((format!("{{{space}}}{name}"), attributes));
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// Checks a request.
pub(crate) fn checked(request: &ReceivedRequest) -> Asked {
    assert_eq!(request.headers["authorization"], AUTHORIZATION);
    assert_eq!(request.headers["content-type"], "application/xml; charset=utf-8");
    let depth = request.headers["depth"].clone();
    assert!(depth == "0" || depth == "1", "{depth}");
    let elements = elements(&request.body);
    let names: Vec<&str> = elements.iter().map(|(name, _)| name.as_str()).collect();
    let window = match request.method.as_str() {
        "PROPFIND" => {
            assert_eq!(names[..2], ["{DAV:}propfind", "{DAV:}prop"]);
            None
        }
        "REPORT" => {
            assert_eq!((names[0], depth.as_str()), ("{urn:ietf:params:xml:ns:caldav}calendar-query", "1"));
            assert!(names.contains(&"{urn:ietf:params:xml:ns:caldav}calendar-data"));
            assert!(!request.body.contains("SUMMARY") && !request.body.contains("DESCRIPTION"));
            let filter: Vec<&(String, Vec<String>)> = elements
                .iter()
                .skip_while(|(name, _)| name != "{urn:ietf:params:xml:ns:caldav}filter")
                .skip(1)
                .collect();
            let [calendar, event, range] = filter.as_slice() else { panic!("{filter:?}") };
            assert_eq!((calendar.1[0].as_str(), event.1[0].as_str()), ("VCALENDAR", "VEVENT"));
            assert_eq!(range.0, "{urn:ietf:params:xml:ns:caldav}time-range");
            Some((range.1[0].clone(), range.1[1].clone()))
        }
        other => panic!("{other}"),
    };
    let whole = request.method == "REPORT" && !names.contains(&"{urn:ietf:params:xml:ns:caldav}comp");
    Asked { method: request.method.clone(), path: request.path().to_owned(), depth, whole, window }
}

/// A server that checks each request and then answers.
pub(crate) async fn server(answer: impl Fn(&Asked) -> StubAnswer + Send + Sync + 'static) -> StandIn {
    StandIn::start(move |request| answer(&checked(request))).await
}

/// The requests that arrived, as [`Asked::short`].
pub(crate) fn arrived(server: &StandIn) -> Vec<String> {
    server.requests().iter().map(|request| checked(request).short()).collect()
}

/// A multistatus document.
pub(crate) fn answered(responses: &[String]) -> StubAnswer {
    reply(
        207,
        format!(
            r#"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"
            xmlns:s="http://calendarserver.org/ns/">{}</d:multistatus>"#,
            responses.concat()
        ),
    )
}

/// A resource with properties.
pub(crate) fn resource(href: &str, props: &str) -> String {
    format!(
        "<d:response><d:href>{href}</d:href><d:propstat><d:prop>{props}</d:prop>\
         <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )
}

/// A calendar with events.
pub(crate) fn calendar(href: &str, name: &str) -> String {
    let kind = "<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>";
    resource(href, &format!("{kind}<d:displayname>{name}</d:displayname>"))
}

/// An event. Its title is not to be seen anywhere.
pub(crate) fn event(href: &str, lines: &[&str]) -> String {
    let lines = lines.join("\r\n");
    let data = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:{href}\r\nSUMMARY:Dentist\r\n{lines}\r\n\
         END:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    resource(href, &format!("<c:calendar-data>{data}</c:calendar-data>"))
}

/// The adapter, which may reach these servers.
pub(crate) fn accounts(servers: &[&StandIn]) -> CalendarAccounts {
    let allowed = Allowed::new(servers.iter().map(|server| ("127.0.0.1".to_owned(), server.port())));
    let options = Settings { user_agent: "kalends-tests".into(), per_host: NonZeroUsize::MIN };
    let egress = Egress::new(allowed, Arc::new(NoNames), &options).unwrap();
    CalendarAccounts::new(Arc::new(egress), Vec::new(), false)
}

pub(crate) fn login(server: &StandIn, path: &str) -> CaldavLogin {
    CaldavLogin { url: server.url(path), username: USERNAME.into(), password: PASSWORD.into() }
}

/// The access to Ada's account.
pub(crate) fn access(server: &StandIn) -> Access {
    Access::Password(CaldavAccount {
        server: server.url("/"),
        home: server.url("/dav/ada/"),
        username: USERNAME.into(),
        password: PASSWORD.into(),
        addresses: vec!["mailto:ada@example.com".into()],
    })
}
