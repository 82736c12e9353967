//! The server of `layers`: the service's router over a database with some events.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use kalends_app::ports::Commit as _;
use kalends_app::{App, ChangeSet, MemoryRateLimiter, Parts};
use kalends_sqlite::{Database, OpenOptions, SqliteStore};
use kalends_testkit::fixtures::{Compose as _, Fixtures, settings};
use kalends_testkit::{
    Mailbox, NoCalendarProviders, NoFetcher, NoProviders, NoSender, TestCipher, TestPasswords, TestTokens,
};
use kalends_time::{Clock, SignedDuration, Span, Timestamp};
use serde_json::json;
use tokio::net::TcpListener;

use crate::serving;

/// The file to which the server writes the key and the events.
pub(crate) const CREATED: &str = "created.json";
/// The number of events to request.
const EVENTS: usize = 1000;
/// How often the service refreshes the callers that it knows.
const REFRESH: Duration = Duration::from_millis(250);

/// The options of the server.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Serve the router without authentication, limits and counting.
    #[arg(long)]
    bare: bool,
}

struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "the measurement uses real time")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Serves in the current directory until standard input ends.
pub(crate) async fn serve(options: &Options) -> Result<()> {
    let database = Database::open("layers.db".as_ref(), OpenOptions::default()).await?;
    database.migrate().await?;
    let store = Arc::new(SqliteStore::new(database, Arc::new(TestCipher::default())));
    let make = Fixtures::new();
    // Limits that are never reached. Without limits, counting would be cheaper.
    let mut organization = make.organization();
    organization.limit_overrides = Some(json!({ "api_calls": 1_000_000_000_000_u64, "rate_per_second": 1_000_000 }));
    let key = make.key(organization.id);
    let agent = make.agent(organization.id);
    let calendar = make.calendar(&agent);
    let mut changes =
        ChangeSet::new(organization.id).create(&organization).create(&key.key).create(&agent).create(&calendar);
    let mut events = Vec::with_capacity(EVENTS);
    for _ in 0..EVENTS {
        let start = make.tick();
        let event = make.event(&calendar, Span::new(start, start + SignedDuration::minutes(30))?);
        events.push(event.id.to_string());
        changes = changes.create(&event);
    }
    store.commit(changes).await?;
    std::fs::write(CREATED, json!({ "key": key.text, "events": events }).to_string())?;

    let app = App::new(Parts {
        store,
        clock: Arc::new(Wall),
        entropy: Arc::new(make.entropy.clone()),
        mailer: Arc::new(Mailbox::default()),
        passwords: Arc::new(TestPasswords::default()),
        tokens: Arc::new(TestTokens),
        calendar_providers: Arc::new(NoCalendarProviders),
        limiter: Arc::new(MemoryRateLimiter::default()),
        providers: Arc::new(NoProviders),
        sender: Arc::new(NoSender),
        fetcher: Arc::new(NoFetcher),
        settings: settings(),
    });
    let refreshed = Arc::clone(&app);
    tokio::spawn(async move {
        loop {
            refreshed.refresh_principals().await;
            tokio::time::sleep(REFRESH).await;
        }
    });
    let principal = Arc::clone(&app.authenticate(&key.text).await?.principal);
    let router = if options.bare { kalends_http::router_for(app, principal) } else { kalends_http::router(app, None) };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("layers listening on http://{}", listener.local_addr()?);
    serving::until_input_ends(listener, router).await
}
