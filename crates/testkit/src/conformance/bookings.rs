//! Booking pages, and their bookings.

use kalends_accounts::Change as AccountChange;
use kalends_app::{ChangeSet, Charge, Guard, ports::CommitError};
use kalends_availability::{Hours, Week};
use kalends_bookings::{
    Assignment, Booking, BookingFilter, BookingNow, BookingPage, BookingPagePatch, BookingToken, BookingsOf,
    CancelledBy, Change, Colour, Guest, NewBookingPage, PageDetails, PageDetailsPatch, Question, QuestionType,
    Questions, SecretHash, Slug, Team, Timetable, embed_origins, guest_reminders, ports::FoundPage,
};
use kalends_calendars::{Calendar, Change as Write, ConferenceUrl, Event, Patch};
use kalends_kernel::{CalendarId, EventId, Page};
use kalends_plans::{Metric, Used};
use kalends_quotas::Period;
use kalends_time::{SignedDuration, Span, Timestamp};
use serde_json::json;

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

fn guest() -> Guest {
    let guest = Guest::parse("Ada „Countess“ 🗓", "ada@example.com", Some("notes\nin two lines")).unwrap();
    let given = json!({ "topic": "Ä", "vip": true });
    let answers = details().questions.read(given.as_object().unwrap()).unwrap();
    let sees = details().shown_to_guests();
    Guest { answers, sees, zone: Some("Pacific/Chatham".parse().unwrap()), locale: "es-419".parse().unwrap(), ..guest }
}

/// Details with every field set.
fn details() -> PageDetails {
    let question = |id: &str, kind, options: &[&str]| Question {
        id: id.into(),
        label: format!("„{id}“ 🗓?"),
        kind,
        required: true,
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    let questions =
        vec![question("topic", QuestionType::Select, &["Ä", "b"]), question("vip", QuestionType::Checkbox, &[])];
    PageDetails {
        host_name: Some("Grace „Amazing“ Hopper".into()),
        location: Some("Raum 7 🗓".into()),
        conference_url: Some(ConferenceUrl::parse("conference_url", "https://meet.example.com/a").unwrap()),
        accent: Some(Colour::parse("accent_color", "#0f6457").unwrap()),
        embed_origins: embed_origins(&["https://www.example.com".into()]).unwrap(),
        questions: Questions::new(questions).unwrap(),
        guest_reminders: guest_reminders(&[60, 1_440]).unwrap(),
    }
}

impl Scene {
    fn booking_page(&self, calendar: &Calendar) -> BookingPage {
        let new = NewBookingPage {
            title: "Kennenlernen: „kurz“ 🗓".into(),
            slug: None,
            description: Some("Text".into()),
            details: details(),
            duration_minutes: 45,
            zone: Some("Australia/Lord_Howe".parse().unwrap()),
            constraints: Some(Week { mon: Hours::new(0, 1_440), sun: Hours::new(1, 2), ..Week::default() }),
            buffer_minutes: 120,
            window_days: 365,
            min_notice_minutes: 525_600,
            max_per_day: Some(500),
            seats: 1,
            active: true,
        };
        let of = (self.org, calendar.id, calendar.agent);
        BookingPage::create(of, calendar.zone, new, self.make.tick(), &self.make.entropy)
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
    pub(super) async fn book(
        &self,
        page: &BookingPage,
        calendar: &Calendar,
        span: Span,
        guard: Option<Guard>,
    ) -> (Result<(), CommitError>, Booking, BookingToken) {
        let guest_reminders = page.details.guest_reminders.clone();
        let event = Event { guest_reminders, ..self.make.event(calendar, span) };
        let (booking, token) =
            Booking::create(page, (&event, Vec::new()), guest(), self.make.tick(), &self.make.entropy);
        let mut changes = self.changes().create(&event);
        changes.guards.extend(guard);
        let (stored, seen) = (Box::new(booking.clone()), page.version);
        changes.bookings.push(Change::CreateBooking { booking: stored, seen, count: None });
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
    let (slug, details) = (Slug::generate(&scene.make.entropy), PageDetails::default());
    let bare = BookingPage { slug, description: None, details, timetable, active: false, ..made };
    scene.pages(vec![Change::CreatePage(Box::new(bare.clone()))]).await.unwrap();
    assert_eq!((scene.page_now(&bare).await, bare.agent), (Some(bare.clone()), None));
}

/// The page, closed.
fn closed(page: &BookingPage, now: Timestamp) -> BookingPage {
    page.patched(BookingPagePatch { active: Patch::Set(false), ..BookingPagePatch::default() }, now).unwrap()
}

/// A slug belongs to one page of all organizations. If several want it at once, one gets it. An earlier slug of a page, and
/// that of a deleted page, are free again.
pub async fn a_slug_belongs_to_one_page(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (calendar, theirs) = (scene.own().await, other.own().await);
    let slug = Slug::generate(&scene.make.entropy);
    let named = |page: BookingPage| BookingPage { slug: slug.clone(), ..page };
    let pages: Vec<BookingPage> = (0..TASKS)
        .map(|task| named(if task % 2 == 0 { scene.booking_page(&calendar) } else { other.booking_page(&theirs) }))
        .collect();
    let created = race(TASKS, |task| {
        let page = pages[task].clone();
        let scene = if task % 2 == 0 { &scene } else { &other };
        let mut changes = scene.changes();
        changes.bookings.push(Change::CreatePage(Box::new(page)));
        let store = scene.store.clone();
        async move { store.commit(changes).await }
    })
    .await;
    assert_eq!(successes(&created), 1);
    assert!(created.iter().all(|done| matches!(done, Ok(()) | Err(CommitError::SlugTaken))), "{created:?}");
    let owner = scene.page_at(slug.hash()).await.unwrap();
    let another = scene.page_of(&calendar).await;
    let update = |page: &BookingPage, seen| vec![Change::UpdatePage { page: Box::new(page.clone()), seen }];
    let patch = |slug: Slug| BookingPagePatch { slug: Patch::Set(slug), ..BookingPagePatch::default() };
    let wanting = another.patched(patch(slug.clone()), scene.make.tick()).unwrap();
    assert_refused!(scene.pages(update(&wanting, another.version)).await, CommitError::SlugTaken);
    assert_eq!(scene.page_now(&another).await, Some(another.clone()), "nothing has changed");
    // Its page keeps it, also after it gets another one, and may have it again.
    let renamed = owner.patched(patch(Slug::generate(&scene.make.entropy)), scene.make.tick()).unwrap();
    let of = if owner.org == scene.org { &scene } else { &other };
    of.pages(update(&renamed, owner.version)).await.unwrap();
    assert!(renamed.has_or_had(slug.reveal()) && renamed.has_or_had(renamed.slug.reveal()));
    assert_eq!(scene.page_at(slug.hash()).await, None);
    assert_refused!(scene.pages(update(&wanting, another.version)).await, CommitError::SlugTaken);
    let late = || vec![Change::CreatePage(Box::new(named(scene.booking_page(&calendar))))];
    assert_refused!(scene.pages(late()).await, CommitError::SlugTaken);
    let again = renamed.patched(patch(slug.clone()), scene.make.tick()).unwrap();
    of.pages(update(&again, renamed.version)).await.unwrap();
    assert_eq!(scene.page_at(slug.hash()).await, Some(again.clone()));
    // A deleted page gives up its slugs.
    let gone = again.deleted(scene.make.tick(), &scene.make.entropy);
    assert!(gone.has_or_had(slug.reveal()), "the links of its guests contain it");
    of.pages(update(&gone, again.version)).await.unwrap();
    scene.pages(update(&wanting, another.version)).await.unwrap();
    assert_eq!(scene.page_at(slug.hash()).await, Some(wanting.clone()));
    assert_refused!(scene.pages(late()).await, CommitError::SlugTaken);
    let gone = wanting.deleted(scene.make.tick(), &scene.make.entropy);
    scene.pages(update(&gone, wanting.version)).await.unwrap();
    scene.pages(late()).await.unwrap();
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
        slug: Patch::Set(Slug::generate(&scene.make.entropy)),
        title: Patch::Set("Other".into()),
        description: Patch::Set(None),
        details: PageDetailsPatch { host_name: Patch::Set(None), ..PageDetailsPatch::default() },
        duration_minutes: Patch::Set(5),
        buffer_minutes: Patch::Set(0),
        window_days: Patch::Set(1),
        min_notice_minutes: Patch::Set(0),
        max_per_day: Patch::Set(None),
        seats: Patch::Set(500),
        zone: Patch::Set("Europe/Berlin".parse().unwrap()),
        constraints: Patch::Set(None),
        active: Patch::Set(false),
    };
    let changed = seen.patched(patch, scene.make.tick()).unwrap();
    let update = |page: &BookingPage, seen| vec![Change::UpdatePage { page: Box::new(page.clone()), seen }];
    scene.pages(update(&changed, seen.version)).await.unwrap();
    let counted = BookingPage { bookings: 1, ..changed.clone() };
    assert_eq!(scene.page_now(&seen).await, Some(counted.clone()));
    assert_refused!(
        scene.pages(update(&seen.deleted(scene.make.tick(), &scene.make.entropy), seen.version)).await,
        CommitError::Stale
    );
    scene.pages(update(&counted.deleted(scene.make.tick(), &scene.make.entropy), counted.version)).await.unwrap();
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
    let before = scene.found_page(ours.slug.hash()).await.unwrap().sources[0];
    let now = scene.store.source_of_calendar(scene.org, ours.calendar).await.unwrap().unwrap();
    assert_eq!(before, now, "the page carries the calendar's state");
    scene.commit(scene.changes().create(&scene.make.event(&calendar, hours(1, 2)))).await;
    let after = scene.found_page(ours.slug.hash()).await.unwrap().sources[0];
    assert!(after.revision > before.revision, "something was scheduled");
    let closed = closed(&ours, scene.make.tick());
    scene.pages(vec![Change::UpdatePage { page: Box::new(closed.clone()), seen: ours.version }]).await.unwrap();
    assert_eq!(scene.page_at(ours.slug.hash()).await, Some(closed.clone()));
    let gone = Box::new(closed.deleted(scene.make.tick(), &scene.make.entropy));
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

/// Either token finds the booking with its page, even if the page was deleted, and so does its event. Neither finds another
/// booking.
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
    assert_eq!(booking.kept_token, Some(token), "the event reminds the guest");
    let found = scene.store.bookings_of_event(scene.org, booking.event).await.unwrap();
    assert_eq!(found, Some((page.clone(), vec![booking.clone()])));
    let elsewhere = scene.other_organization().await.org;
    assert_eq!(scene.store.bookings_of_event(elsewhere, booking.event).await.unwrap(), None);
    let unbooked = scene.stored(scene.make.event(&calendar, hours(5, 6))).await;
    assert_eq!(scene.store.bookings_of_event(scene.org, unbooked.id).await.unwrap(), None);
    let gone = page.deleted(scene.make.tick(), &scene.make.entropy);
    scene.pages(vec![Change::UpdatePage { page: Box::new(gone.clone()), seen: page.version }]).await.unwrap();
    assert_eq!(scene.store.booking_of_token(second.hash()).await.unwrap(), Some((gone.clone(), other.clone())));
    assert_eq!(scene.store.bookings_of_event(scene.org, other.event).await.unwrap(), Some((gone, vec![other])));
    let unknown = BookingToken::generate(&scene.make.entropy);
    assert_eq!(scene.store.booking_of_token(unknown.hash()).await.unwrap(), None);
}

/// The bookings of a page are listed by the start of their events, whatever became of those: moved, deleted, cancelled,
/// or gone with their calendar.
pub async fn bookings_are_listed_with_their_events(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (calendar, second) = (scene.own().await, scene.own().await);
    let (page, empty) = (scene.page_of(&calendar).await, scene.page_of(&calendar).await);
    let mut booked = Vec::new();
    for start in [9, 1, 5, 3, 7] {
        let (done, booking, _) = scene.book(&page, &calendar, hours(start, start + 1), None).await;
        done.unwrap();
        booked.push(booking);
    }
    let [moved, kept, deleted, cancelled, away]: [Booking; 5] = booked.try_into().unwrap();
    let event = async |booking: &Booking| {
        scene.store.find_event(scene.org, booking.event).await.unwrap().expect("a visible event").event
    };
    let write = async |before: &Event, after: Event| {
        let mut changes = scene.changes();
        changes.calendars.push(Write::update(before, after));
        scene.commit(changes).await;
    };
    let seen = event(&moved).await;
    let times = kalends_calendars::Times { span: hours(2, 3), ..seen.times };
    write(&seen, Event { times, version: seen.version.next(), ..seen.clone() }).await;
    let (seen, at) = (event(&cancelled).await, scene.make.tick());
    write(&seen, seen.cancelled(at)).await;
    // The booking was cancelled later than its event, so that the two differ.
    let (seen, gone, later) = (event(&deleted).await, scene.make.tick(), scene.make.tick());
    let mut changes = scene.changes();
    changes.calendars.push(Write::UpdateEvent { event: seen.deleted(gone).unwrap(), seen: seen.version });
    changes.bookings.push(Change::CancelBooking {
        org: scene.org,
        booking: deleted.id,
        from: deleted.event,
        by: CancelledBy::Guest,
        at: later,
    });
    scene.commit(changes).await;
    let seen = event(&away).await;
    write(&seen, Event { calendar: second.id, version: seen.version.next(), ..seen.clone() }).await;
    let expected = |booking: &Booking, calendar: &Calendar, span: Span, gone_at: Option<Timestamp>| BookingNow {
        booking: booking.clone(),
        calendar: calendar.id,
        span,
        gone_at,
    };
    let deleted = Booking { cancelled_by: Some(CancelledBy::Guest), cancelled_at: Some(later), ..deleted };
    let mut all = vec![
        expected(&kept, &calendar, hours(1, 2), None),
        expected(&moved, &calendar, hours(2, 3), None),
        expected(&cancelled, &calendar, hours(3, 4), Some(at)),
        expected(&deleted, &calendar, hours(5, 6), Some(later)),
        expected(&away, &second, hours(7, 8), None),
    ];
    let list = async |filter: BookingFilter, at: Page| {
        let listed = scene.store.list_bookings(scene.org, page.id, filter, at).await.unwrap();
        (listed.data, listed.total)
    };
    let every = BookingFilter::default();
    assert_eq!(list(every, LARGEST_PAGE).await, (all.clone(), 5));
    assert_eq!(list(every, Page { limit: 2, offset: 1 }).await, (all[1..3].to_vec(), 5));
    assert_eq!(list(every, Page { limit: 2, offset: 9 }).await, (vec![], 5));
    let coming = BookingFilter { start_after: Some(hours(2, 3).start()), ..every };
    for (filter, expected) in [(coming, all[1..].to_vec()), (every, all.iter().rev().cloned().collect())] {
        let (of, at) = (BookingsOf::default(), LARGEST_PAGE);
        let listed = scene.store.list_bookings_of_pages(scene.org, of, filter, at).await.unwrap();
        let listed: Vec<BookingNow> = listed.data.into_iter().map(|(_, booking)| booking).collect();
        assert_eq!(listed, expected);
    }
    let from =
        BookingFilter { start_after: Some(hours(2, 3).start()), start_before: Some(hours(5, 6).start()), ..every };
    assert_eq!(list(from, LARGEST_PAGE).await, (all[1..3].to_vec(), 2));
    let only = |cancelled| BookingFilter { cancelled: Some(cancelled), ..every };
    assert_eq!(list(only(true), LARGEST_PAGE).await, (all[2..4].to_vec(), 2));
    let others = vec![all[0].clone(), all[1].clone(), all[4].clone()];
    assert_eq!(list(only(false), LARGEST_PAGE).await, (others, 3));
    let live = async |of: &BookingPage, on: &Calendar, within: Span| {
        let mut starts = scene.store.booked_starts(scene.org, of.id, &[on.id], within).await.unwrap();
        starts.sort_by_key(|(_, start)| *start);
        starts
    };
    let of = |now: &BookingNow| (now.booking.event, now.span.start());
    assert_eq!(live(&page, &calendar, hours(1, 7)).await, [of(&all[0]), of(&all[1])]);
    assert_eq!(live(&page, &calendar, hours(2, 8)).await, [of(&all[1])]);
    assert_eq!(live(&page, &second, hours(2, 8)).await, [of(&all[4])]);
    assert_eq!(live(&empty, &calendar, hours(0, 9)).await, []);
    assert_eq!(scene.store.list_bookings(scene.org, empty.id, every, LARGEST_PAGE).await.unwrap().total, 0);
    assert_eq!(scene.store.list_bookings(other.org, page.id, every, LARGEST_PAGE).await.unwrap().total, 0);

    let found = scene.store.find_booking(scene.org, deleted.id).await.unwrap();
    let counted = BookingPage { bookings: 5, ..page };
    assert_eq!(found, Some((counted.clone(), all[3].clone())));
    assert_eq!(scene.store.find_booking(other.org, deleted.id).await.unwrap(), None);
    // The calendar of a moved event goes, and the event with it.
    scene.delete(&second).await;
    let (listed, total) = list(only(true), LARGEST_PAGE).await;
    all[4].gone_at = listed[2].gone_at;
    assert_eq!((listed, total, all[4].gone_at.is_some()), (all[2..].to_vec(), 3, true));
    assert_eq!(all[4].cancelled().map(|(_, by)| by), Some(CancelledBy::Host));
    // The page goes with its calendar, and its bookings with it.
    scene.delete(&calendar).await;
    assert_eq!(scene.store.find_booking(scene.org, kept.id).await.unwrap(), None);
}

/// The bookings of several pages are in one list, each with its page, also those of a deleted one: the latest first, or
/// the next one first if only those to come are listed. What goes with the calendar of a page is not in it.
pub async fn bookings_of_several_pages_are_in_one_list(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (calendar, second) = (scene.own().await, scene.own().await);
    let (page, gone, lost) =
        (scene.page_of(&calendar).await, scene.page_of(&calendar).await, scene.page_of(&second).await);
    let mut booked = Vec::new();
    for (page, calendar, start) in [
        (&page, &calendar, 1),
        (&gone, &calendar, 3),
        (&page, &calendar, 5),
        (&gone, &calendar, 7),
        (&lost, &second, 9),
    ] {
        let (done, booking, _) = scene.book(page, calendar, hours(start, start + 1), None).await;
        done.unwrap();
        booked.push(booking);
    }
    let at = scene.make.tick();
    let cancel = Change::CancelBooking {
        org: scene.org,
        booking: booked[1].id,
        from: booked[1].event,
        by: CancelledBy::Guest,
        at,
    };
    let deleted = BookingPage { bookings: 2, ..gone.deleted(scene.make.tick(), &scene.make.entropy) };
    let update = Change::UpdatePage { page: Box::new(deleted.clone()), seen: gone.version };
    scene.pages(vec![cancel, update]).await.unwrap();
    let page = BookingPage { bookings: 2, ..page };
    let one = |page: &BookingPage, booking: usize, start: i64, gone_at: Option<Timestamp>| {
        let booking = booked[booking].clone();
        let cancelled_by = gone_at.map(|_| CancelledBy::Guest);
        let booking = Booking { cancelled_by, cancelled_at: gone_at, ..booking };
        (page.clone(), BookingNow { booking, calendar: page.calendar, span: hours(start, start + 1), gone_at })
    };
    let lost = BookingPage { bookings: 1, ..lost };
    let first = one(&page, 0, 1, None);
    let cancelled = one(&deleted, 1, 3, Some(at));
    let third = one(&page, 2, 5, None);
    let fourth = one(&deleted, 3, 7, None);
    let last = one(&lost, 4, 9, None);
    let now = hours(5, 6).start();
    let list = async |of: BookingsOf, filter: BookingFilter, at: Page| {
        let listed = scene.store.list_bookings_of_pages(scene.org, of, filter, at).await.unwrap();
        (listed.data, listed.total)
    };
    let (all, every) = (BookingsOf::default(), BookingFilter::default());
    let in_order = [last.clone(), fourth.clone(), third.clone(), cancelled.clone(), first.clone()];
    assert_eq!(list(all, every, LARGEST_PAGE).await, (in_order.to_vec(), 5));
    assert_eq!(list(all, every, Page { limit: 2, offset: 2 }).await, (in_order[2..4].to_vec(), 5));
    assert_eq!(list(all, every, Page { limit: 2, offset: 9 }).await, (vec![], 5));
    let to_come = BookingFilter { start_after: Some(now), ..every };
    let next = vec![third.clone(), fourth.clone(), last.clone()];
    assert_eq!(list(all, to_come, LARGEST_PAGE).await, (next.clone(), 3));
    assert_eq!(list(all, to_come, Page { limit: 1, offset: 1 }).await, (next[1..2].to_vec(), 3));
    let past = BookingFilter { start_before: Some(now), cancelled: Some(false), ..every };
    assert_eq!(list(all, past, LARGEST_PAGE).await, (vec![first.clone()], 1));
    let of_page = BookingsOf { page: Some(page.id), ..all };
    assert_eq!(list(of_page, every, LARGEST_PAGE).await, (vec![third.clone(), first], 2));
    assert_eq!(list(of_page, every, Page { limit: 1, offset: 0 }).await, (vec![third.clone()], 2));
    assert_eq!(list(of_page, to_come, LARGEST_PAGE).await, (vec![third], 1));
    let of_deleted = BookingsOf { only_deleted: true, ..all };
    assert_eq!(list(of_deleted, every, LARGEST_PAGE).await, (vec![fourth, cancelled], 2));
    let of_agent = BookingsOf { agent: second.agent, ..all };
    assert_eq!(list(of_agent, every, LARGEST_PAGE).await, (vec![last], 1));
    let theirs = other.store.list_bookings_of_pages(other.org, all, every, LARGEST_PAGE).await.unwrap();
    assert_eq!(theirs.total, 0);
    scene.delete(&second).await;
    assert_eq!(list(all, every, LARGEST_PAGE).await.1, 4);
}

/// If the page was changed or deleted since it was seen, nothing is booked or counted.
pub async fn a_booking_needs_the_page_that_was_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own().await;
    let seen = scene.page_of(&calendar).await;
    let changed = closed(&seen, scene.make.tick());
    scene.pages(vec![Change::UpdatePage { page: Box::new(changed.clone()), seen: seen.version }]).await.unwrap();
    let (late, _, token) = scene.book(&seen, &calendar, hours(1, 2), None).await;
    assert_refused!(late, CommitError::Stale);
    assert_eq!(scene.store.booking_of_token(token.hash()).await.unwrap(), None);
    assert_eq!((scene.page_now(&seen).await, scene.events(calendar.id).await), (Some(changed.clone()), vec![]));
    let gone = changed.deleted(scene.make.tick(), &scene.make.entropy);
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

/// A booking whose event is deleted, the event before that, and the event now.
async fn gone_booking(scene: &Scene, calendar: &Calendar, span: Span) -> (Booking, Event, Event) {
    let page = scene.page_of(calendar).await;
    let (done, booking, _) = scene.book(&page, calendar, span, None).await;
    done.unwrap();
    let event = scene.store.find_event(scene.org, booking.event).await.unwrap().unwrap().event;
    let gone = event.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, event.version)).await;
    (booking, event, gone)
}

/// Brings the event back if it has as many guests.
fn bringing_back(scene: &Scene, event: &Event, gone: &Event, count: u64) -> ChangeSet {
    let mut changes = scene.changes().guard(Guard::Guests { event: event.id, count });
    let back = Event { version: gone.version.next(), ..event.clone() };
    changes.calendars.push(Write::update(gone, back));
    changes
}

fn cancelling(scene: &Scene, booking: &Booking) -> ChangeSet {
    let mut changes = scene.changes();
    let (org, at) = (scene.org, scene.make.tick());
    let (booking, from) = (booking.id, booking.event);
    changes.bookings.push(Change::CancelBooking { org, booking, from, by: CancelledBy::Guest, at });
    changes
}

/// An event comes back only if as many bookings have it as were counted. Cancelled ones do not count.
pub async fn an_event_comes_back_for_the_guests_that_were_counted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (_, event, gone) = gone_booking(&scene, &calendar, hours(1, 2)).await;
    for other in [0, 2] {
        assert_refused!(scene.try_commit(bringing_back(&scene, &event, &gone, other)).await, CommitError::Stale);
    }
    scene.commit(bringing_back(&scene, &event, &gone, 1)).await;

    let (booking, event, gone) = gone_booking(&scene, &calendar, hours(3, 4)).await;
    scene.commit(cancelling(&scene, &booking)).await;
    assert_refused!(scene.try_commit(bringing_back(&scene, &event, &gone, 1)).await, CommitError::Stale);
    scene.commit(bringing_back(&scene, &event, &gone, 0)).await;
}

/// A guest cancels although the event is gone, while something brings it back for them: one of the two succeeds.
pub async fn an_event_comes_back_or_its_guest_cancels(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for round in 0..TASKS {
        let from = 2 * i64::try_from(round).unwrap();
        let (booking, event, gone) = gone_booking(&scene, &calendar, hours(from, from + 1)).await;
        let guard = Guard::CalendarRevision { calendar: calendar.id, seen: scene.revision(&calendar).await };
        let writes = [bringing_back(&scene, &event, &gone, 1), cancelling(&scene, &booking).guard(guard)];
        let outcomes = race(writes.len(), |task| {
            let (scene, changes) = (scene.clone(), writes[task].clone());
            async move { scene.try_commit(changes).await }
        })
        .await;
        assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
        let stands = scene.store.find_event(scene.org, event.id).await.unwrap().is_some();
        let guests = scene.store.count_guests(scene.org, event.id).await.unwrap();
        assert_eq!(stands, guests == 1);
    }
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
    let gone = Box::new(kept[0].deleted(scene.make.tick(), &scene.make.entropy));
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
    let late = scene.make.event(&calendar, hours(7, 8));
    let (booking, _) = Booking::create(&page, (&late, Vec::new()), guest(), scene.make.tick(), &scene.make.entropy);
    let mut changes = scene.changes();
    changes.bookings.push(Change::CreateBooking { booking: Box::new(booking), seen: page.version, count: None });
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

/// Guests share the event of a slot. They are counted and listed each on their own, whether they cancelled or moved.
pub async fn guests_share_an_event(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, elsewhere) = (scene.own().await, scene.own().await);
    let (page, other) = (scene.page_of(&calendar).await, scene.page_of(&calendar).await);
    let page = BookingPage { seats: 3, ..page };
    let event = async |id: EventId| scene.store.find_event(scene.org, id).await.unwrap().unwrap().event;
    // A guest joins the event that the first one made.
    let join = async |seen: &Event| {
        let joined = seen.with_other_guests();
        let made = Booking::create(&page, (&joined, vec![]), guest(), scene.make.tick(), &scene.make.entropy);
        let (booking, token) = made;
        let mut changes = scene.changes();
        changes.calendars.push(Write::update(seen, joined));
        let stored = Box::new(booking.clone());
        changes.bookings.push(Change::CreateBooking { booking: stored, seen: page.version, count: None });
        (scene.try_commit(changes).await, booking, token)
    };
    let (done, ada, token) = scene.book(&page, &calendar, hours(1, 2), None).await;
    done.unwrap();
    assert!(ada.shared && ada.known_as.is_some());
    let seen = event(ada.event).await;
    let (done, bob, _) = join(&seen).await;
    done.unwrap();
    assert_refused!(join(&seen).await.0, CommitError::Stale);
    let found = scene.store.booking_of_token(token.hash()).await.unwrap().map(|(_, booking)| booking);
    assert_eq!(found.as_ref(), Some(&ada), "every field survives");
    let (done, cy, cys) = scene.book(&page, &calendar, hours(3, 4), None).await;
    done.unwrap();

    // Events of other pages, of pages with one seat, and on other calendars are not shared on this one.
    scene.book(&other, &calendar, hours(5, 6), None).await.0.unwrap();
    scene.book(&BookingPage { seats: 1, ..page.clone() }, &calendar, hours(7, 8), None).await.0.unwrap();
    scene.book(&page, &elsewhere, hours(9, 10), None).await.0.unwrap();
    let shared = async |within: Span| {
        let found = scene.store.shared_events(scene.org, page.id, calendar.id, within).await.unwrap();
        found.iter().map(|event| (event.id, event.version.0, event.span, event.guests)).collect::<Vec<_>>()
    };
    let (first, second) = ((ada.event, 2, hours(1, 2), 2), (cy.event, 1, hours(3, 4), 1));
    assert_eq!(shared(hours(0, 20)).await, [first, second]);
    assert_eq!(shared(hours(1, 3)).await, [first], "they start in the window, whose end is exclusive");
    assert_eq!(shared(hours(2, 4)).await, [second]);
    let theirs = scene.other_organization().await;
    assert_eq!(theirs.store.shared_events(theirs.org, page.id, calendar.id, hours(0, 20)).await.unwrap(), []);
    assert_eq!(theirs.store.count_guests(theirs.org, ada.event).await.unwrap(), 0);
    let starts = async || scene.store.booked_starts(scene.org, page.id, &[calendar.id], hours(0, 5)).await.unwrap();
    assert_eq!(starts().await.len(), 3, "each booking counts");

    // One of them cancels, and the event goes on with the other.
    let (seen, at) = (event(ada.event).await, scene.make.tick());
    let mut changes = scene.changes();
    changes.calendars.push(Write::update(&seen, seen.with_other_guests()));
    let cancel = |from| Change::CancelBooking { org: scene.org, booking: ada.id, from, by: CancelledBy::Host, at };
    assert_refused!(scene.pages(vec![cancel(cy.event)]).await, CommitError::Stale);
    changes.bookings.push(cancel(ada.event));
    scene.commit(changes).await;
    assert_refused!(scene.pages(vec![cancel(ada.event)]).await, CommitError::Stale);
    let back = Change::MoveBooking { booking: Box::new(ada.clone()), from: ada.event };
    assert_refused!(scene.pages(vec![back]).await, CommitError::Stale);
    let cancelled = Booking { cancelled_by: Some(CancelledBy::Host), cancelled_at: Some(at), ..ada.clone() };
    assert_eq!(shared(hours(0, 3)).await, [(ada.event, 3, hours(1, 2), 1)]);
    assert_eq!(scene.store.count_guests(scene.org, ada.event).await.unwrap(), 1);
    assert_eq!(scene.store.count_bookings(scene.org, ada.event).await.unwrap(), 2, "with the cancelled one");
    assert_eq!(theirs.store.count_bookings(theirs.org, ada.event).await.unwrap(), 0);
    let left = scene.store.bookings_of_event(scene.org, ada.event).await.unwrap().unwrap().1;
    assert_eq!(left, std::slice::from_ref(&bob));
    assert_eq!(starts().await.len(), 2);
    let list = async |cancelled| {
        let filter = BookingFilter { cancelled: Some(cancelled), ..BookingFilter::default() };
        scene.store.list_bookings(scene.org, page.id, filter, LARGEST_PAGE).await.unwrap()
    };
    let (gone, live) = (list(true).await, list(false).await);
    let now = BookingNow { booking: cancelled, calendar: calendar.id, span: hours(1, 2), gone_at: Some(at) };
    assert_eq!((gone.data.as_slice(), gone.total), (std::slice::from_ref(&now), 1));
    assert_eq!((live.data.len(), live.total), (4, 4));
    assert_eq!(scene.store.find_booking(scene.org, ada.id).await.unwrap().map(|(_, found)| found), Some(now));

    // The other moves to the event of a third guest, and the first event ends.
    let (from, to) = (event(bob.event).await, event(cy.event).await);
    let joined = to.with_other_guests();
    let moved = bob.moved(&page, &from, (&joined, vec![]), &cys);
    let mut changes = scene.changes();
    changes.calendars.push(Write::update(&from, from.deleted(scene.make.tick()).unwrap()));
    changes.calendars.push(Write::update(&to, joined));
    let step = |from| Change::MoveBooking { booking: Box::new(moved.clone()), from };
    let late = ChangeSet { bookings: vec![step(to.id)], ..scene.changes() };
    assert_refused!(scene.try_commit(late).await, CommitError::Stale);
    changes.bookings.push(step(from.id));
    scene.commit(changes).await;
    assert_eq!(shared(hours(0, 5)).await, [(cy.event, 2, hours(3, 4), 2)]);
    let mut guests = scene.store.bookings_of_event(scene.org, cy.event).await.unwrap().unwrap().1;
    guests.sort_by_key(|booking| booking.created_at);
    assert_eq!(guests, [moved, cy.clone()]);
    // What the owner deletes, cancels or turns into a series is no longer shared.
    let seen = event(cy.event).await;
    let mut changes = scene.changes();
    changes.calendars.push(Write::update(&seen, seen.cancelled(scene.make.tick())));
    scene.commit(changes).await;
    assert_eq!(shared(hours(0, 5)).await, []);
}

/// The team of a page survives, and so do the events of a booking on its calendars. The bookings of a page are counted by
/// calendar, and a turn that was seen is taken once.
pub async fn a_team_takes_turns(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second, third) = (scene.own().await, scene.own().await, scene.shared_calendar().await);
    let page = scene.page_of(&first).await;
    let team = Team { others: vec![third.id, second.id], assignment: Assignment::RoundRobin };
    let patched = page.patched(BookingPagePatch::default(), scene.make.tick()).unwrap();
    let patched = BookingPage { team: Some(team), ..patched };
    scene.pages(vec![Change::UpdatePage { page: Box::new(patched.clone()), seen: page.version }]).await.unwrap();
    assert_eq!(scene.page_now(&page).await, Some(patched.clone()));
    let sources = async |of: &[&Calendar]| {
        let mut sources = Vec::new();
        for calendar in of {
            sources.push(scene.store.source_of_calendar(scene.org, calendar.id).await.unwrap().unwrap());
        }
        sources
    };
    let sources_found = async || scene.found_page(patched.slug.hash()).await.unwrap().sources;
    assert_eq!(sources_found().await, sources(&[&first, &third, &second]).await, "in the order of the page");
    let other = scene.page_of(&first).await;
    assert_eq!(scene.found_page(other.slug.hash()).await.unwrap().sources, sources(&[&first]).await);

    let book = async |calendar: &Calendar, also: &[&Calendar], span: Span, count: Option<u64>| {
        let event = scene.make.event(calendar, span);
        let others: Vec<_> = also.iter().map(|calendar| scene.make.event(calendar, span)).collect();
        let ids = others.iter().map(|event| event.id).collect();
        let (booking, token) =
            Booking::create(&patched, (&event, ids), guest(), scene.make.tick(), &scene.make.entropy);
        let mut changes = others.iter().fold(scene.changes().create(&event), ChangeSet::create);
        let (stored, seen) = (Box::new(booking.clone()), patched.version);
        changes.bookings.push(Change::CreateBooking { booking: stored, seen, count });
        (scene.try_commit(changes).await, booking, token)
    };
    let (done, whole, token) = book(&first, &[&second, &third], hours(1, 2), Some(0)).await;
    done.unwrap();
    let found = scene.store.booking_of_token(token.hash()).await.unwrap().map(|(_, booking)| booking);
    assert_eq!((found, whole.also.len()), (Some(whole), 2));
    assert_refused!(book(&second, &[], hours(2, 3), Some(0)).await.0, CommitError::Stale);
    let (done, two, _) = book(&second, &[], hours(2, 3), Some(1)).await;
    done.unwrap();
    let (done, three, _) = book(&second, &[], hours(3, 4), None).await;
    done.unwrap();
    scene.book(&other, &third, hours(4, 5), None).await.0.unwrap();

    let shares = async |since: Timestamp| {
        let mut shares = scene.store.shares(scene.org, page.id, since).await.unwrap();
        assert_eq!(shares.bookings, 3);
        shares.by_calendar.sort_by_key(|(_, count)| *count);
        shares.by_calendar
    };
    assert_eq!(shares(Timestamp::EPOCH).await, [(first.id, 1), (second.id, 2)]);
    assert_eq!(shares(two.created_at).await, [(second.id, 2)], "since");
    assert_eq!(shares(three.created_at + SignedDuration::micros(1)).await, []);
    let within = async |calendars: &[CalendarId]| {
        scene.store.booked_starts(scene.org, page.id, calendars, hours(0, 9)).await.unwrap().len()
    };
    assert_eq!(within(&[first.id, second.id, third.id]).await, 3, "a booking of several events counts once");
    assert_eq!(within(&[third.id]).await, 0);
    let seen = scene.store.find_event(scene.org, two.event).await.unwrap().unwrap().event;
    let gone = seen.deleted(scene.make.tick()).unwrap();
    let mut changes = scene.changes();
    changes.calendars.push(Write::update(&seen, gone));
    scene.commit(changes).await;
    assert_eq!(shares(Timestamp::EPOCH).await.len(), 2);
    assert_eq!(shares(two.created_at).await, [(second.id, 1)], "a deleted event does not count");

    let named = async |of: &[CalendarId]| {
        let mut named = scene.store.sources_of_calendars(scene.org, of).await.unwrap();
        named.sort_by_key(|source| of.iter().position(|calendar| *calendar == source.calendar));
        named
    };
    assert_eq!(named(&[third.id, first.id, third.id]).await, sources(&[&third, &first]).await);
    let theirs = scene.other_organization().await;
    assert_eq!(theirs.store.sources_of_calendars(theirs.org, &[first.id]).await.unwrap(), []);
    scene.delete(&second).await;
    assert_eq!(named(&[third.id, second.id]).await, sources(&[&third]).await);
    assert_eq!(sources_found().await, sources(&[&first, &third]).await, "a deleted calendar is no source");
}
