//! Replies of attendees, without a key: the link of an invitation is the credential.

use kalends_calendars::{Attendee, AttendeeStatus, Change, Event, Occurrence, ReplyToken, ports::OwnedEvent};
use kalends_kernel::AgentId;
use kalends_notifications::EventType;
use kalends_time::{Timestamp, Zone};
use kalends_wire as wire;

use crate::{
    Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::Subject,
    invitations::zone_of,
};

/// The maximum number of changed occurrences that a reply for their series is for, too. Anybody with the link of an
/// invitation can cause these writes.
const FOLLOWING_MAX: usize = 100;

/// An invitation, from its attendee's side. It shows nobody else.
#[derive(Debug, Clone)]
pub struct InvitationSeen {
    /// The event as it is now: a one-off event, a series, or a changed occurrence.
    pub event: Event,
    /// The attendee.
    pub attendee: Attendee,
    /// Who invites: the name of the calendar's agent, or of the calendar.
    pub organizer: String,
    /// The zone that the event follows: that of its series, or of its calendar.
    pub zone: Zone,
    /// Whether the event, with all of its occurrences, is over.
    pub is_over: bool,
    owner: Option<AgentId>,
    series: Option<Event>,
}

impl InvitationSeen {
    /// Why the attendee cannot reply any more, if that is so.
    pub fn closed(&self) -> Option<&'static str> {
        if !self.event.takes_place() {
            Some("it is cancelled")
        } else if self.is_over {
            Some("it is over")
        } else {
            None
        }
    }
}

impl App {
    /// The invitation that a link opens.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the event is gone, or does not have that attendee.
    pub async fn invitation(&self, token: &str) -> Result<InvitationSeen, Refusal> {
        // Reading a series that is over reads its overrides. One request at a time does so for one event.
        let event = ReplyToken::presented(token).ok_or_else(no_invitation)?.event;
        let _turn = self.changing.lock([event]).await;
        retry_stale(|| self.read_invitation(token)).await
    }

    async fn read_invitation(&self, token: &str) -> Result<InvitationSeen, Attempt> {
        let token = ReplyToken::presented(token).ok_or_else(no_invitation)?;
        let found = self.parts.store.find_event(token.org, token.event).await?;
        let OwnedEvent { event: found, agent: owner, .. } = found.ok_or_else(no_invitation)?;
        let now = self.now();
        let (event, series) = match token.occurrence {
            None => (found, None),
            Some(start) => {
                let occurrence = Occurrence { series: found.id, start };
                let event = self.parts.store.find_override(token.org, occurrence).await?;
                (event.ok_or_else(no_invitation)?, Some(found))
            }
        };
        let attendee = event.attendees.with_secret(token.secret).cloned().ok_or_else(no_invitation)?;
        let calendar = self.parts.store.find_calendar(token.org, event.calendar).await?.ok_or(Attempt::Stale)?;
        let is_to_come = |event: &Event| event.takes_place() && event.times.span.end() > now;
        let is_over = match event.recurrence() {
            None => !is_to_come(&event),
            Some(_) if event.recurs_after(now) => false,
            Some(_) => !self.overrides(&event).await?.iter().any(is_to_come),
        };
        let zone = zone_of(&event, series.as_ref(), calendar.zone);
        let organizer = self.organizer(&calendar).await?;
        Ok(InvitationSeen { event: event.at(now), attendee, organizer, zone, is_over, owner, series })
    }

    /// Records the reply of an attendee. The same reply again changes nothing, but a note is announced each time.
    ///
    /// # Errors
    /// As [`Self::invitation`]; [`Refusal::InvitationOver`] if the event is cancelled or over.
    pub async fn reply(
        &self,
        request: &Request,
        token: &str,
        status: AttendeeStatus,
        note: Option<String>,
    ) -> Result<Answered<InvitationSeen>, Refusal> {
        let event = ReplyToken::presented(token).ok_or_else(no_invitation)?.event;
        let _turn = self.changing.lock([event]).await;
        retry_stale(|| async {
            let seen = self.read_invitation(token).await?;
            if let Some(reason) = seen.closed() {
                return Err(Refusal::InvitationOver(reason).into());
            }
            let now = self.now();
            let replied = seen.event.with_reply(&seen.attendee.email, status, now);
            if replied.is_none() && note.is_none() {
                return Ok(Answered::shows(request, wire::Attendee::from(&seen.attendee), None).map(|_| seen));
            }
            self.record_reply(request, seen, replied, note.clone(), now).await
        })
        .await
    }

    async fn record_reply(
        &self,
        request: &Request,
        seen: InvitationSeen,
        replied: Option<Event>,
        note: Option<String>,
        now: Timestamp,
    ) -> Result<Answered<InvitationSeen>, Attempt> {
        let mut changes = ChangeSet::new(seen.event.org);
        let before = seen.event.version;
        let event = match (replied, &seen.series) {
            // The same reply with a note.
            (None, _) => seen.event.clone(),
            (Some(replied), None) => {
                let rows = self.overrides(&seen.event).await?;
                let to_come = rows.iter().filter(|row| row.times.span.end() > now);
                let following = to_come.filter_map(|row| {
                    let event = row.following_reply(&seen.event, &replied, &seen.attendee.email)?;
                    Some(Change::UpdateEvent { event, seen: row.version })
                });
                changes.calendars.extend(following.take(FOLLOWING_MAX));
                replied
            }
            (Some(replied), Some(series)) => {
                let (after, event) = series.with_override(replied, now).ok_or(Attempt::Stale)?;
                changes.calendars.push(Change::UpdateEvent { event: after, seen: series.version });
                event
            }
        };
        if event.version != before {
            changes.calendars.push(Change::UpdateEvent { event: event.clone(), seen: before });
        }
        let attendee = event.attendees.get(&seen.attendee.email).cloned().ok_or(Attempt::Stale)?;
        let payload = wire::AttendeeResponded::new(&event, &attendee, note);
        let about = EventType::EventAttendeeResponded;
        changes.messages.push(self.message(event.org, about, &payload, event.version, now));
        let subject = Subject { org: event.org, agent: seen.owner, resource: payload.event_id };
        let answer = Answered::shows(request, payload.attendee, None);
        let answer = answer.map(|_| InvitationSeen { event, attendee, ..seen });
        let committed = self.commit(request, None, subject, changes, answer).await;
        committed.map_err(|attempt| match attempt {
            // The account was deleted in the meantime, and its events with it.
            Attempt::Refused(Refusal::Unauthorized) => Attempt::Refused(no_invitation()),
            attempt => attempt,
        })
    }
}

fn no_invitation() -> Refusal {
    // The token is a secret, so the error does not repeat it.
    Refusal::missing(Missing::Invitation, "at this address")
}
