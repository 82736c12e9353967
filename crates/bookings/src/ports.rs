//! The reads of booking pages and bookings that stores implement.

use async_trait::async_trait;
use kalends_calendars::ports::BusySource;
use kalends_kernel::{AgentId, BookingPageId, Listed, OrgId, Page, StoreError};
use kalends_plans::Used;
use kalends_quotas::Period;

use crate::{booking::Booking, page::BookingPage, secret::SecretHash};

/// A page that was found by its slug.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPage {
    /// The page.
    pub page: BookingPage,
    /// Its calendar as a source of busy times.
    pub source: BusySource,
    /// The number of events that its organization created in the month, and the limit. Each booking creates one.
    pub events: Used,
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
}
