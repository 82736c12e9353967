//! The busy times of example calendars, which their user draws.

use std::sync::Arc;

use axum::{Router, extract::RawQuery, response::Response, routing::get};
use kalends_app::{Actor, App, Refusal, operations};
use kalends_calendars::ports::CalendarFilter;
use kalends_kernel::{FieldError, Page};
use kalends_time::{CivilDate, Span, Zone};
use kalends_web::{Choice, Done, DrawingPage, DrawnWeek, NO_PROBLEMS, Place, Problems, date_in_range};
use kalends_wire as wire;
use url::form_urlencoded;

use super::{
    connections::TO_LIST,
    form::OwnForm,
    frame::shell,
    places::{CONNECTIONS, DRAWING, Form, segment},
    shown::{account, page_or_refused, problems, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] =
    &[("GET", DRAWING, &operations::GET_DRAWING), ("POST", DRAWING, &operations::REPLACE_DRAWING)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(DRAWING, get(show).post(draw))
}

/// The calendar whose zone is used if the address names none: the oldest one.
const OLDEST: Page = Page { limit: 1, offset: 0 };

/// `GET /console/connections/{id}/drawing`. What the address says about the week, the calendar and the zone is ignored
/// if it cannot be read.
async fn show(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let asked = Fields::read(query.unwrap_or_default().as_bytes());
    page_or_refused(render(&app, &caller.0, &id.0, &asked, None).await, TO_LIST)
}

/// The zone that the address names, or that of the oldest calendar.
async fn zone(app: &App, caller: &Actor, asked: &Fields) -> Result<Zone, Refusal> {
    if let Ok(named) = asked.get("tz").parse() {
        return Ok(named);
    }
    let oldest = app.list_calendars(caller, CalendarFilter::All, OLDEST).await?.data;
    Ok(oldest.first().map_or(Zone::UTC, |calendar| calendar.zone))
}

/// The week that the address or the form names.
fn week(asked: &Fields, zone: Zone) -> Option<DrawnWeek> {
    let date: CivilDate = asked.get("week").parse().ok()?;
    date_in_range(date).map(|date| DrawnWeek::of(date, zone))
}

/// The busy times of a calendar.
fn spans(calendar: &wire::DrawnCalendar) -> Vec<Span> {
    calendar.busy.iter().filter_map(|time| Span::new(time.start_time, time.end_time).ok()).collect()
}

/// The page, with the hours of a form that had no effect, and the reason.
async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    asked: &Fields,
    refused: Option<&Problems>,
) -> Result<String, Refusal> {
    let connection = app.connection(caller, id).await?;
    let drawing = app.drawing(caller, id).await?;
    let zone = zone(app, caller, asked).await?;
    let now = app.now();
    let week = week(asked, zone).unwrap_or_else(|| DrawnWeek::of(zone.to_civil(now).date, zone));
    let named = drawing.calendars.iter().find(|calendar| calendar.name == asked.get("calendar"));
    let shown = named.or_else(|| drawing.calendars.first());
    let busy = shown.map(spans).unwrap_or_default();
    let hours = week.busy_hours(&busy);
    let sent = |name: &str| -> Vec<String> { asked.all(name).map(str::to_owned).collect() };
    let (checked, was) = if refused.is_some() { (sent("busy"), sent("was_busy")) } else { (hours.clone(), hours) };
    let calendars: Vec<_> =
        drawing.calendars.iter().map(|calendar| Choice { value: &calendar.name, title: &calendar.name }).collect();
    let page = DrawingPage {
        shell: &shell(caller, Place::Connections)?,
        done: Done::named(if refused.is_some() { "" } else { asked.get("done") }),
        connection: &connection.id.to_string(),
        account: &account(&connection),
        calendars: &calendars,
        calendar: shown.map_or("", |calendar| &calendar.name),
        week,
        busy: &busy,
        checked: &checked,
        was: &was,
        now,
        problems: refused.unwrap_or(&NO_PROBLEMS),
    };
    Ok(page.html())
}

/// `POST /console/connections/{id}/drawing`
async fn draw(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match save(&app, &form, &id.0).await {
        Ok(week) => Ok(see_other(&after(&id.0, &form.fields, week), None)),
        Err(refusal) => {
            let (found, error) = problems(refusal, &[])?;
            shown_again(error, render(&app, &form.caller, &id.0, &form.fields, Some(&found)).await, TO_LIST)
        }
    }
}

/// Saves the hours that were changed. To send the form twice has one effect.
async fn save(app: &App, form: &OwnForm, id: &str) -> Result<DrawnWeek, Refusal> {
    let zone = form.fields.get("tz").parse::<Zone>().map_err(|_| FieldError::new("tz", "must be a time zone"))?;
    let outside = || FieldError::new("week", "must be a date from 1970 to 2099");
    let week = week(&form.fields, zone).ok_or_else(outside)?;
    let name = form.fields.get("calendar");
    let drawing = app.drawing(&form.caller, id).await?;
    let known = drawing.calendars.iter().find(|calendar| calendar.name == name);
    let busy = known.map(spans).unwrap_or_default();
    let sent = |name: &str| -> Vec<&str> { form.fields.all(name).collect() };
    let time =
        |span: Span| wire::ReplaceTime { start_time: span.start().to_string(), end_time: span.end().to_string() };
    let drawn = week.redrawn(&busy, &sent("was_busy"), &sent("busy")).into_iter().map(time).collect();
    let calendars = vec![wire::ReplaceCalendar { name: name.to_owned(), busy: drawn }];
    let drawn = wire::ReplaceDrawing { calendars }.parse()?;
    app.draw(&form.caller, id, &drawn).await?;
    Ok(week)
}

/// The page that was saved, which says so.
fn after(id: &str, fields: &Fields, week: DrawnWeek) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("done", "saved");
    query.append_pair("week", &week.monday().to_string());
    query.append_pair("calendar", fields.get("calendar"));
    query.append_pair("tz", week.zone().name());
    format!("{CONNECTIONS}/{}/drawing?{}", segment(id), query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_date_that_pages_show_names_a_week() {
        let named = |text: &str| {
            let fields = Fields::read(format!("week={text}").as_bytes());
            week(&fields, Zone::UTC).map(|week| week.monday().to_string())
        };
        assert_eq!(named("2026-12-02").as_deref(), Some("2026-11-30"));
        for wrong in ["", "2100-01-01", "1969-12-31", "today"] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_saved_week_is_shown_again() {
        let fields = Fields::read(b"calendar=Work+%26+more");
        let week = DrawnWeek::of("2026-12-02".parse().unwrap(), "Europe/Berlin".parse().unwrap());
        assert_eq!(
            after("con_x", &fields, week),
            "/console/connections/con_x/drawing?done=saved&week=2026-11-30&calendar=Work+%26+more&tz=Europe%2FBerlin"
        );
    }
}
