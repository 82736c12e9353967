//! The maximum number of bookings on one day, and the zone in which a guest reads times.

use std::collections::BTreeSet;

use crate::on_both;
use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database, Server, plain_http, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::agent_with_calendar;

const PAGES: &str = "/v1/booking-pages";

/// A page in Tokyo with slots of an hour, and a guest. No emails are limited.
struct Desk {
    server: Server,
    api: Client,
    guest: Client,
    page: String,
    book: String,
}

impl Desk {
    async fn new(database: Database, fields: Value) -> Self {
        let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
        let api = server.api(&server.org("pro").await);
        let (guest, calendar) = (server.anonymous(), agent_with_calendar(&api).await.1);
        let mut body = json!({
            "calendar_id": calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7,
            "timezone": "Asia/Tokyo"
        });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let made = api.post(PAGES).json(body).await.expect(201);
        let book = format!("/book/{}", made["slug"].as_str().unwrap());
        Self { server, api, guest, page: format!("{PAGES}/{}", made.id()), book }
    }

    /// The starts of the slots on one date in Tokyo, on which every hour has a slot.
    async fn day(&self) -> Vec<String> {
        let slots = self.slots().await;
        let dates: BTreeSet<String> = slots.iter().map(|start| date_in_tokyo(start)).collect();
        let third = dates.iter().nth(2).unwrap();
        slots.iter().filter(|start| date_in_tokyo(start) == *third).cloned().collect()
    }

    async fn slots(&self) -> Vec<String> {
        let listed = self.guest.get(format!("{}/slots", self.book)).await.expect(200);
        listed["slots"].as_array().unwrap().iter().map(|slot| slot["start"].as_str().unwrap().to_owned()).collect()
    }

    async fn book(&self, start: &str) -> Answer {
        let body = json!({ "name": "Ada", "email": "ada@example.com", "start": start });
        self.guest.post(&self.book).json(body).await
    }
}

/// Tokyo is nine hours ahead of UTC all year.
fn date_in_tokyo(start: &str) -> String {
    shifted(start, 9 * 60)[..10].to_owned()
}

#[apply(on_both)]
#[tokio::test]
async fn a_day_takes_no_more_bookings_than_the_page_allows(#[case] database: Database) {
    let desk = Desk::new(database, json!({ "max_per_day": 2 })).await;
    let day = desk.day().await;
    assert_eq!(day.len(), 24);
    let first = desk.book(&day[0]).await.expect(201);
    let of_day = async || desk.slots().await.into_iter().filter(|start| day.contains(start)).count();
    assert_eq!(of_day().await, 23);
    let before = desk.slots().await.len();
    let second = desk.book(&day[23]).await.expect(201);
    // The whole day is gone, and no other.
    assert_eq!((of_day().await, desk.slots().await.len()), (0, before - 23));
    let refused = desk.book(&day[9]).await.refused(409, "conflict").code("slot_taken");
    let nearest = refused.at("/error/nearest_free");
    let nearest: Vec<&str> = nearest.as_array().unwrap().iter().map(|slot| slot["start"].as_str().unwrap()).collect();
    assert!(!nearest.is_empty() && nearest.iter().all(|start| !day.contains(&(*start).to_owned())), "{nearest:?}");
    // A booking moves within its own day, but another does not come to it.
    let path = |url: &Value| url.as_str().unwrap().strip_prefix(desk.server.base_url()).unwrap().to_owned();
    let moved = desk.guest.post(path(&first["reschedule_url"])).json(json!({ "start": day[5] })).await;
    moved.expect(200);
    let free = desk.slots().await;
    let other = desk.book(&free[free.len() - 1]).await.expect(201);
    let comes = desk.guest.post(path(&other["reschedule_url"])).json(json!({ "start": day[7] })).await;
    comes.refused(409, "conflict").code("slot_taken");
    // A cancelled booking does not count, neither the guest's nor the host's.
    desk.guest.post(path(&second["cancel_url"])).await.expect(200);
    assert_eq!(of_day().await, 23);
    desk.book(&day[9]).await.expect(201);
    assert_eq!(of_day().await, 0);
    desk.api.delete(format!("/v1/events/{}", first["event"]["id"].as_str().unwrap())).await.expect(204);
    assert_eq!(of_day().await, 23);
    desk.api.patch(&desk.page).json(json!({ "max_per_day": 1 })).await.expect(200);
    assert_eq!(of_day().await, 0);
    desk.api.patch(&desk.page).json(json!({ "max_per_day": null })).await.expect(200);
    assert_eq!(of_day().await, 23);
}

#[apply(on_both)]
#[tokio::test]
async fn many_guests_at_once_get_no_more_than_the_day_takes(#[case] database: Database) {
    let desk = Desk::new(database, json!({ "max_per_day": 3 })).await;
    let day = desk.day().await;
    let answers = join_all(day.iter().map(|start| desk.book(start))).await;
    let taken = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(taken, 3, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
    assert!(answers.iter().all(|answer| answer.status == 201 || answer.status == 409));
}

#[apply(on_both)]
#[tokio::test]
async fn emails_show_times_in_the_zone_of_the_guest(#[case] database: Database) {
    let desk = Desk::new(database, json!({})).await;
    let slots = desk.slots().await;
    let body = |start: &str, zone: Value| json!({ "name": "Ada", "email": "ada@example.com", "start": start, "timezone": zone });
    desk.guest.post(&desk.book).json(body(&slots[5], json!("Mars/Olympus"))).await.refused(400, "validation_error");
    let booked = desk.guest.post(&desk.book).json(body(&slots[5], json!("Asia/Kolkata"))).await.expect(201);
    desk.guest.post(&desk.book).json(body(&slots[7], Value::Null)).await.expect(201);
    let mails = desk.server.wait_for_mails(2).await;
    let clock = |start: &str, minutes| format!(", {} to", &shifted(start, minutes)[11..16]);
    // Each guest gets one email, in any order.
    let of_kolkata = mails.iter().find(|mail| mail.text.contains("(Asia/Kolkata)")).expect("in the guest's zone");
    assert!(of_kolkata.text.contains(&clock(&slots[5], 330)), "{}", of_kolkata.text);
    let of_page = mails.iter().find(|mail| mail.text.contains("(Asia/Tokyo)")).expect("in the zone of the page");
    assert!(of_page.text.contains(&clock(&slots[7], 540)), "{}", of_page.text);
    // The zone stays with the booking.
    let url = booked["cancel_url"].as_str().unwrap();
    desk.guest.post(url.strip_prefix(desk.server.base_url()).unwrap()).await.expect(200);
    let mails = desk.server.wait_for_mails(3).await;
    assert_eq!(mails.iter().filter(|mail| mail.text.contains("(Asia/Kolkata)")).count(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn the_guest_of_a_full_day_sees_its_other_times(#[case] database: Database) {
    let desk = Desk::new(database, json!({ "max_per_day": 1 })).await;
    let day = desk.day().await;
    let booked = desk.book(&day[5]).await.expect(201);
    let path = booked["reschedule_url"].as_str().unwrap().strip_prefix(desk.server.base_url()).unwrap().to_owned();
    let address = format!("{}{path}?day={}&tz=Asia/Tokyo", desk.server.base_url(), date_in_tokyo(&day[5]));
    let browser = plain_http().build().unwrap();
    let page = browser.get(address).header("accept", "text/html").send().await.unwrap().text().await.unwrap();
    let offers =
        |start: &str| page.contains(&format!("<time datetime=\"{start}\">")) && page.contains("class=\"time\"");
    assert!(offers(&day[4]) && offers(&day[6]) && offers(&day[23]), "{page}");
    let times = page.matches("class=\"time\"").count();
    assert_eq!(times, 23, "not its own time");
}
