//! The change feeds of organizations.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kalends_app::{ChangeSet, Guard, ports::CommitError};
use kalends_calendars::{
    Calendar, Event,
    ports::{EventFilter, EventScope},
};
use kalends_kernel::{MessageId, OrgId, Version};
use kalends_notifications::{
    ChangeType, EventType, FEED_PAGE_BYTES, FeedEntry, FeedPosition, FeedRead, FeedResync, Message, WantedTypes,
};
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race},
};
use crate::fixtures::Compose;

/// How many tasks write at once, and how often each does.
const WRITERS: usize = 32;
const EACH: usize = 3;
/// How many tasks read at the same time.
const READERS: usize = 20;

impl Scene {
    /// Starts the organization's feed.
    async fn start_feed(&self) -> FeedPosition {
        self.store.start_feed(self.org, self.make.tick()).await.unwrap().unwrap()
    }

    async fn read_changes(&self, after: FeedPosition, types: &WantedTypes, limit: u32) -> FeedRead {
        self.store.read_changes(self.org, after, types, limit + 1).await.unwrap().unwrap()
    }

    /// All entries after a position, in pages.
    async fn entries(
        &self,
        mut after: FeedPosition,
        types: &WantedTypes,
        limit: u32,
    ) -> Vec<(FeedPosition, FeedEntry)> {
        let mut all = Vec::new();
        loop {
            let page = self.read_changes(after, types, limit).await.page(after, limit).unwrap();
            all.extend(page.entries);
            after = page.reached;
            if !page.has_more {
                return all;
            }
        }
    }

    /// A change-set that adds an event and announces it.
    fn announcing(&self, event: &Event) -> ChangeSet {
        let payload = format!(r#"{{"id":"{}"}}"#, event.id);
        self.changes().create(event).message(Message { payload, ..self.make.message(self.org) })
    }

    fn entry(&self, change_type: ChangeType) -> FeedEntry {
        let now = self.make.tick();
        FeedEntry {
            id: MessageId::new(now, &self.make.entropy),
            org: self.org,
            change_type,
            body: r#"{"id":"cal"}"#.to_owned(),
            version: Version(4),
            created_at: now,
        }
    }
}

/// Every field of an entry survives, for every type. What messages announce comes first, and messages about endpoints
/// and connections have no entry. Each organization has its own feed.
pub async fn entries_of_a_feed_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (begin, theirs) = (scene.start_feed().await, other.start_feed().await);
    let message = |event_type: &EventType| Message { event_type: *event_type, ..scene.make.message(scene.org) };
    let messages: Vec<Message> = EventType::ALL.iter().map(message).collect();
    let mut entries: Vec<FeedEntry> = messages.iter().filter_map(FeedEntry::of_message).collect();
    assert!(entries.len() < messages.len());
    let body = serde_json::json!({ "text": TRICKY }).to_string();
    let others = ChangeType::all().filter(|change_type| !matches!(change_type, ChangeType::Announced(_)));
    let others: Vec<FeedEntry> =
        others.map(|change_type| FeedEntry { body: body.clone(), ..scene.entry(change_type) }).collect();
    scene.commit(ChangeSet { messages, entries: others.clone(), ..scene.changes() }).await;
    entries.extend(others);
    let read = scene.entries(begin, &WantedTypes::ALL, 7).await;
    assert_eq!(read.iter().map(|(_, entry)| entry.clone()).collect::<Vec<_>>(), entries);
    let positions: Vec<i64> = read.iter().map(|(position, _)| position.0 - begin.0).collect();
    assert_eq!(positions, (1..=i64::try_from(entries.len()).unwrap()).collect::<Vec<_>>());
    assert_eq!(other.entries(theirs, &WantedTypes::ALL, 7).await, []);
    let ends = scene.store.feed_ends(&[scene.org, other.org, OrgId::from_bytes([9; 16])]).await.unwrap();
    let end = read.last().unwrap().0;
    assert_eq!(BTreeMap::from_iter(ends), BTreeMap::from([(scene.org, end), (other.org, theirs)]));
}

/// A reader gets only the types that it wants, and moves past the others.
pub async fn a_reader_gets_the_types_that_it_wants(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let begin = scene.start_feed().await;
    for _ in 0..3 {
        let entries = vec![scene.entry(ChangeType::CalendarCreated), scene.entry(ChangeType::AgentDeleted)];
        scene.commit(ChangeSet { entries, ..scene.changes().message(scene.make.message(scene.org)) }).await;
    }
    let wanted = WantedTypes::parse("agent.*,event.created").unwrap();
    for limit in [1, 2, 50] {
        let read = scene.entries(begin, &wanted, limit).await;
        let names: Vec<_> = read.iter().map(|(_, entry)| entry.change_type.as_str()).collect();
        assert_eq!(names, ["event.created", "agent.deleted"].repeat(3), "{limit}");
    }
    let none = WantedTypes::parse("booking_page.*").unwrap();
    let page = scene.read_changes(begin, &none, 9).await.page(begin, 9).unwrap();
    assert_eq!((page.entries.len(), page.reached, page.has_more), (0, FeedPosition(begin.0 + 9), false));
}

/// A page ends with the entry that fills it. The next one goes on after that.
pub async fn a_page_of_changes_has_a_limit_in_bytes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let begin = scene.start_feed().await;
    for _ in 0..5 {
        let entry = scene.entry(ChangeType::CalendarUpdated);
        let entries = vec![FeedEntry { body: "b".repeat(FEED_PAGE_BYTES / 5 * 2), ..entry }];
        scene.commit(ChangeSet { entries, ..scene.changes() }).await;
    }
    let page = scene.read_changes(begin, &WantedTypes::ALL, 50).await.page(begin, 50).unwrap();
    assert_eq!((page.entries.len(), page.reached, page.has_more), (3, FeedPosition(begin.0 + 3), true));
    let read = scene.entries(begin, &WantedTypes::ALL, 50).await;
    assert_eq!(read.iter().map(|(position, _)| position.0 - begin.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(read.iter().all(|(_, entry)| entry.body.len() == FEED_PAGE_BYTES / 5 * 2));
}

/// Nothing is kept before a feed starts, and a refused change-set takes no position. An organization that does not
/// exist has no feed.
pub async fn a_feed_starts_with_its_first_reader(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let announced = || scene.announcing(&scene.make.event(&calendar, hours(1, 2)));
    scene.commit(announced()).await;
    assert_eq!(scene.store.read_changes(scene.org, FeedPosition(0), &WantedTypes::ALL, 9).await.unwrap(), None);
    let begin = scene.start_feed().await;
    assert_eq!(scene.entries(begin, &WantedTypes::ALL, 9).await, []);
    let before = FeedPosition(begin.0 - 1);
    assert_eq!(scene.read_changes(before, &WantedTypes::ALL, 9).await.page(before, 9), Err(FeedResync::TooOld));
    let after = FeedPosition(begin.0 + 1);
    assert_eq!(scene.read_changes(after, &WantedTypes::ALL, 9).await.page(after, 9), Err(FeedResync::Unknown));

    let stale = Guard::CalendarsOfAgent { agent: scene.agent().await.id, count: 7 };
    assert_refused!(scene.try_commit(announced().guard(stale)).await, CommitError::Stale);
    scene.commit(announced()).await;
    let read = scene.entries(begin, &WantedTypes::ALL, 9).await;
    assert_eq!(read.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [after]);
    assert_eq!(scene.start_feed().await, after, "the feed has started already");
    let nobody = OrgId::from_bytes([9; 16]);
    assert_eq!(scene.store.start_feed(nobody, scene.make.tick()).await.unwrap(), None);
    assert_eq!(scene.store.read_changes(nobody, begin, &WantedTypes::ALL, 9).await.unwrap(), None);
}

/// While many write, all readers see one sequence without gaps, wherever they start again.
pub async fn readers_agree_on_one_order(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let begin = scene.start_feed().await;
    let mut calendars = Vec::new();
    for _ in 0..4 {
        calendars.push(scene.shared_calendar().await);
    }
    let calendars = Arc::new(calendars);
    let outcomes = race(WRITERS + READERS, |index| {
        let (scene, calendars) = (scene.clone(), Arc::clone(&calendars));
        async move {
            if index >= WRITERS {
                return follow(&scene, begin, index).await;
            }
            for round in 0..EACH {
                let number = index + round;
                write(&scene, &calendars[number % calendars.len()], number).await;
            }
            BTreeMap::new()
        }
    })
    .await;
    let readers = &outcomes[WRITERS..];
    let total = i64::try_from(WRITERS * EACH).unwrap();
    let positions: Vec<i64> = readers[0].keys().map(|position| position.0 - begin.0).collect();
    assert_eq!(positions, (1..=total).collect::<Vec<_>>());
    assert_eq!(readers[0].values().collect::<BTreeSet<_>>().len(), WRITERS * EACH, "nothing comes twice");
    for reader in readers {
        assert_eq!(reader, &readers[0]);
    }
}

/// Some changes are committed together with others, and some alone.
async fn write(scene: &Scene, calendar: &Calendar, number: usize) {
    if number.is_multiple_of(3) {
        let agent = scene.make.agent(scene.org);
        scene.commit(scene.changes().create(&agent).message(scene.make.message(scene.org))).await;
    } else {
        scene.commit(scene.announcing(&scene.make.event(calendar, hours(1, 2)))).await;
    }
}

/// Reads until everything was seen. After each page, starts again at some position that it has reached.
async fn follow(scene: &Scene, begin: FeedPosition, seed: usize) -> BTreeMap<FeedPosition, MessageId> {
    let (mut seen, mut after, mut random) = (BTreeMap::new(), begin, seed);
    while seen.len() < WRITERS * EACH {
        let limit = u32::try_from(random % 9 + 1).unwrap();
        let page = scene.read_changes(after, &WantedTypes::ALL, limit).await.page(after, limit).unwrap();
        let mut next = after;
        for (position, entry) in page.entries {
            assert_eq!(position.0, next.0 + 1, "an entry is missing");
            next = position;
            let known = *seen.entry(position).or_insert(entry.id);
            assert_eq!(known, entry.id, "the order has changed");
        }
        assert_eq!(next, page.reached);
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
        let reached = seen.len();
        after = if random.is_multiple_of(4) && reached > 0 {
            FeedPosition(begin.0 + i64::try_from(random % reached).unwrap())
        } else {
            FeedPosition(begin.0 + i64::try_from(reached).unwrap())
        };
        tokio::task::yield_now().await;
    }
    seen
}

/// Whatever is committed while a feed starts is either there for a reader that reads everything after the start, or has
/// an entry.
pub async fn no_change_is_lost_while_a_feed_starts(store: &StoreUnderTest) {
    let first = Scene::set(store).await;
    for _ in 0..5 {
        let scene = first.other_organization().await;
        let calendar = Arc::new(scene.shared_calendar().await);
        let outcomes = race(9, |index| {
            let (scene, calendar) = (scene.clone(), Arc::clone(&calendar));
            async move {
                if index == 4 {
                    let begin = scene.start_feed().await;
                    let scope = EventScope::Calendar(calendar.id);
                    let there = scene.store.list_events(scene.org, scope, EventFilter::default(), LARGEST_PAGE).await;
                    let there: Vec<_> = there.unwrap().data.iter().map(|event| event.id.to_string()).collect();
                    return (Some(begin), there);
                }
                let mut made = Vec::new();
                for _ in 0..4 {
                    let event = scene.make.event(&calendar, hours(1, 2));
                    scene.commit(scene.announcing(&event)).await;
                    made.push(event.id.to_string());
                }
                (None, made)
            }
        })
        .await;
        let begin = outcomes.iter().find_map(|(begin, _)| *begin).unwrap();
        let entries = scene.entries(begin, &WantedTypes::ALL, 50).await;
        let known = |id: &String| {
            outcomes[4].1.contains(id) || entries.iter().any(|(_, entry)| entry.body.contains(id.as_str()))
        };
        for id in outcomes.iter().filter(|(begin, _)| begin.is_none()).flat_map(|(_, made)| made) {
            assert!(known(id), "{id}");
        }
    }
}

/// Old entries are removed in batches. A reader that has not read them must start again; the others read on.
pub async fn old_changes_are_forgotten(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (begin, theirs) = (scene.start_feed().await, other.start_feed().await);
    let commit = async |scene: &Scene| {
        let entry = scene.entry(ChangeType::CalendarUpdated);
        let at = entry.created_at;
        scene.commit(ChangeSet { entries: vec![entry], ..scene.changes() }).await;
        at
    };
    let mut times = Vec::new();
    for _ in 0..4 {
        times.push(commit(&scene).await);
    }
    commit(&other).await;
    assert_eq!(scene.store.forget_changes(times[0], 10).await.unwrap(), 0, "nothing is old enough");
    assert_eq!(scene.store.forget_changes(times[2], 1).await.unwrap(), 1);
    assert_eq!(scene.store.forget_changes(times[2], 10).await.unwrap(), 1);
    assert_eq!(scene.store.forget_changes(times[2], 10).await.unwrap(), 0);
    let page = async |after| scene.read_changes(after, &WantedTypes::ALL, 9).await.page(after, 9);
    for gone in 0..2 {
        assert_eq!(page(FeedPosition(begin.0 + gone)).await, Err(FeedResync::TooOld), "{gone}");
    }
    let kept = page(FeedPosition(begin.0 + 2)).await.unwrap();
    assert_eq!((kept.entries.len(), kept.reached), (2, FeedPosition(begin.0 + 4)));
    assert_eq!(other.entries(theirs, &WantedTypes::ALL, 9).await.len(), 1);
}

/// A feed that nobody reads ends. A later reader starts a new one, after every position of the old one.
pub async fn a_feed_that_nobody_reads_ends(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let begin = scene.start_feed().await;
    scene.commit(ChangeSet { entries: vec![scene.entry(ChangeType::CalendarUpdated)], ..scene.changes() }).await;
    let noted = scene.make.tick();
    assert_eq!(scene.store.start_feed(scene.org, noted).await.unwrap(), Some(FeedPosition(begin.0 + 1)));
    let theirs = other.start_feed().await;
    assert_eq!(scene.store.end_unread_feeds(noted, 10).await.unwrap(), 0);
    assert_eq!(scene.store.end_unread_feeds(noted + SignedDuration::micros(1), 10).await.unwrap(), 1);
    assert_eq!(scene.store.read_changes(scene.org, begin, &WantedTypes::ALL, 9).await.unwrap(), None);
    assert_eq!(other.entries(theirs, &WantedTypes::ALL, 9).await, []);
    scene.commit(ChangeSet { entries: vec![scene.entry(ChangeType::CalendarUpdated)], ..scene.changes() }).await;
    let again = scene.start_feed().await;
    assert!(again > FeedPosition(begin.0 + 1));
    let old = FeedPosition(begin.0 + 1);
    assert_eq!(scene.read_changes(old, &WantedTypes::ALL, 9).await.page(old, 9), Err(FeedResync::TooOld));
    scene.commit(ChangeSet { entries: vec![scene.entry(ChangeType::CalendarUpdated)], ..scene.changes() }).await;
    assert_eq!(scene.entries(again, &WantedTypes::ALL, 9).await.len(), 1);
}
