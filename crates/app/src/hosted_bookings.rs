//! Bookings, from the side of the page's owner.

use kalends_bookings::{Booking, BookingFilter, BookingNow, CancelledBy};
use kalends_calendars::{Attendees, Event, ports::OwnedEvent};
use kalends_kernel::{BookingId, Listed, Page};
use kalends_notifications::EventType;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    bookings::{Letter, Outcome, cancellation, not_begun},
    invitations::Invited,
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
        retry_stale(|| async {
            let found = self.parts.store.find_booking(actor.org(), booking).await?;
            let (page, seen) = found.ok_or_else(missing)?;
            actor.for_agent(page.agent)?;
            let now = self.now();
            let shows = |booking: BookingNow| Answered::shows(&actor.request, wire::Booking::from(&booking), None);
            if seen.gone_at.is_some() {
                return Ok(shows(seen));
            }
            let event = self.parts.store.find_event(actor.org(), seen.booking.event).await?;
            let OwnedEvent { event, agent: owner } = event.ok_or(Attempt::Stale)?;
            // The owner of the organization may have moved the event to the calendar of another agent.
            actor.for_agent(owner)?;
            not_begun(&event, now)?;
            let gone = event.deleted(now)?;
            let mut changes = ChangeSet::new(actor.org());
            self.drop_overrides(&mut changes, &event, &gone, now).await?;
            // Attendees whom the owner invited in addition.
            let invited = event.only_linked();
            if !invited.attendees.is_empty() && event.recurrence().is_none() {
                let nobody = Event { attendees: Attendees::default(), ..gone.clone() };
                self.invite(actor, Invited::new(Some(&invited), &nobody), now, &mut changes).await?;
            }
            let about = EventType::EventDeleted;
            let booking = &seen.booking;
            let outcome = Outcome { page: &page, booking, event: gone.clone(), seen: Some(event), about };
            self.write_outcome(outcome, now, &mut changes);
            changes.bookings.push(cancellation(booking, CancelledBy::Host));
            let letter = Letter::CancelledByHost(reason.as_deref());
            self.write_to_guest(&page, &booking.guest, &gone, letter, &mut changes);
            let cancelled = Booking { cancelled_by: Some(CancelledBy::Host), ..seen.booking.clone() };
            let answer = shows(BookingNow { booking: cancelled, gone_at: gone.deleted_at, ..seen });
            self.commit_for(actor, page.agent, gone.id.to_string(), changes, answer).await
        })
        .await
    }
}
