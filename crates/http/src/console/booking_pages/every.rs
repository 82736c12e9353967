//! The bookings of all pages.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_bookings::{BookingNow, BookingPage};
use kalends_kernel::{LIMIT_MAX, Listed, Page};
use kalends_web::{
    ALL_BOOKINGS_FILTER_FIELDS, AllBookings, BookingShown, Choice, NO_PROBLEMS, Paging, Place, Problems,
};

use super::{
    super::{
        frame::{AskedOf, shell},
        places::BOOKINGS,
        shown::{page, problems, refused, shown_again},
    },
    bookings::shown_with_rest,
    filtered::{DELETED_PAGES, Filtered},
    reading::TO_LIST,
};
use crate::{Service, error::ApiError, extract::Caller};

/// The booking pages to choose from, the oldest first. A choice among more would be of little use.
const PAGES: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// `GET /console/bookings`
pub(super) async fn list(app: Service, caller: Caller, asked: AskedOf<Filtered>) -> Result<Response, ApiError> {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let pages = match app.list_booking_pages(&caller.0, PAGES).await {
        Ok(pages) => pages.data,
        Err(refusal) => return refused(refusal, TO_LIST),
    };
    let ids: Vec<String> = pages.iter().map(|page| page.id.to_string()).collect();
    let choices = choices(&pages, &ids);
    let (of, filter) = match asked.of_pages(&ids, app.now()) {
        Ok(asked) => asked,
        Err(errors) => {
            let (problems, error) = problems(errors.into(), &ALL_BOOKINGS_FILTER_FIELDS)?;
            let nothing = Listed { data: Vec::new(), total: 0 };
            let text = render(&app, &caller.0, &choices, &asked, (nothing, &problems)).await;
            return shown_again(error, text, TO_LIST);
        }
    };
    let text = match app.list_bookings_of_pages(&caller.0, of, filter, asked.at()).await {
        Ok(listed) => render(&app, &caller.0, &choices, &asked, (listed, &NO_PROBLEMS)).await,
        Err(refusal) => Err(refusal),
    };
    text.map_or_else(|refusal| refused(refusal, TO_LIST), |text| Ok(page(StatusCode::OK, text)))
}

/// The choices of the filter, with the identifiers of the pages.
fn choices<'a>(pages: &'a [BookingPage], ids: &'a [String]) -> Vec<Choice<'a>> {
    let each = pages.iter().zip(ids).map(|(page, id)| Choice { value: id, title: &page.title });
    let all = Choice { value: "", title: "All pages" };
    let deleted = Choice { value: DELETED_PAGES, title: "Deleted pages" };
    [all].into_iter().chain(each).chain([deleted]).collect()
}

async fn render(
    app: &App,
    caller: &Actor,
    pages: &[Choice<'_>],
    asked: &Filtered,
    (listed, problems): (Listed<(BookingPage, BookingNow)>, &Problems),
) -> Result<String, Refusal> {
    let mut bookings = Vec::with_capacity(listed.data.len());
    for (page, booking) in &listed.data {
        bookings.push(BookingShown {
            page: if page.deleted_at.is_some() { String::new() } else { page.id.to_string() },
            page_title: page.title.clone(),
            ..shown_with_rest(app, page, booking).await?
        });
    }
    let list = AllBookings {
        shell: &shell(app, caller, Place::BookingPages).await?,
        done: asked.done(),
        may_cancel: caller.may(&operations::CANCEL_BOOKING_AS_HOST),
        pages,
        page: &asked.page,
        status: &asked.status,
        time: &asked.time,
        problems,
        bookings: &bookings,
        paging: &Paging { path: BOOKINGS.to_owned(), filter: asked.filters(), page: asked.at(), total: listed.total },
    };
    Ok(list.html())
}
