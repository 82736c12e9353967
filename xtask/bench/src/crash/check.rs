//! Reads a calendar and compares it with the answers that its writers got.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::writer::{Ledger, Outcome};
use crate::connection::{Connection, get};
use crate::json;

/// The number of events on a page.
const PAGE: u64 = 200;
/// How often a calendar that changes while it is read is read again: on Postgres, a transaction of the killed server
/// may still be in progress.
const READINGS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);
/// How many problems an error lists.
const NAMED: usize = 5;

/// The result of a check, in events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Findings {
    pub(crate) acknowledged: u64,
    pub(crate) unanswered: u64,
    pub(crate) unanswered_present: u64,
}

/// A calendar as the API shows it: identifiers by title.
type Present = BTreeMap<String, Vec<String>>;

/// Compares the calendar with the ledger.
pub(crate) async fn check_calendar(
    connection: &mut Connection,
    key: &str,
    calendar: &str,
    ledger: &Ledger,
) -> Result<Findings> {
    let present = read(connection, key, calendar).await.with_context(|| format!("reading {calendar}"))?;
    let findings = compare(&present, ledger).with_context(|| format!("in {calendar}"))?;
    // Read one event by its own route too, to check that both ways of reading agree.
    if let Some((title, id)) = present.iter().find_map(|(title, ids)| Some((title, ids.first()?))) {
        let event = connection.ask(&get(&format!("/v1/events/{id}"), Some(key))).await?.json(200)?;
        ensure!(json::text(&event, "title")? == title, "{id} is listed as {title} and read as {event}");
    }
    Ok(findings)
}

async fn read(connection: &mut Connection, key: &str, calendar: &str) -> Result<Present> {
    for _ in 0..READINGS {
        if let Some(present) = read_once(connection, key, calendar).await? {
            return Ok(present);
        }
        tokio::time::sleep(PAUSE).await;
    }
    bail!("the calendar's total does not match its events, or keeps changing")
}

/// Reads all pages. `None` if they are inconsistent.
async fn read_once(connection: &mut Connection, key: &str, calendar: &str) -> Result<Option<Present>> {
    let mut present = Present::new();
    let mut total = None;
    let (mut read, mut last_start) = (0, String::new());
    loop {
        let target = format!("/v1/calendars/{calendar}/events?limit={PAGE}&offset={read}");
        let page = connection.ask(&get(&target, Some(key))).await?.json(200)?;
        let (events, count) = (json::list(&page, "data")?, json::number(&page, "total")?);
        if *total.get_or_insert(count) != count {
            return Ok(None);
        }
        for event in events {
            let start = json::text(event, "startTime")?;
            ensure!(last_start.as_str() <= start, "an event at {start} is listed after one at {last_start}");
            start.clone_into(&mut last_start);
            let ids = present.entry(json::text(event, "title")?.to_owned()).or_default();
            ids.push(json::text(event, "id")?.to_owned());
        }
        read += events.len() as u64;
        if events.len() as u64 != PAGE {
            return Ok((read == count).then_some(present));
        }
    }
}

fn compare(present: &Present, ledger: &Ledger) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for (write, outcome) in ledger.writes() {
        let found: Vec<_> =
            write.titles.iter().map(|title| present.get(title).map_or(&[][..], Vec::as_slice)).collect();
        known.extend(write.titles.iter());
        let there = found.iter().filter(|ids| !ids.is_empty()).count() as u64;
        let all = write.titles.len() as u64;
        match outcome {
            Outcome::Acknowledged(ids) => {
                findings.acknowledged += all;
                for ((title, found), id) in write.titles.iter().zip(&found).zip(ids) {
                    match found {
                        [only] if only == id => {}
                        [] => wrong.push(format!("{title} was acknowledged as {id} and is missing")),
                        others => wrong.push(format!("{title} was acknowledged as {id} and exists as {others:?}")),
                    }
                }
            }
            Outcome::Unanswered => {
                findings.unanswered += all;
                findings.unanswered_present += there;
                if there != 0 && there != all {
                    wrong.push(format!("only {there} of the {all} events {:?} exist", write.titles));
                }
                for (title, found) in write.titles.iter().zip(&found).filter(|(_, found)| found.len() > 1) {
                    wrong.push(format!("{title}, which had no answer, exists as {found:?}"));
                }
            }
        }
    }
    for title in present.keys().filter(|title| !known.contains(title)) {
        wrong.push(format!("{title} exists, but nobody wrote it"));
    }
    if wrong.is_empty() {
        return Ok(findings);
    }
    let count = wrong.len();
    wrong.truncate(NAMED);
    bail!("{count} problems: {}", wrong.join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::writer::Write;
    use super::*;

    fn ledger(writes: &[(&[&str], Option<&[&str]>)]) -> Ledger {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mut ledger = Ledger::default();
        for (titles, ids) in writes {
            let outcome = ids.map_or(Outcome::Unanswered, |ids| Outcome::Acknowledged(owned(ids)));
            ledger.push(Write::new("key".into(), owned(titles), 1), outcome);
        }
        ledger
    }

    fn present(events: &[(&str, &str)]) -> Present {
        let mut present = Present::new();
        for (title, id) in events {
            present.entry((*title).to_owned()).or_default().push((*id).to_owned());
        }
        present
    }

    #[test]
    fn consistent_calendars_are_counted() {
        let ledger = ledger(&[(&["a"], Some(&["1"])), (&["b"], None), (&["c", "d"], None), (&["e"], None)]);
        let present = present(&[("a", "1"), ("c", "2"), ("d", "3"), ("e", "4")]);
        let findings = Findings { acknowledged: 1, unanswered: 4, unanswered_present: 3 };
        assert_eq!(compare(&present, &ledger).unwrap(), findings);
    }

    #[test]
    fn inconsistencies_are_named() {
        let acknowledged: &[(&[&str], Option<&[&str]>)] = &[(&["a"], Some(&["1"]))];
        let unanswered: &[(&[&str], Option<&[&str]>)] = &[(&["a", "b"], None)];
        for (writes, events, expected) in [
            (acknowledged, &[][..], "a was acknowledged as 1 and is missing"),
            (acknowledged, &[("a", "2")], "a was acknowledged as 1 and exists as [\"2\"]"),
            (acknowledged, &[("a", "1"), ("a", "2")], "exists as [\"1\", \"2\"]"),
            (acknowledged, &[("a", "1"), ("z", "2")], "z exists, but nobody wrote it"),
            (unanswered, &[("a", "1")], "only 1 of the 2 events"),
            (unanswered, &[("a", "1"), ("b", "2"), ("b", "3")], "b, which had no answer, exists as"),
        ] {
            let error = compare(&present(events), &ledger(writes)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
