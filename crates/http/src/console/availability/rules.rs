//! The rules of a calendar, and the forms that change them.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, Answered, App, Refusal, operations};
use kalends_calendars::NewRules;
use kalends_kernel::{FieldErrors, Page};
use kalends_time::{CivilDate, Zone};
use kalends_web::{
    DATE_FIELDS, DATES_SHOWN, DateGiven, NO_PROBLEMS, Paging, Place, Problems, RULES_FIELDS, RulesPage, RulesShown,
};
use kalends_wire as wire;

use super::{
    super::{
        form::{Again, OwnForm, new_once},
        frame::{Asked, AskedOf, shell},
        places::{AVAILABILITY, segment},
        shown::{for_page, page, refused, shown_again},
    },
    given::{Current, each, typed_date, wanted, with_date},
    list::TO_LIST,
    stored::{body, condition, rules_of, shown, version},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// Why a form about rules that have changed since had no effect.
const CHANGED: &str = "The rules have changed since you opened this page. Their current state is shown above. The \
                       fields that you changed keep what you typed. Send the form again to apply your changes.";
/// Likewise, why a date was not removed.
const CHANGED_SINCE: &str = "The rules have changed since you opened this page. Their current state is shown here.";

/// A form that had no effect.
enum Wrong<'a> {
    /// That of the buffers and the working hours.
    Rules(Again<'a>),
    /// That of a date.
    Date(Again<'a>),
    /// One without fields to type into.
    Other(Problems),
}

/// `GET /console/availability/{id}`
pub(super) async fn show(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    asked: AskedOf<Asked>,
) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, &Asked::of(asked), None).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The page of the rules, with what was typed in a form that had no effect, and the reason.
async fn render(
    app: &App,
    caller: &Actor,
    id: &str,
    asked: &Asked,
    wrong: Option<&Wrong<'_>>,
) -> Result<String, Refusal> {
    let calendar = app.calendar(caller, id).await?;
    let rules = rules_of(app, caller, id).await?;
    let current = version(rules.as_ref());
    let rules = rules.map(shown);
    let zone = rules.as_ref().map_or(calendar.zone, |rules| rules.zone);
    let texts = Current::of(rules.as_ref(), zone);
    let now = texts.given();
    let (given, was) = match wrong {
        Some(Wrong::Rules(again)) => {
            let was = each(now, |name, now| again.text_before(name, now));
            (each(now, |name, now| again.text(name, now)), was)
        }
        _ => (now, now),
    };
    let date = match wrong {
        Some(Wrong::Date(again)) => DateGiven { date: again.text("date", ""), hours: again.text("hours", "") },
        _ => DateGiven::default(),
    };
    let (of_rules, of_date, problems) = match wrong {
        None => (None, None, &NO_PROBLEMS),
        Some(Wrong::Rules(again)) => (Some(again), None, &again.problems),
        Some(Wrong::Date(again)) => (None, Some(again), &again.problems),
        Some(Wrong::Other(problems)) => (None, None, problems),
    };
    let total = rules.as_ref().map_or(0, |rules| rules.dates.len());
    let paging = Paging {
        path: format!("{AVAILABILITY}/{}", calendar.id),
        filter: Vec::new(),
        page: Page { limit: DATES_SHOWN, ..asked.page() },
        total: u64::try_from(total).unwrap_or(u64::MAX),
    };
    let shown = RulesPage {
        shell: &shell(caller, Place::Availability)?,
        done: asked.done(),
        may_change: caller.may(&operations::PUT_RULES),
        calendar: &calendar.id.to_string(),
        name: &calendar.name,
        rules: rules.as_ref(),
        zone,
        now: app.now(),
        once: &new_once(app.entropy()),
        version: of_rules.map_or(&*current, |again| again.version_text(&current)),
        date_once: &new_once(app.entropy()),
        date_version: of_date.map_or(&*current, |again| again.version_text(&current)),
        current: &current,
        given,
        was,
        date,
        problems,
        paging: &paging,
    };
    Ok(shown.html())
}

async fn again(app: &App, caller: &Actor, id: &str, error: ApiError, wrong: &Wrong<'_>) -> Result<Response, ApiError> {
    shown_again(error, render(app, caller, id, &Asked::default(), Some(wrong)).await, TO_LIST)
}

pub(super) fn after(id: &str, done: &str) -> Response {
    see_other(&format!("{AVAILABILITY}/{}?done={done}", segment(id)), None)
}

/// Somebody reloads the address of a form about rules.
pub(super) async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{AVAILABILITY}/{}", segment(&id.0)), None)
}

/// `POST /console/availability/{id}`
pub(super) async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let (fields, seen) = (form.fields.clone(), form.version().to_owned());
    let new = |now: Option<RulesShown>, zone| wanted(now.as_ref(), zone, &fields);
    match form.once(&app, async |caller: &Actor| save(&app, caller, &id.0, &seen, new).await).await {
        Ok(_) => Ok(after(&id.0, "saved")),
        Err(refusal) => {
            let (wrong, error) = Again::of(&form, refusal, &RULES_FIELDS, CHANGED)?;
            again(&app, &form.caller, &id.0, error, &Wrong::Rules(wrong)).await
        }
    }
}

/// Saves the rules that a form makes of the current ones and the zone of the calendar.
async fn save(
    app: &App,
    caller: &Actor,
    id: &str,
    seen: &str,
    new: impl Fn(Option<RulesShown>, Zone) -> Result<NewRules, FieldErrors>,
) -> Result<Answered<wire::AvailabilityRules>, Refusal> {
    let calendar = app.calendar(caller, id).await?;
    let rules = rules_of(app, caller, id).await?;
    let condition = condition(seen, rules.as_ref())?;
    let new = new(rules.map(shown), calendar.zone)?;
    app.put_availability_rules(caller, id, new, &condition).await
}

/// `POST /console/availability/{id}/dates`
pub(super) async fn set_date(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let (fields, seen) = (form.fields.clone(), form.version().to_owned());
    let new = |now, zone| with_date(now, zone, typed_date(&fields));
    match form.once(&app, async |caller: &Actor| save(&app, caller, &id.0, &seen, new).await).await {
        Ok(_) => Ok(after(&id.0, "saved")),
        Err(refusal) => {
            let (wrong, error) = Again::of(&form, refusal, &DATE_FIELDS, CHANGED)?;
            again(&app, &form.caller, &id.0, error, &Wrong::Date(wrong)).await
        }
    }
}

/// `POST /console/availability/{id}/dates/remove`
pub(super) async fn remove_date(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match take_date(&app, &form, &id.0).await {
        Ok(true) => Ok(after(&id.0, "removed")),
        Ok(false) => Ok(after(&id.0, "gone")),
        Err(refusal @ Refusal::Stale { .. }) => {
            let wrong = Wrong::Other(Problems::general(CHANGED_SINCE.to_owned()));
            again(&app, &form.caller, &id.0, for_page(refusal)?, &wrong).await
        }
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// Gives a date the hours of its weekday again. Returns whether it had others: the same form may have removed them.
async fn take_date(app: &App, form: &OwnForm, id: &str) -> Result<bool, Refusal> {
    let Some(rules) = rules_of(app, &form.caller, id).await? else { return Ok(false) };
    let condition = condition(form.version(), Some(&rules));
    let mut rules = shown(rules);
    let date: Option<CivilDate> = form.fields.get("date").parse().ok();
    let before = rules.dates.len();
    rules.dates.retain(|shown| Some(shown.date) != date);
    if rules.dates.len() == before {
        return Ok(false);
    }
    app.put_availability_rules(&form.caller, id, body(&rules).parse()?, &condition?).await?;
    Ok(true)
}
