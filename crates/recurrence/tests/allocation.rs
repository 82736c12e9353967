//! Creating and advancing an iterator does not allocate.

use allocation_counter::measure;
use kalends_recurrence::{Exceptions, Length, Rule, Series};
use kalends_time::{SignedDuration, Span, Timestamp};

#[test]
fn expanding_allocates_nothing() {
    let first: Timestamp = "2026-01-13T00:00:00Z".parse().unwrap();
    let rules = [
        "FREQ=DAILY",
        "FREQ=DAILY;INTERVAL=400;BYMONTH=1,2,3,4",
        "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=1000",
        "FREQ=WEEKLY;BYMONTH=2;BYDAY=MO,WE;BYSETPOS=-1",
        "FREQ=MONTHLY;BYDAY=-1FR,2MO",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
        "FREQ=YEARLY;BYDAY=2TU",
        "FREQ=YEARLY;BYDAY=MO,1TU;BYMONTHDAY=1,2,3;BYSETPOS=1,-1",
    ];
    for text in rules {
        for (zone, length) in [
            ("UTC", Length::elapsed(SignedDuration::hours(1)).unwrap()),
            ("UTC", Length::days(3).unwrap()),
            ("Europe/Berlin", Length::elapsed(SignedDuration::hours(1)).unwrap()),
        ] {
            let rule: Rule = text.parse().unwrap();
            let series = Series::new(rule, first, zone.parse().unwrap(), length).unwrap();
            let exdates: Exceptions = series.starts(first..first + SignedDuration::days(2_000)).step_by(3).collect();
            let window = Span::new(first + SignedDuration::days(500), first + SignedDuration::days(4_000)).unwrap();
            let mut count = 0;
            let used = measure(|| {
                count += series.occurrences(window).count() + series.occurrences(window).without(&exdates).count();
                count += series.starts(window.start()..window.end()).count();
                count += usize::from(series.is_occurrence(window.start()));
                count += usize::from(series.next_start_after(window.end()).is_some());
            });
            assert_eq!(used.count_total, 0, "{text} in {zone}");
            assert!(count > 2);
        }
    }
}
