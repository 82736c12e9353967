//! Booking pages, and their bookings.

use kalends_accounts::Change as AccountChange;
use kalends_app::{Charge, Guard, ports::CommitError};
use kalends_availability::{Hours, Week};
use kalends_bookings::{
    Booking, BookingPage, BookingPagePatch, BookingToken, Change, Guest, NewBookingPage, SecretHash, Timetable,
    ports::FoundPage,
};
use kalends_calendars::{Calendar, Change as Write, Patch};
use kalends_kernel::{EventId, Page};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;
use kalends_time::{SignedDuration, Span};
use serde_json::json;

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

fn guest() -> Guest {
    Guest::parse("Ada „Countess“ 🗓", "ada@example.com", Some("notes\nin two lines")).unwrap()
}

impl Scene {
    fn booking_page(&self, calendar: &Calendar) -> BookingPage {
        let new = NewBookingPage {
            title: "Kennenlernen: „kurz“ 🗓".into(),
            description: Some("Text".into()),
            timetable: Timetable {
                duration_minutes: 45,
                zone: "Australia/Lord_Howe".parse().unwrap(),
                constraints: Some(Week { mon: Hours::new(0, 1_440), sun: Hours::new(1, 2), ..Week::default() }),
            },
            buffer_minutes: 120,
            window_days: 365,
            min_notice_minutes: 525_600,
            active: true,
        };
        let of = (self.org, calendar.id, calendar.agent);
        BookingPage::create(of, new, self.make.tick(), &self.make.entropy)
    }

    /// Stores a page of the calendar.
    pub(super) async fn page_of(&self, calendar: &Calendar) -> BookingPage {
        let page = self.booking_page(calendar);
        self.pages(vec![Change::CreatePage(Box::new(page.clone()))]).await.unwrap();
        page
    }

    async fn pages(&self, bookings: Vec<Change>) -> Result<(), CommitError> {
        let mut changes = self.changes();
        changes.bookings = bookings;
        self.try_commit(changes).await
    }

    async fn page_now(&self, page: &BookingPage) -> Option<BookingPage> {
        self.store.find_booking_page(self.org, page.id).await.unwrap()
    }

    async fn found_page(&self, slug: SecretHash) -> Option<FoundPage> {
        self.store.booking_page_of_slug(slug, self.make.period()).await.unwrap()
    }

    async fn page_at(&self, slug: SecretHash) -> Option<BookingPage> {
        self.found_page(slug).await.map(|found| found.page)
    }

    /// Books a time on the page as it was seen, under the given guards only.
    async fn book(
        &self,
        page: &BookingPage,
        calendar: &Calendar,
        span: Span,
        guard: Option<Guard>,
    ) -> (Result<(), CommitError>, Booking, BookingToken) {
        let event = self.make.event(calendar, span);
        let (booking, token) = Booking::create(page, event.id, guest(), self.make.tick(), &self.make.entropy);
        let mut changes = self.changes().create(&event);
        changes.guards.extend(guard);
        changes.bookings.push(Change::CreateBooking { booking: Box::new(booking.clone()), seen: page.version });
        (self.try_commit(changes).await, booking, token)
    }

    async fn own(&self) -> Calendar {
        let agent = self.agent().await;
        self.calendar(&agent).await
    }
}

/// Every field survives, for an agent's calendar and for a shared one.
pub async fn booking_pages_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (own, shared) = (scene.own().await, scene.shared_calendar().await);
    let full = scene.page_of(&own).await;
    assert_eq!(scene.page_now(&full).await, Some(full.clone()));
    assert_eq!(full.agent, own.agent);
    let made = scene.booking_page(&shared);
    let timetable = Timetable { constraints: None, ..made.timetable.clone() };
    let bare = BookingPage { description: None, timetable, active: false, ..made };
    scene.pages(vec![Change::CreatePage(Box::new(bare.clone()))]).await.unwrap();
    assert_eq!((scene.page_now(&bare).await, bare.agent), (Some(bare.clone()), None));
}

/// Oldest first, optionally of one agent only. Other organizations see nothing.
pub async fn booking_pages_are_listed_by_creation_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (own, second) = (scene.own().await, scene.own().await);
    let mut made = Vec::new();
    for calendar in [&own, &second, &own, &own, &second] {
        made.push(scene.page_of(calendar).await);
    }
    other.page_of(&other.own().await).await;
    for offset in 0..6 {
        let listed = scene.store.list_booking_pages(scene.org, None, Page { limit: 2, offset }).await.unwrap();
        let expected: Vec<_> = made.iter().skip(offset as usize).take(2).cloned().collect();
        assert_eq!((listed.data, listed.total), (expected, 5));
    }
    let of = scene.store.list_booking_pages(scene.org, own.agent, Page { limit: 2, offset: 1 }).await.unwrap();
    assert_eq!((of.data, of.total), (vec![made[2].clone(), made[3].clone()], 3));
    assert_eq!(other.page_now(&made[0]).await, None);
}

/// An update applies only at the version that was seen, and does not change the number of bookings. A deleted page is
/// not visible.
pub async fn booking_pages_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own().await;
    let seen = scene.page_of(&calendar).await;
    scene.book(&seen, &calendar, hours(1, 2), None).await.0.unwrap();
    let patch = BookingPagePatch {
        title: Patch::Set("Other".into()),
        description: Patch::Set(None),
        duration_minutes: Patch::Set(5),
        buffer_minutes: Patch::Set(0),
        window_days: Patch::Set(1),
        min_notice_minutes: Patch::Set(0),
        zone: Patch::Set("Europe/Berlin".parse().unwrap()),
        constraints: Patch::Set(None),
        active: Patch::Set(false),
    };
    let changed = seen.patched(patch, scene.make.tick());
    let update = |page: &BookingPage, seen| vec![Change::UpdatePage { page: Box::new(page.clone()), seen }];
    scene.pages(update(&changed, seen.version)).await.unwrap();
    let counted = BookingPage { bookings: 1, ..changed.clone() };
    assert_eq!(scene.page_now(&seen).await, Some(counted.clone()));
    assert_refused!(scene.pages(update(&seen.deleted(scene.make.tick()), seen.version)).await, CommitError::Stale);
    scene.pages(update(&counted.deleted(scene.make.tick()), counted.version)).await.unwrap();
    assert_eq!(scene.page_now(&seen).await, None);
    assert_eq!(scene.store.list_booking_pages(scene.org, None, LARGEST_PAGE).await.unwrap().total, 0);
}

/// The slug finds its page, open or closed, until the page is deleted. No other slug does.
pub async fn booking_pages_are_found_by_their_slug(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let calendar = scene.own().await;
    let (ours, theirs) = (scene.page_of(&calendar).await, other.page_of(&other.own().await).await);
    for page in [&ours, &theirs] {
        assert_eq!(scene.page_at(page.slug.hash()).await.as_ref(), Some(page));
    }
    let before = scene.found_page(ours.slug.hash()).await.unwrap().source;
    let now = scene.store.source_of_calendar(scene.org, ours.calendar).await.unwrap().unwrap();
    assert_eq!(before, now, "the page carries the calendar's state");
    scene.commit(scene.changes().create(&scene.make.event(&calendar, hours(1, 2)))).await;
    let after = scene.found_page(ours.slug.hash()).await.unwrap().source;
    assert!(after.revision > before.revision, "something was scheduled");
    let closed =
        ours.patched(BookingPagePatch { active: Patch::Set(false), ..BookingPagePatch::default() }, scene.make.tick());
    scene.pages(vec![Change::UpdatePage { page: Box::new(closed.clone()), seen: ours.version }]).await.unwrap();
    assert_eq!(scene.page_at(ours.slug.hash()).await, Some(closed.clone()));
    let gone = Box::new(closed.deleted(scene.make.tick()));
    scene.pages(vec![Change::UpdatePage { page: gone, seen: closed.version }]).await.unwrap();
    assert_eq!(scene.page_at(ours.slug.hash()).await, None);
    let unknown = BookingToken::generate(&scene.make.entropy);
    assert_eq!(scene.page_at(unknown.hash()).await, None);
}

/// A page is hidden with its calendar and with the calendar's agent. No page is made on a hidden calendar.
pub async fn booking_pages_end_with_their_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (first, second) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    let (one, two) = (scene.page_of(&first).await, scene.page_of(&second).await);
    let (_, _, token) = scene.book(&two, &second, hours(1, 2), None).await;
    scene.delete(&first).await;
    assert_eq!(scene.page_now(&one).await, None);
    assert_eq!(scene.page_at(one.slug.hash()).await, None);
    let late = Change::CreatePage(Box::new(scene.booking_page(&first)));
    assert_refused!(scene.pages(vec![late]).await, CommitError::Stale);
    let usage = scene.store.usage(scene.org, scene.make.period(), scene.make.tick()).await.unwrap();
    assert!(usage.contains(&(Metric::BookingPages, 1)), "{usage:?}");
    scene.decommission(&agent).await;
    assert_eq!(scene.page_now(&two).await, None);
    assert_eq!(scene.page_at(two.slug.hash()).await, None);
    assert_eq!(scene.store.booking_of_token(token.hash()).await.unwrap(), None);
}

/// Either token finds the booking with its page, even if the page was deleted. Neither finds another booking.
pub async fn bookings_are_found_by_their_tokens(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own().await;
    let page = scene.page_of(&calendar).await;
    let (done, booking, token) = scene.book(&page, &calendar, hours(1, 2), None).await;
    done.unwrap();
    let (_, other, second) = scene.book(&page, &calendar, hours(3, 4), None).await;
    let page = BookingPage { bookings: 2, ..page };
    for token in [token.clone(), token.to_cancel()] {
        let found = scene.store.booking_of_token(token.hash()).await.unwrap();
        assert_eq!(found, Some((page.clone(), booking.clone())));
    }
    let gone = page.deleted(scene.make.tick());
    scene.pages(vec![Change::UpdatePage { page: Box::new(gone.clone()), seen: page.version }]).await.unwrap();
    assert_eq!(scene.store.booking_of_token(second.hash()).await.unwrap(), Some((gone, other)));
    let unknown = BookingToken::generate(&scene.make.entropy);
    assert_eq!(scene.store.booking_of_token(unknown.hash()).await.unwrap(), None);
}

/// If the page was changed or deleted since it was seen, nothing is booked or counted.
pub async fn a_booking_needs_the_page_that_was_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own().await;
    let seen = scene.page_of(&calendar).await;
    let changed =
        seen.patched(BookingPagePatch { active: Patch::Set(false), ..BookingPagePatch::default() }, scene.make.tick());
    scene.pages(vec![Change::UpdatePage { page: Box::new(changed.clone()), seen: seen.version }]).await.unwrap();
    let (late, _, token) = scene.book(&seen, &calendar, hours(1, 2), None).await;
    assert_refused!(late, CommitError::Stale);
    assert_eq!(scene.store.booking_of_token(token.hash()).await.unwrap(), None);
    assert_eq!((scene.page_now(&seen).await, scene.events(calendar.id).await), (Some(changed.clone()), vec![]));
    let gone = changed.deleted(scene.make.tick());
    scene.pages(vec![Change::UpdatePage { page: Box::new(gone.clone()), seen: changed.version }]).await.unwrap();
    assert_refused!(scene.book(&gone, &calendar, hours(1, 2), None).await.0, CommitError::Stale);
}

/// If many callers saw a slot free, one books it. There are as many bookings as events.
pub async fn a_slot_is_booked_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own().await;
    let page = scene.page_of(&calendar).await;
    let seen = scene.revision(&calendar).await;
    let outcomes = race(TASKS, |_| {
        let (scene, page, calendar) = (scene.clone(), page.clone(), calendar.clone());
        async move {
            let guard = Guard::CalendarTime { calendar: calendar.id, seen, window: hours(0, 3) };
            scene.book(&page, &calendar, hours(1, 2), Some(guard)).await.0
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    assert_eq!(scene.events(calendar.id).await.len(), 1);
    assert_eq!(scene.page_now(&page).await.unwrap().bookings, 1);
}

/// Concurrent creations never exceed the plan's number. A deleted page makes room.
pub async fn the_number_of_booking_pages_is_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own().await;
    let guard = Guard::AtMost { metric: Metric::BookingPages, limit: 2 };
    let outcomes = race(TASKS, |_| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move {
            let mut changes = scene.changes().guard(guard);
            changes.bookings.push(Change::CreatePage(Box::new(scene.booking_page(&calendar))));
            scene.try_commit(changes).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 2, "{outcomes:?}");
    let kept = scene.store.list_booking_pages(scene.org, None, LARGEST_PAGE).await.unwrap().data;
    let gone = Box::new(kept[0].deleted(scene.make.tick()));
    scene.pages(vec![Change::UpdatePage { page: gone, seen: kept[0].version }]).await.unwrap();
    let mut changes = scene.changes().guard(guard);
    changes.bookings.push(Change::CreatePage(Box::new(scene.booking_page(&calendar))));
    scene.commit(changes).await;
}

/// When an account is deleted, its pages are gone at once and its bookings are removed. Those of another organization
/// stay.
pub async fn booking_pages_end_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (calendar, theirs) = (scene.own().await, other.page_of(&other.own().await).await);
    let page = scene.page_of(&calendar).await;
    let (_, _, token) = scene.book(&page, &calendar, hours(1, 2), None).await;
    let (org, seen) = (scene.org, scene.organization().await.version);
    let at = scene.make.tick();
    scene.commit(scene.changes().account(AccountChange::DeleteOrganization { org, seen, at })).await;
    assert_eq!(scene.page_at(page.slug.hash()).await, None);
    assert_eq!(scene.store.booking_of_token(token.hash()).await.unwrap(), None);
    while scene.store.remove_rows(org, 2).await.unwrap() > 0 {}
    assert_eq!(scene.page_at(theirs.slug.hash()).await, Some(theirs));
    let late = EventId::new(scene.make.tick(), &scene.make.entropy);
    let (booking, _) = Booking::create(&page, late, guest(), scene.make.tick(), &scene.make.entropy);
    let mut changes = scene.changes();
    changes.bookings.push(Change::CreateBooking { booking: Box::new(booking), seen: page.version });
    changes.calendars.push(Write::CreateEvent(scene.make.event(&calendar, hours(5, 6))));
    assert_refused!(scene.try_commit(changes).await, CommitError::NoOrganization);
}

/// A page is found with the month's event usage of its organization, and with the limit.
pub async fn booking_pages_are_found_with_their_usage(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.own().await, scene.other_organization().await);
    let page = scene.page_of(&calendar).await;
    let slug = page.slug.hash();
    let unused = scene.found_page(slug).await.unwrap().events;
    assert_eq!(unused, Used { used: 0, limit: None });
    other.commit(other.changes().charge(Charge { amount: 7, ..scene.make.charge(None) })).await;
    scene.commit(scene.changes().charge(Charge { amount: 3, ..scene.make.charge(None) })).await;
    let seen = scene.store.find_organization(scene.org).await.unwrap().unwrap();
    let organization = seen.on_plan(seen.plan, Some(json!({ "events": 3 }))).unwrap();
    let mut changes = scene.changes();
    changes.accounts.push(kalends_accounts::Change::UpdateOrganization { organization, seen: seen.version });
    scene.commit(changes).await;
    let events = scene.found_page(slug).await.unwrap().events;
    assert_eq!((events, events.remaining()), (Used { used: 3, limit: Some(3) }, Some(0)));
    let later = Period::of(scene.make.tick() + SignedDuration::days(40));
    let found = scene.store.booking_page_of_slug(slug, later).await.unwrap().unwrap();
    assert_eq!(found.events, Used { used: 0, limit: Some(3) }, "another month");
}
