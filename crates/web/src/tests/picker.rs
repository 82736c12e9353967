//! The days of a month and the times of a day, at the ends of months and when clocks change.

use std::collections::BTreeMap;

use kalends_time::testing::{self, config};
use kalends_time::{SignedDuration, Span, Timestamp};
use proptest::prelude::*;
use rstest::rstest;

use super::fixture::{at, page, picker};
use super::markup::{Tag, read};
use crate::{DisplaySettings, Month, Path, Picker, Reader};

/// The starts of the slots that the page links to, in order.
fn offered(tags: &[Tag]) -> Vec<String> {
    let links = tags.iter().filter(|tag| tag.get("class") == Some("time"));
    links.map(|tag| tag.get("href").unwrap().split(['=', '&']).nth(1).unwrap().to_owned()).collect()
}

/// The days that the page links to.
fn days(tags: &[Tag]) -> Vec<String> {
    let links = tags.iter().filter(|tag| tag.get("class").is_some_and(|class| class.starts_with("day")));
    links.filter_map(|tag| tag.get("href")?.split(['=', '&']).nth(1).map(str::to_owned)).collect()
}

#[rstest]
#[case::month_end(&["2026-03-31T21:30:00Z", "2026-03-31T22:00:00Z"], "Europe/Berlin", "2026-03", &["2026-03-31"])]
#[case::month_begin(&["2026-03-31T21:30:00Z", "2026-03-31T22:00:00Z"], "Europe/Berlin", "2026-04", &["2026-04-01"])]
#[case::year_end(&["2026-12-31T22:30:00Z", "2026-12-31T23:00:00Z"], "Europe/Berlin", "2026-12", &["2026-12-31"])]
#[case::leap_day(&["2028-02-28T23:30:00Z", "2028-02-29T22:30:00Z", "2028-02-29T23:00:00Z"], "Europe/Berlin", "2028-02", &["2028-02-29"])]
#[case::half_hour_zone(&["2026-05-04T18:00:00Z", "2026-05-04T18:30:00Z"], "Asia/Kolkata", "2026-05", &["2026-05-04", "2026-05-05"])]
#[case::quarter_hour_zone(&["2026-05-04T18:00:00Z", "2026-05-04T18:15:00Z"], "Asia/Kathmandu", "2026-05", &["2026-05-04", "2026-05-05"])]
#[case::clocks_go_forward(&["2026-03-28T22:59:00Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:00Z", "2026-03-29T22:00:00Z"],
    "Europe/Berlin", "2026-03", &["2026-03-28", "2026-03-29", "2026-03-30"])]
#[case::clocks_go_back(&["2026-10-24T21:59:00Z", "2026-10-24T22:00:00Z", "2026-10-25T22:59:00Z", "2026-10-25T23:00:00Z"],
    "Europe/Berlin", "2026-10", &["2026-10-24", "2026-10-25", "2026-10-26"])]
#[case::midnight_is_skipped(&["2026-09-06T03:30:00Z", "2026-09-06T04:00:00Z"], "America/Santiago", "2026-09", &["2026-09-05", "2026-09-06"])]
#[case::the_last_month(&["2099-12-31T23:00:00Z"], "UTC", "2099-12", &["2099-12-31"])]
fn days_are_those_of_the_zone_shown(
    #[case] offers: &[&str],
    #[case] zone: &str,
    #[case] month: &str,
    #[case] expected: &[&str],
) {
    let now = (at(offers[0]) - SignedDuration::days(20)).to_string();
    let (tags, _) = read(&picker(offers, zone, &[("month", month)], &now));
    assert_eq!(days(&tags), expected);
}

/// The rows of the grid as numbers. Blank cells are zero.
fn grid(html: &str) -> Vec<Vec<u32>> {
    let body = html.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let number = |cell: &str| {
        let text: String = cell.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect();
        text.trim().parse().unwrap_or(0)
    };
    let rows = body.split("<tr>").skip(1);
    rows.map(|row| row.split("<td>").skip(1).map(number).collect()).collect()
}

#[rstest]
#[case::begins_on_sunday("2026-03", 6, &[0, 0, 0, 0, 0, 0, 1], &[30, 31, 0, 0, 0, 0, 0])]
#[case::four_weeks("2027-02", 4, &[1, 2, 3, 4, 5, 6, 7], &[22, 23, 24, 25, 26, 27, 28])]
#[case::leap_year("2028-02", 5, &[0, 1, 2, 3, 4, 5, 6], &[28, 29, 0, 0, 0, 0, 0])]
#[case::last("2099-12", 5, &[0, 1, 2, 3, 4, 5, 6], &[28, 29, 30, 31, 0, 0, 0])]
fn weeks_begin_on_monday(#[case] month: &str, #[case] weeks: usize, #[case] first: &[u32], #[case] last: &[u32]) {
    let grid = grid(&picker(&[], "UTC", &[("month", month)], &format!("{month}-01T00:00:00Z")));
    assert_eq!(grid.len(), weeks);
    assert!(grid.iter().all(|week| week.len() == 7));
    assert_eq!((grid[0].as_slice(), grid[weeks - 1].as_slice()), (first, last));
}

/// The same months as the locale has them: from Sunday in the United States, and from Saturday in Egypt.
#[rstest]
#[case("en-US", "2026-03", &[1, 2, 3, 4, 5, 6, 7], "Sunday")]
#[case("en-EG", "2026-03", &[0, 1, 2, 3, 4, 5, 6], "Saturday")]
#[case("pt-BR", "2026-02", &[1, 2, 3, 4, 5, 6, 7], "domingo")]
#[case("fr", "2026-02", &[0, 0, 0, 0, 0, 0, 1], "lundi")]
fn weeks_begin_as_the_locale_has_it(
    #[case] lang: &str,
    #[case] month: &str,
    #[case] first: &[u32],
    #[case] weekday: &str,
) {
    let html = picker(&[], "UTC", &[("month", month), ("lang", lang)], &format!("{month}-01T00:00:00Z"));
    assert_eq!(grid(&html)[0], first);
    let head = read(&html).0.into_iter().find(|tag| tag.name == "abbr").unwrap();
    assert_eq!(head.get("title"), Some(weekday));
}

/// A visitor who asked for a language stays in it, in every link and form.
#[test]
fn links_keep_the_language_that_was_asked_for() {
    let offers = ["2026-03-04T09:00:00Z", "2026-04-09T09:00:00Z"];
    let (tags, _) = read(&picker(&offers, "Asia/Tokyo", &[("lang", "pt-br")], "2026-03-03T00:00:00Z"));
    let kept = tags.iter().filter(|tag| tag.get("hreflang").is_none()).filter_map(|tag| tag.get("href"));
    let kept: Vec<&str> = kept.filter(|href| href.starts_with("/book/kq7d")).collect();
    assert!(kept.len() > 3 && kept.iter().all(|href| href.contains("&lang=pt-BR")), "{kept:?}");
    let hidden = tags.iter().find(|tag| tag.get("name") == Some("lang")).unwrap();
    assert_eq!(hidden.get("value"), Some("pt-BR"));
    // Each language is one click away. Nobody who asked for none carries one along.
    let languages: Vec<&str> = tags.iter().filter_map(|tag| tag.get("hreflang")).collect();
    assert_eq!(languages, ["en", "de", "fr", "es", "pt", "ja"]);
    let german = tags.iter().find(|tag| tag.get("hreflang") == Some("de")).unwrap();
    assert_eq!(german.get("href"), Some("/book/kq7d?month=2026-03&tz=Asia/Tokyo&lang=de"));
    let (tags, _) = read(&picker(&offers, "Asia/Tokyo", &[], "2026-03-03T00:00:00Z"));
    assert!(tags.iter().all(|tag| tag.get("name") != Some("lang")));
    let links = tags.iter().filter(|tag| tag.get("hreflang").is_none()).filter_map(|tag| tag.get("href"));
    assert_eq!(links.filter(|href| href.contains("lang=")).count(), 0);
}

#[test]
fn a_repeated_time_is_labelled_with_its_offset() {
    let offers = ["2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"];
    let (tags, text) = read(&picker(&offers, "Europe/Berlin", &[("day", "2026-10-25")], "2026-10-20T00:00:00Z"));
    assert_eq!(offered(&tags), offers);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(":30") && !line.contains('(')).collect();
    assert_eq!(lines, ["01:30", "02:30 UTC+2", "02:30 UTC+1"]);
}

#[rstest]
#[case::the_first(&[], "2026-03-04")]
#[case::the_requested_day(&[("day", "2026-03-09")], "2026-03-09")]
#[case::one_of_another_month(&[("month", "2026-03"), ("day", "2026-04-09")], "2026-03-04")]
fn the_requested_day_or_the_first_free_one_is_shown(#[case] query: &[(&str, &str)], #[case] expected: &str) {
    let offers = ["2026-03-04T09:00:00Z", "2026-03-09T09:00:00Z"];
    let (tags, _) = read(&picker(&offers, "UTC", query, "2026-03-03T00:00:00Z"));
    let days = tags.iter().filter(|tag| tag.get("data-go") == Some("day"));
    let chosen: Vec<&Tag> = days.filter(|tag| tag.get("aria-current").is_some()).collect();
    assert_eq!(chosen.len(), 1);
    assert!(chosen[0].get("href").unwrap().contains(expected));
    assert_eq!(offered(&tags), [format!("{expected}T09:00:00Z")]);
}

#[test]
fn a_day_without_free_times_links_to_the_first_free_day() {
    let (tags, text) =
        read(&picker(&["2026-03-04T09:00:00Z"], "UTC", &[("day", "2026-03-05")], "2026-03-03T00:00:00Z"));
    assert!(text.contains("Thursday 5 March") && text.contains("no free times"));
    let first = tags.iter().find(|tag| tag.get("id") == Some("first")).unwrap();
    assert_eq!(first.get("href"), Some("/book/kq7d?day=2026-03-04&tz=UTC#day"));
}

#[rstest]
#[case::first_month("2026-03", None, Some("2026-04"))]
#[case::between("2026-04", Some("2026-03"), Some("2026-05"))]
#[case::last_month("2027-03", Some("2027-02"), None)]
#[case::before_the_window("2020-01", None, Some("2026-04"))]
fn there_are_no_links_beyond_the_bookable_months(
    #[case] month: &str,
    #[case] earlier: Option<&str>,
    #[case] later: Option<&str>,
) {
    let (tags, _) = read(&picker(&[], "UTC", &[("month", month)], "2026-03-03T00:00:00Z"));
    let link = |id: &str| tags.iter().find(|tag| tag.get("id") == Some(id)).and_then(|tag| tag.get("href"));
    let address = |month: &str| format!("/book/kq7d?month={month}&tz=UTC");
    assert_eq!(link("earlier"), earlier.map(address).as_deref());
    assert_eq!(link("later"), later.map(address).as_deref());
}

#[test]
fn a_page_in_another_zone_links_to_the_host_zone() {
    let (tags, text) = read(&picker(&["2026-03-04T09:00:00Z"], "Asia/Tokyo", &[], "2026-03-03T00:00:00Z"));
    assert!(text.contains("Europe/Berlin (UTC+1)") && text.contains("18:00"));
    assert!(tags.iter().any(|tag| tag.get("id") == Some("own-zone")));
    let (tags, _) = read(&picker(&["2026-03-04T09:00:00Z"], "Europe/Berlin", &[], "2026-03-03T00:00:00Z"));
    assert!(!tags.iter().any(|tag| tag.get("id") == Some("own-zone")));
}

proptest! {
    // Each case renders a page for every day of a month.
    #![proptest_config(config(48))]

    /// Each offer makes its day a link, and the day's page links to each of its offers exactly once.
    #[test]
    fn every_offer_of_a_day_is_a_link_exactly_once(
        steps in prop::collection::vec(1i64..200, 1..80),
        zone in testing::zone(),
        month in prop::sample::select(vec!["2026-03", "2026-04", "2026-10", "2026-11", "2028-02"]),
    ) {
        let month = month.parse::<Month>().unwrap();
        let mut start = month.span(zone).unwrap().start() - SignedDuration::days(1);
        let offers: Vec<Span> = steps.iter().filter_map(|step| {
            start = start + SignedDuration::minutes(step * 15);
            Span::new(start, start + SignedDuration::minutes(15)).ok()
        }).collect();
        let mut by_day: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for offer in &offers {
            let date = zone.to_civil(offer.start()).date;
            if date.to_string().starts_with(&month.to_string()) {
                by_day.entry(date.to_string()).or_default().push(offer.start().to_string());
            }
        }
        let path = Path::new("/book/kq7d").unwrap();
        let reader = &Reader::english();
        let view = Picker {
            page: page(&path, "Call"),
            shown: DisplaySettings { zone, reader },
            now: start,
            bookable: Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap(),
            month,
            day: None,
            offers: &offers,
            first_offer: None,
            moving: None,
        };
        prop_assert_eq!(days(&read(&view.html()).0), by_day.keys().cloned().collect::<Vec<_>>());
        for (day, starts) in by_day {
            let html = Picker { day: Some(day.parse().unwrap()), ..view.clone() }.html();
            prop_assert_eq!(offered(&read(&html).0), starts);
        }
    }
}
