//! What the campaign begins with: organizations, their calendars, and connected accounts. Thousands of consents would
//! take too long, so the accounts are written to the store.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use kalends_app::ChangeSet;
use kalends_app::ports::Commit as _;
use kalends_bridge::{
    Access, Audience, CalendarProvider, Change, Connection as Account, Destination, ExternalCalendar, Grant, NewGrant,
    PublicationPolicy, TheirCalendar, Tokens,
};
use kalends_kernel::{AgentId, CalendarId, ExternalCalendarId, OrgId, Revision, UserId};
use kalends_postgres::{Database, PostgresStore};
use kalends_testkit::{ManualClock, SeededEntropy};
use kalends_time::{SignedDuration, Timestamp};
use kalends_vault::{KeyRing, MasterKeys};
use serde_json::json;

use super::provider::{CALENDAR, access_token, refresh_token};
use super::{EVERY, Options};
use crate::connection::{Connection, post};
use crate::database::{MASTER_KEY, Place};
use crate::json;
use crate::service::{Process, Program};

/// The accounts that are written together.
const TOGETHER: usize = 50;
/// The database connections of this program.
const POOL: u32 = 4;
/// When the first access token ends, and how much later the last one does.
const TOKENS_LAST: SignedDuration = SignedDuration::minutes(10);
const TOKENS_SPREAD: SignedDuration = SignedDuration::minutes(60);

/// A calendar whose events are copied to an account.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The key of its organization.
    pub(crate) key: String,
    pub(crate) calendar: String,
    pub(crate) account: u32,
}

/// Creates everything, and returns the calendars that are published: the first of them to the first account, and so on.
pub(crate) async fn fill(
    options: &Options,
    place: &Place,
    kalends: &Program,
    server: &Process,
) -> Result<Vec<Published>> {
    let mut organizations = Vec::new();
    for number in 0..options.organizations {
        let (org, key) = kalends.create_identified_organization(&format!("Bridge {number}")).await?;
        organizations.push((org.parse::<OrgId>()?, key));
    }
    let mut connection = Connection::open(server.address).await?;
    let mut published = Vec::new();
    for (account, (_, key)) in (0..options.calendars).zip(organizations.iter().cycle()) {
        let body = json!({ "name": format!("Calendar {account}"), "timezone": "UTC" }).to_string();
        let made = connection.ask(&post("/v1/calendars", Some(key), None, &body)).await?.json(201)?;
        let calendar = json::text(&made, "id")?.to_owned();
        published.push(Published { key: key.clone(), calendar, account });
    }

    let now = server.present().await?;
    let entropy = SeededEntropy::new(now.as_micros().unsigned_abs());
    let database = Database::open(place.url().context("this campaign needs Postgres")?, POOL).await?;
    let ring = KeyRing::open(
        Arc::new(database.key_table()),
        Arc::new(MasterKeys::parse(MASTER_KEY)?),
        Arc::new(ManualClock::new(now)),
        Arc::new(entropy.clone()),
    );
    let store = PostgresStore::new(database.clone(), ring.await?);
    for (first, (org, _)) in (0..).zip(&organizations) {
        let of_org: Vec<u32> = (first..options.connections).step_by(organizations.len()).collect();
        for accounts in of_org.chunks(TOGETHER) {
            let mut changes = ChangeSet::new(*org);
            for account in accounts {
                let calendar = published.iter().find(|published| published.account == *account);
                let calendar = calendar.map(|published| published.calendar.parse::<CalendarId>()).transpose()?;
                changes.bridge.extend(connected(options, *org, *account, calendar, now, &entropy)?);
            }
            store.commit(changes).await?;
        }
    }
    drop(store);
    database.close().await;
    Ok(published)
}

/// The changes that connect an account whose calendar counts for an agent, and that publish `published` to it.
fn connected(
    options: &Options,
    org: OrgId,
    account: u32,
    published: Option<CalendarId>,
    now: Timestamp,
    entropy: &SeededEntropy,
) -> Result<Vec<Change>> {
    // The part of `whole` that this account is from the first.
    let part = |whole: SignedDuration| {
        SignedDuration::micros(whole.as_micros() / i64::from(options.connections.max(1)) * i64::from(account))
    };
    let tokens = Tokens {
        access: access_token(account),
        access_until: now + TOKENS_LAST + part(TOKENS_SPREAD),
        refresh: refresh_token(account),
        publishing: published.is_some(),
    };
    // A connection is due when it is made. In a service that has run for a while, these times are spread.
    let due = now + part(EVERY.min(SignedDuration::seconds(options.seconds.into())));
    let human = UserId::new(now, entropy);
    let connection = Account::create((org, human, CalendarProvider::Microsoft), Access::Consent(tokens), due, entropy);
    let (reference, name) = CALENDAR;
    let target = ExternalCalendar {
        id: ExternalCalendarId::new(now, entropy),
        org,
        connection: connection.id,
        theirs: TheirCalendar { reference: reference.to_owned(), name: name.to_owned(), primary: true },
        revision: Revision(0),
        reading: None,
    };
    // Nobody asks for availability here, so the agent need not exist.
    let agents = vec![AgentId::new(now, entropy)];
    let new = NewGrant { sources: vec![target.id], audience: Audience::Selected, agents };
    let grant = Change::CreateGrant(Box::new(Grant::create((org, human), new, now, entropy)));
    let destination = published.map(|calendar| {
        let destination = Destination::create(calendar, &connection, target.id, PublicationPolicy::Confirmed, now)?;
        Ok::<_, anyhow::Error>(Change::PutDestination { destination: Box::new(destination), seen: None })
    });
    let connection = Change::CreateConnection { connection: Box::new(connection), calendars: vec![target] };
    Ok([connection, grant].into_iter().chain(destination.transpose()?).collect())
}
