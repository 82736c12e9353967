//! Reads a calendar back and compares it with what its writers were told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::writer::{Ledger, Outcome};
use crate::connection::{Connection, get};
use crate::json;

/// The most events of a page.
const PAGE: u64 = 200;
/// How often a calendar is read again that changed while it was read: on Postgres a transaction of the
/// killed server may still be on its way.
const READINGS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);
/// How many of what is wrong an error names.
const NAMED: usize = 5;

/// What a check saw, in events.
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
    // One of them by its own route, so that both ways of reading are seen to agree.
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
    bail!("the calendar's total is not the number of its events, or never stands still")
}

/// All pages; `None` where they do not fit together.
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
            ensure!(last_start.as_str() <= start, "an event of {start} is listed after one of {last_start}");
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
                        others => wrong.push(format!("{title} was acknowledged as {id} and is there as {others:?}")),
                    }
                }
            }
            Outcome::Unanswered => {
                findings.unanswered += all;
                findings.unanswered_present += there;
                if there != 0 && there != all {
                    wrong.push(format!("of the {all} events of {:?} only {there} are there", write.titles));
                }
                for (title, found) in write.titles.iter().zip(&found).filter(|(_, found)| found.len() > 1) {
                    wrong.push(format!("{title}, which had no answer, is there as {found:?}"));
                }
            }
        }
    }
    for title in present.keys().filter(|title| !known.contains(title)) {
        wrong.push(format!("{title} is there, which nobody wrote"));
    }
    if wrong.is_empty() {
        return Ok(findings);
    }
    let count = wrong.len();
    wrong.truncate(NAMED);
    bail!("{count} wrong: {}", wrong.join("; "))
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
    fn what_is_right_is_counted() {
        let ledger = ledger(&[(&["a"], Some(&["1"])), (&["b"], None), (&["c", "d"], None), (&["e"], None)]);
        let present = present(&[("a", "1"), ("c", "2"), ("d", "3"), ("e", "4")]);
        let findings = Findings { acknowledged: 1, unanswered: 4, unanswered_present: 3 };
        assert_eq!(compare(&present, &ledger).unwrap(), findings);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let acknowledged: &[(&[&str], Option<&[&str]>)] = &[(&["a"], Some(&["1"]))];
        let unanswered: &[(&[&str], Option<&[&str]>)] = &[(&["a", "b"], None)];
        for (writes, events, said) in [
            (acknowledged, &[][..], "a was acknowledged as 1 and is missing"),
            (acknowledged, &[("a", "2")], "a was acknowledged as 1 and is there as [\"2\"]"),
            (acknowledged, &[("a", "1"), ("a", "2")], "is there as [\"1\", \"2\"]"),
            (acknowledged, &[("a", "1"), ("z", "2")], "z is there, which nobody wrote"),
            (unanswered, &[("a", "1")], "only 1 are there"),
            (unanswered, &[("a", "1"), ("b", "2"), ("b", "3")], "b, which had no answer, is there as"),
        ] {
            let error = compare(&present(events), &ledger(writes)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
