//! Booking pages, from their owners' side.

use kalends_bookings::{BookingPage, BookingPagePatch, Change, NewBookingPage, PageDetails};
use kalends_kernel::{BookingPageId, Listed, Page};
use kalends_plans::Metric;
use kalends_wire as wire;

use crate::{Actor, Answered, App, ChangeSet, IfMatch, Missing, Refusal, attempt::retry_stale, commits::limit};

impl App {
    /// Opens a booking page for a calendar.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such calendar exists, [`Refusal::LimitReached`]; [`Refusal::SlugTaken`];
    /// [`Refusal::Unverified`] if emails to guests would contain the owner's own words.
    pub async fn create_booking_page(
        &self,
        actor: &Actor,
        calendar: &str,
        new: NewBookingPage,
    ) -> Result<Answered<wire::BookingPage>, Refusal> {
        retry_stale(|| async {
            if new.details.has_new_words(&PageDetails::default()) {
                actor.may_invite()?;
            }
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let of = (actor.org(), calendar.id, calendar.agent);
            let page = BookingPage::create(of, calendar.zone, new.clone(), now, self.entropy());
            let mut changes = ChangeSet::new(actor.org());
            limit(actor, &mut changes, Metric::BookingPages, 1, now);
            let answer = self.shown_page(actor, &page).await?;
            let id = page.id.to_string();
            changes.bookings.push(Change::CreatePage(Box::new(page)));
            self.commit_for(actor, calendar.agent, id, changes, answer).await
        })
        .await
    }

    /// The booking pages of the organization, or only those of the agent that the key belongs to, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_booking_pages(&self, actor: &Actor, page: Page) -> Result<Listed<BookingPage>, Refusal> {
        Ok(self.parts.store.list_booking_pages(actor.org(), actor.narrowed_to(), page).await?)
    }

    /// One page.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn booking_page(&self, actor: &Actor, id: &str) -> Result<BookingPage, Refusal> {
        let missing = || Refusal::missing(Missing::BookingPage, id);
        let page: BookingPageId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.find_booking_page(actor.org(), page).await?.ok_or_else(missing)?;
        actor.for_agent(found.agent)?;
        Ok(found)
    }

    /// Changes a page. Existing bookings stay as they are.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`]; [`Refusal::Invalid`] for one slug too many; [`Refusal::SlugTaken`];
    /// [`Refusal::Unverified`] as for a new page.
    pub async fn update_booking_page(
        &self,
        actor: &Actor,
        id: &str,
        patch: BookingPagePatch,
        if_match: &IfMatch,
    ) -> Result<Answered<wire::BookingPage>, Refusal> {
        retry_stale(|| async {
            let seen = self.booking_page(actor, id).await?;
            if_match.check(seen.version)?;
            let page = seen.patched(patch.clone(), self.now()).map_err(Refusal::from)?;
            if page.details.has_new_words(&seen.details) {
                actor.may_invite()?;
            }
            let mut changes = ChangeSet::new(actor.org());
            let (agent, answer) = (page.agent, self.shown_page(actor, &page).await?);
            changes.bookings.push(Change::UpdatePage { page: Box::new(page), seen: seen.version });
            self.commit_for(actor, agent, seen.id.to_string(), changes, answer).await
        })
        .await
    }

    /// Deletes a page. Existing bookings stay, and their guests can still view and cancel them.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`].
    pub async fn delete_booking_page(
        &self,
        actor: &Actor,
        id: &str,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let seen = self.booking_page(actor, id).await?;
            if_match.check(seen.version)?;
            let mut changes = ChangeSet::new(actor.org());
            let page = Box::new(seen.deleted(self.now(), self.entropy()));
            changes.bookings.push(Change::UpdatePage { page, seen: seen.version });
            self.commit_for(actor, seen.agent, seen.id.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await
    }

    /// The page that a write returns, with its notices.
    async fn shown_page(&self, actor: &Actor, page: &BookingPage) -> Result<Answered<wire::BookingPage>, Refusal> {
        let mut shown = wire::BookingPage::new(page, &self.parts.settings.base_url);
        if page.timetable.constraints.is_none() {
            let rules = self.parts.store.find_rules(page.org, page.calendar).await?;
            if rules.is_none_or(|rules| rules.rules.working_hours().is_none()) {
                shown = shown.offering_nights();
            }
        }
        Ok(Answered::shows(&actor.request, shown, Some(page.version)))
    }
}
