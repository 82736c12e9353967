//! From drafts to items: combines the revisions and overrides of each event.

use std::collections::BTreeMap;
use std::sync::Arc;

use kalends_calendars::{ConferenceUrl, EventStatus, Times};
use kalends_time::Timestamp;

use super::draft::{Draft, Status};
use super::feed::{Edition, Editions, Item, SkipReason, Skipped, Warning, What};
use super::resolve::Resolver;
use super::scan::CalendarHead;
use super::timing::{Timing, instant};
use crate::limits::{EVENT_STEPS_MAX, EXPANDED_BACK, EXPANDED_TEXT_MAX, OCCURRENCES_IN_ALL_MAX};

/// The result of reading a feed so far.
#[derive(Debug)]
pub(super) struct Gathered<'a> {
    pub(super) zones: Resolver<'a>,
    calendars: &'a [CalendarHead],
    pub(super) items: Vec<Item>,
    pub(super) editions: Editions,
    pub(super) skipped: Vec<Skipped>,
    pub(super) cancelled: usize,
    /// The number of occurrences of expanded series, and the bytes of their texts.
    expanded: usize,
    expanded_text: usize,
    /// The number of starts a day that the kept series have beyond one each.
    pub(super) more_starts: usize,
}

/// An override of one occurrence, or of that one and all later ones.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) draft: &'a Draft,
    /// `None` if it is cancelled.
    pub(super) timing: Option<Timing>,
}

/// The overrides of a series, by the start of the occurrence in seconds: those of single occurrences, and those of an
/// occurrence and all later ones.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    pub(super) single: BTreeMap<i64, Change<'a>>,
    pub(super) and_later: BTreeMap<i64, Change<'a>>,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(zones: Resolver<'a>, calendars: &'a [CalendarHead]) -> Self {
        Self {
            zones,
            calendars,
            items: Vec::new(),
            editions: Editions::new(),
            skipped: Vec::new(),
            cancelled: 0,
            expanded: 0,
            expanded_text: 0,
            more_starts: 0,
        }
    }

    /// Adds the drafts of one `UID`, highest revision last.
    pub(super) fn add(&mut self, drafts: &[Draft]) {
        self.zones.steps.allow(EVENT_STEPS_MAX);
        for draft in drafts.iter().filter(|draft| draft.unreadable_dates) {
            self.zones.warnings.insert(Warning::Date { uid: draft.uid.clone() });
        }
        let master = drafts.iter().rfind(|draft| draft.recurrence_id.is_none());
        if let Some(master) = master.filter(|master| self.is_cancelled(master)) {
            self.cancelled += 1;
            self.editions.insert(Arc::from(master.uid.as_str()), Edition::Cancelled);
            return;
        }
        let timing = master.and_then(|master| match Timing::of(master, &mut self.zones) {
            Ok(timing) => Some((master, timing)),
            Err(reason) => {
                self.skip(master, reason);
                None
            }
        });
        let changes = self.changes(drafts, timing.as_ref().map(|(_, timing)| timing));
        let Some((master, timing)) = timing else {
            self.add_orphans(changes);
            return;
        };
        let (items, used) = (self.items.len(), (self.expanded, self.expanded_text, self.more_starts));
        match self.add_event(master, &timing, &changes) {
            Ok(edition) => {
                self.editions.insert(Arc::from(master.uid.as_str()), edition);
            }
            Err(reason) => {
                self.items.truncate(items);
                (self.expanded, self.expanded_text, self.more_starts) = used;
                self.skip(master, reason);
            }
        }
    }

    fn add_event(&mut self, master: &Draft, timing: &Timing, changes: &Changes<'_>) -> Result<Edition, SkipReason> {
        let alone = changes.single.is_empty() && changes.and_later.is_empty();
        if alone && master.rules.is_empty() && master.dates.is_empty() && master.excluded.is_empty() {
            let times = timing.times().ok_or(SkipReason::Years)?;
            self.items.push(item(master, timing, times, None, What::Once));
            return Ok(Edition::Full);
        }
        if self.add_series(master, timing, changes)? {
            return Ok(Edition::Full);
        }
        self.add_expanded(master, timing, changes)?;
        // Dates that are named one by one are kept wherever they are.
        let since = self.zones.context.now - EXPANDED_BACK;
        Ok(if master.rules.is_empty() { Edition::Full } else { Edition::Since(since) })
    }

    /// Adds overrides of a series that the feed does not contain.
    fn add_orphans(&mut self, changes: Changes<'_>) {
        for (start, Change { draft, timing }) in changes.and_later.into_iter().chain(changes.single) {
            let Some(timing) = timing else { continue };
            match timing.times() {
                Some(times) => self.items.push(item(draft, &timing, times, Some(instant(start)), What::Once)),
                None => self.skip(draft, SkipReason::Years),
            }
        }
    }

    /// The overrides of a series. For each occurrence, the highest revision counts.
    fn changes<'d>(&mut self, drafts: &'d [Draft], series: Option<&Timing>) -> Changes<'d> {
        let mut changes = Changes::default();
        for draft in drafts {
            let Some(when) = draft.recurrence_id else { continue };
            let start = match series {
                Some(series) => series.start_of(when, draft.calendar, &mut self.zones),
                None => self.zones.clock(when.form, draft.calendar).seconds_at(when.local),
            };
            let timing = if self.is_cancelled(draft) {
                self.cancelled += 1;
                None
            } else {
                match Timing::of(draft, &mut self.zones) {
                    Ok(timing) => Some(timing),
                    Err(reason) => {
                        self.skip(draft, reason);
                        continue;
                    }
                }
            };
            let of_kind = if draft.and_later { &mut changes.and_later } else { &mut changes.single };
            of_kind.insert(start, Change { draft, timing });
        }
        changes
    }

    /// Adds an occurrence of a series that is expanded.
    pub(super) fn add_occurrence(
        &mut self,
        draft: &Draft,
        timing: &Timing,
        start: Timestamp,
        texts: &Texts,
    ) -> Result<(), SkipReason> {
        let Some(times) = timing.times() else { return Ok(()) };
        self.expanded += 1;
        if self.expanded > OCCURRENCES_IN_ALL_MAX {
            return Err(SkipReason::Occurrences);
        }
        let mut texts = texts.clone();
        self.expanded_text += texts.len();
        if self.expanded_text > EXPANDED_TEXT_MAX {
            texts = Texts { description: None, location: None, conference_url: None, ..texts };
            self.zones.warnings.insert(Warning::Descriptions);
        }
        self.items.push(item_with(draft, timing, times, Some(start), What::Once, texts));
        Ok(())
    }

    fn is_cancelled(&self, draft: &Draft) -> bool {
        draft.status == Status::Cancelled || self.calendars.get(draft.calendar).is_some_and(|head| head.cancels)
    }

    pub(super) fn skip(&mut self, draft: &Draft, reason: SkipReason) {
        self.skipped.push(Skipped { uid: draft.uid.clone(), reason });
    }
}

/// The texts that all occurrences of a series share.
#[derive(Debug, Clone)]
pub(super) struct Texts {
    uid: Arc<str>,
    title: Arc<str>,
    description: Option<Arc<str>>,
    location: Option<Arc<str>>,
    conference_url: Option<Arc<ConferenceUrl>>,
}

impl Texts {
    pub(super) fn of(draft: &Draft) -> Self {
        let title = match draft.title.as_deref() {
            // A feed of free and busy times has no titles.
            None => "Busy",
            Some("") => "(no title)",
            Some(title) => title,
        };
        Self {
            uid: Arc::from(draft.uid.as_str()),
            title: Arc::from(title),
            description: draft.description.as_deref().map(Arc::from),
            location: draft.location.as_deref().map(Arc::from),
            conference_url: draft.conference_url.clone().map(Arc::new),
        }
    }

    /// The bytes of everything but the title.
    fn len(&self) -> usize {
        let texts = [&self.description, &self.location].into_iter().flatten().map(|text| text.len());
        texts.sum::<usize>() + self.conference_url.as_ref().map_or(0, |url| url.as_str().len())
    }
}

/// The item that a draft becomes.
pub(super) fn item(draft: &Draft, timing: &Timing, times: Times, recurrence_id: Option<Timestamp>, what: What) -> Item {
    item_with(draft, timing, times, recurrence_id, what, Texts::of(draft))
}

fn item_with(
    draft: &Draft,
    timing: &Timing,
    times: Times,
    recurrence_id: Option<Timestamp>,
    what: What,
    texts: Texts,
) -> Item {
    let tentative = matches!(draft.status, Status::Tentative | Status::BusyTentative);
    Item {
        uid: texts.uid,
        recurrence_id,
        sequence: draft.sequence,
        title: texts.title,
        description: texts.description,
        location: texts.location,
        conference_url: texts.conference_url,
        times,
        status: if tentative { EventStatus::Tentative } else { EventStatus::Confirmed },
        blocks: !draft.transparent && !timing.is_empty(),
        what,
    }
}
