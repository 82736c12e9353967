//! Bookings: what guests do on a booking page, without a key.
//!
//! The use cases take and return domain values rather than JSON, so that both the API and the HTML pages can use
//! them: [`App::book`], [`App::booking`], [`App::cancel_booking`] and [`App::move_booking`].

use kalends_bookings::{Booking, BookingNow, BookingPage, BookingToken, CancelledBy, Change, Guest, Purpose};
use kalends_calendars::{
    Attendees, Calendar, Change as Write, Event, EventPatch, EventStatus, Moment, NewEvent, Patch, ports::OwnedEvent,
};
use kalends_kernel::{CalendarId, EventId, Metadata};
use kalends_notifications::EventType;
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_runs::Kept;
use kalends_time::{Span, Timestamp};
use kalends_wire as wire;
use serde_json::{Map, Value};

use crate::{
    Answered, App, ChangeSet, Charge, Guard, Missing, OpenPage, Refusal, Request,
    attempt::{Attempt, retry_in_turn},
    audit::Subject,
    letters::HostLetter,
    page_offers::{DecidedSlot, Moving, Offers, Parties, no_page},
    series_scopes::override_writes,
};

/// Why a booking of several calendars cannot be moved, although some of its events are left.
const REST_STAYS: &str = "its event on the calendar of the page is gone; cancel it, so that its other events go too";

/// A booking, from its guest's side.
#[derive(Debug, Clone)]
pub struct BookingSeen {
    /// The page, which may have been closed or deleted since.
    pub page: BookingPage,
    /// The booking.
    pub booking: Booking,
    /// The event as it is now; `None` if it was deleted. If there are several, it is that of the page's calendar.
    pub event: Option<Event>,
    /// What the token allows, in addition to viewing.
    pub purpose: Purpose,
    /// The token.
    pub(crate) token: BookingToken,
}

impl BookingSeen {
    /// Whether the guest or the calendar's owner cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.event.as_ref().is_none_or(|event| event.status == EventStatus::Cancelled)
    }

    /// The token that cancels the booking.
    pub fn to_cancel(&self) -> BookingToken {
        match self.purpose {
            Purpose::Move => self.token.to_cancel(),
            Purpose::Cancel => self.token.clone(),
        }
    }
}

/// A change to the event of a booking: what is written, and what is announced.
pub(crate) struct Outcome<'a> {
    pub(crate) page: &'a BookingPage,
    pub(crate) booking: &'a Booking,
    pub(crate) event: Event,
    /// The event as it was read; `None` for a new one.
    pub(crate) seen: Option<Event>,
    pub(crate) about: EventType,
}

impl App {
    /// Books the slot that begins at `start` for a guest, and emails them. The answers are those of the request.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Invalid`] if the page has no such slot now, and for every wrong answer;
    /// [`Refusal::BookingTaken`]; [`Refusal::BookingClosed`] if the month's events are used up; [`Refusal::TooMany`] if
    /// the organization has used up its emails for the hour.
    pub async fn book(
        &self,
        request: &Request,
        slug: &str,
        start: Timestamp,
        (guest, answers): (Guest, &Map<String, Value>),
    ) -> Result<Answered<wire::Booked>, Refusal> {
        let page = self.open_page(slug).await?.page;
        // Requests for the same slot queue here. Between processes the guard decides.
        let turn = self.holding.lock(page.calendars()).await;
        let booked = retry_in_turn(|| self.try_book(request, slug, start, (&guest, answers))).await;
        drop(turn);
        closed_for_now(booked)
    }

    async fn try_book(
        &self,
        request: &Request,
        slug: &str,
        start: Timestamp,
        (guest, answers): (&Guest, &Map<String, Value>),
    ) -> Result<Answered<wire::Booked>, Attempt> {
        let OpenPage { page, sources, events_limit, .. } = self.open_page(slug).await?;
        let guest = &Guest {
            answers: page.details.questions.read(answers)?,
            sees: page.details.shown_to_guests(),
            ..guest.clone()
        };
        let now = self.now();
        let mut changes = ChangeSet::new(page.org);
        let decided =
            self.decided_slot(&page, &Parties::of(&page, sources), start, Moving::NOTHING, now, &mut changes).await?;
        let attended = self.attended(&page, guest, &decided, now).await?;
        let Some((first, others)) = attended.split_first() else { return Err(no_page().into()) };
        let (event, also) = (&first.event, others.iter().map(|of| of.event.id).collect());
        let (booking, token) = Booking::create(&page, (event, also), guest.clone(), now, self.entropy());
        let (metric, period) = (Metric::Events, Period::of(now));
        changes.charges.push(Charge { metric, period, amount: attended.len() as u64, limit: events_limit });
        self.write_attended(&page, &booking, &attended, now, &mut changes);
        let (body, count) = (wire::Booked::new(&page, &booking, event, self.links(&page, &token)), decided.count);
        let seen = page.version;
        self.write_to_hosts(&page, &booking, event, HostLetter::Booked, &mut changes).await?;
        self.write_to_guest(&page, &booking, event, Letter::Booked(&token), &mut changes);
        changes.bookings.push(Change::CreateBooking { booking: Box::new(booking), seen, count });
        self.commit_booking(request, &page, event.id, changes, body).await
    }

    /// The booking that a token opens.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no booking of the page has that token.
    pub async fn booking(&self, slug: &str, token: &str) -> Result<BookingSeen, Refusal> {
        // The error repeats neither the slug nor the token: they are secrets.
        let missing = || Refusal::missing(Missing::Booking, "at this address");
        let token = BookingToken::presented(token);
        let (page, booking) = self.parts.store.booking_of_token(token.hash()).await?.ok_or_else(missing)?;
        let purpose = booking.opened_by(&token).filter(|_| page.has_or_had(slug));
        let purpose = purpose.ok_or_else(missing)?;
        let found = self.parts.store.find_event(page.org, booking.event).await?;
        // The event may go on with other guests.
        let found = found.filter(|_| booking.cancelled_by.is_none());
        let event = found.map(|owned| owned.event.at(self.now()));
        Ok(BookingSeen { page, booking, event, purpose, token })
    }

    /// The JSON of [`Self::booking`].
    pub fn shown_booking(&self, seen: &BookingSeen) -> wire::GuestBooking {
        let links = self.links(&seen.page, &seen.token);
        let links = match seen.purpose {
            Purpose::Move => links,
            Purpose::Cancel => wire::BookingLinks {
                cancel_url: self.link(&seen.page, &seen.token, "cancel"),
                ics_url: self.link(&seen.page, &seen.token, "event.ics"),
                ..links
            },
        };
        let moves = seen.purpose == Purpose::Move;
        wire::GuestBooking::new(&seen.page, &seen.booking, seen.event.as_ref(), links, moves)
    }

    /// Cancels a booking: its events are deleted, unless other guests are in them. Cancelling it again changes nothing and
    /// returns the same answer.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], including for a token with another purpose; [`Refusal::BookingOver`] once the booking
    /// has begun.
    pub async fn cancel_booking(
        &self,
        request: &Request,
        slug: &str,
        token: &str,
    ) -> Result<Answered<wire::GuestBooking>, Refusal> {
        let page = self.booking_for(slug, token, Purpose::Cancel).await?.page;
        let turn = self.holding.lock(page.calendars()).await;
        let cancelled = retry_in_turn(|| self.try_cancel(request, slug, token)).await;
        drop(turn);
        cancelled
    }

    async fn try_cancel(
        &self,
        request: &Request,
        slug: &str,
        token: &str,
    ) -> Result<Answered<wire::GuestBooking>, Attempt> {
        let seen = self.booking_for(slug, token, Purpose::Cancel).await?;
        self.still_as_read(&seen.booking).await?;
        let (page, booking) = (&seen.page, &seen.booking);
        let standing = self.events_of_booking(&seen).await?;
        let now = self.now();
        let mut changes = ChangeSet::new(page.org);
        let Some(event) = standing.first() else {
            let body = self.shown_booking(&seen);
            if booking.cancelled_by.is_some() {
                return Ok(Answered::shows(request, body, None));
            }
            self.rest_stays_gone(page, booking, &standing, now, &mut changes).await?;
            changes.bookings.push(cancellation(booking, CancelledBy::Guest, now));
            return self.commit_booking(request, page, booking.event, changes, body).await;
        };
        not_begun(event, now)?;
        for event in still_ahead(&standing, now) {
            self.leave(page, booking, event, now, &mut changes).await?;
        }
        self.rest_stays_gone(page, booking, &standing, now, &mut changes).await?;
        let cancelled = BookingSeen { event: None, ..seen.clone() };
        let body = self.shown_booking(&cancelled);
        changes.bookings.push(cancellation(booking, CancelledBy::Guest, now));
        let gone = event.deleted(now)?;
        self.write_to_guest(page, booking, &gone, Letter::Cancelled, &mut changes);
        self.write_to_hosts(page, booking, &gone, HostLetter::Cancelled, &mut changes).await?;
        self.commit_booking(request, page, event.id, changes, body).await
    }

    /// What the page offers now to a guest who moves a booking: other times, which the booking itself does not block.
    ///
    /// # Errors
    /// As for [`Self::offered_slots`].
    pub async fn slots_to_move<'a>(&self, open: &'a OpenPage, seen: &BookingSeen) -> Result<Offers<'a>, Refusal> {
        let standing = self.standing(&seen.booking, seen.event.as_ref()).await?;
        let moving = self.moving(&seen.booking, &standing).await?;
        let parties = self.parties_to_move(&open.page, &open.sources, &standing).await?;
        let humans = self.humans_of(open.page.org, &parties.sources).await?;
        self.offers(&open.page, (&parties, humans), None, moving, self.now()).await
    }

    /// Moves a booking to the slot that begins at `start`. The rules for new bookings apply, but its own time does
    /// not block it.
    ///
    /// # Errors
    /// As for [`Self::book`], except [`Refusal::BookingClosed`], because a move does not count toward the quota.
    /// [`Refusal::BookingOver`] once the booking has begun or was cancelled. [`Refusal::NotFound`] also for a token with
    /// another purpose, and, while the booking could be moved, if the page is closed.
    pub async fn move_booking(
        &self,
        request: &Request,
        slug: &str,
        token: &str,
        start: Timestamp,
    ) -> Result<Answered<wire::GuestBooking>, Refusal> {
        let page = self.booking_for(slug, token, Purpose::Move).await?.page;
        let turn = self.holding.lock(page.calendars()).await;
        let moved = retry_in_turn(|| self.try_move(request, slug, token, start)).await;
        drop(turn);
        moved
    }

    async fn try_move(
        &self,
        request: &Request,
        slug: &str,
        token: &str,
        start: Timestamp,
    ) -> Result<Answered<wire::GuestBooking>, Attempt> {
        let seen = self.booking_for(slug, token, Purpose::Move).await?;
        self.still_as_read(&seen.booking).await?;
        let now = self.now();
        let Some(before) = seen.event.clone().filter(|_| !seen.is_cancelled()) else {
            let rest = self.rest_of_booking(&seen.booking).await?;
            let Some(event) = rest.first() else { return Err(Refusal::BookingOver("it was cancelled").into()) };
            not_begun(event, now)?;
            return Err(Refusal::BookingOver(REST_STAYS).into());
        };
        not_begun(&before, now)?;
        if !seen.page.is_open() {
            return Err(no_page().into());
        }
        let (page, booking) = (&seen.page, &seen.booking);
        let sources = self.sources_of_page(page).await?;
        let standing = self.standing(booking, Some(&before)).await?;
        let moving = self.moving(booking, &standing).await?;
        let parties = self.parties_to_move(page, &sources, &standing).await?;
        let mut changes = ChangeSet::new(page.org);
        let decided = self.decided_slot(page, &parties, start, moving, now, &mut changes).await?;
        self.rest_stays_gone(page, booking, &standing, now, &mut changes).await?;
        let (booking, event) = if decided.joins.is_some() || moving.others_stay {
            self.change_seats(&seen, &before, (standing, &decided), now, &mut changes).await?
        } else {
            (booking.clone(), self.move_events(&seen, before, (standing, &decided), now, &mut changes).await?)
        };
        let moved = BookingSeen { booking, event: Some(event.clone()), ..seen };
        let body = self.shown_booking(&moved);
        self.write_to_guest(&moved.page, &moved.booking, &event, Letter::Moved(&moved.token), &mut changes);
        self.write_to_hosts(&moved.page, &moved.booking, &event, HostLetter::Moved, &mut changes).await?;
        self.commit_booking(request, &moved.page, event.id, changes, body).await
    }

    /// Moves the events of a booking to another slot, and returns the one on the calendar of the page, which is `before` now.
    async fn move_events(
        &self,
        BookingSeen { page, booking, .. }: &BookingSeen,
        before: Event,
        (standing, decided): (Vec<Event>, &DecidedSlot),
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Event, Attempt> {
        let mut event = before;
        for seen in standing {
            // The new time is free on the calendar of the page, so an event that was moved to another one comes back. The
            // others stay where they are, where it is free, too.
            let to = decided.calendars.first().filter(|_| seen.id == booking.event).unwrap_or(&seen.calendar);
            let moved = self.moved_to_slot(page, &seen, (*to, decided.slot), now, changes).await?;
            if moved.id == booking.event {
                event = moved.clone();
            }
            let about = EventType::EventUpdated;
            self.write_outcome(Outcome { page, booking, event: moved, seen: Some(seen), about }, now, changes);
        }
        Ok(event)
    }

    /// Moves a guest to the event of another slot: that of other guests, or a new one. Other guests may stay in the old
    /// one. Returns the booking and its event on the calendar of the page.
    async fn change_seats(
        &self,
        BookingSeen { page, booking, token, .. }: &BookingSeen,
        before: &Event,
        (standing, decided): (Vec<Event>, &DecidedSlot),
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(Booking, Event), Attempt> {
        for event in &standing {
            self.leave(page, booking, event, now, changes).await?;
        }
        let attended = self.attended(page, &booking.guest, decided, now).await?;
        let Some((first, others)) = attended.split_first() else { return Err(no_page().into()) };
        let also = others.iter().map(|of| of.event.id).collect();
        let moved = booking.moved(page, before, (&first.event, also), token);
        self.write_attended(page, &moved, &attended, now, changes);
        changes.bookings.push(Change::MoveBooking { booking: Box::new(moved.clone()), from: booking.event });
        Ok((moved, first.event.clone()))
    }

    /// The events in which the guest of a new or moved booking takes part.
    async fn attended(
        &self,
        page: &BookingPage,
        guest: &Guest,
        decided: &DecidedSlot,
        now: Timestamp,
    ) -> Result<Vec<Attended>, Attempt> {
        if let Some(shared) = decided.joins {
            let found = self.parts.store.find_event(page.org, shared.id).await?;
            let found = found.filter(|found| found.event.version == shared.version);
            let seen = found.ok_or(Attempt::Stale)?.event;
            return Ok(vec![Attended { event: seen.with_other_guests(), seen: Some(seen) }]);
        }
        let mut attended = Vec::with_capacity(decided.calendars.len());
        for calendar in &decided.calendars {
            let calendar = self.calendar_of_page(page, *calendar).await?;
            let id = EventId::new(now, self.entropy());
            let mut event = booked_event(id, page, &calendar, guest, decided.slot, now)?;
            if attended.is_empty() {
                event.guest_reminders = page.details.guest_reminders.clone();
            }
            attended.push(Attended { seen: None, event });
        }
        Ok(attended)
    }

    fn write_attended(
        &self,
        page: &BookingPage,
        booking: &Booking,
        attended: &[Attended],
        now: Timestamp,
        changes: &mut ChangeSet,
    ) {
        for Attended { seen, event } in attended.iter().cloned() {
            let about = if seen.is_some() { EventType::EventUpdated } else { EventType::EventCreated };
            self.write_outcome(Outcome { page, booking, event, seen, about }, now, changes);
        }
    }

    /// Ends the part of a guest in an event of their booking. The event is deleted unless other guests are in it. Returns
    /// whether it is deleted.
    pub(crate) async fn leave(
        &self,
        page: &BookingPage,
        booking: &Booking,
        event: &Event,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<bool, Attempt> {
        // The booking was read after the event, so it is in there. A guest who joins or leaves later changes the version.
        if self.others_in(booking, event).await? {
            let (seen, about) = (Some(event.clone()), EventType::EventUpdated);
            self.write_outcome(Outcome { page, booking, event: event.with_other_guests(), seen, about }, now, changes);
            return Ok(false);
        }
        self.delete_booked(page, booking, event, now, changes).await?;
        Ok(true)
    }

    /// A booking that is about to move. `standing` are its events.
    async fn moving<'a>(&self, booking: &Booking, standing: &'a [Event]) -> Result<Moving<'a>, Refusal> {
        let others_stay = match standing.first() {
            Some(event) => self.others_in(booking, event).await?,
            None => false,
        };
        Ok(Moving { events: standing, others_stay })
    }

    /// Whether other guests are in an event of a booking.
    async fn others_in(&self, booking: &Booking, event: &Event) -> Result<bool, Refusal> {
        Ok(booking.shared && self.parts.store.count_guests(booking.org, event.id).await? > 1)
    }

    /// Requires that a booking still has the event that was read after it, and was not cancelled. From now on, each guest who
    /// joins or leaves that event changes its version.
    pub(crate) async fn still_as_read(&self, booking: &Booking) -> Result<(), Attempt> {
        let found = self.parts.store.find_booking(booking.org, booking.id).await?;
        let same = |found: &BookingNow| {
            (found.booking.event, found.booking.cancelled_by) == (booking.event, booking.cancelled_by)
        };
        if found.is_some_and(|(_, now)| same(&now)) { Ok(()) } else { Err(Attempt::Stale) }
    }

    /// Adds what keeps the events of a booking gone that are not in `standing`, because its guest leaves them: no undo
    /// brings one of them back without its guest.
    pub(crate) async fn rest_stays_gone(
        &self,
        page: &BookingPage,
        booking: &Booking,
        standing: &[Event],
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        for id in booking.events() {
            if standing.iter().all(|event| event.id != id) {
                self.stays_gone(page, booking, id, now, changes).await?;
            }
        }
        Ok(())
    }

    /// Adds what keeps one of these events gone.
    async fn stays_gone(
        &self,
        page: &BookingPage,
        booking: &Booking,
        id: EventId,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let org = booking.org;
        let kept = self.parts.store.kept_events(org, &[id]).await?;
        // Neither an event that was purged comes back, nor one whose calendar is gone.
        let Some(Kept { event, .. }) = kept.into_iter().next() else { return Ok(()) };
        let Some(calendar) = self.parts.store.find_calendar(org, event.calendar).await? else { return Ok(()) };
        // The calendar was read first, so whatever brings the event back later raises its revision.
        let found = self.parts.store.find_event(org, id).await?;
        if found.is_some_and(|found| found.event.at(now).status != EventStatus::Cancelled) {
            return Err(Attempt::Stale);
        }
        if booking.shared {
            // It may come back for other guests. The undo counts them.
            changes.guards.push(Guard::CalendarRevision { calendar: calendar.id, seen: calendar.revision });
            return Ok(());
        }
        // An undo does not bring an event back that has another version than its run left.
        if event.deleted_at.is_none() {
            let (left, about) = (event.with_other_guests(), EventType::EventUpdated);
            self.write_outcome(Outcome { page, booking, event: left, seen: Some(event), about }, now, changes);
        } else if let Some(left) = event.staying_gone(now) {
            changes.still_gone.insert(id);
            changes.calendars.push(Write::update(&event, left));
        }
        Ok(())
    }

    /// A booking whose token has that purpose.
    async fn booking_for(&self, slug: &str, token: &str, purpose: Purpose) -> Result<BookingSeen, Refusal> {
        let seen = self.booking(slug, token).await?;
        if seen.purpose == purpose { Ok(seen) } else { Err(Refusal::missing(Missing::Booking, "at this address")) }
    }

    async fn calendar_of_page(&self, page: &BookingPage, calendar: CalendarId) -> Result<Calendar, Refusal> {
        self.parts.store.find_calendar(page.org, calendar).await?.ok_or_else(no_page)
    }

    /// The events of a booking in which its guest still has a place. That of the page's calendar is first, if it is one of
    /// them.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn events_of_booking(&self, seen: &BookingSeen) -> Result<Vec<Event>, Refusal> {
        if seen.booking.cancelled_by.is_some() {
            return Ok(Vec::new());
        }
        self.standing(&seen.booking, seen.event.as_ref()).await
    }

    /// The events of a booking that are left if that of the page's calendar is gone.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn rest_of_booking(&self, booking: &Booking) -> Result<Vec<Event>, Refusal> {
        if booking.cancelled_by.is_some() { Ok(Vec::new()) } else { self.standing(booking, None).await }
    }

    /// The events of a booking that take place. `event` is that of the page's calendar, which comes first.
    pub(crate) async fn standing(&self, booking: &Booking, event: Option<&Event>) -> Result<Vec<Event>, Refusal> {
        let mut standing: Vec<Event> = event.cloned().into_iter().collect();
        for id in &booking.also {
            let found = self.parts.store.find_event(booking.org, *id).await?;
            standing.extend(found.map(|OwnedEvent { event, .. }| event.at(self.now())));
        }
        standing.retain(|event| event.status != EventStatus::Cancelled);
        Ok(standing)
    }

    /// An event of a booking in another slot, on the calendar `to`.
    async fn moved_to_slot(
        &self,
        page: &BookingPage,
        event: &Event,
        (to, slot): (CalendarId, Span),
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Event, Attempt> {
        let calendar = self.calendar_of_page(page, to).await?;
        let (start, end) = (Patch::Set(Moment::At(slot.start())), Patch::Set(Moment::At(slot.end())));
        let patch = EventPatch { start, end, ..EventPatch::default() };
        if event.calendar == to {
            let moved = event.patched(patch, calendar.zone, now)?;
            self.drop_overrides(changes, event, &moved, now).await?;
            return Ok(moved);
        }
        let there = self.on_calendar(event, &calendar, now).await?.patched(patch, calendar.zone, now)?;
        changes.calendars.extend(override_writes(there.overrides, now)?);
        Ok(there.series)
    }

    /// Deletes an event of a booking.
    async fn delete_booked(
        &self,
        page: &BookingPage,
        booking: &Booking,
        event: &Event,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let gone = event.deleted(now)?;
        self.drop_overrides(changes, event, &gone, now).await?;
        let (seen, about) = (Some(event.clone()), EventType::EventDeleted);
        self.write_outcome(Outcome { page, booking, event: gone, seen, about }, now, changes);
        Ok(())
    }

    /// Adds the write of the event, and the webhook message, which names the page.
    pub(crate) fn write_outcome(&self, outcome: Outcome<'_>, now: Timestamp, changes: &mut ChangeSet) {
        let Outcome { page, booking, event, seen, about } = outcome;
        debug_assert!(booking.page == page.id && booking.events().any(|id| id == event.id), "an event of the booking");
        let version = event.version;
        changes.calendars.push(match seen {
            None => Write::CreateEvent(event.clone()),
            Some(seen) => Write::update(&seen, event.clone()),
        });
        let booking_id = booking.shared.then_some(booking.id);
        let booked = wire::BookedEvent { event: event.at(now).into(), booking_page_id: page.id, booking_id };
        changes.messages.push(self.message(page.org, about, &booked, version, now));
    }

    async fn commit_booking<T: serde::Serialize + Send>(
        &self,
        request: &Request,
        page: &BookingPage,
        event: EventId,
        changes: ChangeSet,
        booking: T,
    ) -> Result<Answered<T>, Attempt> {
        let answer = Answered::shows(request, booking, None);
        let subject = Subject { org: page.org, agent: page.agent, resource: event.to_string() };
        let committed = self.commit(request, None, subject, changes, answer).await;
        committed.map_err(|attempt| match attempt {
            // The account was deleted in the meantime, and its page with it.
            Attempt::Refused(Refusal::Unauthorized) => Attempt::Refused(no_page()),
            attempt => attempt,
        })
    }
}

/// An event in which a guest takes part.
#[derive(Clone)]
struct Attended {
    /// The event as it was read; `None` for a new one.
    seen: Option<Event>,
    event: Event,
}

/// The title of an event or of a copy of it, which names the guest.
pub(crate) fn titled(page: &BookingPage, guest: &Guest) -> String {
    format!("{}: {}", page.title, guest.name)
}

/// The event of a new booking. One that other guests can join says nothing about the first of them.
fn booked_event(
    id: EventId,
    page: &BookingPage,
    calendar: &Calendar,
    guest: &Guest,
    slot: Span,
    now: Timestamp,
) -> Result<Event, Refusal> {
    let mut booking = serde_json::json!({ "booking_page_id": page.id });
    if !page.is_shared() {
        booking["name"] = guest.name.as_str().into();
        booking["email"] = guest.email.as_str().into();
        booking["notes"] = guest.notes.as_deref().into();
        if !guest.answers.is_empty() {
            booking["answers"] = serde_json::json!(guest.answers);
        }
    }
    let metadata = serde_json::json!({ "booking": booking });
    let new = NewEvent {
        title: if page.is_shared() { page.title.clone() } else { titled(page, guest) },
        description: None,
        location: page.details.location.clone(),
        conference_url: page.details.conference_url.clone(),
        attendees: Attendees::default(),
        start: Moment::At(slot.start()),
        end: Moment::At(slot.end()),
        all_day: false,
        status: EventStatus::Confirmed,
        metadata: Metadata::parse("notes", metadata)?,
        reminders: None,
        recurrence: None,
        hold: None,
        if_free: false,
        if_as_of: None,
        send_invitations: false,
    };
    Ok(Event::create(id, calendar, new, now)?)
}

/// The events of a booking that have not begun. The owner may have moved one away from the others.
pub(crate) fn still_ahead(events: &[Event], now: Timestamp) -> impl Iterator<Item = &Event> {
    events.iter().filter(move |event| not_begun(event, now).is_ok())
}

/// The record of who cancelled a booking.
pub(crate) fn cancellation(booking: &Booking, by: CancelledBy, at: Timestamp) -> Change {
    Change::CancelBooking { org: booking.org, booking: booking.id, from: booking.event, by, at }
}

pub(crate) fn not_begun(event: &Event, now: Timestamp) -> Result<(), Refusal> {
    if now < event.times.span.start() { Ok(()) } else { Err(Refusal::BookingOver("it has begun")) }
}

/// Reports a reached limit of the plan as [`Refusal::BookingClosed`], because guests must not learn about plans.
fn closed_for_now<T>(outcome: Result<T, Refusal>) -> Result<T, Refusal> {
    outcome.map_err(|refusal| match refusal {
        Refusal::LimitReached { retry_after, .. } => Refusal::BookingClosed { retry_after },
        refusal => refusal,
    })
}

/// The subject of an email to a guest.
#[derive(Clone, Copy)]
pub(crate) enum Letter<'a> {
    /// A booking was made. The token moves it.
    Booked(&'a BookingToken),
    /// The booking was moved. The token moves it again.
    Moved(&'a BookingToken),
    /// The guest cancelled the booking.
    Cancelled,
    /// The host cancelled the booking, for this reason.
    CancelledByHost(Option<&'a str>),
}
