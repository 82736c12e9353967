//! Replays a history on the service and on the model, and compares everything visible after each operation.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use kalends_app::{Missing, Refusal, operations};
use kalends_calendars::BlockKind;
use kalends_calendars::{
    CONFLICTS_MAX, Event, EventPatch, HOLD_MOST, HoldError, HoldExpiry, Occurrence, Patch, SeriesScope,
    ports::{EventFilter, InstanceFilter, StatusAt},
};
use kalends_kernel::{MessageId, MetadataFilter, Page, SlotId};
use kalends_proposals::{NewResponse, ProposalError};
use kalends_time::Timestamp;
use kalends_wire::SlotQuery;
use kalends_wire::{self as wire, Listing, NewHoldSet, SlotsRequest, WantedResponse};
use serde::Deserialize;
use serde_json::Value;

use super::{
    history::{AGENTS, CALENDARS, GUEST, History, ORGANIZER, Operation, Pass, Status, TITLE, Time},
    model::{
        Act, DAY, EventView, Held, Messages, Model, NoOffer, OfferState, Outcome, SentMessage, Trouble,
        calendars_of_agent,
    },
    service::{Call, Reply, Returned, Service, daily, hold, new_event, other_times, path, proposal, span, status},
};
use crate::{Inspect, conformance::StoreUnderTest, fixtures::Fixtures};

/// A result whose error describes the difference from the model.
type Checked<T = ()> = Result<T, String>;

/// The start and end of the queried windows, in quarters of an hour after the first start. The first contains
/// everything; the second cuts some things.
const WINDOWS: [(u16, u16); 2] = [(0, 3 * 96 + 32), (3, 11)];

macro_rules! agree {
    ($expected:expr, $got:expr, $($what:tt)*) => {{
        let (expected, got) = (&$expected, &$got);
        if expected != got {
            return Err(format!("{}\n  expected {expected:?}\n       got {got:?}", format!($($what)*)));
        }
    }};
}

/// Replays `history` in an organization of its own.
///
/// # Errors
/// The difference from the model, and the operation after which it appeared.
pub(super) async fn replay(under_test: &StoreUnderTest, make: &Fixtures, history: &History) -> Checked {
    let service = Service::open(under_test, make).await;
    let now = service.now();
    let inspect = Arc::clone(&under_test.inspect);
    let mut replay = Replay {
        service,
        inspect,
        model: Model::new(now),
        things: Vec::new(),
        sets: Vec::new(),
        offers: Vec::new(),
        seen: HashSet::new(),
        audited: Vec::new(),
        step: 0,
    };
    let mut checked = Ok(());
    for (index, operation) in history.0.iter().enumerate() {
        replay.step = index;
        checked = replay.step(operation).await.map_err(|what| {
            let at = Timestamp::from_micros(replay.model.now);
            format!("after operation {index} at {at} ({operation}): {what}\n{}", replay.all_things())
        });
        if checked.is_err() {
            break;
        }
    }
    // All remaining holds expire, even after a difference, since other histories share the store.
    let last = replay.model.things.iter().filter_map(|thing| thing.hold).map(|held| held.until).max();
    replay.set_clock(last.unwrap_or(0).max(replay.model.now));
    let mut ended = replay.request(Act::Expire).await;
    if ended.is_ok() {
        ended = replay.audit().await;
    }
    checked.and(ended.map_err(|what| format!("at the end: {what}\n{}", replay.all_things())))
}

struct Replay {
    service: Service,
    inspect: Arc<dyn Inspect>,
    model: Model,
    /// The identifiers of the model's things.
    things: Vec<String>,
    /// The identifiers of the model's hold sets.
    sets: Vec<String>,
    /// The identifiers of the model's proposals, each with its slot.
    offers: Vec<(String, SlotId)>,
    seen: HashSet<MessageId>,
    /// The expected entries of the audit log: action and resource.
    audited: Vec<(String, String)>,
    step: usize,
}

impl Replay {
    /// The node that runs the operation. Queries go to either.
    const fn node(&self) -> usize {
        self.step / 2 % 2
    }

    fn set_clock(&mut self, now: i64) {
        self.model.now = now;
        self.service.set_clock(now);
    }

    async fn step(&mut self, operation: &Operation) -> Checked {
        match operation {
            Operation::Pass(pass) => {
                self.pass(*pass);
                self.look().await
            }
            Operation::Overtaken { slow, looked, fast } => match (self.act(slow), self.act(fast)) {
                (Some(slow), Some(fast)) => self.overtaken(slow, *looked, fast).await,
                _ => Ok(()),
            },
            plain => match self.act(plain) {
                Some(act) => self.request(act).await,
                None => Ok(()),
            },
        }
    }

    fn pass(&mut self, pass: Pass) {
        let now = self.model.now;
        let live: Vec<i64> = self
            .model
            .things
            .iter()
            .filter(|thing| thing.is_live_hold(now))
            .filter_map(|thing| thing.hold.map(|held| held.until))
            .collect();
        let then = match pass {
            Pass::Micros(micros) => now + i64::from(micros),
            Pass::ToExpiry(pick, off) => match live.len() {
                0 => now,
                count => live[usize::from(pick) % count] + i64::from(off),
            },
        };
        self.set_clock(then.max(now));
    }

    /// The request of an operation at this point; `None` if there is nothing that it could apply to.
    fn act(&self, operation: &Operation) -> Option<Act> {
        let times = |time: &Time| {
            let start = u16::from(time.start);
            (Service::quarter(start), Service::quarter(start + u16::from(time.quarters)))
        };
        let pick = |pick: &u8| usize::from(*pick).checked_rem(self.things.len());
        let pick_set = |pick: &u8| usize::from(*pick).checked_rem(self.sets.len());
        let newest = |pick: &u8, count: usize| (count - usize::from(*pick).checked_rem(count)?).checked_sub(1);
        let pick_offer = |pick: &u8| newest(pick, self.offers.len());
        // A series, and the start of one of its occurrences.
        let pick_occurrence = |series: &u8, occurrence: &u8| {
            let all: Vec<usize> = (0..self.things.len()).filter(|thing| self.is_series(*thing)).collect();
            let series = *all.get(newest(series, all.len())?)?;
            let times = self.model.things[series].times();
            let (start, _) = *times.get(usize::from(*occurrence).checked_rem(times.len())?)?;
            Some((series, start))
        };
        let held = |priority: u8, lasts: u16, wide: bool| Held {
            until: self.model.now + i64::from(lasts) * 1_000_000,
            priority,
            wide,
        };
        Some(match operation {
            Operation::Book { calendar, time, tentative, if_free } => {
                let (start, end) = times(time);
                Act::Book { calendar: *calendar, start, end, tentative: *tentative, if_free: *if_free }
            }
            Operation::Hold { calendar, time, priority, lasts, wide } => {
                let (start, end) = times(time);
                Act::Hold { calendar: *calendar, start, end, held: held(*priority, *lasts, *wide) }
            }
            Operation::HoldSet { calendars, time, priority, lasts } => {
                let (start, end) = times(time);
                Act::HoldSet { calendars: calendars.clone(), start, end, held: held(*priority, *lasts, false) }
            }
            Operation::Confirm(thing) => Act::Confirm(pick(thing)?),
            Operation::Release(thing) => Act::Release(pick(thing)?),
            Operation::ConfirmSet(set) => Act::ConfirmSet(pick_set(set)?),
            Operation::ReleaseSet(set) => Act::ReleaseSet(pick_set(set)?),
            Operation::Expire => Act::Expire,
            Operation::Move(thing, time, if_free) => match pick(thing)? {
                // With new times in the series itself, occurrences after an `UNTIL` would be lost.
                series if self.is_series(series) => {
                    Act::Shift(series, self.model.things[series].start, times(time), *if_free)
                }
                thing => Act::Move(thing, times(time), *if_free),
            },
            Operation::Repeat { calendar, time, count, if_free } => {
                let (start, end) = times(time);
                Act::Repeat { calendar: *calendar, start, end, count: *count, if_free: *if_free }
            }
            Operation::Split { series, occurrence, time, back, if_free } => {
                let (series, at) = pick_occurrence(series, occurrence)?;
                let (start, end) = times(time);
                let day = if *back { 0 } else { (at - Service::quarter(0)) / DAY * DAY };
                Act::Split(series, at, (start + day, end + day), *if_free)
            }
            Operation::Cut(series, occurrence) => {
                let (series, at) = pick_occurrence(series, occurrence)?;
                Act::Cut(series, at)
            }
            Operation::Propose { calendar, time, reserve, skip } => {
                let (start, end) = times(time);
                Act::Propose { calendar: *calendar, start, end, reserve: *reserve, skip: *skip }
            }
            Operation::Accept(offer, agent) => Act::Accept(pick_offer(offer)?, *agent),
            Operation::Settle(offer) => Act::Settle(pick_offer(offer)?),
            Operation::Withdraw(offer) => Act::Withdraw(pick_offer(offer)?),
            Operation::Carry(thing, calendar, if_free) => Act::Carry(pick(thing)?, *calendar, *if_free),
            Operation::SetStatus(thing, status, if_free) => Act::SetStatus(pick(thing)?, *status, *if_free),
            Operation::Prolong(thing, lasts) => {
                Act::Prolong(pick(thing)?, self.model.now + i64::from(*lasts) * 1_000_000)
            }
            Operation::Rename(thing) => Act::Rename(pick(thing)?, format!("No {}", self.step)),
            Operation::Delete(thing) => Act::Delete(pick(thing)?),
            Operation::Pass(_) | Operation::Overtaken { .. } => return None,
        })
    }

    fn is_series(&self, thing: usize) -> bool {
        self.model.things[thing].repeats.is_some()
    }

    fn call(&self, act: &Act) -> Call {
        let occurrence = |series: &usize, at: &i64| {
            let series = self.things[*series].parse().expect("the identifier of an event");
            Occurrence { series, start: Timestamp::from_micros(*at) }.to_string()
        };
        let id = |thing: &usize| self.things[*thing].clone();
        let calendar = |calendar: &usize| self.service.calendars[*calendar].to_string();
        let patch = |patch: EventPatch| Box::new(patch);
        match act {
            Act::Book { calendar: on, start, end, tentative, if_free } => {
                let as_what = if *tentative { Status::Tentative } else { Status::Confirmed };
                let mut new = new_event(*start, *end, as_what, None);
                new.if_free = *if_free;
                Call::Create { calendar: calendar(on), new }
            }
            Act::Repeat { calendar: on, start, end, count, if_free } => {
                let mut new = new_event(*start, *end, Status::Confirmed, None);
                new.recurrence = Some(daily(*count));
                new.if_free = *if_free;
                Call::Create { calendar: calendar(on), new }
            }
            Act::Split(series, at, (start, end), if_free) => {
                let mut later = other_times(*start, *end);
                later.if_free = *if_free;
                Call::Patch(occurrence(series, at), SeriesScope::Following, later)
            }
            Act::Shift(series, at, (start, end), if_free) => {
                let mut all = other_times(*start, *end);
                all.if_free = *if_free;
                Call::Patch(occurrence(series, at), SeriesScope::All, all)
            }
            Act::Cut(series, at) => Call::Delete(occurrence(series, at), SeriesScope::Following),
            Act::Propose { calendar: on, start, end, reserve, skip } => {
                let agents = &self.service.agents;
                Call::Propose(proposal(agents, calendar(on), span(*start, *end), *reserve, *skip))
            }
            Act::Accept(offer, agent) => {
                let (id, slot) = &self.offers[*offer];
                let response = NewResponse::accept(*slot);
                let agent = self.service.agents[*agent].clone();
                Call::Respond(id.clone(), WantedResponse { agent, calendar: None, response })
            }
            Act::Settle(offer) => Call::Settle(self.offers[*offer].0.clone()),
            Act::Withdraw(offer) => Call::Withdraw(self.offers[*offer].0.clone()),
            Act::Hold { calendar: on, start, end, held } => {
                Call::Create { calendar: calendar(on), new: new_event(*start, *end, Status::Hold, Some(*held)) }
            }
            Act::HoldSet { calendars, start, end, held } => Call::CreateSet(NewHoldSet {
                title: TITLE.into(),
                span: span(*start, *end),
                calendars: calendars.iter().map(calendar).collect(),
                agents: Vec::new(),
                hold: hold(*held),
                if_as_of: None,
            }),
            Act::Confirm(thing) => Call::Confirm(id(thing)),
            Act::Release(thing) => Call::Release(id(thing)),
            Act::ConfirmSet(set) => Call::ConfirmSet(self.sets[*set].clone()),
            Act::ReleaseSet(set) => Call::ReleaseSet(self.sets[*set].clone()),
            Act::Expire => Call::Expire,
            Act::Move(thing, (start, end), if_free) => {
                let mut moved = other_times(*start, *end);
                moved.if_free = *if_free;
                Call::Patch(id(thing), SeriesScope::This, moved)
            }
            Act::Carry(thing, to, if_free) => Call::Carry { id: id(thing), calendar: calendar(to), if_free: *if_free },
            Act::SetStatus(thing, to, if_free) => {
                let to = Patch::Set(status(*to));
                Call::Patch(
                    id(thing),
                    SeriesScope::This,
                    patch(EventPatch { status: to, if_free: *if_free, ..EventPatch::default() }),
                )
            }
            Act::Prolong(thing, until) => {
                let expiry = HoldExpiry { at: Timestamp::from_micros(*until), longest: HOLD_MOST };
                let hold_expires_at = Patch::Set(expiry);
                Call::Patch(
                    id(thing),
                    SeriesScope::This,
                    patch(EventPatch { hold_expires_at, ..EventPatch::default() }),
                )
            }
            Act::Rename(thing, title) => {
                let title = Patch::Set(title.clone());
                Call::Patch(id(thing), SeriesScope::This, patch(EventPatch { title, ..EventPatch::default() }))
            }
            Act::Delete(thing) => Call::Delete(id(thing), SeriesScope::This),
        }
    }

    /// Makes one request alone.
    async fn request(&mut self, act: Act) -> Checked {
        let call = self.call(&act);
        let reply = self.service.make(self.node(), call).await;
        let concerned = self.model.concerned(&act);
        let (outcome, messages) = self.model.apply(&act);
        self.bind(&act, &outcome, &reply)?;
        self.same_outcome(&outcome, &reply)?;
        self.messages(messages).await?;
        self.fits(&outcome, &concerned).await?;
        self.look().await
    }

    /// Makes a request at one node, and another request at the other node while the first one runs. The outcomes must
    /// be those of one request after the other. The overtaken request comes second; only if it is refused, it may also
    /// have come first.
    async fn overtaken(&mut self, slow: Act, looked: u8, fast: Act) -> Checked {
        let slot = Arc::new(Mutex::new(None));
        let (node, call) = (self.node(), self.call(&fast));
        let (other, into) = (self.service.make(1 - node, call), Arc::clone(&slot));
        self.service.interruption.arm(looked, async move {
            let reply = other.await;
            *into.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
        });
        let slow_reply = self.service.make(node, self.call(&slow)).await;
        let late = self.service.interruption.disarm();
        let overtook = late.is_none();
        if let Some(late) = late {
            late.await;
        }
        let fast_reply = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let fast_reply = fast_reply.ok_or("the other request was never made")?;

        let before = self.model.clone();
        if overtook && self.came_first(&slow, &fast, &slow_reply) {
            let mut sent = Messages::default();
            for (act, reply) in [(slow, slow_reply), (fast, fast_reply)] {
                let (outcome, messages) = self.model.apply(&act);
                self.bind(&act, &outcome, &reply)?;
                self.same_outcome(&outcome, &reply).map_err(|what| format!("an acceptance came first: {what}"))?;
                sent.append(messages);
            }
            self.messages(sent).await?;
        } else if overtook {
            let (fast_outcome, mut fast_messages) = self.model.apply(&fast);
            self.bind(&fast, &fast_outcome, &fast_reply)?;
            self.same_outcome(&fast_outcome, &fast_reply).map_err(|what| format!("the overtaking request: {what}"))?;
            let after_fast = self.model.clone();
            let concerned = self.model.concerned(&slow);
            let (slow_outcome, slow_messages) = self.model.apply(&slow);
            if matches!(slow_reply, Err(Refusal::SlotTaken(_))) {
                // It may have read before the other was done, or after.
                let refused_before = matches!(before.clone().apply(&slow).0, Outcome::Taken { .. });
                if !refused_before && !matches!(slow_outcome, Outcome::Taken { .. }) {
                    return Err(format!("refused although nothing was ever in the way: {slow_reply:?}"));
                }
                self.model = after_fast;
            } else {
                self.bind(&slow, &slow_outcome, &slow_reply)?;
                self.same_outcome(&slow_outcome, &slow_reply)
                    .map_err(|what| format!("the overtaken request: {what}"))?;
                fast_messages.append(slow_messages);
                self.fits(&slow_outcome, &concerned).await?;
            }
            self.messages(fast_messages).await?;
        } else {
            let mut messages_of_all = Messages::default();
            for (act, reply) in [(slow, slow_reply), (fast, fast_reply)] {
                let (outcome, messages) = self.model.apply(&act);
                self.bind(&act, &outcome, &reply)?;
                self.same_outcome(&outcome, &reply)?;
                messages_of_all.append(messages);
            }
            self.messages(messages_of_all).await?;
        }
        self.look().await
    }
}

impl Replay {
    /// Whether a request that was overtaken is an acceptance that found the time taken before the other request freed it.
    /// It is recorded nevertheless, so it came first.
    fn came_first(&self, slow: &Act, fast: &Act, reply: &Reply) -> bool {
        let (Act::Accept(offer, _), Ok(Returned::Proposal(proposal))) = (slow, reply) else { return false };
        let state = |acts: &[&Act]| {
            let mut model = self.model.clone();
            acts.iter().for_each(|act| drop(model.apply(act)));
            model.offer_state(*offer)
        };
        let (alone, after) = (state(&[slow]), state(&[fast, slow]));
        proposal.summary.status == "pending" && alone == OfferState::Pending && after == OfferState::Confirmed
    }
}

/// The payload of a message about an event, as a receiver reads it.
#[derive(Deserialize)]
struct Sent {
    #[serde(flatten)]
    event: wire::Event,
    reason: Option<String>,
}

/// The payload of a message about a proposal. A new one is shown whole.
#[derive(Deserialize)]
struct AboutProposal {
    #[serde(alias = "id")]
    proposal_id: String,
}

/// The states of proposals, with their names.
const STATES: [OfferState; 4] =
    [OfferState::Pending, OfferState::Confirmed, OfferState::Cancelled, OfferState::Expired];

const fn named(state: OfferState) -> &'static str {
    match state {
        OfferState::Pending => "pending",
        OfferState::Confirmed => "confirmed",
        OfferState::Cancelled => "cancelled",
        OfferState::Expired => "expired",
    }
}

/// Comparing outcomes.
impl Replay {
    /// Learns the identifiers of what was made, and notes the expected audit entries.
    fn bind(&mut self, act: &Act, outcome: &Outcome, reply: &Reply) -> Checked {
        self.learn(outcome, reply)?;
        if !matches!(outcome, Outcome::Shows(_) | Outcome::Nothing | Outcome::Offers(_)) {
            return Ok(());
        }
        let offered = |offer: &usize| self.offers[*offer].0.clone();
        let made = || match reply {
            Ok(Returned::Event(event)) => Ok(event.id.clone()),
            Ok(Returned::Set(set)) => Ok(set.id.to_string()),
            Ok(Returned::Proposal(proposal)) => Ok(proposal.summary.id.to_string()),
            other => Err(format!("nothing was made: {other:?}")),
        };
        let (action, resource) = match act {
            Act::Expire => return Ok(()),
            Act::Book { .. } | Act::Hold { .. } | Act::Repeat { .. } => ("event.create", made()?),
            Act::Split(..) => ("event.update", made()?),
            Act::Cut(series, _) => ("event.delete", self.things[*series].clone()),
            Act::Propose { .. } => ("proposal.create", made()?),
            Act::Accept(offer, _) => ("proposal.respond", offered(offer)),
            Act::Settle(offer) => ("proposal.resolve", offered(offer)),
            Act::Withdraw(offer) => ("proposal.cancel", offered(offer)),
            Act::HoldSet { .. } => ("hold_set.create", made()?),
            Act::Confirm(thing) => ("hold.confirm", self.things[*thing].clone()),
            Act::Release(thing) => ("hold.release", self.things[*thing].clone()),
            Act::ConfirmSet(set) => ("hold.confirm", self.sets[*set].clone()),
            Act::ReleaseSet(set) => ("hold.release", self.sets[*set].clone()),
            Act::Move(thing, ..)
            | Act::Shift(thing, ..)
            | Act::Carry(thing, ..)
            | Act::Prolong(thing, _)
            | Act::SetStatus(thing, ..)
            | Act::Rename(thing, _) => ("event.update", self.things[*thing].clone()),
            Act::Delete(thing) => ("event.delete", self.things[*thing].clone()),
        };
        self.audited.push((action.to_owned(), resource));
        Ok(())
    }

    /// Checks that the audit log has exactly the expected entries.
    async fn audit(&mut self) -> Checked {
        let entries = self.inspect.audit_entries(self.service.org).await;
        let mut got: Vec<_> =
            entries.into_iter().map(|entry| (entry.action.as_str().to_owned(), entry.resource)).collect();
        got.sort();
        self.audited.sort();
        agree!(self.audited, got, "the audit log differs");
        Ok(())
    }

    fn learn(&mut self, outcome: &Outcome, reply: &Reply) -> Checked {
        if let Outcome::Offers(offer) = outcome {
            return self.learn_offer(*offer, reply);
        }
        let Outcome::Shows(things_shown) = outcome else { return Ok(()) };
        let made: Vec<usize> = things_shown.iter().copied().filter(|thing| *thing >= self.things.len()).collect();
        if made.is_empty() {
            return Ok(());
        }
        match reply {
            Ok(Returned::Event(event)) => self.things.push(event.id.clone()),
            Ok(Returned::Set(set)) => {
                self.sets.push(set.id.to_string());
                for thing in made {
                    let calendar = self.service.calendars[self.model.things[thing].calendar];
                    let hold = set.holds.iter().find(|hold| hold.calendar_id == calendar);
                    let hold = hold.ok_or_else(|| format!("no hold on {calendar} in {set:?}"))?;
                    self.things.push(hold.id.clone());
                }
            }
            other => return Err(format!("no event is shown: {other:?}")),
        }
        Ok(())
    }

    fn learn_offer(&mut self, offer: usize, reply: &Reply) -> Checked {
        let created = match reply {
            Ok(Returned::Proposal(proposal)) => {
                if offer == self.offers.len() {
                    let slot = proposal.slots.first().ok_or("a proposal without a slot")?;
                    self.offers.push((proposal.summary.id.to_string(), slot.id));
                }
                &proposal.summary.created_events
            }
            Ok(Returned::Resolution(resolution)) => &resolution.created_events,
            other => return Err(format!("no proposal is shown: {other:?}")),
        };
        let agents: Vec<String> = created.iter().map(|created| created.agent_id.to_string()).collect();
        let made = &self.model.offers[offer].things;
        let expected: Vec<String> =
            [ORGANIZER, GUEST].into_iter().take(made.len()).map(|agent| self.service.agents[agent].clone()).collect();
        agree!(expected, agents, "others got an event");
        for (thing, created) in made.iter().zip(created) {
            if *thing == self.things.len() {
                self.things.push(created.event_id.to_string());
            }
            agree!(self.things[*thing], created.event_id.to_string(), "another event is shown");
        }
        Ok(())
    }

    fn same_outcome(&self, expected: &Outcome, reply: &Reply) -> Checked {
        let trouble = |error: &HoldError| match error {
            HoldError::Expired(until) => Some(Trouble::Expired(until.as_micros())),
            HoldError::NotHeld(is) => {
                Status::ALL.into_iter().find(|other| status(*other) == *is).map(Trouble::NotAHold)
            }
            HoldError::StatusIsNotSet => None,
        };
        match (expected, reply) {
            (Outcome::Shows(things), Ok(Returned::Event(_) | Returned::Set(_))) => {
                let events = match reply {
                    Ok(Returned::Event(event)) => std::slice::from_ref(event.as_ref()),
                    Ok(Returned::Set(set)) => set.holds.as_slice(),
                    _ => &[],
                };
                let mut got = events.iter().map(|event| self.seen_in(event)).collect::<Checked<Vec<_>>>()?;
                got.sort();
                let mut expected: Vec<_> =
                    things.iter().map(|thing| (*thing, self.model.things[*thing].view(self.model.now))).collect();
                expected.sort();
                agree!(expected, got, "the answer differs");
                Ok(())
            }
            (Outcome::Nothing, Ok(Returned::Nothing)) => Ok(()),
            (Outcome::Offers(offer), Ok(Returned::Proposal(proposal))) => {
                agree!(named(self.model.offer_state(*offer)), proposal.summary.status, "the status differs");
                Ok(())
            }
            (Outcome::Offers(offer), Ok(Returned::Resolution(resolution))) => {
                agree!(named(self.model.offer_state(*offer)), resolution.status, "the status differs");
                Ok(())
            }
            (Outcome::OfferRefused(expected), Err(Refusal::Proposal(error))) => {
                let got = match error {
                    ProposalError::NotPending(status) => {
                        let state = STATES.into_iter().find(|state| named(*state) == status.as_str());
                        state.map(NoOffer::NotPending)
                    }
                    ProposalError::Duplicate(_) => Some(NoOffer::AcceptedBefore),
                    ProposalError::NoResponses => Some(NoOffer::NoResponses),
                    _ => None,
                };
                agree!(Some(*expected), got, "refused for another reason: {error}");
                Ok(())
            }
            (Outcome::Begun, Err(Refusal::Invalid(errors))) => {
                agree!("slots[0].start_time", errors.first().param, "another field is invalid");
                Ok(())
            }
            (Outcome::Ended(expected), Ok(Returned::Ended(got))) => {
                agree!(expected, got, "another number of holds had expired");
                Ok(())
            }
            (Outcome::Missing(expected), Err(Refusal::NotFound { missing, .. })) => {
                let missing = match missing {
                    Missing::Event => "event",
                    Missing::HoldSet => "hold set",
                    other => other.as_str(),
                };
                agree!(*expected, missing, "something else is missing");
                Ok(())
            }
            (Outcome::Refused(expected), Err(Refusal::Hold(error))) => {
                agree!(Some(*expected), trouble(error), "refused for another reason");
                Ok(())
            }
            (Outcome::StatusIsNotSet, Err(Refusal::Hold(HoldError::StatusIsNotSet))) => Ok(()),
            (Outcome::NoAgent, Err(Refusal::Invalid(errors))) => {
                agree!("calendar_id", errors.first().param, "another field is invalid");
                Ok(())
            }
            (Outcome::Over, Err(Refusal::Invalid(errors))) => {
                agree!("end_time", errors.first().param, "another field is invalid");
                Ok(())
            }
            (Outcome::SetRefused(troubles), Err(Refusal::HoldSet(error))) => {
                let (event, trouble) = (error.event.to_string(), trouble(&error.error));
                let is_one =
                    |(thing, expected): &(usize, Trouble)| self.things[*thing] == event && Some(*expected) == trouble;
                if troubles.iter().any(is_one) {
                    return Ok(());
                }
                Err(format!("refused for {event}, {trouble:?}, instead of any of {troubles:?}"))
            }
            (Outcome::Taken { conflicts, calendars, wanted }, Err(Refusal::SlotTaken(obstacles))) => {
                let calendar = |id| self.service.calendars.iter().position(|calendar| *calendar == id);
                let mut got = Vec::new();
                for (on, block) in &obstacles.conflicts {
                    let kind = match block.kind {
                        BlockKind::Event => "event",
                        BlockKind::Hold => "hold",
                        BlockKind::ExternalEvent => "external_event",
                        BlockKind::HumanBusy => "human_busy",
                        BlockKind::Reservation => "reservation",
                    };
                    let on = calendar(*on).ok_or("a conflict on an unknown calendar")?;
                    got.push((on, kind, block.span.start().as_micros(), block.span.end().as_micros()));
                }
                got.sort_unstable();
                if conflicts.len() <= CONFLICTS_MAX {
                    agree!(conflicts, &got, "the conflicts differ");
                } else if got.len() != CONFLICTS_MAX || got.iter().any(|conflict| !conflicts.contains(conflict)) {
                    return Err(format!("the conflicts are not among these: {conflicts:?}\n  got {got:?}"));
                }
                let free = |span: &kalends_time::Span| (span.start().as_micros(), span.end().as_micros());
                let got: Vec<_> = obstacles.nearest_free.iter().map(free).collect();
                if self.model.offers(calendars, *wanted, &got) {
                    return Ok(());
                }
                Err(format!("these are not the nearest free times: {:?}", obstacles.nearest_free))
            }
            _ => Err(format!("another outcome\n  expected {expected:?}\n       got {reply:?}")),
        }
    }

    /// The thing that an event shows, and its fields.
    fn seen_in(&self, event: &wire::Event) -> Checked<(usize, EventView)> {
        let thing = self.things.iter().position(|known| *known == event.id);
        let thing = thing.ok_or_else(|| format!("unknown: {event:?}"))?;
        let calendar = self.service.calendars.iter().position(|known| *known == event.calendar_id);
        let hold = match (event.hold_expires_at, event.hold_priority) {
            (None, None) => None,
            (Some(until), Some(priority)) => Some((until.as_micros(), priority)),
            _ => return Err(format!("half a hold: {event:?}")),
        };
        let is = event.status.into();
        let view = EventView {
            calendar: calendar.ok_or_else(|| format!("an unknown calendar: {event:?}"))?,
            title: event.title.clone(),
            start: event.start_time.as_micros(),
            end: event.end_time.as_micros(),
            status: Status::ALL
                .into_iter()
                .find(|other| status(*other) == is)
                .ok_or_else(|| format!("an unknown status: {event:?}"))?,
            hold,
            set: event.hold_set_id.and_then(|set| self.sets.iter().position(|known| *known == set.to_string())),
        };
        Ok((thing, view))
    }

    /// Checks that exactly these messages were stored since the last check.
    async fn messages(&mut self, expected: Messages) -> Checked {
        let mut got = Messages::default();
        for message in self.inspect.messages(self.service.org).await {
            if !self.seen.insert(message.id) {
                continue;
            }
            let kind = message.event_type.as_str().to_owned();
            let version = message.resource_version.0;
            if kind.starts_with("proposal.") {
                let about: AboutProposal = serde_json::from_str(&message.payload).map_err(|error| error.to_string())?;
                let offer = self.offers.iter().position(|(id, _)| *id == about.proposal_id);
                got.offers.push((kind, offer.ok_or_else(|| format!("unknown: {}", message.payload))?, version));
                continue;
            }
            let sent: Sent = serde_json::from_str(&message.payload).map_err(|error| error.to_string())?;
            let (thing, view) = self.seen_in(&sent.event)?;
            got.things.push(SentMessage { kind, thing, reason: sent.reason, view, version });
        }
        agree!(expected.sorted(), got.sorted(), "the messages differ");
        Ok(())
    }
}

/// Comparing reads.
impl Replay {
    /// Checks that what was placed does not overlap anything else on the calendars that it had to fit, independently of
    /// the model.
    async fn fits(&self, outcome: &Outcome, concerned: &[usize]) -> Checked {
        let placed = match outcome {
            Outcome::Shows(things) => things,
            Outcome::Offers(offer) => &self.model.offers[*offer].things,
            _ => return Ok(()),
        };
        for calendar in concerned {
            let listed = self.instances(*calendar).await?;
            for thing in placed {
                let own = &self.model.things[*thing];
                // What is over of a series need not be free.
                let ahead = own.times().into_iter().filter(|(_, end)| own.repeats.is_none() || *end > self.model.now);
                for (start, end) in ahead {
                    let met = listed.iter().find(|(of, other)| {
                        takes_time(other) && other.times.span.overlaps(span(start, end)) && !placed.contains(of)
                    });
                    if let Some((_, met)) = met {
                        return Err(format!("{thing} was placed over {met:?}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares what the service returns with the model.
    async fn look(&self) -> Checked {
        let model = &self.model;
        let now = model.now;
        for calendar in 0..CALENDARS.len() {
            let listed = self.listed(Some(calendar), None, None).await?;
            self.same_things(&listed, |view| view.calendar == calendar, "the list of a calendar")?;
            let holds: Vec<&Event> =
                listed.iter().filter(|event| event.live_hold(Timestamp::from_micros(now)).is_ok()).collect();
            for (index, hold) in holds.iter().enumerate() {
                if let Some(other) =
                    holds.iter().skip(index + 1).find(|other| other.times.span.overlaps(hold.times.span))
                {
                    return Err(format!("two live holds overlap: {hold:?} and {other:?}"));
                }
            }
        }
        let calendar = self.step % CALENDARS.len();
        let mut expected = Vec::new();
        for (index, thing) in model.things.iter().enumerate() {
            if thing.calendar == calendar && !thing.deleted {
                expected.extend(thing.times().into_iter().map(|(start, end)| (index, start, end)));
            }
        }
        let got = self.instances(calendar).await?.into_iter();
        let micros = |event: &Event| (event.times.span.start().as_micros(), event.times.span.end().as_micros());
        let mut got: Vec<_> = got.map(|(thing, event)| (thing, micros(&event).0, micros(&event).1)).collect();
        got.sort_unstable();
        agree!(expected, got, "the occurrences differ");
        self.same_offer().await?;

        // One status at a time, in turn, of an agent and then of a calendar.
        let only = Status::ALL[self.step % Status::ALL.len()];
        let of_agent = self.step / Status::ALL.len() % AGENTS;
        let listed = self.listed(None, Some(of_agent), Some(only)).await?;
        let own = calendars_of_agent(of_agent);
        self.same_things(&listed, |view| view.status == only && own.contains(&view.calendar), "a list by status")?;
        let calendar = self.step % CALENDARS.len();
        let only = Status::ALL[self.step / CALENDARS.len() % Status::ALL.len()];
        let listed = self.listed(Some(calendar), None, Some(only)).await?;
        self.same_things(&listed, |view| view.status == only && view.calendar == calendar, "a list by status")?;

        if let Some(thing) = self.step.checked_rem(self.things.len()) {
            let actor = self.service.actor(&operations::GET_EVENT);
            let got = self.service.nodes[self.node()].event(&actor, path(&self.things[thing])).await;
            let expected = &model.things[thing];
            match got {
                Ok(event) => {
                    agree!(!expected.deleted, true, "a deleted event is shown");
                    agree!(expected.view(now), self.seen_as(&event)?.1, "an event differs");
                    agree!(expected.writes, event.version.0, "an event has another version");
                }
                Err(Refusal::NotFound { .. }) if expected.deleted => {}
                Err(other) => return Err(format!("an event is not shown: {other}")),
            }
        }
        let pages = if self.step.is_multiple_of(4) { 2 } else { 1 };
        for _ in 0..pages {
            self.busy().await?;
        }
        Ok(())
    }

    /// Compares one proposal with the model.
    async fn same_offer(&self) -> Checked {
        let Some(offer) = self.step.checked_rem(self.offers.len()) else { return Ok(()) };
        let actor = self.service.actor(&operations::GET_PROPOSAL);
        let got = self.service.nodes[self.node()].proposal(&actor, &self.offers[offer].0).await;
        let got = got.map_err(|refusal| format!("no proposal: {refusal}"))?;
        let expected = &self.model.offers[offer];
        agree!(named(self.model.offer_state(offer)), got.summary.status, "a proposal has another status");
        let accepted = expected.accepted.iter().filter(|accepted| **accepted).count();
        agree!(accepted, got.responses.len(), "a proposal has another number of responses");
        let events: Vec<&String> = expected.things.iter().map(|thing| &self.things[*thing]).collect();
        let created: Vec<String> = got.summary.created_events.iter().map(|event| event.event_id.to_string()).collect();
        agree!(events, created.iter().collect::<Vec<_>>(), "a proposal has other events");
        Ok(())
    }

    /// The events and occurrences of a calendar, each with the thing that it is of.
    async fn instances(&self, calendar: usize) -> Checked<Vec<(usize, Event)>> {
        let (from, to) = WINDOWS[0];
        let window = span(Service::quarter(from), Service::quarter(to));
        let filter = InstanceFilter { window, status: None, source: None, metadata: MetadataFilter::default() };
        let (actor, page) = (self.service.actor(&operations::LIST_EVENTS), Page { limit: 200, offset: 0 });
        let app = &self.service.nodes[self.step % 2];
        let calendar = self.service.calendars[calendar].to_string();
        let listed = app.list_calendar_events(&actor, &calendar, Listing::Instances(filter), page).await;
        let listed = listed.map_err(|refusal| format!("no instances: {refusal}"))?;
        let mut instances = Vec::with_capacity(listed.data.len());
        for event in listed.data {
            let id = event.occurrence().map_or(event.id, |occurrence| occurrence.series).to_string();
            let thing = self.things.iter().position(|known| *known == id);
            instances.push((thing.ok_or_else(|| format!("unknown: {event:?}"))?, event));
        }
        Ok(instances)
    }

    /// The events of a calendar or of an agent, of all statuses or of one.
    async fn listed(&self, calendar: Option<usize>, agent: Option<usize>, only: Option<Status>) -> Checked<Vec<Event>> {
        let now = Timestamp::from_micros(self.model.now);
        let only = only.map(|only| StatusAt { status: status(only), now });
        let listing = Listing::Events(EventFilter { status: only, ..EventFilter::default() });
        let page = Page { limit: 200, offset: 0 };
        let app = &self.service.nodes[self.step % 2];
        let listed = match (calendar, agent) {
            (Some(calendar), _) => {
                let actor = self.service.actor(&operations::LIST_EVENTS);
                app.list_calendar_events(&actor, &self.service.calendars[calendar].to_string(), listing, page).await
            }
            (None, agent) => {
                let actor = self.service.actor(&operations::LIST_AGENT_EVENTS);
                app.list_agent_events(&actor, &self.service.agents[agent.unwrap_or(0)], listing, page).await
            }
        };
        let listed = listed.map_err(|refusal| format!("no list: {refusal}"))?;
        agree!(listed.data.len() as u64, listed.total, "the total of a list differs");
        if !listed.data.is_sorted_by_key(|event| (event.times.span.start(), event.id)) {
            return Err(format!("a list is out of order: {:?}", listed.data));
        }
        Ok(listed.data)
    }

    fn seen_as(&self, event: &Event) -> Checked<(usize, EventView)> {
        let id = event.id.to_string();
        let thing = self.things.iter().position(|known| *known == id).ok_or_else(|| format!("unknown: {event:?}"))?;
        let calendar = self.service.calendars.iter().position(|known| *known == event.calendar);
        let set = event.hold_set.map(|set| set.to_string());
        let view = EventView {
            calendar: calendar.ok_or_else(|| format!("an unknown calendar: {event:?}"))?,
            title: event.title.clone(),
            start: event.times.span.start().as_micros(),
            end: event.times.span.end().as_micros(),
            status: Status::ALL.into_iter().find(|other| status(*other) == event.status).ok_or("no status")?,
            hold: event.hold.map(|hold| (hold.expires_at.as_micros(), hold.priority)),
            set: set.and_then(|set| self.sets.iter().position(|known| *known == set)),
        };
        Ok((thing, view))
    }

    fn same_things(&self, listed: &[Event], belongs: impl Fn(&EventView) -> bool, what: &str) -> Checked {
        let mut got = Vec::with_capacity(listed.len());
        for event in listed {
            let (thing, view) = self.seen_as(event)?;
            got.push((thing, view, event.version.0));
        }
        got.sort();
        let visible = self.model.things.iter().enumerate().filter(|(_, thing)| !thing.deleted);
        let views = visible.map(|(index, thing)| (index, thing.view(self.model.now), thing.writes));
        let expected: Vec<_> = views.filter(|(_, view, _)| belongs(view)).collect();
        agree!(expected, got, "{what} differs");
        Ok(())
    }

    /// The busy times and the slots of every calendar and agent, at either node.
    async fn busy(&self) -> Checked {
        let (from, to) = WINDOWS[usize::from(self.step.is_multiple_of(5))];
        let window = span(Service::quarter(from), Service::quarter(to));
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        let length = "2h".parse().map_err(|error| format!("{error}"))?;
        let query = SlotQuery::new(window, length).map_err(|error| error.to_string())?;
        let request = || SlotsRequest { query, include_busy: true, allow_stale: false };
        let app = &self.service.nodes[self.step % 2];
        let parties = (0..CALENDARS.len()).map(|calendar| (Some(calendar), vec![calendar]));
        let parties = parties.chain((0..AGENTS).map(|agent| (None, calendars_of_agent(agent))));
        for (index, (calendar, calendars)) in parties.enumerate() {
            let (answer, pointer) = match calendar {
                Some(calendar) => {
                    let actor = self.service.actor(&operations::CALENDAR_AVAILABILITY);
                    let id = self.service.calendars[calendar].to_string();
                    (app.calendar_availability(&actor, &id, request()).await, "/busy".to_owned())
                }
                None => {
                    let id = &self.service.agents[index - CALENDARS.len()];
                    let actor = self.service.actor(&operations::AGENT_AVAILABILITY);
                    (app.agent_availability(&actor, id, request()).await, format!("/per_agent_busy/{id}"))
                }
            };
            let answer = answer.map_err(|refusal| format!("no availability: {refusal}"))?;
            let json: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
            let whose: Vec<_> = calendars.iter().map(|calendar| CALENDARS[*calendar].0).collect();
            let busy = intervals(json.pointer(&pointer).unwrap_or(&Value::Null))?;
            agree!(self.model.busy(&calendars, from, to), busy, "{whose:?} are busy at other times");
            let slots = intervals(&json["slots"])?;
            let queried = (from..to).step_by(2 * 3_600_000_000).map(|start| (start, start + 2 * 3_600_000_000));
            let free: Vec<_> =
                queried.filter(|(start, end)| *end <= to && self.model.is_free(&calendars, *start, *end)).collect();
            agree!(free, slots, "the slots of {whose:?} differ");
        }
        Ok(())
    }

    /// The state of the model, for the error message.
    fn all_things(&self) -> String {
        let names: HashMap<usize, &str> =
            CALENDARS.iter().enumerate().map(|(index, (name, _))| (index, *name)).collect();
        let mut text = String::from("the model:");
        for (index, thing) in self.model.things.iter().enumerate() {
            let EventView { calendar, start, end, status, hold, set, .. } = thing.view(self.model.now);
            let (start, end) = (Timestamp::from_micros(start), Timestamp::from_micros(end));
            let hold =
                hold.map(|(until, priority)| format!(", until {}, priority {priority}", Timestamp::from_micros(until)));
            let (hold, set) = (hold.unwrap_or_default(), set.map(|set| format!(", set {set}")).unwrap_or_default());
            let deleted = if thing.deleted { ", deleted" } else { "" };
            let repeats = thing.repeats.map(|count| format!(", {count} times")).unwrap_or_default();
            let (on, status) = (names[&calendar], status.as_str());
            text.push_str(&format!("\n  {index}: {status} {start} to {end} on {on}{repeats}{hold}{set}{deleted}"));
        }
        for (index, offer) in self.model.offers.iter().enumerate() {
            let (start, end) = (Timestamp::from_micros(offer.start), Timestamp::from_micros(offer.end));
            let (on, status) = (names[&offer.calendar], named(self.model.offer_state(index)));
            let (reserve, skip, accepted) = (offer.reserve, offer.skip, offer.accepted);
            let rest = format!("reserve {reserve}, skip {skip}, accepted {accepted:?}");
            text.push_str(&format!("\n  proposal {index}: {status} {start} to {end} on {on}, {rest}"));
        }
        text
    }
}

/// Whether a listed event takes its time: an expired hold is listed as cancelled.
fn takes_time(event: &Event) -> bool {
    use kalends_calendars::EventStatus::{Confirmed, Hold, Tentative};
    matches!(event.status, Confirmed | Tentative | Hold)
}

fn intervals(json: &Value) -> Checked<Vec<(i64, i64)>> {
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok()).map(Timestamp::as_micros);
    let all = json.as_array().ok_or_else(|| format!("no intervals: {json}"))?;
    let both = |interval: &Value| Some((time(&interval["start"])?, time(&interval["end"])?));
    all.iter().map(|interval| both(interval).ok_or_else(|| format!("no interval: {interval}"))).collect()
}
