//! Subscriptions to feeds, from the callers' side. `syncing` keeps them up to date.

use kalends_calendars::Agent;
use kalends_feeds::{
    Change, NewSubscription, Placement, Remains, Subscription, SubscriptionPatch, SubscriptionStatus,
    ports::SubscriptionCounts,
};
use kalends_kernel::{AgentId, Listed, Page, SubscriptionId};
use kalends_plans::Metric;
use kalends_wire as wire;

use crate::{Actor, Answered, App, ChangeSet, IfMatch, Missing, Refusal, attempt::retry_stale, commits::limit};

impl App {
    /// Subscribes a calendar of an agent to a feed, which is synced at once. The new subscription takes over the
    /// events that are left from an earlier subscription of the calendar to the same address.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such agent exists, or it has no such calendar; [`Refusal::AlreadySubscribed`];
    /// [`Refusal::LimitReached`].
    pub async fn create_subscription(
        &self,
        actor: &Actor,
        agent: &str,
        calendar: &str,
        new: NewSubscription,
    ) -> Result<Answered<wire::Subscription>, Refusal> {
        retry_stale(|| async {
            let agent = self.agent(actor, agent).await?.living()?.id;
            let calendar = self.calendar(actor, calendar).await?;
            if calendar.agent != Some(agent) {
                return Err(Refusal::missing(Missing::Calendar, &calendar.id.to_string()).into());
            }
            let (org, now) = (actor.org(), self.now());
            let neighbours = self.parts.store.subscription_neighbours(org, calendar.id, &new.url).await?;
            let placement = Placement::find(&neighbours, None).map_err(Refusal::AlreadySubscribed)?;
            let subscription =
                Subscription::create((org, agent, calendar.id), new.clone(), placement, now, self.entropy());
            let mut changes = ChangeSet::new(org);
            if let Some((subscription, _)) = placement.left {
                changes.feeds.push(Change::AdoptRemains { org, subscription });
            }
            limit(actor, &mut changes, Metric::IcalSubscriptions, 1, now);
            let answer =
                Answered::shows(&actor.request, wire::Subscription::from(&subscription), Some(subscription.version));
            let id = subscription.id.to_string();
            changes.feeds.push(Change::CreateSubscription(Box::new(subscription)));
            self.commit_for(actor, Some(agent), id, changes, answer).await
        })
        .await
    }

    /// An agent's subscriptions, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn list_subscriptions(
        &self,
        actor: &Actor,
        agent: &str,
        which: (Option<SubscriptionStatus>, Page),
    ) -> Result<Listed<Subscription>, Refusal> {
        let agent = self.agent(actor, agent).await?;
        self.subscriptions_of(actor, Some(&agent), which).await
    }

    /// The subscriptions of an agent that the caller has read, or of all agents, the oldest first. An agent's key sees
    /// only those of its agent.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for another agent's key.
    pub async fn subscriptions_of(
        &self,
        actor: &Actor,
        agent: Option<&Agent>,
        (status, page): (Option<SubscriptionStatus>, Page),
    ) -> Result<Listed<Subscription>, Refusal> {
        Ok(self.parts.store.list_subscriptions(actor.org(), narrowed(actor, agent)?, status, page).await?)
    }

    /// The numbers of the subscriptions that [`Self::subscriptions_of`] lists.
    ///
    /// # Errors
    /// As [`Self::subscriptions_of`].
    pub async fn count_subscriptions(
        &self,
        actor: &Actor,
        agent: Option<&Agent>,
    ) -> Result<SubscriptionCounts, Refusal> {
        Ok(self.parts.store.count_subscriptions(actor.org(), narrowed(actor, agent)?).await?)
    }

    /// One subscription.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn subscription(&self, actor: &Actor, id: &str) -> Result<Subscription, Refusal> {
        let missing = || Refusal::missing(Missing::Subscription, id);
        let subscription: SubscriptionId = id.parse().map_err(|_| missing())?;
        let found = self.parts.store.find_subscription(actor.org(), subscription).await?.ok_or_else(missing)?;
        actor.for_agent(Some(found.agent))?;
        Ok(found)
    }

    /// Changes a subscription. Unless it is paused, a subscription with a new address is synced at once, and so is a
    /// resumed one, and one of which something else is imported. Events that are left from an earlier subscription of
    /// the calendar to the new address are removed, because the feed contains them again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`]; [`Refusal::AlreadySubscribed`] if another subscription of the
    /// calendar has that address.
    pub async fn update_subscription(
        &self,
        actor: &Actor,
        id: &str,
        patch: SubscriptionPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<wire::Subscription>, Refusal> {
        retry_stale(|| async {
            let seen = self.subscription(actor, id).await?;
            if_match.check(seen.version)?;
            let now = self.now();
            let mut subscription = seen.patched(patch.clone(), now);
            let moved = subscription.url != seen.url;
            let rereads = subscription.busy_only != seen.busy_only;
            let mut changes = ChangeSet::new(actor.org());
            if moved {
                subscription.state = subscription.state.elsewhere();
                let url = &subscription.url;
                let neighbours = self.parts.store.subscription_neighbours(seen.org, seen.calendar, url).await?;
                let placement = Placement::find(&neighbours, Some(seen.id)).map_err(Refusal::AlreadySubscribed)?;
                subscription.place = placement.place;
                if let Some((subscription, _)) = placement.left {
                    changes.feeds.push(Change::RemoveRemains { org: seen.org, subscription, at: now });
                }
            } else if rereads {
                subscription.state = subscription.state.reread();
                if subscription.place == 0 {
                    // Several subscriptions of earlier versions have none.
                    let neighbours =
                        self.parts.store.subscription_neighbours(seen.org, seen.calendar, &seen.url).await?;
                    subscription.place = neighbours.last.saturating_add(1);
                }
            }
            // The sync of the old settings, if there is one, ends: it must not write texts any more.
            let moved = moved || rereads;
            let due = (!subscription.paused && (moved || seen.paused)).then_some(now);
            let answer =
                Answered::shows(&actor.request, wire::Subscription::from(&subscription), Some(subscription.version));
            let (agent, id) = (subscription.agent, subscription.id.to_string());
            let (subscription, seen) = (Box::new(subscription), seen.version);
            changes.feeds.push(Change::UpdateSubscription { subscription, seen, moved, due });
            self.commit_for(actor, Some(agent), id, changes, answer).await
        })
        .await
    }

    /// Requests an immediate sync of a subscription, even if it is paused.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn ask_sync(&self, actor: &Actor, id: &str) -> Result<Answered<wire::Syncing>, Refusal> {
        retry_stale(|| async {
            let seen = self.subscription(actor, id).await?;
            let (org, subscription, at) = (actor.org(), seen.id, self.now());
            let mut changes = ChangeSet::new(org);
            changes.feeds.push(Change::AskSync { org, subscription, at });
            let answer = Answered::shows(&actor.request, wire::Syncing::default(), None);
            self.commit_for(actor, Some(seen.agent), subscription.to_string(), changes, answer).await
        })
        .await
    }

    /// Deletes a subscription. Depending on `remains`, its imported events stay as they are or are deleted soon after.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Stale`].
    pub async fn delete_subscription(
        &self,
        actor: &Actor,
        id: &str,
        remains: Remains,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let seen = self.subscription(actor, id).await?;
            if_match.check(seen.version)?;
            let (org, subscription) = (actor.org(), seen.id);
            let mut changes = ChangeSet::new(org);
            let (seen, agent, at) = (seen.version, seen.agent, self.now());
            changes.feeds.push(Change::DeleteSubscription { org, subscription, seen, remains, at });
            self.commit_for(actor, Some(agent), subscription.to_string(), changes, Answered::nothing(&actor.request))
                .await
        })
        .await
    }
}

/// The agent whose subscriptions are read: that agent, or the one of the actor's key. `None` for all agents.
fn narrowed(actor: &Actor, agent: Option<&Agent>) -> Result<Option<AgentId>, Refusal> {
    let Some(agent) = agent else { return Ok(actor.narrowed_to()) };
    actor.for_agent(Some(agent.id))?;
    Ok(Some(agent.id))
}
