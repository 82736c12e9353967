//! Edge cases of single events, of texts and of whole feeds.

use kalends_calendars::{ConferenceUrl, EventStatus};
use kalends_feeds::read::{ReadError, SkipReason, Warning, What, read};
use rstest::rstest;

use super::{busy, calendar, context, event, feed, try_read};

#[rstest]
#[case::empty("", ReadError::Empty)]
#[case::blank("\r\n \r\n", ReadError::Empty)]
#[case::html("<!DOCTYPE html>\n<html><body>Sign in</body></html>", ReadError::Html)]
#[case::html_after_lines("\n\n  <HTML>", ReadError::Html)]
#[case::json("{\"error\":\"not found\"}", ReadError::NotCalendar { begins: "{\"error\":\"not found\"}".into() })]
#[case::cut(
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:20260310T090000Z\nEND:VEVENT\nEND:VCALEND",
    ReadError::Truncated
)]
#[case::cut_in_an_event("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\n", ReadError::Truncated)]
#[case::second_is_cut("BEGIN:VCALENDAR\nEND:VCALENDAR\nBEGIN:VCALENDAR\n", ReadError::Truncated)]
fn texts_that_are_not_feeds_have_distinct_errors(#[case] text: &str, #[case] error: ReadError) {
    assert_eq!(try_read(text), Err(error));
}

#[rstest]
#[case::end_before_start("DTSTART:20260310T090000Z\nDTEND:20260310T080000Z", SkipReason::EndBeforeStart)]
#[case::negative_duration("DTSTART:20260310T090000Z\nDURATION:-PT1H", SkipReason::EndBeforeStart)]
#[case::days_backwards("DTSTART;VALUE=DATE:20260310\nDTEND;VALUE=DATE:20260309", SkipReason::EndBeforeStart)]
#[case::no_start("SUMMARY:x", SkipReason::NoStart)]
#[case::no_date("DTSTART:soon", SkipReason::Start)]
#[case::no_such_day("DTSTART:20260229T090000Z", SkipReason::Start)]
#[case::no_end("DTSTART:20260310T090000Z\nDTEND:later", SkipReason::End)]
#[case::no_length("DTSTART:20260310T090000Z\nDURATION:long", SkipReason::End)]
#[case::no_rule("DTSTART:20260310T090000Z\nRRULE:FREQ=DAILY;INTERVAL=0", SkipReason::Rule)]
#[case::no_id("DTSTART:20260310T090000Z\nRECURRENCE-ID:x", SkipReason::RecurrenceId)]
#[case::before_1970("DTSTART:19691231T090000Z\nDURATION:PT1H", SkipReason::Years)]
#[case::after_2099("DTSTART:21000101T000000Z\nDURATION:PT1H", SkipReason::Years)]
#[case::ends_after_2099("DTSTART:20260310T090000Z\nDTEND:99991231T000000Z", SkipReason::Years)]
#[case::far_beyond("DTSTART;VALUE=DATE:99991231\nRRULE:FREQ=YEARLY", SkipReason::Years)]
// The longest length that is read is longer than microseconds can count.
#[case::weeks_without_end(
    "DTSTART:20260310T090000Z\nDURATION:P9999999999W\nRRULE:FREQ=DAILY;COUNT=3",
    SkipReason::Years
)]
#[case::weeks_without_end_on_a_clock(
    "DTSTART;TZID=Europe/Berlin:20260310T090000\nDURATION:P9999999999W\nRRULE:FREQ=DAILY;COUNT=3;UNTIL=20260312",
    SkipReason::Years
)]
#[case::weeks_without_end_at_hours(
    "DTSTART;TZID=Europe/Berlin:20260310T090000\nDURATION:P9999999999W\nRRULE:FREQ=HOURLY",
    SkipReason::Years
)]
#[case::until_before_start(
    "DTSTART:20260310T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20260309T090000Z",
    SkipReason::Never
)]
fn an_invalid_event_is_skipped_and_reported(#[case] lines: &str, #[case] reason: SkipReason) {
    let good = "BEGIN:VEVENT\nUID:good\nDTSTART:20260311T090000Z\nDURATION:PT1H\nEND:VEVENT\n";
    let bad = format!("BEGIN:VEVENT\nUID:bad\n{lines}\nEND:VEVENT\n");
    let feed = feed(&calendar(&format!("{bad}{good}")));
    assert_eq!(
        feed.skipped.iter().map(|skipped| (skipped.uid.as_str(), skipped.reason)).collect::<Vec<_>>(),
        [("bad", reason)]
    );
    assert_eq!((feed.skipped_count, busy(&feed)), (1, vec!["2026-03-11T09:00/2026-03-11T10:00".to_owned()]));
}

#[rstest]
#[case::date("DTSTART;VALUE=DATE:20260310", &["2026-03-09T23:00/2026-03-10T23:00"])]
#[case::date_without_value("DTSTART:20260310", &["2026-03-09T23:00/2026-03-10T23:00"])]
#[case::date_that_ends_as_it_starts("DTSTART;VALUE=DATE:20260310\nDTEND;VALUE=DATE:20260310", &["2026-03-09T23:00/2026-03-10T23:00"])]
#[case::date_with_time("DTSTART;VALUE=DATE:20260310T120000", &["2026-03-09T23:00/2026-03-10T23:00"])]
#[case::date_to_time("DTSTART;VALUE=DATE:20260310\nDTEND:20260311T120000", &["2026-03-09T23:00/2026-03-11T23:00"])]
#[case::date_of_hours("DTSTART;VALUE=DATE:20260310\nDURATION:PT30H", &["2026-03-09T23:00/2026-03-11T23:00"])]
#[case::time_to_date("DTSTART;TZID=Europe/Berlin:20260310T120000\nDTEND;VALUE=DATE:20260311", &["2026-03-10T11:00/2026-03-10T23:00"])]
#[case::time_without_end("DTSTART:20260310T090000Z", &[])]
#[case::time_of_no_length("DTSTART:20260310T090000Z\nDURATION:PT0S", &[])]
#[case::week("DTSTART;VALUE=DATE:20260309\nDURATION:P1W", &["2026-03-08T23:00/2026-03-15T23:00"])]
#[case::nominal_day("DTSTART;TZID=Europe/Berlin:20260328T120000\nDURATION:P1D", &["2026-03-28T11:00/2026-03-29T10:00"])]
#[case::exact_hours("DTSTART;TZID=Europe/Berlin:20260328T120000\nDURATION:PT24H", &["2026-03-28T11:00/2026-03-29T11:00"])]
#[case::ends_in_another_zone("DTSTART;TZID=Europe/Berlin:20260310T120000\nDTEND;TZID=America/New_York:20260310T160000", &["2026-03-10T11:00/2026-03-10T20:00"])]
#[case::start_in_the_gap("DTSTART;TZID=Europe/Berlin:20260329T023000\nDTEND;TZID=Europe/Berlin:20260329T030000", &["2026-03-29T01:30/2026-03-29T02:00"])]
#[case::offset("DTSTART:20260310T090000+0530\nDURATION:PT1H", &["2026-03-10T03:30/2026-03-10T04:30"])]
#[case::first_value_counts("DTSTART:20260310T090000Z\nDURATION:PT1H\nDTSTART:20260311T090000Z", &["2026-03-10T09:00/2026-03-10T10:00"])]
#[case::transparent("DTSTART:20260310T090000Z\nDURATION:PT1H\nTRANSP:TRANSPARENT", &[])]
#[case::free("DTSTART:20260310T090000Z\nDURATION:PT1H\nX-MICROSOFT-CDO-BUSYSTATUS:FREE", &[])]
#[case::private("DTSTART:20260310T090000Z\nDURATION:PT1H\nCLASS:PRIVATE", &["2026-03-10T09:00/2026-03-10T10:00"])]
#[case::cancelled("DTSTART:20260310T090000Z\nDURATION:PT1H\nSTATUS:CANCELLED", &[])]
#[case::lower_case("dtstart;tzid=Europe/Berlin:20260310t100000\nduration:pt1h", &["2026-03-10T09:00/2026-03-10T10:00"])]
fn times(#[case] lines: &str, #[case] expected: &[&str]) {
    assert_eq!(busy(&feed(&event(lines))), expected);
}

#[rstest]
#[case("STATUS:TENTATIVE", EventStatus::Tentative)]
#[case("STATUS:CONFIRMED\nX-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE", EventStatus::Confirmed)]
#[case("X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE", EventStatus::Tentative)]
#[case("STATUS:WHATEVER", EventStatus::Confirmed)]
fn statuses(#[case] line: &str, #[case] status: EventStatus) {
    let feed = feed(&event(&format!("DTSTART:20260310T090000Z\nDURATION:PT1H\n{line}")));
    assert_eq!((feed.items[0].status, feed.items[0].blocks), (status, true));
}

#[rstest]
#[case::escapes("SUMMARY:a\\, b\\; c\\nd", "a, b; c d")]
#[case::blank("SUMMARY:  ", "(no title)")]
#[case::empty("SUMMARY:", "(no title)")]
#[case::none("X-A:1", "Busy")]
#[case::control("SUMMARY:a\u{0}b\u{7}c", "abc")]
#[case::only_nul("SUMMARY:\u{0}", "(no title)")]
#[case::params("SUMMARY;LANGUAGE=\"a:b\":Title: more", "Title: more")]
fn titles(#[case] line: &str, #[case] title: &str) {
    let feed = feed(&event(&format!("DTSTART:20260310T090000Z\n{line}")));
    assert_eq!(&*feed.items[0].title, title);
}

#[rstest]
#[case::escapes("LOCATION:Room 2\\, floor 3\\nBerlin", Some("Room 2, floor 3\nBerlin"))]
#[case::params("LOCATION;ALTREP=\"https://example.com/a:b\":Room 2", Some("Room 2"))]
#[case::control("LOCATION:a\u{0}b\u{7}c", Some("abc"))]
#[case::first("LOCATION:a\nLOCATION:b", Some("a"))]
#[case::blank("LOCATION: \\n", None)]
#[case::none("X-A:1", None)]
fn locations(#[case] line: &str, #[case] location: Option<&str>) {
    let feed = feed(&event(&format!("DTSTART:20260310T090000Z\n{line}")));
    assert_eq!(feed.items[0].location.as_deref(), location);
}

#[rstest]
#[case::rfc_7986(
    "CONFERENCE;VALUE=URI;FEATURE=VIDEO;LABEL=\"a:b\":https://meet.example.com/a",
    Some("https://meet.example.com/a")
)]
#[case::google("X-GOOGLE-CONFERENCE:https://meet.example.com/b", Some("https://meet.example.com/b"))]
#[case::microsoft("X-MICROSOFT-SKYPETEAMSMEETINGURL:https://meet.example.com/c", Some("https://meet.example.com/c"))]
#[case::after_a_phone(
    "CONFERENCE;VALUE=URI;FEATURE=PHONE:tel:+4930123456\nCONFERENCE;VALUE=URI:https://meet.example.com/a",
    Some("https://meet.example.com/a")
)]
#[case::first(
    "CONFERENCE;VALUE=URI:https://a.example/\nX-GOOGLE-CONFERENCE:https://b.example/",
    Some("https://a.example/")
)]
#[case::not_https("CONFERENCE;VALUE=URI:http://meet.example.com/a", None)]
#[case::credentials("CONFERENCE;VALUE=URI:https://bank.example@evil.example/", None)]
#[case::script("CONFERENCE;VALUE=URI:javascript:alert(1)", None)]
#[case::text("CONFERENCE:Room 2", None)]
fn addresses_of_calls(#[case] line: &str, #[case] url: Option<&str>) {
    let feed = feed(&event(&format!("DTSTART:20260310T090000Z\n{line}")));
    assert_eq!(feed.items[0].conference_url.as_deref().map(ConferenceUrl::as_str), url);
}

#[test]
fn long_texts_are_cut() {
    let (title, description, uid) = ("\u{fc}".repeat(600), "\u{fc}".repeat(21_000), "\u{fc}".repeat(400));
    let text = |uid: &str| {
        calendar(&format!(
            "BEGIN:VEVENT\nUID:{uid}\nDTSTART:20260310\nSUMMARY:{title}\nDESCRIPTION:{description}\nEND:VEVENT"
        ))
    };
    let item = &feed(&text(&uid)).items[0];
    let lengths =
        (item.title.chars().count(), item.description.as_ref().unwrap().chars().count(), item.uid.chars().count());
    assert_eq!(lengths, (500, 20_000, 255));
    assert_ne!(feed(&text(&format!("{uid}x"))).items[0].uid, item.uid);
    assert_eq!(feed(&event("DTSTART:20260310\nDESCRIPTION:\\n ")).items[0].description, None);
    let located = feed(&event(&format!("DTSTART:20260310\nLOCATION:{description}")));
    assert_eq!(located.items[0].location.as_ref().unwrap().chars().count(), 500);
}

#[test]
fn events_without_a_uid_get_the_same_one_every_time() {
    let nameless = |title: &str| format!("BEGIN:VEVENT\nDTSTART:20260310\nSUMMARY:{title}\nEND:VEVENT\n");
    let both = feed(&calendar(&format!("{}{}", nameless("a"), nameless("b"))));
    assert_eq!(both.items.len(), 2);
    let alone = feed(&calendar(&nameless("b")));
    assert!(both.items.contains(&alone.items[0]));
}

#[test]
fn an_unclosed_event_is_skipped_and_the_next_is_read() {
    let text = "BEGIN:VEVENT\nUID:open\nDTSTART:20260310\nBEGIN:VEVENT\nUID:next\nDTSTART:20260311\nEND:VEVENT\n";
    let feed = feed(&calendar(text));
    assert_eq!((feed.items.len(), &*feed.items[0].uid), (1, "next"));
    assert_eq!((feed.skipped[0].uid.as_str(), feed.skipped[0].reason), ("open", SkipReason::Unclosed));
}

#[test]
fn properties_of_alarms_do_not_affect_their_event() {
    let alarm =
        "BEGIN:VALARM\nUID:alarm\nSUMMARY:Alarm\nDTSTART:20300101T000000Z\nDURATION:PT5H\nSTATUS:CANCELLED\nEND:VALARM";
    let feed = feed(&calendar(&format!(
        "BEGIN:VEVENT\n{alarm}\nUID:one\n{alarm}\nSUMMARY:Own\nDTSTART:20260310T090000Z\nDURATION:PT1H\nEND:VEVENT"
    )));
    assert_eq!((&*feed.items[0].uid, &*feed.items[0].title), ("one", "Own"));
    assert_eq!(busy(&feed), ["2026-03-10T09:00/2026-03-10T10:00"]);
}

#[rstest]
#[case::of_the_feed("X-WR-TIMEZONE:Asia/Tokyo\n", "Asia/Tokyo", "2026-03-10T01:00/2026-03-10T02:00")]
#[case::of_the_calendar("", "Europe/Berlin", "2026-03-10T09:00/2026-03-10T10:00")]
#[case::feed_names_no_zone("X-WR-TIMEZONE:Mars\n", "Europe/Berlin", "2026-03-10T09:00/2026-03-10T10:00")]
fn floating_times_and_unknown_zones(#[case] head: &str, #[case] zone: &str, #[case] expected: &str) {
    let read_with = |start: &str| {
        feed(&calendar(&format!("{head}BEGIN:VEVENT\nUID:one\n{start}20260310T100000\nDURATION:PT1H\nEND:VEVENT")))
    };
    let (floating, unknown) = (read_with("DTSTART:"), read_with("DTSTART;TZID=Nowhere/Land:"));
    assert_eq!((busy(&floating), busy(&unknown)), (vec![expected.to_owned()], vec![expected.to_owned()]));
    assert!(floating.warnings.contains(&Warning::Floating { read_in: zone.into() }));
    assert!(unknown.warnings.contains(&Warning::UnknownZone { name: "Nowhere/Land".into() }));
    // Whole days are always days of the calendar's zone.
    let day = feed(&calendar(&format!("{head}BEGIN:VEVENT\nUID:one\nDTSTART:20260310\nEND:VEVENT")));
    assert_eq!(busy(&day), ["2026-03-09T23:00/2026-03-10T23:00"]);
}

#[test]
fn names_and_zones_of_a_feed() {
    let feed = feed(&calendar("X-WR-CALNAME:Ada\\, at work\nX-WR-TIMEZONE:Asia/Tokyo"));
    assert_eq!(feed.name.as_deref(), Some("Ada, at work"));
    assert_eq!(feed.zone.map(|zone| zone.name()), Some("Asia/Tokyo"));
    assert!(feed.items.is_empty());
}

#[rstest]
#[case::sequence("SEQUENCE:2", "SEQUENCE:10")]
#[case::stamp("SEQUENCE:1\nDTSTAMP:20260101T000000Z", "SEQUENCE:1\nDTSTAMP:20260102T000000Z")]
#[case::modified("LAST-MODIFIED:20260101T000000Z", "LAST-MODIFIED:20260102T000000Z")]
#[case::sequence_before_stamp("SEQUENCE:1\nDTSTAMP:20260109T000000Z", "SEQUENCE:2\nDTSTAMP:20260102T000000Z")]
#[case::cancelled_of_equals("X-A:1", "STATUS:CANCELLED")]
fn the_latest_revision_counts(#[case] older: &str, #[case] newer: &str) {
    let revision = |lines: &str, title: &str| {
        format!("BEGIN:VEVENT\nUID:one\nDTSTART:20260310\nSUMMARY:{title}\n{lines}\nEND:VEVENT\n")
    };
    let (old, new) = (revision(older, "old"), revision(newer, "new"));
    for text in [format!("{old}{new}"), format!("{new}{old}")] {
        let titles: Vec<_> = feed(&calendar(&text)).items.iter().map(|item| item.title.to_string()).collect();
        assert!(titles == ["new"] || (titles.is_empty() && newer.contains("CANCELLED")), "{titles:?}");
    }
}

#[test]
fn an_event_that_takes_place_once_has_no_recurrence_id() {
    let feed = feed(&event("DTSTART:20260310T090000Z\nDURATION:PT1H\nSEQUENCE:7"));
    let item = &feed.items[0];
    assert_eq!((item.recurrence_id, item.sequence, &item.what), (None, 7, &What::Once));
    assert_eq!((feed.steps, feed.skipped_count, feed.cancelled_count, feed.warning_count), (0, 0, 0, 0));
}

#[test]
fn nul_characters_are_removed_from_texts() {
    let text = event("DTSTART:20260310\nSUMMARY:a\u{0}b\nDESCRIPTION:c\u{0}d\nUID:e\u{0}f");
    let feed = read(text.replace("UID:one\r\n", "").as_bytes(), &context("UTC")).unwrap();
    let item = &feed.items[0];
    assert_eq!((&*item.uid, &*item.title, item.description.as_deref()), ("ef", "ab", Some("cd")));
}
