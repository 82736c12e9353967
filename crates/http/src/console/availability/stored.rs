//! The rules of a calendar as the pages have them, and as the API takes them.

use kalends_app::{Actor, App, IfMatch, Missing, Refusal, etag};
use kalends_calendars::AvailabilityRules;
use kalends_time::Zone;
use kalends_web::{DateShown, OpenHours, RulesShown};
use kalends_wire as wire;

/// The version of the rules of a calendar that has none.
const NONE: &str = "none";

/// The rules of a visible calendar, if it has any.
///
/// # Errors
/// [`Refusal::NotFound`] if there is no such calendar.
pub(super) async fn rules_of(app: &App, caller: &Actor, calendar: &str) -> Result<Option<AvailabilityRules>, Refusal> {
    match app.availability_rules(caller, calendar).await {
        Ok(rules) => Ok(Some(rules)),
        Err(Refusal::NotFound { missing: Missing::AvailabilityRules, .. }) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The version that a form of these rules has. It names the rules too: rules that are removed and made again begin with
/// the same number.
pub(super) fn version(rules: Option<&AvailabilityRules>) -> String {
    rules.map_or_else(|| NONE.to_owned(), |rules| format!("{}.{}", rules.id, rules.version.0))
}

/// The condition for replacing the rules, given the [`version`] of a form.
///
/// # Errors
/// [`Refusal::Stale`] if the rules have changed since the page of the form was opened.
pub(super) fn condition(seen: &str, now: Option<&AvailabilityRules>) -> Result<IfMatch, Refusal> {
    let (condition, current) = match now {
        Some(rules) => (IfMatch::OneOf(vec![rules.version]), etag(rules.version)),
        None => (IfMatch::Absent, "(there is none)".to_owned()),
    };
    if seen == version(now) { Ok(condition) } else { Err(Refusal::Stale { current }) }
}

/// The rules for a page.
pub(super) fn shown(rules: AvailabilityRules) -> RulesShown {
    let zone = rules.rules.zone();
    let written = wire::AvailabilityRules::from(rules);
    let date =
        |given: wire::DateHours| Some(DateShown { date: given.date.parse().ok()?, hours: read(given.working_hours) });
    RulesShown {
        before: written.buffer_before_minutes,
        after: written.buffer_after_minutes,
        week: written.working_hours.map(week),
        zone,
        dates: written.overrides.into_iter().filter_map(date).collect(),
    }
}

fn week(hours: wire::WorkingHours) -> [Option<OpenHours>; 7] {
    let wire::WorkingHours { mon, tue, wed, thu, fri, sat, sun } = hours;
    [mon, tue, wed, thu, fri, sat, sun].map(read)
}

fn read(hours: Option<wire::OpenHours>) -> Option<OpenHours> {
    hours.and_then(|hours| OpenHours::between(&hours.start, &hours.end))
}

/// The hours as the API takes them.
pub(super) fn written(hours: OpenHours) -> wire::OpenHours {
    let [start, end] = hours.texts();
    wire::OpenHours { start, end }
}

/// The hours of each weekday, as the API takes them.
pub(super) fn written_week(week: [Option<OpenHours>; 7]) -> wire::WorkingHours {
    let [mon, tue, wed, thu, fri, sat, sun] = week.map(|hours| hours.map(written));
    wire::WorkingHours { mon, tue, wed, thu, fri, sat, sun }
}

/// The dates with hours of their own, as the API takes them.
pub(super) fn written_dates(dates: &[DateShown]) -> Vec<wire::DateHours> {
    let date =
        |shown: &DateShown| wire::DateHours { date: shown.date.to_string(), working_hours: shown.hours.map(written) };
    dates.iter().map(date).collect()
}

/// The rules as the API takes them.
pub(super) fn body(rules: &RulesShown) -> wire::PutAvailabilityRules {
    wire::PutAvailabilityRules {
        buffer_before_minutes: Some(rules.before),
        buffer_after_minutes: Some(rules.after),
        working_hours: rules.week.map(written_week),
        timezone: Some(rules.zone.name().to_owned()),
        overrides: Some(written_dates(&rules.dates)),
    }
}

/// Rules that restrict nothing.
pub(super) const fn unrestricted(zone: Zone) -> RulesShown {
    RulesShown { before: 0, after: 0, week: None, zone, dates: Vec::new() }
}
