//! How an agent does each task: the calls of the tools, from the words of the task on. Then the state is checked.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::checks::{CONFIRMED, TENTATIVE};
use super::rest::time;
use super::scene::{
    A_WEEK, DENTIST, FRIDAY, HOME, LUNCH, MEETING_MINUTES, MONDAY, PEOPLE, REVIEW, ROOMS, STANDUP, Scene, THURSDAY,
    TUESDAY, WEDNESDAY,
};
use super::task::Task;
use crate::json;

/// What the second task writes, by which the ninth one undoes it.
const RUN: &str = "kick-off";
/// The titles of what the tasks add.
const KICK_OFF: &str = "Kick-off";
const WORKSHOP: &str = "Workshop";
const OFFSITE: &str = "Offsite";
/// A person and two rooms.
const PLACES: [&str; 3] = ["Cleo", ROOMS[0], ROOMS[1]];
/// The guest of the booking page.
const GUEST: (&str, &str) = ("Gus Guest", "gus@example.com");

/// Does a task and checks it.
///
/// # Errors
/// If a tool refuses, or if the state is wrong afterwards.
pub(crate) async fn perform(task: Task, scene: &mut Scene) -> Result<()> {
    match task {
        Task::FindTime => find_time(scene).await,
        Task::HoldAndConfirm => hold_and_confirm(scene).await,
        Task::MoveOccurrence => move_occurrence(scene).await,
        Task::CancelOccurrence => cancel_occurrence(scene).await,
        Task::ExplainTime => explain_time(scene).await,
        Task::BookRooms => book_rooms(scene).await,
        Task::Propose => propose(scene).await,
        Task::ReadAgenda => read_agenda(scene).await,
        Task::Undo => undo(scene).await,
        Task::Book => book(scene).await,
    }
}

/// "Find 45 minutes for Ada, Bo, Cleo, Dev and Eve on Tuesday. All want to stay in their working hours."
async fn find_time(scene: &mut Scene) -> Result<()> {
    let date = scene.week.date(TUESDAY).to_string();
    let asked = json!({
        "participants": names(), "duration_minutes": MEETING_MINUTES, "earliest": date, "latest": date,
        "timezone": HOME, "count": 3,
    });
    let found = scene.agent.call("find_times", &asked).await?;
    let first = json::list(&found, "times")?.first().context("find_times found nothing")?;
    let (start, expected) = (time(first, "start")?, scene.meeting);
    ensure!(start == expected, "the first time is {start} instead of {expected}");
    Ok(())
}

/// "Hold this time for all five, and confirm it. It is called Kick-off."
async fn hold_and_confirm(scene: &mut Scene) -> Result<()> {
    let asked = json!({
        "title": KICK_OFF, "participants": names(), "start": scene.meeting.to_string(),
        "duration_minutes": MEETING_MINUTES, "timezone": HOME, "run": RUN,
    });
    let held = scene.agent.call("hold_time", &asked).await?;
    let asked = json!({ "hold_id": json::text(&held, "hold_set_id")?, "run": RUN });
    scene.agent.call("confirm_hold", &asked).await?;
    let at = (scene.meeting, MEETING_MINUTES);
    scene.requires(&names(), (KICK_OFF, CONFIRMED), TUESDAY, at).await
}

/// "Move Wednesday's Review to an hour later."
async fn move_occurrence(scene: &mut Scene) -> Result<()> {
    let id = listed(scene, REVIEW, WEDNESDAY).await?;
    let asked = json!({ "event_id": id, "start": scene.local(WEDNESDAY, 15), "timezone": HOME });
    scene.agent.call("update_event", &asked).await?;
    for (day, hour) in [(WEDNESDAY - A_WEEK, 14), (WEDNESDAY, 15), (WEDNESDAY + A_WEEK, 14)] {
        let at = (scene.at(day, hour, 0)?, 30);
        scene.requires(&["Ada"], (REVIEW, CONFIRMED), day, at).await?;
    }
    Ok(())
}

/// "Cancel the Review a week after that."
async fn cancel_occurrence(scene: &mut Scene) -> Result<()> {
    let day = WEDNESDAY + A_WEEK;
    let id = listed(scene, REVIEW, day).await?;
    scene.agent.call("cancel_event", &json!({ "event_id": id })).await?;
    scene.lacks(&["Ada"], REVIEW, day).await?;
    for day in [WEDNESDAY, WEDNESDAY + 2 * A_WEEK] {
        let hour = if day == WEDNESDAY { 15 } else { 14 };
        let at = (scene.at(day, hour, 0)?, 30);
        scene.requires(&["Ada"], (REVIEW, CONFIRMED), day, at).await?;
    }
    Ok(())
}

/// "Why is Ada not free on Thursday at 10:00?"
async fn explain_time(scene: &mut Scene) -> Result<()> {
    let asked = json!({
        "participants": ["Ada"], "start": scene.local(THURSDAY, 10), "duration_minutes": 30, "timezone": HOME
    });
    let found = scene.agent.call("explain_time", &asked).await?;
    ensure!(found["free"] == false, "the time is free: {found}");
    let explained = json::list(&found, "explained")?.first().context("nobody is explained")?;
    let (start, end) = (scene.at(THURSDAY, 9, 30)?, scene.at(THURSDAY, 10, 30)?);
    let is_reason = |reason: &Value| {
        reason["reason"] == "event"
            && time(reason, "start").is_ok_and(|at| at == start)
            && time(reason, "end").is_ok_and(|at| at == end)
    };
    let reasons = json::list(explained, "reasons")?;
    ensure!(reasons.iter().any(is_reason), "{DENTIST} is not among the reasons: {explained}");
    Ok(())
}

/// "Book both rooms and Cleo on Monday at 11:00 for an hour: all of them or none. It is called Workshop."
async fn book_rooms(scene: &mut Scene) -> Result<()> {
    none_if_one_is_taken(scene).await?;
    let asked = workshop(scene, 11);
    let held = scene.agent.call("hold_time", &asked).await?;
    let asked = json!({ "hold_id": json::text(&held, "hold_set_id")? });
    scene.agent.call("confirm_hold", &asked).await?;
    let at = (scene.at(MONDAY, 11, 0)?, 60);
    scene.requires(&PLACES, (WORKSHOP, CONFIRMED), MONDAY, at).await
}

/// A check of the set-up that is not counted: at 13:00 one of the rooms is taken, so none of the three is held.
async fn none_if_one_is_taken(scene: &Scene) -> Result<()> {
    let error = scene.agent.beside().refusal("hold_time", &workshop(scene, 13)).await?;
    ensure!(error["code"] == "slot_taken", "hold_time refused because of something else: {error}");
    scene.lacks(&PLACES, WORKSHOP, MONDAY).await
}

/// The arguments that hold Cleo and the rooms on Monday, by their names.
fn workshop(scene: &Scene, hour: u32) -> Value {
    json!({
        "title": WORKSHOP, "participants": PLACES, "start": scene.local(MONDAY, hour), "duration_minutes": 60,
        "timezone": HOME,
    })
}

/// "Offer Bo and Cleo an hour on Friday at 10:00 or 11:00, or a week after Monday at 10:00, for the Offsite." Both know
/// the proposal by the message that their programs got. Bo accepts the second time, and Cleo counters with another.
async fn propose(scene: &mut Scene) -> Result<()> {
    let times = [scene.local(FRIDAY, 10), scene.local(FRIDAY, 11), scene.local(MONDAY + A_WEEK, 10)];
    let asked = json!({
        "title": OFFSITE, "organizer": "Ada", "participants": ["Bo", "Cleo"], "times": times, "duration_minutes": 60,
        "timezone": HOME,
    });
    let created = scene.agent.call("create_proposal", &asked).await?;
    let id = json::text(&created, "proposal_id")?;
    let accept = json!({ "proposal_id": id, "response": "accept", "start": times[1], "timezone": HOME });
    scene.bo.call("respond_to_proposal", &accept).await?;
    let counter = json!({
        "proposal_id": id, "response": "counter", "counter_times": [scene.local(FRIDAY, 14)], "duration_minutes": 60,
        "timezone": HOME, "message": "Rather in the afternoon",
    });
    scene.cleo.call("respond_to_proposal", &counter).await?;
    let found = scene.agent.call("get_proposal", &json!({ "proposal_id": id, "timezone": HOME })).await?;
    let start = scene.at(FRIDAY, 11, 0)?;
    let resolved = time(&found["resolved_slot"], "start").is_ok_and(|at| at == start);
    ensure!(found["status"] == "confirmed" && resolved, "the proposal is not confirmed for {start}: {found}");
    let has_counter = json::list(&found, "responses")?.iter().any(|response| response["response"] == "counter");
    ensure!(has_counter, "the counter is missing: {found}");
    scene.requires(&["Ada", "Bo"], (OFFSITE, CONFIRMED), FRIDAY, (start, 60)).await?;
    // Cleo did not accept this time.
    scene.requires(&["Cleo"], (OFFSITE, TENTATIVE), FRIDAY, (start, 60)).await
}

/// "What is on today?"
async fn read_agenda(scene: &mut Scene) -> Result<()> {
    let today = scene.today.to_string();
    let asked = json!({ "agent_id": "Ada", "start": today, "end": today, "timezone": HOME });
    let found = scene.agent.call("list_events", &asked).await?;
    let events = json::list(&found, "events")?;
    let shown: Vec<String> = events
        .iter()
        .map(|event| Ok(format!("{} {}", json::text(event, "when")?, json::text(event, "title")?)))
        .collect::<Result<_>>()?;
    let is =
        |shown: &str, clock: &str, title: &str| shown.contains(&format!("{today} {clock}")) && shown.ends_with(title);
    let is_right = match shown.as_slice() {
        [first, second] => is(first, "09:00-09:15", STANDUP) && is(second, "13:00-14:00", LUNCH),
        _ => false,
    };
    ensure!(is_right, "the agenda is {shown:?}");
    Ok(())
}

/// "Undo the Kick-off."
async fn undo(scene: &mut Scene) -> Result<()> {
    // Without the events, nothing would be undone.
    let at = (scene.meeting, MEETING_MINUTES);
    scene.requires(&names(), (KICK_OFF, CONFIRMED), TUESDAY, at).await?;
    scene.agent.call("undo_run", &json!({ "run": RUN })).await?;
    scene.lacks(&names(), KICK_OFF, TUESDAY).await
}

/// "Let Gus pick half an hour of the intro call on Thursday from 13:00 on, book it, and look at the booking." Gus picks
/// the first.
async fn book(scene: &mut Scene) -> Result<()> {
    let page = scene.slug.clone();
    let asked = json!({
        "page": page, "start": scene.local(THURSDAY, 13), "end": scene.week.date(THURSDAY).to_string(), "timezone": HOME,
        "count": 3,
    });
    let offered = scene.agent.call("list_booking_slots", &asked).await?;
    let slot = json::list(&offered, "slots")?.first().context("no slot is offered")?;
    let (start, expected) = (time(slot, "start")?, scene.at(THURSDAY, 13, 0)?);
    ensure!(start == expected, "the first slot is {start} instead of {expected}");
    let (name, email) = GUEST;
    let asked = json!({ "page": page, "start": start.to_string(), "name": name, "email": email, "timezone": HOME });
    let booked = scene.agent.call("book_slot", &asked).await?;
    let id = json::text(&booked, "event_id")?;
    let read = scene.agent.call("get_event", &json!({ "event_id": id })).await?;
    let is_right = time(&read, "start")? == start && json::text(&read, "title")?.contains(name);
    ensure!(is_right, "the event of the booking is {read}");
    scene.is_booked(name, id, start).await
}

/// The names of the five.
fn names() -> Vec<&'static str> {
    PEOPLE.iter().map(|(name, _)| *name).collect()
}

/// Looks Ada's day up, and returns the identifier of the event with that title.
async fn listed(scene: &mut Scene, title: &str, day: i64) -> Result<String> {
    let date = scene.week.date(day).to_string();
    let asked = json!({ "agent_id": "Ada", "start": date, "end": date, "timezone": HOME });
    let found = scene.agent.call("list_events", &asked).await?;
    let event = json::list(&found, "events")?.iter().find(|event| event["title"] == title);
    let event = event.with_context(|| format!("list_events shows no {title}: {found}"))?;
    Ok(json::text(event, "event_id")?.to_owned())
}
