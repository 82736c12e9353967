//! What a booking page offers: the slots that are free on the calendars of the page.
//!
//! [`App::open_page`] finds a page, and [`App::offered_slots`] returns what can be booked.

use std::sync::Arc;

use bytes::Bytes;
use kalends_availability::BusySet;
use kalends_bookings::{
    Assignment, BookingPage, SHARE_DAYS, SecretHash, SharedEvent, SlotError, Taken, next_in_turn, ports::FoundPage,
};
use kalends_calendars::{Event, ports::BusySource};
use kalends_kernel::{CalendarId, FieldError, StoreError};
use kalends_quotas::Period;
use kalends_time::{SignedDuration, Span, Timestamp};
use kalends_wire as wire;

use crate::{
    App, ChangeSet, Guard, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    availability::{TakenTime, hull, widest},
    busy_cache::{KnownTime, sooner},
    human::Humans,
    ports::HumanSeen,
    questions::PageQuestion,
};

/// A page that is open, with the state of its calendars when it was read.
#[derive(Debug, Clone)]
pub struct OpenPage {
    /// The page.
    pub page: BookingPage,
    /// Whether the page takes no bookings for now, because the organization has used up its events of the month.
    pub closed_for_now: bool,
    /// The calendars of the page that are visible, its own first.
    pub(crate) sources: Vec<BusySource>,
    /// How many events the organization may create in a month; `None` means unlimited.
    pub(crate) events_limit: Option<u64>,
}

/// The time that a page does not offer.
struct TakenOnPage {
    taken: Taken,
    /// The events that a guest can join.
    shared: Vec<SharedEvent>,
    /// The known time of each calendar.
    known: Vec<Arc<KnownTime>>,
    /// The time from which this may be wrong even if nothing was scheduled.
    valid_until: Option<Timestamp>,
}

/// The calendars that can take part in a booking, and which of them do.
#[derive(Debug)]
pub(crate) struct Parties {
    /// The calendar of the page first.
    pub(crate) sources: Vec<BusySource>,
    assignment: Option<Assignment>,
}

impl Parties {
    /// For a new booking of a page whose visible calendars are `sources`.
    pub(crate) fn of(page: &BookingPage, sources: Vec<BusySource>) -> Self {
        Self { sources, assignment: page.assignment() }
    }
}

/// The booking that is about to move, while its new slot is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving<'a> {
    /// Its events, that of the page's own calendar first.
    pub(crate) events: &'a [Event],
    /// Whether other guests stay in its event, so that it still takes place.
    pub(crate) others_stay: bool,
}

impl<'a> Moving<'a> {
    /// No booking moves.
    pub(crate) const NOTHING: Self = Self { events: &[], others_stay: false };

    /// The events that do not block, because they move or end.
    const fn leaving(&self) -> &'a [Event] {
        if self.others_stay { &[] } else { self.events }
    }

    /// The times that the booking has already on the calendars of `sources`. A move to them is not offered.
    fn times(&self, sources: &[BusySource]) -> BusySet {
        let here = self.events.iter().filter(|event| sources.iter().any(|source| source.calendar == event.calendar));
        here.filter_map(Event::busy).collect()
    }
}

/// A slot that can be booked, and who takes part.
pub(crate) struct DecidedSlot {
    pub(crate) slot: Span,
    /// The calendars that get an event. If the page's own is one of them, it is the first.
    pub(crate) calendars: Vec<CalendarId>,
    /// The number of bookings of the page on which the choice of the calendar depends.
    pub(crate) count: Option<u64>,
    /// The event that the guest joins, if others have booked the slot.
    pub(crate) joins: Option<SharedEvent>,
}

/// What a page offers now in some span.
#[derive(Debug)]
pub struct Offers<'a> {
    page: &'a BookingPage,
    /// `None` if nothing in the span can be booked.
    window: Option<Span>,
    taken: Taken,
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
        let FoundPage { page, sources, events } = found.filter(|found| found.page.is_open()).ok_or_else(no_page)?;
        let needed = if page.assignment() == Some(Assignment::Collective) { sources.len() as u64 } else { 1 };
        let closed_for_now = events.remaining().is_some_and(|remaining| remaining < needed);
        Ok(OpenPage { page, closed_for_now, sources, events_limit: events.limit })
    }

    /// The calendars of a page that are visible, in the order of the page.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if its own is not visible.
    pub(crate) async fn sources_of_page(&self, page: &BookingPage) -> Result<Vec<BusySource>, Refusal> {
        let calendars: Vec<CalendarId> = page.calendars().collect();
        let found = self.parts.store.sources_of_calendars(page.org, &calendars).await?;
        let of = |calendar: &CalendarId| found.iter().find(|source| source.calendar == *calendar).copied();
        of(&page.calendar).ok_or_else(no_page)?;
        Ok(calendars.iter().filter_map(of).collect())
    }

    /// Who must be free when a booking moves whose events are `moved`, that of the page's own calendar first. Several events
    /// move together, also if the page has another team by now: the calendars of the others must be free, too.
    pub(crate) async fn parties_to_move(
        &self,
        page: &BookingPage,
        sources: &[BusySource],
        moved: &[Event],
    ) -> Result<Parties, Refusal> {
        let of_page = Parties::of(page, sources.to_vec());
        let Some((_, others)) = moved.split_first().filter(|(_, others)| !others.is_empty()) else {
            return Ok(of_page);
        };
        let together = if page.assignment() == Some(Assignment::Collective) { sources.len() } else { 1 };
        let mut sources: Vec<BusySource> = sources.iter().take(together).copied().collect();
        let others: Vec<CalendarId> = others.iter().map(|event| event.calendar).collect();
        for source in self.parts.store.sources_of_calendars(page.org, &others).await? {
            if sources.iter().all(|known| known.calendar != source.calendar) {
                sources.push(source);
            }
        }
        Ok(Parties { sources, assignment: Some(Assignment::Collective) })
    }

    /// What the page offers now in `within`, or in its whole window.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if one of its calendars is no longer visible.
    pub async fn offered_slots<'a>(&self, open: &'a OpenPage, within: Option<Span>) -> Result<Offers<'a>, Refusal> {
        let parties = Parties::of(&open.page, open.sources.clone());
        let humans = self.humans_of(open.page.org, &parties.sources).await?;
        self.offers(&open.page, (&parties, humans), within, Moving::NOTHING, self.now()).await
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
        let humans = self.humans_of(page.org, &open.sources).await?;
        let (id, version, sources) = (page.id, page.version, open.sources.clone());
        let question = PageQuestion { page: id, version, sources, humans, within };
        let now = self.now();
        if let Some(known) = self.page_answers.get(&question, now) {
            return Ok(known);
        }
        let parties = Parties::of(page, open.sources.clone());
        let offers = self.offers(page, (&parties, question.humans.clone()), within, Moving::NOTHING, now).await?;
        let text = wire::BookingSlots::render(page, offers.slots());
        let answer = Bytes::from(text.map_err(failed)?);
        let same = page.same_before(within, offers.slots().next(), now);
        self.page_answers.keep(question, answer.clone(), sooner(offers.valid_until, same));
        Ok(answer)
    }

    pub(crate) async fn offers<'a>(
        &self,
        page: &'a BookingPage,
        (parties, humans): (&Parties, Vec<HumanSeen>),
        within: Option<Span>,
        moving: Moving<'_>,
        now: Timestamp,
    ) -> Result<Offers<'a>, Refusal> {
        let window = match (page.window(now), within) {
            (Some(window), Some(within)) => window.clip(within),
            (window, None) => window,
            (None, Some(_)) => None,
        };
        let (taken, valid_until) = match window {
            None => (Taken::of(None, Vec::new()), None),
            Some(window) => {
                // Somebody may write between the reads.
                let taken = retry_stale(|| self.taken_on_page(page, (parties, &humans), window, moving, now)).await?;
                let TakenOnPage { taken, valid_until, .. } = taken;
                (taken.and(&moving.times(&parties.sources)), valid_until)
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
        let parties = Parties::of(page, open.sources.clone());
        let decided = self.decided_slot(page, &parties, start, Moving::NOTHING, self.now(), &mut changes).await;
        Ok(decided.map_err(Attempt::into_refusal)?.slot)
    }

    /// The slot that begins at `start`, if it is free, and the calendars that take part. Adds guards that require it to
    /// stay free until the commit.
    pub(crate) async fn decided_slot(
        &self,
        page: &BookingPage,
        parties: &Parties,
        start: Timestamp,
        moving: Moving<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<DecidedSlot, Attempt> {
        let slot = page.slot(start, now).map_err(refused_slot)?;
        let around = BookingPage::surroundings(slot);
        let sources = &parties.sources;
        let humans = self.humans_of(page.org, sources).await?;
        let TakenOnPage { taken, known, shared, .. } =
            self.taken_on_page(page, (parties, &humans), around, moving, now).await?;
        let slot = page.book(start, &taken, now).or_else(|refused| match moving.events {
            [] => Err(refused),
            // What is offered instead is another time than the one that the booking has.
            _ => page.book(start, &taken.clone().and(&moving.times(sources)), now),
        });
        let slot = slot.map_err(refused_slot)?;
        let joins = shared.into_iter().find(|event| event.span == slot);
        let mut count = None;
        let chosen = match parties.assignment {
            None | Some(Assignment::Collective) => sources.iter().map(|source| source.calendar).collect(),
            Some(Assignment::RoundRobin) => {
                let free: Vec<CalendarId> =
                    taken.free_for(slot).filter_map(|at| sources.get(at)).map(|source| source.calendar).collect();
                let stays = moving.leaving().first().map(|event| event.calendar).filter(|now| free.contains(now));
                let next = match stays {
                    Some(calendar) => Some(calendar),
                    None => {
                        let since = now - SignedDuration::days(SHARE_DAYS);
                        let shares = self.parts.store.shares(page.org, page.id, since).await?;
                        count = Some(shares.bookings);
                        next_in_turn(&free, &shares.by_calendar)
                    }
                };
                // `book` found a party that is free.
                vec![next.ok_or(Attempt::Stale)?]
            }
        };
        for (source, known) in sources.iter().zip(&known) {
            // The rules belong to the revision that the guard names.
            let mut window = hull(page.reads(slot), known.reads(slot));
            if page.max_per_day.is_some() {
                // Another booking on the same date may be the last one.
                window = hull(window, page.whole_days(slot));
            } else if !chosen.contains(&source.calendar) {
                continue;
            }
            changes.guards.push(Guard::CalendarTime { calendar: source.calendar, seen: source.revision, window });
        }
        Ok(DecidedSlot { slot, calendars: chosen, count, joins })
    }

    /// What the page does not offer in `window`, and what guests can join there.
    async fn taken_on_page(
        &self,
        page: &BookingPage,
        (parties, humans): (&Parties, &[HumanSeen]),
        window: Span,
        moving: Moving<'_>,
        now: Timestamp,
    ) -> Result<TakenOnPage, Attempt> {
        let (around, sources) = (page.reads(window), &parties.sources);
        let humans = self.read_humans(page.org, (humans.to_vec(), sources), widest(around), now, false).await?;
        let (mut each, mut all_known, mut until) = (Vec::new(), Vec::new(), None);
        for source in sources {
            let here = moving.leaving().iter().filter(|event| event.calendar == source.calendar);
            let own: Vec<Span> = here.filter_map(Event::busy).collect();
            let found = self.taken_time(page.org, *source, &humans, (window, around), &own, now).await?;
            let TakenTime { not_offered, busy, known, valid_until } = found.ok_or(Attempt::Stale)?;
            each.push(page.taken(&not_offered, &busy, window));
            all_known.push(known);
            until = sooner(until, valid_until);
        }
        let full = self.full_days(page, sources, window, moving).await?;
        let shared = self.shared_in(page, (sources, &humans), window, moving, now).await?;
        let spans = shared.iter().map(|event| event.span).collect();
        let taken = Taken::of(parties.assignment, each).with_shared(spans).and(&full.clip(window));
        Ok(TakenOnPage { taken, shared, known: all_known, valid_until: until })
    }

    /// The events in `window` that another guest can join: those whose time is taken by guests of the page alone.
    async fn shared_in(
        &self,
        page: &BookingPage,
        (sources, humans): (&[BusySource], &Humans),
        window: Span,
        moving: Moving<'_>,
        now: Timestamp,
    ) -> Result<Vec<SharedEvent>, Attempt> {
        let ([source], true) = (sources, page.is_shared()) else { return Ok(Vec::new()) };
        let found = self.parts.store.shared_events(page.org, page.id, source.calendar, window).await?;
        let mut shared = page.joinable(found, now);
        shared.retain(|event| moving.events.iter().all(|own| own.id != event.id));
        if shared.is_empty() {
            return Ok(shared);
        }
        let leaving = moving.leaving().iter().filter(|event| event.calendar == source.calendar);
        let own: Vec<Span> = leaving.filter_map(Event::busy).chain(shared.iter().map(|event| event.span)).collect();
        let read = (window, page.reads(window));
        let found = self.taken_time(page.org, *source, humans, read, &own, now).await?;
        let TakenTime { not_offered, busy, .. } = found.ok_or(Attempt::Stale)?;
        let others = page.taken(&not_offered, &busy, window);
        shared.retain(|event| !others.overlaps(event.span));
        Ok(shared)
    }

    /// The dates in `window` on which the page takes no more bookings. The booking that moves does not count, and neither do
    /// those whose events are on calendars of no source now: the revisions of the sources say when this changes.
    async fn full_days(
        &self,
        page: &BookingPage,
        sources: &[BusySource],
        window: Span,
        moving: Moving<'_>,
    ) -> Result<BusySet, Refusal> {
        if page.max_per_day.is_none() {
            return Ok(BusySet::EMPTY);
        }
        let calendars: Vec<CalendarId> = sources.iter().map(|source| source.calendar).collect();
        let booked = self.parts.store.booked_starts(page.org, page.id, &calendars, page.whole_days(window)).await?;
        let mut own = moving.events.first().map(|event| event.id);
        let others = booked.into_iter().filter(|(event, _)| own.take_if(|own| own == event).is_none());
        Ok(page.full_days(&others.map(|(_, start)| start).collect::<Vec<_>>()))
    }
}

pub(crate) fn no_page() -> Refusal {
    // The slug is the secret that opens the page, so the error does not repeat it.
    Refusal::missing(Missing::BookingPage, "at this address")
}

fn refused_slot(error: SlotError) -> Refusal {
    match error {
        SlotError::NotOnGrid(_) => FieldError::new("start", error.to_string()).into(),
        SlotError::Taken { wanted, nearest } => Refusal::BookingTaken { wanted, nearest },
    }
}
