//! Grants: the agents for which a user's human calendars count as busy.

use std::collections::BTreeSet;

use kalends_bridge::{ALL_CURRENT_MAX, Audience, Change, Connection, Grant, NewGrant};
use kalends_calendars::ports::AgentFilter;
use kalends_kernel::{AgentId, ConnectionId, ExternalCalendarId, FieldError, GrantId, LIMIT_MAX, Listed, Page};
use kalends_wire as wire;

use crate::{Actor, Answered, App, ChangeSet, Missing, Refusal, attempt::retry_stale, console::human};

impl App {
    /// Makes human calendars count as busy, and completes the link that asked for it, if any. The calendars are
    /// refreshed at once.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a calendar, an agent or a link that does not exist; [`Refusal::Link`];
    /// [`Refusal::Invalid`] if there is no agent to count for, or if the audience does not include the agent of the
    /// link; [`Refusal::NotRefreshed`] and [`Refusal::NotPublished`] if the connection does not provide what the link
    /// asks for.
    pub async fn create_grant(
        &self,
        actor: &Actor,
        wanted: wire::WantedGrant,
    ) -> Result<Answered<wire::AvailabilityGrant>, Refusal> {
        let (_, human) = human(actor)?;
        retry_stale(|| async {
            let (org, now) = (actor.org(), self.now());
            let (sources, connections) = self.sources_of_grant(actor, &wanted.sources).await?;
            let agents = self.agents_of_grant(actor, &wanted).await?;
            let new = NewGrant { sources, audience: wanted.audience, agents };
            let grant = Grant::create((org, human), new, now, self.entropy());
            let mut changes = ChangeSet::new(org);
            let refreshed = connections.iter().filter(|connection| connection.is_refreshed());
            changes.bridge.extend(refreshed.map(|connection| Change::AskRefresh {
                org,
                connection: connection.id,
                at: now,
            }));
            if let Some(id) = &wanted.link {
                let link = self.followed_link(actor, id).await?;
                // Prefer the connection that was made for the link, if one of its calendars is granted.
                let own = connections.iter().find(|connection| link.connection == Some(connection.id));
                let Some(connection) = own.or(connections.first()) else {
                    return Err(Refusal::missing(Missing::Connection, id).into());
                };
                let completed = link.complete(&grant, connection, now).map_err(Refusal::from)?;
                changes.bridge.push(Change::UpdateLink { link: Box::new(completed), seen: link.version });
            }
            let answer = Answered::shows(&actor.request, wire::AvailabilityGrant::from(&grant), None);
            let id = grant.id.to_string();
            changes.bridge.push(Change::CreateGrant(Box::new(grant)));
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// The caller's grants in the organization, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_grants(&self, actor: &Actor, page: Page) -> Result<Listed<wire::AvailabilityGrant>, Refusal> {
        let (_, user) = human(actor)?;
        let listed = self.parts.store.list_grants(actor.org(), Some(user), page).await?;
        Ok(listed.map(|grant| wire::AvailabilityGrant::from(&grant)))
    }

    /// Deletes a grant: its calendars no longer count because of it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn delete_grant(&self, actor: &Actor, id: &str) -> Result<Answered<()>, Refusal> {
        let (_, user) = human(actor)?;
        let missing = || Refusal::missing(Missing::Grant, id);
        retry_stale(|| async {
            let grant: GrantId = id.parse().map_err(|_| missing())?;
            let org = actor.org();
            let found = self.parts.store.find_grant(org, grant).await?;
            let found = found.filter(|grant| grant.human == user).ok_or_else(missing)?;
            let mut changes = ChangeSet::new(org);
            changes.bridge.push(Change::DeleteGrant { org, grant: found.id });
            self.commit_for(actor, None, found.id.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await
    }

    /// The calendars that a grant names, which are the caller's own, and their connections.
    async fn sources_of_grant(
        &self,
        actor: &Actor,
        written: &[String],
    ) -> Result<(Vec<ExternalCalendarId>, Vec<Connection>), Refusal> {
        let missing = |id: &str| Refusal::missing(Missing::ExternalCalendar, id);
        let parsed = written.iter().map(|text| text.parse().map_err(|_| missing(text)));
        let sources = parsed.collect::<Result<Vec<ExternalCalendarId>, _>>()?;
        let known = self.parts.store.connections_of(actor.org(), &sources).await?;
        if let Some(unknown) = sources.iter().find(|source| !known.iter().any(|(known, _)| known == *source)) {
            return Err(missing(&unknown.to_string()));
        }
        let of: BTreeSet<ConnectionId> = known.iter().map(|(_, connection)| *connection).collect();
        let mut connections = Vec::with_capacity(of.len());
        for id in of {
            match self.connection_of(actor, &id.to_string()).await {
                Ok(connection) => connections.push(connection),
                // It is another member's, or was deleted in the meantime, with its calendars.
                Err(Refusal::NotFound { .. }) => {
                    let theirs = known.iter().find(|(_, of)| *of == id);
                    return Err(missing(&theirs.map_or_else(String::new, |(source, _)| source.to_string())));
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok((sources, connections))
    }

    /// The agents that a grant counts for; empty if it counts for all.
    async fn agents_of_grant(&self, actor: &Actor, wanted: &wire::WantedGrant) -> Result<Vec<AgentId>, Refusal> {
        match wanted.audience {
            Audience::All => Ok(Vec::new()),
            Audience::Selected => {
                let mut agents = Vec::with_capacity(wanted.agents.len());
                for id in &wanted.agents {
                    agents.push(self.agent(actor, id).await?.living()?.id);
                }
                Ok(agents)
            }
            Audience::AllCurrent => {
                let agents = self.living_agents(actor).await?;
                if agents.is_empty() {
                    return Err(FieldError::new("audience", "must be all if there is no agent").into());
                }
                Ok(agents)
            }
        }
    }

    /// Every agent of the organization that is not decommissioned.
    async fn living_agents(&self, actor: &Actor) -> Result<Vec<AgentId>, Refusal> {
        let mut agents = Vec::new();
        let mut page = Page { limit: LIMIT_MAX, offset: 0 };
        loop {
            let Listed { data, total } =
                self.parts.store.list_agents(actor.org(), AgentFilter::default(), page).await?;
            if total > ALL_CURRENT_MAX {
                let message = format!("must be all if there are more than {ALL_CURRENT_MAX} agents, got all_current");
                return Err(FieldError::new("audience", message).into());
            }
            agents.extend(data.iter().filter(|agent| agent.living().is_ok()).map(|agent| agent.id));
            page.offset += LIMIT_MAX;
            if u64::from(page.offset) >= total {
                return Ok(agents);
            }
        }
    }
}
