//! What the address of a list of bookings says.

use kalends_bookings::{BookingFilter, BookingsOf};
use kalends_kernel::{BookingPageId, FieldError, FieldErrors, Page};
use kalends_time::{CivilDate, Timestamp, Zone};
use kalends_web::{DELETED_PAGES, Done, date_in_range};
use serde::Deserialize;

use crate::pages::Fields;

/// The filter of a list of bookings, and the page of the list. The list of one booking page has `from`, that of all pages
/// has `page` and `time`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Filtered {
    /// The booking page; empty for all of them.
    pub(super) page: String,
    /// The status, as the API names it. Empty for all of them in the list of one page. In that of all pages, empty for
    /// confirmed ones, and `all` for all of them.
    pub(super) status: String,
    /// `past` or `all`; empty for the bookings to come.
    pub(super) time: String,
    /// The first day, on the clock of the page.
    pub(super) from: String,
    offset: u32,
    done: String,
}

impl Filtered {
    /// What the form that cancels a booking says of the list, to lead back to it.
    pub(super) fn sent_by(fields: &Fields) -> Self {
        let text = |name| fields.get(name).to_owned();
        Self {
            page: text("page"),
            status: text("status"),
            time: text("time"),
            from: text("from"),
            offset: fields.get("offset").parse().unwrap_or_default(),
            done: String::new(),
        }
    }

    /// The filter, as names and values of the query of the list.
    pub(super) fn filters(&self) -> Vec<(&'static str, String)> {
        let filters = [("page", &self.page), ("status", &self.status), ("time", &self.time), ("from", &self.from)];
        filters.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name, text.clone())).collect()
    }

    /// [`Self::filters`], with the page of the list.
    pub(super) fn place(&self) -> Vec<(&'static str, String)> {
        let offset = (self.offset > 0).then(|| ("offset", self.offset.to_string()));
        self.filters().into_iter().chain(offset).collect()
    }

    pub(super) fn at(&self) -> Page {
        Page { offset: self.offset, ..Page::default() }
    }

    /// What a form did.
    pub(super) fn done(&self) -> Done {
        Done::named(&self.done)
    }

    /// The bookings of one page that are asked for. `zone` is that of the page.
    ///
    /// # Errors
    /// One for each wrong field of the filter.
    pub(super) fn of_page(&self, zone: Zone) -> Result<BookingFilter, FieldErrors> {
        let mut errors = FieldErrors::default();
        let cancelled = errors.take(self.cancelled());
        let start_after = errors.take(beginning(&self.from, zone));
        match (cancelled, start_after) {
            (Some(cancelled), Some(start_after)) => Ok(BookingFilter { cancelled, start_after, start_before: None }),
            _ => Err(errors),
        }
    }

    /// The pages and the bookings that are asked for, of all pages. Without a status, they are those that nobody cancelled.
    ///
    /// # Errors
    /// As [`Self::of_page`].
    pub(super) fn of_pages(&self, now: Timestamp) -> Result<(BookingsOf, BookingFilter), FieldErrors> {
        let mut errors = FieldErrors::default();
        let of = errors.take(self.pages());
        let cancelled = errors.take(match self.status.as_str() {
            "" => Ok(Some(false)),
            "all" => Ok(None),
            "cancelled" => Ok(Some(true)),
            _ => Err(no_choice("status")),
        });
        let times = errors.take(match self.time.as_str() {
            "" => Ok((Some(now), None)),
            "past" => Ok((None, Some(now))),
            "all" => Ok((None, None)),
            _ => Err(no_choice("time")),
        });
        match (of, cancelled, times) {
            (Some(of), Some(cancelled), Some((start_after, start_before))) => {
                Ok((of, BookingFilter { cancelled, start_after, start_before }))
            }
            _ => Err(errors),
        }
    }

    fn pages(&self) -> Result<BookingsOf, FieldError> {
        match self.page.as_str() {
            "" => Ok(BookingsOf::default()),
            DELETED_PAGES => Ok(BookingsOf { only_deleted: true, ..BookingsOf::default() }),
            id => {
                let page: BookingPageId = id.parse().map_err(|_| no_choice("page"))?;
                Ok(BookingsOf { page: Some(page), ..BookingsOf::default() })
            }
        }
    }

    fn cancelled(&self) -> Result<Option<bool>, FieldError> {
        match self.status.as_str() {
            "" => Ok(None),
            "confirmed" => Ok(Some(false)),
            "cancelled" => Ok(Some(true)),
            _ => Err(no_choice("status")),
        }
    }
}

fn no_choice(field: &'static str) -> FieldError {
    FieldError::new(field, "must be one of the choices; choose it again")
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
