//! The forms that import a file into a calendar: what it would do, and then the import.

use std::sync::Arc;

use axum::{
    Router,
    extract::{FromRequest, Request},
    response::Response,
    routing::{get, post},
};
use bytes::Bytes;
use http::StatusCode;
use kalends_app::{Actor, App, ImportPlan, PlannedEvent, PlannedKind, Refusal, operations};
use kalends_time::{Span, Zone};
use kalends_web::{
    EventInView, IMPORT_FIELDS, ImportCheck, ImportForm, ImportShown, Imported, NO_PROBLEMS, Place, PlannedShown,
    Problems, RefusedShown, SyncShown, WhyNot, event_time,
};
use kalends_wire as wire;

use super::{
    calendar::obstacle,
    feeds::{TO_FEEDS, path_of, with_agent},
    form::{NotOwn, OwnForm, new_once, read},
    frame::{needs, shell},
    places::{CHECK_IMPORT, Form, IMPORT, segment},
    shown::{page, problems, refused, shown_again},
    subscription_list::skipped_by_uid,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// The pages and forms, each with its operation. The check is the operation that it prepares, so that nobody pastes a
/// file that they may not import.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", IMPORT, &operations::GET_CALENDAR),
    ("POST", IMPORT, &operations::IMPORT_CALENDAR),
    ("POST", CHECK_IMPORT, &operations::IMPORT_CALENDAR),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(IMPORT, get(ask).post(import)).route(CHECK_IMPORT, post(check).get(back))
}

/// The name of the field with the text of the file.
const TEXT: &str = "body";
/// Why a text is refused that does not fit into a form.
const TOO_LONG: &str = "The text is too long for a form. Split the file, or import it with POST \
                        /v1/calendars/{cal_id}/import, which takes up to 10 MiB.";
/// What remains of an import that ends early.
const PARTLY: &str = "If the file has more than 500 events, some of them may be imported already. Import the same file \
                      again to continue.";

/// A form with the text of a file, which may be too long.
struct Pasted(Result<OwnForm, TooLong>);

/// A form that is longer than a body may be. Nothing in it was read.
struct TooLong {
    caller: Actor,
    error: ApiError,
}

impl<S: Sync> FromRequest<S> for Pasted {
    type Rejection = NotOwn;

    async fn from_request(request: Request, state: &S) -> Result<Self, NotOwn> {
        let caller = request.extensions().get::<Actor>().cloned().ok_or(ApiError::Internal)?;
        match OwnForm::from_request(request, state).await {
            Ok(form) => Ok(Self(Ok(form))),
            Err(NotOwn::Unread(error @ ApiError::TooLarge(_))) => Ok(Self(Err(TooLong { caller, error }))),
            Err(refused) => Err(refused),
        }
    }
}

impl TooLong {
    /// The empty form, which says so.
    async fn shown(self, app: &App, id: &str) -> Result<Response, ApiError> {
        let mut problems = Problems::default();
        problems.add(&IMPORT_FIELDS, TEXT, TOO_LONG);
        shown_again(self.error, render(app, &self.caller, id, "", &problems).await, TO_FEEDS)
    }
}

/// `GET /console/feeds/calendars/{id}/import`
async fn ask(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, "", &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_FEEDS),
    }
}

/// The form, with the text of a file that was refused, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, text: &str, problems: &Problems) -> Result<String, Refusal> {
    needs(caller, &operations::IMPORT_CALENDAR)?;
    let calendar = with_agent(app, caller, &app.calendar(caller, id).await?).await?;
    let shell = shell(app, caller, Place::Feeds).await?;
    let (once, base_url) = (&new_once(app.entropy()), &app.settings().base_url);
    Ok(ImportForm { shell: &shell, calendar: &calendar, once, base_url, text, problems }.html())
}

/// `POST /console/feeds/calendars/{id}/import/check`. It writes nothing.
async fn check(app: Service, id: PathOf<String>, pasted: Pasted) -> Result<Response, ApiError> {
    let form = match pasted.0 {
        Ok(form) => form,
        Err(too_long) => return too_long.shown(&app, &id.0).await,
    };
    match checked(&app, &form, &id.0).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => again(&app, &form, &id.0, refusal, false).await,
    }
}

/// What the import would do, with the form that does it.
async fn checked(app: &App, form: &OwnForm, id: &str) -> Result<String, Refusal> {
    let (caller, text) = (&form.caller, form.fields.get(TEXT));
    let plan = app.plan_import(caller, id, Bytes::copy_from_slice(text.as_bytes())).await?;
    let ImportPlan { report, new_series, changed_series, deleted, dropped, charged, first, in_parts } = plan;
    let calendar = app.calendar(caller, id).await?;
    let first: Vec<_> = first.into_iter().map(|event| planned(event, calendar.zone)).collect();
    let found = with_agent(app, caller, &calendar).await?;
    let shown = ImportCheck {
        shell: &shell(app, caller, Place::Feeds).await?,
        calendar: &found,
        once: &new_once(app.entropy()),
        text,
        result: &shown(report, calendar.zone),
        new_series,
        changed_series,
        deleted,
        dropped,
        charged,
        first: &first,
        numbers_can_differ: in_parts && found.refuses_conflicts,
    };
    Ok(shown.html())
}

/// An event as the import would write it, with its times in the zone of the calendar.
fn planned(event: PlannedEvent, zone: Zone) -> PlannedShown {
    let PlannedEvent { title, times, is_new, kind } = event;
    let dates = times.all_day.then(|| EventInView::whole_days(times.span, zone));
    let what = match (kind, is_new) {
        (PlannedKind::Once, true) => "Created",
        (PlannedKind::Once, false) => "Changed",
        (PlannedKind::Series, true) => "Created, a series",
        (PlannedKind::Series, false) => "Changed, a series",
        (PlannedKind::Occurrence, true) => "Created, an occurrence that differs from its series",
        (PlannedKind::Occurrence, false) => "Changed, an occurrence that differs from its series",
        (PlannedKind::Cancelled, _) => "Cancelled",
    };
    PlannedShown { title, when: event_time(times.span, dates, zone), what }
}

/// The report, with times in the zone of the calendar.
fn shown(report: wire::ImportReport, zone: Zone) -> ImportShown {
    let wire::ImportReport { created, updated, untouched, skipped, skipped_events, warnings, refused, refused_count } =
        report;
    let skipped_events = skipped_by_uid(skipped_events);
    let refused = refused.into_iter().map(|refused| {
        let met = refused.conflicts.first().and_then(met);
        RefusedShown { uid: refused.uid, start: refused.start_time, zone, met }
    });
    ImportShown {
        report: SyncShown { created, updated, deleted: 0, untouched, skipped, withheld: 0, skipped_events, warnings },
        refused_count: refused_count.unwrap_or_default(),
        refused: refused.collect(),
    }
}

/// What takes the time of a refused event.
fn met(conflict: &wire::Conflict) -> Option<WhyNot> {
    let span = Span::new(conflict.start, conflict.end).ok()?;
    Some(WhyNot { obstacle: obstacle(conflict.kind), span })
}

/// `POST /console/feeds/calendars/{id}/import`. A form that is sent twice imports once, and shows the same result.
async fn import(app: Service, id: PathOf<String>, pasted: Pasted) -> Result<Response, ApiError> {
    let mut form = match pasted.0 {
        Ok(form) => form,
        Err(too_long) => return too_long.shown(&app, &id.0).await,
    };
    let file = Bytes::copy_from_slice(form.fields.get(TEXT).as_bytes());
    let outcome = form.once(&app, async |caller: &Actor| app.import_calendar(caller, &id.0, file).await).await;
    let report = match outcome {
        Ok(answer) => read::<wire::ImportReport>(&answer)?,
        Err(refusal) => return again(&app, &form, &id.0, refusal, true).await,
    };
    match done(&app, &form.caller, &id.0, report).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_FEEDS),
    }
}

/// What the import did.
async fn done(app: &App, caller: &Actor, id: &str, report: wire::ImportReport) -> Result<String, Refusal> {
    let stored = app.calendar(caller, id).await?;
    let calendar = with_agent(app, caller, &stored).await?;
    let shell = shell(app, caller, Place::Feeds).await?;
    Ok(Imported { shell: &shell, calendar: &calendar, result: &shown(report, stored.zone) }.html())
}

/// The form with the text of a file that was refused. `imports` is whether a part of it may be imported.
async fn again(app: &App, form: &OwnForm, id: &str, refusal: Refusal, imports: bool) -> Result<Response, ApiError> {
    let ends_early = imports && !matches!(refusal, Refusal::Invalid(_) | Refusal::NotFound { .. });
    let (mut found, error) = problems(refusal, &IMPORT_FIELDS)?;
    if ends_early {
        found.add(&IMPORT_FIELDS, "file", PARTLY);
    }
    let text = render(app, &form.caller, id, form.fields.get(TEXT), &found).await;
    shown_again(error, text, TO_FEEDS)
}

/// Somebody reloads the address of the check.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{}/import", path_of(&segment(&id.0))), None)
}
