//! What is typed into the forms of the rules, as requests of the API.

use kalends_calendars::{BUFFER_MAX_MINUTES, DATES_MAX, NewRules};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{CivilDate, Zone};
use kalends_web::{DateGiven, DateShown, OpenHours, RulesGiven, RulesShown, date_in_range, hours_text, read_hours};
use kalends_wire as wire;

use super::stored::{body, unrestricted, written, written_dates};
use crate::pages::Fields;

/// The names of the fields of the weekdays, from Monday.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// What the form of the buffers and the working hours shows of the rules.
pub(super) struct Current {
    before: String,
    after: String,
    restricted: &'static str,
    zone: &'static str,
    days: [String; 7],
}

impl Current {
    /// The texts for these rules; `zone` is that of a calendar without rules.
    pub(super) fn of(rules: Option<&RulesShown>, zone: Zone) -> Self {
        let week = rules.and_then(|rules| rules.week);
        Self {
            before: rules.map_or(0, |rules| rules.before).to_string(),
            after: rules.map_or(0, |rules| rules.after).to_string(),
            restricted: if week.is_some() { "hours" } else { "any" },
            zone: rules.map_or(zone, |rules| rules.zone).name(),
            days: week.unwrap_or_default().map(hours_text),
        }
    }

    /// The fields of the form.
    pub(super) fn given(&self) -> RulesGiven<'_> {
        RulesGiven {
            before: &self.before,
            after: &self.after,
            restricted: self.restricted,
            zone: self.zone,
            days: self.days.each_ref().map(String::as_str),
        }
    }
}

/// The fields of the form, each with another text, given its name and its text `now`.
pub(super) fn each<'a>(now: RulesGiven<'a>, text: impl Fn(&str, &'a str) -> &'a str) -> RulesGiven<'a> {
    let [mon, tue, wed, thu, fri, sat, sun] = now.days;
    RulesGiven {
        before: text("buffer_before_minutes", now.before),
        after: text("buffer_after_minutes", now.after),
        restricted: text("working_hours", now.restricted),
        zone: text("timezone", now.zone),
        days: [
            text("mon", mon),
            text("tue", tue),
            text("wed", wed),
            text("thu", thu),
            text("fri", fri),
            text("sat", sat),
            text("sun", sun),
        ],
    }
}

/// The rules that the form describes. What was not typed over stays as it is `now`; `zone` is that of a calendar
/// without rules.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn wanted(now: Option<&RulesShown>, zone: Zone, fields: &Fields) -> Result<NewRules, FieldErrors> {
    let mut errors = FieldErrors::default();
    let current = Current::of(now, zone);
    let text = |name: &str| fields.is_typed_over(name).then(|| fields.get(name).trim());
    let given = each(current.given(), |name, now| text(name).unwrap_or(now));
    let before = errors.take(minutes("buffer_before_minutes", given.before));
    let after = errors.take(minutes("buffer_after_minutes", given.after));
    let mut read = |day: &str, text: &str| -> Option<wire::OpenHours> {
        let hours = read_hours(text).map_err(|problem| FieldError::new(day, problem));
        errors.take(hours).flatten().map(written)
    };
    let [mon, tue, wed, thu, fri, sat, sun] = given.days;
    let week = wire::WorkingHours {
        mon: read("mon", mon),
        tue: read("tue", tue),
        wed: read("wed", wed),
        thu: read("thu", thu),
        fri: read("fri", fri),
        sat: read("sat", sat),
        sun: read("sun", sun),
    };
    let is_restricted = restricted(given, current.restricted, fields);
    let working_hours = errors.take(is_restricted).unwrap_or_default().then_some(week);
    let body = wire::PutAvailabilityRules {
        buffer_before_minutes: before,
        buffer_after_minutes: after,
        working_hours,
        timezone: Some(given.zone.to_owned()),
        overrides: now.map(|rules| written_dates(&rules.dates)),
    };
    match errors.take_all(body.parse()) {
        Some(new) if errors.is_empty() => Ok(new),
        _ => Err(errors),
    }
}

/// Whether hours restrict what is offered. `before` is the choice that the rules have.
fn restricted(given: RulesGiven<'_>, before: &str, fields: &Fields) -> Result<bool, FieldError> {
    // Hours that are typed, but would have no effect, are a mistake.
    let is_typed = |day: &&str| fields.is_typed_over(day) && !fields.get(day).trim().is_empty();
    match given.restricted {
        // Empty fields close their days. Nobody should close all of them by accident.
        "hours" if before != "hours" && given.days.iter().all(|text| text.is_empty()) => {
            let message = "must have hours on a day below; to close every day, write closed in one of them";
            Err(FieldError::new("working_hours", message))
        }
        "hours" => Ok(true),
        "any" if DAYS.iter().any(is_typed) => {
            Err(FieldError::new("working_hours", "must be the hours below, or the hours that you typed have no effect"))
        }
        "any" => Ok(false),
        _ => Err(FieldError::new("working_hours", "must be one of the choices; choose it again")),
    }
}

fn minutes(param: &str, text: &str) -> Result<i64, FieldError> {
    let read = if text.is_empty() { Some(0) } else { text.parse().ok() };
    let most = i64::from(BUFFER_MAX_MINUTES);
    read.filter(|minutes| (0..=most).contains(minutes))
        .ok_or_else(|| FieldError::new(param, format!("must be a whole number of minutes, 0 to {most}")))
}

/// What was typed into the form of a date.
pub(super) fn typed_date(fields: &Fields) -> DateGiven<'_> {
    DateGiven { date: fields.get("date").trim(), hours: fields.get("hours").trim() }
}

/// The rules with the hours of a date that the form describes, instead of those that it has `now`.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn with_date(now: Option<RulesShown>, zone: Zone, given: DateGiven<'_>) -> Result<NewRules, FieldErrors> {
    let mut errors = FieldErrors::default();
    let date = given.date.parse::<CivilDate>().ok().and_then(date_in_range);
    let date = errors.take(date.ok_or_else(|| FieldError::new("date", "must be a date in the years 1970 to 2099")));
    let hours = errors.take(date_hours(given.hours));
    let (Some(date), Some(hours)) = (date, hours) else { return Err(errors) };
    let mut rules = now.unwrap_or_else(|| unrestricted(zone));
    rules.dates.retain(|shown| shown.date != date);
    rules.dates.push(DateShown { date, hours });
    if rules.dates.len() > DATES_MAX {
        let message = format!("must be one of at most {DATES_MAX} dates; remove another one first");
        return Err(FieldError::new("date", message).into());
    }
    body(&rules).parse()
}

/// The hours of a date. Nothing is no answer: nobody should close a date by accident.
fn date_hours(text: &str) -> Result<Option<OpenHours>, FieldError> {
    if text.is_empty() {
        return Err(FieldError::new("hours", "must be hours such as 10:00-14:00, or closed"));
    }
    read_hours(text).map_err(|problem| FieldError::new("hours", problem))
}

#[cfg(test)]
mod tests {
    use kalends_web::RULES_FIELDS;

    use super::*;

    fn now() -> RulesShown {
        let open = OpenHours::new(540, 1_020);
        let date = DateShown { date: "2026-12-24".parse().unwrap(), hours: None };
        let week = Some([open, open, open, open, open, None, None]);
        RulesShown { before: 10, after: 0, week, zone: "Europe/Berlin".parse().unwrap(), dates: vec![date] }
    }

    /// The fields of a form whose page showed these rules, in which these were typed over.
    fn form(shown: Option<&RulesShown>, typed: &[(&str, &str)]) -> Fields {
        let current = Current::of(shown, Zone::UTC);
        let given = current.given();
        let RulesGiven { before, after, restricted, zone, days } = given;
        let shown: Vec<&str> = [before, after, restricted, zone].into_iter().chain(days).collect();
        let fields = RULES_FIELDS.iter().zip(shown).map(|(name, was)| {
            let text = typed.iter().find(|(typed, _)| typed == name).map_or(was, |(_, text)| *text);
            format!("{name}={text}&was_{name}={was}")
        });
        Fields::read(fields.collect::<Vec<_>>().join("&").as_bytes())
    }

    fn wrong(shown: Option<&RulesShown>, typed: &[(&str, &str)]) -> Vec<String> {
        let errors = wanted(shown, Zone::UTC, &form(shown, typed)).unwrap_err();
        errors.iter().map(|error| error.param.clone()).collect()
    }

    #[test]
    fn a_form_changes_what_was_typed_over() {
        let shown = now();
        let same = body(&shown).parse().unwrap();
        assert_eq!(wanted(Some(&shown), Zone::UTC, &form(Some(&shown), &[])), Ok(same));
        let new = wanted(Some(&shown), Zone::UTC, &form(Some(&shown), &[("sat", "10-12"), ("fri", "")])).unwrap();
        let mut expected = now();
        if let Some([.., fri, sat, _]) = &mut expected.week {
            (*fri, *sat) = (None, OpenHours::new(600, 720));
        }
        assert_eq!(new, body(&expected).parse().unwrap());
        // Another tab has changed Monday and the buffers since.
        let theirs = RulesShown { before: 30, week: Some([None; 7]), ..now() };
        let sent = form(Some(&shown), &[("sat", "10-12")]);
        let merged = wanted(Some(&theirs), Zone::UTC, &sent).unwrap();
        let sat = OpenHours::new(600, 720);
        let expected = RulesShown { week: Some([None, None, None, None, None, sat, None]), ..theirs };
        assert_eq!(merged, body(&expected).parse().unwrap());
    }

    #[test]
    fn a_calendar_without_rules_gets_them() {
        let typed = [("working_hours", "hours"), ("mon", "9-17"), ("buffer_after_minutes", "15")];
        let new = wanted(None, Zone::UTC, &form(None, &typed)).unwrap();
        let mut expected = RulesShown { after: 15, ..unrestricted(Zone::UTC) };
        expected.week = Some([OpenHours::new(540, 1_020), None, None, None, None, None, None]);
        assert_eq!(new, body(&expected).parse().unwrap());
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let shown = now();
        let typed = [("buffer_before_minutes", "121"), ("buffer_after_minutes", "x"), ("tue", "late"), ("sun", "9-9")];
        let names = wrong(Some(&shown), &typed);
        assert_eq!(names, ["buffer_before_minutes", "buffer_after_minutes", "tue", "sun"]);
        assert_eq!(wrong(Some(&shown), &[("working_hours", "x")]), ["working_hours"]);
        assert_eq!(wrong(Some(&shown), &[("timezone", "Mars")]), ["timezone"]);
        assert_eq!(wrong(None, &[("mon", "9-17")]), ["working_hours"], "the hours would have no effect");
        let chosen = ("working_hours", "hours");
        assert_eq!(wrong(None, &[chosen]), ["working_hours"], "every day would be closed");
        let closed = wanted(None, Zone::UTC, &form(None, &[chosen, ("sun", "closed")])).unwrap();
        assert_eq!(closed, body(&RulesShown { week: Some([None; 7]), ..unrestricted(Zone::UTC) }).parse().unwrap());
        let any = wanted(Some(&shown), Zone::UTC, &form(Some(&shown), &[("working_hours", "any")])).unwrap();
        assert_eq!(any, body(&RulesShown { week: None, ..now() }).parse().unwrap());
    }

    #[test]
    fn a_date_gets_hours_of_its_own() {
        let given = |date, hours| DateGiven { date, hours };
        let new = with_date(Some(now()), Zone::UTC, given("2026-12-24", "10:00-14:00")).unwrap();
        let hours = OpenHours::new(600, 840);
        let dates = vec![DateShown { date: "2026-12-24".parse().unwrap(), hours }];
        assert_eq!(new, body(&RulesShown { dates, ..now() }).parse().unwrap());
        assert!(with_date(None, Zone::UTC, given("2026-12-24", "closed")).is_ok());
        for (date, hours, expected) in [
            ("", "", vec!["date", "hours"]),
            ("2100-01-01", "9-17", vec!["date"]),
            ("2026-12-24", "17-9", vec!["hours"]),
        ] {
            let errors = with_date(Some(now()), Zone::UTC, given(date, hours)).unwrap_err();
            let names: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
            assert_eq!(names, expected);
        }
        let date = |days: i64| DateShown { date: CivilDate::from_days(20_000 + days), hours: None };
        let full = RulesShown { dates: (0..366).map(date).collect(), ..now() };
        assert!(with_date(Some(full.clone()), Zone::UTC, given("2024-10-04", "9-17")).is_ok(), "it replaces one");
        let errors = with_date(Some(full), Zone::UTC, given("2099-12-31", "9-17")).unwrap_err();
        assert!(errors.first().message.contains("at most 366"), "{errors:?}");
    }
}
