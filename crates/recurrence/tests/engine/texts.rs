//! Texts that are rules, with their canonical form, and texts that are not, with their error messages.

use kalends_recurrence::{Dialect, Frequency, Part, Rule, RuleWarning, Until, Weekday, WeekdayNum};
use kalends_time::{CivilDate, CivilTime};
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
#[case("FREQ=DAILY;UNTIL=20261231t235959", "FREQ=DAILY;UNTIL=20261231T235959")]
#[case("FREQ=DAILY;UNTIL=00000101", "FREQ=DAILY;UNTIL=00000101")]
#[case("FREQ=YEARLY;BYWEEKNO=-1,53,1;BYDAY=MO", "FREQ=YEARLY;BYWEEKNO=1,53,-1;BYDAY=MO")]
#[case("FREQ=YEARLY;BYYEARDAY=366,-366,1,-1", "FREQ=YEARLY;BYYEARDAY=1,366,-366,-1")]
#[case("FREQ=DAILY;BYSECOND=60,0;BYMINUTE=59;BYHOUR=23,0", "FREQ=DAILY;BYHOUR=0,23;BYMINUTE=59;BYSECOND=0,59")]
#[case("FREQ=SECONDLY;INTERVAL=2147483647;COUNT=2147483647", "FREQ=SECONDLY;INTERVAL=2147483647;COUNT=2147483647")]
#[case("FREQ=MINUTELY;BYSETPOS=-1;BYSECOND=1,2", "FREQ=MINUTELY;BYSECOND=1,2;BYSETPOS=-1")]
#[case("FREQ=HOURLY;BYYEARDAY=100;BYMONTHDAY=1;BYDAY=MO", "FREQ=HOURLY;BYYEARDAY=100;BYMONTHDAY=1;BYDAY=MO")]
fn rules_have_one_canonical_text(#[case] text: &str, #[case] canonical: &str) {
    let rule: Rule = text.parse().unwrap();
    assert_eq!(rule.to_string(), canonical);
    assert_eq!(canonical.parse(), Ok(rule));
}

#[rstest]
#[case::week_under_monthly("FREQ=MONTHLY;BYWEEKNO=9", "BYWEEKNO must not be given under FREQ=MONTHLY (use YEARLY)")]
#[case::year_day_under_daily(
    "FREQ=DAILY;BYYEARDAY=9",
    "BYYEARDAY must not be given under FREQ=DAILY (use YEARLY, HOURLY, MINUTELY or SECONDLY)"
)]
#[case::ordinal_with_a_week(
    "FREQ=YEARLY;BYWEEKNO=9;BYDAY=1MO",
    r#"BYDAY must be plain weekdays together with BYWEEKNO, got "1MO""#
)]
#[case::ordinal_under_hourly("FREQ=HOURLY;BYDAY=1MO", r#"BYDAY takes ordinals under FREQ=MONTHLY and FREQ=YEARLY only; under HOURLY it must be plain weekdays, got "1MO""#)]
#[case::hour("FREQ=DAILY;BYHOUR=24", r#"BYHOUR must be hours from 0 to 23, separated by commas, got "24""#)]
#[case::minute("FREQ=DAILY;BYMINUTE=60", r#"BYMINUTE must be minutes from 0 to 59, separated by commas, got "60""#)]
#[case::second("FREQ=DAILY;BYSECOND=61", r#"BYSECOND must be seconds from 0 to 60, separated by commas, got "61""#)]
#[case::signed_hour("FREQ=DAILY;BYHOUR=+9", r#"BYHOUR must be hours from 0 to 23, separated by commas, got "+9""#)]
#[case::week(
    "FREQ=YEARLY;BYWEEKNO=54",
    r#"BYWEEKNO must be numbers from 1 to 53 or -53 to -1, separated by commas, got "54""#
)]
#[case::interval(
    "FREQ=DAILY;INTERVAL=2147483648",
    r#"INTERVAL must be a whole number from 1 to 2147483647, got "2147483648""#
)]
#[case::rscale(
    "RSCALE=CHINESE;FREQ=YEARLY",
    "RSCALE is not supported; the parts are FREQ, INTERVAL, BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSECOND, BYSETPOS, WKST, COUNT, UNTIL"
)]
#[case::until(
    "FREQ=DAILY;UNTIL=2026",
    r#"UNTIL must be a UTC date-time such as 20261231T235959Z, a local date-time such as 20261231T235959 or a date such as 20261231, got "2026""#
)]
fn invalid_rules_of_the_rfc_are_refused(#[case] text: &str, #[case] message: &str) {
    assert_eq!(text.parse::<Rule>().unwrap_err().to_string(), message);
}

/// The subset that the service accepts.
const SUBSET: Dialect = Dialect {
    max_length: 256,
    frequencies: &[Frequency::Daily, Frequency::Weekly, Frequency::Monthly, Frequency::Yearly],
    parts: &[
        Part::Freq,
        Part::Interval,
        Part::ByMonth,
        Part::ByMonthDay,
        Part::ByDay,
        Part::BySetPos,
        Part::Wkst,
        Part::Count,
        Part::Until,
    ],
    max_interval: 1_000,
    max_count: 10_000,
    local_until: false,
};

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
#[case::position_alone(
    "FREQ=MONTHLY;BYSETPOS=1",
    "BYSETPOS must be given together with another BY part, such as BYDAY, BYMONTHDAY or BYMONTH"
)]
#[case::week_start("FREQ=WEEKLY;WKST=XX", r#"WKST must be one of MO, TU, WE, TH, FR, SA, SU, got "XX""#)]
fn texts_outside_a_dialect_are_refused(#[case] text: &str, #[case] message: &str) {
    assert_eq!(Rule::parse_as(text, &SUBSET).unwrap_err().to_string(), message);
}

#[test]
fn the_length_is_counted_in_characters() {
    let days = |count: usize| format!("FREQ=MONTHLY;BYMONTHDAY={}", vec!["01"; count].join(","));
    let text = days(78);
    assert_eq!(text.len(), 257);
    let refused = |text: &str| Rule::parse_as(text, &SUBSET).unwrap_err().to_string();
    assert_eq!(refused(&text), "must be at most 256 characters long, got 257");
    assert!(Rule::parse_as(&text.replace("=01,", "=1,"), &SUBSET).is_ok());
    assert!(text.parse::<Rule>().is_ok());
    assert_eq!(refused(&"é".repeat(257)), "must be at most 256 characters long, got 257");
    let longest = "é".repeat(4_097).parse::<Rule>().unwrap_err();
    assert_eq!(longest.to_string(), "must be at most 4096 characters long, got 4097");
}

#[test]
fn errors_name_their_part() {
    let part = |text: &str| text.parse::<Rule>().unwrap_err().part();
    assert_eq!(part("FREQ=DAILY;COUNT=0"), Some(Part::Count));
    assert_eq!(part("FREQ=WEEKLY;BYDAY=1MO"), Some(Part::ByDay));
    assert_eq!(part("FREQ=DAILY;COUNT=1;UNTIL=20260101"), Some(Part::Until));
    assert_eq!(part("FREQ=DAILY;BYWEEKNO=1"), Some(Part::ByWeekNo));
    assert_eq!(part("FREQ=DAILY;RSCALE=X"), None);
}

#[test]
fn a_rule_can_be_built_and_taken_apart() {
    let until = CivilDate::new(2026, 12, 31).unwrap().at(CivilTime::new(9, 30, 0).unwrap());
    let rule = Rule::builder(Frequency::Yearly)
        .interval(2)
        .by_month([12, 1])
        .by_year_day([1, -1])
        .by_month_day([31, -31])
        .by_day([
            WeekdayNum::nth(2, Weekday::Tuesday),
            WeekdayNum::from(Weekday::Monday),
            WeekdayNum::last(Weekday::Sunday),
        ])
        .by_hour([9])
        .by_minute([30, 0])
        .by_second([60])
        .by_position([1, -1])
        .week_start(Weekday::Sunday)
        .until(until)
        .build()
        .unwrap();
    let text = "FREQ=YEARLY;INTERVAL=2;BYMONTH=1,12;BYYEARDAY=1,-1;BYMONTHDAY=31,-31;BYDAY=MO,2TU,-1SU;BYHOUR=9;\
                BYMINUTE=0,30;BYSECOND=59;BYSETPOS=1,-1;WKST=SU;UNTIL=20261231T093000";
    assert_eq!(rule.to_string(), text);
    assert_eq!(text.parse(), Ok(rule.clone()));
    assert_eq!((rule.frequency(), rule.interval(), rule.week_start()), (Frequency::Yearly, 2, Weekday::Sunday));
    assert_eq!((rule.count(), rule.until()), (None, Some(Until::Local(until))));
    assert!(rule.months().eq([1, 12]) && rule.year_days().eq([1, -1]) && rule.month_days().eq([31, -31]));
    assert!(rule.hours().eq([9]) && rule.minutes().eq([0, 30]) && rule.seconds().eq([59]));
    assert!(rule.positions().eq([1, -1]) && rule.week_numbers().next().is_none());
    assert_eq!(rule.days().map(|day| day.to_string()).collect::<Vec<_>>(), ["MO", "2TU", "-1SU"]);
}

/// The builder refuses what the parser refuses, with the same message.
#[test]
fn the_builder_checks_values() {
    let daily = || Rule::builder(Frequency::Daily);
    for (builder, message) in [
        (daily().interval(0), r#"INTERVAL must be a whole number from 1 to 2147483647, got "0""#),
        (daily().count(0), r#"COUNT must be a whole number from 1 to 2147483647, got "0""#),
        (daily().by_month([0]), r#"BYMONTH must be months from 1 to 12, separated by commas, got "0""#),
        (daily().by_hour([24, 25]), r#"BYHOUR must be hours from 0 to 23, separated by commas, got "24""#),
        (
            daily().by_month_day([0]),
            r#"BYMONTHDAY must be numbers from 1 to 31 or -31 to -1, separated by commas, got "0""#,
        ),
        (
            daily().by_day([WeekdayNum::nth(0, Weekday::Monday)]),
            r#"BYDAY must be weekdays (MO, TU, WE, TH, FR, SA, SU), separated by commas, ordinals from 1 to 53 or -53 to -1, got "0MO""#,
        ),
        (
            daily().by_position([i16::MIN]),
            r#"BYSETPOS must be numbers from 1 to 366 or -366 to -1, separated by commas, got "-32768""#,
        ),
        (
            daily().by_position([1]),
            "BYSETPOS must be given together with another BY part, such as BYDAY, BYMONTHDAY or BYMONTH",
        ),
        (daily().until(CivilDate::new(10_000, 1, 1).unwrap()), r#"UNTIL must be in the years 0 to 9999, got "10000""#),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), message);
    }
}

#[rstest]
#[case::clean("FREQ=WEEKLY;BYDAY=MO", "FREQ=WEEKLY;BYDAY=MO", &[])]
#[case::spaces("RRULE:FREQ=WEEKLY ; BYDAY=MO, WE;WKST=SU;;", "FREQ=WEEKLY;BYDAY=MO,WE;WKST=SU", &[])]
#[case::the_gregorian_scale("RSCALE=GREGORIAN;FREQ=DAILY;SKIP=OMIT", "FREQ=DAILY", &[])]
#[case::unknown("FREQ=DAILY;X-A=1", "FREQ=DAILY", &[RuleWarning::Unknown { name: "X-A".into() }])]
#[case::the_same_twice("FREQ=DAILY;COUNT=3;COUNT=3", "FREQ=DAILY;COUNT=3", &[])]
#[case::twice("FREQ=DAILY;COUNT=3;COUNT=4", "FREQ=DAILY;COUNT=3", &[RuleWarning::Repeated { part: Part::Count }])]
#[case::both("FREQ=DAILY;COUNT=3;UNTIL=20260101", "FREQ=DAILY;UNTIL=20260101", &[RuleWarning::CountAndUntil])]
#[case::ordinals("FREQ=WEEKLY;BYDAY=1MO,MO", "FREQ=WEEKLY;BYDAY=MO", &[RuleWarning::Ordinal { got: "1MO".into() }])]
#[case::ordinals_of_weeks("FREQ=YEARLY;BYWEEKNO=2;BYDAY=2MO", "FREQ=YEARLY;BYWEEKNO=2;BYDAY=MO", &[RuleWarning::Ordinal { got: "2MO".into() }])]
#[case::a_week("FREQ=MONTHLY;BYWEEKNO=1", "FREQ=MONTHLY", &[RuleWarning::Misplaced { part: Part::ByWeekNo }])]
#[case::a_position("FREQ=WEEKLY;BYSETPOS=1", "FREQ=WEEKLY", &[RuleWarning::Misplaced { part: Part::BySetPos }])]
#[case::a_damaged_time("FREQ=DAILY;UNTIL=20260101T25", "FREQ=DAILY;UNTIL=20260101", &[RuleWarning::UntilTime { got: "20260101T25".into() }])]
fn lenient_reading_reports_what_it_changed(#[case] text: &str, #[case] rule: &str, #[case] warnings: &[RuleWarning]) {
    let read = Rule::parse_lenient(text).unwrap();
    assert_eq!((read.rule.to_string().as_str(), read.warnings.as_slice()), (rule, warnings));
}

#[rstest]
#[case("")]
#[case("INTERVAL=2")]
#[case("FREQ=SOMETIMES")]
#[case("FREQ=DAILY;INTERVAL=0")]
#[case("FREQ=DAILY;COUNT=0")]
#[case("FREQ=DAILY;COUNT=-1")]
#[case("FREQ=DAILY;UNTIL=soon")]
#[case("FREQ=WEEKLY;BYDAY=XX")]
#[case("FREQ=MONTHLY;BYMONTHDAY=32")]
#[case("FREQ=YEARLY;RSCALE=CHINESE")]
#[case("FREQ=YEARLY;SKIP=FORWARD")]
#[case("FREQ=YEARLY;WKST=1MO")]
#[case("FREQ=MONTHLY;BYDAY=6MO")]
#[case("FREQ=WEEKLY;BYMONTHDAY=1")]
#[case("FREQ=DAILY;BYYEARDAY=1")]
fn lenient_reading_does_not_guess(#[case] text: &str) {
    assert!(Rule::parse_lenient(text).is_err());
}
