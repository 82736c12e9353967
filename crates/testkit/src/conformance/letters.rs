//! Letters (outgoing mail), and allowances that are used in a commit.

use std::collections::{BTreeMap, BTreeSet};

use kalends_accounts::{Allowance, Change, Limited, Taken};
use kalends_app::{ChangeSet, Use, ports::CommitError};
use kalends_kernel::{EventId, LetterId};
use kalends_notifications::{
    About, ClaimedLetter, DropReason, Envelope, FailedLetter, Fence, LETTER_CLAIM_LASTS, Letter, LetterEnd,
    LetterRecord, LetterStatus, LetterWork, RecordSearch, ServerReply, Withdrawn,
};
use kalends_time::{SignedDuration, Timestamp, Zone};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, race},
};
use crate::fixtures::Compose as _;

/// How many tasks run at once.
const TASKS: usize = 24;

impl Scene {
    /// A letter to one recipient about one event. It is not stored.
    fn letter(&self, recipient: u8, about: u8) -> Letter {
        Letter {
            recipient: [recipient; 32],
            about: About::event(EventId::from_bytes([about; 16])),
            content: format!("to {recipient} about {about}: \u{1f4ee}"),
            ..self.make.letter(self.org)
        }
    }

    fn writing(&self, letters: &[Letter]) -> ChangeSet {
        ChangeSet { letters: letters.to_vec(), ..self.changes() }
    }

    async fn written(&self, recipient: u8, about: u8) -> Letter {
        let letter = self.letter(recipient, about);
        self.commit(self.writing(std::slice::from_ref(&letter))).await;
        letter
    }

    async fn claims(&self, now: Timestamp, limit: u32) -> Vec<ClaimedLetter> {
        self.store.claim_letters(now, limit).await.unwrap()
    }

    async fn ends(&self, claimed: &ClaimedLetter, end: LetterEnd) {
        self.works(claimed, &LetterWork { end, attempt: None, at: self.make.tick() }).await;
    }

    async fn works(&self, claimed: &ClaimedLetter, work: &LetterWork) {
        self.store.end_letter(claimed.letter.org, claimed.letter.id, claimed.fence, work).await.unwrap();
    }

    /// The newest records of the organization's letters.
    async fn records(&self, status: Option<LetterStatus>, before: Option<LetterId>, limit: u32) -> Vec<LetterRecord> {
        self.store.letter_records(self.org, RecordSearch { status, before, limit }).await.unwrap()
    }
}

/// Every letter is due at once, longest waiting first, and comes back unchanged.
pub async fn letters_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let first = [scene.letter(1, 1), scene.letter(2, 1)];
    scene.commit(scene.writing(&first)).await;
    let mut letters = first.to_vec();
    letters.push(other.written(1, 1).await);
    assert!(scene.claims(letters[0].created_at - SignedDuration::micros(1), 9).await.is_empty(), "not due yet");
    let now = scene.make.tick();
    assert!(scene.claims(now, 0).await.is_empty());
    let mut claimed = scene.claims(now, 2).await;
    let ids = |claimed: &[ClaimedLetter]| claimed.iter().map(|claimed| claimed.letter.id).collect::<BTreeSet<_>>();
    assert_eq!(ids(&claimed), BTreeSet::from([letters[0].id, letters[1].id]), "those that waited longest");
    claimed.extend(scene.claims(now, 9).await);
    claimed.sort_by_key(|claimed| claimed.letter.created_at);
    let expected = letters.iter().map(|letter| ClaimedLetter {
        letter: Letter { envelope: None, ..letter.clone() },
        fence: Fence(1),
        put_off: 0,
        superseded: false,
    });
    assert_eq!(claimed, expected.collect::<Vec<_>>());
}

/// A claimed letter is not claimed again until the claim expires. A worker that lost its claim records nothing.
pub async fn a_lost_claim_on_a_letter_records_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let letter = scene.written(1, 1).await;
    let now = scene.make.tick();
    let lost = scene.claims(now, 9).await.remove(0);
    let over = now + LETTER_CLAIM_LASTS;
    assert!(scene.claims(over - SignedDuration::micros(1), 9).await.is_empty());
    let taken = scene.claims(over, 9).await.remove(0);
    assert_eq!((taken.letter.id, taken.fence), (letter.id, Fence(2)));
    scene.ends(&lost, LetterEnd::Sent).await;
    scene.ends(&lost, LetterEnd::PutOff(now)).await;
    assert!(scene.claims(over, 9).await.is_empty(), "the second claim is still valid");
    scene.ends(&taken, LetterEnd::Sent).await;
    assert!(scene.claims(over + LETTER_CLAIM_LASTS, 9).await.is_empty(), "no letter is left");
    scene.ends(&taken, LetterEnd::PutOff(now)).await;
    assert!(scene.claims(over + LETTER_CLAIM_LASTS, 9).await.is_empty());
}

/// A postponed letter is due again at the given time, with the number of its postponements.
pub async fn a_postponed_letter_is_due_again(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.written(1, 1).await;
    let mut now = scene.make.tick();
    for put_off in 0..3 {
        let claimed = scene.claims(now, 9).await.remove(0);
        assert_eq!(claimed.put_off, put_off);
        let next = now + SignedDuration::hours(1);
        scene.ends(&claimed, LetterEnd::PutOff(next)).await;
        assert!(scene.claims(next - SignedDuration::micros(1), 9).await.is_empty());
        now = next;
    }
}

/// A newer letter supersedes an older one of the same organization, to the same recipient and about the same event.
pub async fn a_newer_letter_supersedes_an_older_one(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (old, elsewhere, to_another) =
        (scene.written(1, 1).await, scene.written(1, 2).await, scene.written(2, 1).await);
    let superseded = async |now| {
        let claimed = scene.claims(now, 9).await;
        claimed.into_iter().filter(|claimed| claimed.superseded).map(|claimed| claimed.letter.id).collect::<Vec<_>>()
    };
    other.written(1, 1).await;
    assert_eq!(superseded(scene.make.tick()).await, []);
    let newer = scene.written(1, 1).await;
    let later = scene.make.tick() + LETTER_CLAIM_LASTS;
    assert_eq!(superseded(later).await, [old.id], "not {:?}, {:?}, {:?}", elsewhere.id, to_another.id, newer.id);
}

/// A letter waits while an older one to the same recipient about the same event is in flight, also after the process
/// that sent it was killed. It does not wait for one that was postponed.
pub async fn a_letter_waits_for_an_older_one_in_flight(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second, third) = (scene.written(1, 1).await, scene.written(1, 1).await, scene.written(1, 1).await);
    let mut now = scene.make.tick();
    let only = |mut claimed: Vec<ClaimedLetter>, letter: &Letter| {
        assert_eq!(claimed.iter().map(|claimed| claimed.letter.id).collect::<Vec<_>>(), [letter.id]);
        claimed.remove(0)
    };
    only(scene.claims(now, 9).await, &first);
    assert_eq!(scene.claims(now, 9).await, []);
    // Its process was killed.
    now = now + LETTER_CLAIM_LASTS;
    let again = only(scene.claims(now, 9).await, &first);
    assert_eq!(scene.claims(now, 9).await, []);
    scene.ends(&again, LetterEnd::PutOff(now + SignedDuration::hours(1))).await;
    let claimed = only(scene.claims(now, 9).await, &second);
    assert_eq!(scene.claims(now, 9).await, []);
    scene.ends(&claimed, LetterEnd::Sent).await;
    only(scene.claims(now + SignedDuration::hours(2), 9).await, &third);
}

/// A series and its occurrences wait for each other, also if one change writes letters about both. A letter about one
/// occurrence waits for none about another, and supersedes only one about the same.
pub async fn letters_about_a_series_and_its_occurrences_keep_their_order(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let about = |letter: Letter, place: i64, start: Option<i64>| Letter {
        about: About { occurrence: start.map(Timestamp::from_micros), ..letter.about },
        created_at: letter.created_at + SignedDuration::micros(place),
        ..letter
    };
    let first = scene.letter(1, 1);
    let now = first.created_at;
    let of = |place: i64, start: Option<i64>| about(Letter { created_at: now, ..scene.letter(1, 1) }, place, start);
    let [series, one, other, again] = [about(first, 0, None), of(1, Some(7)), of(2, Some(8)), of(3, Some(7))];
    scene.commit(scene.writing(&[series.clone(), one.clone(), other.clone(), again.clone()])).await;
    let ids = |claimed: &[ClaimedLetter]| claimed.iter().map(|claimed| claimed.letter.id).collect::<BTreeSet<_>>();
    let claimed = scene.claims(now, 9).await;
    assert_eq!(ids(&claimed), BTreeSet::from([series.id]), "all letters of a change are due at once, in their order");
    assert!(!claimed[0].superseded);
    scene.ends(&claimed[0], LetterEnd::Sent).await;
    let claimed = scene.claims(now, 9).await;
    assert_eq!(ids(&claimed), BTreeSet::from([one.id, other.id]), "different occurrences do not wait for each other");
    let superseded = claimed.iter().filter(|claimed| claimed.superseded).map(|claimed| claimed.letter.id);
    assert_eq!(superseded.collect::<Vec<_>>(), [one.id]);
    for claim in &claimed {
        scene.ends(claim, LetterEnd::PutOff(now + SignedDuration::hours(1))).await;
    }
    let claimed = scene.claims(now, 9).await;
    assert_eq!(ids(&claimed), BTreeSet::from([again.id]));
    scene.ends(&claimed[0], LetterEnd::Sent).await;
    let later = now + SignedDuration::hours(1);
    let newest = about(Letter { created_at: later, ..scene.letter(1, 1) }, 0, None);
    scene.commit(scene.writing(std::slice::from_ref(&newest))).await;
    let claimed = scene.claims(later, 9).await;
    assert_eq!(ids(&claimed), BTreeSet::from([other.id, newest.id]), "sending {:?} removed {:?}", again.id, one.id);
    let newest = claimed.iter().find(|claimed| claimed.letter.id == newest.id).expect("claimed");
    scene.ends(newest, LetterEnd::Sent).await;
    assert_eq!(scene.claims(later + LETTER_CLAIM_LASTS, 9).await, [], "a letter about the series removes all older");
}

/// Sending a letter removes older ones to the same recipient about the same event, and no others. A dropped letter
/// removes no others, and neither does a worker that lost its claim.
pub async fn a_sent_letter_removes_older_ones(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let hour = SignedDuration::hours(1);
    let waiting = scene.written(1, 1).await;
    let mut kept = vec![scene.written(1, 2).await, scene.written(2, 1).await, other.written(1, 1).await];
    let mut now = scene.make.tick();
    for claim in scene.claims(now, 9).await {
        scene.ends(&claim, LetterEnd::PutOff(now + hour)).await;
    }
    let dropped = scene.written(1, 1).await;
    let lost = scene.claims(scene.make.tick(), 9).await.remove(0);
    assert_eq!(lost.letter.id, dropped.id);
    now = scene.make.tick() + LETTER_CLAIM_LASTS;
    let taken = scene.claims(now, 9).await.remove(0);
    let left = async |now: Timestamp| {
        let claimed = scene.claims(now, 9).await;
        for claim in &claimed {
            scene.ends(claim, LetterEnd::PutOff(now)).await;
        }
        claimed.into_iter().map(|claimed| claimed.letter.id).collect::<BTreeSet<_>>()
    };
    let ids = |letters: &[Letter]| letters.iter().map(|letter| letter.id).collect::<BTreeSet<_>>();
    scene.ends(&lost, LetterEnd::Sent).await;
    scene.ends(&taken, LetterEnd::Dropped(DropReason::Refused)).await;
    now = now + hour;
    let mut all = kept.clone();
    all.push(waiting.clone());
    assert_eq!(left(now).await, ids(&all), "a lost claim ends nothing, nor does a dropped letter");

    let sent = scene.written(1, 1).await;
    kept.push(scene.written(1, 1).await);
    now = now + hour;
    for claim in scene.claims(now, 9).await {
        let end = if claim.letter.id == sent.id { LetterEnd::Sent } else { LetterEnd::PutOff(now + hour) };
        scene.ends(&claim, end).await;
    }
    assert_eq!(left(now + hour + hour).await, ids(&kept), "not {:?}", waiting.id);
}

/// An older letter that was postponed is not sent after a newer one.
pub async fn a_letter_is_not_sent_after_its_successor(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.written(1, 1).await;
    let now = scene.make.tick();
    let booked = scene.claims(now, 9).await.remove(0);
    let later = now + SignedDuration::minutes(1);
    scene.ends(&booked, LetterEnd::PutOff(later)).await;
    scene.written(1, 1).await;
    let cancelled = scene.claims(scene.make.tick(), 9).await.remove(0);
    scene.ends(&cancelled, LetterEnd::Sent).await;
    assert_eq!(scene.claims(later + LETTER_CLAIM_LASTS, 9).await, []);
}

/// If many workers claim a letter, one gets it.
pub async fn a_letter_is_claimed_by_one_worker(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let letters: Vec<_> = (0..20).map(|number| scene.letter(1, number)).collect();
    scene.commit(scene.writing(&letters)).await;
    let now = scene.make.tick();
    let claimed = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.claims(now, 3).await }
    })
    .await;
    let claimed: Vec<_> = claimed.into_iter().flatten().map(|claimed| claimed.letter.id).collect();
    let each: BTreeSet<_> = claimed.iter().copied().collect();
    assert_eq!(claimed.len(), each.len(), "none is claimed twice");
    let left = scene.claims(now, 99).await.len();
    assert_eq!(claimed.len() + left, letters.len());
}

/// A letter's record shows each attempt, stays after the letter has ended, and follows only the valid claim. Letters
/// that the organization does not see have none.
pub async fn records_follow_their_letters(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let letters = [scene.letter(1, 1), scene.letter(2, 1), Letter { envelope: None, ..scene.letter(3, 1) }];
    scene.commit(scene.writing(&letters)).await;
    other.written(1, 1).await;
    let due = letters[0].created_at;
    let mut first = letters[0].record(due).unwrap();
    let mut second = letters[1].record(due).unwrap();
    assert_eq!(scene.records(None, None, 9).await, [second.clone(), first.clone()], "the newest first");

    let mut now = scene.make.tick();
    let claims = async |now| {
        let mut claimed = scene.claims(now, 9).await;
        claimed.retain(|claim| claim.letter.org == scene.org);
        claimed.sort_by_key(|claim| claim.letter.created_at);
        claimed
    };
    let claimed = claims(now).await;
    assert_eq!(scene.records(None, None, 9).await, [second.clone(), first.clone()], "a claim changes no record");
    let attempt = |letter: &Letter, code: u16, text: &str, at| {
        let reply = Some(ServerReply::new(Some(code), text, at));
        Some(Envelope { reply, ..letter.envelope.clone().unwrap() })
    };
    let minute = SignedDuration::minutes(1);
    let greylisted = LetterWork {
        end: LetterEnd::PutOff(now + minute),
        attempt: attempt(&letters[0], 451, "4.7.1 \u{1f4ee}", now),
        at: now,
    };
    let refused = LetterWork {
        end: LetterEnd::Dropped(DropReason::Refused),
        attempt: attempt(&letters[1], 550, "5.1.1 no mailbox", now),
        at: now,
    };
    scene.works(&claimed[0], &greylisted).await;
    scene.works(&claimed[1], &refused).await;
    scene.works(&claimed[2], &LetterWork { end: LetterEnd::Sent, attempt: None, at: now }).await;
    first = first.after(greylisted);
    second = second.after(refused.clone());
    assert_eq!((first.attempts, first.status, second.status), (1, LetterStatus::Pending, LetterStatus::Refused));
    assert_eq!(scene.records(None, None, 9).await, [second.clone(), first.clone()]);

    // A worker that lost its claim records nothing. Waiting for the limit of a recipient keeps the last reply.
    now = now + minute;
    let lost = claims(now).await.remove(0);
    now = now + LETTER_CLAIM_LASTS;
    let taken = claims(now).await.remove(0);
    scene.works(&lost, &refused).await;
    assert_eq!(scene.records(None, None, 9).await, [second.clone(), first.clone()]);
    let waits = LetterWork { end: LetterEnd::PutOff(now + minute), attempt: None, at: now };
    scene.works(&taken, &waits).await;
    first = first.after(waits);
    assert_eq!(scene.records(None, None, 9).await, [second.clone(), first.clone()]);
    assert_eq!((first.attempts, first.next_attempt_at), (1, Some(now + minute)));

    now = now + minute;
    let sent = LetterWork { end: LetterEnd::Sent, attempt: attempt(&letters[0], 250, "2.0.0 queued", now), at: now };
    scene.works(&claims(now).await.remove(0), &sent).await;
    first = first.after(sent);
    assert_eq!((first.attempts, first.ended_at, first.next_attempt_at), (2, Some(now), None));
    assert_eq!(scene.records(None, None, 9).await, [second, first]);
    assert_eq!(other.records(None, None, 9).await.len(), 1, "the records of other organizations are separate");
}

/// A letter that a newer one took the place of is marked, and keeps its last reply.
pub async fn records_of_superseded_letters_are_marked(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let old = scene.written(1, 1).await;
    let other = scene.written(1, 2).await;
    let now = scene.make.tick();
    for claim in scene.claims(now, 9).await {
        scene.ends(&claim, LetterEnd::PutOff(now + SignedDuration::hours(1))).await;
    }
    let newer = scene.written(1, 1).await;
    let claim = scene.claims(scene.make.tick(), 9).await.remove(0);
    assert_eq!(claim.letter.id, newer.id);
    let at = scene.make.tick();
    let sent = LetterWork { end: LetterEnd::Sent, attempt: newer.envelope.clone(), at };
    scene.works(&claim, &sent).await;
    let records = scene.records(None, None, 9).await;
    let seen: Vec<_> = records.iter().map(|record| (record.id, record.status, record.attempts)).collect();
    assert_eq!(
        seen,
        [
            (newer.id, LetterStatus::Sent, 1),
            (other.id, LetterStatus::Pending, 0),
            (old.id, LetterStatus::Superseded, 0)
        ]
    );
    assert_eq!((records[2].next_attempt_at, records[2].ended_at), (None, Some(at)));
    assert_eq!(Some(&records[2].envelope), old.envelope.as_ref());
}

/// A change that takes back what letters announce removes those that wait, also while they are in flight, and marks
/// their records. Its own letters, and those about something else, to others or of another organization, stay.
pub async fn withdrawn_letters_are_not_sent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (gone, elsewhere, theirs) = (scene.written(1, 1).await, scene.written(1, 2).await, other.written(1, 1).await);
    let another = scene.written(2, 1).await;
    let now = scene.make.tick();
    let in_flight = scene.claims(now, 9).await.into_iter().find(|claim| claim.letter.id == gone.id).expect("claimed");
    let (at, next) = (scene.make.tick(), scene.letter(1, 3));
    let withdrawn = [&gone, &next].map(|letter| Withdrawn { recipient: letter.recipient, about: letter.about, at });
    scene.commit(ChangeSet { withdrawn: withdrawn.to_vec(), ..scene.writing(std::slice::from_ref(&next)) }).await;
    scene.ends(&in_flight, LetterEnd::PutOff(now)).await;
    let left = scene.claims(scene.make.tick() + LETTER_CLAIM_LASTS, 9).await;
    let left: BTreeSet<_> = left.into_iter().map(|claim| claim.letter.id).collect();
    assert_eq!(left, BTreeSet::from([elsewhere.id, theirs.id, another.id, next.id]));
    let records = scene.records(None, None, 9).await;
    let seen: BTreeMap<_, _> = records.iter().map(|record| (record.id, record.status)).collect();
    let pending = LetterStatus::Pending;
    let outdated = (gone.id, LetterStatus::Outdated);
    let expected = [outdated, (elsewhere.id, pending), (another.id, pending), (next.id, pending)];
    assert_eq!(seen, BTreeMap::from(expected));
    let record = records.iter().find(|record| record.id == gone.id).expect("its record stays");
    assert_eq!((record.next_attempt_at, record.ended_at), (None, Some(at)));
}

/// A letter that a worker sent although it was withdrawn in the meantime has a record that says so.
pub async fn a_letter_withdrawn_while_it_was_sent_is_recorded_as_sent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (gone, waiting) = (scene.written(1, 1).await, scene.written(1, 2).await);
    let claims = scene.claims(scene.make.tick(), 9).await;
    let at = scene.make.tick();
    let withdrawn = Withdrawn { recipient: gone.recipient, about: gone.about, at };
    scene.commit(ChangeSet { withdrawn: vec![withdrawn], ..scene.changes() }).await;
    let sent = LetterWork { end: LetterEnd::Sent, attempt: gone.envelope.clone(), at: scene.make.tick() };
    let claimed = claims.iter().find(|claim| claim.letter.id == gone.id).expect("claimed");
    scene.works(claimed, &sent).await;
    // A claim that no longer holds does not end the letter.
    let lost =
        ClaimedLetter { fence: Fence(9), ..claims.into_iter().find(|claim| claim.letter.id == waiting.id).unwrap() };
    scene.works(&lost, &sent).await;
    let records = scene.records(None, None, 9).await;
    let seen: BTreeMap<_, _> =
        records.iter().map(|record| (record.id, (record.status, record.attempts, record.ended_at))).collect();
    let expected = [(gone.id, (LetterStatus::Sent, 1, Some(sent.at))), (waiting.id, (LetterStatus::Pending, 0, None))];
    assert_eq!(seen, BTreeMap::from(expected));
}

/// Records are read page by page and by status, and removed by age.
pub async fn records_are_read_in_pages_and_removed_by_age(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut written = Vec::new();
    for number in 0..5 {
        written.push(scene.written(1, number).await.id);
        scene.make.clock.advance(SignedDuration::micros(1_000));
    }
    written.reverse();
    let ids = |records: Vec<LetterRecord>| records.into_iter().map(|record| record.id).collect::<Vec<_>>();
    assert_eq!(ids(scene.records(None, None, 2).await), written[..2]);
    assert_eq!(ids(scene.records(None, Some(written[1]), 9).await), written[2..]);
    assert_eq!(ids(scene.records(None, Some(written[4]), 9).await), []);
    let claim = scene.claims(scene.make.tick(), 1).await.remove(0);
    scene.ends(&claim, LetterEnd::Sent).await;
    assert_eq!(ids(scene.records(Some(LetterStatus::Sent), None, 9).await), [written[4]]);
    assert_eq!(ids(scene.records(Some(LetterStatus::Pending), None, 2).await), written[..2]);

    let between = scene.records(None, None, 9).await[1].created_at;
    assert_eq!(scene.store.forget_letter_records(between, 2).await.unwrap(), 2);
    assert_eq!(ids(scene.records(None, None, 9).await), written[..3], "the oldest go first");
    assert_eq!(scene.store.forget_letter_records(between, 2).await.unwrap(), 1);
    assert_eq!(scene.store.forget_letter_records(between, 2).await.unwrap(), 0);
    assert_eq!(ids(scene.records(None, None, 9).await), written[..2]);
}

/// Letters that were refused or given up, and those that wait after a failed attempt, are listed for all organizations,
/// the newest first and only some of each, and counted by the day on which they were written. Others are not.
pub async fn failed_letters_are_read_across_organizations(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let failed = async |limit, of_each, among| scene.store.failed_letters(limit, of_each, among).await.unwrap();
    let written = [
        scene.written(1, 1).await,
        other.written(2, 2).await,
        scene.written(3, 3).await,
        scene.written(4, 4).await,
        scene.written(5, 5).await,
    ];
    assert_eq!(failed(9, 9, 9).await, [], "none has been tried");
    let now = scene.make.tick();
    let reply = Some(ServerReply::new(Some(550), "no mailbox ada@example.com", now));
    let attempt = Some(Envelope { to: "ada@example.com".into(), subject: "Standup".into(), reply });
    let (refused, later) = (LetterEnd::Dropped(DropReason::Refused), LetterEnd::PutOff(now + SignedDuration::hours(1)));
    let expired = LetterEnd::Dropped(DropReason::Expired);
    let works = [
        LetterWork { end: refused, attempt: attempt.clone(), at: now },
        LetterWork { end: later, attempt: attempt.clone(), at: now },
        LetterWork { end: expired, attempt: None, at: now },
        LetterWork { end: later, attempt: None, at: now },
        LetterWork { end: LetterEnd::Sent, attempt, at: now },
    ];
    let name = scene.organization().await.name.as_str().to_owned();
    let mut expected = Vec::new();
    for claim in scene.claims(now, 9).await {
        let place = written.iter().position(|letter| letter.id == claim.letter.id).unwrap();
        scene.works(&claim, &works[place]).await;
        if place < 3 {
            let record = written[place].record(written[place].created_at).unwrap().after(works[place].clone());
            expected.push(FailedLetter::of(record, name.clone()));
        }
    }
    expected.sort_by_key(|letter| std::cmp::Reverse(letter.created_at));
    assert_eq!(expected.len(), 3);
    assert_eq!(expected.iter().map(|letter| letter.org).collect::<Vec<_>>(), [scene.org, other.org, scene.org]);
    for (limit, of_each, among, count) in
        [(9, 9, 9, 3), (2, 9, 9, 2), (9, 1, 9, 2), (9, 2, 9, 3), (9, 9, 1, 1), (9, 0, 9, 0)]
    {
        assert_eq!(failed(limit, of_each, among).await, expected[..count], "{limit}, {of_each}, {among}");
    }

    let by_day = async |since, limit| scene.store.failed_letters_by_day(since, limit).await.unwrap();
    let day = Zone::UTC.to_civil(now).date;
    assert_eq!(by_day(written[0].created_at, 9).await, BTreeMap::from([(day, 3)]));
    assert_eq!(by_day(written[1].created_at, 9).await, BTreeMap::from([(day, 2)]));
    assert_eq!(by_day(written[0].created_at, 1).await, BTreeMap::from([(day, 1)]));
    assert_eq!(by_day(now, 9).await, BTreeMap::new());
}

/// Letters are deleted with their organization at once: none is sent while its rows are being removed.
pub async fn letters_are_deleted_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (_, kept) = (scene.written(1, 1).await, other.written(1, 1).await);
    let (org, seen, at) = (scene.org, scene.organization().await.version, scene.make.tick());
    scene.commit(scene.changes().account(Change::DeleteOrganization { org, seen, at })).await;
    let left: Vec<_> = scene.claims(scene.make.tick(), 9).await.into_iter().map(|claimed| claimed.letter.id).collect();
    assert_eq!(left, [kept.id]);
}

/// An allowance is never exceeded by concurrent commits. A refused commit leaves nothing behind.
pub async fn allowances_are_used_in_the_commit(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let now = scene.make.tick();
    let allowance = Allowance::mail(scene.org, 10);
    let outcomes = race(TASKS, |index| {
        let scene = scene.clone();
        async move {
            let letters = [scene.letter(1, u8::try_from(index).unwrap())];
            let uses = vec![Use { allowance, count: 1, now }];
            scene.try_commit(ChangeSet { uses, ..scene.writing(&letters) }).await
        }
    })
    .await;
    let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(done, 10);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        let Err(CommitError::TooMany { limited: Limited::Mail(10), retry_after }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(retry_after, SignedDuration::hours(1));
    }
    assert_eq!(scene.claims(scene.make.tick(), 99).await.len(), 10, "a refused commit stores no letter");

    // Other organizations count separately, and several uses are taken all or none.
    let taking = |scene: &Scene, count, now| {
        let uses = vec![Use { allowance: Allowance::mail(scene.org, 10), count, now }];
        ChangeSet { uses, ..scene.changes() }
    };
    other.commit(taking(&other, 8, now)).await;
    assert_refused!(other.try_commit(taking(&other, 3, now)).await, CommitError::TooMany { .. });
    other.commit(taking(&other, 2, now)).await;
    // The next hour is another window.
    let later = now + SignedDuration::hours(1);
    scene.commit(taking(&scene, 10, later)).await;
    assert_refused!(scene.try_commit(taking(&scene, 1, later)).await, CommitError::TooMany { .. });
}

/// Stores count as [`Allowance::take_many`] does, in a commit and outside, whatever is stored: nothing, an open
/// window or a past one, a window that ends too late because the clock was set back, or more than a lowered limit
/// allows.
pub async fn allowances_in_stores_match_take_many(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let now = scene.make.tick();
    let mut kept = None;
    // More than the limit at once is refused before anything is stored.
    let steps = [
        (11, 0, 10),
        (4, 0, 10),
        (7, 1, 10),
        (6, 2, 10),
        (1, 3, 10),
        (0, 3, 10),
        (1, 59, 11),
        (1, 59, 7),
        (0, 59, 7),
        (11, 60, 10),
        (10, 60, 10),
        (1, 119, 10),
        (9, 300, 10),
        (2, -300, 10),
        (9, -299, 10),
        (8, -299, 10),
        (1, -241, 10),
        (1, -240, 10),
        (1, -240, u32::MAX),
        (u32::MAX, -240, u32::MAX),
        (u32::MAX, 0, u32::MAX),
        (1, 0, u32::MAX),
    ];
    for (step, (count, minutes, limit)) in steps.into_iter().enumerate() {
        let (allowance, now) = (Allowance::mail(scene.org, limit), now + SignedDuration::minutes(minutes));
        let expected = allowance.take_many(kept, count, now);
        let uses = vec![Use { allowance, count, now }];
        let outcome = match scene.try_commit(ChangeSet { uses, ..scene.changes() }).await {
            Ok(()) => None,
            Err(CommitError::TooMany { retry_after, .. }) => Some(retry_after),
            Err(error) => panic!("{step}: {error}"),
        };
        match expected {
            Taken::Granted(used) => {
                kept = Some(used);
                assert_eq!(outcome, None, "{step}");
            }
            Taken::Refused { retry_after } => assert_eq!(outcome, Some(retry_after), "{step}"),
        }
        // The same outside a commit, which shows the stored state.
        let taken = scene.store.take(&allowance, now).await.unwrap();
        assert_eq!(taken, allowance.take(kept, now), "{step}");
        if let Taken::Granted(used) = taken {
            kept = Some(used);
        }
    }
}
