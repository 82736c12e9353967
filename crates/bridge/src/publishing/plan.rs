//! The steps that make the copies at a provider equal to what is wanted.

use std::collections::{BTreeMap, BTreeSet};

use kalends_kernel::ExternalCalendarId;
use kalends_time::Span;

use crate::{Copy, CopyContent, CopyKey, CopyState, FoundCopy};

/// The maximum number of copies of one calendar: the next ones.
pub const COPIES_MAX: usize = 2_000;
/// The maximum number of steps that are sent to a provider, and recorded, at once. Microsoft takes 20 requests in a
/// batch.
pub const STEPS_AT_ONCE: usize = 20;

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Creates a copy.
    Create {
        /// What it is a copy of.
        key: CopyKey,
        /// What to write.
        content: CopyContent,
    },
    /// Changes a copy.
    Update {
        /// What it is a copy of.
        key: CopyKey,
        /// The provider's identifier.
        reference: String,
        /// [`CopyContent::visible`] of what we wrote before.
        visible: [u8; 32],
        /// What to write.
        content: CopyContent,
    },
    /// Deletes a copy. It is done too if there is no such copy any more.
    Delete {
        /// What it is a copy of.
        key: CopyKey,
        /// The provider's identifier.
        reference: String,
        /// [`CopyContent::visible`] of what we wrote before.
        visible: [u8; 32],
    },
}

/// What to record after a step was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// The copy, in place of an earlier one with its key.
    Written(Copy),
    /// The copy with this key is gone.
    Gone(CopyKey),
}

impl Step {
    /// What its copy is a copy of.
    pub const fn key(&self) -> CopyKey {
        match self {
            Self::Create { key, .. } | Self::Update { key, .. } | Self::Delete { key, .. } => *key,
        }
    }

    /// What to record after the step was done in the calendar `target`. `reference` is the provider's identifier of the
    /// copy.
    pub fn done(&self, target: ExternalCalendarId, reference: String) -> Recorded {
        match self {
            Self::Create { key, content } | Self::Update { key, content, .. } => Recorded::Written(Copy {
                key: *key,
                target,
                reference,
                digest: content.digest(),
                visible: content.visible(),
                ends_at: content.span.end(),
                state: CopyState::Published,
            }),
            Self::Delete { key, .. } => Recorded::Gone(*key),
        }
    }

    fn delete(copy: &Copy) -> Self {
        Self::Delete { key: copy.key, reference: copy.reference.clone(), visible: copy.visible }
    }
}

/// The difference between the copies that should exist and those that are recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps: all deletions, then the changes, then the creations. A copy that goes to another calendar is deleted
    /// and created, so its key has two steps.
    pub steps: Vec<Step>,
    /// The keys of copies that ended before the window. They are forgotten and stay at the provider.
    pub forgotten: Vec<CopyKey>,
}

impl Plan {
    /// Takes the steps that are sent and recorded next: at most [`STEPS_AT_ONCE`], with different keys, in order. Empty
    /// if no steps are left.
    pub fn next_group(&mut self) -> Vec<Step> {
        let mut keys = BTreeSet::new();
        let fits = self.steps.iter().take(STEPS_AT_ONCE).take_while(|step| keys.insert(step.key())).count();
        self.steps.drain(..fits).collect()
    }

    /// Drops the later steps of a key whose step was not done. A copy that could not be deleted must not be created a
    /// second time.
    pub fn give_up(&mut self, key: CopyKey) {
        self.steps.retain(|step| step.key() != key);
    }
}

/// The steps that make the copies in the calendar `target` equal to `wanted`. `copies` are all recorded copies, and
/// `window` is the span that `wanted` was read in.
///
/// Copies that a person changed or deleted have no steps. Copies in another calendar are deleted there.
pub fn plan(wanted: &[(CopyKey, CopyContent)], copies: &[Copy], target: ExternalCalendarId, window: Span) -> Plan {
    let contents: BTreeMap<CopyKey, &CopyContent> = wanted.iter().map(|(key, content)| (*key, content)).collect();
    let (mut deletes, mut updates, mut forgotten) = (Vec::new(), Vec::new(), Vec::new());
    // The keys of copies that stay, and so are not created.
    let mut kept = BTreeSet::new();
    for copy in copies {
        let content = contents.get(&copy.key);
        match content {
            None if copy.ends_at <= window.start() => forgotten.push(copy.key),
            _ if copy.state == CopyState::Diverged => {
                kept.insert(copy.key);
            }
            None => deletes.push(Step::delete(copy)),
            Some(_) if copy.target != target => deletes.push(Step::delete(copy)),
            Some(content) => {
                kept.insert(copy.key);
                if content.digest() != copy.digest {
                    updates.push(Step::Update {
                        key: copy.key,
                        reference: copy.reference.clone(),
                        visible: copy.visible,
                        content: (*content).clone(),
                    });
                }
            }
        }
    }
    let missing = wanted.iter().filter(|(key, _)| !kept.contains(key));
    let creates = missing.map(|(key, content)| Step::Create { key: *key, content: content.clone() });
    let steps = deletes.into_iter().chain(updates).chain(creates).collect();
    Plan { steps, forgotten }
}

/// What to record before a group of steps is sent: the copies that it changes or deletes, with digests that say so.
/// If the attempt does not end, the next one then knows that their contents are not known, and that Kalends may have
/// deleted a copy that does not exist any more.
pub fn intents(group: &[Step], copies: &[Copy]) -> Vec<Copy> {
    let by_key: BTreeMap<CopyKey, &Step> = group.iter().map(|step| (step.key(), step)).collect();
    let intent = |copy: &Copy| match by_key.get(&copy.key)? {
        Step::Create { .. } => None,
        Step::Update { .. } => Some(Copy { digest: Copy::UNKNOWN, ..copy.clone() }),
        Step::Delete { .. } => Some(Copy { digest: Copy::DELETING, ..copy.clone() }),
    };
    copies.iter().filter_map(intent).collect()
}

/// What follows from the copies that exist at the provider after an attempt that did not end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Copies to record, in place of earlier ones with their keys, before a plan is made.
    pub copies: Vec<Copy>,
    /// The keys of recorded copies that the attempt deleted.
    pub gone: Vec<CopyKey>,
    /// Deletions of second copies, to send before the steps of the plan. Nothing is recorded of their results.
    pub duplicates: Vec<Step>,
}

/// Compares the copies that were `found` in the calendar `target` with those that are recorded.
///
/// A copy that was found and is not recorded becomes a recorded one. Its content is not known, so the next plan writes
/// it again. The same holds for a copy that was written after it was last recorded. Copies that a person changed
/// become diverged. If there are several copies of one key, the recorded one is kept, or else the first. A recorded copy
/// that was about to be deleted ([`intents`]) and was not found is gone. Others that were not found stay recorded:
/// a person may have deleted them.
///
/// If an attempt may have written to several calendars, each of them is a `target` of its own call, and `copies` includes
/// what the calls before have returned.
pub fn adopted(found: &[FoundCopy], copies: &[Copy], target: ExternalCalendarId) -> Adopted {
    let present: BTreeSet<&str> = found.iter().map(|found| found.reference.as_str()).collect();
    let is_gone = |copy: &Copy| {
        let deleting = copy.state == CopyState::Published && copy.digest == Copy::DELETING;
        deleting && copy.target == target && !present.contains(copy.reference.as_str())
    };
    let recorded: BTreeMap<CopyKey, &Copy> =
        copies.iter().filter(|copy| !is_gone(copy)).map(|copy| (copy.key, copy)).collect();
    let mut result = Adopted::default();
    let mut taken = BTreeSet::new();
    for found in found {
        let copy = recorded.get(&found.key);
        let is_it = match copy {
            Some(copy) => copy.reference == found.reference,
            None => taken.insert(found.key),
        };
        if !is_it {
            result.duplicates.push(Step::Delete {
                key: found.key,
                reference: found.reference.clone(),
                visible: found.visible,
            });
            continue;
        }
        let as_recorded = copy.is_some_and(|copy| copy.visible == found.visible && !found.changed);
        if as_recorded || copy.is_some_and(|copy| copy.state == CopyState::Diverged) {
            continue;
        }
        result.copies.push(Copy {
            key: found.key,
            target,
            reference: found.reference.clone(),
            digest: Copy::UNKNOWN,
            visible: found.visible,
            ends_at: found.ends_at,
            state: if found.changed { CopyState::Diverged } else { CopyState::Published },
        });
    }
    // A key that was found again has another copy now.
    let gone = copies.iter().filter(|copy| is_gone(copy) && !taken.contains(&copy.key));
    result.gone = gone.map(|copy| copy.key).collect();
    result
}
