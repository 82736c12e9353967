//! Booking pages and bookings.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_bookings::{
    Booking, BookingFilter, BookingNow, BookingPage, BookingsOf, Change, SecretHash, SharedEvent, counted_to,
    ports::{BookingPages, FoundPage, Shares},
};
use kalends_calendars::{AgentStatus, EventStatus};
use kalends_kernel::{AgentId, BookingId, BookingPageId, CalendarId, EventId, Listed, OrgId, Page, StoreError};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;
use kalends_time::{Span, Timestamp};

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

    /// Requires that no other page of any organization has or had the slug. A deleted page gives its slugs up.
    fn slug_is_free(&self, page: &BookingPage) -> Result<(), CommitError> {
        let others = self.booking_pages.values().filter(|other| other.id != page.id && other.deleted_at.is_none());
        let taken = others.into_iter().any(|other| other.has_or_had(page.slug.reveal()));
        if taken { Err(CommitError::SlugTaken) } else { Ok(()) }
    }

    /// The bookings of an event that nobody cancelled.
    pub(super) fn guests_of(&self, org: OrgId, event: EventId) -> impl Iterator<Item = &Booking> {
        let of_event = move |booking: &&Booking| booking.org == org && booking.event == event;
        self.bookings.values().filter(of_event).filter(|booking| booking.cancelled_by.is_none())
    }

    /// The page of a booking.
    fn page_of(&self, booking: &Booking) -> Option<&BookingPage> {
        let page = self.booking_pages.get(&(booking.org, booking.page))?;
        (page.team.is_some() || self.calendar(page.org, page.calendar).is_some()).then_some(page)
    }

    /// A booking with its event as it is now.
    fn booking_now(&self, booking: &Booking) -> Option<BookingNow> {
        let event = self.events.get(&(booking.org, booking.event))?;
        let cancelled = (event.status == EventStatus::Cancelled).then_some(event.updated_at);
        let calendar = self.calendars.get(&(booking.org, event.calendar))?;
        let agent = calendar.agent.and_then(|agent| self.agents.get(&(booking.org, agent)));
        let without_agent = agent.filter(|agent| agent.status == AgentStatus::Decommissioned);
        let gone_at = booking
            .cancelled_at
            .or(event.deleted_at)
            .or(cancelled)
            .or(calendar.deleted_at)
            .or(without_agent.map(|of| of.updated_at));
        Some(BookingNow { booking: booking.clone(), calendar: event.calendar, span: event.times.span, gone_at })
    }

    pub(super) fn apply_to_bookings(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::CreatePage(page) => {
                self.calendar(page.org, page.calendar).ok_or(CommitError::Stale)?;
                self.slug_is_free(page)?;
                create(self.booking_pages.entry((page.org, page.id)), &**page)?;
            }
            Change::UpdatePage { page, seen } => {
                self.slug_is_free(page)?;
                let row = self.booking_pages.get_mut(&(page.org, page.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                *row = BookingPage { bookings: row.bookings, ..BookingPage::clone(page) };
            }
            Change::CreateBooking { booking, seen, count } => {
                let page = self.booking_pages.get_mut(&(booking.org, booking.page)).ok_or(CommitError::Stale)?;
                unchanged(page.version, *seen)?;
                if page.deleted_at.is_some() || count.is_some_and(|count| count != page.bookings) {
                    return Err(CommitError::Stale);
                }
                page.bookings += 1;
                create(self.bookings.entry((booking.org, booking.id)), &**booking)?;
            }
            Change::MoveBooking { booking, from } => {
                let row = self.bookings.get_mut(&(booking.org, booking.id));
                let live = |row: &&mut Booking| row.event == *from && row.cancelled_by.is_none();
                *row.filter(live).ok_or(CommitError::Stale)? = (**booking).clone();
            }
            Change::CancelBooking { org, booking, from, by, at } => {
                let row = self.bookings.get_mut(&(*org, *booking));
                let live = |row: &&mut Booking| row.event == *from && row.cancelled_by.is_none();
                let row = row.filter(live).ok_or(CommitError::Stale)?;
                (row.cancelled_by, row.cancelled_at) = (Some(*by), Some(*at));
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
            state.calendar(page.org, page.calendar)?;
            let visible = page.calendars().filter_map(|calendar| state.calendar(page.org, calendar));
            let sources = visible.map(|calendar| state.source(calendar)).collect();
            let limits = state.organizations.get(&page.org)?.limits().ok()?;
            let used = state.used.get(&(page.org, Metric::Events, month)).copied().unwrap_or(0);
            let events = Used { used, limit: limits.get(Metric::Events) };
            Some(FoundPage { page: page.clone(), sources, events })
        }))
    }

    async fn booking_of_token(&self, token: SecretHash) -> Result<Option<(BookingPage, Booking)>, StoreError> {
        let state = self.state();
        let found = state.bookings.values().find(|booking| [booking.cancel, booking.moves].contains(&token));
        Ok(found.and_then(|booking| Some((state.page_of(booking)?.clone(), booking.clone()))))
    }

    async fn bookings_of_event(
        &self,
        org: OrgId,
        event: EventId,
    ) -> Result<Option<(BookingPage, Vec<Booking>)>, StoreError> {
        let state = self.state();
        let bookings: Vec<Booking> = state.guests_of(org, event).cloned().collect();
        let page = bookings.first().and_then(|first| state.page_of(first));
        Ok(page.map(|page| (page.clone(), bookings.clone())))
    }

    async fn count_guests(&self, org: OrgId, event: EventId) -> Result<u64, StoreError> {
        Ok(self.state().guests_of(org, event).count() as u64)
    }

    async fn count_bookings(&self, org: OrgId, event: EventId) -> Result<u64, StoreError> {
        let state = self.state();
        let of_event = state.bookings.values().filter(|booking| booking.org == org && booking.event == event);
        Ok(of_event.count() as u64)
    }

    async fn shared_events(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendar: CalendarId,
        within: Span,
    ) -> Result<Vec<SharedEvent>, StoreError> {
        let state = self.state();
        let mut found = Vec::new();
        for event in state.events.values().filter(|event| event.org == org && event.calendar == calendar) {
            let stands = event.deleted_at.is_none() && event.status != EventStatus::Cancelled;
            let start = event.times.span.start();
            let guests = state.guests_of(org, event.id).filter(|booking| booking.page == of && booking.shared).count();
            if guests > 0 && stands && event.recurrence().is_none() && within.start() <= start && start < within.end() {
                let (id, version, span) = (event.id, event.version, event.times.span);
                found.push(SharedEvent { id, version, span, guests: guests as u64 });
            }
        }
        found.sort_by_key(|event| (event.span.start(), event.id));
        Ok(found)
    }

    async fn find_booking(&self, org: OrgId, id: BookingId) -> Result<Option<(BookingPage, BookingNow)>, StoreError> {
        let state = self.state();
        let Some(booking) = state.bookings.get(&(org, id)) else { return Ok(None) };
        Ok(state.page_of(booking).cloned().zip(state.booking_now(booking)))
    }

    async fn booked_starts(
        &self,
        org: OrgId,
        of: BookingPageId,
        calendars: &[CalendarId],
        within: Span,
    ) -> Result<Vec<(EventId, Timestamp)>, StoreError> {
        let state = self.state();
        let found = state.bookings.values().filter(|booking| booking.org == org && booking.page == of);
        let live = found.filter_map(|booking| state.booking_now(booking));
        let live = live.filter(|now| now.gone_at.is_none() && calendars.contains(&now.calendar));
        let starts = live.map(|now| (now.booking.event, now.span.start()));
        Ok(starts.filter(|(_, start)| within.start() <= *start && *start < within.end()).collect())
    }

    async fn shares(&self, org: OrgId, of: BookingPageId, since: Timestamp) -> Result<Shares, StoreError> {
        let state = self.state();
        let mut shares = BTreeMap::new();
        for booking in state.bookings.values() {
            let event = state
                .events
                .get(&(org, booking.event))
                .filter(|event| event.deleted_at.is_none() && event.status != EventStatus::Cancelled);
            let counts = booking.org == org
                && booking.page == of
                && booking.created_at >= since
                && booking.cancelled_by.is_none();
            if let Some(event) = event.filter(|_| counts) {
                *shares.entry(event.calendar).or_insert(0) += 1;
            }
        }
        let bookings = state.booking_pages.get(&(org, of)).map_or(0, |page| page.bookings);
        Ok(Shares { bookings, by_calendar: shares.into_iter().collect() })
    }

    async fn list_bookings(
        &self,
        org: OrgId,
        of: BookingPageId,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<BookingNow>, StoreError> {
        let state = self.state();
        let found = state.bookings.values().filter(|booking| booking.org == org && booking.page == of);
        let found: Vec<BookingNow> = found.filter_map(|booking| state.booking_now(booking)).collect();
        let wanted = found.iter().filter(|found| selects(filter, found));
        Ok(page_of(wanted, |found| (found.span.start(), found.booking.id), page))
    }

    async fn list_bookings_of_pages(
        &self,
        org: OrgId,
        of: BookingsOf,
        filter: BookingFilter,
        page: Page,
    ) -> Result<Listed<(BookingPage, BookingNow)>, StoreError> {
        let state = self.state();
        let found = state.bookings.values().filter(|booking| booking.org == org);
        let found = found.filter_map(|booking| state.page_of(booking).cloned().zip(state.booking_now(booking)));
        let found: Vec<(BookingPage, BookingNow)> = found.collect();
        let wanted = found.iter().filter(|(page, found)| {
            of.agent.is_none_or(|agent| page.agent == Some(agent))
                && of.page.is_none_or(|id| page.id == id)
                && (!of.only_deleted || page.deleted_at.is_some())
                && selects(filter, found)
        });
        let key = |(_, found): &(BookingPage, BookingNow)| {
            let (start, id) = (found.span.start().as_micros(), found.booking.id.uuid().as_u128());
            if filter.latest_first() { (-start, u128::MAX - id) } else { (start, id) }
        };
        let Listed { data, total } = page_of(wanted, key, page);
        let counted = page.total_if_known(data.len()).unwrap_or(total.min(counted_to(page).into()));
        Ok(Listed { data, total: counted })
    }
}

/// Whether a list with this filter has the booking.
fn selects(filter: BookingFilter, found: &BookingNow) -> bool {
    let start = found.span.start();
    filter.cancelled.is_none_or(|cancelled| cancelled == found.gone_at.is_some())
        && filter.start_after.is_none_or(|after| start >= after)
        && filter.start_before.is_none_or(|before| start < before)
}
