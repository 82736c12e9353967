//! Texts that are rules, with their canonical form, and texts that are not, with their error messages.

use kalends_recurrence::{Part, Rule};
use rstest::rstest;

#[rstest]
#[case("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12", "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12")]
#[case("count=12;byday=we,mo,we;freq=weekly", "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12")]
#[case("FREQ=DAILY;INTERVAL=1;WKST=MO", "FREQ=DAILY")]
#[case("FREQ=DAILY;INTERVAL=0007", "FREQ=DAILY;INTERVAL=7")]
#[case("FREQ=MONTHLY;BYMONTHDAY=-1,31,+02,1", "FREQ=MONTHLY;BYMONTHDAY=1,2,31,-1")]
#[case("FREQ=MONTHLY;BYDAY=-1FR,+1MO,TU", "FREQ=MONTHLY;BYDAY=TU,1MO,-1FR")]
#[case("FREQ=YEARLY;BYDAY=53MO,-53SU", "FREQ=YEARLY;BYDAY=53MO,-53SU")]
#[case("FREQ=YEARLY;BYSETPOS=-366,366,1;BYMONTH=12,1", "FREQ=YEARLY;BYMONTH=1,12;BYSETPOS=1,366,-366")]
#[case("FREQ=DAILY;UNTIL=20261231t235959z", "FREQ=DAILY;UNTIL=20261231T235959Z")]
#[case("FREQ=DAILY;UNTIL=20261231T235960Z", "FREQ=DAILY;UNTIL=20270101T000000Z")]
#[case("FREQ=WEEKLY;UNTIL=20280229;WKST=SU", "FREQ=WEEKLY;WKST=SU;UNTIL=20280229")]
fn rules_have_one_canonical_text(#[case] text: &str, #[case] canonical: &str) {
    let rule: Rule = text.parse().unwrap();
    assert_eq!(rule.to_string(), canonical);
    assert_eq!(canonical.parse(), Ok(rule));
}

const PARTS: &str = "the parts are FREQ, INTERVAL, BYMONTH, BYMONTHDAY, BYDAY, BYSETPOS, WKST, COUNT, UNTIL";

#[rstest]
#[case::empty("", "FREQ is missing: one of DAILY, WEEKLY, MONTHLY, YEARLY")]
#[case::no_frequency("COUNT=3", "FREQ is missing: one of DAILY, WEEKLY, MONTHLY, YEARLY")]
#[case::prefix("rrule:FREQ=DAILY", "must not begin with RRULE: (leave it out and begin with FREQ=)")]
#[case::hourly("FREQ=HOURLY", r#"FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY, got "HOURLY""#)]
#[case::by_hour("FREQ=DAILY;BYHOUR=9", &format!("BYHOUR is not supported; {PARTS}"))]
#[case::by_week("FREQ=YEARLY;BYWEEKNO=9", &format!("BYWEEKNO is not supported; {PARTS}"))]
#[case::by_year_day("FREQ=YEARLY;BYYEARDAY=9", &format!("BYYEARDAY is not supported; {PARTS}"))]
#[case::spaces("FREQ=DAILY; COUNT=3", &format!(" COUNT is not supported; {PARTS}"))]
#[case::twice("FREQ=DAILY;COUNT=3;count=4", "COUNT must be given once")]
#[case::trailing("FREQ=DAILY;", r#"must be parts such as FREQ=WEEKLY, separated by single semicolons, got """#)]
#[case::no_value(
    "FREQ=DAILY;COUNT=",
    r#"must be parts such as FREQ=WEEKLY, separated by single semicolons, got "COUNT=""#
)]
#[case::no_sign(
    "FREQ=DAILY;COUNT",
    r#"must be parts such as FREQ=WEEKLY, separated by single semicolons, got "COUNT""#
)]
#[case::line_break("FREQ=DAILY\nCOUNT=3", "must be one line without control characters, got '\\n' after 10 characters")]
#[case::interval("FREQ=DAILY;INTERVAL=0", r#"INTERVAL must be a whole number from 1 to 1000, got "0""#)]
#[case::long_interval("FREQ=DAILY;INTERVAL=1001", r#"INTERVAL must be a whole number from 1 to 1000, got "1001""#)]
#[case::count("FREQ=DAILY;COUNT=10001", r#"COUNT must be a whole number from 1 to 10000, got "10001""#)]
#[case::negative("FREQ=DAILY;COUNT=-1", r#"COUNT must be a whole number from 1 to 10000, got "-1""#)]
#[case::huge(
    "FREQ=DAILY;COUNT=99999999999999999999",
    r#"COUNT must be a whole number from 1 to 10000, got "99999999999999999999""#
)]
#[case::both("FREQ=DAILY;COUNT=1;UNTIL=20260101", "COUNT and UNTIL must not be given together")]
#[case::local_until(
    "FREQ=DAILY;UNTIL=20260101T000000",
    r#"UNTIL must be a UTC date-time such as 20261231T235959Z or a date such as 20261231, got "20260101T000000""#
)]
#[case::no_such_date(
    "FREQ=DAILY;UNTIL=20260229",
    r#"UNTIL must be a UTC date-time such as 20261231T235959Z or a date such as 20261231, got "20260229""#
)]
#[case::after_the_last_second(
    "FREQ=DAILY;UNTIL=99991231T235960Z",
    r#"UNTIL must be a UTC date-time such as 20261231T235959Z or a date such as 20261231, got "99991231T235960Z""#
)]
#[case::month("FREQ=YEARLY;BYMONTH=1,13", r#"BYMONTH must be months from 1 to 12, separated by commas, got "13""#)]
#[case::month_day(
    "FREQ=MONTHLY;BYMONTHDAY=0",
    r#"BYMONTHDAY must be numbers from 1 to 31 or -31 to -1, separated by commas, got "0""#
)]
#[case::month_day_weekly(
    "FREQ=WEEKLY;BYMONTHDAY=1",
    "BYMONTHDAY must not be given under FREQ=WEEKLY (use DAILY, MONTHLY or YEARLY)"
)]
#[case::day(
    "FREQ=WEEKLY;BYDAY=MO,XX",
    r#"BYDAY must be weekdays (MO, TU, WE, TH, FR, SA, SU), separated by commas, got "XX""#
)]
#[case::not_ascii(
    "FREQ=WEEKLY;BYDAY=é",
    r#"BYDAY must be weekdays (MO, TU, WE, TH, FR, SA, SU), separated by commas, got "é""#
)]
#[case::no_day(
    "FREQ=WEEKLY;BYDAY=MO,",
    r#"BYDAY must be weekdays (MO, TU, WE, TH, FR, SA, SU), separated by commas, got """#
)]
#[case::ordinal_weekly("FREQ=WEEKLY;BYDAY=1MO", r#"BYDAY takes ordinals under FREQ=MONTHLY and FREQ=YEARLY only; under WEEKLY it must be plain weekdays, got "1MO""#)]
#[case::ordinal_monthly(
    "FREQ=MONTHLY;BYDAY=6MO",
    r#"BYDAY ordinals that count within a month must be 1 to 5 or -5 to -1, got "6MO""#
)]
#[case::ordinal_in_month(
    "FREQ=YEARLY;BYDAY=20MO;BYMONTH=1",
    r#"BYDAY ordinals that count within a month must be 1 to 5 or -5 to -1, got "20MO""#
)]
#[case::ordinal_yearly("FREQ=YEARLY;BYDAY=54MO", r#"BYDAY must be weekdays (MO, TU, WE, TH, FR, SA, SU), each with an optional ordinal before it, separated by commas, ordinals from 1 to 53 or -53 to -1, got "54MO""#)]
#[case::position(
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367",
    r#"BYSETPOS must be numbers from 1 to 366 or -366 to -1, separated by commas, got "367""#
)]
#[case::position_alone("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS must be given together with BYDAY, BYMONTHDAY or BYMONTH")]
#[case::week_start("FREQ=WEEKLY;WKST=XX", r#"WKST must be one of MO, TU, WE, TH, FR, SA, SU, got "XX""#)]
fn invalid_texts_are_refused(#[case] text: &str, #[case] message: &str) {
    assert_eq!(text.parse::<Rule>().unwrap_err().to_string(), message);
}

#[test]
fn the_length_is_counted_in_characters() {
    let days = |count: usize| format!("FREQ=MONTHLY;BYMONTHDAY={}", vec!["01"; count].join(","));
    let text = days(78);
    assert_eq!(text.len(), 257);
    assert_eq!(text.parse::<Rule>().unwrap_err().to_string(), "must be at most 256 characters long, got 257");
    assert!(text.replace("=01,", "=1,").parse::<Rule>().is_ok());
    assert_eq!(
        "é".repeat(257).parse::<Rule>().unwrap_err().to_string(),
        "must be at most 256 characters long, got 257"
    );
}

#[test]
fn errors_name_their_part() {
    let part = |text: &str| text.parse::<Rule>().unwrap_err().part();
    assert_eq!(part("FREQ=DAILY;COUNT=0"), Some(Part::Count));
    assert_eq!(part("FREQ=WEEKLY;BYDAY=1MO"), Some(Part::ByDay));
    assert_eq!(part("FREQ=DAILY;COUNT=1;UNTIL=20260101"), Some(Part::Until));
    assert_eq!(part("FREQ=DAILY;BYHOUR=1"), None);
}
