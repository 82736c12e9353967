//! The rules of events, holds, series and proposals, written as plainly as possible, over lists that are searched from
//! start to end.
//!
//! Nothing here is shared with the rules of the service. All times are in microseconds.

use super::history::{AGENTS, CALENDARS, GUESTS_CALENDAR, Status, TITLE};

/// The grid on which free times are searched around a time that is taken.
const QUARTER: i64 = 15 * 60 * 1_000_000;
/// How often a series repeats.
pub(super) const DAY: i64 = 96 * QUARTER;
/// How many free times a refusal offers.
const NEAREST: usize = 3;

/// The fields of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub until: i64,
    pub priority: u8,
    /// Whether it must fit all calendars of the agent.
    pub wide: bool,
}

/// One event or series.
#[derive(Debug, Clone)]
pub(super) struct Thing {
    pub calendar: usize,
    /// The start of the event, or of the first occurrence.
    pub start: i64,
    pub end: i64,
    /// How many occurrences a series has.
    pub repeats: Option<u8>,
    pub title: String,
    /// The status that was last written: an expired hold may still be a hold here.
    pub status: Status,
    /// Kept when a hold expires.
    pub hold: Option<Held>,
    pub set: Option<usize>,
    pub deleted: bool,
    /// How often it was written, including its creation.
    pub writes: i64,
}

/// An event as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventView {
    pub calendar: usize,
    pub title: String,
    pub start: i64,
    pub end: i64,
    pub status: Status,
    /// Expiry and priority.
    pub hold: Option<(i64, u8)>,
    pub set: Option<usize>,
}

/// A proposal of one time.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub calendar: usize,
    pub start: i64,
    pub end: i64,
    /// Whether the time is reserved on the calendar.
    pub reserve: bool,
    /// Whether a time that is taken is not confirmed.
    pub skip: bool,
    /// Which agents have accepted.
    pub accepted: [bool; AGENTS],
    pub state: OfferState,
    /// The events that it became: the organizer's first.
    pub things: Vec<usize>,
    /// How often it was written, including its creation.
    pub writes: i64,
}

/// The status of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfferState {
    Pending,
    Confirmed,
    Cancelled,
    Expired,
}

/// A request, with the things that it names.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Book {
        calendar: usize,
        start: i64,
        end: i64,
        tentative: bool,
        if_free: bool,
    },
    /// A series, with the number of its occurrences.
    Repeat {
        calendar: usize,
        start: i64,
        end: i64,
        count: u8,
        if_free: bool,
    },
    /// The occurrence of a series at this time and all later ones get these times.
    Split(usize, i64, (i64, i64), bool),
    /// All occurrences of a series move by as much as the one at this time, which gets these times.
    Shift(usize, i64, (i64, i64), bool),
    /// A series ends before its occurrence at this time.
    Cut(usize, i64),
    Propose {
        calendar: usize,
        start: i64,
        end: i64,
        reserve: bool,
        skip: bool,
    },
    /// An agent accepts an offer.
    Accept(usize, usize),
    Settle(usize),
    Withdraw(usize),
    Hold {
        calendar: usize,
        start: i64,
        end: i64,
        held: Held,
    },
    HoldSet {
        calendars: Vec<usize>,
        start: i64,
        end: i64,
        held: Held,
    },
    Confirm(usize),
    Release(usize),
    ConfirmSet(usize),
    ReleaseSet(usize),
    Expire,
    /// With the new times.
    Move(usize, (i64, i64), bool),
    /// With the new calendar.
    Carry(usize, usize, bool),
    /// With the new expiry.
    Prolong(usize, i64),
    SetStatus(usize, Status, bool),
    Rename(usize, String),
    Delete(usize),
}

/// Why something is not a live hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It expired at this time.
    Expired(i64),
    /// It has another status.
    NotAHold(Status),
}

/// Why nothing becomes of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoOffer {
    /// It has this status.
    NotPending(OfferState),
    /// The agent has accepted before.
    AcceptedBefore,
    /// Nobody has accepted.
    NoResponses,
}

/// A conflict: calendar, kind, start, end.
pub(super) type Conflict = (usize, &'static str, i64, i64);

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// These events are returned.
    Shows(Vec<usize>),
    /// Nothing is returned.
    Nothing,
    /// This proposal is returned, or what became of it.
    Offers(usize),
    /// 409 for a proposal, for this reason.
    OfferRefused(NoOffer),
    /// 400 for a proposal of a time that has begun.
    Begun,
    /// That many holds had expired.
    Ended(usize),
    /// 409 `slot_taken`.
    Taken { conflicts: Vec<Conflict>, calendars: Vec<usize>, wanted: (i64, i64) },
    /// 404 for something of this kind.
    Missing(&'static str),
    /// 409 `hold_expired` or `not_a_hold`.
    Refused(Trouble),
    /// 409 `hold_expired` or `not_a_hold` for a hold set, for any of these reasons.
    SetRefused(Vec<(usize, Trouble)>),
    /// 409 `hold_status`.
    StatusIsNotSet,
    /// 400 for a hold whose time is over.
    Over,
    /// 400 for a hold that must fit all calendars of an agent, on a calendar that no agent owns.
    NoAgent,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SentMessage {
    pub kind: String,
    pub thing: usize,
    pub reason: Option<String>,
    pub view: EventView,
    pub version: i64,
}

/// A message about a proposal: its type, the proposal, and its version.
pub(super) type OfferMessage = (String, usize, i64);

/// What a request sends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Messages {
    pub things: Vec<SentMessage>,
    pub offers: Vec<OfferMessage>,
}

impl Messages {
    /// Adds those of a later request.
    pub(super) fn append(&mut self, later: Self) {
        self.things.extend(later.things);
        self.offers.extend(later.offers);
    }

    /// The messages in an order that does not depend on when they were sent.
    pub(super) fn sorted(mut self) -> Self {
        self.things.sort();
        self.offers.sort();
        self
    }
}

/// Something that takes time on a calendar.
#[derive(Debug, Clone, Copy)]
struct Block {
    calendar: usize,
    kind: &'static str,
    start: i64,
    end: i64,
    of: Owner,
}

/// What takes a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Thing(usize),
    Offer(usize),
}

impl Block {
    const fn overlaps(&self, start: i64, end: i64) -> bool {
        self.start < end && start < self.end
    }
}

/// The whole state at a point in time.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub now: i64,
    pub things: Vec<Thing>,
    pub sets: usize,
    pub offers: Vec<Offer>,
}

impl Thing {
    pub(super) fn new(
        calendar: usize,
        start: i64,
        end: i64,
        status: Status,
        hold: Option<Held>,
        set: Option<usize>,
    ) -> Self {
        let title = TITLE.to_owned();
        Self { calendar, start, end, repeats: None, title, status, hold, set, deleted: false, writes: 1 }
    }

    /// The times of its occurrences. An event has one.
    pub(super) fn times(&self) -> Vec<(i64, i64)> {
        let later = (0..i64::from(self.repeats.unwrap_or(1))).map(|number| number * DAY);
        later.map(|later| (self.start + later, self.end + later)).collect()
    }

    /// The times that must be free if this was written with that condition at `now`: of a series, those that are not
    /// over.
    fn wanted(&self, now: i64) -> Vec<(i64, i64)> {
        let mut times = if self.is_plain() { self.times() } else { Vec::new() };
        times.retain(|(_, end)| self.repeats.is_none() || *end > now.max(self.start));
        times
    }

    fn overlaps(&self, start: i64, end: i64) -> bool {
        self.start < end && start < self.end
    }

    /// Whether it is a hold that has expired.
    fn is_over(&self, now: i64) -> bool {
        self.hold.is_some_and(|held| held.until <= now)
    }

    /// Whether it blocks its time as an event.
    pub(super) fn is_plain(&self) -> bool {
        !self.deleted && matches!(self.status, Status::Confirmed | Status::Tentative)
    }

    pub(super) fn is_live_hold(&self, now: i64) -> bool {
        !self.deleted && self.status == Status::Hold && !self.is_over(now)
    }

    /// The kind of block that it is at `now`, as refusals name it; `None` if it takes no time.
    pub(super) fn blocks(&self, now: i64) -> Option<&'static str> {
        match self.status {
            _ if self.deleted => None,
            Status::Confirmed | Status::Tentative => Some("event"),
            Status::Hold => (!self.is_over(now)).then_some("hold"),
            Status::Cancelled => None,
        }
    }

    pub(super) fn view(&self, now: i64) -> EventView {
        let over = self.status == Status::Hold && self.is_over(now);
        EventView {
            calendar: self.calendar,
            title: self.title.clone(),
            start: self.start,
            end: self.end,
            status: if over { Status::Cancelled } else { self.status },
            hold: self.hold.map(|held| (held.until, held.priority)),
            set: self.set,
        }
    }

    fn trouble(&self, now: i64) -> Option<Trouble> {
        match self.hold {
            Some(held) if held.until <= now => Some(Trouble::Expired(held.until)),
            _ if self.status == Status::Hold => None,
            _ => Some(Trouble::NotAHold(self.status)),
        }
    }

    /// Ends the hold with this status.
    fn become_plain(&mut self, status: Status) {
        self.status = status;
        self.hold = None;
        self.writes += 1;
    }
}

/// The calendars that a hold must fit.
fn calendars_of(calendar: usize, wide: bool) -> Vec<usize> {
    match CALENDARS[calendar].1 {
        Some(agent) if wide => (0..CALENDARS.len()).filter(|other| CALENDARS[*other].1 == Some(agent)).collect(),
        _ => vec![calendar],
    }
}

/// The calendars that count for an agent.
pub(super) fn calendars_of_agent(agent: usize) -> Vec<usize> {
    assert!(agent < AGENTS);
    (0..CALENDARS.len()).filter(|calendar| CALENDARS[*calendar].1 == Some(agent)).collect()
}

impl Model {
    pub(super) const fn new(now: i64) -> Self {
        Self { now, things: Vec::new(), sets: 0, offers: Vec::new() }
    }

    /// The calendars that `act` must fit: none if it places nothing.
    pub(super) fn concerned(&self, act: &Act) -> Vec<usize> {
        match act {
            Act::Hold { calendar, held, .. } => calendars_of(*calendar, held.wide),
            Act::HoldSet { calendars, .. } => calendars.clone(),
            Act::Book { calendar, if_free: true, .. } => vec![*calendar],
            Act::Move(thing, times, if_free) => match &self.things[*thing] {
                moved if moved.is_live_hold(self.now) && (moved.start, moved.end) != *times => {
                    calendars_of(moved.calendar, moved.hold.is_some_and(|held| held.wide))
                }
                moved if *if_free && moved.is_plain() => vec![moved.calendar],
                _ => Vec::new(),
            },
            Act::Carry(thing, calendar, if_free) => match &self.things[*thing] {
                carried if carried.calendar == *calendar => Vec::new(),
                carried if carried.is_live_hold(self.now) => {
                    calendars_of(*calendar, carried.hold.is_some_and(|held| held.wide))
                }
                carried if *if_free && carried.is_plain() => vec![*calendar],
                _ => Vec::new(),
            },
            Act::SetStatus(thing, Status::Confirmed | Status::Tentative, true) => {
                vec![self.things[*thing].calendar]
            }
            Act::Repeat { calendar, if_free: true, .. } => vec![*calendar],
            Act::Split(series, _, _, true) | Act::Shift(series, _, _, true) if self.things[*series].is_plain() => {
                vec![self.things[*series].calendar]
            }
            Act::Accept(offer, _) | Act::Settle(offer) if self.offers[*offer].skip => {
                vec![self.offers[*offer].calendar, GUESTS_CALENDAR]
            }
            _ => Vec::new(),
        }
    }

    /// Everything that takes time now.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (index, thing) in self.things.iter().enumerate() {
            let Some(kind) = thing.blocks(self.now) else { continue };
            let of = Owner::Thing(index);
            let times = thing.times().into_iter();
            blocks.extend(times.map(|(start, end)| Block { calendar: thing.calendar, kind, start, end, of }));
        }
        for (index, offer) in self.offers.iter().enumerate() {
            if offer.reserve && self.offer_state(index) == OfferState::Pending {
                let Offer { calendar, start, end, .. } = *offer;
                blocks.push(Block { calendar, kind: "reservation", start, end, of: Owner::Offer(index) });
            }
        }
        blocks
    }

    /// The merged busy times of calendars, within a window.
    pub(super) fn busy(&self, calendars: &[usize], from: i64, to: i64) -> Vec<(i64, i64)> {
        let blocks = self.blocks().into_iter();
        let mut spans: Vec<(i64, i64)> = blocks
            .filter(|block| calendars.contains(&block.calendar) && block.overlaps(from, to))
            .map(|block| (block.start.max(from), block.end.min(to)))
            .collect();
        spans.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged
    }

    pub(super) fn is_free(&self, calendars: &[usize], start: i64, end: i64) -> bool {
        !self.blocks().iter().any(|block| calendars.contains(&block.calendar) && block.overlaps(start, end))
    }

    /// Whether a refusal may offer these free times: the right number, each free and not in the past, the nearest
    /// first, and no nearer one of the grid left out. A time that overlaps the refused one may be left out.
    pub(super) fn offers(&self, calendars: &[usize], (start, end): (i64, i64), offered: &[(i64, i64)]) -> bool {
        let distance = |from: i64| (from - start).abs();
        let good = |(from, to): &(i64, i64)| {
            *from >= self.now && to - from == end - start && self.is_free(calendars, *from, *to)
        };
        let in_order = offered.is_sorted_by(|one, next| (distance(one.0), one.0) < (distance(next.0), next.0));
        let farthest = offered.iter().map(|(from, _)| distance(*from)).max().unwrap_or(0);
        let nearer = (1..).take_while(|steps| steps * QUARTER < farthest);
        let mut nearer = nearer.flat_map(|steps| [start - steps * QUARTER, start + steps * QUARTER]);
        let left_out = nearer.find(|from| {
            let time = (*from, from + end - start);
            (time.1 <= start || end <= time.0) && good(&time) && !offered.contains(&time)
        });
        offered.len() == NEAREST && offered.iter().all(good) && in_order && left_out.is_none()
    }

    /// Makes room at these times, or returns the conflicts. Holds with a lower priority give way. What `except` takes
    /// does not matter.
    pub(super) fn place(
        &mut self,
        calendars: &[usize],
        times: &[(i64, i64)],
        priority: u8,
        except: Option<Owner>,
        sent: &mut Messages,
    ) -> Result<(), Outcome> {
        let (Some(first), Some(last)) = (times.first().copied(), times.last().copied()) else { return Ok(()) };
        let now = self.now;
        let gives_way =
            |thing: &Thing| thing.is_live_hold(now) && thing.hold.is_some_and(|held| held.priority < priority);
        let mut blocks = self.blocks();
        blocks.retain(|block| {
            let stays = match block.of {
                Owner::Thing(thing) => !gives_way(&self.things[thing]),
                Owner::Offer(_) => true,
            };
            Some(block.of) != except && calendars.contains(&block.calendar) && stays
        });
        let met = |(start, end): &(i64, i64)| blocks.iter().any(|block| block.overlaps(*start, *end));
        if let Some(wanted) = times.iter().find(|time| met(time)) {
            blocks.retain(|block| times.iter().any(|(start, end)| block.overlaps(*start, *end)));
            let conflict = |block: &Block| (block.calendar, block.kind, block.start, block.end);
            let mut conflicts: Vec<Conflict> = blocks.iter().map(conflict).collect();
            conflicts.sort_unstable();
            return Err(Outcome::Taken { conflicts, calendars: calendars.to_vec(), wanted: *wanted });
        }
        // Holds that have expired are ended between the first and the last of the times.
        for thing in 0..self.things.len() {
            let met = &self.things[thing];
            if Some(Owner::Thing(thing)) == except
                || !calendars.contains(&met.calendar)
                || !met.overlaps(first.0, last.1)
            {
                continue;
            }
            if gives_way(met) {
                self.things[thing].become_plain(Status::Cancelled);
                self.emit("event.hold_expired", thing, Some("preempted"), sent);
            } else {
                self.write_expiry(thing, sent);
            }
        }
        Ok(())
    }

    /// Ends a hold that has expired, unless that was written before.
    fn write_expiry(&mut self, thing: usize, sent: &mut Messages) -> bool {
        let now = self.now;
        let due = &mut self.things[thing];
        if due.deleted || due.status != Status::Hold || !due.is_over(now) {
            return false;
        }
        due.status = Status::Cancelled;
        due.writes += 1;
        self.emit("event.hold_expired", thing, Some("expired"), sent);
        true
    }

    pub(super) fn emit(&self, kind: &str, thing: usize, reason: Option<&str>, sent: &mut Messages) {
        let about = &self.things[thing];
        sent.things.push(SentMessage {
            kind: kind.to_owned(),
            thing,
            reason: reason.map(str::to_owned),
            view: about.view(self.now),
            version: about.writes,
        });
    }

    /// The visible things of a set.
    fn of_set(&self, set: usize) -> Vec<usize> {
        (0..self.things.len())
            .filter(|thing| self.things[*thing].set == Some(set) && !self.things[*thing].deleted)
            .collect()
    }

    pub(super) fn add(&mut self, thing: Thing) -> usize {
        self.things.push(thing);
        self.things.len() - 1
    }

    /// Applies the request and returns its outcome.
    pub(super) fn apply(&mut self, act: &Act) -> (Outcome, Messages) {
        let mut sent = Messages::default();
        let outcome = self.outcome(act, &mut sent).unwrap_or_else(|refused| refused);
        (outcome, sent)
    }

    fn outcome(&mut self, act: &Act, sent: &mut Messages) -> Result<Outcome, Outcome> {
        let now = self.now;
        match act {
            Act::Book { calendar, start, end, tentative, if_free } => {
                if *if_free {
                    self.place(&[*calendar], &[(*start, *end)], 0, None, sent)?;
                }
                let status = if *tentative { Status::Tentative } else { Status::Confirmed };
                let made = self.add(Thing::new(*calendar, *start, *end, status, None, None));
                self.emit("event.created", made, None, sent);
                Ok(Outcome::Shows(vec![made]))
            }
            Act::Repeat { calendar, start, end, count, if_free } => {
                let series = Thing {
                    repeats: Some(*count),
                    ..Thing::new(*calendar, *start, *end, Status::Confirmed, None, None)
                };
                if *if_free {
                    self.place(&[*calendar], &series.wanted(now), 0, None, sent)?;
                }
                let made = self.add(series);
                self.emit("event.created", made, None, sent);
                Ok(Outcome::Shows(vec![made]))
            }
            Act::Split(series, at, times, if_free) => {
                let earlier = self.occurrences_before(*series, *at)?;
                if earlier == 0 {
                    return self.shift(*series, *at, *times, *if_free, sent);
                }
                // A series becomes two, or stays as it is.
                let mut split = self.clone();
                let before = &mut split.things[*series];
                let left = before.repeats.map(|count| count - earlier);
                // It is split off, then changed: one write, but two versions.
                let rest = Thing { start: times.0, end: times.1, repeats: left, writes: 2, ..before.clone() };
                before.repeats = Some(earlier);
                before.writes += 1;
                if *if_free {
                    split.place(&[rest.calendar], &rest.wanted(now), 0, None, sent)?;
                }
                split.emit("event.updated", *series, None, sent);
                let made = split.add(rest);
                split.emit("event.created", made, None, sent);
                *self = split;
                Ok(Outcome::Shows(vec![made]))
            }
            Act::Shift(series, at, times, if_free) => {
                self.occurrences_before(*series, *at)?;
                self.shift(*series, *at, *times, *if_free, sent)
            }
            Act::Cut(series, at) => {
                let earlier = self.occurrences_before(*series, *at)?;
                if earlier == 0 {
                    return self.outcome(&Act::Delete(*series), sent);
                }
                self.things[*series].repeats = Some(earlier);
                self.updated(*series, sent);
                Ok(Outcome::Nothing)
            }
            Act::Propose { calendar, start, end, reserve, skip } => {
                self.propose(*calendar, (*start, *end), (*reserve, *skip), sent)
            }
            Act::Accept(offer, agent) => self.accept(*offer, *agent, sent),
            Act::Settle(offer) => self.settle(*offer, sent),
            Act::Withdraw(offer) => self.withdraw(*offer, sent),
            Act::Hold { calendar, start, end, held } => {
                self.require_ahead(*end)?;
                self.place(&calendars_of(*calendar, held.wide), &[(*start, *end)], held.priority, None, sent)?;
                let made = self.add(Thing::new(*calendar, *start, *end, Status::Hold, Some(*held), None));
                self.emit("event.hold_created", made, None, sent);
                Ok(Outcome::Shows(vec![made]))
            }
            Act::HoldSet { calendars, start, end, held } => {
                self.require_ahead(*end)?;
                self.place(calendars, &[(*start, *end)], held.priority, None, sent)?;
                let mut made = Vec::new();
                for calendar in calendars {
                    let set = Some(self.sets);
                    made.push(self.add(Thing::new(*calendar, *start, *end, Status::Hold, Some(*held), set)));
                }
                self.sets += 1;
                made.iter().for_each(|thing| self.emit("event.hold_created", *thing, None, sent));
                Ok(Outcome::Shows(made))
            }
            Act::Confirm(thing) => self.decide(*thing, Status::Confirmed, "event.hold_confirmed", sent),
            Act::Release(thing) => self.decide(*thing, Status::Cancelled, "event.hold_released", sent),
            Act::ConfirmSet(set) => {
                let of_it = self.of_set(*set);
                let troubles = self.troubles(&of_it)?;
                if !troubles.is_empty() {
                    return Err(Outcome::SetRefused(troubles));
                }
                for thing in &of_it {
                    self.things[*thing].become_plain(Status::Confirmed);
                    self.emit("event.hold_confirmed", *thing, None, sent);
                }
                Ok(Outcome::Shows(of_it))
            }
            Act::ReleaseSet(set) => {
                let of_it = self.of_set(*set);
                let troubles = self.troubles(&of_it)?;
                if troubles.len() == of_it.len() {
                    return Err(Outcome::SetRefused(troubles));
                }
                for thing in &of_it {
                    if self.things[*thing].trouble(now).is_none() {
                        self.things[*thing].become_plain(Status::Cancelled);
                        self.emit("event.hold_released", *thing, None, sent);
                    }
                }
                Ok(Outcome::Shows(of_it))
            }
            Act::Expire => {
                let ended = (0..self.things.len()).filter(|thing| self.write_expiry(*thing, sent)).count();
                Ok(Outcome::Ended(ended))
            }
            Act::Move(thing, times, if_free) => {
                self.require_visible(*thing)?;
                let (moved, own) = (self.things[*thing].clone(), Some(Owner::Thing(*thing)));
                if let Some(held) = moved.hold.filter(|held| held.until <= now) {
                    return Err(Outcome::Refused(Trouble::Expired(held.until)));
                }
                if moved.is_live_hold(now) && (moved.start, moved.end) != *times {
                    self.require_ahead(times.1)?;
                    let held = moved.hold.unwrap_or(Held { until: 0, priority: 0, wide: false });
                    let calendars = calendars_of(moved.calendar, held.wide);
                    self.place(&calendars, &[*times], held.priority, own, sent)?;
                } else if *if_free && moved.is_plain() {
                    self.place(&[moved.calendar], &[*times], 0, own, sent)?;
                }
                let moved = &mut self.things[*thing];
                (moved.start, moved.end) = *times;
                Ok(self.updated(*thing, sent))
            }
            Act::Carry(thing, calendar, if_free) => {
                self.require_visible(*thing)?;
                let carried = self.things[*thing].clone();
                if carried.calendar == *calendar {
                    return Ok(Outcome::Shows(vec![*thing]));
                }
                if let Some(held) = carried.hold.filter(|held| held.until <= now) {
                    return Err(Outcome::Refused(Trouble::Expired(held.until)));
                }
                let (times, own) = (carried.times(), Some(Owner::Thing(*thing)));
                match carried.hold.filter(|_| carried.is_live_hold(now)) {
                    Some(held) if held.wide && CALENDARS[*calendar].1.is_none() => return Err(Outcome::NoAgent),
                    Some(held) => {
                        let calendars = calendars_of(*calendar, held.wide);
                        self.place(&calendars, &times, held.priority, own, sent)?;
                    }
                    None if *if_free => self.place(&[*calendar], &carried.wanted(now), 0, own, sent)?,
                    None => {}
                }
                self.things[*thing].calendar = *calendar;
                Ok(self.updated(*thing, sent))
            }
            Act::Prolong(thing, until) => {
                self.require_visible(*thing)?;
                if let Some(trouble) = self.things[*thing].trouble(now) {
                    return Err(Outcome::Refused(trouble));
                }
                if let Some(held) = &mut self.things[*thing].hold {
                    held.until = *until;
                }
                Ok(self.updated(*thing, sent))
            }
            Act::SetStatus(thing, status, if_free) => {
                self.require_visible(*thing)?;
                match self.things[*thing].hold {
                    Some(held) if held.until <= now => return Err(Outcome::Refused(Trouble::Expired(held.until))),
                    Some(_) => return Err(Outcome::StatusIsNotSet),
                    None => {
                        let after = Thing { status: *status, ..self.things[*thing].clone() };
                        if *if_free {
                            let own = Some(Owner::Thing(*thing));
                            self.place(&[after.calendar], &after.wanted(now), 0, own, sent)?;
                        }
                        self.things[*thing].status = *status;
                    }
                }
                Ok(self.updated(*thing, sent))
            }
            Act::Rename(thing, title) => {
                self.require_visible(*thing)?;
                self.things[*thing].title.clone_from(title);
                Ok(self.updated(*thing, sent))
            }
            Act::Delete(thing) => {
                self.require_visible(*thing)?;
                self.things[*thing].deleted = true;
                self.things[*thing].writes += 1;
                self.emit("event.deleted", *thing, None, sent);
                Ok(Outcome::Nothing)
            }
        }
    }

    /// How many occurrences a visible series has before the one at this time.
    fn occurrences_before(&self, series: usize, at: i64) -> Result<u8, Outcome> {
        self.require_visible(series)?;
        let starts = (0..).zip(self.things[series].times());
        let found = starts.filter(|(_, (start, _))| *start == at).map(|(number, _)| number).next();
        found.ok_or(Outcome::Missing("event"))
    }

    /// Moves all occurrences of a series by as much as the one at this time.
    fn shift(
        &mut self,
        series: usize,
        at: i64,
        (start, end): (i64, i64),
        if_free: bool,
        sent: &mut Messages,
    ) -> Result<Outcome, Outcome> {
        let mut moved = self.things[series].clone();
        moved.start += start - at;
        moved.end = moved.start + (end - start);
        if if_free {
            self.place(&[moved.calendar], &moved.wanted(self.now), 0, Some(Owner::Thing(series)), sent)?;
        }
        self.things[series] = moved;
        Ok(self.updated(series, sent))
    }

    fn require_visible(&self, thing: usize) -> Result<(), Outcome> {
        if self.things[thing].deleted { Err(Outcome::Missing("event")) } else { Ok(()) }
    }

    /// A hold ends after now.
    fn require_ahead(&self, end: i64) -> Result<(), Outcome> {
        if end > self.now { Ok(()) } else { Err(Outcome::Over) }
    }

    fn updated(&mut self, thing: usize, sent: &mut Messages) -> Outcome {
        self.things[thing].writes += 1;
        self.emit("event.updated", thing, None, sent);
        Outcome::Shows(vec![thing])
    }

    fn decide(&mut self, thing: usize, status: Status, kind: &str, sent: &mut Messages) -> Result<Outcome, Outcome> {
        self.require_visible(thing)?;
        if let Some(trouble) = self.things[thing].trouble(self.now) {
            return Err(Outcome::Refused(trouble));
        }
        self.things[thing].become_plain(status);
        self.emit(kind, thing, None, sent);
        Ok(Outcome::Shows(vec![thing]))
    }

    fn troubles(&self, of_set: &[usize]) -> Result<Vec<(usize, Trouble)>, Outcome> {
        if of_set.is_empty() {
            return Err(Outcome::Missing("hold set"));
        }
        Ok(of_set.iter().filter_map(|thing| Some((*thing, self.things[*thing].trouble(self.now)?))).collect())
    }
}
