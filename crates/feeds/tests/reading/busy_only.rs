//! What stays of a feed of which only the times are imported.

use kalends_feeds::read::{BUSY, ReadError, Warning};

use crate::{busy, calendar, feed, try_read};

/// A feed that has the word "zebra" wherever an author can write.
fn planted() -> String {
    calendar(
        "X-WR-CALNAME:Zebra calendar
        BEGIN:VEVENT
        UID:zebra-once
        SUMMARY:Zebra title
        DESCRIPTION:Zebra notes
        LOCATION:Zebra place
        CONFERENCE;VALUE=URI:https://meet.example.com/zebra
        DTSTART;TZID=Zebra/Zone:20260311T090000
        DURATION:PT1H
        EXDATE:zebra
        END:VEVENT
        BEGIN:VEVENT
        UID:zebra-series
        SUMMARY:Zebra series
        STATUS:TENTATIVE
        DTSTART:20260312T090000Z
        DURATION:PT1H
        RRULE:FREQ=DAILY;COUNT=3
        END:VEVENT
        BEGIN:VEVENT
        UID:zebra-series
        SUMMARY:Zebra exception
        RECURRENCE-ID:20260313T090000Z
        DTSTART:20260313T120000Z
        DURATION:PT1H
        END:VEVENT
        BEGIN:VEVENT
        UID:zebra-free
        SUMMARY:Zebra free
        TRANSP:TRANSPARENT
        DTSTART:20260320T090000Z
        DURATION:PT1H
        END:VEVENT
        BEGIN:VEVENT
        UID:zebra-broken
        SUMMARY:Zebra broken
        END:VEVENT",
    )
}

#[test]
fn only_times_stay() {
    let (whole, bare) = (feed(&planted()), feed(&planted()).busy_only());
    assert_eq!(busy(&bare), busy(&whole));
    assert_eq!((bare.skipped_count, bare.skipped.len()), (1, 1));
    assert_eq!(bare.skipped[0].reason, whole.skipped[0].reason);
    assert!(bare.items.iter().all(|item| &*item.title == BUSY));
    for (bare, whole) in bare.items.iter().zip(&whole.items) {
        assert_eq!((bare.key(), bare.times, bare.status), (whole.key(), whole.times, whole.status));
        assert_eq!((bare.blocks, &bare.what), (whole.blocks, &whole.what));
    }
    assert_eq!(bare.items.len(), whole.items.len());
    assert!(
        whole.warnings.iter().any(|warning| matches!(warning, Warning::UnknownZone { .. })),
        "{:?}",
        whole.warnings
    );
    // The `UID`s of items identify them, and are not stored.
    let texts = format!(
        "{:?} {:?} {:?} {:?}",
        bare.name,
        bare.warnings,
        bare.skipped,
        bare.items
            .iter()
            .map(|item| (&item.title, &item.description, &item.location, &item.conference_url))
            .collect::<Vec<_>>()
    );
    assert!(!texts.to_lowercase().contains("zebra"), "{texts}");
}

#[test]
fn an_error_does_not_repeat_what_is_no_feed() {
    let error = try_read("Zebra is not a feed").unwrap_err();
    assert!(matches!(&error, ReadError::NotCalendar { begins } if begins.contains("Zebra")), "{error:?}");
    assert!(!error.busy_only().to_string().contains("Zebra"));
    assert_eq!(ReadError::Empty.busy_only(), ReadError::Empty);
}
