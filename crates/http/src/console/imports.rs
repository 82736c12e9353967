//! The forms that import a file into a calendar: what it would do, and then the import.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Router,
    body::HttpBody as _,
    extract::{FromRequest, Request},
    response::Response,
    routing::{get, post},
};
use bytes::Bytes;
use http::{StatusCode, header};
use kalends_app::{Actor, App, ImportPlan, PlannedEvent, PlannedKind, Refusal, operations};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{Span, Zone};
use kalends_web::{
    EventInView, IMPORT_FIELDS, IMPORT_MAX, ImportCheck, ImportForm, ImportShown, Imported, NO_PROBLEMS, Place,
    PlannedShown, Problems, RefusedShown, SyncShown, WhyNot, event_time, import_max,
};
use kalends_wire as wire;

use super::{
    calendar::obstacle,
    feeds::{TO_FEEDS, path_of, with_agent},
    form::{NotOwn, OwnForm, new_once, read},
    frame::{needs, shell},
    places::{CHECK_IMPORT, Form, IMPORT},
    shown::{page, problems, refused, shown_again},
    subscription_list::skipped_by_uid,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    incoming::read_on,
    limits::BODY_MAX,
    reply::see_other,
};

/// The pages and forms, each with its operation. The check is the operation that it prepares, so that nobody sends a
/// file that they may not import.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", IMPORT, &operations::GET_CALENDAR),
    ("POST", IMPORT, &operations::IMPORT_CALENDAR),
    ("POST", CHECK_IMPORT, &operations::IMPORT_CALENDAR),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(IMPORT, get(ask).post(import)).route(CHECK_IMPORT, post(check).get(back))
}

/// The name of the field with the file.
const FILE: &str = "file";
/// The name of the field with its text.
const TEXT: &str = "body";
/// The name of no field, for what is said above the form.
const ABOVE: &str = "";
/// The maximum length of a text, in bytes, with two for each line break. The form that imports it carries it too, with
/// the other fields and what separates them.
const SENT_MAX: usize = BODY_MAX - 4 * 1024;
/// How much of a form that is too long is read before the answer. A browser may not show an answer that arrives while it
/// still sends.
const DISCARD_MAX: usize = 8 << 20;
/// Why a text is refused whose lines are so short that the next form cannot carry it.
const TOO_MANY_LINES: &str = "The file or text has too many short lines for a form. Remove its empty lines, or import it \
                              with POST /v1/calendars/{cal_id}/import.";
/// What is said beside the file of a form that is shown again for another reason.
const CHOOSE_AGAIN: &str = "Choose the file again. A browser does not keep it.";
/// What remains of an import that ends early.
const PARTLY: &str = "If the file has more than 500 events, some of them may be imported already. Import the same file \
                      again to continue.";

/// A form with a file or its text, which may be too long.
struct Given(Result<OwnForm, TooLong>);

/// A form that is longer than a body may be. Nothing in it was read.
struct TooLong {
    caller: Actor,
    error: ApiError,
}

/// Why a file or a text is refused that does not fit into a form.
fn too_long() -> String {
    let max = import_max();
    format!(
        "The file or text is too long for a form, which carries {max}. Split it, or import it with POST \
         /v1/calendars/{{cal_id}}/import, which takes up to 10 MiB."
    )
}

impl<S: Sync> FromRequest<S> for Given {
    type Rejection = NotOwn;

    async fn from_request(request: Request, state: &S) -> Result<Self, NotOwn> {
        let caller = request.extensions().get::<Actor>().cloned().ok_or(ApiError::Internal)?;
        let max = u64::try_from(BODY_MAX).unwrap_or(u64::MAX);
        if request.body().size_hint().lower() > max && !request.headers().contains_key(header::EXPECT) {
            read_on(&mut request.into_body(), DISCARD_MAX).await;
            return Ok(Self(Err(TooLong { caller, error: ApiError::TooLarge(BODY_MAX) })));
        }
        match OwnForm::from_request(request, state).await {
            Ok(form) => Ok(Self(Ok(form))),
            Err(NotOwn::Unread(error @ ApiError::TooLarge(_))) => Ok(Self(Err(TooLong { caller, error }))),
            Err(refused) => Err(refused),
        }
    }
}

impl TooLong {
    /// The empty form, which says so above its fields: it is not known which of them is too long.
    async fn shown(self, app: &App, id: &str) -> Result<Response, ApiError> {
        let mut problems = Problems::default();
        problems.add(&IMPORT_FIELDS, ABOVE, &too_long());
        shown_again(self.error, render(app, &self.caller, id, "", &problems).await, TO_FEEDS)
    }
}

/// The text of the file that was chosen, or the one that was pasted.
///
/// # Errors
/// The field that is wrong, and why.
fn text_of<'a>(file: Option<&'a Bytes>, pasted: &'a str) -> Result<Cow<'a, str>, FieldError> {
    let (field, text) = match (file, pasted.trim()) {
        (None, "") => return Err(FieldError::new(FILE, "choose a file, or paste its text")),
        (None, _) => (TEXT, Cow::Borrowed(pasted)),
        (Some(file), "") => (FILE, Cow::Owned(decoded(file).map_err(|why| FieldError::new(FILE, why))?)),
        (Some(_), _) => return Err(FieldError::new(FILE, "choose a file or paste a text, not both")),
    };
    if text.len() > IMPORT_MAX {
        return Err(FieldError::new(field, too_long()));
    }
    let sent = text.len() + text.matches('\n').count();
    if sent > SENT_MAX { Err(FieldError::new(field, TOO_MANY_LINES)) } else { Ok(text) }
}

/// The text of the file, with line breaks as in a field of a form: the next form carries it.
fn decoded(file: &[u8]) -> Result<String, &'static str> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let text = std::str::from_utf8(file.strip_prefix(MARK).unwrap_or(file)).ok().filter(|text| !text.contains('\0'));
    match text {
        None => Err("the file is not text in UTF-8. Export it as an .ics file, or save it in UTF-8"),
        Some(text) if text.trim().is_empty() => Err("the file is empty"),
        Some(text) => Ok(text.replace("\r\n", "\n").replace('\r', "\n")),
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
    let shell = shell(caller, Place::Feeds)?;
    let (once, base_url) = (&new_once(app.entropy()), &app.settings().base_url);
    Ok(ImportForm { shell: &shell, calendar: &calendar, once, base_url, text, problems }.html())
}

/// `POST /console/feeds/calendars/{id}/import/check`. It writes nothing.
async fn check(app: Service, id: PathOf<String>, given: Given) -> Result<Response, ApiError> {
    let form = match given.0 {
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
    let caller = &form.caller;
    let text = text_of(form.file(FILE), form.fields.get(TEXT))?;
    let plan = app.plan_import(caller, id, Bytes::copy_from_slice(text.as_bytes())).await?;
    let ImportPlan { report, new_series, changed_series, deleted, dropped, charged, first, in_parts } = plan;
    let calendar = app.calendar(caller, id).await?;
    let first: Vec<_> = first.into_iter().map(|event| planned(event, calendar.zone)).collect();
    let found = with_agent(app, caller, &calendar).await?;
    let shown = ImportCheck {
        shell: &shell(caller, Place::Feeds)?,
        calendar: &found,
        once: &new_once(app.entropy()),
        text: &text,
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
async fn import(app: Service, id: PathOf<String>, given: Given) -> Result<Response, ApiError> {
    let mut form = match given.0 {
        Ok(form) => form,
        Err(too_long) => return too_long.shown(&app, &id.0).await,
    };
    let text = text_of(form.file(FILE), form.fields.get(TEXT)).map(Cow::into_owned);
    let file = match text {
        Ok(text) => Bytes::from(text),
        Err(wrong) => return again(&app, &form, &id.0, wrong.into(), true).await,
    };
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
    let shell = shell(caller, Place::Feeds)?;
    Ok(Imported { shell: &shell, calendar: &calendar, result: &shown(report, stored.zone) }.html())
}

/// The form with the text that was refused. `imports` is whether a part of it may be imported.
async fn again(app: &App, form: &OwnForm, id: &str, refusal: Refusal, imports: bool) -> Result<Response, ApiError> {
    let ends_early = imports && !matches!(refusal, Refusal::Invalid(_) | Refusal::NotFound { .. });
    let is_uploaded = form.file(FILE).is_some();
    let (mut found, error) = problems(if is_uploaded { of_file(refusal) } else { refusal }, &IMPORT_FIELDS)?;
    if ends_early {
        found.add(&IMPORT_FIELDS, ABOVE, PARTLY);
    }
    if is_uploaded {
        found.add(&IMPORT_FIELDS, FILE, CHOOSE_AGAIN);
    }
    let text = render(app, &form.caller, id, form.fields.get(TEXT), &found).await;
    shown_again(error, text, TO_FEEDS)
}

/// The refusal of a text that was in a file.
fn of_file(refusal: Refusal) -> Refusal {
    let Refusal::Invalid(errors) = refusal else { return refusal };
    let mut of_file = FieldErrors::default();
    for error in errors.iter() {
        let mut error = error.clone();
        if error.param == TEXT {
            FILE.clone_into(&mut error.param);
        }
        of_file.push(error);
    }
    Refusal::Invalid(of_file)
}

/// Somebody reloads the address of the check.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{}/import", path_of(&id.0)), None)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const MANY: usize = IMPORT_MAX / 2;

    #[rstest]
    #[case::pasted(None, "A:1\nB:2", "A:1\nB:2")]
    #[case::uploaded(Some(&b"A:1\r\nB:2"[..]), "", "A:1\nB:2")]
    #[case::beside_blanks(Some(&b"A:1"[..]), " \n", "A:1")]
    #[case::with_a_mark(Some(&b"\xef\xbb\xbfA:\xc3\xbc"[..]), "", "A:\u{fc}")]
    #[case::old_line_breaks(Some(&b"A:1\rB:2\n"[..]), "", "A:1\nB:2\n")]
    fn a_text_comes_from_a_file_or_is_pasted(
        #[case] file: Option<&'static [u8]>,
        #[case] pasted: &str,
        #[case] expected: &str,
    ) {
        let file = file.map(Bytes::from_static);
        assert_eq!(text_of(file.as_ref(), pasted).unwrap(), expected);
    }

    #[rstest]
    #[case::nothing(None, "", FILE, "choose a file")]
    #[case::blanks(None, " \n", FILE, "choose a file")]
    #[case::both(Some(b"A:1".to_vec()), "A:1", FILE, "not both")]
    #[case::empty(Some(Vec::new()), "", FILE, "the file is empty")]
    #[case::only_a_mark(Some(b"\xef\xbb\xbf\r\n".to_vec()), "", FILE, "the file is empty")]
    #[case::latin_1(Some(b"A:\xfc".to_vec()), "", FILE, "not text in UTF-8")]
    #[case::utf_16_with_a_mark(Some(b"\xff\xfeA\0:\0".to_vec()), "", FILE, "not text in UTF-8")]
    #[case::utf_16(Some(b"A\0:\0".to_vec()), "", FILE, "not text in UTF-8")]
    #[case::long_file(Some(vec![b'x'; IMPORT_MAX + 1]), "", FILE, "too long for a form")]
    #[case::many_short_lines(Some("x\n".repeat(MANY).into_bytes()), "", FILE, "too many short lines")]
    fn the_field_that_is_wrong_says_why(
        #[case] file: Option<Vec<u8>>,
        #[case] pasted: &str,
        #[case] field: &str,
        #[case] said: &str,
    ) {
        let file = file.map(Bytes::from);
        let wrong = text_of(file.as_ref(), pasted).unwrap_err();
        assert!(wrong.param == field && wrong.message.contains(said), "{wrong}");
    }

    #[test]
    fn the_longest_text_fits_into_the_next_form() {
        // Lines as short as those of a file may be, and a line break of one byte at the end of each.
        let longest = Bytes::from("BEGIN:A\n".repeat(IMPORT_MAX / 8));
        assert_eq!(text_of(Some(&longest), "").unwrap().len(), IMPORT_MAX);
        let longer = "x".repeat(IMPORT_MAX + 1);
        assert_eq!(text_of(None, &longer).unwrap_err().param, TEXT);
    }

    #[test]
    fn the_guide_says_how_much_a_form_carries() {
        let guide = include_str!("../../../../docs/use/console.md");
        assert!(guide.contains(&format!("A form carries {}", import_max())));
    }
}
