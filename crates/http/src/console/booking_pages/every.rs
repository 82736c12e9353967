//! The bookings of all pages.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_bookings::{BookingNow, BookingPage};
use kalends_kernel::{BookingPageId, Listed, Page};
use kalends_web::{
    ALL_BOOKINGS_FILTER_FIELDS, AllBookings, BookingShown, Choice, DELETED_PAGES, NO_PROBLEMS, Paging, Place, Problems,
};

use super::{
    super::{
        frame::{AskedOf, shell},
        places::BOOKINGS,
        shown::{page, problems, refused, shown_again},
    },
    bookings::shown_with_rest,
    filtered::Filtered,
    reading::TO_LIST,
};
use crate::{Service, error::ApiError, extract::Caller};

/// The number of the newest booking pages to choose from. A choice among more would be of little use.
const PAGES_MAX: u32 = 50;
/// The number of characters that the choice shows of a title.
const TITLE_MAX: usize = 60;

/// `GET /console/bookings`
pub(super) async fn list(app: Service, caller: Caller, asked: AskedOf<Filtered>) -> Result<Response, ApiError> {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let (of, filter) = match asked.of_pages(app.now()) {
        Ok(asked) => asked,
        Err(errors) => {
            let (problems, error) = problems(errors.into(), &ALL_BOOKINGS_FILTER_FIELDS)?;
            let nothing = Listed { data: Vec::new(), total: 0 };
            let text = render(&app, &caller.0, (&asked, None), (nothing, &problems)).await;
            return shown_again(error, text, TO_LIST);
        }
    };
    let text = match app.list_bookings_of_pages(&caller.0, of, filter, asked.at()).await {
        Ok(listed) => render(&app, &caller.0, (&asked, of.page), (listed, &NO_PROBLEMS)).await,
        Err(refusal) => Err(refusal),
    };
    text.map_or_else(|refusal| refused(refusal, TO_LIST), |text| Ok(page(StatusCode::OK, text)))
}

/// The newest pages, the newest first.
async fn newest(app: &App, caller: &Actor) -> Result<Vec<BookingPage>, Refusal> {
    let at = |offset| Page { limit: PAGES_MAX, offset };
    let oldest = app.list_booking_pages(caller, at(0)).await?;
    let before = u32::try_from(oldest.total).unwrap_or(u32::MAX).saturating_sub(PAGES_MAX);
    let mut pages = if before == 0 { oldest.data } else { app.list_booking_pages(caller, at(before)).await?.data };
    pages.reverse();
    Ok(pages)
}

/// The pages to choose from: identifiers and titles. The chosen one is among them, even if it is older or deleted.
async fn choices(
    app: &App,
    caller: &Actor,
    chosen: Option<BookingPageId>,
    listed: &[(BookingPage, BookingNow)],
) -> Result<Vec<(String, String)>, Refusal> {
    let mut pages = newest(app, caller).await?;
    let mut gone = None;
    if let Some(id) = chosen.filter(|id| pages.iter().all(|page| page.id != *id)) {
        match app.booking_page(caller, &id.to_string()).await {
            Ok(page) => pages.push(page),
            Err(Refusal::NotFound { .. }) => {
                let title = listed.first().map(|(page, _)| format!("{} (deleted)", short(&page.title)));
                gone = Some((id.to_string(), title.unwrap_or_else(|| "A deleted page".to_owned())));
            }
            Err(refusal) => return Err(refusal),
        }
    }
    let titled = |page: &BookingPage| {
        let title = short(&page.title);
        let is_alone = pages.iter().filter(|other| short(&other.title) == title).count() == 1;
        let title = if is_alone { title } else { format!("{title} ({})", page.slug.reveal()) };
        (page.id.to_string(), title)
    };
    Ok(pages.iter().map(titled).chain(gone).collect())
}

/// The beginning of a title.
fn short(title: &str) -> String {
    match title.char_indices().nth(TITLE_MAX) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title.to_owned(),
    }
}

async fn render(
    app: &App,
    caller: &Actor,
    (asked, chosen): (&Filtered, Option<BookingPageId>),
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
    let known = choices(app, caller, chosen, &listed.data).await?;
    let known = known.iter().map(|(value, title)| Choice { value, title });
    let all = Choice { value: "", title: "All pages" };
    let deleted = Choice { value: DELETED_PAGES, title: "Deleted pages" };
    let choices: Vec<Choice<'_>> = [all].into_iter().chain(known).chain([deleted]).collect();
    let list = AllBookings {
        shell: &shell(caller, Place::BookingPages)?,
        done: asked.done(),
        may_cancel: caller.may(&operations::CANCEL_BOOKING_AS_HOST),
        pages: &choices,
        page: &asked.page,
        status: &asked.status,
        time: &asked.time,
        problems,
        bookings: &bookings,
        paging: &Paging { path: BOOKINGS.to_owned(), filter: asked.filters(), page: asked.at(), total: listed.total },
    };
    Ok(list.html())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_is_cut() {
        let (fits, long) = ("ü".repeat(TITLE_MAX), "ü".repeat(TITLE_MAX + 1));
        assert_eq!((short(&fits), short(&long)), (fits.clone(), format!("{fits}…")));
    }
}
