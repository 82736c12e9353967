//! The bookings of a page.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_bookings::{BookingNow, BookingPage};
use kalends_kernel::Listed;
use kalends_time::Timestamp;
use kalends_web::{BOOKING_FILTER_FIELDS, BookingShown, NO_PROBLEMS, PageBookings, Paging, Place, Problems};
use kalends_wire as wire;
use serde_json::Value;

use super::{
    super::{
        frame::{AskedOf, shell},
        places::BOOKING_PAGES,
        shown::{page, problems, refused, shown_again},
    },
    filtered::Filtered,
    reading::TO_LIST,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
};

/// What pages show of a booking. The events on other calendars are looked up if that on the calendar of the page is gone.
pub(super) async fn shown_with_rest(app: &App, page: &BookingPage, now: &BookingNow) -> Result<BookingShown, Refusal> {
    let (at, shown) = (app.now(), shown(page, now, app.now()));
    if now.gone_at.is_none() {
        return Ok(shown);
    }
    let rest = app.rest_of_booking(&now.booking).await?;
    Ok(match rest.first().map(|event| event.times.span) {
        None => shown,
        Some(span) => BookingShown {
            span,
            cancelled_by: None,
            cancelled_at: None,
            has_begun: span.start() <= at,
            is_rest: true,
            ..shown
        },
    })
}

/// What pages show of a booking whose event takes place.
pub(super) fn shown(page: &BookingPage, now: &BookingNow, at: Timestamp) -> BookingShown {
    let booking = wire::Booking::from(now);
    let asked = page.details.questions.as_slice();
    let label = |id: String| asked.iter().find(|question| question.id == id).map_or(id, |known| known.label.clone());
    let answer = |value: Value| match value {
        Value::String(text) => text,
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        other => other.to_string(),
    };
    let is_gone = booking.cancelled_at.is_some();
    BookingShown {
        id: booking.id.to_string(),
        event: if is_gone { String::new() } else { booking.event_id.to_string() },
        name: booking.name,
        email: booking.email,
        page: String::new(),
        page_title: String::new(),
        span: now.span,
        zone: page.timetable.zone,
        is_rest: false,
        cancelled_at: booking.cancelled_at,
        cancelled_by: booking.cancelled_by.map(|by| by.into_owned()),
        has_begun: now.span.start() <= at,
        notes: booking.notes.unwrap_or_default(),
        answers: booking.answers.into_iter().map(|(id, value)| (label(id), answer(value))).collect(),
        created_at: booking.created_at,
    }
}

/// `GET /console/booking-pages/{id}/bookings`
pub(super) async fn list(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    asked: AskedOf<Filtered>,
) -> Result<Response, ApiError> {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let of = match app.booking_page(&caller.0, &id.0).await {
        Ok(of) => of,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let filter = match asked.of_page(of.timetable.zone) {
        Ok(filter) => filter,
        Err(errors) => {
            let (problems, error) = problems(errors.into(), &BOOKING_FILTER_FIELDS)?;
            let nothing = Listed { data: Vec::new(), total: 0 };
            return shown_again(error, render(&app, &caller.0, &of, &asked, (nothing, &problems)).await, TO_LIST);
        }
    };
    let text = match app.list_bookings(&caller.0, &id.0, filter, asked.at()).await {
        Ok(listed) => render(&app, &caller.0, &of, &asked, (listed, &NO_PROBLEMS)).await,
        Err(refusal) => Err(refusal),
    };
    text.map_or_else(|refusal| refused(refusal, TO_LIST), |text| Ok(page(StatusCode::OK, text)))
}

async fn render(
    app: &App,
    caller: &Actor,
    of: &BookingPage,
    asked: &Filtered,
    (listed, problems): (Listed<BookingNow>, &Problems),
) -> Result<String, Refusal> {
    let id = of.id.to_string();
    let mut bookings = Vec::with_capacity(listed.data.len());
    for booking in &listed.data {
        bookings.push(shown_with_rest(app, of, booking).await?);
    }
    let list = PageBookings {
        shell: &shell(caller, Place::BookingPages)?,
        done: asked.done(),
        may_cancel: caller.may(&operations::CANCEL_BOOKING_AS_HOST),
        id: &id,
        title: &of.title,
        zone: of.timetable.zone,
        status: &asked.status,
        from: &asked.from,
        problems,
        bookings: &bookings,
        paging: &Paging {
            path: format!("{BOOKING_PAGES}/{id}/bookings"),
            filter: asked.filters(),
            page: asked.at(),
            total: listed.total,
        },
    };
    Ok(list.html())
}
