//! The bookings of a page, and their cancellation by the host.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_bookings::{BookingFilter, BookingNow, BookingPage};
use kalends_kernel::{FieldError, FieldErrors, Listed, Page};
use kalends_time::{CivilDate, Timestamp, Zone};
use kalends_web::{
    BOOKING_FILTER_FIELDS, BookingShown, CANCELLATION_FIELDS, CancelBookingForm, Done, NO_PROBLEMS, PageBookings,
    Paging, Place, Problems, date_in_range,
};
use kalends_wire as wire;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;

use super::{
    super::{
        form::{OwnForm, new_once},
        frame::{AskedOf, needs, shell},
        places::{BOOKING_PAGES, segment},
        shown::{page, problems, refused, shown_again},
    },
    reading::TO_LIST,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// What pages show of a booking.
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
        span: now.span,
        cancelled_by: booking.cancelled_by.map(|by| by.into_owned()),
        has_begun: now.span.start() <= at,
        notes: booking.notes.unwrap_or_default(),
        answers: booking.answers.into_iter().map(|(id, value)| (label(id), answer(value))).collect(),
        created_at: booking.created_at,
    }
}

/// What the address of the list says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Filtered {
    /// The status, as the API names it; empty for all of them.
    status: String,
    /// The first day, on the clock of the page.
    from: String,
    offset: u32,
    done: String,
}

impl Filtered {
    /// What the form that cancels a booking says of the list, to lead back to it.
    fn sent_by(fields: &Fields) -> Self {
        Self {
            status: fields.get("status").to_owned(),
            from: fields.get("from").to_owned(),
            offset: fields.get("offset").parse().unwrap_or_default(),
            done: String::new(),
        }
    }

    /// The filter and the page of the list, as names and values of its query.
    fn place(&self) -> Vec<(&'static str, String)> {
        let offset = if self.offset == 0 { String::new() } else { self.offset.to_string() };
        let place = [("status", self.status.clone()), ("from", self.from.clone()), ("offset", offset)];
        place.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    fn page(&self) -> Page {
        Page { offset: self.offset, ..Page::default() }
    }

    /// The bookings that are asked for.
    fn filter(&self, zone: Zone) -> Result<BookingFilter, FieldErrors> {
        let mut errors = FieldErrors::default();
        let cancelled = errors.take(match self.status.as_str() {
            "" => Ok(None),
            "confirmed" => Ok(Some(false)),
            "cancelled" => Ok(Some(true)),
            _ => Err(FieldError::new("status", "must be one of the choices; choose it again")),
        });
        let start_after = errors.take(beginning(&self.from, zone));
        match (cancelled, start_after) {
            (Some(cancelled), Some(start_after)) => Ok(BookingFilter { cancelled, start_after, start_before: None }),
            _ => Err(errors),
        }
    }
}

/// The beginning of a day in the zone; `None` if none is given.
fn beginning(day: &str, zone: Zone) -> Result<Option<Timestamp>, FieldError> {
    if day.is_empty() {
        return Ok(None);
    }
    let date: Option<CivilDate> = day.parse().ok().and_then(date_in_range);
    let begins = date.and_then(|date| zone.to_timestamp(date.midnight()));
    begins.map(Some).ok_or_else(|| FieldError::new("from", "must be a date from 1970 to 2099, such as 2026-11-28"))
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
    let filter = match asked.filter(of.timetable.zone) {
        Ok(filter) => filter,
        Err(errors) => {
            let (problems, error) = problems(errors.into(), &BOOKING_FILTER_FIELDS)?;
            let nothing = Listed { data: Vec::new(), total: 0 };
            return shown_again(error, render(&app, &caller.0, &of, &asked, (nothing, &problems)).await, TO_LIST);
        }
    };
    let text = match app.list_bookings(&caller.0, &id.0, filter, asked.page()).await {
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
    let (id, now) = (of.id.to_string(), app.now());
    let bookings: Vec<_> = listed.data.iter().map(|booking| shown(of, booking, now)).collect();
    let filter = [("status", &asked.status), ("from", &asked.from)];
    let filter = filter.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name, text.clone()));
    let list = PageBookings {
        shell: &shell(app, caller, Place::BookingPages).await?,
        done: Done::named(&asked.done),
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
            filter: filter.collect(),
            page: asked.page(),
            total: listed.total,
        },
    };
    Ok(list.html())
}

/// `GET /console/booking-pages/{id}/bookings/{booking}/cancel`
pub(super) async fn ask_to_cancel(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    asked: AskedOf<Filtered>,
) -> Result<Response, ApiError> {
    let (id, booking) = path.0;
    let place = asked.map(|asked| asked.0).unwrap_or_default().place();
    match question(&app, &caller.0, (&id, &booking), ("", &place), &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn question(
    app: &App,
    caller: &Actor,
    path: (&str, &str),
    (reason, place): (&str, &[(&'static str, String)]),
    problems: &Problems,
) -> Result<String, Refusal> {
    needs(caller, &operations::CANCEL_BOOKING_AS_HOST)?;
    let (of, booking) = app.booking_of_page(caller, path).await?;
    let asks = CancelBookingForm {
        shell: &shell(app, caller, Place::BookingPages).await?,
        once: &new_once(app.entropy()),
        page: &of.id.to_string(),
        title: &of.title,
        place,
        zone: of.timetable.zone,
        booking: &shown(&of, &booking, app.now()),
        is_shared: booking.booking.shared,
        reason,
        problems,
    };
    Ok(asks.html())
}

/// `POST /console/booking-pages/{id}/bookings/{booking}/cancel`. A form that is sent twice sends one email.
pub(super) async fn cancel(
    app: Service,
    path: PathOf<(String, String)>,
    mut form: OwnForm,
) -> Result<Response, ApiError> {
    let (id, booking) = path.0;
    let place = Filtered::sent_by(&form.fields).place();
    let refusal = match end(&app, (&id, &booking), &mut form).await {
        Ok(()) => {
            let query = form_urlencoded::Serializer::new("done=cancelled".to_owned()).extend_pairs(&place).finish();
            return Ok(see_other(&format!("{BOOKING_PAGES}/{}/bookings?{query}", segment(&id)), None));
        }
        Err(refusal) => refusal,
    };
    let (problems, error) = problems(refusal, &CANCELLATION_FIELDS)?;
    let typed = form.fields.get("reason").trim();
    shown_again(error, question(&app, &form.caller, (&id, &booking), (typed, &place), &problems).await, TO_LIST)
}

async fn end(app: &App, path: (&str, &str), form: &mut OwnForm) -> Result<(), Refusal> {
    // The booking must be one of the page in the address.
    app.booking_of_page(&form.caller, path).await?;
    let reason = form.fields.get("reason").trim().to_owned();
    let reason = wire::CancelBooking { reason: Some(reason) }.parse()?;
    let id = path.1;
    form.once(app, async |caller: &Actor| app.cancel_booking_as_host(caller, id, reason).await).await.map(drop)
}
