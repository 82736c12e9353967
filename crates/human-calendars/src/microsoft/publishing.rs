//! Copies of our events in a calendar of the account.
//!
//! An event is read before it is changed or deleted, and `If-Match` protects what was read. So a person's change is
//! never overwritten. Creation carries an identifier that the provider accepts once.

use kalends_app::ports::{ProviderError, PublishedStep};
use kalends_bridge::{CopyContent, CopyKey, FoundCopy, REFERENCE_MAX, STEPS_AT_ONCE, Step};
use kalends_kernel::CalendarId;
use kalends_time::{SignedDuration, Timestamp, Zone};
use serde::Deserialize as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    batch::{self, Batch, Part, PartAnswer},
    common::{IN_UTC, NOT_CONSENTED, Page, code, code_in, encoded, is_one_of, lapsed, segment},
    event::Event,
    mark::{Mark, PROPERTY},
};
use crate::{
    account::Account,
    answer::{Malformed, plain, read, unavailable},
};

/// The maximum number of pages of events that are read.
const PAGES_MAX: usize = 50;
/// How far ahead copies are looked for: longer than any event is published in advance, because a person may move one.
const AHEAD: SignedDuration = SignedDuration::days(366);
/// How often events are read and written in one call: again if a person's change came between.
const ROUNDS: usize = 2;
/// The fields that are compared.
const COMPARED: &str = "id,subject,start,end,isAllDay,originalStartTimeZone,showAs,isCancelled";
/// The code for an event whose identifier has another form than expected.
const NO_SUCH: &str = "ErrorInvalidIdMalformed";

/// The copies of one of our calendars in the calendar `target` that end after `since`. Past ones stay there, so that
/// there may be any number of them.
pub(crate) async fn copies(
    account: &Account<'_>,
    target: &str,
    calendar: CalendarId,
    since: Timestamp,
) -> Result<Vec<FoundCopy>, ProviderError> {
    let target = segment(target).ok_or_else(|| unavailable(400, Some(NO_SUCH)))?;
    let (from, until) = (since.to_string(), (since + AHEAD).to_string());
    let expand = expansion();
    // The API can filter by properties, but not by them and a time. A view has few events more.
    let query = [
        ("startDateTime", from.as_str()),
        ("endDateTime", until.as_str()),
        ("$select", COMPARED),
        ("$expand", expand.as_str()),
        ("$top", "1000"),
    ];
    let mut url = account.url(&format!("/me/calendars/{target}/calendarView"), &query)?;
    let mut found = Vec::new();
    for _ in 0..PAGES_MAX {
        let answer = account.get(url, Some(IN_UTC)).await?;
        let (page, next) = listing(answer.status, &answer.body, calendar)?;
        found.extend(page);
        let Some(next) = next else { return Ok(found) };
        url = account.next(&next)?;
    }
    // A copy that was not read would be created again.
    Err(Malformed::Sense("the calendar has more events than are read").into())
}

fn expansion() -> String {
    format!("singleValueExtendedProperties($filter=id eq '{PROPERTY}')")
}

/// The copies on a page, and the link to the next page.
fn listing(status: u16, body: &[u8], calendar: CalendarId) -> Result<(Vec<FoundCopy>, Option<String>), ProviderError> {
    if status != 200 {
        return Err(match code(body) {
            _ if status == 401 => lapsed("invalid_token"),
            Some(code) if status == 403 && is_one_of(&NOT_CONSENTED, &code) => lapsed("insufficient_scope"),
            code => unavailable(status, code.as_deref()),
        });
    }
    let Page { value, next }: Page<Event<'_>> = read("a list of events", body)?;
    let mut found = Vec::new();
    for event in &value {
        let (Some(mark), Some(reference)) = (event.mark().filter(|mark| mark.calendar == calendar), event.id()) else {
            continue;
        };
        if reference.len() > REFERENCE_MAX {
            continue;
        }
        found.push(FoundCopy {
            key: mark.key,
            reference: reference.to_owned(),
            visible: mark.visible,
            ends_at: event.ends_at()?,
            changed: !event.shows(&mark.visible)?,
        });
    }
    Ok((found, next))
}

/// Sends the steps, and returns their results in order.
pub(crate) async fn publish(
    account: &Account<'_>,
    target: &str,
    calendar: CalendarId,
    steps: &[Step],
) -> Result<Vec<PublishedStep>, ProviderError> {
    let Some(segment) = segment(target) else {
        return Ok(vec![PublishedStep::Refused(NO_SUCH.to_owned()); steps.len()]);
    };
    if steps.len() > STEPS_AT_ONCE {
        return Err(ProviderError::Unavailable(format!("at most {STEPS_AT_ONCE} steps are sent at once").into()));
    }
    let destination = Destination { target, events: format!("/me/calendars/{segment}/events"), calendar };
    let mut works: Vec<Work<'_>> = steps.iter().map(Work::new).collect();
    for _ in 0..ROUNDS {
        for phase in [Phase::Read, Phase::Write] {
            let sent = exchange(account, &destination, &mut works, phase).await;
            match sent {
                // What was done must be recorded.
                Err(_) if works.iter().any(Work::is_done) => return Ok(works.into_iter().map(Work::result).collect()),
                sent => sent?,
            }
        }
    }
    Ok(works.into_iter().map(Work::result).collect())
}

/// Where events are written.
struct Destination<'a> {
    target: &'a str,
    /// The path of its events.
    events: String,
    calendar: CalendarId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Read,
    Write,
}

/// What is to be done next for a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    Create,
    /// Read the event. It should show what was written with this digest, or with that of its mark.
    Read {
        reference: String,
        written: Option<[u8; 32]>,
    },
    /// Change or delete the event if it still has this version.
    Write {
        reference: String,
        written: Option<[u8; 32]>,
        etag: String,
    },
    Nothing(PublishedStep),
}

struct Work<'a> {
    step: &'a Step,
    next: Next,
}

impl<'a> Work<'a> {
    fn new(step: &'a Step) -> Self {
        let next = match step {
            Step::Create { .. } => Next::Create,
            Step::Update { reference, visible, .. } | Step::Delete { reference, visible, .. } => {
                Next::Read { reference: reference.clone(), written: Some(*visible) }
            }
        };
        Self { step, next }
    }

    fn is_done(&self) -> bool {
        matches!(self.next, Next::Nothing(PublishedStep::Done(_)))
    }

    fn result(self) -> PublishedStep {
        match self.next {
            Next::Nothing(result) => result,
            // It changes while it is written, or the provider did not answer.
            Next::Create | Next::Read { .. } | Next::Write { .. } => PublishedStep::Later(None),
        }
    }

    /// The request of this phase, if there is one.
    fn part(&self, destination: &Destination<'_>, phase: Phase) -> Option<Part> {
        let event = |reference: &str| format!("{}/{}", destination.events, encoded(reference));
        match (phase, &self.next, self.step) {
            (Phase::Write, Next::Create, Step::Create { key, content }) => {
                let mut body = fields(destination.calendar, *key, content);
                body["transactionId"] = transaction(destination, *key).into();
                Some(Part { method: "POST", url: destination.events.clone(), if_match: None, body: Some(body) })
            }
            (Phase::Read, Next::Read { reference, .. }, _) => {
                let expand = encoded(&expansion());
                let url = format!("{}?$select={COMPARED}&$expand={expand}", event(reference));
                Some(Part { method: "GET", url, if_match: None, body: None })
            }
            (Phase::Write, Next::Write { reference, etag, .. }, Step::Delete { .. }) => {
                Some(Part { method: "DELETE", url: event(reference), if_match: Some(etag.clone()), body: None })
            }
            (
                Phase::Write,
                Next::Write { reference, etag, .. },
                Step::Create { key, content } | Step::Update { key, content, .. },
            ) => {
                let body = Some(fields(destination.calendar, *key, content));
                Some(Part { method: "PATCH", url: event(reference), if_match: Some(etag.clone()), body })
            }
            _ => None,
        }
    }

    /// What comes next after this answer.
    fn after(&self, answer: &PartAnswer) -> Next {
        match &self.next {
            Next::Create => self.created(answer),
            Next::Read { reference, written } => self.was_read(reference, *written, answer),
            Next::Write { reference, written, .. } => match answer.status {
                200..=299 => Next::Nothing(PublishedStep::Done(reference.clone())),
                412 => Next::Read { reference: reference.clone(), written: *written },
                _ if is_gone(answer) => self.gone(reference),
                _ => Next::Nothing(failed(answer)),
            },
            Next::Nothing(result) => Next::Nothing(result.clone()),
        }
    }

    fn created(&self, answer: &PartAnswer) -> Next {
        if !(200..=299).contains(&answer.status) {
            return Next::Nothing(failed(answer));
        }
        let event = Event::deserialize(&answer.body).ok();
        let reference = event.as_ref().and_then(Event::id);
        let Some(reference) = reference.filter(|id| id.len() <= REFERENCE_MAX && segment(id).is_some()) else {
            return Next::Nothing(PublishedStep::Later(None));
        };
        let (Step::Create { content, .. } | Step::Update { content, .. }) = self.step else {
            return Next::Nothing(PublishedStep::Later(None));
        };
        let visible = content.visible();
        if event.as_ref().is_some_and(|event| event.shows(&visible) == Ok(true)) {
            return Next::Nothing(PublishedStep::Done(reference.to_owned()));
        }
        // It may have been created before, with other content: the provider then returns the older event.
        Next::Read { reference: reference.to_owned(), written: None }
    }

    fn was_read(&self, reference: &str, written: Option<[u8; 32]>, answer: &PartAnswer) -> Next {
        if is_gone(answer) {
            return self.gone(reference);
        }
        if answer.status != 200 {
            return Next::Nothing(failed(answer));
        }
        let Ok(event) = Event::deserialize(&answer.body) else {
            return Next::Nothing(PublishedStep::Refused("malformed_event".to_owned()));
        };
        let marked = event.mark().map(|mark| mark.visible);
        let Some(expected) = written.or(marked) else { return Next::Nothing(PublishedStep::Diverged) };
        if let (None, Step::Create { content, .. }) = (written, self.step)
            && content.visible() == expected
        {
            return Next::Nothing(PublishedStep::Done(reference.to_owned()));
        }
        // If the answer to a change was lost, the event has changed, and its mark with it. A person changes no mark.
        let shows = match (event.shows(&expected), marked) {
            (Ok(false), Some(marked)) => event.shows(&marked),
            (shows, _) => shows,
        };
        match (shows, event.etag()) {
            (Ok(true), Some(etag)) => Next::Write { reference: reference.to_owned(), written, etag: etag.to_owned() },
            (Ok(false), _) => Next::Nothing(PublishedStep::Diverged),
            (Ok(true), None) | (Err(_), _) => Next::Nothing(PublishedStep::Refused("malformed_event".to_owned())),
        }
    }

    /// The event does not exist any more: a person deleted it.
    fn gone(&self, reference: &str) -> Next {
        Next::Nothing(match self.step {
            Step::Delete { .. } => PublishedStep::Done(reference.to_owned()),
            Step::Create { .. } | Step::Update { .. } => PublishedStep::Diverged,
        })
    }
}

/// Sends the requests of a phase, and moves each step on.
async fn exchange(
    account: &Account<'_>,
    destination: &Destination<'_>,
    works: &mut [Work<'_>],
    phase: Phase,
) -> Result<(), ProviderError> {
    let (places, parts): (Vec<usize>, Vec<Part>) = works
        .iter()
        .enumerate()
        .filter_map(|(place, work)| work.part(destination, phase).map(|part| (place, part)))
        .unzip();
    if parts.is_empty() {
        return Ok(());
    }
    match batch::send(account, &parts).await? {
        // Nothing more is sent then.
        Batch::Later(after) => {
            for work in works.iter_mut().filter(|work| !matches!(work.next, Next::Nothing(_))) {
                work.next = Next::Nothing(PublishedStep::Later(after));
            }
        }
        Batch::Answered(answers) => {
            let done = phase == Phase::Write && answers.iter().any(|answer| answer.status < 300);
            if !done && let Some(error) = lapse(&answers) {
                return Err(error);
            }
            for (place, answer) in places.into_iter().zip(&answers) {
                works[place].next = works[place].after(answer);
            }
        }
    }
    Ok(())
}

/// The error of answers that concern the whole account.
fn lapse(answers: &[PartAnswer]) -> Option<ProviderError> {
    if answers.iter().any(|answer| answer.status == 401) {
        return Some(lapsed("invalid_token"));
    }
    let lacks_consent = |answer: &PartAnswer| {
        answer.status == 403 && code_in(&answer.body).is_some_and(|code| is_one_of(&NOT_CONSENTED, &code))
    };
    answers.iter().all(lacks_consent).then(|| lapsed("insufficient_scope"))
}

fn is_gone(answer: &PartAnswer) -> bool {
    let code = code_in(&answer.body);
    matches!(answer.status, 404 | 410) || (answer.status >= 400 && code.as_deref() == Some("ErrorItemNotFound"))
}

/// The result of a step that the provider did not do.
fn failed(answer: &PartAnswer) -> PublishedStep {
    match answer.status {
        // A conflict, and a token that ended between two requests, pass.
        401 | 408 | 409 | 412 | 423 | 425 => PublishedStep::Later(None),
        429 | 500..=599 => PublishedStep::Later(answer.retry_after.filter(|wait| !wait.is_zero())),
        status => {
            let code = code_in(&answer.body).map(|code| plain(&code)).filter(|code| !code.is_empty());
            PublishedStep::Refused(code.unwrap_or_else(|| format!("status_{status}")))
        }
    }
}

/// The identifier that the provider accepts for one event only: the same for the same copy at the same calendar.
fn transaction(destination: &Destination<'_>, key: CopyKey) -> String {
    let start = key.original_start.map_or("-".to_owned(), |start| start.as_micros().to_string());
    let text = format!("{} {} {start} {}", destination.calendar, key.event, destination.target);
    let mut bytes = [0; 16];
    for (byte, hashed) in bytes.iter_mut().zip(Sha256::digest(text.as_bytes())) {
        *byte = hashed;
    }
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

/// The fields of an event (<https://learn.microsoft.com/graph/api/resources/event>). There is nobody in it.
fn fields(calendar: CalendarId, key: CopyKey, content: &CopyContent) -> Value {
    let time = |at: Timestamp| {
        if content.all_day {
            let midnight = content.zone.to_civil(at).date.midnight();
            json!({ "dateTime": midnight.to_string(), "timeZone": content.zone.name() })
        } else {
            json!({ "dateTime": Zone::UTC.to_civil(at).to_string(), "timeZone": "UTC" })
        }
    };
    let show_as = match (content.transparent, content.tentative) {
        (true, _) => "free",
        (false, true) => "tentative",
        (false, false) => "busy",
    };
    let mark = Mark { calendar, key, visible: content.visible(), zone: content.zone };
    json!({
        "subject": content.title,
        "body": { "contentType": "text", "content": content.description.as_deref().unwrap_or_default() },
        "location": { "displayName": content.location.as_deref().unwrap_or_default() },
        "start": time(content.span.start()),
        "end": time(content.span.end()),
        "isAllDay": content.all_day,
        "showAs": show_as,
        "isReminderOn": false,
        "responseRequested": false,
        "singleValueExtendedProperties": [
            { "id": PROPERTY, "value": mark.value() }
        ],
    })
}
