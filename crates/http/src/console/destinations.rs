//! The calendars of connected accounts to which events are copied, and the forms about them.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Router, response::Response, routing::get};
use kalends_app::{Actor, App, IfMatch, Missing, Refusal, operations};
use kalends_calendars::ports::CalendarFilter;
use kalends_kernel::{CalendarId, LIMIT_MAX, Page, Version};
use kalends_web::{
    Choice, Copies, DESTINATION_FIELDS, DestinationGiven, DestinationPage, DestinationShown, Done,
    NEW_DESTINATION_FIELDS, NO_PROBLEMS, NewDestination, Place, Problems, StopCopying,
};
use kalends_wire as wire;

use super::{
    connections::TO_LIST,
    form::{OwnForm, new_once},
    frame::{Asked, AskedOf, needs, shell},
    places::{COPIES, DESTINATION, Form, STOP_COPYING, segment},
    settings::{Filled, Settings},
    shown::{account, after_removal, page_or_refused, problems, reason, sentence, shown_again, takes_copies},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", COPIES, &operations::GET_CONNECTION),
    ("POST", COPIES, &operations::PUT_DESTINATION),
    ("GET", DESTINATION, &operations::GET_DESTINATION),
    ("POST", DESTINATION, &operations::PUT_DESTINATION),
    ("GET", STOP_COPYING, &operations::GET_DESTINATION),
    ("POST", STOP_COPYING, &operations::DELETE_DESTINATION),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(COPIES, get(list).post(begin))
        .route(DESTINATION, get(show).post(change))
        .route(STOP_COPYING, get(ask_to_stop).post(stop))
}

/// The address below which the destinations are, by the identifiers of our calendars.
const DESTINATIONS: &str = "/console/copies";
/// The form that changes a destination.
const SETTINGS: Settings = Settings {
    fields: &DESTINATION_FIELDS,
    changed: "This has changed since you opened the page. Its current state is shown here. Save again to change it.",
    problems: of_target,
    list: TO_LIST,
};
/// The option for a calendar of the account that is gone.
const GONE_TARGET: &str = "A removed calendar: choose another one";
/// Why the question is asked again.
const CHANGED_SINCE: &str = "This has changed since you opened the page. Its current state is shown here.";
/// The calendars that can be chosen, the oldest first.
const MOST: Page = Page { limit: LIMIT_MAX, offset: 0 };
/// The field of the question.
const STOP_FIELDS: [&str; 1] = ["copies"];

/// What is wrong with the chosen calendar, if the refusal is about that.
pub(super) fn of_target(refusal: &Refusal) -> Option<Problems> {
    let is_of_target = matches!(
        refusal,
        Refusal::Destination(_)
            | Refusal::NotPublished(_)
            | Refusal::NotFound { missing: Missing::ExternalCalendar, .. }
    );
    is_of_target.then(|| {
        let mut found = Problems::default();
        found.add(&DESTINATION_FIELDS, "target", &reason(refusal));
        found
    })
}

/// `GET /console/connections/{id}/copies`
async fn list(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    page_or_refused(copies(&app, &caller.0, &id.0, Asked::of(asked).done(), None).await, TO_LIST)
}

/// The page, with what was chosen in a form that had no effect, and the reason.
async fn copies(
    app: &App,
    caller: &Actor,
    id: &str,
    done: Done,
    sent: Option<(&Fields, &Problems)>,
) -> Result<String, Refusal> {
    let connection = app.connection(caller, id).await?;
    let known = app.destinations_of_connection(caller, connection.id).await?;
    let targets: BTreeSet<_> = known.iter().map(|(destination, _)| destination.target).collect();
    let names = app.external_calendar_names(caller, &targets).await?;
    let copied: BTreeSet<_> = known.iter().map(|(destination, _)| destination.calendar).collect();
    let choices = if connection.publishing { Some(choices(app, caller, id, &copied).await?) } else { None };
    let choices = choices.as_ref();
    let calendars: Vec<_> = choices.into_iter().flat_map(|all| &all.calendars).map(choice).collect();
    let targets: Vec<_> = choices.into_iter().flat_map(|all| &all.targets).map(choice).collect();
    let typed = |name: &str| sent.map_or("", |(fields, _)| fields.get(name));
    let form = choices.map(|all| NewDestination {
        calendars: &calendars,
        oldest: all.oldest,
        targets: &targets,
        calendar: typed("calendar_id"),
        given: DestinationGiven { target: typed("target"), policy: typed("policy") },
        problems: sent.map_or(&NO_PROBLEMS, |(_, problems)| problems),
    });
    let destinations: Vec<_> = known
        .into_iter()
        .map(|(destination, calendar_name)| DestinationShown {
            calendar: destination.calendar.to_string(),
            calendar_name,
            target_name: names.get(&destination.target).cloned(),
            policy: destination.policy.as_str(),
            published_at: destination.state.published_at,
            last_error: problem(destination.state.last_error.as_deref()),
        })
        .collect();
    let shown = Copies {
        shell: &shell(caller, Place::Connections)?,
        done,
        connection: &connection.id.to_string(),
        account: &account(&connection),
        is_supported: takes_copies(connection.provider),
        is_allowed: connection.publishing,
        destinations: &destinations,
        form,
    };
    Ok(shown.html())
}

/// What can be chosen in the form that begins to copy: identifiers and names.
struct Choices {
    calendars: Vec<(String, String)>,
    /// How many of the oldest calendars can be chosen, if there are more.
    oldest: Option<u32>,
    /// The calendars of the account, the primary one first.
    targets: Vec<(String, String)>,
}

/// The choices of a connection whose destinations are those of the `copied` calendars.
async fn choices(
    app: &App,
    caller: &Actor,
    connection: &str,
    copied: &BTreeSet<CalendarId>,
) -> Result<Choices, Refusal> {
    let found = app.list_calendars(caller, CalendarFilter::All, MOST).await?;
    let oldest = (found.total > u64::from(MOST.limit)).then_some(MOST.limit);
    let others = found.data.into_iter().filter(|calendar| !copied.contains(&calendar.id));
    let calendars = others.map(|calendar| (calendar.id.to_string(), calendar.name)).collect();
    let targets = app.external_calendars(caller, connection).await?.data;
    let targets = targets.into_iter().map(|target| (target.id.to_string(), target.name)).collect();
    Ok(Choices { calendars, oldest, targets })
}

fn choice((value, title): &(String, String)) -> Choice<'_> {
    Choice { value, title }
}

/// `POST /console/connections/{id}/copies`. To send it twice has one effect.
async fn begin(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let calendar = form.fields.get("calendar_id");
    let outcome = match chosen(&form).parse() {
        Ok(wanted) => app.put_destination(&form.caller, calendar, wanted, &IfMatch::Any).await,
        Err(errors) => Err(errors.into()),
    };
    let Err(refusal) = outcome else {
        return Ok(see_other(&format!("{DESTINATIONS}/{}?done=saved", segment(calendar)), None));
    };
    let unusual = of_target(&refusal).or_else(|| of_calendar(&refusal));
    let (found, error) = problems(refusal, &NEW_DESTINATION_FIELDS)?;
    let found = unusual.unwrap_or(found);
    let text = copies(&app, &form.caller, &id.0, Done::default(), Some((&form.fields, &found))).await;
    shown_again(error, text, TO_LIST)
}

/// Why the last attempt failed, as a sentence: the page shows it alone.
fn problem(last_error: Option<&str>) -> Option<String> {
    last_error.map(sentence)
}

/// What is wrong with the chosen calendar of ours, if the refusal is about that.
fn of_calendar(refusal: &Refusal) -> Option<Problems> {
    matches!(refusal, Refusal::NotFound { missing: Missing::Calendar, .. }).then(|| {
        let mut found = Problems::default();
        found.add(&NEW_DESTINATION_FIELDS, "calendar_id", &reason(refusal));
        found
    })
}

/// A destination of the caller, with what its pages show.
struct Seen {
    destination: wire::ExternalDestination,
    version: Version,
    connection: wire::CalendarConnection,
    /// The calendars of the account.
    targets: Vec<wire::ExternalCalendar>,
    shown: DestinationShown,
}

/// The destination of the calendar with that identifier.
async fn seen(app: &App, caller: &Actor, id: &str) -> Result<Seen, Refusal> {
    let (destination, version) = app.destination(caller, id).await?;
    let connection = destination.connection_id.to_string();
    let targets = app.external_calendars(caller, &connection).await?.data;
    let connection = app.connection(caller, &connection).await?;
    let calendar_name = match app.calendar(caller, id).await {
        Ok(calendar) => Some(calendar.name),
        Err(Refusal::NotFound { .. }) => None,
        Err(refusal) => return Err(refusal),
    };
    let target = targets.iter().find(|target| target.id == destination.external_calendar_id);
    let shown = DestinationShown {
        calendar: destination.calendar_id.to_string(),
        calendar_name,
        target_name: target.map(|target| target.name.clone()),
        policy: destination.policy,
        published_at: destination.published_at,
        last_error: problem(destination.last_error.as_deref()),
    };
    Ok(Seen { destination, version, connection, targets, shown })
}

/// `GET /console/copies/{id}`
async fn show(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    page_or_refused(render(&app, &caller.0, &id.0, Asked::of(asked).done(), Filled::NOW).await, TO_LIST)
}

/// The page of a destination, with what was chosen in a form that had no effect, and the reason.
async fn render(app: &App, caller: &Actor, id: &str, done: Done, filled: Filled<'_>) -> Result<String, Refusal> {
    let Seen { destination, version, connection, targets, shown } = seen(app, caller, id).await?;
    let target = destination.external_calendar_id.to_string();
    let now = DestinationGiven { target: &target, policy: destination.policy };
    let given = fields(now, |name, now| filled.text(name, now));
    let was = fields(now, |name, now| filled.text_before(name, now));
    let mut titles: Vec<_> = targets.into_iter().map(|target| (target.id.to_string(), target.name)).collect();
    // Without an option of its own, a calendar that is gone would be replaced by the first one with any change.
    if titles.iter().all(|(id, _)| *id != target) {
        titles.insert(0, (target.clone(), GONE_TARGET.to_owned()));
    }
    let choices: Vec<_> = titles.iter().map(|(value, title)| Choice { value, title }).collect();
    let page = DestinationPage {
        shell: &shell(caller, Place::Connections)?,
        done,
        once: &new_once(app.entropy()),
        connection: &connection.id.to_string(),
        account: &account(&connection),
        destination: &shown,
        // Without consent to write, only the user can end the error.
        status: match destination.status {
            "error" if !connection.publishing => "reauthorization_required",
            status => status,
        },
        published: destination.copies.published,
        diverged: destination.copies.diverged,
        targets: &choices,
        version: &filled.version(version),
        given,
        was,
        problems: filled.problems(),
    };
    Ok(page.html())
}

/// The fields that the form changes.
fn fields<'a>(now: DestinationGiven<'a>, text: impl Fn(&str, &'a str) -> &'a str) -> DestinationGiven<'a> {
    DestinationGiven { target: text("target", now.target), policy: text("policy", now.policy) }
}

/// `POST /console/copies/{id}`
async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = save(&app, &mut form, &id.0).await;
    SETTINGS
        .answer(outcome, &form, (DESTINATIONS, &id.0), async |filled: Filled<'_>| {
            render(&app, &form.caller, &id.0, Done::default(), filled).await
        })
        .await
}

/// Saves what was chosen. A form that is sent twice saves once.
async fn save(app: &App, form: &mut OwnForm, id: &str) -> Result<(), Refusal> {
    if !DESTINATION_FIELDS.into_iter().any(|name| form.fields.is_typed_over(name)) {
        return app.destination(&form.caller, id).await.map(drop);
    }
    let wanted = chosen(form).parse()?;
    let seen = form.if_match();
    form.once(app, async |caller: &Actor| app.put_destination(caller, id, wanted, &seen).await).await.map(drop)
}

/// The destination that a form asks for.
pub(super) fn chosen(form: &OwnForm) -> wire::PutExternalDestination {
    wire::PutExternalDestination {
        external_calendar_id: form.fields.get("target").to_owned(),
        policy: Some(form.fields.get("policy").to_owned()),
    }
}

/// `GET /console/copies/{id}/stop`
async fn ask_to_stop(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    page_or_refused(question(&app, &caller.0, &id.0, false, &NO_PROBLEMS).await, TO_LIST)
}

async fn question(app: &App, caller: &Actor, id: &str, keeps: bool, problems: &Problems) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_DESTINATION)?;
    let seen = seen(app, caller, id).await?;
    let asks = StopCopying {
        shell: &shell(caller, Place::Connections)?,
        destination: &seen.shown,
        version: &seen.version.0.to_string(),
        keeps,
        problems,
    };
    Ok(asks.html())
}

/// `POST /console/copies/{id}/stop`. The form says what happens to the copies, as the API does.
async fn stop(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let copies = form.fields.get("copies").to_owned();
    let keeps = copies == "keep";
    let outcome = match (wire::DeleteExternalDestination { copies: Some(copies) }).keeps_copies() {
        Ok(keep) => app.delete_destination(&form.caller, &id.0, keep, &form.if_match()).await,
        Err(error) => Err(error.into()),
    };
    match outcome {
        Err(refusal @ (Refusal::Stale { .. } | Refusal::Invalid(_))) => {
            let is_stale = matches!(refusal, Refusal::Stale { .. });
            let (found, error) = problems(refusal, &STOP_FIELDS)?;
            let found = if is_stale { Problems::general(CHANGED_SINCE.to_owned()) } else { found };
            shown_again(error, question(&app, &form.caller, &id.0, keeps, &found).await, TO_LIST)
        }
        outcome => after_removal(outcome, if keeps { "copies-kept" } else { "copies-deleted" }, TO_LIST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_as_a_sentence() {
        let shown = problem(Some("the provider does not answer"));
        assert_eq!((shown.as_deref(), problem(None)), (Some("The provider does not answer."), None));
    }
}
