//! Booking pages, from their owners' side.

use kalends_bookings::{
    Assignment, BookingPage, BookingPagePatch, Change, Listeners, NamedElsewhere, NewBookingPage, PageDetails, Team,
    TeamPatch,
};
use kalends_calendars::Patch;
use kalends_kernel::{BookingPageId, CalendarId, Listed, Page};
use kalends_plans::Metric;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, IfMatch, Missing, OpenPage, Refusal, attempt::retry_stale, commits::limit,
};

impl App {
    /// Opens a booking page for a calendar and its team.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such calendar exists, [`Refusal::OutOfReach`]; [`Refusal::Invalid`] for a wrong team; [`Refusal::LimitReached`]; [`Refusal::SlugTaken`];
    /// [`Refusal::Unverified`] if emails to guests would contain the owner's own words.
    pub async fn create_booking_page(
        &self,
        actor: &Actor,
        calendar: &str,
        (new, named): (NewBookingPage, NamedElsewhere),
    ) -> Result<Answered<wire::BookingPage>, Refusal> {
        retry_stale(|| async {
            if new.details.has_new_words(&PageDetails::default()) {
                actor.may_invite()?;
            }
            let calendar = self.calendar(actor, calendar).await?;
            let now = self.now();
            let of = (actor.org(), calendar.id, calendar.agent);
            let team = self.team_after(actor, None, calendar.id, &named.team).await?;
            let page = BookingPage::create(of, calendar.zone, new.clone(), now, self.entropy());
            let listeners = self.listeners_after(actor, &page.listeners, &named.notify_emails).await?;
            let page = BookingPage { team, listeners, ..page }.checked()?;
            let mut changes = ChangeSet::new(actor.org());
            self.ask_listeners(actor, &page, &Listeners::default(), &mut changes).await?;
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
    /// [`Refusal::NotFound`], [`Refusal::Stale`]; [`Refusal::OutOfReach`] for a calendar of its team;
    /// [`Refusal::Invalid`] for one slug too many and for a wrong team; [`Refusal::SlugTaken`];
    /// [`Refusal::Unverified`] as for a new page.
    pub async fn update_booking_page(
        &self,
        actor: &Actor,
        id: &str,
        (patch, named): (BookingPagePatch, NamedElsewhere),
        if_match: &IfMatch,
    ) -> Result<Answered<wire::BookingPage>, Refusal> {
        retry_stale(|| async {
            let seen = self.booking_page(actor, id).await?;
            if_match.check(seen.version)?;
            let team = self.team_after(actor, seen.team.as_ref(), seen.calendar, &named.team).await?;
            let page = seen.patched(patch.clone(), self.now()).map_err(Refusal::from)?;
            let listeners = self.listeners_after(actor, &seen.listeners, &named.notify_emails).await?;
            let page = BookingPage { team, listeners, ..page }.checked()?;
            if page.details.has_new_words(&seen.details) {
                actor.may_invite()?;
            }
            let mut changes = ChangeSet::new(actor.org());
            self.ask_listeners(actor, &page, &seen.listeners, &mut changes).await?;
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

    /// A page as it would be after it is created for `calendar`, or after the page `saved` has these fields. Nothing is
    /// stored.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such calendar or page exists, [`Refusal::OutOfReach`]; [`Refusal::Invalid`] for a wrong
    /// team.
    pub async fn unsaved_page(
        &self,
        actor: &Actor,
        calendar: &str,
        (new, named): (NewBookingPage, NamedElsewhere),
        saved: Option<&str>,
    ) -> Result<OpenPage, Refusal> {
        let calendar = self.calendar(actor, calendar).await?;
        let of = (actor.org(), calendar.id, calendar.agent);
        let mut page = BookingPage::create(of, calendar.zone, new, self.now(), self.entropy());
        if let Some(saved) = saved {
            // The bookings of the page count for its limits.
            page.id = self.booking_page(actor, saved).await?.id;
        }
        let team = self.team_after(actor, None, calendar.id, &named.team).await?;
        let page = BookingPage { team, ..page }.checked()?;
        let sources = self.sources_of_page(&page).await?;
        Ok(OpenPage { page, closed_for_now: false, sources, events_limit: None })
    }

    /// The page that a write returns, with its notices.
    async fn shown_page(&self, actor: &Actor, page: &BookingPage) -> Result<Answered<wire::BookingPage>, Refusal> {
        let mut shown = wire::BookingPage::new(page, &self.parts.settings.base_url);
        if page.timetable.constraints.is_none() && self.offers_nights(page).await? {
            shown = shown.offering_nights();
        }
        Ok(Answered::shows(&actor.request, shown, Some(page.version)))
    }

    /// Whether the calendars of a page leave its hours unlimited: one that takes part alone, or all that take part together.
    async fn offers_nights(&self, page: &BookingPage) -> Result<bool, Refusal> {
        let alone = page.assignment() == Some(Assignment::RoundRobin);
        for calendar in page.calendars() {
            let rules = self.parts.store.find_rules(page.org, calendar).await?;
            let unlimited = rules.is_none_or(|rules| rules.rules.working_hours().is_none());
            if unlimited == alone {
                return Ok(alone);
            }
        }
        Ok(!alone)
    }

    /// The team of a page for `calendar` after a change.
    async fn team_after(
        &self,
        actor: &Actor,
        before: Option<&Team>,
        calendar: CalendarId,
        patch: &TeamPatch<String>,
    ) -> Result<Option<Team>, Refusal> {
        let calendars = match &patch.calendars {
            Patch::Keep => {
                // A key that changes who takes part must reach all of them. A calendar that was deleted takes no part.
                for calendar in before.filter(|_| patch.assignment != Patch::Keep).iter().flat_map(|team| &team.others)
                {
                    if let Some(calendar) = self.parts.store.find_calendar(actor.org(), *calendar).await? {
                        actor.for_agent(calendar.agent)?;
                    }
                }
                Patch::Keep
            }
            Patch::Set(None) => Patch::Set(None),
            Patch::Set(Some(named)) => {
                let mut found = Vec::with_capacity(named.len());
                for id in named {
                    found.push(self.calendar(actor, id).await?.id);
                }
                Patch::Set(Some(found))
            }
        };
        Ok(Team::after(before, calendar, TeamPatch { calendars, assignment: patch.assignment.clone() })?)
    }
}
