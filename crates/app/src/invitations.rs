//! Invitations: emails to the attendees of an event.

use kalends_calendars::{Attendee, Attendees, Calendar, ChangedOverride, Event, Invite, Recurrence, ReplyToken};
use kalends_feeds::write::{Meeting, Method, Party};
use kalends_i18n::Translator;
use kalends_kernel::{FieldError, Foreign};
use kalends_notifications::About;
use kalends_time::{Timestamp, Zone};

use crate::{
    Actor, App, ChangeSet, Missing, Refusal,
    attempt::Attempt,
    letters::{self, Gathering, When},
    ports::CalendarPart,
};

/// The maximum number of invitations of one request.
const INVITATIONS_MAX: usize = 200;
/// The largest size of the invitations of one request, in bytes.
const INVITATIONS_BYTES_MAX: usize = 8 << 20;

/// An event whose attendees get an email about its change.
pub(crate) struct Invited<'a> {
    /// The event as it was; `None` if it is new.
    pub(crate) before: Option<&'a Event>,
    /// The event as it will be, with links for its attendees ([`App::linked`]).
    pub(crate) event: &'a Event,
    /// The series as it will be, if the event is one of its occurrences.
    pub(crate) series: Option<&'a Event>,
    /// The overrides as they will be, if the event is a series.
    pub(crate) overrides: &'a [Event],
}

impl<'a> Invited<'a> {
    /// An event that is no series with overrides, and no occurrence.
    pub(crate) const fn new(before: Option<&'a Event>, event: &'a Event) -> Self {
        Self { before, event, series: None, overrides: &[] }
    }

    /// What letters about the event are about.
    fn about(&self) -> About {
        match self.event.occurrence() {
            Some(of) => About { event: of.series, occurrence: Some(of.start) },
            None => About::event(self.event.id),
        }
    }

    /// The event as a cancellation shows it: as it was when its attendee last heard of it, with the new version.
    fn cancelled(&self) -> Event {
        let Event { version, updated_at, deleted_at, .. } = *self.event;
        Event { version, updated_at, deleted_at, ..self.before.unwrap_or(self.event).clone() }
    }
}

/// A series whose attendees, and those of its overrides, get emails about its change.
pub(crate) struct InvitedSeries<'a> {
    /// The series as it was; `None` if it is new.
    pub(crate) before: Option<&'a Event>,
    /// The series as it will be, with links for its attendees.
    pub(crate) event: &'a Event,
    /// Its overrides as they were; those of a new series were another's.
    pub(crate) rows: Vec<Event>,
    /// What becomes of the overrides that change.
    pub(crate) changed: &'a [ChangedOverride],
}

impl App {
    /// The event, with a link for every attendee if invitations are sent.
    pub(crate) fn linked(&self, event: Event, send: bool) -> Event {
        if send { event.with_links(self.entropy()) } else { event }
    }

    /// [`Self::linked`] for the overrides that change with a series.
    pub(crate) fn linked_overrides(&self, changed: Vec<ChangedOverride>, send: bool) -> Vec<ChangedOverride> {
        let linked = |of: ChangedOverride| {
            let after = of.after.map(|event| self.linked(event, send));
            ChangedOverride { before: of.before, after }
        };
        changed.into_iter().map(linked).collect()
    }

    /// Checks that the organization has every agent that stands for a new attendee. `before` are the earlier attendees,
    /// whose agents may have been decommissioned since.
    ///
    /// # Errors
    /// Names the attendee, such as `attendees[2].agent_id`.
    pub(crate) async fn know_agents(
        &self,
        actor: &Actor,
        before: &Attendees,
        attendees: &Attendees,
    ) -> Result<(), Refusal> {
        let new = |of: &Attendee| of.agent.filter(|_| before.get(&of.email).and_then(|known| known.agent) != of.agent);
        let mut agents: Vec<_> = attendees.as_slice().iter().filter_map(new).collect();
        agents.sort_unstable();
        agents.dedup();
        if agents.is_empty() {
            return Ok(());
        }
        let living = self.parts.store.living_agents(actor.org(), &agents).await?;
        let is_known = |of: &Attendee| new(of).is_none_or(|agent| living.iter().any(|living| living.id == agent));
        match attendees.as_slice().iter().position(|attendee| !is_known(attendee)) {
            Some(index) => Err(kalends_calendars::no_such_agent(&format!("attendees[{index}]")).into()),
            None => Ok(()),
        }
    }

    /// Adds the emails to the attendees of an event to `changes`: invitations, and cancellations to those who are no
    /// longer invited.
    ///
    /// # Errors
    /// [`Refusal::Unverified`]; [`Refusal::Invalid`] if the request sends too many. Stale if the calendar is no longer
    /// visible.
    pub(crate) async fn invite(
        &self,
        actor: &Actor,
        invited: Invited<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        actor.may_invite()?;
        let Invited { before, event, series, overrides } = invited;
        let invites = event.invites(before);
        if invites.is_empty() {
            return Ok(());
        }
        within_count(changes.letters.len() + invites.len())?;
        let calendar = self.parts.store.find_calendar(event.org, event.calendar).await?.ok_or(Attempt::Stale)?;
        let organizer = Foreign::new(&self.organizer(&calendar).await?);
        let (sender, base) = (self.parts.mailer.sender(), &self.parts.settings.base_url);
        let shown = |event: &Event| {
            Gathering::new(
                event,
                When::of(event.times, zone_of(event, series, calendar.zone), Translator::english()),
                organizer.clone(),
            )
        };
        let cancelled = invited.cancelled();
        let (asks, cancels) = (shown(event), shown(&cancelled));
        let meeting = Meeting::new(calendar.zone, event, series, overrides);
        let ended = Meeting::new(calendar.zone, &cancelled, series, &[]);
        for invite in invites {
            let (method, attendee) = match invite {
                Invite::Request(attendee) => (Method::Request, attendee),
                Invite::Cancel(attendee) => (Method::Cancel, attendee),
            };
            let reply = ReplyToken::of(event, attendee).filter(|_| method == Method::Request);
            let reply = reply.map(|token| format!("{base}/rsvp/{}", token.reveal()));
            let knew = [before, series].into_iter().flatten().filter_map(|known| known.attendees.get(&attendee.email));
            let mut mail = match &reply {
                Some(link) => {
                    let changed = knew.into_iter().any(|known| known.secret.is_some()) && before.is_some();
                    letters::invited(&attendee.email, &asks, changed, link)
                }
                None => letters::uninvited(&attendee.email, &cancels, event.takes_place()),
            };
            let part = if method == Method::Request { &meeting } else { &ended };
            let text = part.to(&Party {
                method,
                organizer: (&organizer, &sender),
                attendee,
                link: reply.as_deref().map(|link| ("Reply:", link)),
                takes_place: event.takes_place(),
                written: now,
            });
            mail.calendar = Some(CalendarPart { method, text });
            self.write_letter(&mail, invited.about(), now, changes);
            within_bytes(changes)?;
        }
        Ok(())
    }

    /// [`Self::invite`] for a series, and for those whom the messages about the series do not reach: the attendees of
    /// single overrides.
    pub(crate) async fn invite_to_series(
        &self,
        actor: &Actor,
        invited: InvitedSeries<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let InvitedSeries { before, event, rows, changed } = invited;
        let kept = event.recurrence().filter(|_| event.deleted_at.is_none());
        let after = |row: &Event| match changed.iter().find(|changed| changed.before.id == row.id) {
            Some(changed) => changed.after.clone(),
            None => Some(row.clone()).filter(|row| {
                row.occurrence().is_some_and(|of| {
                    of.series == event.id && kept.is_some_and(|kept| kept.overridden().binary_search(&of.start).is_ok())
                })
            }),
        };
        let pairs: Vec<(Event, Option<Event>)> = rows.into_iter().map(|row| (row.clone(), after(&row))).collect();
        let overrides: Vec<Event> = pairs.iter().filter_map(|(_, after)| after.clone()).collect();
        let nobody = Attendees::default();
        let known = before.map_or(&nobody, |before| &before.attendees);
        // Those who get the series, with its overrides.
        let asked = if event.takes_place() { &event.attendees } else { &nobody };
        // An override of another series was announced there.
        let is_own =
            |row: &Event| before.is_some_and(|before| row.occurrence().is_some_and(|of| of.series == before.id));
        // An occurrence that goes, or gets another original start, ends as one of the series as it was.
        if let Some(before) = before {
            let series = Event { version: event.version, updated_at: event.updated_at, ..before.clone() };
            let keeps = |row: &Event, after: &Option<Event>| {
                after.as_ref().is_some_and(|after| after.occurrence() == row.occurrence())
            };
            for (row, after) in pairs.iter().filter(|(row, after)| is_own(row) && !keeps(row, after)) {
                let was = row.only_others_than(&[known, asked]);
                // An occurrence that moves is news only to those who were invited.
                let was = if after.is_some() { was.only_linked() } else { was };
                let gone = Event { attendees: Attendees::default(), ..row.deleted(now)? };
                let invited = Invited { before: Some(&was), event: &gone, series: Some(&series), overrides: &[] };
                self.invite(actor, invited, now, changes).await?;
            }
        }
        self.invite(actor, Invited { before, event, series: None, overrides: &overrides }, now, changes).await?;
        for (row, after) in pairs {
            let Some(after) = after.filter(|after| row.takes_place() || after.takes_place()) else { continue };
            let stays = is_own(&row) && after.occurrence() == row.occurrence();
            // Somebody who was never invited stays on the list, and gets nothing.
            let was = stays.then(|| row.only_others_than(&[known, asked]).only_linked());
            let is = after.only_others_than(&[asked]).only_linked();
            // The cancellation of a series ends its occurrences in the calendar of each recipient.
            let was_ended = is.attendees.as_slice().iter().any(|of| known.get(&of.email).is_some());
            if stays && after == row && !was_ended {
                continue;
            }
            let invited = Invited { before: was.as_ref(), event: &is, series: Some(event), overrides: &[] };
            self.invite(actor, invited, now, changes).await?;
        }
        Ok(())
    }

    /// The overrides of a series that get its new attendees, because they have no list of their own.
    pub(crate) async fn overrides_with_attendees(
        &self,
        before: &Event,
        after: &Event,
    ) -> Result<Vec<ChangedOverride>, Attempt> {
        if before.attendees == after.attendees {
            return Ok(Vec::new());
        }
        let dropped = before.overrides_dropped_by(after);
        let is_kept = |of: &Event| of.occurrence().is_some_and(|of| dropped.binary_search(&of.start).is_err());
        let rows = self.overrides(before).await?.into_iter().filter(is_kept);
        let changed = rows.filter_map(|row| {
            let after = row.following_attendees(before, after)?;
            Some(ChangedOverride { before: row, after: Some(after) })
        });
        Ok(changed.collect())
    }

    /// The name of the organizer of a calendar's events, as attendees see it: that of the calendar's agent, or else of the
    /// calendar.
    pub(crate) async fn organizer(&self, calendar: &Calendar) -> Result<String, Refusal> {
        let Some(agent) = calendar.agent else { return Ok(calendar.name.clone()) };
        let found = self.parts.store.find_agent(calendar.org, agent).await?;
        found.map(|agent| agent.name).ok_or_else(|| Refusal::missing(Missing::Agent, &agent.to_string()))
    }
}

/// The zone by whose clocks attendees see an event on a calendar in the zone `calendar`: that of its series, if it has one.
/// Whole days of an occurrence are days of the calendar, unless the series itself takes whole days.
pub(crate) fn zone_of(event: &Event, series: Option<&Event>, calendar: Zone) -> Zone {
    let of = series.unwrap_or(event);
    if event.times.all_day && !of.times.all_day {
        return calendar;
    }
    of.recurrence().map_or(calendar, Recurrence::zone)
}

/// Checks the number of emails of one request.
fn within_count(count: usize) -> Result<(), FieldError> {
    if count <= INVITATIONS_MAX {
        return Ok(());
    }
    let message = format!(
        "must be false here: one request sends at most {INVITATIONS_MAX} invitations, and this one would send {count}; \
         send them in several requests"
    );
    Err(FieldError::new("send_invitations", message))
}

/// Checks the size of the emails of one request.
fn within_bytes(changes: &ChangeSet) -> Result<(), FieldError> {
    let bytes: usize = changes.letters.iter().map(|letter| letter.content.len()).sum();
    if bytes <= INVITATIONS_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "must be false here: the invitations would take more than {} MiB; invite fewer attendees, or shorten the \
         descriptions of changed occurrences",
        INVITATIONS_BYTES_MAX >> 20
    );
    Err(FieldError::new("send_invitations", message))
}
