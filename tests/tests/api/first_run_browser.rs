//! From the sign-up to the first event of an agent, in a real browser.

use kalends_e2e::{Browser, Database::Sqlite, Server, Visitor};
use serde_json::Value;
use tokio::process::Command;

use crate::{
    booking_browser::{PHONE, fits},
    console::PASSWORD,
};

/// How much a person may have to do until an agent has created its first event.
const ACTIONS_MAX: usize = 12;

/// A browser, and what a person did in it: clicks, fields that were filled in, and texts that were copied.
struct Person {
    browser: Browser,
    actions: usize,
}

impl Person {
    fn at(browser: Browser) -> Self {
        Self { browser, actions: 0 }
    }

    async fn click(&mut self, css: &str) {
        self.actions += 1;
        self.browser.click(css).await;
    }

    async fn fill(&mut self, css: &str, text: &str) {
        self.actions += 1;
        self.browser.fill(css, text).await;
    }

    async fn choose(&mut self, css: &str, value: &str) {
        self.actions += 1;
        self.browser.choose(css, value).await;
    }

    async fn copy(&mut self, css: &str) -> String {
        self.actions += 1;
        self.browser.text(css).await
    }

    /// Copies a text by its button, and returns what the page put into the clipboard.
    async fn copy_by_button(&mut self, what: &str) -> String {
        self.actions += 1;
        let begin = "window.copied = null;
            document.getElementById('said').textContent = '';
            navigator.clipboard.writeText = async (text) => { window.copied = text; };";
        self.browser.run(begin).await;
        self.browser.press_button(&format!("Copy {what}")).await;
        self.browser.wait_for_paragraph("Copied").await;
        self.browser.run("return window.copied").await.as_str().unwrap().to_owned()
    }

    /// Signs up, and goes to the form of the first agent. Returns the key of the organization. Copying it is not counted.
    async fn sign_up(&mut self, server: &Server) -> String {
        self.browser.goto(&format!("{}/console/sign-up", server.base_url())).await;
        for (field, text) in [("#email", "ada@example.com"), ("#name", "Ada"), ("#password", PASSWORD)] {
            self.fill(field, text).await;
        }
        self.click("#accepted").await;
        self.click("form button.primary").await;
        self.browser.headed("Welcome to Kalends").await;
        let key = self.browser.text("#key").await;
        self.click("a.primary").await;
        self.browser.headed("Set up your first agent").await;
        key
    }

    /// Runs a command that was copied, and returns the event that it prints.
    async fn run(&mut self, command: &str) -> Value {
        self.actions += 1;
        let output = Command::new("sh").args(["-c", command]).env("no_proxy", "*").output().await.unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }
}

#[tokio::test]
async fn a_person_gets_from_the_sign_up_to_the_first_event_in_a_few_actions() {
    let server = Server::start_with(Sqlite, &[("KALENDS_SIGNUP_PLAN", "pro")]).await;
    let visitor = Visitor::new().phone(PHONE.0, PHONE.1).in_zone("Asia/Tokyo");
    let mut ada = Person::at(visitor.open().await);
    let of_organization = ada.sign_up(&server).await;
    fits(&ada.browser).await;
    assert_eq!(ada.browser.property("#timezone", "value").await, "Asia/Tokyo", "a script chooses the own zone");
    ada.click("form[action='/console/start'] button").await;
    ada.browser.headed("Your agent is ready").await;
    fits(&ada.browser).await;
    let key = ada.copy_by_button("the key").await;
    assert_eq!(ada.browser.text("#key").await, key);
    let command = ada.copy_by_button("the command").await;
    let event = ada.run(&command).await;
    assert!(ada.actions <= ACTIONS_MAX, "{} actions", ada.actions);

    // It is an event of the agent's calendar, created with the agent's key.
    let agent = server.client(&key);
    let calendar = event["calendarId"].as_str().unwrap();
    let calendar = agent.get(format!("/v1/calendars/{calendar}")).await.expect(200);
    assert_eq!((&calendar["name"], &calendar["timezone"]), (&"Calendar".into(), &"Asia/Tokyo".into()));
    let log = server.client(&of_organization).get("/v1/audit-log?action=event.create").await.expect(200);
    assert_eq!(log.data()[0]["actor_key_prefix"], key[..20]);

    ada.browser.press_button("Try it: create a test event").await;
    ada.browser.headed("It works").await;
    fits(&ada.browser).await;
    assert!(ada.browser.text("#event").await.contains("\"title\": \"Kalends test\""));
    ada.click("main a.quiet[href^='/console/agents/']").await;
    ada.browser.headed("Assistant").await;
    assert!(!ada.browser.find("nav[aria-label='Console']").await.is_displayed().await.unwrap());
    ada.click(".menu summary").await;
    fits(&ada.browser).await;
    ada.click("nav a[href='/console/agents']").await;
    ada.browser.headed("Agents").await;
    assert_eq!(ada.browser.text(".menu summary").await, "Menu: Agents");
    ada.click("main a[href^='/console/agents/agt_']").await;
    ada.browser.headed("Assistant").await;
    ada.click("a[href$='/calendars/new']").await;
    ada.browser.headed("New calendar").await;
    fits(&ada.browser).await;
    assert_eq!(ada.browser.property("#timezone", "value").await, "Asia/Tokyo");
}

#[tokio::test]
async fn a_person_gets_to_the_first_event_without_scripts_and_keys_of_agents() {
    let server = Server::start(Sqlite).await;
    let mut ada = Person::at(Visitor::new().in_zone("Asia/Tokyo").without_scripts().open().await);
    let key = ada.sign_up(&server).await;
    assert_eq!(ada.browser.property("#timezone", "value").await, "UTC");
    ada.choose("#timezone", "Asia/Kolkata").await;
    ada.click("form[action='/console/start'] button").await;
    ada.browser.headed("Your agent is ready").await;
    assert!(!ada.browser.has("button.copy").await, "only a script can copy");
    let command = ada.copy("#command").await;
    // The person copied the key on the page after the sign-up, and puts it into the command.
    ada.actions += 2;
    let event = ada.run(&command.replace("YOUR_KEY", &key)).await;
    assert_eq!(event["title"], "First event");
    assert!(ada.actions <= ACTIONS_MAX, "{} actions", ada.actions);
    ada.click("form[action='/console/start/test'] button").await;
    ada.browser.headed("It works").await;
    let events = format!("/v1/calendars/{}/events", event["calendarId"].as_str().unwrap());
    assert_eq!(server.client(&key).get(events).await.expect(200)["total"], 2);
}
