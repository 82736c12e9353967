//! The stand-in: connections whose calendars the user draws.

use kalends_app::{Answered, Refusal, operations as op};
use kalends_availability::BusySet;
use kalends_bridge::{CalendarProvider, DrawnCalendar, EXAMPLES_MAX, LinkError, NewLink, PublicationPolicy};
use kalends_kernel::{Page, UserId};
use kalends_time::Span;
use kalends_wire as wire;
use serde_json::{Value, json};

use crate::bridge::{House, json_of, text};

async fn house() -> House {
    House::offering(&[CalendarProvider::Google, CalendarProvider::Example]).await
}

fn calendar(name: &str, busy: &[Span]) -> DrawnCalendar {
    DrawnCalendar { name: name.to_owned(), busy: busy.to_vec() }
}

impl House {
    async fn example(&self, link: Option<&str>) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        self.app.connect_example(&self.session(&op::CONNECT_EXAMPLE), link).await
    }

    async fn draw(&self, connection: &str, drawn: &[DrawnCalendar]) -> Result<Value, Refusal> {
        Ok(json_of(self.app.draw(&self.session(&op::REPLACE_DRAWING), connection, drawn).await?))
    }

    async fn drawing(&self, connection: &str) -> Value {
        let drawing = self.app.drawing(&self.session(&op::GET_DRAWING), connection).await.unwrap();
        serde_json::to_value(drawing).unwrap()
    }
}

#[tokio::test]
async fn a_drawing_counts_at_once() {
    let house = house().await;
    let link = house.ask(NewLink::default()).await;
    let id = text(&link, "/id");
    house.open_by(house.human, &link).await.unwrap();
    let answered = house.example(Some(&id)).await.unwrap();
    assert_eq!(answered.answer.status, 201);
    let shown = json_of(answered);
    assert_eq!((&shown["provider"], &shown["status"]), (&json!("example"), &json!("active")));
    let connection = text(&shown, "/id");
    let empty = json!({ "calendars": [{ "name": "Work", "busy": [] }, { "name": "Private", "busy": [] }] });
    assert_eq!(house.drawing(&connection).await, empty);

    // The first calendar is the primary one.
    house.grant(&connection, Some(&id)).await.unwrap();
    assert_eq!(house.status(&id).await, "completed");
    house.refresh().await;
    assert_eq!(house.busy().await, Some(BusySet::EMPTY));
    assert_eq!(house.refresh().await, 0);

    let busy = house.span(1, 3);
    let drawn = house.draw(&connection, &[calendar("Work", &[busy])]).await.unwrap();
    let work = json!({ "name": "Work", "busy": [{ "start_time": busy.start(), "end_time": busy.end() }] });
    assert_eq!(drawn, json!({ "calendars": [work, { "name": "Private", "busy": [] }] }));
    assert_eq!(house.drawing(&connection).await, drawn);
    assert_eq!(house.refresh().await, 1, "it is refreshed at once");
    assert_eq!(house.busy().await, Some(BusySet::from_unsorted(vec![busy])));

    // The calendar that is not named stays as it is.
    house.draw(&connection, &[calendar("Private", &[house.span(5, 6)])]).await.unwrap();
    assert_eq!(house.drawing(&connection).await["calendars"][0], work);
    house.draw(&connection, &[calendar("Work", &[])]).await.unwrap();
    house.refresh().await;
    assert_eq!(house.busy().await, Some(BusySet::EMPTY));
}

#[tokio::test]
async fn only_calendars_of_the_drawing_can_be_drawn() {
    let house = house().await;
    let connection = house.example(None).await.unwrap().resource.id.to_string();
    let drawn = [calendar("Work", &[house.span(1, 2)]), calendar("Holidays", &[])];
    let refused = house.draw(&connection, &drawn).await;
    assert!(
        matches!(&refused, Err(Refusal::Invalid(errors)) if errors.first().param == "calendars[1].name"),
        "{refused:?}"
    );
    assert_eq!(house.drawing(&connection).await["calendars"][0]["busy"], json!([]), "nothing was drawn");
}

#[tokio::test]
async fn each_call_makes_another_connection_up_to_a_limit() {
    let house = house().await;
    for made in 0..EXAMPLES_MAX {
        house.example(None).await.unwrap_or_else(|refusal| panic!("{made}: {refusal}"));
    }
    let refused = house.example(None).await;
    assert!(matches!(refused, Err(Refusal::TooManyExamples)), "{refused:?}");
    let listed = house.app.list_connections(&house.session(&op::LIST_CONNECTIONS), Page::default()).await.unwrap();
    let delete = house.session(&op::DELETE_CONNECTION);
    house.app.delete_connection(&delete, &listed.data[0].id.to_string()).await.unwrap();
    house.example(None).await.unwrap();
}

#[tokio::test]
async fn a_drawing_is_for_its_user_and_its_provider() {
    let house = house().await;
    let connection = house.example(None).await.unwrap().resource.id.to_string();
    let stranger = UserId::new(house.make.tick(), &house.make.entropy);
    let refused = house.app.drawing(&house.session_of(stranger, &op::GET_DRAWING), &connection).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
    let draw = house.session_of(stranger, &op::REPLACE_DRAWING);
    let refused = house.app.draw(&draw, &connection, &[calendar("Work", &[])]).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");

    house.accounts.account("google", &["Work"]);
    let google = house.connect("google").await;
    let refused = house.draw(&google, &[calendar("Work", &[])]).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_link_has_to_suit() {
    let house = house().await;
    let link = house.ask(NewLink::default()).await;
    let refused = house.example(Some(&text(&link, "/id"))).await;
    assert!(matches!(refused, Err(Refusal::Link(LinkError::NotOpened))), "{refused:?}");
    house.app.cancel_connection_link(&house.key(&op::CANCEL_CONNECTION_LINK), &text(&link, "/id")).await.unwrap();
    let link = house.ask(NewLink { publishing: true, policy: PublicationPolicy::Confirmed }).await;
    house.open_by(house.human, &link).await.unwrap();
    let refused = house.example(Some(&text(&link, "/id"))).await;
    assert!(matches!(refused, Err(Refusal::NotPublished(CalendarProvider::Example))), "{refused:?}");
}

#[tokio::test]
async fn a_stand_in_that_is_switched_off_is_not_found() {
    let house = House::offering(&[CalendarProvider::Google]).await;
    let refused = house.example(None).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
}
