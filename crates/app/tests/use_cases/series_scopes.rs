//! Random changes of a series, of one occurrence, of the later ones and of all, compared with a list of occurrences.

use std::sync::Arc;

use kalends_accounts::{Organization, Reach};
use kalends_app::{Actor, App, ChangeSet, EventPath, IfMatch, Refusal, operations, ports::Commit as _};
use kalends_calendars::{
    Calendar, Event, EventPatch, Moment, Patch, SeriesScope,
    ports::{InstanceFilter, InstanceScope, Instances as _},
};
use kalends_kernel::{EventId, MetadataFilter, Page};
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures, span},
};
use kalends_time::{SignedDuration, Span, Timestamp};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::common::{actor, parts};

/// One change.
#[derive(Debug, Clone)]
struct Step {
    /// Which of the occurrences that take place.
    which: Index,
    scope: SeriesScope,
    act: Act,
}

#[derive(Debug, Clone)]
enum Act {
    Delete,
    /// A new title, if there is one, and a start that is later by that many minutes.
    Change(Option<u8>, i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let scope = prop_oneof![
        2 => Just(SeriesScope::This), 2 => Just(SeriesScope::Following), 2 => Just(SeriesScope::All),
    ];
    let minutes = prop_oneof![2 => Just(0), 2 => -90..90_i64, 1 => (-3..4_i64).prop_map(|days| days * 24 * 60)];
    let title = prop_oneof![Just(None), (0..4_u8).prop_map(Some)];
    let act = prop_oneof![1 => Just(Act::Delete), 5 => (title, minutes).prop_map(|(title, by)| Act::Change(title, by))];
    let step = (any::<Index>(), scope, act).prop_map(|(which, scope, act)| Step { which, scope, act });
    vec(step, 1..14)
}

/// An occurrence as the model has it.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    series: EventId,
    original: Timestamp,
    start: Timestamp,
    title: String,
}

/// What the model knows of an occurrence.
#[derive(Debug, Clone)]
struct Known {
    shown: Shown,
    /// Whether it was changed alone.
    alone: bool,
    gone: bool,
}

/// Every occurrence that the series ever had, and the title of each series.
#[derive(Default)]
struct Model {
    occurrences: Vec<Known>,
    titles: Vec<(EventId, String)>,
}

impl Model {
    fn taking_place(&self) -> Vec<Shown> {
        let mut shown: Vec<Shown> =
            self.occurrences.iter().filter(|known| !known.gone).map(|known| known.shown.clone()).collect();
        shown.sort_by(|one, other| {
            (one.start, one.series, one.original).cmp(&(other.start, other.series, other.original))
        });
        shown
    }

    fn title_of(&mut self, series: EventId) -> &mut String {
        &mut self.titles.iter_mut().find(|(id, _)| *id == series).unwrap().1
    }

    /// Whether nothing of its series takes place before `occurrence`.
    fn is_first(&self, occurrence: &Shown) -> bool {
        let mut others = self.occurrences.iter().filter(|known| known.shown.series == occurrence.series);
        others.all(|known| known.gone || known.shown.original >= occurrence.original)
    }

    /// Applies a change. `answered` is the series that the answer shows.
    fn apply(&mut self, named: &Shown, scope: SeriesScope, act: &Act, answered: Option<EventId>) {
        let scope = if scope == SeriesScope::Following && self.is_first(named) { SeriesScope::All } else { scope };
        let affected = |known: &Known| {
            known.shown.series == named.series
                && match scope {
                    SeriesScope::This => known.shown.original == named.original,
                    SeriesScope::Following => known.shown.original >= named.original,
                    SeriesScope::All => true,
                }
        };
        let Act::Change(title, by) = act else {
            if scope == SeriesScope::This {
                self.occurrences.iter_mut().filter(|known| affected(known)).for_each(|known| known.gone = true);
            } else {
                self.occurrences.retain(|known| !affected(known));
            }
            return;
        };
        let (title, by) = (title.map(|number| format!("Title {number}")), SignedDuration::minutes(*by));
        let before = self.title_of(named.series).clone();
        for known in self.occurrences.iter_mut().filter(|known| affected(known)) {
            let is_named = known.shown.original == named.original;
            if let Some(title) = &title
                && (is_named || !known.alone || known.shown.title == before)
            {
                known.shown.title.clone_from(title);
            }
            known.shown.start = known.shown.start + by;
            if scope == SeriesScope::This {
                known.alone = true;
                continue;
            }
            known.shown.original = known.shown.original + by;
            known.shown.series = answered.unwrap();
        }
        let after = title.unwrap_or(before);
        match scope {
            SeriesScope::This => {}
            SeriesScope::All => *self.title_of(named.series) = after,
            SeriesScope::Following => self.titles.extend(answered.map(|new| (new, after))),
        }
    }
}

/// A service with one calendar, and a daily series on it.
pub(crate) struct Stage {
    pub(crate) app: Arc<App>,
    pub(crate) store: MemoryStore,
    make: Fixtures,
    pub(crate) organization: Organization,
    pub(crate) calendar: Calendar,
    pub(crate) series: Event,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let app = App::new(parts(&store, &make));
        let organization = make.organization();
        let calendar = make.shared_calendar(organization.id);
        let first = span("2026-03-10T09:00:00Z", "2026-03-10T09:20:00Z");
        let series = make.series(&calendar, first, "FREQ=DAILY;COUNT=9");
        let changes = ChangeSet::new(organization.id).create(&organization).create(&calendar).create(&series);
        store.commit(changes).await.unwrap();
        Self { app, store, make, organization, calendar, series }
    }

    pub(crate) fn actor(&self, operation: &'static operations::Operation) -> Actor {
        actor(&self.make, &self.organization, Reach::Organization, operation)
    }

    /// Makes a change, and returns the series of the answer.
    async fn make(&self, named: &Shown, scope: SeriesScope, act: &Act) -> Result<Option<EventId>, Refusal> {
        let id = kalends_calendars::Occurrence { series: named.series, start: named.original }.to_string();
        let path = EventPath { calendar: None, id: &id };
        let Act::Change(title, by) = act else {
            let actor = self.actor(&operations::DELETE_EVENT);
            return self.app.delete_event(&actor, path, scope, None, false, &IfMatch::Any).await.map(|_| None);
        };
        let title = title.map(|number| format!("Title {number}"));
        let start = (*by != 0).then(|| Moment::At(named.start + SignedDuration::minutes(*by)));
        let patch = EventPatch { title: title.into(), start: Patch::from(start), ..EventPatch::default() };
        let actor = self.actor(&operations::UPDATE_EVENT);
        let answer = self.app.update_event(&actor, path, scope, patch, &IfMatch::Any).await?;
        Ok(answer.resource.id.parse().ok())
    }

    /// What the store lists.
    async fn listed(&self) -> Vec<Shown> {
        let window = Span::new(Timestamp::EPOCH, Timestamp::EPOCH + SignedDuration::days(40_000)).unwrap();
        let filter = InstanceFilter { window, status: None, source: None, metadata: MetadataFilter::default() };
        let calendars = [self.calendar.id];
        let scope = InstanceScope::Calendars(&calendars);
        let page = Page { limit: 200, offset: 0 };
        let listed = self.store.list_instances(self.organization.id, scope, filter, page).await.unwrap().unwrap();
        let mut shown: Vec<Shown> = listed
            .data
            .iter()
            .map(|event| {
                let occurrence = event.occurrence().unwrap();
                let (series, original) = (occurrence.series, occurrence.start);
                Shown { series, original, start: event.times.span.start(), title: event.title.clone() }
            })
            .collect();
        shown.sort_by(|one, other| {
            (one.start, one.series, one.original).cmp(&(other.start, other.series, other.original))
        });
        shown
    }
}

async fn agrees(steps: Vec<Step>) {
    let stage = Stage::set().await;
    let mut model = Model { occurrences: Vec::new(), titles: vec![(stage.series.id, stage.series.title.clone())] };
    model.occurrences.extend(stage.listed().await.into_iter().map(|shown| Known { shown, alone: false, gone: false }));
    assert_eq!(model.occurrences.len(), 9);
    for step in steps {
        let shown = model.taking_place();
        if shown.is_empty() {
            return;
        }
        let named = step.which.get(&shown);
        if matches!(step.act, Act::Change(None, 0)) {
            continue;
        }
        let answered = stage.make(named, step.scope, &step.act).await.unwrap();
        model.apply(named, step.scope, &step.act, answered);
        assert_eq!(stage.listed().await, model.taking_place(), "after {step:?} of {named:?}");
    }
}

proptest! {
    #![proptest_config(kalends_time::testing::config(128))]

    /// After any changes with any scope, the occurrences are those of a list in which each is changed on its own.
    #[test]
    fn changes_of_many_occurrences_are_as_the_model_says(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(agrees(steps));
    }
}
