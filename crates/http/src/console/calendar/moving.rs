//! The form that moves an event, or a whole series, to another calendar.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_web::{EventGiven, MoveEvent, NO_PROBLEMS, Place, Problems, SeriesPart};
use kalends_wire as wire;

use super::{
    super::{
        form::{OwnForm, new_once},
        frame::{needs, shell},
        shown::{page, refused, shown_again},
    },
    asked::{calendars, identifiers_with, parameters, to_event_among, zone},
    event::{TO_CALENDAR, find_changeable},
    given::typed,
    refused::problems_of,
    write::Options,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// What the page of an event that can be moved shows.
enum Asked {
    /// The form.
    Form(String),
    /// Only the whole series can be moved: the address of its form.
    OfSeries(String),
}

/// `GET /console/calendar/events/{id}/move`
pub(super) async fn ask(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    let given = EventGiven { conflicts: "allow", ..EventGiven::default() };
    match render(&app, &caller.0, &id.0, &parameters(query), given, &NO_PROBLEMS).await {
        Ok(Asked::Form(text)) => Ok(page(StatusCode::OK, text)),
        Ok(Asked::OfSeries(address)) => Ok(see_other(&address, None)),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    fields: &Fields,
    given: EventGiven<'_>,
    problems: &Problems,
) -> Result<Asked, Refusal> {
    needs(caller, &operations::MOVE_EVENT)?;
    let event = find_changeable(app, caller, id, fields).await?;
    if matches!(event.series, SeriesPart::Occurrence { .. }) {
        return Ok(Asked::OfSeries(event.move_href()));
    }
    let listed = calendars(app, caller).await?;
    let has_more = u64::try_from(listed.data.len()).unwrap_or(u64::MAX) < listed.total;
    let options = Options::of(&listed).besides(&event.calendar_id);
    let (shell, once) = (shell(caller, Place::Calendar)?, new_once(app.entropy()));
    let (version, choices) = (event.version.to_string(), options.choices());
    let form = MoveEvent {
        shell: &shell,
        once: &once,
        event: &event,
        version: &version,
        calendars: &choices,
        has_more,
        given,
        problems,
    };
    Ok(Asked::Form(form.html()))
}

/// `POST /console/calendar/events/{id}/move`
pub(super) async fn submit(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let (fields, if_match) = (form.fields.clone(), form.if_match());
    let given = typed(&fields);
    let to = wire::MoveEvent { calendar_id: given.calendar.to_owned(), if_free: given.conflicts == "refuse" };
    let outcome = form.once(&app, async |caller: &Actor| app.move_event(caller, &id.0, &to, &if_match).await).await;
    match outcome {
        Ok(_) => {
            // The calendar then shows the event where it is now.
            let calendars = identifiers_with(&fields, given.calendar);
            Ok(to_event_among(&id.0, &calendars, fields.get("tz").parse().ok(), "moved"))
        }
        Err(refusal) => {
            let (problems, error) = problems_of(refusal, zone(&fields, &[]), &given)?;
            match render(&app, &form.caller, &id.0, &fields, given, &problems).await {
                Ok(Asked::OfSeries(address)) => Ok(see_other(&address, None)),
                Ok(Asked::Form(text)) => shown_again(error, Ok(text), TO_CALENDAR),
                Err(refusal) => refused(refusal, TO_CALENDAR),
            }
        }
    }
}
