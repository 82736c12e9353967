//! The events whose copies are compared with them at the end.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use kalends_time::{SignedDuration, Timestamp};
use serde_json::json;

use super::Options;
use super::provider::Copied;
use super::seed::Published;
use crate::connection::{Connection, delete, patch, post};
use crate::json;
use crate::random::Random;

/// How long after the beginning the first event starts. All events are within the half year that is copied.
const AHEAD: SignedDuration = SignedDuration::days(2);
/// The length of an event. The events of the campaign follow each other, and begin again after `STARTS` of them.
const LASTS: SignedDuration = SignedDuration::minutes(30);
const STARTS: i64 = 2_000;
/// The most events of a calendar at one time.
const EVENTS_MAX: usize = 20;

/// The events of a calendar: their titles by their identifiers.
pub(crate) type Events = BTreeMap<String, String>;

/// What a change does.
enum Change {
    Create,
    /// Gives this event another title.
    Rename(String),
    Delete(String),
}

/// Changes events at random until the time is over. Returns the events of each calendar, in the order of `published`.
pub(crate) async fn write(
    options: &Options,
    server: SocketAddr,
    published: &[Published],
    first: Timestamp,
    mut random: Random,
) -> Result<Vec<Events>> {
    let mut events = vec![Events::new(); published.len()];
    if published.is_empty() {
        return Ok(events);
    }
    let first = Timestamp::from_micros(first.as_unix_seconds() * 1_000_000) + AHEAD;
    let mut connection = Connection::open(server).await?;
    let (begun, each) = (Instant::now(), Duration::from_secs(options.seconds.into()) / options.changes.max(1));
    for number in 0..options.changes {
        tokio::time::sleep((each * number).saturating_sub(begun.elapsed())).await;
        let place = usize::try_from(random.below(published.len() as u64))?;
        let (of, known) = (&published[place], &mut events[place]);
        let title = format!("Change {number}");
        match draw(known, &mut random)? {
            Change::Create => {
                let start = first + SignedDuration::micros(LASTS.as_micros() * (i64::from(number) % STARTS));
                let body = json!({
                    "title": title, "start_time": start.to_string(), "end_time": (start + LASTS).to_string()
                });
                let path = format!("/v1/calendars/{}/events", of.calendar);
                let request = post(&path, Some(&of.key), None, &body.to_string());
                let made = connection.ask(&request).await?.json(201)?;
                known.insert(json::text(&made, "id")?.to_owned(), title);
            }
            Change::Rename(event) => {
                let body = json!({ "title": title }).to_string();
                connection.ask(&patch(&format!("/v1/events/{event}"), &of.key, &body)).await?.json(200)?;
                known.insert(event, title);
            }
            Change::Delete(event) => {
                let answer = connection.ask(&delete(&format!("/v1/events/{event}"), &of.key)).await?;
                ensure!(answer.status == 204, "the deletion of {event} got {}", answer.status);
                known.remove(&event);
            }
        }
    }
    Ok(events)
}

/// Decides what to change in a calendar.
fn draw(events: &Events, random: &mut Random) -> Result<Change> {
    if events.is_empty() || (events.len() < EVENTS_MAX && random.one_in(2)) {
        return Ok(Change::Create);
    }
    let place = usize::try_from(random.below(events.len() as u64))?;
    let event = events.keys().nth(place).context("an event that is not there")?.clone();
    Ok(if random.one_in(3) { Change::Delete(event) } else { Change::Rename(event) })
}

/// Compares the copies in an account with the events of its calendar. Returns the number of copies.
pub(crate) fn compare(calendar: &str, events: &Events, copies: &[Copied]) -> Result<usize> {
    let mut found = BTreeMap::new();
    for copy in copies {
        ensure!(copy.calendar == calendar, "a copy of {} is with those of {calendar}", copy.calendar);
        ensure!(found.insert(&copy.event, &copy.title).is_none(), "{} of {calendar} was copied twice", copy.event);
    }
    for (event, title) in events {
        match found.remove(event) {
            Some(copied) if copied == title => {}
            Some(copied) => bail!("the copy of {event} of {calendar} has the title {copied:?} instead of {title:?}"),
            None => bail!("{event} of {calendar} has no copy"),
        }
    }
    let left = found.keys().next();
    ensure!(left.is_none(), "{left:?} of {calendar} has a copy, although it is deleted");
    Ok(copies.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(copies: &[(&str, &str, &str)]) -> Result<usize> {
        let events = [("evt_1", "One"), ("evt_2", "Two")].map(|(event, title)| (event.into(), title.into()));
        let copies: Vec<Copied> = copies
            .iter()
            .map(|(calendar, event, title)| Copied {
                calendar: (*calendar).to_owned(),
                event: (*event).to_owned(),
                title: (*title).to_owned(),
            })
            .collect();
        compare("cal_1", &Events::from(events), &copies)
    }

    #[test]
    fn each_event_has_one_copy_that_is_current() {
        let (one, two) = (("cal_1", "evt_1", "One"), ("cal_1", "evt_2", "Two"));
        assert_eq!(compared(&[two, one]).unwrap(), 2);
        for wrong in [
            &[one][..],
            &[one, two, one],
            &[one, two, ("cal_1", "evt_3", "Three")],
            &[one, ("cal_1", "evt_2", "Old")],
            &[one, ("cal_2", "evt_2", "Two")],
        ] {
            assert!(compared(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_calendar_stays_within_its_bounds() {
        let (mut events, mut random) = (Events::new(), Random::new(1));
        let (mut created, mut renamed, mut deleted) = (0, 0, 0);
        for number in 0..2_000 {
            match draw(&events, &mut random).unwrap() {
                Change::Create => {
                    created += 1;
                    assert!(events.insert(format!("evt_{number}"), String::new()).is_none());
                }
                Change::Rename(event) => {
                    renamed += 1;
                    assert!(events.contains_key(&event));
                }
                Change::Delete(event) => {
                    deleted += 1;
                    assert!(events.remove(&event).is_some());
                }
            }
            assert!(events.len() <= EVENTS_MAX);
        }
        assert!(created > 100 && renamed > 100 && deleted > 100, "{created}, {renamed}, {deleted}");
    }
}
