//! The bridge to human calendars: reads, claims, attempts, and which calendars count.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_app::ports::{HumanCalendars, HumanSeen};
use kalends_bridge::HumanBusy;
use kalends_bridge::{
    ConnectAttempt, Connection, ConnectionLink, ExternalCalendar, Grant, LinkStatus, ListedConnection,
    REFRESHES_PER_ORG, RefreshClaim,
    ports::{ConnectAttempts, ConnectionLinks, Connections, Grants, KnownCalendar},
};
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_kernel::HumanSource;
use kalends_kernel::{
    CalendarId, ConnectionId, ConnectionLinkId, ExternalCalendarId, GrantId, Listed, OrgId, Page, StoreError, UserId,
    Version,
};
use kalends_time::{Span, Timestamp};

use crate::memory::{
    MemoryStore,
    account_data::remove,
    state::{ConnectionRow, State, page_of},
};

impl State {
    /// The human calendars that count: those whose connection is not paused.
    fn heard(&self, org: OrgId) -> impl Iterator<Item = &ExternalCalendar> {
        self.external.values().filter(move |calendar| {
            let connection = self.connections.get(&(org, calendar.connection));
            calendar.org == org && connection.is_some_and(|row| !row.connection.paused)
        })
    }
}

#[async_trait]
impl ConnectionLinks for MemoryStore {
    async fn find_link(&self, org: OrgId, link: ConnectionLinkId) -> Result<Option<ConnectionLink>, StoreError> {
        Ok(self.state().links.get(&(org, link)).cloned())
    }

    async fn find_link_by_secret(&self, secret: TokenHash) -> Result<Option<ConnectionLink>, StoreError> {
        Ok(self.state().links.values().find(|link| link.secret == secret).cloned())
    }

    async fn waiting_link(&self, org: OrgId, calendar: CalendarId) -> Result<Option<ConnectionLink>, StoreError> {
        let state = self.state();
        let mut waiting = state.links.values().filter(|link| link.state == LinkStatus::AwaitingHuman);
        Ok(waiting.find(|link| (link.org, link.calendar) == (org, calendar)).cloned())
    }

    async fn forget_links(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.links, limit, |(_, link)| link.expires_at < before)))
    }
}

#[async_trait]
impl ConnectAttempts for MemoryStore {
    async fn keep_connect_attempt(&self, attempt: &ConnectAttempt) -> Result<(), StoreError> {
        self.write(|state| {
            // Nothing is added to an account that has been deleted in the meantime.
            if state.organizations.contains_key(&attempt.org) {
                state.connect_attempts.insert(attempt.oauth.key, attempt.clone());
            }
        });
        Ok(())
    }

    async fn use_connect_attempt(&self, key: TokenHash) -> Result<Option<ConnectAttempt>, StoreError> {
        Ok(self.write(|state| state.connect_attempts.remove(&key)))
    }

    async fn forget_connect_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.connect_attempts, limit, |(_, attempt)| attempt.oauth.expires_at <= now)))
    }
}

#[async_trait]
impl Connections for MemoryStore {
    async fn find_connection(&self, org: OrgId, connection: ConnectionId) -> Result<Option<Connection>, StoreError> {
        Ok(self.state().connections.get(&(org, connection)).map(ConnectionRow::read))
    }

    async fn list_connections(
        &self,
        org: OrgId,
        human: Option<UserId>,
        page: Page,
    ) -> Result<Listed<ListedConnection>, StoreError> {
        let state = self.state();
        let of =
            |row: &&ConnectionRow| row.connection.org == org && human.is_none_or(|human| row.connection.human == human);
        let rows = state.connections.values().filter(of);
        Ok(page_of(rows, |row| (row.connection.created_at, row.connection.id), page).map(|row| row.read()).map(Ok))
    }

    async fn connection_versions(
        &self,
        org: OrgId,
        human: Option<UserId>,
    ) -> Result<Vec<(ConnectionId, Version)>, StoreError> {
        let state = self.state();
        let all = state.connections.values().map(|row| &row.connection);
        let of = all.filter(|connection| connection.org == org && human.is_none_or(|human| connection.human == human));
        let mut versions: Vec<_> = of.map(|connection| (connection.id, connection.version)).collect();
        versions.sort_unstable();
        Ok(versions)
    }

    async fn external_calendars(&self, org: OrgId, connection: ConnectionId) -> Result<Vec<KnownCalendar>, StoreError> {
        let state = self.state();
        let counts = |id| state.grants.values().any(|grant| grant.org == org && grant.sources.contains(&id));
        let of = state.external.values().filter(|calendar| (calendar.org, calendar.connection) == (org, connection));
        Ok(of.map(|calendar| KnownCalendar { calendar: calendar.clone(), counts: counts(calendar.id) }).collect())
    }

    async fn connections_of(
        &self,
        org: OrgId,
        calendars: &[ExternalCalendarId],
    ) -> Result<Vec<(ExternalCalendarId, ConnectionId)>, StoreError> {
        let state = self.state();
        let queried: BTreeSet<_> = calendars.iter().collect();
        let known = queried.into_iter().filter_map(|id| state.external.get(&(org, *id)));
        Ok(known.map(|calendar| (calendar.id, calendar.connection)).collect())
    }

    async fn claim_refreshes(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(RefreshClaim, Connection)>, StoreError> {
        Ok(self.write(|state| {
            let mut taken: BTreeMap<OrgId, u32> = BTreeMap::new();
            for row in state.connections.values().filter(|row| row.claimed_until.is_some_and(|until| now < until)) {
                *taken.entry(row.connection.org).or_default() += 1;
            }
            let mut due: Vec<_> = state.connections.values_mut().filter(|row| row.due_at.is_some()).collect();
            due.retain(|row| row.due_at <= Some(now));
            due.sort_by_key(|row| (row.due_at, row.connection.id));
            due.retain(|row| {
                let of_org = taken.entry(row.connection.org).or_default();
                *of_org += 1;
                *of_org <= REFRESHES_PER_ORG
            });
            due.truncate(limit as usize);
            let claimed = due.into_iter().map(|row| {
                row.fence.0 += 1;
                row.requested = false;
                (row.due_at, row.claimed_until) = (Some(until), Some(until));
                let Connection { org, id, .. } = row.connection;
                (RefreshClaim { org, connection: id, fence: row.fence }, row.read())
            });
            claimed.collect()
        }))
    }
}

#[async_trait]
impl Grants for MemoryStore {
    async fn find_grant(&self, org: OrgId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        Ok(self.state().grants.get(&(org, grant)).cloned())
    }

    async fn list_grants(&self, org: OrgId, human: Option<UserId>, page: Page) -> Result<Listed<Grant>, StoreError> {
        let state = self.state();
        let of =
            state.grants.values().filter(|grant| grant.org == org && human.is_none_or(|human| grant.human == human));
        Ok(page_of(of, |grant| (grant.created_at, grant.id), page))
    }
}

#[async_trait]
impl HumanCalendars for MemoryStore {
    async fn human_sources(&self, org: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        let state = self.state();
        let mut seen = Vec::new();
        let granted = calendars.iter().filter(|calendar| calendar.granted);
        for calendar in granted.filter_map(|granted| state.calendar(org, granted.calendar)) {
            let covering = state.grants.values().filter(|grant| grant.org == org && grant.covers(calendar.agent));
            let counting: BTreeSet<_> = covering.flat_map(|grant| &grant.sources).collect();
            let heard = state.heard(org).filter(|heard| counting.contains(&heard.id));
            seen.extend(heard.map(|heard| seen_for(calendar.id, heard)));
        }
        Ok(seen)
    }

    async fn human_sources_of_agents(&self, org: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        let state = self.state();
        let mut seen = Vec::new();
        let granted = agents.iter().filter(|agent| agent.granted).map(|agent| agent.id);
        for agent in granted.filter(|agent| state.agent_lives(org, *agent)) {
            let covering = state.grants.values().filter(|grant| grant.org == org && grant.covers(Some(agent)));
            let counting: BTreeSet<_> = covering.flat_map(|grant| &grant.sources).collect();
            let heard = state.heard(org).filter(|heard| counting.contains(&heard.id));
            seen.extend(heard.map(|heard| seen_for(agent, heard)));
        }
        Ok(seen)
    }

    async fn human_busy(
        &self,
        org: OrgId,
        sources: &[HumanSource],
        window: Span,
    ) -> Result<Vec<HumanBusy>, StoreError> {
        let state = self.state();
        let queried = state.heard(org).filter(|calendar| sources.contains(&calendar.source()));
        Ok(queried.map(|calendar| calendar.busy(window)).collect())
    }
}

fn seen_for(of: impl Into<HumanFor>, heard: &ExternalCalendar) -> HumanSeen {
    HumanSeen {
        of: of.into(),
        source: heard.source(),
        revision: heard.revision,
        read_at: heard.reading.as_ref().map(|reading| reading.read_at),
    }
}
