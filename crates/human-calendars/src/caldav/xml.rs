//! A reader of multistatus documents (RFC 4918 section 13): the few properties that are needed, and nothing else.
//!
//! Elements are known by their namespaces, never by their prefixes. A document type declaration and entities other than
//! the five of XML are refused, so an answer cannot grow while it is read. No error repeats the content of an answer.

use quick_xml::{
    NsReader,
    events::{BytesStart, Event},
    name::{Namespace, ResolveResult},
};

/// The maximum depth of elements.
const DEPTH_MAX: usize = 32;
/// The maximum number of elements.
const ELEMENTS_MAX: usize = 200_000;
/// The maximum number of resources. Each takes some hundred bytes of memory, even if it is empty.
const RESOURCES_MAX: usize = 25_000;
/// The maximum length of one tag, in bytes. It limits the number of namespaces, which are searched for each element.
const TAG_MAX: usize = 1_024;

const DAV: &str = "DAV:";
const CALDAV: &str = "urn:ietf:params:xml:ns:caldav";
const CALENDAR_SERVER: &str = "http://calendarserver.org/ns/";

/// Why a document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum XmlError {
    /// It is not well-formed.
    #[error("the answer is not well-formed XML")]
    NotXml,
    /// It has a document type declaration.
    #[error("the answer has a document type declaration, which is not read")]
    Doctype,
    /// It has an entity that XML does not define.
    #[error("the answer has an entity that XML does not define")]
    Entity,
    /// It is too deep.
    #[error("the answer has elements more than {DEPTH_MAX} levels deep")]
    Deep,
    /// It has too many elements.
    #[error("the answer has more than {ELEMENTS_MAX} elements or {RESOURCES_MAX} resources")]
    TooMany,
    /// A tag is too long.
    #[error("the answer has a tag of more than {TAG_MAX} bytes")]
    Tag,
    /// It is another document.
    #[error("the answer is not a multistatus document")]
    Other,
}

/// A resource of a multistatus document.
#[derive(Default)]
pub(crate) struct Response {
    /// Its address, absolute or relative to that of the document.
    pub(crate) href: String,
    /// The status of the whole resource, if it has one instead of properties.
    pub(crate) status: Option<u16>,
    /// The properties with the status 200.
    pub(crate) props: Props,
}

/// The known properties of a resource.
#[derive(Default)]
pub(crate) struct Props {
    /// Whether it is a collection.
    pub(crate) collection: bool,
    /// Whether it is a calendar (RFC 4791 section 4.2).
    pub(crate) calendar: bool,
    /// Whether it is an inbox or outbox for invitations (RFC 6638 section 2).
    pub(crate) mailbox: bool,
    pub(crate) name: Option<String>,
    /// `current-user-principal` (RFC 5397).
    pub(crate) principal: Option<String>,
    /// `calendar-home-set` (RFC 4791 section 6.2.1).
    pub(crate) homes: Vec<String>,
    /// `calendar-user-address-set` (RFC 6638 section 2.4.1).
    pub(crate) addresses: Vec<String>,
    /// The components that the calendar may contain. `None` means any (RFC 4791 section 5.2.3).
    pub(crate) components: Option<Vec<String>>,
    /// `schedule-default-calendar-URL` (RFC 6638 section 9.2).
    pub(crate) default_calendar: Option<String>,
    /// RFC 6578 section 4.
    pub(crate) sync_token: Option<String>,
    /// `getctag`, the older form of a sync token.
    pub(crate) ctag: Option<String>,
    /// `calendar-timezone` (RFC 4791 section 5.2.2), as iCalendar text.
    pub(crate) timezone: Option<String>,
    /// `calendar-timezone-id` (RFC 7809 section 5.2).
    pub(crate) timezone_id: Option<String>,
    /// `calendar-data`, as iCalendar text.
    pub(crate) data: Option<String>,
}

impl Props {
    /// Adds the properties of another group with the status 200.
    fn add(&mut self, more: Self) {
        self.collection |= more.collection;
        self.calendar |= more.calendar;
        self.mailbox |= more.mailbox;
        self.homes.extend(more.homes);
        self.addresses.extend(more.addresses);
        for (mine, theirs) in [
            (&mut self.name, more.name),
            (&mut self.principal, more.principal),
            (&mut self.default_calendar, more.default_calendar),
            (&mut self.sync_token, more.sync_token),
            (&mut self.ctag, more.ctag),
            (&mut self.timezone, more.timezone),
            (&mut self.timezone_id, more.timezone_id),
            (&mut self.data, more.data),
        ] {
            if mine.is_none() {
                *mine = theirs;
            }
        }
        if self.components.is_none() {
            self.components = more.components;
        }
    }
}

/// A known element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Multistatus,
    Response,
    Propstat,
    Prop,
    Status,
    Href,
    ResourceType,
    Collection,
    DisplayName,
    Principal,
    SyncToken,
    Calendar,
    Mailbox,
    Home,
    Addresses,
    Components,
    Component,
    DefaultCalendar,
    Timezone,
    TimezoneId,
    Data,
    Ctag,
    Unknown,
}

impl Tag {
    fn of(space: &ResolveResult<'_>, name: &str) -> Self {
        let ResolveResult::Bound(Namespace(space)) = space else { return Self::Unknown };
        match (*space, name) {
            (DAV, "multistatus") => Self::Multistatus,
            (DAV, "response") => Self::Response,
            (DAV, "propstat") => Self::Propstat,
            (DAV, "prop") => Self::Prop,
            (DAV, "status") => Self::Status,
            (DAV, "href") => Self::Href,
            (DAV, "resourcetype") => Self::ResourceType,
            (DAV, "collection") => Self::Collection,
            (DAV, "displayname") => Self::DisplayName,
            (DAV, "current-user-principal") => Self::Principal,
            (DAV, "sync-token") => Self::SyncToken,
            (CALDAV, "calendar") => Self::Calendar,
            (CALDAV, "schedule-inbox" | "schedule-outbox") => Self::Mailbox,
            (CALDAV, "calendar-home-set") => Self::Home,
            (CALDAV, "calendar-user-address-set") => Self::Addresses,
            (CALDAV, "supported-calendar-component-set") => Self::Components,
            (CALDAV, "comp") => Self::Component,
            (CALDAV, "schedule-default-calendar-URL") => Self::DefaultCalendar,
            (CALDAV, "calendar-timezone") => Self::Timezone,
            (CALDAV, "calendar-timezone-id") => Self::TimezoneId,
            (CALDAV, "calendar-data") => Self::Data,
            (CALENDAR_SERVER, "getctag") => Self::Ctag,
            _ => Self::Unknown,
        }
    }

    /// Whether the text in it is needed.
    const fn has_text(self) -> bool {
        matches!(
            self,
            Self::Status
                | Self::Href
                | Self::DisplayName
                | Self::SyncToken
                | Self::Timezone
                | Self::TimezoneId
                | Self::Data
                | Self::Ctag
        )
    }
}

/// A document that is being read.
#[derive(Default)]
struct Reading {
    responses: Vec<Response>,
    /// The open elements.
    path: Vec<Tag>,
    elements: usize,
    /// The open resource.
    response: Response,
    /// The open group of properties, and its status.
    group: Props,
    group_status: Option<u16>,
    /// The text of the open element.
    text: String,
}

/// Reads a multistatus document.
pub(crate) fn multistatus(body: &[u8]) -> Result<Vec<Response>, XmlError> {
    // Titles from old programs may have bytes that are not UTF-8. They are not needed, and must not hide the rest.
    let text = String::from_utf8_lossy(body);
    let mut reader = NsReader::from_str(text.trim_start_matches('\u{feff}').trim_start());
    reader.config_mut().expand_empty_elements = true;
    let mut reading = Reading::default();
    loop {
        let (space, event) = reader.read_resolved_event().map_err(|_| XmlError::NotXml)?;
        match event {
            Event::Start(start) | Event::Empty(start) => {
                let name = start.local_name();
                reading.begin(Tag::of(&space, name.as_ref()), &start)?;
            }
            Event::End(_) => reading.end(),
            Event::Text(text) => reading.add_text(&text),
            Event::CData(text) => reading.add_text(&text),
            Event::GeneralRef(name) => {
                let letter = letter(&name).ok_or(XmlError::Entity)?;
                reading.add_text(letter.encode_utf8(&mut [0; 4]));
            }
            Event::DocType(_) => return Err(XmlError::Doctype),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
    }
    match (reading.path.is_empty(), reading.elements) {
        (true, 1..) => Ok(reading.responses),
        _ => Err(XmlError::NotXml),
    }
}

/// The character of a reference: one of the five names of XML, or a number.
fn letter(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|letter| *letter != '\0')
        }
    }
}

impl Reading {
    fn begin(&mut self, tag: Tag, start: &BytesStart<'_>) -> Result<(), XmlError> {
        if start.len() > TAG_MAX {
            return Err(XmlError::Tag);
        }
        if self.path.is_empty() && (tag != Tag::Multistatus || self.elements > 0) {
            return Err(XmlError::Other);
        }
        self.elements += 1;
        if self.elements > ELEMENTS_MAX {
            return Err(XmlError::TooMany);
        }
        if self.path.len() == DEPTH_MAX {
            return Err(XmlError::Deep);
        }
        self.path.push(tag);
        self.text.clear();
        let props = &mut self.group;
        match self.path.as_slice() {
            [Tag::Multistatus, Tag::Response] if self.responses.len() == RESOURCES_MAX => {
                return Err(XmlError::TooMany);
            }
            [Tag::Multistatus, Tag::Response] => self.response = Response::default(),
            [Tag::Multistatus, Tag::Response, Tag::Propstat] => {
                *props = Props::default();
                self.group_status = None;
            }
            [_, _, Tag::Propstat, Tag::Prop, Tag::ResourceType, kind] => match kind {
                Tag::Collection => props.collection = true,
                Tag::Calendar => props.calendar = true,
                Tag::Mailbox => props.mailbox = true,
                _ => {}
            },
            [_, _, Tag::Propstat, Tag::Prop, Tag::Components] => props.components = Some(Vec::new()),
            [_, _, Tag::Propstat, Tag::Prop, Tag::Components, Tag::Component] => {
                if let (Some(components), Some(name)) = (&mut props.components, component(start)) {
                    components.push(name);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        if self.path.last().is_some_and(|tag| tag.has_text()) {
            self.text.push_str(text);
        }
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.text);
        let plain = || Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let props = &mut self.group;
        match self.path.as_slice() {
            [Tag::Multistatus, Tag::Response] => self.responses.push(std::mem::take(&mut self.response)),
            [Tag::Multistatus, Tag::Response, Tag::Href] if self.response.href.is_empty() => {
                self.response.href = text.trim().to_owned();
            }
            [Tag::Multistatus, Tag::Response, Tag::Status] => self.response.status = status(&text),
            [Tag::Multistatus, Tag::Response, Tag::Propstat] => {
                let group = std::mem::take(props);
                // A group without a status counts as good, because some servers leave it out.
                if matches!(self.group_status, None | Some(200..=299)) {
                    self.response.props.add(group);
                }
            }
            [Tag::Multistatus, Tag::Response, Tag::Propstat, Tag::Status] => self.group_status = status(&text),
            [Tag::Multistatus, Tag::Response, Tag::Propstat, Tag::Prop, property] => match property {
                Tag::DisplayName => props.name = plain(),
                Tag::SyncToken => props.sync_token = plain(),
                Tag::Ctag => props.ctag = plain(),
                Tag::Timezone => props.timezone = plain(),
                Tag::TimezoneId => props.timezone_id = plain(),
                Tag::Data => props.data = Some(text),
                _ => {}
            },
            [Tag::Multistatus, Tag::Response, Tag::Propstat, Tag::Prop, property, Tag::Href] => {
                let href = plain();
                match property {
                    Tag::Principal => props.principal = href,
                    Tag::Home => props.homes.extend(href),
                    Tag::Addresses => props.addresses.extend(href),
                    Tag::DefaultCalendar => props.default_calendar = href,
                    _ => {}
                }
            }
            _ => {}
        }
        self.path.pop();
    }
}

/// The code of a status line, such as `HTTP/1.1 200 OK`.
fn status(line: &str) -> Option<u16> {
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The name of a component, in upper case.
fn component(start: &BytesStart<'_>) -> Option<String> {
    let mut attributes = start.attributes();
    attributes.with_checks(false);
    let name = attributes.flatten().find(|attribute| attribute.key.0 == "name")?;
    Some(name.value.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn only(body: &str) -> Response {
        let mut responses = multistatus(body.as_bytes()).unwrap();
        assert_eq!(responses.len(), 1);
        responses.remove(0)
    }

    fn fault(body: &[u8]) -> XmlError {
        multistatus(body).err().unwrap()
    }

    /// A document with this content in the properties of one resource.
    fn with(props: &str) -> String {
        format!(
            r#"<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><response>
            <href>/a/</href><propstat><prop>{props}</prop><status>HTTP/1.1 200 OK</status></propstat>
            </response></multistatus>"#
        )
    }

    /// In the shape of iCloud: the default namespace changes on each element, and addresses are absolute.
    #[test]
    fn icloud() {
        let found = only(
            r#"<?xml version='1.0' encoding='UTF-8'?><multistatus xmlns='DAV:'><response>
            <href>/123456/principal/</href><propstat><prop>
            <calendar-home-set xmlns='urn:ietf:params:xml:ns:caldav'>
            <href xmlns='DAV:'>https://p12-caldav.icloud.com:443/123456/calendars/</href></calendar-home-set>
            <calendar-user-address-set xmlns='urn:ietf:params:xml:ns:caldav'>
            <href preferred='1' xmlns='DAV:'>mailto:ada@icloud.com</href><href xmlns='DAV:'>/123456/principal/</href>
            <href xmlns='DAV:'>urn:uuid:123456</href></calendar-user-address-set>
            <current-user-principal><href>/123456/principal/</href></current-user-principal>
            </prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"#,
        );
        assert_eq!(found.props.homes, ["https://p12-caldav.icloud.com:443/123456/calendars/"]);
        assert_eq!(found.props.addresses, ["mailto:ada@icloud.com", "/123456/principal/", "urn:uuid:123456"]);
        assert_eq!(found.props.principal.as_deref(), Some("/123456/principal/"));
    }

    /// In the shape of Nextcloud and Baïkal, which both use sabre/dav: prefixes, and a group for missing properties.
    #[test]
    fn sabre() {
        let found = only(
            r#"<?xml version="1.0"?>
            <d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" xmlns:cal="urn:ietf:params:xml:ns:caldav"
                xmlns:cs="http://calendarserver.org/ns/" xmlns:oc="http://owncloud.org/ns"><d:response>
            <d:href>/remote.php/dav/calendars/ada/personal/</d:href>
            <d:propstat><d:prop><d:resourcetype><d:collection/><cal:calendar/></d:resourcetype>
            <d:displayname>Ada &amp; Bob &#x263A;</d:displayname>
            <cal:supported-calendar-component-set><cal:comp name="VEVENT"/><cal:comp name="vtodo"/>
            </cal:supported-calendar-component-set>
            <cs:getctag>http://sabre.io/ns/sync/42</cs:getctag><d:sync-token>http://sabre.io/ns/sync/42</d:sync-token>
            </d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
            <d:propstat><d:prop><cal:calendar-timezone/><cal:calendar-timezone-id>no</cal:calendar-timezone-id>
            </d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>
            </d:response></d:multistatus>"#,
        );
        let Props { collection, calendar, mailbox, .. } = found.props;
        assert_eq!((collection, calendar, mailbox), (true, true, false));
        assert_eq!(found.props.name.as_deref(), Some("Ada & Bob \u{263a}"));
        assert_eq!(found.props.components.unwrap(), ["VEVENT", "VTODO"]);
        assert_eq!(found.props.ctag, found.props.sync_token);
        assert_eq!(found.props.sync_token.as_deref(), Some("http://sabre.io/ns/sync/42"));
        assert_eq!((found.props.timezone, found.props.timezone_id), (None, None));
    }

    /// In the shape of Radicale: other prefixes, no sync token, and a whole event.
    #[test]
    fn radicale() {
        let found = only(
            "<?xml version='1.0' encoding='utf-8'?>\n<multistatus xmlns=\"DAV:\" \
             xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:CS=\"http://calendarserver.org/ns/\"><response>\
             <href>/ada/office/x.ics</href><propstat><prop><CS:getctag>\"abc\"</CS:getctag>\
             <C:calendar-data>BEGIN:VCALENDAR\r\nSUMMARY:A &lt; B&#13;\nEND:VCALENDAR\r\n</C:calendar-data></prop>\
             <status>HTTP/1.1 200 OK</status></propstat></response></multistatus>",
        );
        assert_eq!(found.href, "/ada/office/x.ics");
        assert_eq!(found.props.ctag.as_deref(), Some("\"abc\""));
        let data = found.props.data.unwrap().replace("\r\n", "\n");
        assert_eq!(data, "BEGIN:VCALENDAR\nSUMMARY:A < B\nEND:VCALENDAR\n");
    }

    /// In the shape of Fastmail: character data in a CDATA section, and an inbox with the default calendar.
    #[test]
    fn fastmail() {
        let body = r#"<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:"
            xmlns:C="urn:ietf:params:xml:ns:caldav"><D:response><D:href>/dav/calendars/user/ada@fastmail.com/</D:href>
            <D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop>
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            <D:response><D:href>/dav/calendars/user/ada@fastmail.com/Inbox/</D:href><D:propstat><D:prop>
            <D:resourcetype><D:collection/><C:schedule-inbox/></D:resourcetype>
            <C:schedule-default-calendar-URL><D:href>/dav/calendars/user/ada@fastmail.com/one/</D:href>
            </C:schedule-default-calendar-URL></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            <D:response><D:href>/dav/calendars/user/ada@fastmail.com/one/one.ics</D:href><D:propstat><D:prop>
            <C:calendar-data><![CDATA[BEGIN:VCALENDAR & more]]></C:calendar-data></D:prop>
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"#;
        let found = multistatus(body.as_bytes()).unwrap();
        let [home, inbox, event] = found.as_slice() else { panic!("{}", found.len()) };
        assert!(home.props.collection && !home.props.calendar && inbox.props.mailbox);
        let default = inbox.props.default_calendar.as_deref();
        assert_eq!(default, Some("/dav/calendars/user/ada@fastmail.com/one/"));
        assert_eq!(event.props.data.as_deref(), Some("BEGIN:VCALENDAR & more"));
    }

    #[test]
    fn elements_are_known_by_namespace() {
        let odd =
            only(&with(r#"<x:displayname xmlns:x="urn:x">Dentist</x:displayname><c:displayname>x</c:displayname>"#));
        assert_eq!(odd.props.name, None);
        let renamed = only(&with(r#"<x:displayname xmlns:x="DAV:">Ada</x:displayname>"#));
        assert_eq!(renamed.props.name.as_deref(), Some("Ada"));
        assert_eq!(only(&with("<displayname>  </displayname>")).props.name, None);
    }

    #[test]
    fn a_resource_may_have_a_status() {
        let found = only(
            r#"<multistatus xmlns="DAV:"><response><href>/a/</href><status>HTTP/1.1 507 Insufficient Storage</status>
            <error><number-of-matches-within-limits/></error></response></multistatus>"#,
        );
        assert_eq!((found.href.as_str(), found.status), ("/a/", Some(507)));
    }

    #[rstest]
    #[case::nothing("", XmlError::NotXml)]
    #[case::text("Dentist", XmlError::NotXml)]
    #[case::html("<html><body>Dentist</body></html>", XmlError::Other)]
    #[case::no_namespace("<multistatus/>", XmlError::Other)]
    #[case::cut_off(r#"<multistatus xmlns="DAV:"><response>"#, XmlError::NotXml)]
    #[case::crossed(r#"<multistatus xmlns="DAV:"><response></multistatus></response>"#, XmlError::NotXml)]
    #[case::two(r#"<multistatus xmlns="DAV:"/><multistatus xmlns="DAV:"/>"#, XmlError::Other)]
    #[case::a_bomb(
        r#"<!DOCTYPE x [<!ENTITY a "Dentist"><!ENTITY b "&a;&a;">]><multistatus xmlns="DAV:">&b;</multistatus>"#,
        XmlError::Doctype
    )]
    #[case::a_file(r#"<!DOCTYPE x SYSTEM "file:///etc/passwd"><multistatus xmlns="DAV:"/>"#, XmlError::Doctype)]
    #[case::an_entity(r#"<multistatus xmlns="DAV:">&Dentist;</multistatus>"#, XmlError::Entity)]
    #[case::no_character(r#"<multistatus xmlns="DAV:">&#xD800;</multistatus>"#, XmlError::Entity)]
    fn other_documents_are_refused(#[case] body: &str, #[case] expected: XmlError) {
        assert_eq!(fault(body.as_bytes()), expected);
        assert!(!format!("{expected} {expected:?}").contains("Dentist"));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced() {
        let body = with("<displayname>M#ller</displayname>").replace('#', "\u{1}").into_bytes();
        let body: Vec<u8> = body.into_iter().map(|byte| if byte == 1 { 0xFC } else { byte }).collect();
        let name = multistatus(&body).unwrap().remove(0).props.name;
        assert_eq!(name.as_deref(), Some("M\u{fffd}ller"));
    }

    #[test]
    fn a_document_that_is_cut_anywhere_is_refused() {
        let whole = with("<displayname>A&amp;B</displayname><c:calendar-data><![CDATA[x]]></c:calendar-data>");
        for end in 0..whole.len() {
            assert!(multistatus(&whole.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert!(multistatus("\u{feff}<multistatus xmlns=\"DAV:\"/>".as_bytes()).unwrap().is_empty());
    }

    #[test]
    fn documents_are_bounded() {
        let nested = |depth: usize| with(&format!("{}{}", "<x>".repeat(depth), "</x>".repeat(depth)));
        // Four elements are around it.
        assert!(multistatus(nested(DEPTH_MAX - 4).as_bytes()).is_ok());
        assert_eq!(fault(nested(DEPTH_MAX - 3).as_bytes()), XmlError::Deep);
        assert_eq!(fault(with(&"<x/>".repeat(ELEMENTS_MAX)).as_bytes()), XmlError::TooMany);
        let resources =
            |count: usize| format!(r#"<multistatus xmlns="DAV:">{}</multistatus>"#, "<response/>".repeat(count));
        assert_eq!(multistatus(resources(RESOURCES_MAX).as_bytes()).unwrap().len(), RESOURCES_MAX);
        assert_eq!(fault(resources(RESOURCES_MAX + 1).as_bytes()), XmlError::TooMany);
        let tag = |length: usize| with(&format!("<x a=\"{}\"/>", "y".repeat(length)));
        assert!(multistatus(tag(TAG_MAX / 2).as_bytes()).is_ok());
        assert_eq!(fault(tag(TAG_MAX).as_bytes()), XmlError::Tag);
    }
}
