//! Bookings, from the side of the page's owner.

use kalends_bookings::{Booking, BookingFilter, BookingNow, BookingPage, BookingsOf, CancelledBy};
use kalends_calendars::{Attendees, Event, EventStatus, ports::OwnedEvent};
use kalends_kernel::{BookingId, Listed, Page};
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal,
    attempt::{Attempt, retry_in_turn},
    bookings::{Letter, cancellation, not_begun, still_ahead},
    invitations::Invited,
    letters::HostLetter,
};

impl App {
    /// The bookings of a page, by start.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn list_bookings(
        &self,
        actor: &Actor,
        page: &str,
        filter: BookingFilter,
        at: Page,
    ) -> Result<Listed<BookingNow>, Refusal> {
        let of = self.booking_page(actor, page).await?;
        Ok(self.parts.store.list_bookings(actor.org(), of.id, filter, at).await?)
    }

    /// The bookings of several pages, also of deleted ones, each with its page. They are by start, the
    /// latest first unless the filter has a first time. No more than [`kalends_bookings::BOOKINGS_COUNTED_MAX`] and those up
    /// to the next page are counted. A key of an agent lists those of the agent's pages.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_bookings_of_pages(
        &self,
        actor: &Actor,
        of: BookingsOf,
        filter: BookingFilter,
        at: Page,
    ) -> Result<Listed<(BookingPage, BookingNow)>, Refusal> {
        let of = BookingsOf { agent: actor.narrowed_to().or(of.agent), ..of };
        Ok(self.parts.store.list_bookings_of_pages(actor.org(), of, filter, at).await?)
    }

    /// One booking of a page, and the page.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the page does not exist, or if it has no such booking; [`Refusal::OutOfReach`].
    pub async fn booking_of_page(
        &self,
        actor: &Actor,
        (page, id): (&str, &str),
    ) -> Result<(BookingPage, BookingNow), Refusal> {
        let of = self.booking_page(actor, page).await?;
        let (page, found) = self.hosted_booking(actor, id).await?;
        if page.id == of.id { Ok((page, found)) } else { Err(Refusal::missing(Missing::Booking, id)) }
    }

    /// One booking and its page, which may be deleted.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn hosted_booking(&self, actor: &Actor, id: &str) -> Result<(BookingPage, BookingNow), Refusal> {
        let missing = || Refusal::missing(Missing::Booking, id);
        let booking: BookingId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.find_booking(actor.org(), booking).await?.ok_or_else(missing)?;
        actor.for_agent(found.0.agent)?;
        Ok(found)
    }

    /// Cancels a booking for the host, and emails the guest. If it is cancelled already, nothing changes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`]; [`Refusal::Unverified`] for a reason; [`Refusal::BookingOver`] once
    /// the booking has begun; [`Refusal::TooMany`] if the organization has used up its emails for the hour.
    pub async fn cancel_booking_as_host(
        &self,
        actor: &Actor,
        id: &str,
        reason: Option<String>,
    ) -> Result<Answered<wire::Booking>, Refusal> {
        let missing = || Refusal::missing(Missing::Booking, id);
        let booking: BookingId = id.parse().map_err(|_| missing())?;
        if reason.is_some() {
            actor.may_invite()?;
        }
        let found = self.parts.store.find_booking(actor.org(), booking).await?;
        let (page, _) = found.ok_or_else(missing)?;
        let turn = self.holding.lock(page.calendars()).await;
        let cancelled = retry_in_turn(|| async {
            let found = self.parts.store.find_booking(actor.org(), booking).await?;
            let (page, seen) = found.ok_or_else(missing)?;
            actor.for_agent(page.agent)?;
            let now = self.now();
            let shows = |booking: BookingNow| Answered::shows(&actor.request, wire::Booking::from(&booking), None);
            let booking = &seen.booking;
            if booking.cancelled_by.is_some() {
                return Ok(shows(seen));
            }
            let mut standing = Vec::new();
            for id in booking.events() {
                let found = self.parts.store.find_event(actor.org(), id).await?;
                let takes_place = |found: &OwnedEvent| found.event.status != EventStatus::Cancelled;
                let Some(OwnedEvent { event, agent, .. }) = found.filter(takes_place) else {
                    // Somebody cancelled it after the booking was read.
                    let changed = id == booking.event && seen.gone_at.is_none();
                    if changed { return Err(Attempt::Stale) } else { continue }
                };
                // It may be on the calendar of another agent: of the team, or moved there.
                actor.for_agent(agent)?;
                standing.push(event);
            }
            let Some(first) = standing.first() else { return Ok(shows(seen)) };
            self.still_as_read(booking).await?;
            not_begun(first, now)?;
            let mut changes = ChangeSet::new(actor.org());
            for event in still_ahead(&standing, now) {
                let ends = self.leave(&page, booking, event, now, &mut changes).await?;
                // Attendees whom the owner invited in addition.
                let invited = event.only_linked();
                if ends && !invited.attendees.is_empty() && event.recurrence().is_none() {
                    let nobody = Event { attendees: Attendees::default(), ..event.deleted(now)? };
                    self.invite(actor, Invited::new(Some(&invited), &nobody), now, &mut changes).await?;
                }
            }
            self.rest_stays_gone(&page, booking, &standing, now, &mut changes).await?;
            changes.bookings.push(cancellation(booking, CancelledBy::Host, now));
            let letter = Letter::CancelledByHost(reason.as_deref());
            let gone = first.deleted(now)?;
            self.write_to_guest(&page, booking, &gone, letter, &mut changes);
            self.write_to_hosts(&page, booking, &gone, HostLetter::CalledOff, &mut changes).await?;
            let (cancelled_by, cancelled_at) = (Some(CancelledBy::Host), Some(now));
            let cancelled = Booking { cancelled_by, cancelled_at, ..booking.clone() };
            let answer = shows(BookingNow { booking: cancelled, gone_at: cancelled_at, ..seen.clone() });
            self.commit_for(actor, page.agent, booking.event.to_string(), changes, answer).await
        })
        .await;
        drop(turn);
        cancelled
    }
}
