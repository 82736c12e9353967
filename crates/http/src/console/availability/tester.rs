//! What is offered, and why not more.

use std::collections::BTreeSet;

use axum::{extract::RawQuery, response::Response};
use bytes::Bytes;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal};
use kalends_kernel::{AgentId, EARLIEST_TIME, FieldError, FieldErrors};
use kalends_plans::Feature;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use kalends_web::{
    AskedTime, Hindrance, NO_PROBLEMS, Place, Problems, TEST_DAYS_MAX, TEST_FIELDS, TEST_REASONS_MAX, TestGiven,
    Tested, TesterPage, days_of,
};
use kalends_wire::{self as wire, ExplainQuery, SlotLength, SlotQuery, SlotsRequest};
use serde::Deserialize;

use super::{
    super::{
        calendar::{instant, reasons},
        frame::shell,
        shown::{page, problems, shown_again},
    },
    choices::{Choices, Chosen, chosen, hindered_first, zone_of},
    list::TO_LIST,
};
use crate::{Service, error::ApiError, extract::Caller, pages::Fields};

/// The longest time that one explanation can be about.
const EXPLAINED_MAX: SignedDuration = SignedDuration::days(7);
/// The length of a slot that the form suggests, in minutes.
const SUGGESTED: &str = "30";
/// The days that the form suggests to test.
const SUGGESTED_DAYS: i64 = 7;

/// What was asked, and the answer for each of those who are chosen.
struct Asking {
    window: Span,
    length: SlotLength,
    step: SlotLength,
    at: Option<Span>,
    answers: Vec<Bytes>,
}

/// The part of an answer of the API that the page shows.
#[derive(Deserialize)]
struct Answer {
    slots: Vec<wire::Slot>,
    warnings: Vec<String>,
}

/// What the page shows, whatever the answer.
struct Shown<'a> {
    app: &'a App,
    caller: &'a Actor,
    asked: &'a Fields,
    choices: &'a Choices,
    zone: Zone,
}

/// `GET /console/availability/test`
pub(super) async fn test(app: Service, caller: Caller, RawQuery(query): RawQuery) -> Result<Response, ApiError> {
    let (caller, asked) = (&caller.0, Fields::read(query.unwrap_or_default().as_bytes()));
    let mut choices = Choices::read(&app, caller, &asked).await?;
    let chosen = chosen(&app, caller, &asked).await;
    choices.add(chosen.as_deref().unwrap_or_default());
    let zone = match asked.get("timezone").trim().parse() {
        Ok(zone) => zone,
        Err(_) => zone_of(&app, caller, chosen.as_deref().unwrap_or_default()).await?.unwrap_or(choices.zone),
    };
    let shown = Shown { app: &app, caller, asked: &asked, choices: &choices, zone };
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(refusal) => return shown.again(refusal),
    };
    if asked.get("start_time").is_empty() && asked.get("end_time").is_empty() {
        return Ok(page(StatusCode::OK, shown.render(&NO_PROBLEMS, None)?));
    }
    let asking = match shown.ask(&chosen).await {
        Ok(asking) => asking,
        Err(refusal) => return shown.again(refusal),
    };
    let answers = asking.answers.iter().map(read).collect::<Result<Vec<_>, ApiError>>()?;
    match shown.tested(&chosen, &asking, answers).await {
        Ok(tested) => Ok(page(StatusCode::OK, shown.render(&NO_PROBLEMS, Some(&tested))?)),
        Err(refusal) => shown.again(refusal),
    }
}

/// Reads an answer of the API.
fn read(answer: &Bytes) -> Result<Answer, ApiError> {
    serde_json::from_slice(answer).map_err(|error| {
        tracing::error!(%error, "an answer about availability has another shape than its page expects");
        ApiError::Internal
    })
}

impl Shown<'_> {
    fn render(&self, problems: &Problems, tested: Option<&Tested>) -> Result<String, Refusal> {
        let Self { app, caller, asked, choices, zone } = *self;
        let now = app.now();
        let begin = now + SignedDuration::hours(1);
        let typed = |name: &str, suggested: String| match asked.get(name).trim() {
            "" => suggested,
            typed => typed.to_owned(),
        };
        let start = typed("start_time", hour(begin, zone));
        let end = typed("end_time", hour(begin + SignedDuration::days(SUGGESTED_DAYS), zone));
        let minutes = typed("minutes", SUGGESTED.to_owned());
        let (step, at) = (asked.get("step").trim(), asked.get("at").trim());
        let tester = TesterPage {
            shell: &shell(caller, Place::Availability)?,
            candidates: &choices.candidates,
            has_more: choices.has_more,
            zone,
            now,
            given: TestGiven { minutes: &minutes, step, start: &start, end: &end, at },
            problems,
            tested,
        };
        Ok(tester.html())
    }

    /// The page that says what is wrong with the question.
    fn again(&self, refusal: Refusal) -> Result<Response, ApiError> {
        let (problems, error) = problems(refusal, &TEST_FIELDS)?;
        shown_again(error, self.render(&problems, None), TO_LIST)
    }

    /// Asks each of those who are chosen for its slots.
    async fn ask(&self, chosen: &[Chosen]) -> Result<Asking, Refusal> {
        let (asked, zone, mut errors) = (self.asked, self.zone, FieldErrors::default());
        if chosen.is_empty() {
            errors.push(FieldError::new("who", "must be at least one agent or calendar"));
        }
        let named = asked.get("timezone").trim();
        if !named.is_empty()
            && let Err(error) = named.parse::<Zone>()
        {
            errors.push(FieldError::new("timezone", error.to_string()));
        }
        let length = errors.take(minutes("minutes", asked.get("minutes")));
        let step = match asked.get("step").trim() {
            "" => length,
            text => errors.take(minutes("step", text)),
        };
        let start = errors.take(instant("start_time", asked.get("start_time").trim(), zone));
        let end = errors.take(instant("end_time", asked.get("end_time").trim(), zone));
        let window = start.zip(end).and_then(|(start, end)| errors.take(window(start, end)));
        let at = match asked.get("at").trim() {
            "" => None,
            text => errors.take(instant("at", text, zone)),
        };
        let at = at.zip(length).and_then(|(at, length)| errors.take(slot(at, length)));
        let (Some(length), Some(step), Some(window)) = (length, step, window) else { return Err(errors.into()) };
        errors.finish()?;
        let agents: BTreeSet<AgentId> = chosen.iter().filter_map(|one| one.agent).collect();
        if agents.len() > 1 {
            self.caller.needs(Feature::CrossAgentAvailability)?;
        }
        let query = SlotQuery::new(window, length).map_err(FieldError::from)?.stepping(step);
        let request = SlotsRequest { query, include_busy: false, allow_stale: false };
        let mut answers = Vec::with_capacity(chosen.len());
        for one in chosen {
            answers.push(one.slots(self.app, self.caller, request).await?);
        }
        Ok(Asking { window, length, step, at, answers })
    }

    /// What all of those who are chosen offer, and why not more.
    async fn tested(&self, chosen: &[Chosen], asking: &Asking, answers: Vec<Answer>) -> Result<Tested, Refusal> {
        let (mut offers, mut warnings): (Vec<BTreeSet<Timestamp>>, _) = (Vec::with_capacity(chosen.len()), Vec::new());
        for (one, answer) in chosen.iter().zip(answers) {
            let who = label(one, chosen.len());
            let said = |warning| if who.is_empty() { warning } else { format!("{who}: {warning}") };
            warnings.extend(answer.warnings.into_iter().map(said));
            offers.push(answer.slots.iter().map(|slot| slot.start).collect());
        }
        // All answers have the same grid: a slot that each of them has is free for all.
        let slots: Vec<Timestamp> = match offers.split_first() {
            Some((first, others)) => {
                first.iter().copied().filter(|slot| others.iter().all(|own| own.contains(slot))).collect()
            }
            None => Vec::new(),
        };
        let days = days_of(asking.window, self.zone).into_iter().map(|(_, part)| part);
        let without: Vec<Span> = days.filter(|part| !slots.iter().any(|slot| part.contains(*slot))).collect();
        let (mut hindrances, mut incomplete) = (Vec::new(), Vec::new());
        for run in runs(&without) {
            let days: Vec<Span> = without.iter().copied().filter(|day| run.overlaps(*day)).collect();
            let (found, has_more) = self.explain(&hindered_first(chosen, &offers, &days), run, &days).await?;
            hindrances.extend(found);
            if has_more {
                incomplete.push(run);
            }
        }
        let at = match asking.at {
            None => None,
            Some(span) => {
                let asked = hindered_first(chosen, &offers, &[span]);
                let (hindrances, has_more) = self.explain(&asked, span, &[span]).await?;
                Some(AskedTime { span, hindrances, has_more })
            }
        };
        let (minutes, step) = (asking.length.as_minutes(), asking.step.as_minutes());
        Ok(Tested { window: asking.window, minutes, step, slots, hindrances, incomplete, warnings, at })
    }

    /// What keeps a time from being offered, and whether there may be more. Each explanation costs as much as a request
    /// of the API, so nobody else is asked once each of the `days` has as many reasons as the page shows.
    async fn explain(&self, chosen: &[&Chosen], time: Span, days: &[Span]) -> Result<(Vec<Hindrance>, bool), Refusal> {
        let (mut hindrances, mut has_more) = (Vec::new(), false);
        for one in chosen {
            if are_explained(days, &hindrances) {
                has_more = true;
                break;
            }
            let query = ExplainQuery { of: one.of.clone(), time, allow_stale: false };
            let found = self.app.explain_availability(self.caller, query).await?;
            has_more |= found.has_more;
            let who = label(one, chosen.len());
            hindrances.extend(reasons(&found).into_iter().map(|why| Hindrance { who: who.clone(), why }));
        }
        Ok((hindrances, has_more))
    }
}

/// The name of one of those who are chosen; empty if it is the only one.
fn label(one: &Chosen, chosen: usize) -> String {
    if chosen > 1 { one.name.clone() } else { String::new() }
}

/// Whether each of the days has as many reasons as the page shows.
fn are_explained(days: &[Span], hindrances: &[Hindrance]) -> bool {
    let on = |day: Span| hindrances.iter().filter(move |hindrance| hindrance.why.span.overlaps(day));
    days.iter().all(|day| on(*day).take(TEST_REASONS_MAX).count() == TEST_REASONS_MAX)
}

/// The full hour that a clock of the zone shows at that time or before.
fn hour(at: Timestamp, zone: Zone) -> String {
    let civil = zone.to_civil(at);
    let (hour, ..) = civil.time.hour_minute_second();
    format!("{}T{hour:02}:00", civil.date)
}

fn minutes(param: &str, text: &str) -> Result<SlotLength, FieldError> {
    let read = text.trim().parse().ok().and_then(SlotLength::from_minutes);
    read.ok_or_else(|| FieldError::new(param, "must be a whole number of minutes, 5 to 480"))
}

/// The time to test.
fn window(start: Timestamp, end: Timestamp) -> Result<Span, FieldError> {
    let span = Span::new(start, end).map_err(|_| FieldError::new("end_time", "must be after the start"))?;
    if start < EARLIEST_TIME {
        return Err(FieldError::new("start_time", YEARS));
    }
    if end > Timestamp::HORIZON {
        return Err(FieldError::new("end_time", YEARS));
    }
    if span.length() > SignedDuration::days(TEST_DAYS_MAX) {
        return Err(FieldError::new("end_time", format!("must be at most {TEST_DAYS_MAX} days after the start")));
    }
    Ok(span)
}

/// The slot that was asked about.
fn slot(at: Timestamp, length: SlotLength) -> Result<Span, FieldError> {
    let span = Span::new(at, at + length.elapsed()).ok();
    let span = span.filter(|span| span.start() >= EARLIEST_TIME && span.end() <= Timestamp::HORIZON);
    span.ok_or_else(|| FieldError::new("at", YEARS))
}

/// The years of events.
const YEARS: &str = "must be from 1970 to 2099";

/// The days in spans that one explanation can be about. Days that are not adjacent are apart: the reasons of what is
/// between them would displace theirs.
fn runs(days: &[Span]) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for day in days {
        let before = runs.last().filter(|run| run.end() == day.start());
        let joined = before.and_then(|run| Span::new(run.start(), day.end()).ok());
        match (runs.last_mut(), joined.filter(|joined| joined.length() <= EXPLAINED_MAX)) {
            (Some(last), Some(joined)) => *last = joined,
            _ => runs.push(*day),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use kalends_web::{Obstacle, WhyNot};

    use super::*;

    fn days(from: i64, to: i64) -> Span {
        let at = |day| Timestamp::EPOCH + SignedDuration::days(day);
        Span::new(at(from), at(to)).unwrap()
    }

    #[test]
    fn days_are_explained_together() {
        let one = |day| days(day, day + 1);
        assert!(runs(&[]).is_empty());
        assert_eq!(runs(&[one(0), one(1), one(2)]), [days(0, 3)]);
        assert_eq!(runs(&[one(0), one(6), one(7), one(13), one(14)]), [one(0), days(6, 8), days(13, 15)]);
        let each: Vec<Span> = (0..14).map(one).collect();
        assert_eq!(runs(&each), [days(0, 7), days(7, 14)]);
    }

    #[test]
    fn days_with_enough_reasons_are_explained() {
        let why = WhyNot { obstacle: Obstacle::Event, span: days(0, 1) };
        let hindrances = vec![Hindrance { who: String::new(), why }; TEST_REASONS_MAX];
        assert!(are_explained(&[days(0, 1)], &hindrances));
        assert!(!are_explained(&[days(0, 1)], &hindrances[1..]));
        assert!(!are_explained(&[days(0, 1), days(1, 2)], &hindrances), "the next day has none");
    }

    #[test]
    fn a_window_has_at_most_two_weeks_of_the_years_of_events() {
        let at = |day| Timestamp::EPOCH + SignedDuration::days(day);
        let wrong = |from, to| window(at(from), at(to)).map_err(|error| error.param);
        assert_eq!(wrong(0, 14), Ok(days(0, 14)));
        assert_eq!(wrong(0, 15), Err("end_time".to_owned()));
        assert_eq!(wrong(3, 3), Err("end_time".to_owned()));
        assert_eq!(wrong(-1, 3), Err("start_time".to_owned()));
        assert_eq!(wrong(47_480, 47_490), Err("end_time".to_owned()));
    }

    #[test]
    fn lengths_are_whole_minutes() {
        let [none, least, most] = [None, Some(5), Some(480)];
        for (text, read) in [("5", least), (" 480 ", most), ("4", none), ("481", none), ("1h", none), ("", none)] {
            assert_eq!(minutes("minutes", text).ok().map(SlotLength::as_minutes), read, "{text}");
        }
    }
}
