//! How many statements an operation takes. SQL stores run these cases in addition to the suite.

use std::sync::Arc;

use bytes::Bytes;
use kalends_accounts::{Credential, Principal, Reach, reach::CallerKind};
use kalends_app::{
    Actor, App, MemoryRateLimiter, Parts, Refusal, Request, operations,
    ports::{Store, Waits},
};
use kalends_bookings::BookingPage;
use kalends_bridge::{Audience, Change};
use kalends_calendars::{
    Event,
    ports::{AgentFilter, CalendarFilter, InstanceFilter, InstanceScope},
};
use kalends_kernel::{CalendarId, HoldSetId, KeyId, MetadataFilter, Page, RequestId};
use kalends_time::{Clock as _, SignedDuration, Span};
use kalends_wire::SlotQuery;
use kalends_wire::{Across, SlotsOfPage, SlotsRequest};

use super::{
    StoreUnderTest,
    names::{Asked, Things},
    scene::{LARGEST_PAGE, Scene, hours},
    series::moved,
};
use crate::{
    Mailbox, NoCalendarProviders, NoFetcher, NoProviders, NoSender, TestPasswords, TestTokens,
    fixtures::{Compose as _, Fixtures, settings},
    statements_of,
};

const SERIES: i64 = 50;
const DAYS: i64 = 366;

/// Listing the instances of 366 days takes as many statements for fifty daily series as for one: one for the series,
/// one for one-off events and overrides, and one for the text of the page. The list of several calendars takes as many.
/// The blocking times of the series take one.
pub async fn fifty_series_take_as_many_statements_as_one(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (few, many) = (scene.shared_calendar().await, scene.shared_calendar().await);
    for (calendar, count) in [(&few, 1), (&many, SERIES)] {
        let mut changes = scene.changes();
        let mut made = Vec::new();
        for hour in 0..count {
            let series = scene.make.series(calendar, hours(hour % 20, hour % 20 + 1), "FREQ=DAILY");
            changes = changes.create(&series).create(&scene.make.event(calendar, hours(hour, hour + 1)));
            made.push(series);
        }
        scene.commit(changes).await;
        for series in made {
            let start = series.times.span.start() + SignedDuration::days(7);
            moved(&scene, &series, start, hours(180, 181)).await;
        }
    }
    let window = Span::new(Fixtures::BEGINNING, Fixtures::BEGINNING + SignedDuration::days(DAYS)).unwrap();
    let filter = InstanceFilter { window, status: None, source: None, metadata: MetadataFilter::default() };
    let list = async |calendars: &[CalendarId], page| {
        let listed = scene.store.list_instances(scene.org, InstanceScope::Calendars(calendars), filter.clone(), page);
        let (listed, statements) = statements_of(listed).await;
        (listed.unwrap().unwrap(), statements)
    };
    // Opens the connections, so that this is not measured below.
    list(&[few.id], Page::default()).await;

    // One event next to each series on every day. The page is in the middle, and has rows of all series.
    let page = |count: i64| Page { limit: 200, offset: u32::try_from(count * DAYS / 2).unwrap() };
    let (one, of_one) = list(&[few.id], page(1)).await;
    let (fifty, of_fifty) = list(&[many.id], page(SERIES)).await;
    let (both, of_both) = list(&[few.id, many.id], page(SERIES)).await;
    let total = |count: i64| u64::try_from(count * (DAYS + 1)).unwrap();
    assert_eq!((one.total, fifty.total, both.total), (total(1), total(SERIES), total(SERIES + 1)));
    let mut series: Vec<_> = fifty.data.iter().filter_map(|event| Some(event.occurrence()?.series)).collect();
    series.sort_unstable();
    series.dedup();
    assert_eq!(i64::try_from(series.len()), Ok(SERIES));
    assert_eq!((&of_fifty, &of_both), (&of_one, &of_one));
    assert_eq!(of_fifty.len(), 3, "{of_fifty:#?}");
    let about = |part: &str| of_fifty.iter().filter(|statement| statement.to_lowercase().contains(part)).count();
    // Only the last of the three reads text, and only the first reads rules.
    assert_eq!((about("recurrence is not null"), about("content,")), (1, 1), "{of_fifty:#?}");

    let (blocking, statements) =
        statements_of(scene.store.blocking_series(scene.org, &[few.id, many.id], window)).await;
    let blocking: i64 = blocking.unwrap().iter().map(|found| i64::try_from(found.series.len()).unwrap()).sum();
    assert_eq!((blocking, statements.len()), (SERIES + 1, 1), "{statements:#?}");
}

/// A question about availability to a service that answers from the store.
#[derive(Debug, Clone, Copy)]
enum Question<'a> {
    Agent(&'a str),
    Calendar(&'a str),
    Across(&'a [String]),
    Page(&'a BookingPage),
}

/// A service on the store of a scene.
struct SceneService<'a> {
    scene: &'a Scene,
    app: Arc<App>,
}

impl<'a> SceneService<'a> {
    fn of(scene: &'a Scene) -> Self {
        let app = App::new(Parts {
            store: Arc::<dyn Store>::clone(&scene.store),
            clock: Arc::new(scene.make.clock.clone()),
            entropy: Arc::new(scene.make.entropy.clone()),
            mailer: Arc::new(Mailbox::default()),
            calendar_providers: Arc::new(NoCalendarProviders),
            limiter: Arc::new(MemoryRateLimiter::default()),
            passwords: Arc::new(TestPasswords::default()),
            tokens: Arc::new(TestTokens),
            providers: Arc::new(NoProviders),
            sender: Arc::new(NoSender),
            fetcher: Arc::new(NoFetcher),
            settings: settings(),
        });
        Self { scene, app }
    }

    fn actor(&self, operation: &'static operations::Operation) -> Actor {
        let (make, organization) = (&self.scene.make, self.scene.make.organization());
        let now = make.clock.now();
        let principal = Principal {
            signed_in: None,
            approval: None,
            connector: None,
            credential: Credential::Key(KeyId::new(now, &make.entropy)),
            key_prefix: "svc_sk_0123456789abc".into(),
            org: self.scene.org,
            kind: CallerKind::OrganizationKey,
            reach: Reach::Organization,
            waitlisted: false,
            plan: organization.plan,
            limits: organization.limits().unwrap(),
            accepted_terms: None,
        };
        let id = RequestId::new(now, &make.entropy);
        let request = Request::new(id, None, operation, now);
        Actor::enter(Arc::new(principal), request).unwrap()
    }

    async fn ask(&self, question: Question<'_>) -> Result<Bytes, Refusal> {
        let query = SlotQuery::new(hours(0, 9), "1h".parse().unwrap()).unwrap();
        let slots = SlotsRequest { query, include_busy: true, allow_stale: false };
        match question {
            Question::Agent(id) => {
                self.app.agent_availability(&self.actor(&operations::AGENT_AVAILABILITY), id, slots).await
            }
            Question::Calendar(id) => {
                self.app.calendar_availability(&self.actor(&operations::CALENDAR_AVAILABILITY), id, slots).await
            }
            Question::Across(agents) => {
                let across = Across { agents: agents.to_vec(), calendars: None, slots };
                self.app.availability(&self.actor(&operations::AVAILABILITY), across).await
            }
            Question::Page(page) => {
                let unbounded = SlotsOfPage { from: None, to: None }.parse().unwrap();
                self.app.booking_slots(page.slug.reveal(), unbounded).await
            }
        }
    }

    /// The state in the answer, if any, and how many statements it took. Unless `granted`, none of them may read
    /// connections.
    async fn answer(&self, question: Question<'_>, granted: bool) -> (Option<String>, usize) {
        let (answer, statements) = statements_of(self.ask(question)).await;
        let read: serde_json::Value = serde_json::from_slice(&answer.unwrap()).unwrap();
        let about = statements.iter().any(|statement| statement.contains("external_calendars"));
        assert_eq!(about, granted, "{question:?} {statements:#?}");
        (read["availability_state"].as_str().map(str::to_owned), statements.len())
    }
}

/// Hold sets on many calendars take as many statements as one on one calendar.
pub async fn hold_sets_on_many_calendars_take_no_more_statements(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let service = SceneService::of(&scene);
    let (mut calendars, mut counts) = (Vec::new(), Vec::new());
    // A new connection to SQLite begins with its settings.
    let queries = |seen: &[String]| seen.iter().filter(|statement| !statement.starts_with("PRAGMA")).count();
    for _ in 0..3 {
        calendars.push(scene.shared_calendar().await);
        let id = HoldSetId::new(scene.make.tick(), &scene.make.entropy);
        for calendar in &calendars {
            let hold = scene.make.hold(calendar, hours(1, 2), SignedDuration::minutes(9));
            scene.stored(Event { hold_set: Some(id), ..hold }).await;
        }
        let (get, list) = (service.actor(&operations::GET_HOLD_SET), service.actor(&operations::LIST_HOLD_SETS));
        let id = id.to_string();
        let (found, read) = statements_of(service.app.hold_set(&get, &id)).await;
        assert_eq!(found.unwrap().holds.len(), calendars.len());
        let (listed, all) = statements_of(service.app.list_hold_sets(&list, None, LARGEST_PAGE)).await;
        assert_eq!(listed.unwrap().data.len(), calendars.len());
        counts.push((queries(&read), queries(&all)));
    }
    counts.dedup();
    assert_eq!(counts.len(), 1, "{counts:?}");
}

/// Names of agents and of calendars take one statement each, however many there are, and none if nothing is asked. What
/// a page of the audit log names always takes one.
pub async fn names_take_one_statement(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (Things::of(&scene).await, Things::of(&scene).await);
    let mut asked = first.asked;
    // Opens the connections, so that this is not measured below.
    asked.of(&scene, scene.org).await;
    asked.agents.extend(second.asked.agents);
    asked.events.extend(second.asked.events);
    let (known, statements) = statements_of(asked.of(&scene, scene.org)).await;
    assert_eq!((known.agents.len(), known.events.len()), (2, 2));
    assert_eq!(statements.len(), 3, "agents, calendars, and everything else: {statements:?}");
    let nothing = Asked::default();
    let (_, statements) = statements_of(nothing.of(&scene, scene.org)).await;
    assert_eq!(statements.len(), 1, "no agents and no calendars: {statements:?}");
    for asked in [asked, nothing] {
        let (_, statements) = statements_of(scene.store.names_for_audit(scene.org, &asked.in_audit())).await;
        assert_eq!(statements.len(), 1, "everything that a page of the audit log names: {statements:?}");
    }
}

/// The rules of several calendars take one statement, and none if no calendar is given. The counts of subscriptions by
/// status take one.
pub async fn rules_and_counts_take_one_statement(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.shared_calendar().await, scene.shared_calendar().await);
    for calendar in [&first, &second] {
        scene.commit(scene.changes().create(&scene.make.rules(calendar))).await;
    }
    let calendars = [first.id, second.id];
    // Opens the connections, so that this is not measured below.
    scene.store.rules_of_calendars(scene.org, &calendars).await.unwrap();
    for (asked, expected) in [(&calendars[..], 1), (&calendars[..0], 0)] {
        let (found, statements) = statements_of(scene.store.rules_of_calendars(scene.org, asked)).await;
        assert_eq!((found.unwrap().len(), statements.len()), (asked.len(), expected), "{statements:?}");
    }
    let (_, statements) = statements_of(scene.store.count_subscriptions(scene.org, None)).await;
    assert_eq!(statements.len(), 1, "{statements:?}");
}

/// What waits takes one statement. So does a page of a list that pages of the console show, whether or not it ends the
/// list.
pub async fn short_lists_take_one_statement(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..3 {
        let agent = scene.agent().await;
        let calendar = scene.calendar(&agent).await;
        scene.page_of(&calendar).await;
        scene.subscribed(&calendar, "https://feeds.example.com/a").await;
        let (_, calendars) = scene.connected(&["work"]).await;
        scene.granted(Audience::All, &[&calendars[0]], &[]).await;
        scene.commit(scene.changes().create(&scene.make.webhook(scene.org))).await;
    }
    let (store, org) = (&scene.store, scene.org);
    // Opens the connections, so that this is not measured below.
    let now = scene.make.clock.now();
    store.waits(org, now).await.unwrap();
    let (waits, statements) = statements_of(store.waits(org, now)).await;
    assert_eq!((waits.unwrap(), statements.len()), (Waits::default(), 1), "{statements:?}");
    let agents = AgentFilter::default();
    for page in [Page { limit: 50, offset: 0 }, Page { limit: 2, offset: 0 }, Page { limit: 2, offset: 2 }] {
        let one = |(total, statements): (u64, Vec<String>)| {
            assert!(total >= 3 && statements.len() == 1, "{page:?} {total} {statements:?}");
        };
        let (listed, statements) = statements_of(store.calendar_entries(org, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_calendars(org, CalendarFilter::All, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_agents(org, agents, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_subscriptions(org, None, None, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_booking_pages(org, None, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_webhooks(org, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_connections(org, None, page)).await;
        one((listed.unwrap().total, statements));
        let (listed, statements) = statements_of(store.list_grants(org, None, page)).await;
        one((listed.unwrap().total, statements));
    }
}

/// Without a grant, no statement reads human calendars, for any question and whether or not the answer is cached. A
/// cached answer takes one statement. Every node sees a grant and its end at once.
pub async fn without_a_grant_human_calendars_are_not_read(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob, bare) = (scene.agent().await, scene.agent().await, scene.agent().await);
    let (first, _) = (scene.calendar(&ada).await, scene.calendar(&bob).await);
    scene.event(&first, hours(1, 2)).await;
    let page = scene.page_of(&first).await;
    let (_, calendars) = scene.connected(&["work"]).await;
    let (agent, calendar, without) = (ada.id.to_string(), first.id.to_string(), bare.id.to_string());
    let both = [agent.clone(), bob.id.to_string()];
    // An agent without a calendar takes three: its calendars, once with blocking times and once without, and whether
    // it is decommissioned.
    let questions = [
        (Question::Agent(&agent), 1),
        (Question::Calendar(&calendar), 1),
        (Question::Across(&both), 1),
        (Question::Page(&page), 1),
        (Question::Agent(&without), 3),
    ];
    let nodes = [SceneService::of(&scene), SceneService::of(&scene)];
    let complete = |question| (!matches!(question, Question::Page(_))).then(|| "complete".to_owned());
    let without_a_grant = async || {
        for node in &nodes {
            for (question, known) in questions {
                let (state, _) = node.answer(question, false).await;
                assert_eq!(state, complete(question), "{question:?}");
                assert_eq!(node.answer(question, false).await, (complete(question), known), "{question:?}");
            }
        }
    };
    without_a_grant().await;
    let grant = scene.granted(Audience::All, &[&calendars[0]], &[]).await;
    for node in &nodes {
        for (question, _) in questions {
            let (state, _) = node.answer(question, true).await;
            assert_ne!(state, Some("complete".to_owned()), "the calendar was never read: {question:?}");
        }
    }
    scene.bridge(vec![Change::DeleteGrant { org: scene.org, grant: grant.id }]).await.unwrap();
    without_a_grant().await;
}
