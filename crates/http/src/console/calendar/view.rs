//! The page of the calendar.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::operations;
use kalends_web::{CalendarInView, CalendarPage, Done, Place};

use super::{
    super::{frame::shell, shown::page},
    asked::{calendars, chosen, named, parameters, viewed, zone},
    reading::read,
};
use crate::{Service, error::ApiError, extract::Caller};

/// `GET /console/calendar`
pub(super) async fn show(app: Service, caller: Caller, query: RawQuery) -> Result<Response, ApiError> {
    let (caller, asked) = (&caller.0, parameters(query));
    let shell = shell(caller, Place::Calendar)?;
    let listed = calendars(&app, caller).await?;
    let named = named(&asked, &listed.data);
    let chosen = chosen(&named, &listed.data);
    let now = app.now();
    let viewed = viewed(&asked, &named, zone(&asked, &chosen), now);
    let found = read(&app, caller, &viewed, &chosen).await?;
    let to_choose: Vec<CalendarInView> = listed
        .data
        .iter()
        .map(|calendar| CalendarInView {
            id: calendar.id.to_string(),
            name: calendar.name.clone(),
            is_chosen: chosen.iter().any(|chosen| chosen.id == calendar.id),
        })
        .collect();
    let shown = CalendarPage {
        shell: &shell,
        done: Done::named(asked.get("done")),
        may_create: caller.may(&operations::CREATE_EVENT),
        may_change: caller.may(&operations::UPDATE_EVENT),
        viewed: &viewed,
        calendars: &to_choose,
        has_more_calendars: u64::try_from(to_choose.len()).unwrap_or(u64::MAX) < listed.total,
        events: &found.events,
        is_cut: found.is_cut,
        overfull: &found.overfull,
        is_out_of_date: found.is_out_of_date,
        now,
    };
    Ok(page(StatusCode::OK, shown.html()))
}
