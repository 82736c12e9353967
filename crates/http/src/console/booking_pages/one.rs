//! The list of booking pages, one of them, its switch and its deletion.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, IfMatch, Refusal, operations};
use kalends_bookings::{BookingFilter, BookingPagePatch, NamedElsewhere};
use kalends_calendars::Patch;
use kalends_kernel::Page;
use kalends_web::{BookingPageDetail, BookingPages, DeleteBookingPage, Paging, Place, counted};
use kalends_wire as wire;

use super::{
    super::{
        form::{OwnForm, new_once},
        frame::{Asked, AskedOf, needs, shell},
        places::BOOKING_PAGES,
        shown::{after_removal, for_page, page, refused, shown_again},
    },
    bookings::shown as shown_booking,
    reading::{TO_LIST, calendars, shown, to_page},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// Why the question is asked again.
const CHANGED_SINCE: &str = "The booking page has changed since you opened this page. Its current state is shown here.";
/// The number of bookings that the page of a booking page shows.
const BOOKINGS_FIRST: u32 = 5;

/// `GET /console/booking-pages`
pub(super) async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = Asked::of(asked);
    let listed = app.list_booking_pages(&caller.0, asked.page()).await?;
    let known = if listed.data.is_empty() { Vec::new() } else { calendars(&app, &caller.0).await?.data };
    let mut pages = Vec::with_capacity(listed.data.len());
    for page in &listed.data {
        pages.push(shown(&app, &caller.0, page, (1, &known)).await?);
    }
    let list = BookingPages {
        shell: &shell(&caller.0, Place::BookingPages)?,
        done: asked.done(),
        may_create: caller.0.may(&operations::CREATE_BOOKING_PAGE),
        pages: &pages,
        paging: &Paging { path: BOOKING_PAGES.to_owned(), filter: Vec::new(), page: asked.page(), total: listed.total },
    };
    Ok(page(StatusCode::OK, list.html()))
}

/// `GET /console/booking-pages/{id}`
pub(super) async fn show(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    asked: AskedOf<Asked>,
) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, &Asked::of(asked)).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn render(app: &App, caller: &Actor, id: &str, asked: &Asked) -> Result<String, Refusal> {
    let of = app.booking_page(caller, id).await?;
    let now = app.now();
    let first = Page { limit: BOOKINGS_FIRST, offset: 0 };
    let upcoming = app.list_bookings(caller, id, to_come(app), first).await?;
    let bookings: Vec<_> = upcoming.data.iter().map(|booking| shown_booking(&of, booking, now)).collect();
    let resource = wire::BookingPage::new(&of, &app.settings().base_url);
    let detail = BookingPageDetail {
        shell: &shell(caller, Place::BookingPages)?,
        done: asked.done(),
        may_change: caller.may(&operations::UPDATE_BOOKING_PAGE),
        may_delete: caller.may(&operations::DELETE_BOOKING_PAGE),
        may_cancel: caller.may(&operations::CANCEL_BOOKING_AS_HOST),
        page: &shown(app, caller, &of, (usize::MAX, &[])).await?,
        zone: of.timetable.zone,
        facts: &facts(&resource),
        sites: &resource.embed_origins,
        created_at: of.created_at,
        updated_at: of.updated_at,
        bookings: &bookings,
        upcoming: upcoming.total,
        ever: of.bookings,
    };
    Ok(detail.html())
}

/// The bookings that are to come.
fn to_come(app: &App) -> BookingFilter {
    BookingFilter { cancelled: Some(false), start_after: Some(app.now()), start_before: None }
}

/// What is set on a page: labels and texts.
fn facts(page: &wire::BookingPage) -> Vec<(&'static str, String)> {
    let minutes = |minutes: u64| counted(minutes, "minute", "minutes");
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let consents = page.notify_consents.iter().map(|consent| format!("{} ({})", consent.email, consent.status));
    let questions = page.questions.iter().map(|question| question.label.clone());
    let before = page.guest_reminders.iter().map(|before| minutes(u64::from(*before)));
    let team = match page.assignment.as_deref() {
        Some("collective") => "All calendars together",
        Some(_) => "One of the calendars, in turn",
        None => "",
    };
    let facts = [
        ("Description", optional(&page.description)),
        ("Who takes part", team.to_owned()),
        ("Host", optional(&page.host_name)),
        ("Place", optional(&page.location)),
        ("Call", optional(&page.conference_url)),
        ("Length", minutes(page.duration_minutes.into())),
        ("Hours", hours(page)),
        ("Time zone", page.timezone.clone()),
        ("Kept free", if page.buffer_minutes == 0 { String::new() } else { minutes(page.buffer_minutes.into()) }),
        ("Notice", if page.min_notice_minutes == 0 { String::new() } else { minutes(page.min_notice_minutes.into()) }),
        ("Ahead", counted(page.window_days.into(), "day", "days")),
        ("Most a day", page.max_per_day.map(|most| most.to_string()).unwrap_or_default()),
        ("Seats", if page.seats == 1 { String::new() } else { page.seats.to_string() }),
        ("Questions", questions.collect::<Vec<_>>().join("\n")),
        ("Reminders", before.collect::<Vec<_>>().join(", ")),
        ("Emails to", consents.collect::<Vec<_>>().join("\n")),
        ("Color", optional(&page.accent_color)),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// The hours of a page without opening hours.
const NO_HOURS: &str = "Any time that the working hours of its calendars allow";

/// The opening hours, one weekday on each line.
fn hours(page: &wire::BookingPage) -> String {
    let Some(week) = &page.availability_constraints else { return NO_HOURS.to_owned() };
    let days = [
        ("Monday", &week.mon),
        ("Tuesday", &week.tue),
        ("Wednesday", &week.wed),
        ("Thursday", &week.thu),
        ("Friday", &week.fri),
        ("Saturday", &week.sat),
        ("Sunday", &week.sun),
    ];
    let open = |(day, hours): &(&str, &Option<wire::OpenHours>)| {
        hours.as_ref().map(|hours| format!("{day} {}–{}", hours.start, hours.end))
    };
    let open: Vec<String> = days.iter().filter_map(open).collect();
    if open.is_empty() { "Closed on every weekday".to_owned() } else { open.join("\n") }
}

/// `POST /console/booking-pages/{id}/on`
pub(super) async fn switch_on(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let outcome = switch(&app, &form, &id.0, true).await;
    outcome.map_or_else(|refusal| refused(refusal, TO_LIST), |()| Ok(to_page(&id.0, "switched-on")))
}

/// `POST /console/booking-pages/{id}/off`
pub(super) async fn switch_off(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let outcome = switch(&app, &form, &id.0, false).await;
    outcome.map_or_else(|refusal| refused(refusal, TO_LIST), |()| Ok(to_page(&id.0, "switched-off")))
}

async fn switch(app: &App, form: &OwnForm, id: &str, active: bool) -> Result<(), Refusal> {
    // A form that is sent twice changes nothing more.
    if app.booking_page(&form.caller, id).await?.active == active {
        return Ok(());
    }
    let patch = BookingPagePatch { active: Patch::Set(active), ..BookingPagePatch::default() };
    let change = (patch, NamedElsewhere::default());
    app.update_booking_page(&form.caller, id, change, &IfMatch::Any).await.map(drop)
}

/// `GET /console/booking-pages/{id}/delete`
pub(super) async fn ask_to_delete(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    match question(&app, &caller.0, &id.0, None).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn question(app: &App, caller: &Actor, id: &str, problem: Option<&str>) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_BOOKING_PAGE)?;
    let of = app.booking_page(caller, id).await?;
    let upcoming = app.list_bookings(caller, id, to_come(app), Page { limit: 1, offset: 0 }).await?.total;
    let asks = DeleteBookingPage {
        shell: &shell(caller, Place::BookingPages)?,
        once: &new_once(app.entropy()),
        page: &shown(app, caller, &of, (0, &[])).await?,
        version: of.version.0,
        upcoming,
        ever: of.bookings,
        problem,
    };
    Ok(asks.html())
}

/// `POST /console/booking-pages/{id}/delete`
pub(super) async fn delete(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let seen = form.if_match();
    let outcome = form.once(&app, async |caller: &Actor| app.delete_booking_page(caller, &id.0, &seen).await).await;
    match outcome {
        Err(refusal @ Refusal::Stale { .. }) => {
            let text = question(&app, &form.caller, &id.0, Some(CHANGED_SINCE)).await;
            shown_again(for_page(refusal)?, text, TO_LIST)
        }
        outcome => after_removal(outcome, "deleted", TO_LIST),
    }
}
