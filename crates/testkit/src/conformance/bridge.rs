//! The bridge to human calendars: links and attempts, connections and their refreshes, grants and which calendars
//! count.

mod attention;
mod connections;
mod grants;
mod links;
mod publishing;
mod publishing_claims;
mod publishing_due;
mod publishing_races;
mod refreshes;

use std::collections::BTreeSet;

use kalends_accounts::TokenHash;
use kalends_app::ports::{CommitError, HumanSeen};
use kalends_availability::BusySet;
use kalends_bridge::{
    Access, Audience, CalendarProvider, Change, Connection, ConnectionLink, ExternalCalendar, Grant, LinkSecret,
    NewGrant, NewLink, PublicationPolicy, Reading, TheirCalendar, Tokens, listing, ports::KnownCalendar,
};
use kalends_calendars::{Agent, Calendar, ports::BusySource};
use kalends_kernel::HumanSource;
use kalends_kernel::UserId;
use kalends_time::{Span, Timestamp};

pub use self::{
    attention::*, connections::*, grants::*, links::*, publishing::*, publishing_claims::*, publishing_due::*,
    publishing_races::*, refreshes::*,
};
use super::{
    samples::TRICKY,
    scene::{Scene, hours},
};

/// How many tasks run at once.
const TASKS: usize = 8;

fn consent(text: &str, until: Timestamp) -> Access {
    let publishing = text.len().is_multiple_of(2);
    let (access, refresh) = (format!("access {text}"), format!("refresh {text}"));
    Access::Consent(Tokens { access, access_until: until, refresh, publishing })
}

/// The connection as it was created, with respect to the time of the next refresh. Changes do not write that time, so
/// most cases do not compare it.
fn timeless(connection: Connection) -> Connection {
    Connection { due_at: Some(connection.created_at), ..connection }
}

fn reading(read_at: Timestamp, covers: Span, busy: &[Span]) -> Reading {
    Reading { read_at, covers, spans: BusySet::from_unsorted(busy.to_vec()), copies: Vec::new(), tag: None }
}

impl Scene {
    fn a_human(&self) -> UserId {
        UserId::new(self.make.tick(), &self.make.entropy)
    }

    pub(super) async fn bridge(&self, bridge: Vec<Change>) -> Result<(), CommitError> {
        let mut changes = self.changes();
        changes.bridge = bridge;
        self.try_commit(changes).await
    }

    fn link_for(&self, calendar: &Calendar) -> (ConnectionLink, LinkSecret) {
        let new_link = NewLink { publishing: true, policy: PublicationPolicy::ConfirmedTentative };
        let of = (self.org, calendar.agent, calendar.id);
        ConnectionLink::create(of, new_link, self.make.tick(), &self.make.entropy)
    }

    /// Stores a link for the calendar.
    async fn linked(&self, calendar: &Calendar) -> ConnectionLink {
        let (link, _) = self.link_for(calendar);
        self.bridge(vec![Change::CreateLink(Box::new(link.clone()))]).await.unwrap();
        link
    }

    async fn link_now(&self, link: &ConnectionLink) -> Option<ConnectionLink> {
        self.store.find_link(self.org, link.id).await.unwrap()
    }

    async fn link_of(&self, secret: TokenHash) -> Option<ConnectionLink> {
        self.store.find_link_by_secret(secret).await.unwrap()
    }

    /// Updates the link at the version of `seen`.
    async fn relink(&self, seen: &ConnectionLink, link: &ConnectionLink) -> Result<(), CommitError> {
        self.bridge(vec![Change::UpdateLink { link: Box::new(link.clone()), seen: seen.version }]).await
    }

    fn connection_of(&self, human: UserId) -> Connection {
        let now = self.make.tick();
        Connection::create((self.org, human, CalendarProvider::Google), consent(TRICKY, now), now, &self.make.entropy)
    }

    /// Calendars of the account with these names, ordered by their identifiers. Nothing is stored.
    fn listed_of(&self, connection: &Connection, names: &[&str]) -> Vec<ExternalCalendar> {
        let theirs = names.iter().enumerate().map(|(place, name)| TheirCalendar {
            reference: format!("{name}@provider.example"),
            name: format!("{name} {TRICKY}"),
            primary: place == 0,
        });
        let of = (connection.org, connection.id);
        let mut listed = listing(of, &[], theirs.collect(), self.make.tick(), &self.make.entropy).present;
        listed.sort_by_key(|calendar| calendar.id);
        listed
    }

    /// Stores a connection with calendars of these names.
    pub(super) async fn connected(&self, names: &[&str]) -> (Connection, Vec<ExternalCalendar>) {
        let connection = self.connection_of(self.a_human());
        let calendars = self.listed_of(&connection, names);
        self.connect(&connection, &calendars).await;
        (connection, calendars)
    }

    async fn connect(&self, connection: &Connection, calendars: &[ExternalCalendar]) {
        let (connection, calendars) = (Box::new(connection.clone()), calendars.to_vec());
        self.bridge(vec![Change::CreateConnection { connection, calendars }]).await.unwrap();
    }

    async fn connection_now(&self, connection: &Connection) -> Option<Connection> {
        self.store.find_connection(self.org, connection.id).await.unwrap().map(timeless)
    }

    /// Updates the connection at the version of `seen`.
    async fn reconnect(
        &self,
        seen: &Connection,
        connection: &Connection,
        due: Option<Timestamp>,
    ) -> Result<(), CommitError> {
        let change = Change::UpdateConnection { connection: Box::new(connection.clone()), seen: seen.version, due };
        self.bridge(vec![change]).await
    }

    /// Updates the connection after a new consent, at the version of `seen`.
    async fn reauthorize(&self, seen: &Connection, connection: &Connection, at: Timestamp) -> Result<(), CommitError> {
        let connection = Box::new(connection.clone());
        self.bridge(vec![Change::ReauthorizeConnection { connection, seen: seen.version, at }]).await
    }

    async fn disconnect(&self, seen: &Connection) -> Result<(), CommitError> {
        let change = Change::DeleteConnection { org: self.org, connection: seen.id, seen: seen.version };
        self.bridge(vec![change]).await
    }

    async fn known_calendars(&self, connection: &Connection) -> Vec<KnownCalendar> {
        self.store.external_calendars(self.org, connection.id).await.unwrap()
    }

    fn grant_of(&self, audience: Audience, sources: &[&ExternalCalendar], agents: &[&Agent]) -> Grant {
        let sources = sources.iter().map(|source| source.id).collect();
        let new = NewGrant { sources, audience, agents: agents.iter().map(|agent| agent.id).collect() };
        Grant::create((self.org, self.a_human()), new, self.make.tick(), &self.make.entropy)
    }

    /// Stores a grant.
    pub(super) async fn granted(&self, audience: Audience, sources: &[&ExternalCalendar], agents: &[&Agent]) -> Grant {
        let grant = self.grant_of(audience, sources, agents);
        self.bridge(vec![Change::CreateGrant(Box::new(grant.clone()))]).await.unwrap();
        grant
    }

    async fn grant_now(&self, grant: &Grant) -> Option<Grant> {
        self.store.find_grant(self.org, grant.id).await.unwrap()
    }

    async fn human_sources(&self, calendars: &[&Calendar]) -> BTreeSet<HumanSeen> {
        let mut sources = Vec::new();
        for Calendar { id: calendar, agent, revision, .. } in calendars.iter().copied().cloned() {
            let source = self.store.source_of_calendar(self.org, calendar).await.unwrap();
            // Hidden calendars are queried too, as if something were granted for them.
            sources.push(source.unwrap_or(BusySource { agent, calendar, revision, granted: true }));
        }
        self.store.human_sources(self.org, &sources).await.unwrap().into_iter().collect()
    }

    /// Whether every read of each calendar as a source of busy times returns this `granted`.
    async fn is_granted(&self, calendars: &[&Calendar], granted: bool) -> bool {
        for calendar in calendars {
            let source = self.store.source_of_calendar(self.org, calendar.id).await.unwrap().unwrap();
            let mut sources = vec![source];
            if let Some(agent) = calendar.agent {
                sources.extend(self.store.sources_of_agents(self.org, &[agent]).await.unwrap());
                sources.extend(self.store.sources_of_agents(self.org, &[agent, agent]).await.unwrap());
                let known = self.store.busy_of_agent(self.org, agent, hours(0, 1)).await.unwrap();
                sources.extend(known.into_iter().map(|(source, _)| source));
                assert!(sources.len() >= 4, "every read returns it: {sources:?}");
            }
            let page = self.page_of(calendar).await;
            let found = self.store.booking_page_of_slug(page.slug.hash(), self.make.period()).await;
            let source = found.unwrap().unwrap().sources[0];
            sources.push(source);
            let blocks = self.store.blocks(self.org, calendar.id, hours(0, 1), 1).await.unwrap().unwrap();
            sources.push(blocks.source);
            if sources.iter().any(|source| source.granted != granted) {
                return false;
            }
        }
        true
    }

    /// The human calendars that count for this calendar.
    async fn counting(&self, calendar: &Calendar) -> BTreeSet<HumanSource> {
        self.human_sources(&[calendar]).await.into_iter().map(|seen| seen.source).collect()
    }
}

fn sources<'a>(calendars: impl IntoIterator<Item = &'a ExternalCalendar>) -> BTreeSet<HumanSource> {
    calendars.into_iter().map(ExternalCalendar::source).collect()
}

/// The span that readings cover in these tests.
fn covered() -> Span {
    hours(0, 100)
}
