//! Properties of plans and copies, on a model of a provider.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::{Event, PublicationPolicy};
use kalends_kernel::{CalendarId, ExternalCalendarId};
use kalends_time::{SignedDuration, Span, Zone};
use proptest::prelude::*;
use rstest::rstest;
use uuid::Uuid;

use super::examples::{NOW, content, event, hours, key, target};
use crate::{
    Copy, CopyContent, CopyKey, CopyState, FoundCopy, Plan, Recorded, STEPS_AT_ONCE, Step, adopted, intents, plan,
    wanted, window,
};

/// The calendars to which the model writes.
const TARGETS: [u8; 2] = [1, 2];

/// A copy at the provider.
#[derive(Debug, Clone)]
struct Written {
    target: ExternalCalendarId,
    key: CopyKey,
    content: CopyContent,
    /// What its property says.
    visible: [u8; 32],
}

/// A provider that creates a copy as often as it is asked to.
#[derive(Debug, Default)]
struct Provider {
    copies: BTreeMap<String, Written>,
    created: u32,
}

impl Provider {
    /// The reference of the copy; `None` if a person has changed or deleted it.
    fn carry_out(&mut self, target: ExternalCalendarId, step: &Step) -> Option<String> {
        let intact = |copies: &BTreeMap<String, Written>, reference: &str, visible| {
            copies.get(reference).is_some_and(|copy| copy.content.visible() == visible)
        };
        match step {
            Step::Create { key, content } => {
                self.created += 1;
                let reference = format!("r{}", self.created);
                let (content, visible) = (content.clone(), content.visible());
                self.copies.insert(reference.clone(), Written { target, key: *key, content, visible });
                Some(reference)
            }
            Step::Update { reference, visible, content, .. } => {
                if !intact(&self.copies, reference, *visible) {
                    return None;
                }
                let copy = self.copies.get_mut(reference)?;
                (copy.content, copy.visible) = (content.clone(), content.visible());
                Some(reference.clone())
            }
            Step::Delete { reference, visible, .. } => {
                if self.copies.contains_key(reference) && !intact(&self.copies, reference, *visible) {
                    return None;
                }
                self.copies.remove(reference);
                Some(reference.clone())
            }
        }
    }

    fn found(&self, target: ExternalCalendarId) -> Vec<FoundCopy> {
        let of_target = self.copies.iter().filter(|(_, copy)| copy.target == target);
        of_target
            .map(|(reference, copy)| FoundCopy {
                key: copy.key,
                reference: reference.clone(),
                visible: copy.visible,
                ends_at: copy.content.span.end(),
                changed: copy.content.visible() != copy.visible,
            })
            .collect()
    }

    /// What a person sees, with the calendar in which they see it.
    fn shown(&self) -> Vec<(ExternalCalendarId, CopyKey, CopyContent)> {
        let mut shown: Vec<_> =
            self.copies.values().map(|copy| (copy.target, copy.key, copy.content.clone())).collect();
        shown.sort_by_key(|(target, key, _)| (*target, *key));
        shown
    }

    fn keys(&self) -> Vec<CopyKey> {
        self.copies.values().map(|copy| copy.key).collect()
    }
}

/// The provider and what is recorded of it.
#[derive(Debug, Default)]
struct World {
    provider: Provider,
    copies: BTreeMap<CopyKey, Copy>,
}

impl World {
    fn recorded(&self) -> Vec<Copy> {
        self.copies.values().cloned().collect()
    }

    fn record(&mut self, copies: impl IntoIterator<Item = Copy>) {
        self.copies.extend(copies.into_iter().map(|copy| (copy.key, copy)));
    }

    fn plan(&self, wanted: &[(CopyKey, CopyContent)], target: ExternalCalendarId) -> Plan {
        plan(wanted, &self.recorded(), target, window(NOW))
    }

    /// Records what exists at the provider.
    fn adopt(&mut self) {
        for number in TARGETS {
            let found = self.provider.found(target(number));
            let adopted = adopted(&found, &self.recorded(), target(number));
            self.record(adopted.copies);
            self.copies.retain(|key, _| !adopted.gone.contains(key));
            for step in &adopted.duplicates {
                self.provider.carry_out(target(number), step);
            }
        }
    }

    /// One attempt, which ends after `calls` steps. Whether it is complete.
    fn publish(&mut self, wanted: &[(CopyKey, CopyContent)], target: ExternalCalendarId, mut calls: usize) -> bool {
        let mut plan = self.plan(wanted, target);
        self.copies.retain(|key, _| !plan.forgotten.contains(key));
        loop {
            let group = plan.next_group();
            assert!(group.len() <= STEPS_AT_ONCE);
            if group.is_empty() {
                return true;
            }
            self.record(intents(&group, &self.recorded()));
            let mut results = Vec::new();
            for step in &group {
                if calls == 0 {
                    return false;
                }
                calls -= 1;
                results.push(self.provider.carry_out(target, step));
            }
            for (step, result) in group.iter().zip(results) {
                match result.map(|reference| step.done(target, reference)) {
                    Some(Recorded::Written(copy)) => self.record([copy]),
                    Some(Recorded::Gone(key)) => drop(self.copies.remove(&key)),
                    None => {
                        plan.give_up(step.key());
                        let diverged = self.copies.get(&step.key()).map(Copy::diverged);
                        self.record(diverged);
                    }
                }
            }
        }
    }
}

/// The versions of the events that are wanted, by their numbers.
type Versions = BTreeMap<u8, u8>;

fn versions() -> impl Strategy<Value = Versions> {
    prop::collection::btree_map(0..30_u8, 0..4_u8, 0..30)
}

fn a_target() -> impl Strategy<Value = ExternalCalendarId> {
    prop::sample::select(TARGETS.to_vec()).prop_map(target)
}

fn contents(versions: &Versions) -> Vec<(CopyKey, CopyContent)> {
    versions.iter().map(|(number, version)| (key(*number), content(*number, *version))).collect()
}

fn shown_of(
    wanted: &[(CopyKey, CopyContent)],
    target: ExternalCalendarId,
) -> Vec<(ExternalCalendarId, CopyKey, CopyContent)> {
    let mut shown: Vec<_> = wanted.iter().map(|(key, content)| (target, *key, content.clone())).collect();
    shown.sort_by_key(|(target, key, _)| (*target, *key));
    shown
}

fn contents_of_any_kind() -> impl Strategy<Value = CopyContent> {
    let text = || prop::option::of("[ab]{0,2}");
    let zones = prop::sample::select(vec![Zone::UTC, "Europe/Berlin".parse().unwrap()]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    ("[ab]{0,2}", text(), text(), (0..2_i64, 2..4_i64), zones, flags).prop_map(
        |(title, description, location, (from, to), zone, (all_day, tentative, transparent))| CopyContent {
            title,
            description,
            location,
            span: hours(from, to),
            all_day,
            zone,
            tentative,
            transparent,
        },
    )
}

proptest! {
    /// After a plan was carried out, the copies are exactly those that are wanted, and the next plan is empty.
    #[test]
    fn a_plan_makes_the_copies_those_that_are_wanted(
        attempts in prop::collection::vec((versions(), a_target()), 1..5),
    ) {
        let mut world = World::default();
        for (versions, target) in attempts {
            let wanted = contents(&versions);
            prop_assert!(world.publish(&wanted, target, usize::MAX));
            prop_assert_eq!(world.provider.shown(), shown_of(&wanted, target));
            prop_assert_eq!(world.plan(&wanted, target), Plan::default());
        }
    }

    /// An attempt that stops after any step is completed by the next one, and no event ever has two copies.
    #[test]
    fn an_interrupted_attempt_is_completed(
        attempts in prop::collection::vec((versions(), a_target(), 0..40_usize), 1..6),
        last in versions(),
        last_target in a_target(),
    ) {
        let mut world = World::default();
        for (versions, target, calls) in attempts {
            world.adopt();
            world.publish(&contents(&versions), target, calls);
            let keys = world.provider.keys();
            prop_assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "{:?}", keys);
        }
        let wanted = contents(&last);
        world.adopt();
        prop_assert!(world.publish(&wanted, last_target, usize::MAX));
        prop_assert_eq!(world.provider.shown(), shown_of(&wanted, last_target));
        prop_assert_eq!(world.plan(&wanted, last_target), Plan::default());
    }

    /// What a person changed or deleted at the provider stays as it is, and no later plan has a step for it.
    #[test]
    fn diverged_copies_are_left_alone(
        before in versions(),
        changed in prop::collection::btree_map(0..30_u8, any::<bool>(), 0..10),
        after in prop::collection::vec((versions(), any::<bool>()), 1..4),
    ) {
        let (mut world, at) = (World::default(), target(1));
        world.publish(&contents(&before), at, usize::MAX);
        let mut touched = BTreeMap::new();
        for (number, deleted) in changed.into_iter().filter(|(number, _)| before.contains_key(number)) {
            let reference = world.copies[&key(number)].reference.clone();
            if deleted {
                world.provider.copies.remove(&reference);
            } else if let Some(copy) = world.provider.copies.get_mut(&reference) {
                copy.content.title = "Mine".into();
                touched.insert(reference, copy.content.clone());
            }
        }
        for (versions, interrupted) in after {
            if interrupted {
                world.adopt();
            }
            let wanted = contents(&versions);
            world.publish(&wanted, at, usize::MAX);
            for (reference, content) in &touched {
                prop_assert_eq!(world.provider.copies.get(reference).map(|copy| &copy.content), Some(content));
            }
            let plan = world.plan(&wanted, at);
            let diverged = world.copies.values().filter(|copy| copy.state == CopyState::Diverged);
            for copy in diverged {
                prop_assert!(plan.steps.iter().all(|step| step.key() != copy.key), "{:?}", plan);
            }
        }
    }

    /// Second copies of an event that exist at the provider are deleted, and one stays.
    #[test]
    fn second_copies_are_deleted(
        copies in prop::collection::vec((0..6_u8, 0..4_u8), 0..20), versions in versions(), recorded in 0..20_usize,
    ) {
        let (mut world, at) = (World::default(), target(1));
        for (index, (number, version)) in copies.into_iter().enumerate() {
            let step = Step::Create { key: key(number), content: content(number, version) };
            let reference = world.provider.carry_out(at, &step).unwrap();
            if index < recorded && let Recorded::Written(copy) = step.done(at, reference) {
                world.copies.entry(copy.key).or_insert(copy);
            }
        }
        world.adopt();
        let wanted = contents(&versions);
        prop_assert!(world.publish(&wanted, at, usize::MAX));
        prop_assert_eq!(world.provider.shown(), shown_of(&wanted, at));
    }

    /// An event that moves to another calendar loses its copy at the destination of the old one and has one at that of
    /// the new one.
    #[test]
    fn a_moved_event_has_a_copy_at_its_new_destination(
        before in prop::collection::vec(0..2_usize, 1..8), moves in prop::collection::vec((0..8_usize, 0..2_usize), 0..8),
    ) {
        let calendars = [1, 2].map(|number| CalendarId::from_uuid(Uuid::from_u128(number)));
        let on = |number: usize, calendar: usize| {
            let of = u8::try_from(number).unwrap();
            Event { calendar: calendars[calendar], ..event(of, of.into()) }
        };
        let mut events: Vec<Event> = before.iter().enumerate().map(|(number, calendar)| on(number, *calendar)).collect();
        let mut worlds = [World::default(), World::default()];
        for step in std::iter::once(None).chain(moves.into_iter().map(Some)) {
            if let Some((number, calendar)) = step.filter(|(number, _)| *number < events.len()) {
                events[number] = on(number, calendar);
            }
            for (world, (calendar, number)) in worlds.iter_mut().zip(calendars.into_iter().zip(TARGETS)) {
                let own: Vec<Event> = events.iter().filter(|event| event.calendar == calendar).cloned().collect();
                let wanted = wanted(PublicationPolicy::Confirmed, &own, Zone::UTC);
                prop_assert!(world.publish(&wanted, target(number), usize::MAX));
                prop_assert_eq!(world.provider.shown(), shown_of(&wanted, target(number)));
            }
            let copies: usize = worlds.iter().map(|world| world.provider.copies.len()).sum();
            prop_assert_eq!(copies, events.len());
        }
    }

    /// Two contents have the same digest exactly if all their fields are equal.
    #[test]
    fn digests_differ_if_any_field_differs(one in contents_of_any_kind(), other in contents_of_any_kind()) {
        prop_assert_eq!(one.digest() == other.digest(), one == other);
        let shows_as = |of: &CopyContent| (of.transparent, !of.transparent && of.tentative);
        let visible = |of: &CopyContent| (of.title.clone(), of.span, of.all_day, shows_as(of));
        prop_assert_eq!(one.visible() == other.visible(), visible(&one) == visible(&other));
    }
}

#[test]
fn deletions_come_first_and_creations_last() {
    let (old, new) = (target(1), target(2));
    let mut world = World::default();
    world.publish(&contents(&BTreeMap::from([(0, 0), (1, 0)])), old, usize::MAX);
    world.publish(&contents(&BTreeMap::from([(0, 0), (2, 0), (3, 0)])), old, usize::MAX);
    let mut plan = world.plan(&contents(&BTreeMap::from([(0, 1), (2, 1), (4, 0)])), old);
    let kinds: Vec<(&str, CopyKey)> = plan
        .steps
        .iter()
        .map(|step| match step {
            Step::Create { key, .. } => ("create", *key),
            Step::Update { key, .. } => ("update", *key),
            Step::Delete { key, .. } => ("delete", *key),
        })
        .collect();
    assert_eq!(kinds, [("delete", key(3)), ("update", key(0)), ("update", key(2)), ("create", key(4))]);
    assert_eq!((plan.next_group().len(), plan.next_group().len()), (4, 0));
    // A copy that goes to another calendar is created in a group after that of its deletion, or not at all.
    let wanted = contents(&BTreeMap::from([(0, 0), (2, 0)]));
    world.publish(&wanted, old, usize::MAX);
    let mut plan = world.plan(&wanted, new);
    assert_eq!((plan.next_group().len(), plan.steps.len()), (2, 2));
    plan.give_up(key(0));
    assert_eq!(plan.next_group(), [Step::Create { key: key(2), content: content(2, 0) }]);
}

#[test]
fn a_group_has_a_bounded_number_of_steps() {
    let versions: Versions = (0..50).map(|number| (number, 0)).collect();
    let mut plan = World::default().plan(&contents(&versions), target(1));
    assert_eq!([20, 20, 10, 0], [(); 4].map(|()| plan.next_group().len()));
}

#[rstest]
#[case::past(-1, CopyState::Published, true)]
#[case::past_and_diverged(-1, CopyState::Diverged, true)]
#[case::future(1, CopyState::Published, false)]
fn copies_of_past_events_are_forgotten(#[case] after: i64, #[case] state: CopyState, #[case] forgotten: bool) {
    let ends_at = window(NOW).start() + SignedDuration::seconds(after);
    let (visible, digest) = (content(0, 0).visible(), content(0, 0).digest());
    let copy = Copy { key: key(0), target: target(1), reference: "r".into(), digest, visible, ends_at, state };
    let plan = plan(&[], std::slice::from_ref(&copy), target(1), window(NOW));
    assert_eq!((plan.forgotten, plan.steps.len()), if forgotten { (vec![key(0)], 0) } else { (Vec::new(), 1) });
}

#[test]
fn a_span_of_another_second_is_visible() {
    let seen = content(0, 0);
    let later = |micros| {
        let span = Span::new(seen.span.start(), seen.span.end() + SignedDuration::micros(micros)).unwrap();
        CopyContent { span, ..seen.clone() }
    };
    assert!(later(1).visible() == seen.visible() && later(1_000_000).visible() != seen.visible());
    let spaced = CopyContent { title: format!(" {} ", seen.title.replace(' ', "  ")), ..seen.clone() };
    assert_eq!(spaced.visible(), seen.visible());
}
