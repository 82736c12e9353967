//! Agents agree on a time, and a guest books one.

use kalends_app::operations as op;
use serde_json::json;

use super::{
    house::House,
    story::{BASE_URL, Story, id, text},
};

/// Ada offers Grace two slots. Another proposal is cancelled.
pub(super) async fn agents_settle_on_a_time(story: &mut Story, House { key, ada, grace, work, .. }: &House) {
    story.chapter("2026-03-02T09:00:00Z");
    let body = json!({
        "title": "Roadmap", "organizer_agent_id": ada, "participant_agent_ids": [ada, grace], "calendar_id": work,
        "slots": [
            { "start_time": "2026-03-05T10:00:00+01:00", "end_time": "2026-03-05T10:30:00+01:00" },
            { "start_time": "2026-03-05T14:00:00+01:00", "end_time": "2026-03-05T14:30:00+01:00", "weight": 2.5 }
        ]
    });
    let made = story.ask(&op::CREATE_PROPOSAL).by(key).send(body.clone()).record().await;
    let (roadmap, slot) = (id(&made), text(&made, "/slots/1/id"));
    let body_of_grace = json!({ "agent_id": grace, "response": "accept", "selected_slot_id": slot });
    story.ask(&op::RESPOND_TO_PROPOSAL).of(&roadmap).by(key).send(body_of_grace).record().await;
    story.ask(&op::GET_PROPOSAL).of(&roadmap).by(key).record().await;
    story.ask(&op::RESOLVE_PROPOSAL).of(&roadmap).by(key).record().await;
    story.ask(&op::LIST_PROPOSALS).by(key).record().await;

    let mut body = body;
    body["title"] = json!("Offsite");
    let offsite = id(&story.ask(&op::CREATE_PROPOSAL).by(key).send(body).done().await);
    story.ask(&op::CANCEL_PROPOSAL).of(&offsite).by(key).record().await;
}

/// A booking page is created. A guest books a slot, moves the booking and cancels it.
pub(super) async fn a_guest_books(story: &mut Story, House { key, work, .. }: &House) {
    story.chapter("2026-03-02T09:10:00Z");
    let body = json!({
        "calendar_id": work, "title": "Intro call", "duration_minutes": 30, "buffer_minutes": 10,
        "timezone": "Europe/Berlin", "availability_constraints": { "mon": { "start": "10:00", "end": "12:00" } },
        "host_name": "Ada Lovelace", "conference_url": "https://meet.example.com/intro", "questions": [
            { "id": "topic", "label": "What is it about?", "type": "text", "required": true }
        ], "notify_emails": ["grace@example.com"]
    });
    let page = story.ask(&op::CREATE_BOOKING_PAGE).by(key).send(body).record().await;
    let (page, slug) = (id(&page), text(&page, "/slug"));
    story.deliver_mail().await;
    let mail = story.last_mail().await;
    let link = mail.split_once("/book/emails/").unwrap().1;
    let consent = link.split_whitespace().next().unwrap();
    story.ask(&op::SHOW_BOOKING_EMAILS).of(consent).done().await;
    story.ask(&op::ANSWER_BOOKING_EMAILS).of(consent).send(json!({ "agrees": true })).record().await;
    story.ask(&op::LIST_BOOKING_SLOTS).of(&slug).query("from=2026-03-09&to=2026-03-09").record().await;
    story.ask(&op::SHOW_BOOKING_PAGE).of(&slug).with("accept", "text/markdown").record().await;

    let body = json!({
        "name": "Charles Babbage", "email": "charles@example.com", "notes": "I bring the engine.",
        "answers": { "topic": "The mill" }, "start": "2026-03-09T09:30:00Z"
    });
    let booked = story.ask(&op::CREATE_BOOKING).of(&slug).send(body).record().await;
    let token = |place: &str| {
        let url = text(&booked, place);
        let link = url.strip_prefix(&format!("{BASE_URL}/book/{slug}/bookings/")).unwrap();
        link.split_once('/').unwrap().0.to_owned()
    };
    let (moves, cancels) = (token("/reschedule_url"), token("/cancel_url"));
    story.ask(&op::GET_BOOKING).of(&slug).of(&moves).record().await;
    story.ask(&op::GET_BOOKING_FILE).of(&slug).of(&cancels).record().await;
    let body = json!({ "start": "2026-03-09T10:00:00Z" });
    story.ask(&op::MOVE_BOOKING).of(&slug).of(&moves).send(body).record().await;
    story.ask(&op::GET_BOOKING_PAGE).of(&page).by(key).record().await;
    let listed = story.ask(&op::LIST_BOOKINGS).of(&page).by(key).query("status=confirmed").record().await;
    story.ask(&op::CANCEL_BOOKING).of(&slug).of(&cancels).record().await;
    let body = json!({
        "name": "Mary Somerville", "email": "mary@example.com", "answers": { "topic": "The store" },
        "start": "2026-03-09T09:30:00Z"
    });
    story.ask(&op::CREATE_BOOKING).of(&slug).send(body).done().await;
    let second = story.ask(&op::LIST_BOOKINGS).of(&page).by(key).query("status=confirmed").done().await;
    assert_ne!(listed, second);
    let booking = text(&second, "/data/0/id");
    let body = json!({ "reason": "I am ill. Please choose another day." });
    story.ask(&op::CANCEL_BOOKING_AS_HOST).of(&booking).by(key).send(body).record().await;
    story.ask(&op::UPDATE_BOOKING_PAGE).of(&page).by(key).send(json!({ "active": false })).record().await;
    story.ask(&op::LIST_BOOKING_PAGES).by(key).record().await;
}
