//! Approvals: how a write is asked for instead of made, and how it is made once it is approved.
//!
//! Every use case ends with a commit. The commit of a request that needs approval is tried and rolled back, like that of a
//! dry run. What its change-set would take on calendars is reserved, and the request is stored. Once it is approved, the
//! same request is made again. Its commit then contains the decision too.

use std::collections::{BTreeMap, BTreeSet};

use kalends_accounts::{Action, Allowance, Limited};
use kalends_approvals::{Approval, BODY_MAX, Change, Outcome, PENDING_MAX, RESERVED_MAX, Reserved, State};
use kalends_calendars::{Change as Scheduled, Event, Reservation};
use kalends_kernel::{ApprovalId, CalendarId, EventId, StoreError, Version};
use kalends_notifications::EventType;
use kalends_runs::Kept;
use kalends_time::{SignedDuration, Span, Timestamp};
use kalends_wire as wire;
use serde_json::Value;

use crate::{
    Answer, App, ChangeSet, Guard, Missing, Refusal, Request, Use,
    answered::json,
    approval_seen::{outdated, seen_by},
    approving::{Approved, Asking},
    attempt::Attempt,
    audit::{By, Subject},
    commits::stored_answer,
    operations::{self, Operation},
};

/// How far ahead the occurrences of a series are reserved.
const RESERVED_AHEAD: SignedDuration = SignedDuration::days(366);

impl App {
    /// The page on which people decide about an approval.
    pub(crate) fn decide_url(&self, id: ApprovalId) -> String {
        format!("{}/approvals/{id}", self.settings().console_url)
    }

    /// Stores a request that needs approval, instead of committing `changes`. They are tried first, so that a request
    /// which would be refused is refused now. Returns the refusal that shows the approval, or why there is none.
    pub(crate) async fn ask(
        &self,
        request: &Request,
        subject: Subject,
        mut changes: ChangeSet,
        asking: &Asking,
    ) -> Attempt {
        let now = self.now();
        let before = match self.events_before(&changes).await {
            Ok(before) => before,
            Err(attempt) => return attempt,
        };
        let mut times = reserved_by(&changes, &before, now);
        if let Err(error) = self.spare_others(&changes, &mut times).await {
            return error.into();
        }
        let lasts_until = now + asking.lasts;
        let hold_ends = holds_end(request.operation, &changes, &before, now);
        let summary = match self.approval_summary(request.operation, &subject.resource, &changes, &before).await {
            Ok(summary) => summary,
            Err(attempt) => return attempt,
        };
        let seen = seen_by(request.operation, &changes, &before);
        // Nothing else may take the times before they are reserved.
        let is_time = |guard: &&Guard| matches!(guard, Guard::CalendarTime { .. } | Guard::CalendarRevision { .. });
        let guards: Vec<Guard> = changes.guards.iter().filter(is_time).copied().collect();
        changes.dry_run = true;
        if let Err(error) = self.store_changes(changes).await {
            return self.refused_commit(error);
        }
        let approval = Approval {
            id: ApprovalId::new(now, self.entropy()),
            org: subject.org,
            key: asking.key,
            key_prefix: asking.key_prefix.clone(),
            agent: asking.agent,
            operation: request.operation.id.to_owned(),
            summary,
            request: asking.request.clone(),
            seen,
            reserved: times,
            mailed: Vec::new(),
            state: State::Pending,
            version: Version::FIRST,
            created_at: now,
            expires_at: hold_ends.map_or(lasts_until, |end| lasts_until.min(end)),
        };
        let pending = self.parts.store.count_pending_approvals(subject.org, asking.key, now).await;
        match pending {
            Ok(pending) if pending < PENDING_MAX => {}
            Ok(_) => return Refusal::TooManyPending.into(),
            Err(error) => return error.into(),
        }
        match self.commit_asked(request, subject, &approval, guards).await {
            Ok(()) => Refusal::AwaitsApproval(Box::new(self.shown_approval(approval))).into(),
            Err(attempt) => attempt,
        }
    }

    /// Adds what ends the approval with which a request is made to its `changes`.
    ///
    /// # Errors
    /// [`Refusal::ApprovalStale`] if a resource has changed since the caller asked; [`Refusal::ApprovalDecided`].
    pub(crate) async fn add_approved(
        &self,
        request: &Request,
        Approved { approval, by }: &Approved,
        answer: &Answer,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let (org, id) = (approval.org, approval.id);
        let missing = || Refusal::missing(Missing::Approval, &id.to_string());
        let current = self.parts.store.find_approval(org, id).await?.ok_or_else(missing)?;
        if current.version != approval.version {
            return Err(Refusal::ApprovalDecided(current.status(self.now())).into());
        }
        let before = self.events_before(changes).await?;
        if outdated(request.operation, &approval.seen, &seen_by(request.operation, changes, &before)) {
            return Err(Refusal::ApprovalStale.into());
        }
        // A calendar is deleted with the events that it had until now.
        let deleted = changes.calendars.iter().filter_map(|change| match change {
            Scheduled::UpdateCalendar { calendar, .. } => calendar.deleted_at.map(|_| calendar),
            _ => None,
        });
        let guards = deleted.map(|calendar| Guard::CalendarRevision { calendar: calendar.id, seen: calendar.revision });
        changes.guards.extend(guards);
        let outcome = outcome(&approval.operation, answer.status, answer.body.clone());
        let decided =
            approval.approved(by, outcome, self.now()).map_err(|decided| Refusal::ApprovalDecided(decided.0))?;
        let subject = Subject { org, agent: Some(approval.agent), resource: id.to_string() };
        let by = By::Request { request, key_prefix: Some(by) };
        let now = self.now();
        changes.audit.push(self.audit_entry(Action::ApprovalApprove, subject, &by, answer.status, now));
        self.add_decision(approval, decided, changes).await
    }

    /// Adds the decision on an approval to `changes`: its new state, the end of its reservations, and the announcement.
    pub(crate) async fn add_decision(
        &self,
        seen: &Approval,
        decided: Approval,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let (org, owner) = (seen.org, seen.id.into());
        for reserved in &seen.reserved {
            // The reservations on a calendar that is no longer visible need not be ended.
            if self.parts.store.source_of_calendar(org, reserved.calendar).await?.is_some() {
                changes.calendars.push(Scheduled::Unreserve { org, calendar: reserved.calendar, owner });
            }
        }
        // The emails of an approval that expires are not sent after that anyway.
        if decided.state != State::Expired {
            self.withdraw_approval_letters(&decided, changes);
        }
        let version = decided.version;
        changes.approvals.push(Change::Decide { approval: Box::new(decided.clone()), seen: seen.version });
        // The result may be long. Readers of the message can read the approval.
        let shown = wire::Approval { result: None, ..self.shown_approval(decided) };
        changes.messages.push(self.message(org, EventType::ApprovalDecided, &shown, version, self.now()));
        Ok(())
    }

    /// The stored events whose times the writes of `changes` may keep.
    async fn events_before(&self, changes: &ChangeSet) -> Result<Vec<Kept>, Attempt> {
        let ids: BTreeSet<EventId> = changes.calendars.iter().flat_map(kin).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<EventId> = ids.into_iter().collect();
        Ok(self.parts.store.kept_events(changes.org, &ids).await?)
    }

    /// Takes the calendars of others out of `times` if `changes` place holds on them. Such holds are limited, and the limit
    /// counts no reservations.
    async fn spare_others(&self, changes: &ChangeSet, times: &mut Vec<Reserved>) -> Result<(), StoreError> {
        let placer = changes.guards.iter().find_map(|guard| match guard {
            Guard::PlacedAtMost { agent, .. } => Some(*agent),
            _ => None,
        });
        let Some(placer) = placer else { return Ok(()) };
        let calendars: BTreeSet<CalendarId> = times.iter().map(|reserved| reserved.calendar).collect();
        let named = self.parts.store.names_of_calendars(changes.org, &calendars).await?;
        times.retain(|reserved| named.get(&reserved.calendar).is_some_and(|calendar| calendar.agent == Some(placer)));
        Ok(())
    }

    async fn commit_asked(
        &self,
        request: &Request,
        subject: Subject,
        approval: &Approval,
        guards: Vec<Guard>,
    ) -> Result<(), Attempt> {
        let (org, owner, expires_at) = (approval.org, approval.id.into(), approval.expires_at);
        let mut asked = ChangeSet::new(org);
        asked.request = Some(request.id);
        asked.guards = guards;
        for Reserved { calendar, spans } in &approval.reserved {
            let reservations = spans.iter().map(|span| Reservation { owner, span: *span, expires_at }).collect();
            asked.calendars.push(Scheduled::Reserve { org, calendar: *calendar, reservations });
        }
        let shown = self.shown_approval(approval.clone());
        let now = approval.created_at;
        asked.messages.push(self.message(org, EventType::ApprovalRequested, &shown, approval.version, now));
        self.add_approval_letters(approval, &mut asked).await?;
        let mailed = asked.letters.iter().map(|letter| letter.recipient).collect();
        asked.approvals.push(Change::Ask(Box::new(Approval { mailed, ..approval.clone() })));
        let answer = awaiting(&shown);
        if let Some(action) = request.operation.action {
            let by = By::Request { request, key_prefix: Some(&approval.key_prefix) };
            asked.audit.push(self.audit_entry(action, subject, &by, answer.status, now));
        }
        asked.answer = stored_answer(request, &answer, now);
        // The write waits even if no more emails may be sent. If not everybody can get one, the first can.
        for most in [usize::MAX, 1] {
            if asked.letters.is_empty() {
                break;
            }
            asked.letters.truncate(most);
            let mut with_letters = asked.clone();
            with_letters.uses.extend(letters_use(&asked, now));
            match self.commit_changes(with_letters).await {
                Err(Attempt::Refused(Refusal::TooMany { limited: Limited::ApprovalMail, .. })) => {}
                outcome => return outcome,
            }
        }
        asked.letters.clear();
        self.commit_changes(asked).await
    }

    /// An approval as callers see it now.
    pub(crate) fn shown_approval(&self, approval: Approval) -> wire::Approval {
        let url = self.decide_url(approval.id);
        wire::Approval::of(approval, url, self.now())
    }
}

/// The answer to a request that waits for approval.
pub(crate) fn awaiting(approval: &wire::Approval) -> Answer {
    let body = json(&wire::AwaitsApproval { approval: approval.clone() });
    Answer { status: 202, body: Some(body), version: None }
}

/// The kept answer to a request that was approved, without the secret address of a calendar's feed: not everybody who may
/// read the approval may read the calendar.
pub(crate) fn outcome(operation: &str, status: u16, body: Option<String>) -> Outcome {
    let is_calendar = operation == operations::UPDATE_CALENDAR.id;
    let body = body.map(|body| if is_calendar { without_field(body, "ical_url") } else { body });
    Outcome { status, body: body.filter(|body| body.len() <= BODY_MAX) }
}

fn without_field(body: String, field: &str) -> String {
    let Ok(Value::Object(mut shown)) = serde_json::from_str(&body) else { return body };
    shown.retain(|name, _| name != field);
    json(&shown)
}

/// The use of the organization's emails about approvals by the letters of `asked`.
fn letters_use(asked: &ChangeSet, now: Timestamp) -> Option<Use> {
    let count = u32::try_from(asked.letters.len()).ok()?;
    Some(Use { allowance: Allowance::approval_mail(asked.org), count, now })
}

/// The stored events whose times a write of an event may keep: the event itself as it was, the series of an occurrence,
/// and the series that this one continues.
fn kin(change: &Scheduled) -> impl Iterator<Item = EventId> {
    let event = change.event();
    let itself = event.filter(|_| !matches!(change, Scheduled::CreateEvent(_))).map(|event| event.id);
    let series = event.and_then(Event::occurrence).map(|occurrence| occurrence.series);
    let earlier = event.and_then(|event| event.previous_series);
    [itself, series, earlier].into_iter().flatten()
}

/// The times that `changes` would take on calendars and that the events `before` do not take already: at most
/// [`RESERVED_MAX`], the first ones. Times that are over do not count.
fn reserved_by(changes: &ChangeSet, before: &[Kept], now: Timestamp) -> Vec<Reserved> {
    let mut times: Vec<(CalendarId, Span)> = Vec::new();
    for change in &changes.calendars {
        if let Scheduled::Reserve { calendar, reservations, .. } = change {
            let ahead = reservations.iter().map(|reservation| reservation.span).filter(|span| span.end() > now);
            times.extend(ahead.map(|span| (*calendar, span)));
        }
        let Some(event) = change.event() else { continue };
        let from = event.times.span.start().max(now);
        let Ok(window) = Span::new(from, from + RESERVED_AHEAD) else { continue };
        let related: Vec<EventId> = kin(change).collect();
        let kept =
            before.iter().filter(|kept| kept.event.calendar == event.calendar && related.contains(&kept.event.id));
        let taken: Vec<Span> = kept.flat_map(|kept| taken_by(&kept.event, window, now)).collect();
        let is_new = |span: &Span| !taken.iter().any(|old| old.start() <= span.start() && span.end() <= old.end());
        let spans = taken_by(event, window, now).into_iter().filter(is_new).take(RESERVED_MAX);
        times.extend(spans.map(|span| (event.calendar, span)));
    }
    times.sort_by_key(|(calendar, span)| (*span, *calendar));
    times.dedup();
    times.truncate(RESERVED_MAX);
    let mut reserved: BTreeMap<CalendarId, Vec<Span>> = BTreeMap::new();
    for (calendar, span) in times {
        reserved.entry(calendar).or_default().push(span);
    }
    reserved.into_iter().map(|(calendar, spans)| Reserved { calendar, spans }).collect()
}

/// The times in `window` that an event takes at `now`: as a hold, itself, or the occurrences of a series.
fn taken_by(event: &Event, window: Span, now: Timestamp) -> Vec<Span> {
    if event.deleted_at.is_some() {
        return Vec::new();
    }
    if event.live_hold(now).is_ok() {
        return Some(event.times.span).filter(|span| span.overlaps(window)).into_iter().collect();
    }
    event.blocked_in(window)
}

/// When the first of the holds that a write places, keeps or confirms expires, as it is or as it would be, if there are any.
/// The write would be refused from then on, so it does not wait longer.
fn holds_end(operation: &Operation, changes: &ChangeSet, before: &[Kept], now: Timestamp) -> Option<Timestamp> {
    let confirms = [operations::CONFIRM_HOLD.id, operations::CONFIRM_HOLD_SET.id].contains(&operation.id);
    let written = || changes.calendars.iter().filter_map(Scheduled::event);
    let is_live = |event: &Event| event.deleted_at.is_none() && event.live_hold(now).is_ok();
    let stays = |old: &&Event| confirms || written().any(|new| new.id == old.id && is_live(new));
    let kept = before.iter().map(|kept| &kept.event).filter(stays);
    let events = written().chain(kept).filter(|event| event.deleted_at.is_none());
    events.filter_map(|event| event.live_hold(now).ok()).map(|hold| hold.expires_at).min()
}
