//! What the address of a page of the calendar says. What cannot be read says nothing.

use axum::{extract::RawQuery, response::Response};
use kalends_app::{Actor, App, Refusal};
use kalends_calendars::{Calendar, ports::CalendarFilter};
use kalends_kernel::{LIMIT_MAX, Listed, Page};
use kalends_time::{CivilDate, Timestamp, Zone};
use kalends_web::{CALENDARS_MAX, View, Viewed, date_in_range};
use url::form_urlencoded;

use super::super::places::{EVENTS, segment};
use crate::{pages::Fields, reply::see_other};

/// The calendars that are shown if the address names none.
const CALENDARS_FIRST: usize = 10;
/// The calendars to choose from, the oldest first. A list with more would be of little use in a page.
const ALL: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// The parameters of the address.
pub(super) fn parameters(RawQuery(query): RawQuery) -> Fields {
    Fields::read(query.unwrap_or_default().as_bytes())
}

/// The calendars to choose from.
pub(super) async fn calendars(app: &App, caller: &Actor) -> Result<Listed<Calendar>, Refusal> {
    app.list_calendars(caller, CalendarFilter::All, ALL).await
}

/// The first [`CALENDARS_MAX`] identifiers of calendars that an address or a form names.
pub(super) fn identifiers(asked: &Fields) -> Vec<&str> {
    identifiers_in(asked, "cal")
}

/// [`identifiers`], in the parameter of that name.
pub(super) fn identifiers_in<'a>(asked: &'a Fields, name: &str) -> Vec<&'a str> {
    let mut ids: Vec<&str> = Vec::new();
    for id in asked.all(name) {
        if ids.len() == CALENDARS_MAX {
            break;
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// [`identifiers`], and this one too. If none is named, none is added, because the first ones are shown then.
pub(super) fn identifiers_with<'a>(asked: &'a Fields, calendar: &'a str) -> Vec<&'a str> {
    let mut ids = identifiers(asked);
    if !ids.is_empty() && !ids.contains(&calendar) {
        ids.truncate(CALENDARS_MAX - 1);
        ids.push(calendar);
    }
    ids
}

/// Those of the calendars that the address names. Only its first [`CALENDARS_MAX`] identifiers count.
pub(super) fn named<'a>(asked: &Fields, calendars: &'a [Calendar]) -> Vec<&'a Calendar> {
    let ids = identifiers(asked);
    calendars.iter().filter(|calendar| ids.contains(&calendar.id.to_string().as_str())).collect()
}

/// The calendars that are shown: those that the address names, or the first ones.
pub(super) fn chosen<'a>(named: &[&'a Calendar], calendars: &'a [Calendar]) -> Vec<&'a Calendar> {
    if named.is_empty() { calendars.iter().take(CALENDARS_FIRST).collect() } else { named.to_vec() }
}

/// The zone that the address names, or that of the first calendar.
pub(super) fn zone(asked: &Fields, chosen: &[&Calendar]) -> Zone {
    let first = || chosen.first().map_or(Zone::UTC, |calendar| calendar.zone);
    asked.get("tz").parse().unwrap_or_else(|_| first())
}

/// The day that the address names, or today.
pub(super) fn date(asked: &Fields, zone: Zone, now: Timestamp) -> CivilDate {
    let named = asked.get("date").parse().ok().and_then(date_in_range);
    named.unwrap_or_else(|| zone.to_civil(now).date)
}

/// What the calendar shows.
pub(super) fn viewed(asked: &Fields, named: &[&Calendar], zone: Zone, now: Timestamp) -> Viewed {
    Viewed {
        view: View::from_name(asked.get("view")).unwrap_or(View::Week),
        date: date(asked, zone, now),
        zone,
        second: asked.get("tz2").parse::<Zone>().ok().filter(|second| *second != zone),
        calendars: named.iter().map(|calendar| calendar.id.to_string()).collect(),
    }
}

/// The address of these calendars on that day.
pub(super) fn to_calendar(calendars: &[&str], zone: Zone, date: CivilDate) -> String {
    let calendars = calendars.iter().map(|id| (*id).to_owned()).collect();
    Viewed { view: View::Week, date, zone, second: None, calendars }.href(View::Week, date)
}

/// The answer to a form: the page of an event, which says what was done. It leads back to the same calendars.
pub(super) fn to_event(id: &str, fields: &Fields, zone: Option<Zone>, done: &str) -> Response {
    to_event_among(id, &identifiers(fields), zone, done)
}

/// [`to_event`], for a page that leads back to these calendars.
pub(super) fn to_event_among(id: &str, calendars: &[&str], zone: Option<Zone>, done: &str) -> Response {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("done", done);
    if let Some(zone) = zone {
        query.append_pair("tz", zone.name());
    }
    for calendar in calendars {
        query.append_pair("cal", calendar);
    }
    see_other(&format!("{EVENTS}/{}?{}", segment(id), query.finish()), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_calendars_of_an_address_count() {
        let address: String = (0..1_000).map(|number| format!("cal=cal_{0}&cal=cal_{0}&", number / 2)).collect();
        let fields = Fields::read(address.as_bytes());
        let ids = identifiers(&fields);
        assert_eq!((ids.len(), ids.first(), ids.last()), (CALENDARS_MAX, Some(&"cal_0"), Some(&"cal_19")));
        let with = identifiers_with(&fields, "cal_x");
        assert_eq!((with.len(), with.first(), with.last()), (CALENDARS_MAX, Some(&"cal_0"), Some(&"cal_x")));
        assert_eq!(identifiers_with(&fields, "cal_3"), ids);
        assert_eq!(identifiers_with(&Fields::read(b""), "cal_3"), Vec::<&str>::new());
    }
}
