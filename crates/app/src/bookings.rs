//! Bookings: what guests do on a booking page, without a key.
//!
//! The use cases take and return domain values rather than JSON, so that both the API and the HTML pages can use
//! them. [`App::open_page`] finds a page, and [`App::offered_slots`] returns what can be booked. The others are
//! [`App::book`], [`App::booking`], [`App::slots_to_move`], [`App::cancel_booking`] and [`App::move_booking`].

use std::sync::Arc;

use bytes::Bytes;
use kalends_availability::BusySet;
use kalends_bookings::{
    Booking, BookingPage, BookingToken, CancelledBy, Change, Guest, Purpose, SecretHash, SlotError, ports::FoundPage,
};
use kalends_calendars::{
    Attendees, Calendar, Change as Write, Event, EventPatch, EventStatus, Moment, NewEvent, Patch, ports::BusySource,
};
use kalends_kernel::{EventId, FieldError, Metadata, StoreError};
use kalends_notifications::EventType;
use kalends_plans::Metric;
use kalends_quotas::Period;
use kalends_time::{Span, Timestamp};
use kalends_wire as wire;
use serde_json::{Map, Value};

use crate::{
    Answered, App, ChangeSet, Charge, Guard, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::Subject,
    availability::{TakenTime, hull},
    busy_cache::{KnownTime, sooner},
    ports::HumanSeen,
    questions::PageQuestion,
    series_scopes::override_writes,
};

/// A booking, from its guest's side.
#[derive(Debug, Clone)]
pub struct BookingSeen {
    /// The page, which may have been closed or deleted since.
    pub page: BookingPage,
    /// The booking.
    pub booking: Booking,
    /// The event as it is now; `None` if it was deleted.
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

/// A page that is open, with the state of its calendar when it was read.
#[derive(Debug, Clone)]
pub struct OpenPage {
    /// The page.
    pub page: BookingPage,
    /// Whether the page takes no bookings for now, because the organization has used up its events of the month.
    pub closed_for_now: bool,
    source: BusySource,
    /// How many events the organization may create in a month; `None` means unlimited.
    events_limit: Option<u64>,
}

/// The time that a page does not offer.
struct TakenOnPage {
    taken: BusySet,
    /// The known time of the calendar.
    known: Arc<KnownTime>,
    /// The time from which this may be wrong even if nothing was scheduled.
    valid_until: Option<Timestamp>,
}

/// What a page offers now in some span.
#[derive(Debug)]
pub struct Offers<'a> {
    page: &'a BookingPage,
    /// `None` if nothing in the span can be booked.
    window: Option<Span>,
    taken: BusySet,
    /// The time from which `taken` may be wrong even if nothing was scheduled.
    valid_until: Option<Timestamp>,
    now: Timestamp,
}

impl Offers<'_> {
    /// The slots, by start. They are computed lazily, because a year of short slots is long.
    pub fn slots(&self) -> impl Iterator<Item = Span> {
        self.within(self.window)
    }

    /// The slots that begin in `part`.
    pub fn starting_in(&self, part: Span) -> impl Iterator<Item = Span> {
        let reach = Span::new(part.start(), part.end() + self.page.timetable.length()).ok();
        let within = self.window.zip(reach).and_then(|(window, reach)| window.clip(reach));
        self.within(within).take_while(move |slot| slot.start() < part.end())
    }

    fn within(&self, within: Option<Span>) -> impl Iterator<Item = Span> {
        within.into_iter().flat_map(|within| self.page.offers(within, &self.taken, self.now))
    }
}

impl App {
    /// The page with that slug, if it is open.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no visible page has that slug, or if the page is closed.
    pub async fn open_page(&self, slug: &str) -> Result<OpenPage, Refusal> {
        let found = self.parts.store.booking_page_of_slug(SecretHash::of(slug), Period::of(self.now())).await?;
        let FoundPage { page, source, events } = found.filter(|found| found.page.is_open()).ok_or_else(no_page)?;
        Ok(OpenPage { page, closed_for_now: events.remaining() == Some(0), source, events_limit: events.limit })
    }

    /// What the page offers now in `within`, or in its whole window.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if its calendar is no longer visible.
    pub async fn offered_slots<'a>(&self, open: &'a OpenPage, within: Option<Span>) -> Result<Offers<'a>, Refusal> {
        let humans = self.humans_of(open.page.org, &[open.source]).await?;
        self.offers(open, humans, within, None, self.now()).await
    }

    /// What the page offers now to a guest who moves a booking: other times, which the booking itself does not block.
    ///
    /// # Errors
    /// As for [`Self::offered_slots`].
    pub async fn slots_to_move<'a>(&self, open: &'a OpenPage, seen: &BookingSeen) -> Result<Offers<'a>, Refusal> {
        let humans = self.humans_of(open.page.org, &[open.source]).await?;
        self.offers(open, humans, None, seen.event.as_ref(), self.now()).await
    }

    /// The slots that the page with that slug offers now, as JSON: the cached answer while it is still valid. A page
    /// that is closed for now offers nothing, and its answer says why.
    ///
    /// # Errors
    /// As for [`Self::open_page`] and [`Self::offered_slots`]; [`Refusal::Invalid`] for a span that ends before it
    /// starts.
    pub async fn booking_slots(&self, slug: &str, range: wire::SlotRange) -> Result<Bytes, Refusal> {
        let open = self.open_page(slug).await?;
        let page = &open.page;
        let within = range.by_clocks_of(page.timetable.zone)?;
        let failed = |error: serde_json::Error| Refusal::Store(StoreError::Failed(Box::new(error)));
        if open.closed_for_now {
            return Ok(Bytes::from(wire::BookingSlots::render_closed(page).map_err(failed)?));
        }
        let humans = self.humans_of(page.org, &[open.source]).await?;
        let (id, version, revision) = (page.id, page.version, open.source.revision);
        let question = PageQuestion { page: id, version, revision, humans, within };
        let now = self.now();
        if let Some(known) = self.page_answers.get(&question, now) {
            return Ok(known);
        }
        let offers = self.offers(&open, question.humans.clone(), within, None, now).await?;
        let text = wire::BookingSlots::render(page, offers.slots());
        let answer = Bytes::from(text.map_err(failed)?);
        let same = page.same_before(within, offers.slots().next(), now);
        self.page_answers.keep(question, answer.clone(), sooner(offers.valid_until, same));
        Ok(answer)
    }

    async fn offers<'a>(
        &self,
        open: &'a OpenPage,
        humans: Vec<HumanSeen>,
        within: Option<Span>,
        moved: Option<&Event>,
        now: Timestamp,
    ) -> Result<Offers<'a>, Refusal> {
        let page = &open.page;
        let window = match (page.window(now), within) {
            (Some(window), Some(within)) => window.clip(within),
            (window, None) => window,
            (None, Some(_)) => None,
        };
        let (taken, valid_until) = match window {
            None => (BusySet::EMPTY, None),
            Some(window) => {
                let taken = self.taken_on_page(page, (open.source, humans), window, moved, now).await;
                let TakenOnPage { taken, valid_until, .. } = taken.map_err(Attempt::into_refusal)?;
                // The time that the booking has already is no other time.
                let own = moved.filter(|event| event.calendar == page.calendar).and_then(Event::busy);
                (taken.union(&BusySet::from_unsorted(own.into_iter().collect())), valid_until)
            }
        };
        Ok(Offers { page, window, taken, valid_until, now })
    }

    /// The slot that begins at `start`, if the page offers it now.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Invalid`] if the page has no such slot now; [`Refusal::BookingTaken`].
    pub async fn offered_slot(&self, open: &OpenPage, start: Timestamp) -> Result<Span, Refusal> {
        let page = &open.page;
        // Nothing is committed, so the guards are dropped.
        let mut changes = ChangeSet::new(page.org);
        let decided = self.decided_slot(page, open.source, start, None, self.now(), &mut changes).await;
        decided.map_err(Attempt::into_refusal)
    }

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
        let calendar = self.open_page(slug).await?.page.calendar;
        // Requests for the same slot queue here. Between processes the guard decides.
        let turn = self.holding.lock([calendar]).await;
        let booked = retry_stale(|| self.try_book(request, slug, start, (&guest, answers))).await;
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
        let OpenPage { page, source, events_limit, .. } = self.open_page(slug).await?;
        let guest = &Guest {
            answers: page.details.questions.read(answers)?,
            sees: page.details.shown_to_guests(),
            ..guest.clone()
        };
        let now = self.now();
        let mut changes = ChangeSet::new(page.org);
        let slot = self.decided_slot(&page, source, start, None, now, &mut changes).await?;
        let calendar = self.calendar_of_page(&page).await?;
        let event = booked_event(EventId::new(now, self.entropy()), &page, &calendar, guest, slot, now)?;
        let (booking, token) = Booking::create(&page, event.id, guest.clone(), now, self.entropy());
        let (metric, period) = (Metric::Events, Period::of(now));
        changes.charges.push(Charge { metric, period, amount: 1, limit: events_limit });
        let outcome = Outcome {
            page: &page,
            booking: &booking,
            event: event.clone(),
            seen: None,
            about: EventType::EventCreated,
        };
        self.write_outcome(outcome, now, &mut changes);
        let body = wire::Booked::new(&booking, &event, self.links(&page, &token));
        let seen = page.version;
        changes.bookings.push(Change::CreateBooking { booking: Box::new(booking), seen });
        self.write_to_guest(&page, guest, &event, Letter::Booked(&token), &mut changes);
        self.commit_booking(request, &page, &event, changes, body).await
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
        let event = found.map(|owned| owned.event.at(self.now()));
        Ok(BookingSeen { page, booking, event, purpose, token })
    }

    /// The JSON of [`Self::booking`].
    pub fn shown_booking(&self, seen: &BookingSeen) -> wire::GuestBooking {
        let links = self.links(&seen.page, &seen.token);
        let links = match seen.purpose {
            Purpose::Move => links,
            Purpose::Cancel => wire::BookingLinks { cancel_url: self.link(&seen.page, &seen.token, "cancel"), ..links },
        };
        let moves = seen.purpose == Purpose::Move;
        wire::GuestBooking::new(&seen.page, &seen.booking, seen.event.as_ref(), links, moves)
    }

    /// Cancels a booking: its event is deleted. Cancelling it again changes nothing and returns the same answer.
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
        retry_stale(|| async {
            let seen = self.booking_for(slug, token, Purpose::Cancel).await?;
            let Some(event) = seen.event.clone().filter(|_| !seen.is_cancelled()) else {
                return Ok(Answered::shows(request, self.shown_booking(&seen), None));
            };
            let now = self.now();
            not_begun(&event, now)?;
            let gone = event.deleted(now)?;
            let mut changes = ChangeSet::new(seen.page.org);
            self.drop_overrides(&mut changes, &event, &gone, now).await?;
            let (page, booking) = (&seen.page, &seen.booking);
            let about = EventType::EventDeleted;
            self.write_outcome(
                Outcome { page, booking, event: gone.clone(), seen: Some(event), about },
                now,
                &mut changes,
            );
            let cancelled = BookingSeen { event: None, ..seen.clone() };
            let body = self.shown_booking(&cancelled);
            changes.bookings.push(cancellation(booking, CancelledBy::Guest));
            self.write_to_guest(page, &booking.guest, &gone, Letter::Cancelled, &mut changes);
            self.commit_booking(request, &seen.page, &gone, changes, body).await
        })
        .await
    }

    /// Moves a booking to the slot that begins at `start`. The rules for new bookings apply, but its own time does
    /// not block it.
    ///
    /// # Errors
    /// As for [`Self::book`], except [`Refusal::BookingClosed`], because no event is added. [`Refusal::NotFound`] also
    /// for a token with another purpose, and if the page is closed. [`Refusal::BookingOver`] once the booking has
    /// begun or was cancelled.
    pub async fn move_booking(
        &self,
        request: &Request,
        slug: &str,
        token: &str,
        start: Timestamp,
    ) -> Result<Answered<wire::GuestBooking>, Refusal> {
        let calendar = self.booking_for(slug, token, Purpose::Move).await?.page.calendar;
        let turn = self.holding.lock([calendar]).await;
        let moved = retry_stale(|| self.try_move(request, slug, token, start)).await;
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
        let now = self.now();
        if !seen.page.is_open() {
            return Err(no_page().into());
        }
        let Some(before) = seen.event.clone().filter(|_| !seen.is_cancelled()) else {
            return Err(Refusal::BookingOver("it was cancelled").into());
        };
        not_begun(&before, now)?;
        let source =
            self.parts.store.source_of_calendar(seen.page.org, seen.page.calendar).await?.ok_or_else(no_page)?;
        let mut changes = ChangeSet::new(seen.page.org);
        let slot = self.decided_slot(&seen.page, source, start, Some(&before), now, &mut changes).await?;
        let calendar = self.calendar_of_page(&seen.page).await?;
        let (start, end) = (Patch::Set(Moment::At(slot.start())), Patch::Set(Moment::At(slot.end())));
        let patch = EventPatch { start, end, ..EventPatch::default() };
        let event = if before.calendar == calendar.id {
            let event = before.patched(patch, calendar.zone, now)?;
            self.drop_overrides(&mut changes, &before, &event, now).await?;
            event
        } else {
            // It was moved to another calendar. The new time is free on the page's calendar, so it comes back.
            let here = self.on_calendar(&before, &calendar, now).await?.patched(patch, calendar.zone, now)?;
            changes.calendars.extend(override_writes(here.overrides, now)?);
            here.series
        };
        let (page, booking, about) = (&seen.page, &seen.booking, EventType::EventUpdated);
        self.write_outcome(
            Outcome { page, booking, event: event.clone(), seen: Some(before), about },
            now,
            &mut changes,
        );
        let moved = BookingSeen { event: Some(event.clone()), ..seen };
        let body = self.shown_booking(&moved);
        let guest = &moved.booking.guest;
        self.write_to_guest(&moved.page, guest, &event, Letter::Moved(&moved.token), &mut changes);
        self.commit_booking(request, &moved.page, &event, changes, body).await
    }

    /// A booking whose token has that purpose.
    async fn booking_for(&self, slug: &str, token: &str, purpose: Purpose) -> Result<BookingSeen, Refusal> {
        let seen = self.booking(slug, token).await?;
        if seen.purpose == purpose { Ok(seen) } else { Err(Refusal::missing(Missing::Booking, "at this address")) }
    }

    async fn calendar_of_page(&self, page: &BookingPage) -> Result<Calendar, Refusal> {
        self.parts.store.find_calendar(page.org, page.calendar).await?.ok_or_else(no_page)
    }

    /// The slot that begins at `start`, if it is free. Adds a guard that requires it to stay free until the commit.
    /// `moved` is the event to be moved there.
    async fn decided_slot(
        &self,
        page: &BookingPage,
        source: BusySource,
        start: Timestamp,
        moved: Option<&Event>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<Span, Attempt> {
        let slot = page.slot(start, now).map_err(refused_slot)?;
        let around = BookingPage::surroundings(slot);
        let humans = self.humans_of(page.org, &[source]).await?;
        let TakenOnPage { taken, known, .. } = self.taken_on_page(page, (source, humans), around, moved, now).await?;
        let slot = page.book(start, &taken, now).map_err(refused_slot)?;
        // The rules belong to the revision that the guard names.
        let mut window = hull(page.reads(slot), known.reads(slot));
        if page.max_per_day.is_some() {
            // Another booking on the same date may be the last one.
            window = hull(window, page.whole_days(slot));
        }
        changes.guards.push(Guard::CalendarTime { calendar: page.calendar, seen: source.revision, window });
        Ok(slot)
    }

    /// What the page does not offer in `window`. The time of `moved` does not block.
    async fn taken_on_page(
        &self,
        page: &BookingPage,
        sources: (BusySource, Vec<HumanSeen>),
        window: Span,
        moved: Option<&Event>,
        now: Timestamp,
    ) -> Result<TakenOnPage, Attempt> {
        let here = moved.filter(|event| event.calendar == page.calendar);
        let (around, own) = (page.reads(window), here.and_then(Event::busy));
        let found = self.taken_time(page.org, sources, (window, around), own, now).await?;
        let TakenTime { not_offered, busy, known, valid_until } = found.ok_or(Attempt::Stale)?;
        let taken = page.taken(&not_offered, &busy, window);
        let full = self.full_days(page, window, moved).await?;
        Ok(TakenOnPage { taken: taken.union(&full.clip(window)), known, valid_until })
    }

    /// The dates in `window` on which the page takes no more bookings. The booking of `moved` does not count, and neither do
    /// those whose events are on other calendars now: the revision of the page's calendar says when this changes.
    async fn full_days(&self, page: &BookingPage, window: Span, moved: Option<&Event>) -> Result<BusySet, Refusal> {
        if page.max_per_day.is_none() {
            return Ok(BusySet::EMPTY);
        }
        let booked = self.parts.store.booked_starts(page.org, page.id, page.calendar, page.whole_days(window)).await?;
        let others = booked.into_iter().filter(|(event, _)| moved.is_none_or(|moved| moved.id != *event));
        Ok(page.full_days(&others.map(|(_, start)| start).collect::<Vec<_>>()))
    }

    /// Adds the write of the event, and the webhook message, which names the page.
    pub(crate) fn write_outcome(&self, outcome: Outcome<'_>, now: Timestamp, changes: &mut ChangeSet) {
        let Outcome { page, booking, event, seen, about } = outcome;
        debug_assert_eq!((booking.page, booking.event), (page.id, event.id), "one booking, one event, one page");
        let version = event.version;
        changes.calendars.push(match seen {
            None => Write::CreateEvent(event.clone()),
            Some(seen) => Write::update(&seen, event.clone()),
        });
        let booked = wire::BookedEvent { event: event.at(now).into(), booking_page_id: page.id };
        changes.messages.push(self.message(page.org, about, &booked, version, now));
    }

    async fn commit_booking<T: serde::Serialize + Send>(
        &self,
        request: &Request,
        page: &BookingPage,
        event: &Event,
        changes: ChangeSet,
        booking: T,
    ) -> Result<Answered<T>, Attempt> {
        let answer = Answered::shows(request, booking, None);
        let subject = Subject { org: page.org, agent: page.agent, resource: event.id.to_string() };
        let committed = self.commit(request, None, subject, changes, answer).await;
        committed.map_err(|attempt| match attempt {
            // The account was deleted in the meantime, and its page with it.
            Attempt::Refused(Refusal::Unauthorized) => Attempt::Refused(no_page()),
            attempt => attempt,
        })
    }
}

/// The event of a new booking.
fn booked_event(
    id: EventId,
    page: &BookingPage,
    calendar: &Calendar,
    guest: &Guest,
    slot: Span,
    now: Timestamp,
) -> Result<Event, Refusal> {
    let mut booking = serde_json::json!({
        "name": guest.name,
        "email": guest.email.as_str(),
        "notes": guest.notes,
        "booking_page_id": page.id,
    });
    if !guest.answers.is_empty() {
        booking["answers"] = serde_json::json!(guest.answers);
    }
    let metadata = serde_json::json!({ "booking": booking });
    let new = NewEvent {
        title: format!("{}: {}", page.title, guest.name),
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
        send_invitations: false,
    };
    Ok(Event::create(id, calendar, new, now)?)
}

/// The record of who cancelled a booking.
pub(crate) fn cancellation(booking: &Booking, by: CancelledBy) -> Change {
    Change::CancelBooking { org: booking.org, booking: booking.id, by }
}

fn no_page() -> Refusal {
    // The slug is the secret that opens the page, so the error does not repeat it.
    Refusal::missing(Missing::BookingPage, "at this address")
}

fn refused_slot(error: SlotError) -> Refusal {
    match error {
        SlotError::NotOnGrid(_) => FieldError::new("start", error.to_string()).into(),
        SlotError::Taken { wanted, nearest } => Refusal::BookingTaken { wanted, nearest },
    }
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
