//! Choosing the calendars of an account that count, by a form.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal};
use kalends_web::{AudienceChoice, CalendarChoice, CalendarsChosen, ChooseCalendars};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    connect::after_link,
    connections::TO_LIST,
    form::{Earlier, OwnForm, earlier, new_once},
    shown::{account, for_page, page, reason, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
};

const NONE_CHOSEN: &str = "Please choose at least one calendar.";

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The connection link that asked for the calendars.
    #[serde(default)]
    link: String,
}

/// What asks for the calendars.
#[derive(Debug, Default)]
struct Asker {
    /// The identifier of the connection link; empty if there is none.
    link: String,
    /// The agent's identifier; empty if no agent asks, or it is unknown.
    agent: String,
    agent_name: String,
    /// Whether the calendar of the link is shared by the organization.
    is_shared: bool,
}

impl Asker {
    /// What asks by the link with that identifier. A link that is over asks for nothing any more.
    async fn of(app: &App, caller: &Actor, link: &str) -> Result<Self, Refusal> {
        if link.is_empty() {
            return Ok(Self::default());
        }
        match app.opened_link(caller, link).await {
            Ok(asked) => Ok(Self {
                link: asked.link.id.to_string(),
                is_shared: asked.agent_id.is_none(),
                agent: asked.agent_id.map(|agent| agent.to_string()).unwrap_or_default(),
                agent_name: asked.agent_name.unwrap_or_default(),
            }),
            Err(Refusal::NotFound { .. } | Refusal::Link(_)) => Ok(Self::default()),
            Err(refusal) => Err(refusal),
        }
    }

    /// The audiences to choose from. The first one is the usual one.
    const fn audiences(&self) -> &'static [&'static str] {
        if !self.agent.is_empty() {
            &["selected", "all_current", "all"]
        } else if self.is_shared {
            // The calendar does not belong to an agent, so only a grant to all agents counts there.
            &["all"]
        } else {
            &["all_current", "all"]
        }
    }
}

/// `GET /console/connections/{id}/calendars`
pub(super) async fn ask(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Response, ApiError> {
    let link = asked.map(|asked| asked.0.link).unwrap_or_default();
    let asker = Asker::of(&app, &caller.0, &link).await?;
    match render(&app, &caller.0, &id.0, &asker, None).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The page, with what was chosen in a form that had no effect, and the reason.
async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    asker: &Asker,
    sent: Option<(&Fields, &str)>,
) -> Result<String, Refusal> {
    let connection = app.connection(caller, id).await?;
    let known = app.external_calendars(caller, id).await?.data;
    let choice = |calendar: wire::ExternalCalendar| {
        let id = calendar.id.to_string();
        let is_chosen = sent.map_or(calendar.primary, |(fields, _)| fields.all("calendar").any(|chosen| chosen == id));
        CalendarChoice { id, name: calendar.name, is_chosen }
    };
    let calendars: Vec<_> = known.into_iter().map(choice).collect();
    let offered = asker.audiences();
    let chosen = sent.map_or("", |(fields, _)| fields.get("audience"));
    // A choice that is no longer offered becomes none, and never a wider one.
    let chosen = match sent {
        Some(_) => offered.iter().position(|name| *name == chosen),
        None => Some(0),
    };
    let audiences: Vec<_> = offered
        .iter()
        .copied()
        .enumerate()
        .map(|(index, name)| AudienceChoice { name, is_chosen: Some(index) == chosen })
        .collect();
    let (org, id) = (caller.org().to_string(), connection.id.to_string());
    let shown = ChooseCalendars {
        org: &org,
        once: &new_once(app.entropy()),
        connection: &id,
        account: &account(&connection),
        calendars: &calendars,
        audiences: &audiences,
        link: &asker.link,
        agent: &asker.agent,
        agent_name: &asker.agent_name,
        problem: sent.map(|(_, problem)| problem),
    };
    Ok(shown.html())
}

/// `POST /console/connections/{id}/calendars`
pub(super) async fn save(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let (audience, link) = (form.fields.get("audience").to_owned(), form.fields.get("link").to_owned());
    let body = wire::CreateGrant {
        external_calendar_ids: form.fields.all("calendar").map(str::to_owned).collect(),
        agent_ids: (audience == "selected").then(|| vec![form.fields.get("agent").to_owned()]),
        audience,
        connection_link_id: Some(link.clone()).filter(|link| !link.is_empty()),
    };
    let has_chosen = !body.external_calendar_ids.is_empty();
    let wanted = match body.parse() {
        Ok(wanted) => wanted,
        Err(errors) => {
            return again(&app, &id.0, &form, errors.into(), Some(NONE_CHOSEN).filter(|_| !has_chosen)).await;
        }
    };
    if let Err(refusal) = app.connection(&form.caller, &id.0).await {
        return refused(refusal, TO_LIST);
    }
    let _running = match form.begin(&app).await {
        Ok(Earlier::Answered(_)) => return done(&app, &form).await,
        Ok(Earlier::Nothing(running)) => running,
        Err(refusal) => return again(&app, &id.0, &form, refusal, None).await,
    };
    match app.create_grant(&form.caller, wanted).await {
        Ok(_) => done(&app, &form).await,
        Err(_) if earlier(&app, &form.caller.request).await?.is_some() => done(&app, &form).await,
        Err(refusal) => again(&app, &id.0, &form, refusal, None).await,
    }
}

/// The page after the choice is stored.
async fn done(app: &App, form: &OwnForm) -> Result<Response, ApiError> {
    after_link(app, form, page(StatusCode::OK, CalendarsChosen.html())).await
}

/// The form again, which says why it had no effect: `problem`, or the reason in the refusal.
async fn again(
    app: &App,
    id: &str,
    form: &OwnForm,
    refusal: Refusal,
    problem: Option<&str>,
) -> Result<Response, ApiError> {
    let problem = problem.map_or_else(|| reason(&refusal), str::to_owned);
    let error = for_page(refusal)?;
    let asker = Asker::of(app, &form.caller, form.fields.get("link")).await?;
    shown_again(error, render(app, &form.caller, id, &asker, Some((&form.fields, &problem))).await, TO_LIST)
}
