//! What exists before the tasks begin: five agents with calendars in three zones, two rooms, some events, and a booking
//! page. The tasks know all of this by name.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};
use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};
use serde_json::{Value, json};

use super::client::Client;
use super::clocks::{self, CLOSES, OPENS, Week};
use super::report::Key;
use super::rest::Rest;
use crate::json;

/// The agents with their zones. The first one does the tasks.
pub(crate) const PEOPLE: [(&str, &str); 5] =
    [("Ada", HOME), ("Bo", HOME), ("Cleo", "Europe/London"), ("Dev", "Europe/London"), ("Eve", "America/New_York")];
/// The zone in which the tasks name times.
pub(crate) const HOME: &str = "Europe/Berlin";
/// The shared calendars.
pub(crate) const ROOMS: [&str; 2] = ["Room Oslo", "Room Lima"];
/// The length of the meeting of all five, in minutes.
pub(crate) const MEETING_MINUTES: i64 = 45;
/// The titles of what is there.
pub(crate) const STANDUP: &str = "Standup";
pub(crate) const LUNCH: &str = "Lunch";
pub(crate) const REVIEW: &str = "Review";
pub(crate) const DENTIST: &str = "Dentist";
const CALL: &str = "Call";
const DRILL: &str = "Fire drill";

/// The days of the week, from its Monday on.
pub(crate) const MONDAY: i64 = 0;
pub(crate) const TUESDAY: i64 = 1;
pub(crate) const WEDNESDAY: i64 = 2;
pub(crate) const THURSDAY: i64 = 3;
pub(crate) const FRIDAY: i64 = 4;
/// The days from one occurrence of the weekly series to the next.
pub(crate) const A_WEEK: i64 = 7;

/// What the scopes of the agent's own key allow: availability across agents, the names of agents and shared calendars,
/// and holds on calendars of others.
const SCOPES: [&str; 3] = ["freebusy:org", "directory:org", "holds:org"];

/// An agent with its calendar, or a shared calendar.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) calendar: String,
}

/// Everything that the tasks and their checks use.
#[derive(Debug)]
pub(crate) struct Scene {
    /// The client that does the tasks: Ada with her own key, or the organization.
    pub(crate) agent: Client,
    /// Bo and Cleo with their own keys.
    pub(crate) bo: Client,
    pub(crate) cleo: Client,
    pub(crate) rest: Rest,
    pub(crate) people: Vec<Place>,
    pub(crate) rooms: Vec<Place>,
    /// The slug of Ada's booking page, and its identifier.
    pub(crate) slug: String,
    pub(crate) page: String,
    pub(crate) home: Zone,
    pub(crate) today: CivilDate,
    pub(crate) week: Week,
    /// The first time on Tuesday at which all five can meet.
    pub(crate) meeting: Timestamp,
}

impl Scene {
    /// Creates everything in the organization with this key.
    pub(crate) async fn set(address: SocketAddr, organization: &str, key: Key) -> Result<Self> {
        let rest = Rest::new(address, organization);
        let home: Zone = HOME.parse()?;
        let today = home.to_civil(rest.now().await?).date;
        let (mut people, mut agents) = (Vec::new(), Vec::new());
        for (name, zone) in PEOPLE {
            let agent = rest.create("/v1/agents", &json!({ "name": name, "type": "ai" })).await?;
            let agent = json::text(&agent, "id")?.to_owned();
            let target = format!("/v1/agents/{agent}/calendars");
            let calendar = calendar(&rest, &target, name, zone).await?;
            rest.replace(&format!("/v1/calendars/{calendar}/availability-rules"), &rules()).await?;
            people.push(Place { name, calendar });
            agents.push(agent);
        }
        let mut rooms = Vec::new();
        for name in ROOMS {
            rooms.push(Place { name, calendar: calendar(&rest, "/v1/calendars", name, HOME).await? });
        }
        let slug = match key {
            Key::Agent => "intro-call-of-an-agent",
            Key::Organization => "intro-call-of-an-organization",
        };
        let page = json!({
            "calendar_id": people.first().context("nobody is there")?.calendar, "title": "Intro call", "slug": slug,
            "duration_minutes": 30, "window_days": 60,
        });
        let page = json::text(&rest.create("/v1/booking-pages", &page).await?, "id")?.to_owned();

        let [ada, bo, cleo, ..] = agents.as_slice() else { bail!("too few agents") };
        let agent = match key {
            Key::Agent => Client::new(address, &key_of(&rest, ada, &SCOPES).await?),
            Key::Organization => Client::new(address, organization),
        };
        let bo = Client::new(address, &key_of(&rest, bo, &[]).await?);
        let cleo = Client::new(address, &key_of(&rest, cleo, &[]).await?);
        let meeting = Timestamp::EPOCH;
        let week = Week::after(today);
        let slug = slug.to_owned();
        let mut scene = Self { agent, bo, cleo, rest, people, rooms, slug, page, home, today, week, meeting };
        scene.fill().await?;
        scene.meeting = scene.first_in_common().await?;
        Ok(scene)
    }

    /// The text of a local time on a day of the week.
    pub(crate) fn local(&self, day: i64, hour: u32) -> String {
        clocks::local(self.week.date(day), hour, 0)
    }

    /// A time on a day of the week.
    pub(crate) fn at(&self, day: i64, hour: u32, minute: u32) -> Result<Timestamp> {
        clocks::instant(self.home, self.week.date(day), hour, minute)
    }

    /// The first and the last moment of a day of the week.
    pub(crate) fn day(&self, day: i64) -> Result<(Timestamp, Timestamp)> {
        Ok((self.at(day, 0, 0)?, self.at(day + 1, 0, 0)?))
    }

    /// The calendar of a person or a room.
    pub(crate) fn calendar(&self, name: &str) -> Result<&str> {
        let found = self.people.iter().chain(&self.rooms).find(|place| place.name == name);
        found.map(|place| place.calendar.as_str()).with_context(|| format!("{name} has no calendar"))
    }

    /// Adds the events.
    async fn fill(&self) -> Result<()> {
        let (today, week) = (self.today, self.week);
        let standup = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=10", "recurrence_timezone": HOME });
        self.event("Ada", STANDUP, today.plus_days(-3), (9, 0), 15, &standup).await?;
        let nothing = json!({});
        self.event("Ada", LUNCH, today, (13, 0), 60, &nothing).await?;
        let review = json!({ "recurrence_rule": "FREQ=WEEKLY;COUNT=6", "recurrence_timezone": HOME });
        self.event("Ada", REVIEW, week.date(WEDNESDAY - A_WEEK), (14, 0), 30, &review).await?;
        self.event("Ada", DENTIST, week.date(THURSDAY), (9, 30), 60, &nothing).await?;
        self.event("Bo", CALL, week.date(TUESDAY), (15, 0), 30, &nothing).await?;
        self.event("Room Lima", DRILL, week.date(MONDAY), (13, 0), 60, &nothing).await
    }

    /// Adds an event at a local time.
    async fn event(
        &self,
        whose: &str,
        title: &str,
        date: CivilDate,
        (hour, minute): (u32, u32),
        minutes: i64,
        more: &Value,
    ) -> Result<()> {
        let start = clocks::instant(self.home, date, hour, minute)?;
        let end = start + SignedDuration::minutes(minutes);
        let mut body = json!({ "title": title, "start_time": start.to_string(), "end_time": end.to_string() });
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name.as_str()] = value.clone();
        }
        self.rest.create(&format!("/v1/calendars/{}/events", self.calendar(whose)?), &body).await?;
        Ok(())
    }

    /// The first time on Tuesday that is in everybody's working hours and free.
    async fn first_in_common(&self) -> Result<Timestamp> {
        let zones = PEOPLE.iter().map(|(_, zone)| zone.parse::<Zone>().context("an unknown zone"));
        let zones = zones.collect::<Result<Vec<_>>>()?;
        let (from, to) = self.day(TUESDAY)?;
        let mut busy = Vec::new();
        for person in &self.people {
            let events = self.rest.events(&person.calendar, from, to).await?;
            busy.extend(events.into_iter().map(|event| (event.start, event.end)));
        }
        let length = SignedDuration::minutes(MEETING_MINUTES);
        clocks::first_in_common(&zones, &busy, (from, to), length).context("the five have no time in common")
    }
}

/// A new calendar with that name.
async fn calendar(rest: &Rest, target: &str, name: &str, zone: &str) -> Result<String> {
    let made = rest.create(target, &json!({ "name": name, "timezone": zone })).await?;
    Ok(json::text(&made, "id")?.to_owned())
}

/// A new key of an agent.
async fn key_of(rest: &Rest, agent: &str, scopes: &[&str]) -> Result<String> {
    let mut body = json!({ "agent_id": agent });
    if !scopes.is_empty() {
        body["scopes"] = json!(scopes);
    }
    let made = rest.create("/v1/keys", &body).await.context("no key of an agent")?;
    Ok(json::text(&made, "key")?.to_owned())
}

/// Working hours from Monday to Friday.
fn rules() -> Value {
    let hours = json!({ "start": format!("{OPENS:02}:00"), "end": format!("{CLOSES:02}:00") });
    json!({ "working_hours": { "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours } })
}
