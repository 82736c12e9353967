//! Pages that book the time of several calendars.

use kalends_availability::BusySet;
use kalends_calendars::Patch;
use kalends_kernel::{CalendarId, FieldError};
use kalends_time::Span;

#[cfg(test)]
mod laws;

/// The maximum number of calendars of a page, including its own.
pub const CALENDARS_MAX: usize = 20;
/// The number of days whose bookings count when a calendar is chosen.
pub const SHARE_DAYS: i64 = 30;

/// Which calendars of a team take part in a booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Assignment {
    /// All: a slot must be free on each calendar.
    Collective,
    /// One: a slot must be free on at least one calendar, and the one with the fewest bookings gets it.
    RoundRobin,
}

impl Assignment {
    /// Every assignment.
    pub const ALL: &'static [Self] = &[Self::Collective, Self::RoundRobin];

    /// The name in requests, answers and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Collective => "collective",
            Self::RoundRobin => "round_robin",
        }
    }

    /// The assignment with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|assignment| assignment.as_str() == name)
    }
}

/// The calendars that a page books besides its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The other calendars, 1-19, in the order in which the owner named them.
    pub others: Vec<CalendarId>,
    /// Which of them take part in a booking.
    pub assignment: Assignment,
}

/// What a request says about a team.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TeamPatch<C> {
    /// All calendars of the page, with or without its own; `None` leaves only its own.
    pub calendars: Patch<Option<Vec<C>>>,
    /// Which of them take part in a booking.
    pub assignment: Patch<Option<Assignment>>,
}

impl Team {
    /// The team of a page for `calendar` after a change; `None` for a page that books only its own calendar.
    ///
    /// # Errors
    /// Fewer than 2 or more than [`CALENDARS_MAX`] calendars, a calendar that is named twice, or only one of the two
    /// fields. The error names the field.
    pub fn after(
        before: Option<&Self>,
        calendar: CalendarId,
        patch: TeamPatch<CalendarId>,
    ) -> Result<Option<Self>, FieldError> {
        let ends = patch.calendars == Patch::Set(None);
        let others = match patch.calendars {
            Patch::Keep => before.map(|team| team.others.clone()),
            Patch::Set(named) => named.map(|named| others(calendar, named)).transpose()?,
        };
        let assignment = match patch.assignment {
            Patch::Keep => before.map(|team| team.assignment).filter(|_| !ends),
            Patch::Set(assignment) => assignment,
        };
        match (others, assignment) {
            (Some(others), Some(assignment)) => Ok(Some(Self { others, assignment })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(FieldError::new(
                "assignment",
                "must be collective or round_robin on a page with calendars; to book only one, set calendars to null",
            )),
            (None, Some(_)) => Err(FieldError::new(
                "calendars",
                format!(
                    "must name 2 to {CALENDARS_MAX} calendars if assignment is set; otherwise, set assignment to null"
                ),
            )),
        }
    }
}

/// The named calendars without the one of the page.
fn others(calendar: CalendarId, named: Vec<CalendarId>) -> Result<Vec<CalendarId>, FieldError> {
    let wrong = |message: String| Err(FieldError::new("calendars", message));
    let mut seen = named.clone();
    seen.sort_unstable();
    if let Some(twice) = seen.array_windows().find_map(|[one, next]| (one == next).then_some(*one)) {
        return wrong(format!("must name each calendar once; remove one {twice}"));
    }
    let others: Vec<CalendarId> = named.into_iter().filter(|named| *named != calendar).collect();
    if others.is_empty() || others.len() >= CALENDARS_MAX {
        let count = others.len() + 1;
        return wrong(format!("must be 2 to {CALENDARS_MAX} calendars including calendar_id, got {count}"));
    }
    Ok(others)
}

/// The time that a page does not offer. A slot is offered if one of its parties is free for the whole slot, or if guests
/// share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    parties: Vec<BusySet>,
    /// Slots that only guests of the page have taken, and that others can join, by start.
    shared: Vec<Span>,
}

impl Taken {
    /// What the calendars of a page do not offer, with the assignment of its team. `each` has one set for each
    /// calendar.
    #[must_use]
    pub fn of(assignment: Option<Assignment>, mut each: Vec<BusySet>) -> Self {
        if assignment == Some(Assignment::RoundRobin) {
            return Self { parties: each, shared: Vec::new() };
        }
        let together = if each.len() == 1 { each.swap_remove(0) } else { BusySet::union_all(&each) };
        Self { parties: vec![together], shared: Vec::new() }
    }

    /// With slots that others can join although their own events block them.
    #[must_use]
    pub fn with_shared(mut self, mut slots: Vec<Span>) -> Self {
        slots.sort_unstable_by_key(|slot| slot.start());
        slots.dedup();
        self.shared = slots;
        self
    }

    /// With time that no party offers.
    #[must_use]
    pub fn and(mut self, taken: &BusySet) -> Self {
        if !taken.is_empty() {
            self.parties = self.parties.iter().map(|party| party.union(taken)).collect();
            self.shared.retain(|slot| !taken.overlaps(*slot));
        }
        self
    }

    /// The slots that others can join, by start.
    pub fn shared(&self) -> &[Span] {
        &self.shared
    }

    /// The parties that are free for the whole slot, by their position. If all calendars take part in a booking, they
    /// are one party.
    pub fn free_for(&self, slot: Span) -> impl Iterator<Item = usize> {
        self.parties.iter().enumerate().filter(move |(_, party)| !party.overlaps(slot)).map(|(position, _)| position)
    }

    /// What each party does not offer.
    pub fn parties(&self) -> &[BusySet] {
        &self.parties
    }
}

/// The calendar among `free` that gets the next booking: the one with the fewest in `shares`, and of those the first.
/// A calendar that `shares` does not name has none. `None` if none is free.
pub fn next_in_turn(free: &[CalendarId], shares: &[(CalendarId, u64)]) -> Option<CalendarId> {
    let share = |calendar: &CalendarId| shares.iter().find(|(of, _)| of == calendar).map_or(0, |(_, share)| *share);
    free.iter().copied().min_by_key(share)
}
