//! Calendars: create, read, change, delete, and get the context.

use kalends_accounts::Scope;
use kalends_calendars::{
    Calendar, CalendarPatch, Change, Context, FeedToken, NewCalendar,
    ports::{CalendarEntry, CalendarFilter, EventFilter, EventScope},
};
use kalends_kernel::{AgentId, CalendarId, Listed, Page};
use kalends_plans::Metric;
use kalends_wire::ShownCalendar;

use crate::{
    Actor, Answered, App, ChangeSet, Guard, IfMatch, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    commits::limit,
};

impl App {
    /// Creates a calendar, owned by `agent` or shared by the organization.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such agent exists, [`Refusal::AgentState`] if it is decommissioned,
    /// [`Refusal::LimitReached`].
    pub async fn create_calendar(
        &self,
        actor: &Actor,
        agent: Option<&str>,
        new: NewCalendar,
    ) -> Result<Answered<kalends_wire::Calendar>, Refusal> {
        retry_stale(|| async {
            let owner = match agent {
                None => {
                    actor.for_organization()?;
                    None
                }
                Some(id) => Some(self.agent(actor, id).await?.living()?.id),
            };
            let now = self.now();
            let id = CalendarId::new(now, self.entropy());
            let calendar =
                Calendar::create(id, actor.org(), owner, new.clone(), FeedToken::generate(self.entropy()), now);
            let mut changes = ChangeSet::new(actor.org());
            limit(actor, &mut changes, Metric::Calendars, 1, now);
            let answer = self.calendar_answer(actor, calendar.clone());
            changes.calendars.push(Change::CreateCalendar(calendar));
            self.commit_for(actor, owner, id.to_string(), changes, answer).await
        })
        .await
    }

    /// Calendars, the oldest first. An agent's key sees only the calendars of its agent.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn list_calendars(
        &self,
        actor: &Actor,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<Calendar>, Refusal> {
        let filter = actor.narrowed_to().map_or(filter, CalendarFilter::OfAgent);
        Ok(self.parts.store.list_calendars(actor.org(), filter, page).await?)
    }

    /// The entries of all calendars, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn calendar_entries(&self, actor: &Actor, page: Page) -> Result<Listed<CalendarEntry>, Refusal> {
        actor.for_organization()?;
        Ok(self.parts.store.calendar_entries(actor.org(), page).await?)
    }

    /// [`Self::list_calendars`] as the caller sees them: with the scope for it, an agent's key also sees the names of
    /// the calendars that the organization shares.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn calendar_directory(
        &self,
        actor: &Actor,
        filter: CalendarFilter,
        page: Page,
    ) -> Result<Listed<ShownCalendar>, Refusal> {
        let listed = match actor.widened_by(Scope::DirectoryOrg) {
            Some(own) => {
                self.parts.store.list_calendars(actor.org(), CalendarFilter::OfAgentAndShared(own), page).await?
            }
            None => self.list_calendars(actor, filter, page).await?,
        };
        let base_url = &self.parts.settings.base_url;
        Ok(listed.map(|calendar| {
            let all = actor.sees_all_of(calendar.agent);
            ShownCalendar::new(calendar, base_url, all)
        }))
    }

    /// An agent's calendars, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_agent_calendars(
        &self,
        actor: &Actor,
        agent: &str,
        page: Page,
    ) -> Result<Listed<Calendar>, Refusal> {
        let agent = self.agent(actor, agent).await?;
        Ok(self.parts.store.list_calendars(actor.org(), CalendarFilter::OfAgent(agent.id), page).await?)
    }

    /// One visible calendar.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn calendar(&self, actor: &Actor, id: &str) -> Result<Calendar, Refusal> {
        let calendar = self.any_calendar(actor, id).await?;
        actor.for_agent(calendar.agent)?;
        Ok(calendar)
    }

    /// One visible calendar of the organization, whether or not the actor may access it.
    pub(crate) async fn any_calendar(&self, actor: &Actor, id: &str) -> Result<Calendar, Refusal> {
        let missing = || Refusal::missing(Missing::Calendar, id);
        let calendar_id: CalendarId = id.parse().map_err(|_| missing())?;
        self.parts.store.find_calendar(actor.org(), calendar_id).await?.ok_or_else(missing)
    }

    /// Changes a calendar.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`].
    pub async fn update_calendar(
        &self,
        actor: &Actor,
        id: &str,
        patch: CalendarPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::Calendar>, Refusal> {
        self.replace_calendar(actor, id, if_match, |seen| seen.patched(patch.clone(), self.now())).await
    }

    /// Gives a calendar a new feed address. The old address no longer works.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn rotate_feed_token(
        &self,
        actor: &Actor,
        id: &str,
    ) -> Result<Answered<kalends_wire::Calendar>, Refusal> {
        self.replace_calendar(actor, id, &IfMatch::Any, |seen| {
            seen.with_feed_token(FeedToken::generate(self.entropy()), self.now())
        })
        .await
    }

    async fn replace_calendar(
        &self,
        actor: &Actor,
        id: &str,
        if_match: &IfMatch,
        change: impl Fn(&Calendar) -> Calendar + Send + Sync,
    ) -> Result<Answered<kalends_wire::Calendar>, Refusal> {
        let _turn = self.changing.lock([id]).await;
        retry_stale(|| async {
            let seen = self.calendar(actor, id).await?;
            if_match.check(seen.version)?;
            let calendar = change(&seen);
            let (owner, id) = (calendar.agent, calendar.id);
            let mut changes = ChangeSet::new(actor.org());
            let answer = self.calendar_answer(actor, calendar.clone());
            changes.calendars.push(Change::UpdateCalendar { calendar, seen: seen.version });
            self.commit_for(actor, owner, id.to_string(), changes, answer).await
        })
        .await
    }

    /// Deletes a calendar with its events. No webhook messages are sent about the events. If `if_empty` is set, the
    /// calendar must not have any.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`], [`Refusal::CalendarHasEvents`].
    pub async fn delete_calendar(
        &self,
        actor: &Actor,
        id: &str,
        if_empty: bool,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let seen = self.calendar(actor, id).await?;
            if_match.check(seen.version)?;
            let mut changes = ChangeSet::new(actor.org());
            if if_empty {
                self.require_empty(&seen).await?;
                // An event that is created concurrently raises the revision and makes this stale.
                changes.guards.push(Guard::CalendarRevision { calendar: seen.id, seen: seen.revision });
            }
            let calendar = seen.deleted(self.now());
            changes.calendars.push(Change::UpdateCalendar { calendar, seen: seen.version });
            self.commit_for(actor, seen.agent, seen.id.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await
    }

    async fn require_empty(&self, calendar: &Calendar) -> Result<(), Attempt> {
        let page = Page { limit: 1, offset: 0 };
        let scope = EventScope::Calendar(calendar.id);
        let events = self.parts.store.list_events(calendar.org, scope, EventFilter::default(), page).await?;
        if events.total == 0 { Ok(()) } else { Err(Refusal::CalendarHasEvents(events.total).into()) }
    }

    /// What happens on the calendar right now.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn context(&self, actor: &Actor, id: &str) -> Result<Context, Refusal> {
        let calendar = self.calendar(actor, id).await?;
        let now = self.now();
        let events = self.parts.store.context_events(actor.org(), calendar.id, now).await?;
        Ok(Context { calendar, now, events })
    }

    fn calendar_answer(&self, actor: &Actor, calendar: Calendar) -> Answered<kalends_wire::Calendar> {
        let version = calendar.version;
        Answered::shows(
            &actor.request,
            kalends_wire::Calendar::new(calendar, &self.parts.settings.base_url),
            Some(version),
        )
    }

    /// Parses the identifier of an agent in a path. The agent need not be visible.
    pub(crate) fn agent_id(id: &str) -> Result<AgentId, Refusal> {
        id.parse().map_err(|_| Refusal::missing(Missing::Agent, id))
    }
}
