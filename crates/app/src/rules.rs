//! The availability rules of calendars: read, put, delete.

use std::collections::BTreeMap;

use kalends_calendars::{AvailabilityRules, Change, NewRules};
use kalends_kernel::{AgentId, CalendarId, RulesId};

use crate::{Actor, Answered, App, ChangeSet, IfMatch, Missing, Refusal, attempt::retry_stale};

impl App {
    /// The availability rules of a visible calendar.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such calendar exists or it has no rules; [`Refusal::OutOfReach`].
    pub async fn availability_rules(&self, actor: &Actor, calendar: &str) -> Result<AvailabilityRules, Refusal> {
        let of = self.calendar(actor, calendar).await?;
        let found = self.parts.store.find_rules(actor.org(), of.id).await?;
        found.ok_or_else(|| Refusal::missing(Missing::AvailabilityRules, calendar))
    }

    /// The availability rules of calendars that the caller has listed, each with its agent, by calendar. A calendar
    /// without rules is left out, and so is one that was deleted after it was listed.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key, unless its agent owns all of the calendars.
    pub async fn rules_of_calendars(
        &self,
        actor: &Actor,
        calendars: &[(CalendarId, Option<AgentId>)],
    ) -> Result<BTreeMap<CalendarId, AvailabilityRules>, Refusal> {
        for (_, agent) in calendars {
            actor.for_agent(*agent)?;
        }
        let ids: Vec<CalendarId> = calendars.iter().map(|(calendar, _)| *calendar).collect();
        let found = self.parts.store.rules_of_calendars(actor.org(), &ids).await?;
        Ok(found.into_iter().map(|rules| (rules.calendar, rules)).collect())
    }

    /// Sets the availability rules of a calendar, and replaces existing ones.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`], [`Refusal::Stale`].
    pub async fn put_availability_rules(
        &self,
        actor: &Actor,
        calendar: &str,
        new: NewRules,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::AvailabilityRules>, Refusal> {
        retry_stale(|| async {
            let of = self.calendar(actor, calendar).await?;
            let seen = self.parts.store.find_rules(actor.org(), of.id).await?;
            let now = self.now();
            let rules = match &seen {
                Some(seen) => {
                    if_match.check(seen.version)?;
                    seen.replaced(&of, new.clone(), now)
                }
                None => {
                    if_match.check_absent()?;
                    AvailabilityRules::create(RulesId::new(now, self.entropy()), &of, new.clone(), now)
                }
            };
            let (id, version) = (rules.id.to_string(), rules.version);
            let answer =
                Answered::shows(&actor.request, kalends_wire::AvailabilityRules::from(rules.clone()), Some(version));
            let mut changes = ChangeSet::new(actor.org());
            changes.calendars.push(Change::PutRules { rules, seen: seen.map(|seen| seen.version) });
            self.commit_for(actor, of.agent, id, changes, answer).await
        })
        .await
    }

    /// Deletes the availability rules of a calendar: nothing is restricted any more.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`], [`Refusal::Stale`].
    pub async fn delete_availability_rules(
        &self,
        actor: &Actor,
        calendar: &str,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let of = self.calendar(actor, calendar).await?;
            let seen = self.parts.store.find_rules(actor.org(), of.id).await?;
            let seen = seen.ok_or_else(|| Refusal::missing(Missing::AvailabilityRules, calendar))?;
            if_match.check(seen.version)?;
            let id = seen.id.to_string();
            let mut changes = ChangeSet::new(actor.org());
            changes.calendars.push(Change::DeleteRules(seen));
            self.commit_for(actor, of.agent, id, changes, Answered::nothing(&actor.request)).await
        })
        .await
    }
}
