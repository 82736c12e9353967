//! The forms that connect an account without consent at a provider, or without a connection link.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use kalends_app::{Actor, App, Refusal, operations};
use kalends_kernel::{ConnectionId, ConnectionLinkId};
use kalends_web::{CALDAV_FIELDS, CaldavForm, CaldavGiven, CaldavPreset, NO_PROBLEMS, Problems, SignedIn};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    connect::over,
    connections::TO_LIST,
    form::{OwnForm, read},
    frame::AskedOf,
    places::{CALDAV, CONNECT_WITH, CONNECTIONS, EXAMPLE, Form},
    shown::{consent, page_or_refused, problems, provider_title, reason, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", CALDAV, &operations::LIST_CONNECTIONS),
    ("POST", CALDAV, &operations::CONNECT_CALDAV),
    ("POST", EXAMPLE, &operations::CONNECT_EXAMPLE),
    ("POST", CONNECT_WITH, &operations::START_CONNECTION),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(CALDAV, get(ask).post(connect))
        .route(EXAMPLE, post(connect_example).get(again))
        .route(CONNECT_WITH, post(start).get(again))
}

/// What the address of the form says, and the hidden fields of the form.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    /// The connection link that asks for the account.
    #[serde(default)]
    link: String,
    /// The name of the server for which the form gives help.
    #[serde(default)]
    preset: String,
    /// The connection that needs a password.
    #[serde(default)]
    connection: String,
}

impl Asked {
    /// The same without identifiers that cannot be any.
    fn checked(mut self) -> Self {
        if self.link.parse::<ConnectionLinkId>().is_err() {
            self.link.clear();
        }
        if self.connection.parse::<ConnectionId>().is_err() {
            self.connection.clear();
        }
        self
    }

    fn of_form(form: &OwnForm) -> Self {
        let field = |name| form.fields.get(name).to_owned();
        Self { link: field("link"), preset: field("preset"), connection: field("connection") }.checked()
    }
}

/// `GET /console/connections/caldav`
async fn ask(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = asked.map(|asked| asked.0).unwrap_or_default().checked();
    page_or_refused(begin(&app, &caller.0, &asked).await, TO_LIST)
}

/// The form with what is known before anything is typed.
async fn begin(app: &App, caller: &Actor, asked: &Asked) -> Result<String, Refusal> {
    let preset = CaldavPreset::named(&asked.preset);
    let (url, username) = if asked.connection.is_empty() {
        (preset.url().to_owned(), String::new())
    } else {
        app.entered_server(caller, &asked.connection).await?
    };
    render(app, caller, asked, CaldavGiven { url: &url, username: &username }, &NO_PROBLEMS).await
}

async fn render(
    app: &App,
    caller: &Actor,
    asked: &Asked,
    given: CaldavGiven<'_>,
    problems: &Problems,
) -> Result<String, Refusal> {
    let me = app.me(caller).await?;
    let org = me.org.id.to_string();
    let preset =
        if asked.connection.is_empty() { CaldavPreset::named(&asked.preset) } else { CaldavPreset::of(given.url) };
    let form = CaldavForm {
        who: SignedIn { org: &org, organization: &me.org.name, email: &me.user.email },
        link: &asked.link,
        connection: &asked.connection,
        preset,
        given,
        problems,
    };
    Ok(form.html())
}

/// The identifier of the link that a form names, if it names one.
fn link_of(form: &OwnForm) -> Option<String> {
    Some(form.fields.get("link").to_owned()).filter(|link| !link.is_empty())
}

/// The answer after an account was connected, as after a consent: the page on which its calendars are chosen.
fn to_calendars(connection: ConnectionId, link: Option<&str>) -> Response {
    let link = link.and_then(|link| link.parse::<ConnectionLinkId>().ok());
    let query = link.map_or_else(String::new, |link| format!("?link={link}"));
    see_other(&format!("{CONNECTIONS}/{connection}/calendars{query}"), None)
}

/// `POST /console/connections/caldav`. To send it twice has one effect: an account is connected once.
async fn connect(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let (url, username) = (form.fields.get("url").trim(), form.fields.get("username").trim());
    let body = wire::ConnectCaldav {
        url: url.to_owned(),
        username: username.to_owned(),
        // A password that is copied often has a space at its end, and app passwords have none there.
        password: form.fields.get("password").trim().to_owned(),
        link_id: link_of(&form),
    };
    let outcome = match body.parse(|host, port| app.may_reach(host, port)) {
        Ok((login, link)) => app.connect_caldav(&form.caller, login.into(), link.as_deref()).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(connected) => Ok(to_calendars(connected.resource.id, link_of(&form).as_deref())),
        Err(Refusal::Link(error)) => over(&app, &form.caller, error).await,
        Err(refusal) => {
            let (found, error) = of_server(refusal)?;
            let given = CaldavGiven { url, username };
            shown_again(error, render(&app, &form.caller, &Asked::of_form(&form), given, &found).await, TO_LIST)
        }
    }
}

/// What the form shows after it was refused, and the error. A server that does not answer is no failure of this one.
///
/// # Errors
/// As [`problems`].
fn of_server(refusal: Refusal) -> Result<(Problems, ApiError), ApiError> {
    if matches!(refusal, Refusal::CalendarServer) {
        let mut found = Problems::default();
        found.add(&CALDAV_FIELDS, "url", &reason(&refusal));
        return Ok((found, refusal.into()));
    }
    problems(refusal, &CALDAV_FIELDS)
}

/// A connection, as far as the answer of an earlier form is read.
#[derive(Deserialize)]
struct Connected {
    id: ConnectionId,
}

/// `POST /console/connections/example`
async fn connect_example(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let link = link_of(&form);
    let id = link.as_deref();
    let outcome = form.once(&app, async |caller: &Actor| app.connect_example(caller, id).await).await;
    match outcome {
        Ok(answer) => Ok(to_calendars(read::<Connected>(&answer)?.id, id)),
        Err(Refusal::Link(error)) => over(&app, &form.caller, error).await,
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// `POST /console/connections/new/{provider}`
async fn start(app: Service, provider: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match app.begin_connection(&form.caller, &provider.0, None, false).await {
        Ok(begun) => consent(&app, provider_title(&provider.0), begun),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// Somebody reloads the address of a form.
async fn again() -> Response {
    see_other(CONNECTIONS, None)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    #[test]
    fn identifiers_of_an_address_are_checked() {
        let (link, connection) = ("cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "con_01jn8r6v9ke0bt3m5qz2c7xwdh");
        let asked = |link: &str, connection: &str| {
            let preset = "icloud".to_owned();
            let asked = Asked { link: link.to_owned(), preset, connection: connection.to_owned() }.checked();
            (asked.link, asked.connection)
        };
        assert_eq!(asked(link, connection), (link.to_owned(), connection.to_owned()));
        assert_eq!(asked(connection, link), (String::new(), String::new()));
        assert_eq!(asked("//evil.example", "x"), (String::new(), String::new()));
    }

    #[test]
    fn a_server_that_does_not_answer_is_said_beside_its_address() {
        let (found, error) = of_server(Refusal::CalendarServer).unwrap();
        assert_eq!((found.above(), found.is_empty()), (None, false));
        assert_eq!(error.status(), StatusCode::BAD_GATEWAY);
    }
}
