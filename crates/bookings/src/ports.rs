//! What stores offer for booking pages.

use async_trait::async_trait;
use kalends_calendars::ports::BusySource;
use kalends_kernel::{AgentId, BookingPageId, Listed, OrgId, Page, StoreError};
use kalends_quotas::{Period, Used};

use crate::{booking::Booking, page::BookingPage, secret::SecretHash};

/// A page as its slug finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPage {
    /// The page.
    pub page: BookingPage,
    /// Its calendar as a source of busy times at that moment.
    pub source: BusySource,
    /// The events of its organization in the month. Each booking is one.
    pub events: Used,
}

/// Reads booking pages of calendars in sight.
#[async_trait]
pub trait BookingPages: Send + Sync {
    /// One page that is not deleted.
    async fn find_booking_page(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError>;

    /// The pages of an agent's calendars, or all of the organization, that are not deleted, by creation, then
    /// identifier.
    async fn list_booking_pages(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        page: Page,
    ) -> Result<Listed<BookingPage>, StoreError>;

    /// The page with that slug that is not deleted, of whatever organization it is, open or not, and the events that its
    /// organization has used in that month.
    async fn booking_page_of_slug(&self, slug: SecretHash, month: Period) -> Result<Option<FoundPage>, StoreError>;

    /// The booking that one of its tokens opens, of whatever organization it is, with its page, deleted or not.
    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError>;
}
