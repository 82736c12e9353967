//! Why a calendar is not free at a time.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal};
use kalends_calendars::Calendar;
use kalends_kernel::{FieldErrors, Listed};
use kalends_time::{Span, Zone};
use kalends_web::{
    Answer, EventGiven, ExplainPage, NO_PROBLEMS, Obstacle, Place, Problems, SHOWN_CALENDARS, WhyNot, date_in_range,
    read_clock,
};
use kalends_wire::{self as wire, ExplainQuery, ReasonKind};

use super::{
    super::{
        frame::shell,
        shown::{page, shown_again},
    },
    asked::{calendars, chosen, date, identifiers_in, named, parameters, to_calendar, zone},
    event::TO_CALENDAR,
    given::instant,
    refused::problems_of,
    write::{Options, suggested},
};
use crate::{Service, error::ApiError, extract::Caller, pages::Fields};

/// `GET /console/calendar/explain`
pub(super) async fn explain(app: Service, caller: Caller, query: RawQuery) -> Result<Response, ApiError> {
    let (caller, asked) = (&caller.0, parameters(query));
    let listed = calendars(&app, caller).await?;
    let zone = zone(&asked, &chosen(&named(&asked, &listed.data), &listed.data));
    let shown = Shown { app: &app, caller, asked: &asked, listed: &listed, zone };
    if asked.get("start_time").is_empty() && asked.get("end_time").is_empty() {
        return Ok(page(StatusCode::OK, shown.render(&NO_PROBLEMS, None)?));
    }
    match answer(&app, caller, &asked, zone).await {
        Ok(answer) => Ok(page(StatusCode::OK, shown.render(&NO_PROBLEMS, Some(&answer))?)),
        Err(refusal) => {
            let (problems, error) = problems_of(refusal, zone, &EventGiven::default())?;
            shown_again(error, shown.render(&problems, None), TO_CALENDAR)
        }
    }
}

/// What the page shows, whatever the answer.
struct Shown<'a> {
    app: &'a App,
    caller: &'a Actor,
    asked: &'a Fields,
    listed: &'a Listed<Calendar>,
    zone: Zone,
}

impl Shown<'_> {
    fn render(&self, problems: &Problems, answer: Option<&Answer>) -> Result<String, Refusal> {
        let Self { app, caller, asked, listed, zone } = *self;
        let [start, end] = suggested(asked, zone, app.now());
        let typed = |name: &str, suggested: String| match asked.get(name) {
            "" => suggested,
            typed => typed.to_owned(),
        };
        let (start, end) = (typed("start_time", start), typed("end_time", end));
        let given = EventGiven { calendar: asked.get("cal"), start: &start, end: &end, ..EventGiven::default() };
        let (shell, options) = (shell(caller, Place::Calendar)?, Options::of(listed));
        let day = read_clock(&start).map(|start| start.date).and_then(date_in_range);
        let day = day.unwrap_or_else(|| date(asked, zone, app.now()));
        let shown = identifiers_in(asked, SHOWN_CALENDARS);
        let page = ExplainPage {
            shell: &shell,
            calendars: &options.choices(),
            zone,
            given,
            shown: &shown,
            back: &to_calendar(&shown, zone, day),
            problems,
            answer,
        };
        Ok(page.html())
    }
}

async fn answer(app: &App, caller: &Actor, asked: &Fields, zone: Zone) -> Result<Answer, Refusal> {
    // That there is no such calendar is said first: the times mean nothing without it.
    app.calendar(caller, asked.get("cal")).await?;
    let query = query(asked, zone)?;
    let span = query.time;
    let found = app.explain_availability(caller, query).await?;
    Ok(Answer {
        span,
        is_offered: found.offered,
        reasons: reasons(&found),
        has_more: found.has_more,
        warnings: found.warnings,
    })
}

fn query(asked: &Fields, zone: Zone) -> Result<ExplainQuery, FieldErrors> {
    let mut errors = FieldErrors::default();
    let start = errors.take(instant("start_time", asked.get("start_time"), zone));
    let end = errors.take(instant("end_time", asked.get("end_time"), zone));
    let (Some(start), Some(end)) = (start, end) else { return Err(errors) };
    let calendar = Some(asked.get("cal").to_owned());
    let (start, end) = (start.to_string(), end.to_string());
    let parsed = wire::ExplainAvailability { calendar, start, end, ..wire::ExplainAvailability::default() }.parse();
    // The API has other names for the fields.
    parsed.map_err(|found| {
        let mut errors = FieldErrors::default();
        for mut error in found.iter().cloned() {
            if ["start", "end"].contains(&error.param.as_str()) {
                error.param.push_str("_time");
            }
            errors.push(error);
        }
        errors
    })
}

/// The reasons of an answer, for a page.
pub(crate) fn reasons(found: &wire::Explanation) -> Vec<WhyNot> {
    let reason = |reason: &wire::Reason| {
        let span = Span::new(reason.start, reason.end).ok()?;
        Some(WhyNot { obstacle: obstacle(reason.reason), span })
    };
    found.reasons.iter().filter_map(reason).collect()
}

/// What keeps a time from being offered, for a page.
pub(crate) const fn obstacle(reason: ReasonKind) -> Obstacle {
    match reason {
        ReasonKind::Event => Obstacle::Event,
        ReasonKind::Hold => Obstacle::Hold,
        ReasonKind::ExternalEvent => Obstacle::Imported,
        ReasonKind::HumanBusy => Obstacle::Busy,
        ReasonKind::Reservation => Obstacle::Reserved,
        ReasonKind::Buffer => Obstacle::Buffer,
        ReasonKind::OutsideWorkingHours => Obstacle::ClosedHours,
        ReasonKind::Override => Obstacle::ClosedDate,
        ReasonKind::OutsideRange => Obstacle::OutOfRange,
    }
}
