//! Booking pages and bookings.

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_bookings::{
    Booking, BookingPage, Change, SecretHash,
    ports::{BookingPages, FoundPage},
};
use kalends_kernel::{AgentId, BookingPageId, Listed, OrgId, Page, StoreError};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;

use super::{
    MemoryStore,
    apply::{create, unchanged},
    state::{State, page_of},
};

impl State {
    pub(super) fn visible_booking_pages(&self, org: OrgId) -> impl Iterator<Item = &BookingPage> {
        let of = self.booking_pages.values().filter(move |page| page.org == org && page.deleted_at.is_none());
        of.filter(|page| self.calendar(page.org, page.calendar).is_some())
    }

    pub(super) fn apply_to_bookings(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::CreatePage(page) => {
                self.calendar(page.org, page.calendar).ok_or(CommitError::Stale)?;
                create(self.booking_pages.entry((page.org, page.id)), &**page)?;
            }
            Change::UpdatePage { page, seen } => {
                let row = self.booking_pages.get_mut(&(page.org, page.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                *row = BookingPage { bookings: row.bookings, ..BookingPage::clone(page) };
            }
            Change::CreateBooking { booking, seen } => {
                let page = self.booking_pages.get_mut(&(booking.org, booking.page)).ok_or(CommitError::Stale)?;
                unchanged(page.version, *seen)?;
                if page.deleted_at.is_some() {
                    return Err(CommitError::Stale);
                }
                page.bookings += 1;
                create(self.bookings.entry((booking.org, booking.id)), &**booking)?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl BookingPages for MemoryStore {
    async fn find_booking_page(&self, org: OrgId, page: BookingPageId) -> Result<Option<BookingPage>, StoreError> {
        Ok(self.state().visible_booking_pages(org).find(|found| found.id == page).cloned())
    }

    async fn list_booking_pages(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        page: Page,
    ) -> Result<Listed<BookingPage>, StoreError> {
        let state = self.state();
        let of = state.visible_booking_pages(org).filter(|found| agent.is_none() || found.agent == agent);
        Ok(page_of(of, |found| (found.created_at, found.id), page))
    }

    async fn booking_page_of_slug(&self, slug: SecretHash, month: Period) -> Result<Option<FoundPage>, StoreError> {
        let state = self.state();
        let found = state.booking_pages.values().find(|page| page.slug.hash() == slug && page.deleted_at.is_none());
        Ok(found.and_then(|page| {
            let source = state.source(state.calendar(page.org, page.calendar)?);
            let limits = state.organizations.get(&page.org)?.limits().ok()?;
            let used = state.used.get(&(page.org, Metric::Events, month)).copied().unwrap_or(0);
            let events = Used { used, limit: limits.get(Metric::Events) };
            Some(FoundPage { page: page.clone(), source, events })
        }))
    }

    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError> {
        let state = self.state();
        let found = state.bookings.values().find(|booking| [booking.cancel, booking.moves].contains(&token));
        let Some(booking) = found else { return Ok(None) };
        let page = state.booking_pages.get(&(booking.org, booking.page));
        let page = page.filter(|page| state.calendar(page.org, page.calendar).is_some());
        Ok(page.map(|page| (page.clone(), booking.clone())))
    }
}
