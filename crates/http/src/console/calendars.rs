//! Choosing the calendars of an account that count, by a form.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use kalends_app::{Actor, App, IfMatch, Refusal, operations};
use kalends_web::{
    AudienceChoice, CalendarChoice, CalendarsChosen, Choice, ChooseCalendars, CopyOffer, DESTINATION_FIELDS,
    DestinationGiven, NO_PROBLEMS, Problems,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    connect::after_link,
    connections::TO_LIST,
    destinations::{chosen, of_target},
    form::{Earlier, OwnForm, caller_of, earlier, new_once},
    shown::{account, for_page, page, problems, reason, refused, shown_again, takes_copies},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
};

/// The value of the field with which a user allows copies.
const COPY: &str = "yes";
const NONE_CHOSEN: &str = "Please choose at least one calendar.";
/// What is said above the form if its part about copies is wrong.
const COPIES_WRONG: &str = "Events cannot be copied like this. See below.";

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
    /// What the link asks to copy; `None` if it asks for busy times only.
    copies: Option<AskedCopies>,
}

/// The events that a link asks to copy.
#[derive(Debug)]
struct AskedCopies {
    /// The name of their calendar.
    calendar_name: String,
    /// Which events, as the API names the policy.
    policy: String,
}

/// A form that had no effect, and why.
#[derive(Clone, Copy)]
struct Sent<'a> {
    fields: &'a Fields,
    problem: &'a str,
    /// What is wrong with its part about copies.
    copies: &'a Problems,
}

impl Asker {
    /// What asks by the link with that identifier. A link that is over asks for nothing any more.
    async fn of(app: &App, caller: &Actor, link: &str) -> Result<Self, Refusal> {
        if link.is_empty() {
            return Ok(Self::default());
        }
        match app.opened_link(caller, link).await {
            Ok(asked) => Ok(Self {
                copies: asked.link.capabilities.iter().any(|name| name == "publishing").then(|| AskedCopies {
                    calendar_name: asked.calendar_name.unwrap_or_default(),
                    policy: asked.link.publication_policy.into_owned(),
                }),
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
async fn render(app: &App, caller: &Actor, id: &str, asker: &Asker, sent: Option<Sent<'_>>) -> Result<String, Refusal> {
    let connection = app.connection(caller, id).await?;
    let known = app.external_calendars(caller, id).await?.data;
    let titles: Vec<_> = known.iter().map(|calendar| (calendar.id.to_string(), calendar.name.clone())).collect();
    let targets: Vec<_> = titles.iter().map(|(value, title)| Choice { value, title }).collect();
    let primary = known.iter().position(|calendar| calendar.primary).and_then(|index| targets.get(index));
    let copies = asker.copies.as_ref().filter(|_| takes_copies(connection.provider)).map(|asked| CopyOffer {
        calendar: &asked.calendar_name,
        targets: if connection.publishing { &targets } else { &[] },
        is_chosen: sent.is_some_and(|sent| sent.fields.get("copies") == COPY),
        given: DestinationGiven {
            target: sent.map_or(primary.map_or("", |choice| choice.value), |sent| sent.fields.get("target")),
            policy: sent.map_or(asked.policy.as_str(), |sent| sent.fields.get("policy")),
        },
        problems: sent.map_or(&NO_PROBLEMS, |sent| sent.copies),
    });
    let choice = |calendar: wire::ExternalCalendar| {
        let id = calendar.id.to_string();
        let is_chosen = sent.map_or(calendar.primary, |sent| sent.fields.all("calendar").any(|chosen| chosen == id));
        CalendarChoice { id, name: calendar.name, is_chosen }
    };
    let calendars: Vec<_> = known.into_iter().map(choice).collect();
    let offered = asker.audiences();
    let audience = sent.map_or("", |sent| sent.fields.get("audience"));
    // A choice that is no longer offered becomes none, and never a wider one.
    let preselected = match sent {
        Some(_) => offered.iter().position(|name| *name == audience),
        None => Some(0),
    };
    let audiences: Vec<_> = offered
        .iter()
        .copied()
        .enumerate()
        .map(|(index, name)| AudienceChoice { name, is_chosen: Some(index) == preselected })
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
        copies,
        problem: sent.map(|sent| sent.problem),
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
    // Before the grant, which completes the link: a form without effect can be sent again. To copy to the same calendar
    // twice has one effect.
    if form.fields.get("copies") == COPY
        && let Err(refusal) = copy(&app, &form).await
    {
        return copies_again(&app, &id.0, &form, refusal).await;
    }
    match app.create_grant(&form.caller, wanted).await {
        Ok(_) => done(&app, &form).await,
        Err(_) if earlier(&app, &form.caller.request).await?.is_some() => done(&app, &form).await,
        Err(refusal) => again(&app, &id.0, &form, refusal, None).await,
    }
}

/// Copies the events of the link's calendar, as the form says.
async fn copy(app: &App, form: &OwnForm) -> Result<(), Refusal> {
    let asked = app.opened_link(&form.caller, form.fields.get("link")).await?;
    let caller = caller_of(&operations::PUT_DESTINATION, &form.caller)?;
    let calendar = asked.link.calendar_id.to_string();
    app.put_destination(&caller, &calendar, chosen(form).parse()?, &IfMatch::Any).await.map(drop)
}

/// The form again, if its part about copies is wrong.
async fn copies_again(app: &App, id: &str, form: &OwnForm, refusal: Refusal) -> Result<Response, ApiError> {
    let of_target = of_target(&refusal);
    let (found, error) = problems(refusal, &DESTINATION_FIELDS)?;
    let found = of_target.unwrap_or(found);
    let problem = found.above().unwrap_or(COPIES_WRONG).to_owned();
    let asker = Asker::of(app, &form.caller, form.fields.get("link")).await?;
    let sent = Sent { fields: &form.fields, problem: &problem, copies: &found };
    shown_again(error, render(app, &form.caller, id, &asker, Some(sent)).await, TO_LIST)
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
    let sent = Sent { fields: &form.fields, problem: &problem, copies: &NO_PROBLEMS };
    shown_again(error, render(app, &form.caller, id, &asker, Some(sent)).await, TO_LIST)
}
