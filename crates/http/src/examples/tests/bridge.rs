//! An agent asks a user to connect a calendar, and the user does.

use http::StatusCode;
use kalends_app::operations as op;
use kalends_testkit::{Failing, fixtures::at};
use kalends_time::Span;
use serde_json::{Value, json};

use super::{
    console::{LAST_PASSWORD, Owned},
    story::{Story, id, text},
};

/// The state of the attempt that an answer starts. A browser keeps it in a cookie.
fn state(answer: &Value) -> String {
    let url = text(answer, "/authorization_url");
    url.split_once("&state=").unwrap().1.split('&').next().unwrap().to_owned()
}

/// The user goes to the provider and comes back with the code of an account.
async fn consents(story: &mut Story, (provider, code): (&str, &str), state: &str) {
    let back = story.ask(&op::END_CONNECTION).of(provider).query(&format!("state={state}&code={code}"));
    back.with("cookie", &format!("service_oauth_state={state}")).sent_on().await;
}

/// Refreshes every connection that is due.
async fn refreshed(story: &Story) {
    for (claim, connection) in story.app.claim_refreshes(10).await.unwrap() {
        story.app.refresh_connection(claim, connection).await;
    }
}

/// Connects a Google account whose primary calendar then counts as busy for the agent. Afterwards undoes all of it.
pub(super) async fn a_human_connects_a_calendar(story: &mut Story, owned: &Owned) {
    story.chapter("2026-03-04T08:00:00Z");
    story.calendars.account("mina", &["Private", "Birthdays"]);
    let lunch = Span::new(at("2026-03-09T11:00:00Z"), at("2026-03-09T12:00:00Z")).unwrap();
    story.calendars.busy("mina", "Private", vec![lunch]);

    let link_body = json!({ "capabilities": ["availability"], "publication_policy": "none" });
    let ask = story.ask(&op::CREATE_CONNECTION_LINK).of(&owned.calendar).by(&owned.key).send(link_body.clone());
    let link = id(&ask.done().await);
    story.ask(&op::CANCEL_CONNECTION_LINK).of(&link).by(&owned.key).record().await;
    let ask = story.ask(&op::CREATE_CONNECTION_LINK).of(&owned.calendar).by(&owned.key).send(link_body.clone());
    let made = ask.record().await;
    let link = id(&made);
    let token = text(&made, "/setup_url").split_once('#').unwrap().1.to_owned();

    let enter = json!({ "email": "mina@example.com", "password": LAST_PASSWORD });
    let session = text(&story.ask(&op::SIGN_IN).send(enter).done().await, "/token");
    story.ask(&op::SWITCH_ORG).of(&owned.org).by(&session).done().await;
    story.ask(&op::OPEN_CONNECTION_LINK).by(&session).send(json!({ "token": token })).record().await;
    let body = json!({ "connection_link_id": link });
    let begun = story.ask(&op::START_CONNECTION).of("google").by(&session).send(body).record().await;
    consents(story, ("google", "mina"), &state(&begun)).await;
    let listed = story.ask(&op::LIST_CONNECTIONS).by(&session).done().await;
    let connection = text(&listed, "/data/0/id");
    let calendars = story.ask(&op::LIST_EXTERNAL_CALENDARS).of(&connection).by(&session).done().await;
    let body = json!({
        "external_calendar_ids": [text(&calendars, "/data/0/id")], "audience": "selected", "agent_ids": [owned.agent],
        "connection_link_id": link
    });
    let grant = id(&story.ask(&op::CREATE_GRANT).by(&session).send(body).record().await);
    refreshed(story).await;

    story.ask(&op::GET_CONNECTION_LINK).of(&link).by(&owned.key).record().await;
    story.ask(&op::UPDATE_CONNECTION).of(&connection).by(&session).send(json!({ "label": "Private" })).record().await;
    story.ask(&op::LIST_CONNECTIONS).by(&session).record().await;
    story.ask(&op::GET_CONNECTION).of(&connection).by(&session).record().await;
    story.ask(&op::LIST_EXTERNAL_CALENDARS).of(&connection).by(&session).record().await;
    story.ask(&op::LIST_GRANTS).by(&session).record().await;
    story.ask(&op::REFRESH_CONNECTION).of(&connection).by(&session).record().await;
    story.ask(&op::PAUSE_CONNECTION).of(&connection).by(&session).record().await;
    story.ask(&op::RESUME_CONNECTION).of(&connection).by(&session).record().await;
    let begun = story.ask(&op::REAUTHORIZE_CONNECTION).of(&connection).by(&session).done().await;
    consents(story, ("google", "mina"), &state(&begun)).await;

    // The next time, she declines.
    let ask = story.ask(&op::CREATE_CONNECTION_LINK).of(&owned.calendar).by(&owned.key).send(link_body);
    let made = ask.done().await;
    let token = text(&made, "/setup_url").split_once('#').unwrap().1.to_owned();
    story.ask(&op::OPEN_CONNECTION_LINK).by(&session).send(json!({ "token": token })).done().await;
    story.ask(&op::DECLINE_CONNECTION_LINK).of(&id(&made)).by(&session).record().await;

    story.ask(&op::DELETE_GRANT).of(&grant).by(&session).record().await;
    story.ask(&op::DELETE_CONNECTION).of(&connection).by(&session).record().await;
    the_calendar_is_published(story, owned, &session).await;
    other_accounts_are_connected(story, owned, &session).await;
}

/// Connects an account at a CalDAV server, which is away at first, and example calendars.
async fn other_accounts_are_connected(story: &mut Story, owned: &Owned, session: &str) {
    let (name, password) = ("mina@caldav.example.com", "abcd-efgh-ijkl-mnop");
    story.calendars.account(name, &["Home", "Club"]);
    story.calendars.password(name, password);
    let body = json!({ "url": "caldav.example.com", "username": name, "password": password });
    story.calendars.fail(Some(Failing::Away));
    let away = story.ask(&op::CONNECT_CALDAV).by(session).send(body.clone());
    away.refused(StatusCode::BAD_GATEWAY).await;
    story.calendars.fail(None);
    story.ask(&op::CONNECT_CALDAV).by(session).send(body.clone()).record().await;
    // The second time, the account is known.
    story.ask(&op::CONNECT_CALDAV).by(session).send(body).record().await;

    let link_body = json!({ "capabilities": ["availability"], "publication_policy": "none" });
    let ask = story.ask(&op::CREATE_CONNECTION_LINK).of(&owned.calendar).by(&owned.key).send(link_body);
    let made = ask.done().await;
    let token = text(&made, "/setup_url").split_once('#').unwrap().1.to_owned();
    story.ask(&op::OPEN_CONNECTION_LINK).by(session).send(json!({ "token": token })).done().await;
    let body = json!({ "link_id": id(&made) });
    let example = id(&story.ask(&op::CONNECT_EXAMPLE).by(session).send(body).record().await);
    let busy = json!([{ "start_time": "2026-03-09T09:00:00Z", "end_time": "2026-03-09T11:30:00Z" }]);
    let body = json!({ "calendars": [{ "name": "Work", "busy": busy }] });
    story.ask(&op::REPLACE_DRAWING).of(&example).by(session).send(body).record().await;
    story.ask(&op::GET_DRAWING).of(&example).by(session).record().await;
}

/// Connects a Microsoft account, to which the events of the agent's calendar are then published for a while.
async fn the_calendar_is_published(story: &mut Story, owned: &Owned, session: &str) {
    story.calendars.account("work", &["Calendar"]);
    let begun = story.ask(&op::START_CONNECTION).of("microsoft").by(session).send(json!({})).done().await;
    consents(story, ("microsoft", "work"), &state(&begun)).await;
    let listed = story.ask(&op::LIST_CONNECTIONS).by(session).done().await;
    let connection = text(&listed, "/data/0/id");
    story.calendars.allow_publishing("work", true);
    let body = json!({ "publishing": true });
    let begun = story.ask(&op::REAUTHORIZE_CONNECTION).of(&connection).by(session).send(body).record().await;
    consents(story, ("microsoft", "work"), &state(&begun)).await;
    let calendars = story.ask(&op::LIST_EXTERNAL_CALENDARS).of(&connection).by(session).done().await;
    let body = json!({ "external_calendar_id": text(&calendars, "/data/0/id"), "policy": "confirmed" });
    story.ask(&op::PUT_DESTINATION).of(&owned.calendar).by(session).send(body).record().await;
    for claimed in story.app.claim_publications(10).await.unwrap() {
        story.app.publish(claimed).await;
    }
    story.ask(&op::GET_DESTINATION).of(&owned.calendar).by(session).record().await;
    story.ask(&op::DELETE_DESTINATION).of(&owned.calendar).by(session).record().await;
}
