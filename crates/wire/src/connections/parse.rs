//! Parses the requests into values of the domain, and builds the answers from them.

use std::fmt;

use kalends_availability::BusySet;
use kalends_bridge::{
    self as domain, AGENTS_MAX, Audience, CalendarProvider, DRAWN_MAX, DRAWN_NAMES, Drawing, LABEL_MAX, PASSWORD_MAX,
    SERVER_URL_MAX, SOURCES_MAX, STALE_AFTER, UNAVAILABLE_AFTER, USERNAME_MAX, ports::KnownCalendar,
};
use kalends_kernel::{FieldError, FieldErrors, bounded_text};
use kalends_remote::RemoteUrl;
use kalends_time::{Span, Timestamp};

use super::{
    AvailabilityGrant, CalendarConnection, ConnectCaldav, CreateGrant, DrawnCalendar, DrawnCalendars, DrawnTime,
    ExternalCalendar, ReplaceDrawing, ReplaceTime, UpdateConnection,
};
use crate::{
    fields::span,
    names::WORTHS,
    patch::{nothing_to_change, set_or_clear},
};

/// Classifies busy times that were read at `read_at`.
fn worth(read_at: Option<Timestamp>, now: Timestamp) -> &'static str {
    let [unread, fresh, stale, unavailable] = WORTHS;
    match read_at.map(|read_at| now - read_at) {
        None => unread,
        Some(age) if age > UNAVAILABLE_AFTER => unavailable,
        Some(age) if age > STALE_AFTER => stale,
        Some(_) => fresh,
    }
}

impl CalendarConnection {
    /// Builds the connection as it is at `now`.
    pub fn new(connection: &domain::Connection, now: Timestamp) -> Self {
        Self {
            id: connection.id,
            provider: connection.provider.as_str(),
            label: connection.label.clone(),
            status: connection.status().as_str(),
            last_refreshed_at: connection.refresh.refreshed_at,
            next_refresh_at: connection.due_at.filter(|_| connection.is_refreshed()).map(|due| due.max(now)),
            publishing: connection.access.publishing(),
            data: worth(connection.refresh.refreshed_at, now),
            last_error: connection.refresh.last_error.clone(),
            created_at: connection.created_at,
            updated_at: connection.updated_at,
        }
    }

    /// Builds the entry of a list as it is at `now`. The user can replace a connection that cannot be read, but not fix
    /// it.
    pub fn listed(listed: &domain::ListedConnection, now: Timestamp) -> Self {
        match listed {
            Ok(connection) => Self::new(connection, now),
            Err(unreadable) => Self {
                id: unreadable.id,
                provider: unreadable.provider.as_str(),
                label: None,
                status: domain::ConnectionStatus::ReauthorizationRequired.as_str(),
                last_refreshed_at: unreadable.refreshed_at,
                next_refresh_at: None,
                publishing: false,
                data: worth(unreadable.refreshed_at, now),
                last_error: Some(domain::UNREADABLE_CONNECTION.to_owned()),
                created_at: unreadable.created_at,
                updated_at: unreadable.updated_at,
            },
        }
    }
}

impl UpdateConnection {
    /// Checks the field.
    ///
    /// # Errors
    /// If the field is missing or out of bounds.
    pub fn parse(self) -> Result<Option<String>, FieldErrors> {
        match set_or_clear(self.label, |text| bounded_text("label", &text, 1, LABEL_MAX))? {
            kalends_calendars::Patch::Set(label) => Ok(label),
            kalends_calendars::Patch::Keep => Err(nothing_to_change("label").into()),
        }
    }
}

/// An account at a CalDAV server to connect, checked.
#[derive(Clone, PartialEq, Eq)]
pub struct CheckedCaldav {
    /// The address of the server: a URL that outgoing calls may reach.
    pub url: String,
    /// The user name, 1 to [`USERNAME_MAX`] characters.
    pub username: String,
    /// The password, 1 to [`PASSWORD_MAX`] characters.
    pub password: String,
}

impl fmt::Debug for CheckedCaldav {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedCaldav").finish_non_exhaustive()
    }
}

impl ConnectCaldav {
    /// Checks every field, and returns the link too. People leave out `https://`, so it is added. `exempt` decides
    /// which private host and port may be reached anyway.
    ///
    /// # Errors
    /// Lists every invalid field. No error repeats the user name or the password.
    pub fn parse(self, exempt: impl Fn(&str, u16) -> bool) -> Result<(CheckedCaldav, Option<String>), FieldErrors> {
        let mut errors = FieldErrors::default();
        let url = errors.take(server(self.url.trim(), exempt));
        let username = errors.take(credential("username", &self.username, USERNAME_MAX).and_then(|name| {
            // It separates the name from the password (RFC 7617 section 2).
            if name.contains(':') { Err(FieldError::new("username", "must not contain a colon")) } else { Ok(name) }
        }));
        let password = errors.take(credential("password", &self.password, PASSWORD_MAX));
        match (url, username, password) {
            (Some(url), Some(username), Some(password)) => {
                Ok((CheckedCaldav { url, username, password }, self.link_id))
            }
            _ => Err(errors),
        }
    }
}

/// The error for an email address, which people enter if a form asks for an address.
const EMAIL_ADDRESS: &str =
    "must be the address of a server, such as caldav.example.com; enter your email address as the user name";

/// The address of a server.
fn server(text: &str, exempt: impl Fn(&str, u16) -> bool) -> Result<String, FieldError> {
    let complete = if text.contains("://") {
        text.to_owned()
    } else if text.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@')) {
        return Err(FieldError::new("url", EMAIL_ADDRESS));
    } else {
        format!("https://{text}")
    };
    let url = RemoteUrl::parse("url", &complete, exempt)?;
    let length = url.as_str().len();
    if length > SERVER_URL_MAX {
        let message = format!("must be at most {SERVER_URL_MAX} bytes long once it is encoded, got {length}");
        return Err(FieldError::new("url", message));
    }
    Ok(url.as_str().to_owned())
}

/// A user name or a password.
fn credential(param: &str, text: &str, max: usize) -> Result<String, FieldError> {
    let text = bounded_text(param, text, 1, max)?;
    if text.chars().any(char::is_control) {
        return Err(FieldError::new(param, "must not contain control characters"));
    }
    Ok(text)
}

impl From<&Drawing> for DrawnCalendars {
    fn from(drawing: &Drawing) -> Self {
        let time = |span: &Span| DrawnTime { start_time: span.start(), end_time: span.end() };
        let calendar = |drawn: &domain::DrawnCalendar| DrawnCalendar {
            name: drawn.name.clone(),
            busy: drawn.busy.iter().map(time).collect(),
        };
        Self { calendars: drawing.calendars.iter().map(calendar).collect() }
    }
}

impl ReplaceDrawing {
    /// Checks every field, except whether the connection has calendars with these names.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<Vec<domain::DrawnCalendar>, FieldErrors> {
        let (count, most) = (self.calendars.len(), DRAWN_NAMES.len());
        if !(1..=most).contains(&count) {
            return Err(FieldError::new("calendars", format!("must contain 1-{most} calendars, got {count}")).into());
        }
        let mut errors = FieldErrors::default();
        let mut drawn: Vec<domain::DrawnCalendar> = Vec::with_capacity(count);
        for (place, calendar) in self.calendars.into_iter().enumerate() {
            let below = format!("calendars[{place}]");
            if drawn.iter().any(|known| known.name == calendar.name) {
                errors.push(FieldError::new(format!("{below}.name"), "must not be that of another calendar"));
            }
            let busy = times(&format!("{below}.busy"), &calendar.busy, &mut errors);
            drawn.push(domain::DrawnCalendar { name: calendar.name, busy });
        }
        errors.finish()?;
        Ok(drawn)
    }
}

/// The busy times of a calendar, sorted and merged.
fn times(param: &str, times: &[ReplaceTime], errors: &mut FieldErrors) -> Vec<Span> {
    if times.len() > DRAWN_MAX {
        let message = format!("must contain at most {DRAWN_MAX} times, got {}", times.len());
        errors.push(FieldError::new(param, message));
        return Vec::new();
    }
    let mut spans = Vec::with_capacity(times.len());
    for (place, time) in times.iter().enumerate() {
        let name = |field: &str| format!("{param}[{place}].{field}");
        spans.extend(span(name, (&time.start_time, &time.end_time), errors));
    }
    BusySet::from_unsorted(spans).spans().to_vec()
}

impl ExternalCalendar {
    /// Builds the calendar as it is at `now`.
    pub fn new(KnownCalendar { calendar, counts }: KnownCalendar, now: Timestamp) -> Self {
        let last_read_at = calendar.reading.as_ref().map(|reading| reading.read_at);
        Self {
            id: calendar.id,
            connection_id: calendar.connection,
            name: calendar.theirs.name,
            primary: calendar.theirs.primary,
            counts,
            last_read_at,
            data: worth(last_read_at, now),
        }
    }
}

impl From<&domain::Grant> for AvailabilityGrant {
    fn from(grant: &domain::Grant) -> Self {
        Self {
            id: grant.id,
            external_calendar_ids: grant.sources.clone(),
            audience: grant.audience.as_str(),
            agent_ids: (grant.audience != Audience::All).then(|| grant.agents.clone()),
            created_at: grant.created_at,
        }
    }
}

/// A requested grant, with identifiers as they were written.
#[derive(Debug, PartialEq, Eq)]
pub struct WantedGrant {
    /// The human calendars.
    pub sources: Vec<String>,
    /// The audience.
    pub audience: Audience,
    /// The agents, if the audience is [`Audience::Selected`].
    pub agents: Vec<String>,
    /// The connection link.
    pub link: Option<String>,
}

impl CreateGrant {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<WantedGrant, FieldErrors> {
        let mut errors = FieldErrors::default();
        let bounded = |name: &str, count: usize, max: usize| match count {
            count if (1..=max).contains(&count) => Ok(()),
            count => Err(FieldError::new(name, format!("must contain 1-{max} identifiers, got {count}"))),
        };
        let sources = bounded("external_calendar_ids", self.external_calendar_ids.len(), SOURCES_MAX);
        errors.take(sources);
        let audience = errors.take(Audience::from_name(&self.audience).ok_or_else(|| {
            FieldError::new("audience", format!("must be selected, all_current or all, got {:?}", self.audience))
        }));
        let agents = self.agent_ids;
        let checked = match (audience, &agents) {
            (Some(Audience::Selected), agents) => bounded("agent_ids", agents.as_ref().map_or(0, Vec::len), AGENTS_MAX),
            (Some(Audience::AllCurrent | Audience::All), Some(_)) => {
                Err(FieldError::new("agent_ids", "must be left out unless audience is selected"))
            }
            (_, _) => Ok(()),
        };
        errors.take(checked);
        match audience {
            Some(audience) if errors.iter().next().is_none() => Ok(WantedGrant {
                sources: self.external_calendar_ids,
                audience,
                agents: agents.unwrap_or_default(),
                link: self.connection_link_id,
            }),
            _ => Err(errors),
        }
    }
}

/// The names of the offered providers, in the order of [`CalendarProvider::ALL`].
pub fn provider_names(offered: impl Fn(CalendarProvider) -> bool) -> Vec<&'static str> {
    CalendarProvider::ALL.into_iter().filter(|provider| offered(*provider)).map(CalendarProvider::as_str).collect()
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[rstest]
    #[case(None, "unread")]
    #[case(Some(0), "fresh")]
    #[case(Some(3_600), "fresh")]
    #[case(Some(3_601), "stale")]
    #[case(Some(86_400), "stale")]
    #[case(Some(86_401), "unavailable")]
    fn data_age(#[case] seconds: Option<i64>, #[case] expected: &str) {
        assert_eq!(worth(seconds.map(|seconds| NOW - SignedDuration::seconds(seconds)), NOW), expected);
    }

    #[rstest]
    #[case::selected(r#"{"external_calendar_ids":["a"],"audience":"selected","agent_ids":["b"]}"#, None)]
    #[case::all(r#"{"external_calendar_ids":["a"],"audience":"all"}"#, None)]
    #[case::all_current(r#"{"external_calendar_ids":["a"],"audience":"all_current"}"#, None)]
    #[case::no_calendars(r#"{"external_calendar_ids":[],"audience":"all"}"#, Some("external_calendar_ids"))]
    #[case::no_agents(r#"{"external_calendar_ids":["a"],"audience":"selected"}"#, Some("agent_ids"))]
    #[case::empty_agents(r#"{"external_calendar_ids":["a"],"audience":"selected","agent_ids":[]}"#, Some("agent_ids"))]
    #[case::agents_of_all(r#"{"external_calendar_ids":["a"],"audience":"all","agent_ids":["b"]}"#, Some("agent_ids"))]
    #[case::audience(r#"{"external_calendar_ids":["a"],"audience":"some"}"#, Some("audience"))]
    fn grants_are_checked(#[case] json: &str, #[case] fault: Option<&str>) {
        let parsed = serde_json::from_str::<CreateGrant>(json).unwrap().parse();
        assert_eq!(parsed.err().map(|errors| errors.first().param).as_deref(), fault);
    }

    #[test]
    fn a_grant_has_a_maximum_number_of_calendars_and_agents() {
        let of = |calendars: usize, agents: usize| {
            let grant = CreateGrant {
                external_calendar_ids: vec![String::new(); calendars],
                audience: "selected".into(),
                agent_ids: Some(vec![String::new(); agents]),
                connection_link_id: None,
            };
            grant.parse().is_ok()
        };
        assert!(of(SOURCES_MAX, AGENTS_MAX));
        assert!(!of(SOURCES_MAX + 1, AGENTS_MAX) && !of(SOURCES_MAX, AGENTS_MAX + 1));
    }

    fn caldav(url: &str, username: &str, password: &str) -> Result<CheckedCaldav, Vec<String>> {
        let (url, username, password) = (url.to_owned(), username.to_owned(), password.to_owned());
        let request = ConnectCaldav { url, username, password, link_id: Some("cln_1".to_owned()) };
        match request.parse(|host, port| (host, port) == ("localhost", 5232)) {
            Ok((checked, link)) => {
                assert_eq!(link.as_deref(), Some("cln_1"));
                Ok(checked)
            }
            Err(errors) => Err(errors.iter().map(|error| error.param.clone()).collect()),
        }
    }

    #[rstest]
    #[case("https://caldav.example.com/dav", "https://caldav.example.com/dav")]
    #[case::as_people_type_it("  caldav.example.com ", "https://caldav.example.com/")]
    #[case::in_capitals("Caldav.Example.COM/Dav", "https://caldav.example.com/Dav")]
    #[case::an_address_in_the_path(
        "caldav.example.com/ada@example.com/",
        "https://caldav.example.com/ada@example.com/"
    )]
    #[case::a_port("dav.example.com:8443", "https://dav.example.com:8443/")]
    #[case::allowed("http://localhost:5232", "http://localhost:5232/")]
    fn https_may_be_left_out(#[case] url: &str, #[case] expected: &str) {
        assert_eq!(caldav(url, "ada", "secret").unwrap().url, expected);
    }

    #[rstest]
    #[case("ada@example.com", true)]
    #[case("mailto:ada@example.com", true)]
    #[case("https://ada@caldav.example.com", false)]
    #[case("caldav.example.com:x/ada@example.com", false)]
    fn an_email_address_is_no_server(#[case] url: &str, #[case] is_email: bool) {
        let error = server(url, |_, _| false).unwrap_err();
        assert_eq!((error.param.as_str(), error.message.contains("email")), ("url", is_email));
    }

    #[rstest]
    #[case::private("https://10.0.0.1/", "ada", "secret", &["url"])]
    #[case::plain("http://caldav.example.com", "ada", "secret", &["url"])]
    #[case::credentials("https://ada:secret@caldav.example.com", "ada", "secret", &["url"])]
    #[case::no_url("", "ada", "secret", &["url"])]
    #[case::colon("caldav.example.com", "ada:b", "secret", &["username"])]
    #[case::nothing("caldav.example.com", "", "", &["username", "password"])]
    #[case::line_break("caldav.example.com", "ada", "sec\nret", &["password"])]
    fn an_account_is_checked(#[case] url: &str, #[case] name: &str, #[case] password: &str, #[case] wrong: &[&str]) {
        assert_eq!(caldav(url, name, password).unwrap_err(), wrong);
    }

    #[test]
    fn credentials_have_a_maximum_length_and_are_not_printed() {
        let long = |length| "x".repeat(length);
        let checked = caldav("caldav.example.com", &long(USERNAME_MAX), &long(PASSWORD_MAX)).unwrap();
        assert!(!format!("{checked:?}").contains('x'));
        let wrong = caldav("caldav.example.com", &long(USERNAME_MAX + 1), &long(PASSWORD_MAX + 1)).unwrap_err();
        assert_eq!(wrong, ["username", "password"]);
        assert_eq!(caldav(&long(SERVER_URL_MAX + 1), "ada", "secret").unwrap_err(), ["url"]);
        let request =
            ConnectCaldav { url: "u".into(), username: "n".into(), password: "hunter2".into(), link_id: None };
        assert!(!format!("{request:?}").contains("hunter2"));
        let error = serde_json::from_str::<ConnectCaldav>(r#"{"url":"u","username":"n","password":4711}"#).unwrap_err();
        assert!(!error.to_string().contains("4711"), "{error}");
    }

    fn drawn(calendars: &serde_json::Value) -> Result<Vec<domain::DrawnCalendar>, String> {
        let request = serde_json::json!({ "calendars": calendars });
        let request: ReplaceDrawing = serde_json::from_value(request).unwrap();
        request.parse().map_err(|errors| errors.first().param)
    }

    #[test]
    fn drawn_times_are_sorted_and_merged() {
        let time = |from: u32, until: u32| {
            let at = |hour: u32| format!("2026-03-09T{hour:02}:00:00Z");
            serde_json::json!({ "start_time": at(from), "end_time": at(until) })
        };
        let busy = serde_json::json!([time(14, 15), time(9, 11), time(10, 12), time(12, 13)]);
        let calendars = drawn(&serde_json::json!([{ "name": "Work", "busy": busy }])).unwrap();
        let shown = DrawnCalendars::from(&Drawing { calendars });
        let expected = serde_json::json!([{ "name": "Work", "busy": [time(9, 13), time(14, 15)] }]);
        assert_eq!(serde_json::to_value(shown).unwrap()["calendars"], expected);
    }

    #[test]
    fn drawings_are_checked() {
        let time = serde_json::json!({ "start_time": "2026-03-09T10:00:00Z", "end_time": "2026-03-09T11:00:00Z" });
        let backwards = serde_json::json!({ "start_time": "2026-03-09T10:00:00Z", "end_time": "2026-03-09T10:00:00Z" });
        let calendar = |name: &str, busy: Vec<serde_json::Value>| serde_json::json!({ "name": name, "busy": busy });
        let cases = [
            (vec![], "calendars"),
            (vec![calendar("a", vec![]), calendar("b", vec![]), calendar("c", vec![])], "calendars"),
            (vec![calendar("a", vec![]), calendar("a", vec![])], "calendars[1].name"),
            (vec![calendar("a", vec![time.clone(), backwards])], "calendars[0].busy[1].end_time"),
            (vec![calendar("a", vec![time.clone(); DRAWN_MAX + 1])], "calendars[0].busy"),
        ];
        for (calendars, wrong) in cases {
            assert_eq!(drawn(&calendars.into()).unwrap_err(), wrong);
        }
        assert!(drawn(&vec![calendar("a", vec![time; DRAWN_MAX])].into()).is_ok());
    }

    #[rstest]
    #[case("{}", Err("body"))]
    #[case(r#"{"label":null}"#, Ok(None))]
    #[case(r#"{"label":"Work"}"#, Ok(Some("Work")))]
    #[case(r#"{"label":""}"#, Err("label"))]
    fn a_label_is_required_and_checked(#[case] json: &str, #[case] expected: Result<Option<&str>, &str>) {
        let parsed = serde_json::from_str::<UpdateConnection>(json).unwrap().parse();
        let parsed = parsed.map_err(|errors| errors.first().param);
        assert_eq!(parsed, expected.map(|label| label.map(str::to_owned)).map_err(str::to_owned));
    }
}
