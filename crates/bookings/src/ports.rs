//! The reads of booking pages and bookings that stores implement.

use async_trait::async_trait;
use kalends_calendars::ports::BusySource;
use kalends_kernel::{AgentId, BookingId, BookingPageId, CalendarId, EventId, Listed, OrgId, Page, StoreError};
use kalends_plans::Used;
use kalends_quotas::Period;
use kalends_time::{Span, Timestamp};

use crate::{
    booking::Booking,
    overview::{BookingFilter, BookingNow, BookingsOf},
    page::BookingPage,
    seats::SharedEvent,
    secret::SecretHash,
};

/// A page that was found by its slug.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPage {
    /// The page.
    pub page: BookingPage,
    /// Its calendars that are visible, as sources of busy times, its own first.
    pub sources: Vec<BusySource>,
    /// The number of events that its organization created in the month, and the limit. Each booking creates one.
    pub events: Used,
}

/// The bookings of a page by calendar.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shares {
    /// The number of all bookings of the page, including cancelled ones.
    pub bookings: u64,
    /// In no particular order. A calendar without a booking may be left out.
    pub by_calendar: Vec<(CalendarId, u64)>,
}

/// Reads booking pages of visible calendars.
#[async_trait]
pub trait BookingPages: Send + Sync {
    /// The page with that id, unless it is deleted.
    async fn find_booking_page(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError>;

    /// The pages of an agent's calendars, or of the whole organization, that are not deleted, by creation and then
    /// identifier.
    async fn list_booking_pages(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        page: Page,
    ) -> Result<Listed<BookingPage>, StoreError>;

    /// The page with that slug in any organization, open or not, unless it is deleted. It comes with the number of
    /// events that its organization created in that month.
    async fn booking_page_of_slug(&self, slug: SecretHash, month: Period) -> Result<Option<FoundPage>, StoreError>;

    /// The booking with that token, in any organization, and its page, even if the page is deleted.
    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError>;

    /// The bookings of that event on the calendar of its page that nobody cancelled, by identifier, and the page, even if it
    /// is deleted. `None` if there are none, or if the calendar of the page is not visible.
    async fn bookings_of_event(
        &self,
        org: OrgId,
        event: EventId,
    ) -> Result<Option<(BookingPage, Vec<Booking>)>, StoreError>;

    /// How many bookings of an event nobody cancelled.
    async fn count_guests(&self, org: OrgId, event: EventId) -> Result<u64, StoreError>;

    /// How many bookings an event has, including cancelled ones.
    async fn count_bookings(&self, org: OrgId, event: EventId) -> Result<u64, StoreError>;

    /// The one-off events on a calendar that guests of a page share, that take place and that start in `within`, by start, in
    /// one snapshot.
    async fn shared_events(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendar: CalendarId,
        within: Span,
    ) -> Result<Vec<SharedEvent>, StoreError>;

    /// The booking with that id and its page, even if the page is deleted. `None` if the calendar of the page is not
    /// visible.
    async fn find_booking(&self, org: OrgId, id: BookingId) -> Result<Option<(BookingPage, BookingNow)>, StoreError>;

    /// The starts of the bookings of a page that nobody cancelled, that take place on one of `calendars` and that start in
    /// `within`, each with its event, in no particular order. A booking of several events counts once.
    async fn booked_starts(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendars: &[CalendarId],
        within: Span,
    ) -> Result<Vec<(EventId, Timestamp)>, StoreError>;

    /// The bookings of a page that were made at `since` or later and take place, by the calendar on which they are now, with
    /// the number of all bookings of the page, in one snapshot.
    async fn shares(&self, org: OrgId, of: BookingPageId, since: Timestamp) -> Result<Shares, StoreError>;

    /// The bookings of a page by the start of their events and then by identifier.
    async fn list_bookings(
        &self,
        org: OrgId,
        of: BookingPageId,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<BookingNow>, StoreError>;

    /// The bookings that [`Self::find_booking`] finds, also those of deleted pages, each with its page, by start
    /// and then by identifier; from the end if [`BookingFilter::latest_first`]. The total is that of
    /// [`counted_to`](crate::counted_to) at most.
    async fn list_bookings_of_pages(
        &self,
        org: OrgId,
        of: BookingsOf,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<(BookingPage, BookingNow)>, StoreError>;
}
