//! Destinations: the calendars of connected accounts to which the events of our calendars are published.

use kalends_bridge::{Change, ConnectionStatus, Destination, ports::CopyCounts};
use kalends_calendars::Calendar;
use kalends_kernel::{ExternalCalendarId, UserId, Version};
use kalends_wire as wire;

use crate::{Actor, Answered, App, ChangeSet, IfMatch, Missing, Refusal, attempt::retry_stale, console::human};

impl App {
    /// Where the events of a calendar are published, with the version of the row. A destination of another member does
    /// not exist for the caller.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for the calendar or the destination.
    pub async fn destination(
        &self,
        actor: &Actor,
        calendar: &str,
    ) -> Result<(wire::ExternalDestination, Version), Refusal> {
        let (_, user) = human(actor)?;
        let of = self.calendar(actor, calendar).await?;
        let destination = self.own_destination(&of, user, false).await?;
        let connection = match self.connection_of(actor, &destination.connection.to_string()).await {
            Ok(connection) => connection.status(),
            // What cannot be read can only be connected again.
            Err(Refusal::UnreadableConnection) => ConnectionStatus::ReauthorizationRequired,
            // It was deleted in the meantime, and its destinations with it.
            Err(Refusal::NotFound { .. }) => return Err(Refusal::missing(Missing::Destination, calendar)),
            Err(refusal) => return Err(refusal),
        };
        let counts = self.parts.store.count_copies(actor.org(), of.id).await?;
        Ok((wire::ExternalDestination::new(&destination, connection, counts), destination.version))
    }

    /// Publishes the events of a calendar to one of the caller's calendars, or changes where or which.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for either calendar; [`Refusal::Destination`]; [`Refusal::UnreadableConnection`];
    /// [`Refusal::Stale`].
    pub async fn put_destination(
        &self,
        actor: &Actor,
        calendar: &str,
        wanted: wire::WantedDestination,
        if_match: &IfMatch,
    ) -> Result<Answered<wire::ExternalDestination>, Refusal> {
        human(actor)?;
        retry_stale(|| async {
            let (org, now) = (actor.org(), self.now());
            let of = self.calendar(actor, calendar).await?;
            let missing = || Refusal::missing(Missing::ExternalCalendar, &wanted.target);
            let target: ExternalCalendarId = wanted.target.parse().map_err(|_| missing())?;
            let known = self.parts.store.connections_of(org, &[target]).await?;
            let (_, connection) = known.into_iter().find(|(known, _)| *known == target).ok_or_else(missing)?;
            let connection = match self.connection_of(actor, &connection.to_string()).await {
                // It is another member's, or was deleted in the meantime.
                Err(Refusal::NotFound { .. }) => return Err(missing().into()),
                found => found?,
            };
            let seen = self.parts.store.find_destination(org, of.id).await?;
            let destination = match &seen {
                Some(seen) => {
                    // One that is ending is no longer shown.
                    if seen.ending {
                        if_match.check_absent()?;
                    } else {
                        if_match.check(seen.version)?;
                    }
                    seen.changed(&connection, target, wanted.policy, now)?
                }
                None => {
                    if_match.check_absent()?;
                    Destination::create(of.id, &connection, target, wanted.policy, now)?
                }
            };
            let counts = match &seen {
                Some(_) => self.parts.store.count_copies(org, of.id).await?,
                None => CopyCounts::default(),
            };
            let shown = wire::ExternalDestination::new(&destination, connection.status(), counts);
            let answer = Answered::shows(&actor.request, shown, Some(destination.version));
            let mut changes = ChangeSet::new(org);
            let seen = seen.map(|seen| seen.version);
            changes.bridge.push(Change::PutDestination { destination: Box::new(destination), seen });
            self.commit_for(actor, of.agent, of.id.to_string(), changes, answer).await
        })
        .await
    }

    /// Stops publishing the events of a calendar. The copies are deleted, or stay if `keep` is set. `keep` also ends a
    /// deletion of copies that does not end, because the provider refuses it or the account has lapsed.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for the calendar or the destination; [`Refusal::Stale`].
    pub async fn delete_destination(
        &self,
        actor: &Actor,
        calendar: &str,
        keep: bool,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        let (_, user) = human(actor)?;
        retry_stale(|| async {
            let of = self.calendar(actor, calendar).await?;
            let seen = self.own_destination(&of, user, keep).await?;
            if_match.check(seen.version)?;
            let (org, at) = (actor.org(), self.now());
            let mut changes = ChangeSet::new(org);
            changes.bridge.push(Change::EndDestination { org, calendar: of.id, seen: seen.version, keep, at });
            let answer = Answered::nothing(&actor.request);
            self.commit_for(actor, of.agent, of.id.to_string(), changes, answer).await
        })
        .await
    }

    /// The destination of a calendar that the user made. One that is ending is found only if `ending` is set.
    async fn own_destination(&self, calendar: &Calendar, user: UserId, ending: bool) -> Result<Destination, Refusal> {
        let found = self.parts.store.find_destination(calendar.org, calendar.id).await?;
        found
            .filter(|found| found.human == user && (ending || !found.ending))
            .ok_or_else(|| Refusal::missing(Missing::Destination, &calendar.id.to_string()))
    }
}
