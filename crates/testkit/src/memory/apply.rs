//! Applying a change-set.

use std::collections::{BTreeSet, btree_map::Entry};

use kalends_accounts::{Claim, ClaimState, EndedKey, Organization, Taken};
use kalends_app::{ChangeSet, Charge, Guard, StoredAnswer, Use, ports::CommitError};
use kalends_calendars::{AgentStatus, AvailabilityRules, Calendar, Event, EventSource, Reservation, calendars_revised};
use kalends_kernel::{CalendarId, OrgId, Revision, StoreError, Version};
use kalends_notifications::Letter;
use kalends_plans::Metric;
use kalends_time::Timestamp;

use super::state::{LetterRow, MovedRow, ReservationRow, State};

impl State {
    /// Returns the state after `changes`. The state itself does not change, so an error leaves nothing behind.
    ///
    /// If several conditions fail, the first in this order is returned: a stored answer, a missing organization, a
    /// stale row, a limit. A repeated request therefore gets its answer, even if the first one used up the quota.
    pub(super) fn applied(&self, changes: &ChangeSet) -> Result<Self, CommitError> {
        let mut next = self.clone();
        if let Some(answer) = &changes.answer {
            next.store(answer)?;
        }
        if changes.presumes_organization() && !self.organizations.contains_key(&changes.org) {
            return Err(CommitError::NoOrganization);
        }
        self.check_revisions(changes)?;
        for change in &changes.accounts {
            next.apply_to_accounts(change)?;
        }
        for change in &changes.calendars {
            next.apply_to_calendars(change)?;
        }
        for change in &changes.webhooks {
            next.apply_to_webhooks(change)?;
        }
        for change in &changes.feeds {
            next.apply_to_feeds(change)?;
        }
        for change in &changes.proposals {
            next.apply_to_proposals(change)?;
        }
        for change in &changes.bookings {
            next.apply_to_bookings(change)?;
        }
        for change in &changes.bridge {
            next.apply_to_bridge(change)?;
        }
        for change in &changes.runs {
            next.apply_to_runs(changes.org, change)?;
        }
        for change in &changes.approvals {
            next.apply_to_approvals(change)?;
        }
        for calendar in calendars_revised(&changes.calendars) {
            next.raise_revision(changes.org, calendar);
        }
        next.stamp(changes);
        for charge in &changes.charges {
            next.charge(changes.org, charge)?;
        }
        next.check_counts(changes)?;
        for used in &changes.uses {
            next.take(used)?;
        }
        for withdrawn in &changes.withdrawn {
            next.withdraw_letters(changes.org, *withdrawn);
        }
        for letter in &changes.letters {
            let due_at = changes.letters_due().unwrap_or(letter.created_at);
            let row = LetterRow { letter: Letter { envelope: None, ..letter.clone() }, due_at, fence: 0, put_off: 0 };
            create(next.letters.entry((letter.org, letter.id)), &row)?;
            if let Some(record) = letter.record(due_at) {
                create(next.letter_records.entry((letter.org, letter.id)), &record)?;
            }
        }
        if changes.alters_principals() {
            next.epoch += 1;
        }
        for message in &changes.messages {
            next.announce(message)?;
        }
        next.append_to_feed(changes);
        for entry in &changes.audit {
            create(next.audit.entry((entry.org, entry.id)), entry)?;
        }
        Ok(next)
    }

    /// An expired answer makes room for a new one.
    fn store(&mut self, answer: &StoredAnswer) -> Result<(), CommitError> {
        if self.answers.get(&answer.scope).is_some_and(|stored| answer.created_at < stored.expires_at) {
            return Err(CommitError::AlreadyAnswered);
        }
        self.answers.insert(answer.scope, answer.clone());
        Ok(())
    }

    fn check_revisions(&self, changes: &ChangeSet) -> Result<(), CommitError> {
        for guard in &changes.guards {
            let holds = match *guard {
                Guard::CalendarRevision { calendar, seen } => {
                    self.calendar(changes.org, calendar).is_some_and(|calendar| calendar.revision == seen)
                }
                Guard::CalendarTime { calendar, seen, window } => {
                    self.calendar(changes.org, calendar).is_some() && !self.reached(changes.org, calendar, seen, window)
                }
                Guard::CalendarsOfAgent { agent, count } => {
                    let own = self.visible_calendars(changes.org).filter(|calendar| calendar.agent == Some(agent));
                    own.count() as u64 == count
                }
                Guard::AtMost { .. }
                | Guard::SeriesAtMost { .. }
                | Guard::PlacedAtMost { .. }
                | Guard::Guests { .. } => true,
            };
            if !holds {
                return Err(CommitError::Stale);
            }
        }
        Ok(())
    }

    fn check_counts(&self, changes: &ChangeSet) -> Result<(), CommitError> {
        for guard in &changes.guards {
            let (metric, limit, count) = match *guard {
                Guard::AtMost { metric, limit } => (metric, limit, self.existing(changes.org, metric)),
                Guard::SeriesAtMost { limit, now } => {
                    (Metric::RecurringEvents, limit, self.series_after(changes.org, now))
                }
                Guard::PlacedAtMost { agent, limit, now } => {
                    if self.placed_holds(changes.org, agent, now) > limit {
                        return Err(CommitError::Stale);
                    }
                    continue;
                }
                Guard::Guests { event, count } => {
                    if self.guests_of(changes.org, event).count() as u64 != count {
                        return Err(CommitError::Stale);
                    }
                    continue;
                }
                Guard::CalendarRevision { .. } | Guard::CalendarTime { .. } | Guard::CalendarsOfAgent { .. } => {
                    continue;
                }
            };
            if count > limit {
                return Err(CommitError::LimitReached { metric, limit });
            }
        }
        Ok(())
    }

    /// How many visible series have an occurrence that ends after `now`.
    pub(super) fn series_after(&self, org: OrgId, now: Timestamp) -> u64 {
        let series = self
            .visible_events(org)
            .filter(|(event, _)| event.source == EventSource::Internal && event.recurs_after(now));
        series.count().try_into().unwrap_or(u64::MAX)
    }

    /// How much of a metric the organization has at `now`.
    pub(super) fn existing_at(&self, org: OrgId, metric: Metric, now: Timestamp) -> u64 {
        if metric == Metric::RecurringEvents { self.series_after(org, now) } else { self.existing(org, metric) }
    }

    /// How much of a metric the organization has now.
    pub(super) fn existing(&self, org: OrgId, metric: Metric) -> u64 {
        let existing = match metric {
            Metric::Agents => self.agents.values().filter(|agent| agent.org == org && agent.living().is_ok()).count(),
            Metric::Calendars => self.visible_calendars(org).count(),
            Metric::ScopedKeys => self.scoped_keys_in_force(org).count(),
            Metric::WebhookEndpoints => self.webhooks.keys().filter(|(by, _)| *by == org).count(),
            Metric::IcalSubscriptions => self.visible_subscriptions(org).count(),
            Metric::BookingPages => self.visible_booking_pages(org).count(),
            Metric::ImportedEvents => {
                let imported = self.events.values().filter(|event| event.org == org);
                let imported = imported.filter(|event| event.source == EventSource::ExternalIcal).count();
                let claimed = self.subscriptions.values().filter(|row| row.subscription.org == org);
                let claimed = claimed.filter(|row| row.claimed_until.is_some());
                return imported as u64 + claimed.map(|row| row.reserved).sum::<u64>();
            }
            // `Guard::SeriesAtMost` counts these, since they end by themselves.
            Metric::RecurringEvents => 0,
            // These count by the month, and are guarded by `Charge`.
            Metric::Events
            | Metric::ApiCalls
            | Metric::WebhookDeliveries
            | Metric::AvailabilityQueries
            | Metric::Proposals => 0,
        };
        existing.try_into().unwrap_or(u64::MAX)
    }

    fn charge(&mut self, org: OrgId, charge: &Charge) -> Result<(), CommitError> {
        let used = self.used.entry((org, charge.metric, charge.period)).or_default();
        *used = used.saturating_add(charge.amount);
        match charge.limit {
            Some(limit) if *used > limit => Err(CommitError::LimitReached { metric: charge.metric, limit }),
            _ => Ok(()),
        }
    }

    fn take(&mut self, used: &Use) -> Result<(), CommitError> {
        let Use { allowance, count, now } = used;
        match allowance.take_many(self.allowances.get(&allowance.scope).map(|(used, _)| *used), *count, *now) {
            Taken::Granted(used) => {
                self.allowances.insert(allowance.scope, (used, allowance.org));
                Ok(())
            }
            Taken::Refused { retry_after } => Err(CommitError::TooMany { limited: allowance.limited, retry_after }),
        }
    }

    fn apply_to_accounts(&mut self, change: &kalends_accounts::Change) -> Result<(), CommitError> {
        use kalends_accounts::Change;
        match change {
            Change::CreateOrganization(organization) => {
                self.check_address(organization)?;
                create(self.organizations.entry(organization.id), organization)?;
            }
            Change::UpdateOrganization { organization, seen } => {
                self.check_address(organization)?;
                let row = self.organizations.get_mut(&organization.id).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                row.clone_from(organization);
            }
            Change::CreateKey(key) => {
                let taken = self.keys.values().any(|other| other.hash == key.hash || other.id == key.id);
                if taken {
                    return Err(duplicate());
                }
                self.keys.insert(key.hash, key.clone());
            }
            Change::CreateScopedKey(key) => {
                if !self.agent_lives(key.org, key.agent) {
                    return Err(CommitError::Stale);
                }
                let taken = self.keys.contains_key(&key.hash)
                    || self.scoped_keys.values().any(|other| other.hash == key.hash || other.id == key.id);
                if taken {
                    return Err(duplicate());
                }
                self.scoped_keys.insert((key.org, key.id), key.clone());
            }
            Change::RevokeKey { org, key, at: _ } => {
                let scoped = self.scoped_keys.remove(&(*org, *key));
                let scoped = scoped.map(|key| (key.hash, Some(key.agent), key.prefix));
                let own = self.keys.extract_if(|_, other| (other.org, other.id) == (*org, *key)).next();
                let own = own.map(|(hash, key)| (hash, None, key.prefix));
                let (hash, agent, prefix) = scoped.or(own).ok_or(CommitError::Stale)?;
                self.revoked_keys.insert(hash, EndedKey { org: *org, agent, prefix });
            }
            Change::RevokeKeys { org, of_agents, at: _ } => {
                self.keys.retain(|_, key| key.org != *org);
                self.scoped_keys.retain(|_, key| key.org != *org || !of_agents);
            }
            Change::PutCode { code, seen } => {
                if self.codes.get(&code.org).map(|code| code.version) != *seen {
                    return Err(CommitError::Stale);
                }
                self.codes.insert(code.org, code.clone());
            }
            Change::RecordAcceptance { org, acceptance } => self.acceptances.push((Some(*org), acceptance.clone())),
            Change::CreateClaim(claim) => {
                let waits = |other: &Claim| {
                    matches!(other.state, ClaimState::Initiated { .. })
                        && (other.user, other.address) == (claim.user, claim.address)
                };
                if waits(claim) && self.claims.values().any(waits) {
                    return Err(CommitError::Stale);
                }
                create(self.claims.entry(claim.id), claim)?;
            }
            Change::UpdateClaim { claim, seen } => {
                let held = |other: &Claim| matches!(other.state, ClaimState::Held { .. }) && other.org == claim.org;
                if held(claim) && self.claims.values().any(|other| other.id != claim.id && held(other)) {
                    return Err(CommitError::Stale);
                }
                let row = self.claims.get_mut(&claim.id).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                *row = *claim;
            }
            Change::DeleteOrganization { org, seen, at } => {
                let row = self.organizations.get(org).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                self.organizations.remove(org);
                self.keys.retain(|_, key| key.org != *org);
                // Nothing more is sent.
                self.letters.retain(|(by, _), _| by != org);
                self.webhooks.retain(|(by, _), _| by != org);
                self.queues.retain(|(by, _), _| by != org);
                self.subscriptions.retain(|(by, _), _| by != org);
                self.booking_pages.retain(|(by, _), _| by != org);
                self.links.retain(|(by, _), _| by != org);
                self.connections.retain(|(by, _), _| by != org);
                self.members.retain(|(by, _), _| by != org);
                self.invitations.retain(|(by, _), _| by != org);
                self.sessions.retain(|_, session| session.org != Some(*org));
                self.scoped_keys.retain(|_, key| key.org != *org);
                self.own_keys_used.retain(|(by, _), _| by != org);
                self.used_keys.remove(org);
                self.revoked_keys.retain(|_, key| key.org != *org);
                self.authorization_codes.retain(|_, code| code.org != *org);
                self.refresh_tokens.retain(|_, token| token.org != *org);
                for (by, _) in &mut self.acceptances {
                    by.take_if(|by| by == org);
                }
                self.deletions.insert(*org, *at);
            }
            Change::GrantCode(_)
            | Change::UseCode { .. }
            | Change::RenewKey { .. }
            | Change::PutRefreshToken(_)
            | Change::SpendRefreshToken { .. } => self.apply_to_connectors(change)?,
            Change::PutUserToken(_)
            | Change::UseUserToken(_)
            | Change::PutSecondFactor(_)
            | Change::ConfirmSecondFactor(_)
            | Change::UseSecondFactor { .. }
            | Change::PutRecoveryCodes { .. }
            | Change::RemoveSecondFactor(_)
            | Change::AddIdentity(_)
            | Change::RemoveIdentities(_)
            | Change::CreateUser(_)
            | Change::UpdateUser { .. }
            | Change::AddOwner { .. }
            | Change::AddMember { .. }
            | Change::ChangeRole { .. }
            | Change::RemoveMember { .. }
            | Change::RaiseUser { .. }
            | Change::PutInvitation(_)
            | Change::RemoveInvitation { .. }
            | Change::DeleteUser { .. }
            | Change::CreateSession { .. }
            | Change::SwitchSession { .. }
            | Change::EndSessions { .. } => self.apply_to_people(change)?,
        }
        Ok(())
    }

    /// An address belongs to one organization.
    fn check_address(&self, organization: &Organization) -> Result<(), CommitError> {
        let taken = self
            .organizations
            .values()
            .any(|other| other.id != organization.id && other.email.is_some() && other.email == organization.email);
        if taken { Err(CommitError::EmailTaken) } else { Ok(()) }
    }

    fn apply_to_calendars(&mut self, change: &kalends_calendars::Change) -> Result<(), CommitError> {
        use kalends_calendars::Change;
        match change {
            Change::CreateAgent(agent) => create(self.agents.entry((agent.org, agent.id)), agent)?,
            Change::UpdateAgent { agent, seen } => {
                let row = self.agents.get_mut(&(agent.org, agent.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                row.clone_from(agent);
                if agent.status == AgentStatus::Decommissioned {
                    let calendars = self.calendars.values().filter(|calendar| calendar.agent == Some(agent.id));
                    let calendars: BTreeSet<_> = calendars.map(|calendar| calendar.id).collect();
                    self.publish_again(agent.org, |destination| calendars.contains(&destination.calendar));
                }
            }
            Change::CreateCalendar(calendar) => {
                if !calendar.agent.is_none_or(|agent| self.agent_lives(calendar.org, agent)) {
                    return Err(CommitError::Stale);
                }
                self.check_feed_token(calendar)?;
                create(self.calendars.entry((calendar.org, calendar.id)), calendar)?;
            }
            Change::UpdateCalendar { calendar, seen } => {
                self.check_feed_token(calendar)?;
                let row = self.calendars.get_mut(&(calendar.org, calendar.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                let new_reminders = row.default_reminders != calendar.default_reminders;
                let publish = calendar.deleted_at.is_some() || row.zone != calendar.zone;
                *row = Calendar { revision: row.revision, publication: row.publication, ..calendar.clone() };
                if new_reminders {
                    self.mark_for_recompute(calendar);
                }
                if publish {
                    self.publish_again(calendar.org, |destination| destination.calendar == calendar.id);
                }
            }
            Change::CreateEvent(event) => {
                self.check_calendar_of(event)?;
                create(self.events.entry((event.org, event.id)), event)?;
                self.keep_timer(event);
            }
            Change::UpdateEvent { event, seen } => {
                self.check_calendar_of(event)?;
                let row = self.events.get_mut(&(event.org, event.id)).ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                row.clone_from(event);
                self.keep_timer(event);
            }
            Change::MoveEvent { event, seen, from } => {
                self.check_calendar_of(event)?;
                self.calendar(event.org, *from).ok_or(CommitError::Stale)?;
                let row = self.events.get_mut(&(event.org, event.id)).filter(|row| row.calendar == *from);
                let row = row.ok_or(CommitError::Stale)?;
                unchanged(row.version, *seen)?;
                row.clone_from(event);
                self.moved.remove(&(event.org, event.calendar, event.id));
                self.move_timer(event, *from);
                self.keep_timer(event);
            }
            Change::PlaceHolds { org, set, agent } => {
                self.placed.insert((*org, *set), *agent);
            }
            Change::AdvanceTimer(advance) => self.advance(advance)?,
            // The reservation is written later, when the revision of its calendar has been raised.
            Change::Reserve { org, calendar, .. } => {
                self.calendar(*org, *calendar).ok_or(CommitError::Stale)?;
            }
            Change::Unreserve { org, calendar, owner } => {
                self.calendar(*org, *calendar).ok_or(CommitError::Stale)?;
                let ended =
                    |row: &ReservationRow| (row.org, row.calendar, row.reservation.owner) == (*org, *calendar, *owner);
                self.reservations.retain(|row| !ended(row));
            }
            Change::PutRules { rules, seen } => {
                let key = (rules.org, rules.calendar);
                self.check_rules(key, *seen)?;
                self.rules.insert(key, rules.clone());
            }
            Change::DeleteRules(rules) => {
                let key = (rules.org, rules.calendar);
                self.check_rules(key, Some(rules.version))?;
                self.rules.remove(&key);
            }
        }
        Ok(())
    }

    /// The calendar must be visible, and its rules must have the version that was seen.
    fn check_rules(&self, key: (OrgId, CalendarId), seen: Option<Version>) -> Result<(), CommitError> {
        self.calendar(key.0, key.1).ok_or(CommitError::Stale)?;
        if self.rules.get(&key).map(|row| row.version) == seen { Ok(()) } else { Err(CommitError::Stale) }
    }

    fn check_feed_token(&self, calendar: &Calendar) -> Result<(), CommitError> {
        let taken =
            self.calendars.values().any(|other| other.id != calendar.id && other.feed_token == calendar.feed_token);
        if taken { Err(duplicate()) } else { Ok(()) }
    }

    fn check_calendar_of(&self, event: &Event) -> Result<(), CommitError> {
        self.calendar(event.org, event.calendar).map(|_| ()).ok_or(CommitError::Stale)
    }

    /// Records the revision of its calendar for everything that was written.
    fn stamp(&mut self, changes: &ChangeSet) {
        use kalends_calendars::Change;
        let org = changes.org;
        for change in &changes.calendars {
            let revision =
                |calendar: CalendarId| self.calendars.get(&(org, calendar)).map_or(Revision(0), |row| row.revision);
            if let Some(event) = change.event() {
                let at = revision(event.calendar);
                if let Change::MoveEvent { from, .. } = change {
                    let left =
                        MovedRow { occurrence: event.occurrence(), revision: revision(*from), at: event.updated_at };
                    self.moved.insert((org, *from, event.id), left);
                }
                self.event_revisions.insert((org, event.id), at);
            }
            match change {
                Change::PutRules { rules: AvailabilityRules { calendar, .. }, .. }
                | Change::DeleteRules(AvailabilityRules { calendar, .. }) => {
                    let at = revision(*calendar);
                    self.rules_revisions.insert((org, *calendar), at);
                }
                Change::Reserve { calendar, reservations, .. } => {
                    let revision = revision(*calendar);
                    let row = |reservation: &Reservation| ReservationRow {
                        org,
                        calendar: *calendar,
                        reservation: *reservation,
                        revision,
                    };
                    self.reservations.extend(reservations.iter().map(row));
                }
                _ => {}
            }
        }
    }

    fn raise_revision(&mut self, org: OrgId, calendar: CalendarId) {
        if let Some(row) = self.calendars.get_mut(&(org, calendar)) {
            row.revision.0 += 1;
        }
        self.publish_revision(org, calendar);
    }
}

pub(super) fn create<K: Ord, V: Clone>(entry: Entry<'_, K, V>, row: &V) -> Result<(), CommitError> {
    match entry {
        Entry::Vacant(vacant) => {
            vacant.insert(row.clone());
            Ok(())
        }
        Entry::Occupied(_) => Err(duplicate()),
    }
}

/// Identifiers and tokens are random, so a duplicate is a bug and not the fault of a request.
pub(super) fn duplicate() -> CommitError {
    CommitError::Store(StoreError::Failed("a row with this key already exists".into()))
}

pub(super) fn unchanged(version: Version, seen: Version) -> Result<(), CommitError> {
    if version == seen { Ok(()) } else { Err(CommitError::Stale) }
}
