//! The cancellation of a booking by the host, from the list of a page or of all pages.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_bookings::{BookingNow, BookingPage};
use kalends_web::{CANCELLATION_FIELDS, CancelBookingForm, NO_PROBLEMS, Place, Problems};
use kalends_wire as wire;
use url::form_urlencoded;

use super::{
    super::{
        form::{OwnForm, new_once},
        frame::{AskedOf, needs, shell},
        places::{BOOKING_PAGES, BOOKINGS, segment},
        shown::{page, problems, refused, shown_again},
    },
    bookings::shown_with_rest,
    filtered::Filtered,
    reading::TO_LIST,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// A booking in the list that leads to its cancellation.
#[derive(Clone, Copy)]
struct Listed<'a> {
    /// The booking page whose list it is; `None` for the list of all pages.
    page: Option<&'a str>,
    /// The booking.
    booking: &'a str,
}

impl Listed<'_> {
    /// The path of the list.
    fn list(self) -> String {
        self.page.map_or_else(|| BOOKINGS.to_owned(), |page| format!("{BOOKING_PAGES}/{}/bookings", segment(page)))
    }

    /// The booking and its page. Only the list of all pages has those of deleted pages.
    async fn find(self, app: &App, caller: &Actor) -> Result<(BookingPage, BookingNow), Refusal> {
        match self.page {
            Some(page) => app.booking_of_page(caller, (page, self.booking)).await,
            None => app.hosted_booking(caller, self.booking).await,
        }
    }
}

/// `GET /console/booking-pages/{id}/bookings/{booking}/cancel`
pub(super) async fn ask_of_page(
    app: Service,
    caller: Caller,
    path: PathOf<(String, String)>,
    asked: AskedOf<Filtered>,
) -> Result<Response, ApiError> {
    let (page, booking) = path.0;
    asking(&app, &caller.0, Listed { page: Some(&page), booking: &booking }, asked).await
}

/// `GET /console/bookings/{booking}/cancel`
pub(super) async fn ask(
    app: Service,
    caller: Caller,
    booking: PathOf<String>,
    asked: AskedOf<Filtered>,
) -> Result<Response, ApiError> {
    asking(&app, &caller.0, Listed { page: None, booking: &booking.0 }, asked).await
}

async fn asking(app: &App, caller: &Actor, listed: Listed<'_>, asked: AskedOf<Filtered>) -> Result<Response, ApiError> {
    let place = asked.map(|asked| asked.0).unwrap_or_default().place();
    match question(app, caller, listed, ("", &place), &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn question(
    app: &App,
    caller: &Actor,
    listed: Listed<'_>,
    (reason, place): (&str, &[(&'static str, String)]),
    problems: &Problems,
) -> Result<String, Refusal> {
    needs(caller, &operations::CANCEL_BOOKING_AS_HOST)?;
    let (of, booking) = listed.find(app, caller).await?;
    let asks = CancelBookingForm {
        shell: &shell(caller, Place::BookingPages)?,
        once: &new_once(app.entropy()),
        list: &listed.list(),
        title: &of.title,
        place,
        booking: &shown_with_rest(app, &of, &booking).await?,
        is_shared: booking.booking.shared,
        keeps_mail: app.settings().deployment.keeps_mail,
        reason,
        problems,
    };
    Ok(asks.html())
}

/// `POST /console/booking-pages/{id}/bookings/{booking}/cancel`. A form that is sent twice sends one email.
pub(super) async fn cancel_of_page(
    app: Service,
    path: PathOf<(String, String)>,
    form: OwnForm,
) -> Result<Response, ApiError> {
    let (page, booking) = path.0;
    cancelled(&app, Listed { page: Some(&page), booking: &booking }, form).await
}

/// `POST /console/bookings/{booking}/cancel`. A form that is sent twice sends one email.
pub(super) async fn cancel(app: Service, booking: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    cancelled(&app, Listed { page: None, booking: &booking.0 }, form).await
}

async fn cancelled(app: &App, listed: Listed<'_>, mut form: OwnForm) -> Result<Response, ApiError> {
    let place = Filtered::sent_by(&form.fields).place();
    let refusal = match end(app, listed, &mut form).await {
        Ok(()) => {
            let query = form_urlencoded::Serializer::new("done=cancelled".to_owned()).extend_pairs(&place).finish();
            return Ok(see_other(&format!("{}?{query}", listed.list()), None));
        }
        Err(refusal) => refusal,
    };
    let (problems, error) = problems(refusal, &CANCELLATION_FIELDS)?;
    let typed = form.fields.get("reason").trim();
    shown_again(error, question(app, &form.caller, listed, (typed, &place), &problems).await, TO_LIST)
}

async fn end(app: &App, listed: Listed<'_>, form: &mut OwnForm) -> Result<(), Refusal> {
    // The booking must be one of the page in the address.
    listed.find(app, &form.caller).await?;
    let reason = form.fields.get("reason").trim().to_owned();
    let reason = wire::CancelBooking { reason: Some(reason) }.parse()?;
    let id = listed.booking;
    form.once(app, async |caller: &Actor| app.cancel_booking_as_host(caller, id, reason).await).await.map(drop)
}
