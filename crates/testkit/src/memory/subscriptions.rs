//! Subscriptions, and the imported items that are known.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_calendars::{Event, EventSource};
use kalends_feeds::{
    Change, Fence, Neighbours, Origin, Remains, Subscription, SubscriptionStatus, SyncClaim,
    ports::{ImportedItems, SubscriptionCounts, Subscriptions},
    sync::{CLAIM_LASTS, KnownItem, LEFT_KEPT, SyncState},
};
use kalends_kernel::{AgentId, CalendarId, Listed, OrgId, Page, StoreError, SubscriptionId};
use kalends_remote::RemoteUrl;
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    apply::{create, unchanged},
    state::{State, SubscriptionRow, page_of},
};

impl State {
    pub(super) fn visible_subscriptions(&self, org: OrgId) -> impl Iterator<Item = &Subscription> {
        let of = self.subscriptions.values().map(|row| &row.subscription).filter(move |found| found.org == org);
        of.filter(|found| found.remains.is_none()).filter(|found| self.calendar(found.org, found.calendar).is_some())
    }

    pub(super) fn apply_to_feeds(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::CreateSubscription(subscription) => {
                let calendar = self.calendar(subscription.org, subscription.calendar).ok_or(CommitError::Stale)?;
                if calendar.agent != Some(subscription.agent) {
                    return Err(CommitError::Stale);
                }
                self.check_place(subscription)?;
                let row = SubscriptionRow {
                    subscription: Subscription::clone(subscription),
                    due_at: Some(subscription.created_at),
                    claimed_until: None,
                    fence: Fence(0),
                    requested: false,
                    reserved: 0,
                };
                create(self.subscriptions.entry((subscription.org, subscription.id)), &row)?;
            }
            Change::UpdateSubscription { subscription, seen, moved, due } => {
                if *moved {
                    self.check_place(subscription)?;
                }
                let row = self.subscription((subscription.org, subscription.id))?;
                unchanged(row.subscription.version, *seen)?;
                if *moved {
                    row.fence.0 += 1;
                    row.claimed_until = None;
                }
                if row.claimed_until.is_none() {
                    row.due_at = if subscription.paused { None } else { due.or(row.due_at) };
                }
                let mut state = std::mem::take(&mut row.subscription.state);
                if *moved {
                    let memory = subscription.state.memory.clone();
                    state = SyncState { last_synced_at: state.last_synced_at, memory, ..SyncState::default() };
                }
                row.subscription = Subscription { state, ..Subscription::clone(subscription) };
            }
            Change::DeleteSubscription { org, subscription, seen, remains, at } => {
                let key = (*org, *subscription);
                let row = self.subscription(key)?;
                unchanged(row.subscription.version, *seen)?;
                let now = &mut row.subscription;
                (now.remains, now.paused, now.version) = (Some(*remains), false, seen.next());
                row.due_at = Some(if *remains == Remains::Kept { *at + LEFT_KEPT } else { *at });
                row.claimed_until = None;
                row.requested = false;
                row.fence.0 += 1;
                let origin = row.subscription.origin.uuid();
                if !self.imported.keys().any(|(by, of, _)| (*by, *of) == (*org, origin)) {
                    self.subscriptions.remove(&key);
                }
            }
            Change::AdoptRemains { org, subscription } => {
                let key = (*org, *subscription);
                let left = self.subscriptions.get(&key).ok_or(CommitError::Stale)?;
                if left.subscription.remains != Some(Remains::Kept) {
                    return Err(CommitError::Stale);
                }
                self.subscriptions.remove(&key);
            }
            Change::RemoveRemains { org, subscription, at } => {
                let row = self.subscriptions.get_mut(&(*org, *subscription)).ok_or(CommitError::Stale)?;
                if row.subscription.remains != Some(Remains::Kept) {
                    return Err(CommitError::Stale);
                }
                row.subscription.remains = Some(Remains::Removed);
                (row.due_at, row.claimed_until) = (Some(*at), None);
                row.fence.0 += 1;
            }
            Change::ForgetSubscription { claim } => {
                let row = self.claimed(*claim)?;
                let (origin, remains) = (row.subscription.origin, row.subscription.remains);
                remains.ok_or(CommitError::Stale)?;
                self.subscriptions.remove(&(claim.org, claim.subscription));
                self.forget_origin(claim.org, Origin::Subscription(origin));
            }
            Change::AskSync { org, subscription, at } => {
                let row = self.subscription((*org, *subscription))?;
                row.requested = true;
                if row.claimed_until.is_none_or(|until| until <= *at) {
                    row.due_at = Some(*at);
                }
            }
            Change::RenewClaim { claim, at, reserved } => {
                let row = self.claimed(*claim)?;
                row.reserved = *reserved;
                row.due_at = Some(*at + CLAIM_LASTS);
                row.claimed_until = row.due_at;
            }
            Change::EndSync { claim, state, next, at } => {
                let row = self.claimed(*claim)?;
                row.claimed_until = None;
                row.subscription.state = SyncState::clone(state);
                row.due_at = match (std::mem::take(&mut row.requested), row.subscription.paused) {
                    (true, _) => Some(*at),
                    (false, true) => None,
                    (false, false) => Some(*next),
                };
            }
            Change::KeepItems { org, origin, items } => {
                self.imported.extend(items.iter().map(|item| ((*org, origin.uuid(), item.key), *item)));
            }
            Change::ForgetItems { org, origin, keys } => {
                for key in keys {
                    self.imported.remove(&(*org, origin.uuid(), *key));
                }
            }
        }
        Ok(())
    }

    fn subscription(&mut self, key: (OrgId, SubscriptionId)) -> Result<&mut SubscriptionRow, CommitError> {
        let found = self.subscriptions.get_mut(&key).filter(|row| row.subscription.remains.is_none());
        found.ok_or(CommitError::Stale)
    }

    /// No two subscriptions of a calendar have the same place.
    fn check_place(&self, subscription: &Subscription) -> Result<(), CommitError> {
        let mut others = self.subscriptions.values().map(|row| &row.subscription);
        let taken = others.any(|other| {
            (other.org, other.calendar, other.place) == (subscription.org, subscription.calendar, subscription.place)
                && other.id != subscription.id
        });
        if taken { Err(CommitError::Stale) } else { Ok(()) }
    }

    fn claimed(&mut self, claim: SyncClaim) -> Result<&mut SubscriptionRow, CommitError> {
        let row = self.subscriptions.get_mut(&(claim.org, claim.subscription)).ok_or(CommitError::Stale)?;
        if row.fence == claim.fence && row.claimed_until.is_some() { Ok(row) } else { Err(CommitError::Stale) }
    }

    fn forget_origin(&mut self, org: OrgId, origin: Origin) {
        self.imported.retain(|(by, of, _), _| (*by, *of) != (org, origin.uuid()));
    }
}

#[async_trait]
impl Subscriptions for MemoryStore {
    async fn find_subscription(
        &self,
        org: OrgId,
        subscription: SubscriptionId,
    ) -> Result<Option<Subscription>, StoreError> {
        Ok(self.state().visible_subscriptions(org).find(|found| found.id == subscription).cloned())
    }

    async fn subscription_neighbours(
        &self,
        org: OrgId,
        calendar: CalendarId,
        url: &RemoteUrl,
    ) -> Result<Neighbours, StoreError> {
        let state = self.state();
        let all = || state.subscriptions.values().map(|row| &row.subscription);
        let of_calendar = || all().filter(|found| (found.org, found.calendar) == (org, calendar));
        Ok(Neighbours {
            last: of_calendar().map(|found| found.place).max().unwrap_or(0),
            same: of_calendar().filter(|found| found.url == *url).filter_map(Subscription::neighbour).collect(),
        })
    }

    async fn list_subscriptions(
        &self,
        org: OrgId,
        agent: Option<AgentId>,
        status: Option<SubscriptionStatus>,
        page: Page,
    ) -> Result<Listed<Subscription>, StoreError> {
        let state = self.state();
        let matching = state
            .visible_subscriptions(org)
            .filter(|found| agent.is_none_or(|agent| found.agent == agent))
            .filter(|found| status.is_none_or(|status| found.status() == status));
        Ok(page_of(matching, |found| (found.created_at, found.id), page))
    }

    async fn count_subscriptions(&self, org: OrgId, agent: Option<AgentId>) -> Result<SubscriptionCounts, StoreError> {
        let state = self.state();
        let mut counts = SubscriptionCounts::default();
        for found in state.visible_subscriptions(org).filter(|found| agent.is_none_or(|agent| found.agent == agent)) {
            counts.add(found.status(), 1);
        }
        Ok(counts)
    }

    async fn claim_subscriptions(
        &self,
        now: Timestamp,
        until: Timestamp,
        per_host: u32,
        limit: u32,
    ) -> Result<Vec<(SyncClaim, Subscription)>, StoreError> {
        Ok(self.write(|state| {
            let mut busy: BTreeMap<_, u32> = BTreeMap::new();
            for row in state.subscriptions.values().filter(|row| row.claimed_until.is_some_and(|until| until > now)) {
                *busy.entry(row.subscription.host()).or_default() += 1;
            }
            let mut due: Vec<_> = state.subscriptions.iter().filter(|(_, row)| row.due_at <= Some(now)).collect();
            due.retain(|(_, row)| row.due_at.is_some());
            due.sort_by_key(|((_, id), row)| (row.due_at, *id));
            let mut chosen = Vec::new();
            for (key, row) in due {
                let of_host = busy.entry(row.subscription.host()).or_default();
                if *of_host < per_host && chosen.len() < limit as usize {
                    *of_host += 1;
                    chosen.push(*key);
                }
            }
            let mut claims = Vec::new();
            for key in chosen {
                let calendar = state.subscriptions.get(&key).map(|row| row.subscription.calendar);
                if calendar.is_none_or(|calendar| state.calendar(key.0, calendar).is_none()) {
                    let origin = state.subscriptions.remove(&key).map(|row| row.subscription.origin);
                    state.forget_origin(key.0, Origin::Subscription(origin.unwrap_or(key.1)));
                    continue;
                }
                let Some(row) = state.subscriptions.get_mut(&key) else { continue };
                row.fence.0 += 1;
                row.requested = false;
                row.reserved = 0;
                (row.due_at, row.claimed_until) = (Some(until), Some(until));
                let claim = SyncClaim { org: key.0, subscription: key.1, fence: row.fence };
                claims.push((claim, row.subscription.clone()));
            }
            claims
        }))
    }
}

#[async_trait]
impl ImportedItems for MemoryStore {
    async fn known_items(&self, org: OrgId, origin: Origin) -> Result<Vec<KnownItem>, StoreError> {
        let state = self.state();
        let of = state.imported.iter().filter(|((by, from, _), _)| (*by, *from) == (org, origin.uuid()));
        let known: Vec<KnownItem> = of.map(|(_, item)| *item).collect();
        Ok(known
            .into_iter()
            .filter(|item| {
                let stays = |event: &Event| origin.stays_on().is_none_or(|calendar| event.calendar == calendar);
                state.visible_events(org).any(|(event, _)| event.id == item.event && stays(event))
            })
            .collect())
    }

    async fn purge_imported_events(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let over = |at: Option<Timestamp>| at.is_some_and(|at| at <= before);
            let ended = |event: &Event| {
                let calendar = state.calendars.get(&(event.org, event.calendar));
                let agent = calendar
                    .and_then(|calendar| calendar.agent)
                    .and_then(|agent| state.agents.get(&(event.org, agent)))
                    .filter(|agent| agent.living().is_err());
                over(event.deleted_at)
                    || over(calendar.and_then(|calendar| calendar.deleted_at))
                    || over(agent.map(|agent| agent.updated_at))
            };
            let imported = state.events.iter().filter(|(_, event)| event.source == EventSource::ExternalIcal);
            let gone: Vec<_> =
                imported.filter(|(_, event)| ended(event)).map(|(key, _)| *key).take(limit as usize).collect();
            for key in &gone {
                state.events.remove(key);
            }
            gone.len() as u64
        }))
    }
}
