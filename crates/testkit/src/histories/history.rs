//! Histories: sequences of operations with pauses in between.

use std::fmt;

use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
};

/// The calendars: two of the first agent, one of the second, and a shared one.
pub(super) const CALENDARS: [(&str, Option<usize>); 4] =
    [("first/1", Some(0)), ("first/2", Some(0)), ("second", Some(1)), ("shared", None)];
/// The agents.
pub(super) const AGENTS: usize = 2;
/// The title of everything that is made.
pub(super) const TITLE: &str = "Standup";
/// The agent that organizes proposals, and the participant that gets an event. Both are asked.
pub(super) const ORGANIZER: usize = 0;
/// The participant of proposals that gets an event of its own, on its only calendar.
pub(super) const GUEST: usize = 1;
/// The calendar of [`GUEST`].
pub(super) const GUESTS_CALENDAR: usize = 2;
/// The first quarter of an hour at which something starts, in minutes after midnight.
pub(super) const DAWN: i64 = 8 * 60;
/// At how many quarters of an hour things can start. The clock passes through all of them.
const STARTS: u8 = 14;
/// The longest duration, in quarters of an hour.
const LONGEST: u8 = 4;
/// The most occurrences of a series.
const MOST_OCCURRENCES: u8 = 4;

/// A time on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Quarters of an hour after 08:00.
    pub start: u8,
    /// The duration in quarters of an hour.
    pub quarters: u8,
}

/// Selects something that was made earlier, even if it was deleted: an index, taken modulo the number of such things. 0
/// is the newest series or proposal, and the oldest of everything else.
pub type Pick = u8;

/// The status that a PATCH sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// `confirmed`
    Confirmed,
    /// `tentative`
    Tentative,
    /// `cancelled`
    Cancelled,
    /// `hold`; a PATCH cannot set it.
    Hold,
}

/// How the clock moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// By this many microseconds.
    Micros(u32),
    /// To the expiry of a live hold, or a microsecond before or after it.
    ToExpiry(Pick, i8),
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A plain event is created.
    Book {
        /// The calendar.
        calendar: usize,
        /// When.
        time: Time,
        /// Whether the event is tentative; otherwise it is confirmed.
        tentative: bool,
        /// Whether its time must be free.
        if_free: bool,
    },
    /// A series is created that repeats every day.
    Repeat {
        /// The calendar.
        calendar: usize,
        /// When its first occurrence is.
        time: Time,
        /// How many occurrences it has.
        count: u8,
        /// Whether the times of all must be free.
        if_free: bool,
    },
    /// An occurrence of a series and all later ones get other times.
    Split {
        /// The series.
        series: Pick,
        /// Its occurrence.
        occurrence: Pick,
        /// When.
        time: Time,
        /// Whether that is on the first day, where most things are. Otherwise it is on the occurrence's own day.
        back: bool,
        /// Whether the times must be free.
        if_free: bool,
    },
    /// A series ends before one of its occurrences.
    Cut(Pick, Pick),
    /// Both agents are asked for a time, which gives each of them an event.
    Propose {
        /// The calendar of the organizer's event.
        calendar: usize,
        /// When.
        time: Time,
        /// Whether the time is reserved on that calendar.
        reserve: bool,
        /// Whether a time that is taken by then is not confirmed.
        skip: bool,
    },
    /// An agent accepts the time of a proposal. The second acceptance confirms it.
    Accept(Pick, usize),
    /// A proposal is resolved.
    Settle(Pick),
    /// A proposal is cancelled.
    Withdraw(Pick),
    /// A hold is placed.
    Hold {
        /// The calendar.
        calendar: usize,
        /// When.
        time: Time,
        /// Its priority.
        priority: u8,
        /// In how many seconds it expires.
        lasts: u16,
        /// Whether it must fit all calendars of the agent.
        wide: bool,
    },
    /// A hold set is placed.
    HoldSet {
        /// The calendars.
        calendars: Vec<usize>,
        /// When.
        time: Time,
        /// Its priority.
        priority: u8,
        /// In how many seconds it expires.
        lasts: u16,
    },
    /// An event is confirmed as if it were a hold.
    Confirm(Pick),
    /// An event is released as if it were a hold.
    Release(Pick),
    /// A hold set is confirmed.
    ConfirmSet(Pick),
    /// A hold set is released.
    ReleaseSet(Pick),
    /// Time passes.
    Pass(Pass),
    /// Expired holds are ended.
    Expire,
    /// An event gets other times, which must be free or not.
    Move(Pick, Time, bool),
    /// An event moves to another calendar, where its time must be free or not.
    Carry(Pick, usize, bool),
    /// An event gets this expiry, in seconds from now, as if it were a hold.
    Prolong(Pick, u16),
    /// An event gets another status. Its time must be free or not.
    SetStatus(Pick, Status, bool),
    /// An event gets another title.
    Rename(Pick),
    /// An event is deleted.
    Delete(Pick),
    /// A caller does something whose time must be free, and has read some calendars when another node does something else.
    Overtaken {
        /// The operation that is overtaken.
        slow: Box<Operation>,
        /// How many calendars it has read by then.
        looked: u8,
        /// The operation that overtakes it.
        fast: Box<Operation>,
    },
}

/// A sequence of operations.
#[derive(Clone, PartialEq, Eq)]
pub struct History(pub Vec<Operation>);

/// Histories of 10 to 40 operations on few calendars and times, so that they conflict.
pub fn histories() -> impl Strategy<Value = History> {
    let step = prop_oneof![16 => operation().prop_map(|one| vec![one]), 1 => contest()];
    vec(step, 10..=40).prop_map(|steps| History(steps.concat()))
}

/// Histories that the service once got wrong, as short as possible.
pub(super) fn once_wrong() -> Vec<History> {
    let time = |start, quarters| Time { start, quarters };
    let moved_while_confirmed = vec![
        Operation::Hold { calendar: 1, time: time(2, 1), priority: 0, lasts: 30, wide: true },
        Operation::Overtaken {
            slow: Box::new(Operation::Move(0, time(0, 3), false)),
            looked: 0,
            fast: Box::new(Operation::Confirm(0)),
        },
    ];
    vec![History(moved_while_confirmed)]
}

fn operation() -> impl Strategy<Value = Operation> {
    let overtaken = (placing(), 0_u8..3, prop_oneof![2 => placing(), 3 => anything_else()]);
    let overtaken = overtaken.prop_map(|(slow, looked, fast)| Operation::Overtaken {
        slow: Box::new(slow),
        looked,
        fast: Box::new(fast),
    });
    prop_oneof![
        9 => placing(),
        9 => anything_else(),
        3 => pass().prop_map(Operation::Pass),
        3 => overtaken,
    ]
}

/// Operations whose time must be free, such as holds, or may have to be: an event that is moved may be a hold.
fn placing() -> impl Strategy<Value = Operation> {
    let calendars = || subsequence((0..CALENDARS.len()).collect::<Vec<_>>(), 1..=CALENDARS.len()).prop_shuffle();
    prop_oneof![
        5 => (0..CALENDARS.len(), time(), 0_u8..=3, lasts(), option::weighted(0.35, Just(()))).prop_map(
            |(calendar, time, priority, lasts, wide)| Operation::Hold {
                calendar, time, priority, lasts, // Only a calendar that an agent owns has sibling calendars.
                wide: wide.is_some() && CALENDARS.get(calendar).is_some_and(|(_, agent)| agent.is_some()),
            }
        ),
        2 => (calendars(), time(), 0_u8..=3, lasts()).prop_map(
            |(calendars, time, priority, lasts)| Operation::HoldSet { calendars, time, priority, lasts }
        ),
        2 => (any::<Pick>(), time(), any::<bool>()).prop_map(
            |(pick, time, if_free)| Operation::Move(pick, time, if_free)
        ),
        2 => (any::<Pick>(), 0..CALENDARS.len(), any::<bool>()).prop_map(
            |(pick, calendar, if_free)| Operation::Carry(pick, calendar, if_free)
        ),
        3 => book(true),
        2 => repeat(true),
        2 => split(true),
        2 => answer(),
    ]
}

fn anything_else() -> impl Strategy<Value = Operation> {
    let status = prop_oneof![Just(Status::Confirmed), Just(Status::Tentative), Just(Status::Cancelled)];
    prop_oneof![
        3 => book(false),
        2 => any::<Pick>().prop_map(Operation::Confirm),
        2 => any::<Pick>().prop_map(Operation::Release),
        1 => any::<Pick>().prop_map(Operation::ConfirmSet),
        1 => any::<Pick>().prop_map(Operation::ReleaseSet),
        2 => Just(Operation::Expire),
        2 => (any::<Pick>(), lasts()).prop_map(|(pick, lasts)| Operation::Prolong(pick, lasts)),
        2 => (any::<Pick>(), status, any::<bool>()).prop_map(
            |(pick, status, if_free)| Operation::SetStatus(pick, status, if_free)
        ),
        1 => any::<Pick>().prop_map(Operation::Rename),
        2 => any::<Pick>().prop_map(Operation::Delete),
        1 => repeat(false),
        2 => split(false),
        1 => (any::<Pick>(), any::<Pick>()).prop_map(|(series, occurrence)| Operation::Cut(series, occurrence)),
        3 => propose(),
        2 => answer(),
        1 => any::<Pick>().prop_map(Operation::Withdraw),
    ]
}

/// Something that wants a time, overtaken by something else that takes it. At random, that is rare.
fn contest() -> impl Strategy<Value = Vec<Operation>> {
    let proposal = (organizers_calendar(), time(), any::<bool>(), 0..AGENTS, any::<bool>());
    let proposal = proposal.prop_map(|(calendar, time, reserve, agent, settle)| {
        let proposed = Operation::Propose { calendar, time, reserve, skip: true };
        let slow = if settle { Operation::Settle(0) } else { Operation::Accept(0, 1 - agent) };
        (vec![proposed, Operation::Accept(0, agent)], slow, vec![calendar, GUESTS_CALENDAR], time)
    });
    let reservation = (organizers_calendar(), time()).prop_map(|(calendar, time)| {
        (Vec::new(), Operation::Propose { calendar, time, reserve: true, skip: false }, vec![calendar], time)
    });
    let series = (0..CALENDARS.len(), time(), any::<Pick>(), time());
    let series = series.prop_map(|(calendar, first, occurrence, time)| {
        let repeat = Operation::Repeat { calendar, time: first, count: MOST_OCCURRENCES, if_free: false };
        let slow = Operation::Split { series: 0, occurrence, time, back: true, if_free: true };
        (vec![repeat], slow, vec![calendar], time)
    });
    let wanted = prop_oneof![proposal, reservation, series];
    (wanted, any::<Pick>(), 0_u8..2, any::<bool>()).prop_map(
        |((mut steps, slow, calendars, time), pick, looked, if_free)| {
            let calendar = calendars[usize::from(pick) % calendars.len()];
            let fast = Box::new(Operation::Book { calendar, time, tentative: false, if_free });
            steps.push(Operation::Overtaken { slow: Box::new(slow), looked, fast });
            steps
        },
    )
}

fn repeat(if_free: bool) -> impl Strategy<Value = Operation> {
    (0..CALENDARS.len(), time(), 2..=MOST_OCCURRENCES).prop_map(move |(calendar, time, count)| Operation::Repeat {
        calendar,
        time,
        count,
        if_free,
    })
}

fn split(if_free: bool) -> impl Strategy<Value = Operation> {
    (any::<Pick>(), any::<Pick>(), time(), any::<bool>())
        .prop_map(move |(series, occurrence, time, back)| Operation::Split { series, occurrence, time, back, if_free })
}

fn propose() -> impl Strategy<Value = Operation> {
    (organizers_calendar(), time(), any::<bool>(), any::<bool>())
        .prop_map(|(calendar, time, reserve, skip)| Operation::Propose { calendar, time, reserve, skip })
}

/// Not the guest's: no calendar gets two events of one proposal.
fn organizers_calendar() -> impl Strategy<Value = usize> {
    select((0..CALENDARS.len()).filter(|calendar| *calendar != GUESTS_CALENDAR).collect::<Vec<_>>())
}

fn answer() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (any::<Pick>(), 0..AGENTS).prop_map(|(proposal, agent)| Operation::Accept(proposal, agent)),
        1 => any::<Pick>().prop_map(Operation::Settle),
    ]
}

fn book(if_free: bool) -> impl Strategy<Value = Operation> {
    (0..CALENDARS.len(), time(), any::<bool>()).prop_map(move |(calendar, time, tentative)| Operation::Book {
        calendar,
        time,
        tentative,
        if_free,
    })
}

fn time() -> impl Strategy<Value = Time> {
    (0..STARTS, 1..=LONGEST).prop_map(|(start, quarters)| Time { start, quarters })
}

/// Lifetimes from the shortest to the longest, often exactly one of these two.
fn lasts() -> impl Strategy<Value = u16> {
    prop_oneof![1 => Just(30), 1 => Just(900), 6 => 30_u16..=900]
}

fn pass() -> impl Strategy<Value = Pass> {
    prop_oneof![
        1 => (0_u32..=600_000_000).prop_map(Pass::Micros),
        1 => (any::<Pick>(), -1_i8..=1).prop_map(|(pick, off)| Pass::ToExpiry(pick, off)),
    ]
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |quarters: i64| (DAWN / 60 + quarters / 4, quarters % 4 * 15);
        let ((hour, minute), (end_hour, end_minute)) =
            (at(self.start.into()), at(i64::from(self.start) + i64::from(self.quarters)));
        write!(f, "{hour:02}:{minute:02}-{end_hour:02}:{end_minute:02}")
    }
}

impl Status {
    pub(super) const ALL: [Self; 4] = [Self::Confirmed, Self::Tentative, Self::Cancelled, Self::Hold];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Tentative => "tentative",
            Self::Cancelled => "cancelled",
            Self::Hold => "hold",
        }
    }
}

fn named(calendar: usize) -> &'static str {
    CALENDARS.get(calendar).map_or("?", |(name, _)| name)
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book { calendar, time, tentative, if_free } => {
                let status = if *tentative { "tentative" } else { "confirmed" };
                write!(f, "book {time} on {}, {status}{}", named(*calendar), condition(*if_free))
            }
            Self::Repeat { calendar, time, count, if_free } => {
                write!(f, "book {time} on {}, on {count} days{}", named(*calendar), condition(*if_free))
            }
            Self::Split { series, occurrence, time, back, if_free } => {
                let day = if *back { "the first day" } else { "its day" };
                write!(f, "move occurrence {occurrence} of series {series} and all later ones to {time} on {day}")?;
                f.write_str(condition(*if_free))
            }
            Self::Cut(series, occurrence) => write!(f, "end series {series} before occurrence {occurrence}"),
            Self::Propose { calendar, time, reserve, skip } => {
                let reserved = if *reserve { ", reserved" } else { "" };
                write!(f, "propose {time} on {}{reserved}{}", named(*calendar), condition(*skip))
            }
            Self::Accept(proposal, agent) => write!(f, "agent {agent} accepts proposal {proposal}"),
            Self::Settle(proposal) => write!(f, "resolve proposal {proposal}"),
            Self::Withdraw(proposal) => write!(f, "cancel proposal {proposal}"),
            Self::Hold { calendar, time, priority, lasts, wide } => {
                let scope = if *wide { ", scope agent" } else { "" };
                write!(f, "hold {time} on {}, priority {priority}, for {lasts} s{scope}", named(*calendar))
            }
            Self::HoldSet { calendars, time, priority, lasts } => {
                let names: Vec<_> = calendars.iter().map(|calendar| named(*calendar)).collect();
                write!(f, "hold set {time} on {}, priority {priority}, for {lasts} s", names.join(", "))
            }
            Self::Confirm(pick) => write!(f, "confirm {pick}"),
            Self::Release(pick) => write!(f, "release {pick}"),
            Self::ConfirmSet(pick) => write!(f, "confirm set {pick}"),
            Self::ReleaseSet(pick) => write!(f, "release set {pick}"),
            Self::Pass(Pass::Micros(micros)) => write!(f, "pass {}.{:06} s", micros / 1_000_000, micros % 1_000_000),
            Self::Pass(Pass::ToExpiry(pick, off)) => write!(f, "pass to the expiry of live hold {pick}, {off:+} us"),
            Self::Expire => write!(f, "expire"),
            Self::Move(pick, time, if_free) => write!(f, "move {pick} to {time}{}", condition(*if_free)),
            Self::Carry(pick, calendar, if_free) => {
                write!(f, "move {pick} to {}{}", named(*calendar), condition(*if_free))
            }
            Self::Prolong(pick, lasts) => write!(f, "let {pick} last for {lasts} s"),
            Self::SetStatus(pick, status, if_free) => {
                write!(f, "set the status of {pick} to {}{}", status.as_str(), condition(*if_free))
            }
            Self::Rename(pick) => write!(f, "rename {pick}"),
            Self::Delete(pick) => write!(f, "delete {pick}"),
            Self::Overtaken { slow, looked, fast } => {
                write!(f, "{slow}\n      after reading {looked} of the calendars, overtaken by: {fast}")
            }
        }
    }
}

/// One line per operation, to be read when a history fails.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, operation) in self.0.iter().enumerate() {
            write!(f, "\n{index:>4}. {operation}")?;
        }
        Ok(())
    }
}

fn condition(if_free: bool) -> &'static str {
    if if_free { ", if it is free" } else { "" }
}
